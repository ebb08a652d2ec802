//! The table of vectors.

use super::{Module, Parameter, Visitor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::Tensor;

/// A vector for each of `count` ids.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// `[count, width]`.
    pub weight: Parameter,
}

impl Embedding {
    /// A table with PyTorch's initial values: standard normal.
    pub fn new(count: usize, width: usize, device: &Device) -> Result<Embedding> {
        Ok(Embedding { weight: Parameter::new(&Tensor::randn(&[count, width], DType::F32, device)?)? })
    }

    /// Integer ids `[..] -> [.., width]`.
    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        Tensor::embedding(&self.weight.tensor(), ids)
    }
}

impl Module for Embedding {
    fn visit(&self, v: &mut Visitor) {
        v.parameter("weight", &self.weight);
    }
}
