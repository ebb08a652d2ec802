//! The two-layer block of a transformer.

use super::{Linear, Module, Visitor};
use crate::device::Device;
use crate::error::Result;
use crate::scope::scope;
use crate::tensor::Tensor;

/// Up, gelu (tanh form), down.
#[derive(Clone, Debug)]
pub struct Mlp {
    /// `width -> hidden`.
    pub c_fc: Linear,
    /// `hidden -> width`.
    pub c_proj: Linear,
}

impl Mlp {
    /// A block with `hidden` units between; 4 times the width is customary.
    pub fn new(width: usize, hidden: usize, device: &Device) -> Result<Mlp> {
        Ok(Mlp { c_fc: Linear::new(width, hidden, device)?, c_proj: Linear::new(hidden, width, device)? })
    }

    /// `[.., width] -> [.., width]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let hidden = scope("c_fc", || self.c_fc.forward(x)?.gelu())?;
        scope("c_proj", || self.c_proj.forward(&hidden))
    }
}

impl Module for Mlp {
    fn visit(&self, v: &mut Visitor) {
        v.module("c_fc", &self.c_fc);
        v.module("c_proj", &self.c_proj);
    }
}
