//! Multi-head self-attention with one projection for queries, keys and values.

use super::{Linear, Module, Visitor};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::scope::scope;
use crate::tensor::{AttentionOptions, Tensor};

/// Self-attention. Fewer key heads than query heads share each key head among neighbouring queries.
#[derive(Clone, Debug)]
pub struct MultiHeadAttention {
    /// `width -> queries, keys, values`, one after the other.
    pub c_attn: Linear,
    /// `width -> width`.
    pub c_proj: Linear,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Position i sees positions 0..=i only.
    pub causal: bool,
}

impl MultiHeadAttention {
    /// As many key heads as query heads.
    pub fn new(width: usize, heads: usize, causal: bool, device: &Device) -> Result<MultiHeadAttention> {
        MultiHeadAttention::grouped(width, heads, heads, causal, device)
    }

    /// `kv_heads` key heads for `heads` query heads.
    pub fn grouped(
        width: usize,
        heads: usize,
        kv_heads: usize,
        causal: bool,
        device: &Device,
    ) -> Result<MultiHeadAttention> {
        if heads == 0 || !width.is_multiple_of(heads) || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            let detail = format!(
                "width {width}, {heads} heads, {kv_heads} key heads: heads must divide the width and key heads the heads"
            );
            return Err(Error::Argument { op: "MultiHeadAttention", detail });
        }
        let c_attn = Linear::new(width, width + 2 * kv_heads * (width / heads), device)?;
        let c_proj = Linear::new(width, width, device)?;
        Ok(MultiHeadAttention { c_attn, c_proj, heads, kv_heads, causal })
    }

    /// `[B, T, width] -> [B, T, width]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.forward_masked(x, None)
    }

    /// The same with a mask that broadcasts to `[B, heads, T, T]`: bool (true sees) or added to the scores.
    pub fn forward_masked(&self, x: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let &[batch, time, width] = x.shape() else {
            let detail = format!("{:?} is not [batch, time, width]", x.shape());
            return Err(Error::Shape { op: "MultiHeadAttention", detail });
        };
        let size = width / self.heads;
        let qkv = scope("c_attn", || self.c_attn.forward(x))?; // (B, T, (H + 2 Hk) D)
        let heads = |first: usize, count: usize| -> Result<Tensor> {
            let part = qkv.narrow(-1, first * size, count * size)?;
            let split = [batch as isize, time as isize, count as isize, size as isize];
            part.reshape(&split)?.permute(&[0, 2, 1, 3]) // (B, H, T, D)
        };
        let q = heads(0, self.heads)?;
        let k = heads(self.heads, self.kv_heads)?;
        let v = heads(self.heads + self.kv_heads, self.kv_heads)?;
        let options = AttentionOptions { causal: self.causal, scale: None, mask };
        let y = q.scaled_dot_product_attention(&k, &v, &options)?.permute(&[0, 2, 1, 3])?; // (B, T, H, D)
        let y = y.reshape(&[batch as isize, time as isize, width as isize])?;
        scope("c_proj", || self.c_proj.forward(&y))
    }
}

impl Module for MultiHeadAttention {
    fn visit(&self, v: &mut Visitor) {
        v.module("c_attn", &self.c_attn);
        v.module("c_proj", &self.c_proj);
    }
}
