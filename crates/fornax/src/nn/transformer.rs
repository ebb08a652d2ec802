//! The pre-norm transformer block of GPT-2.

use super::{Dropout, LayerNorm, Mlp, Module, MultiHeadAttention, Visitor};
use crate::device::Device;
use crate::error::Result;
use crate::scope::scope;
use crate::tensor::Tensor;

/// `x + attn(ln_1(x))`, then `x + mlp(ln_2(x))`.
#[derive(Clone, Debug)]
pub struct TransformerBlock {
    /// Before attention.
    pub ln_1: LayerNorm,
    /// Positions look at each other.
    pub attn: MultiHeadAttention,
    /// Before the perceptron.
    pub ln_2: LayerNorm,
    /// Each position for itself.
    pub mlp: Mlp,
    /// On both branches; probability 0 unless replaced.
    pub dropout: Dropout,
}

impl TransformerBlock {
    /// A block with a hidden width of 4 times the width.
    pub fn new(width: usize, heads: usize, causal: bool, device: &Device) -> Result<TransformerBlock> {
        Ok(TransformerBlock {
            ln_1: LayerNorm::new(width, device)?,
            attn: MultiHeadAttention::new(width, heads, causal, device)?,
            ln_2: LayerNorm::new(width, device)?,
            mlp: Mlp::new(width, 4 * width, device)?,
            dropout: Dropout::new(0.0)?,
        })
    }

    /// `[B, T, width] -> [B, T, width]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let normal = scope("ln_1", || self.ln_1.forward(x))?;
        let branch = scope("attn", || self.dropout.forward(&self.attn.forward(&normal)?))?;
        let x = x.add(&branch)?;
        let normal = scope("ln_2", || self.ln_2.forward(&x))?;
        let branch = scope("mlp", || self.dropout.forward(&self.mlp.forward(&normal)?))?;
        x.add(&branch)
    }
}

impl Module for TransformerBlock {
    fn visit(&self, v: &mut Visitor) {
        v.module("ln_1", &self.ln_1);
        v.module("attn", &self.attn);
        v.module("ln_2", &self.ln_2);
        v.module("mlp", &self.mlp);
        v.module("dropout", &self.dropout);
    }
}
