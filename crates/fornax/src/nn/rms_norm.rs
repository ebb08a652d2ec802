//! Root-mean-square normalisation.

use super::{Module, Parameter, Visitor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;

/// Divides the last axis by its root mean square, then scales it.
#[derive(Clone, Debug)]
pub struct RmsNorm {
    /// `[width]`, starts as ones.
    pub weight: Parameter,
    /// Added to the mean square; 1e-6 unless changed.
    pub eps: f64,
}

impl RmsNorm {
    /// A layer that changes nothing but the length at first.
    pub fn new(width: usize, device: &Device) -> Result<RmsNorm> {
        Ok(RmsNorm { weight: Parameter::new(&Tensor::ones(&[width], DType::F32, device)?)?, eps: 1e-6 })
    }

    /// `[.., width] -> [.., width]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.rms_norm(1, Some(&self.weight.tensor()), self.eps)
    }
}

impl Module for RmsNorm {
    fn visit(&self, v: &mut Visitor) {
        v.parameter("weight", &self.weight);
    }
}
