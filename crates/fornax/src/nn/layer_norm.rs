//! Layer normalisation.

use super::{Module, Parameter, Visitor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;

/// Normalises the last axis to mean 0 and variance 1, then scales and shifts it.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    /// `[width]`, starts as ones.
    pub weight: Parameter,
    /// `[width]`, starts as zeros.
    pub bias: Option<Parameter>,
    /// Added to the variance; 1e-5 unless changed.
    pub eps: f64,
}

impl LayerNorm {
    /// A layer that changes nothing but mean and variance at first.
    pub fn new(width: usize, device: &Device) -> Result<LayerNorm> {
        let weight = Parameter::new(&Tensor::ones(&[width], DType::F32, device)?)?;
        let bias = Parameter::new(&Tensor::zeros(&[width], DType::F32, device)?)?;
        Ok(LayerNorm { weight, bias: Some(bias), eps: 1e-5 })
    }

    /// `[.., width] -> [.., width]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let bias = self.bias.as_ref().map(|bias| bias.tensor());
        x.layer_norm(1, Some(&self.weight.tensor()), bias.as_ref(), self.eps)
    }
}

impl Module for LayerNorm {
    fn visit(&self, v: &mut Visitor) {
        v.parameter("weight", &self.weight);
        v.optional("bias", self.bias.as_ref());
    }
}
