//! Scaled dot-product attention: one node for the flash kernels, and the plain ops that say what it means.

use super::axes::{broadcast_shape, same_device};
use super::{Sources, Tensor, autocast, no_grad, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{AttentionSpec, Binary, Op, Reduce};
use smallvec::smallvec;

/// The choices of [`Tensor::scaled_dot_product_attention`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AttentionOptions<'a> {
    /// Query i sees keys 0 to i only.
    pub causal: bool,
    /// The factor on the scores; `1 / sqrt(D)` if there is none.
    pub scale: Option<f64>,
    /// Bool (true is seen) or float (added to the scores), broadcast to `[B, H, Tq, Tk]`.
    pub mask: Option<&'a Tensor>,
}

const OP: &str = "attention";

impl Tensor {
    /// `softmax(scale q k^T + mask) v` of this q `[B, H, Tq, D]`, k `[B, Hk, Tk, D]` and v `[B, Hk, Tk,
    /// Dv]`; each key head serves `H / Hk` query heads. Gives `[B, H, Tq, Dv]`; a query that sees nothing
    /// gives zeros.
    pub fn scaled_dot_product_attention(
        &self,
        k: &Tensor,
        v: &Tensor,
        options: &AttentionOptions,
    ) -> Result<Tensor> {
        for x in [k, v] {
            same_device(OP, self, x)?;
        }
        let shapes = || format!("q {:?}, k {:?}, v {:?}", self.shape(), k.shape(), v.shape());
        let bad = |why: &str| Err(Error::Shape { op: OP, detail: format!("{}: {why}", shapes()) });
        let (&[b, h, tq, d], &[bk, hk, tk, dk], &[bv, hv, tv, dv]) = (self.shape(), k.shape(), v.shape())
        else {
            return bad("each must be [batch, heads, positions, width]");
        };
        if b != bk || b != bv {
            return bad("batches differ");
        } else if d != dk {
            return bad("widths of q and k differ");
        } else if tk != tv || hk != hv {
            return bad("k and v have different heads or positions");
        } else if (hk == 0 && h != 0) || (hk != 0 && h % hk != 0) {
            return bad("the heads of q must be a multiple of those of k");
        }
        let (q, k, v) = (autocast::factor(self), autocast::factor(k), autocast::factor(v));
        let dtype = DType::promote(DType::promote(q.dtype(), k.dtype()), v.dtype());
        if !dtype.is_float() {
            return Err(Error::DType { op: OP, detail: format!("operands are {dtype}, not floats") });
        }
        let (q, k, v) = (raw::cast(&q, dtype), raw::cast(&k, dtype), raw::cast(&v, dtype));
        let mask = options.mask.map(|mask| score_mask(mask, &q, [b, h, tq, tk])).transpose()?;
        let scale = options.scale.unwrap_or(1.0 / (d.max(1) as f64).sqrt());
        let spec = AttentionSpec { causal: options.causal, scale: scale.to_bits(), mask: mask.is_some() };
        let out = if mask.as_ref().is_some_and(|m| m.requires_grad()) {
            composite(&q, &k, &v, mask.as_ref(), spec)
        } else {
            let mut src: Sources = smallvec![q.clone(), k, v];
            src.extend(mask);
            Tensor::record(Op::Attention(spec), src, &[b, tq, h, dv], dtype)
        };
        Ok(raw::permute(&out, &[0, 2, 1, 3]))
    }
}

/// The mask as numbers that are added to the scores.
fn score_mask(mask: &Tensor, q: &Tensor, shape: [usize; 4]) -> Result<Tensor> {
    same_device(OP, q, mask)?;
    if broadcast_shape(OP, mask.shape(), &shape)?[..] != shape {
        let detail = format!("a mask of {:?} does not broadcast to {shape:?}", mask.shape());
        return Err(Error::Shape { op: OP, detail });
    }
    let mask = match mask.dtype() {
        DType::Bool => {
            let constant = |value: f64| raw::full(value, mask.shape(), q.dtype(), q.device());
            raw::select(mask, &constant(0.0), &constant(f64::NEG_INFINITY))
        }
        dtype if dtype.is_float() => raw::cast(mask, q.dtype()),
        dtype => {
            let detail =
                format!("the mask is {dtype}; bool says what is seen, floats are added to the scores");
            return Err(Error::DType { op: OP, detail });
        }
    };
    Ok(raw::broadcast(&mask, &shape))
}

/// What [`Op::Attention`] means, in plain ops; `[B, Tq, H, Dv]` as there.
pub(crate) fn composite(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: Option<&Tensor>,
    spec: AttentionSpec,
) -> Tensor {
    let (dtype, wide) = (q.dtype(), q.dtype().compute());
    let heads = |x: &Tensor| repeat_heads(&raw::cast(x, wide), q.shape()[1]);
    let scores = raw::matmul(&raw::cast(q, wide), &raw::transpose(&heads(k)));
    let mut scores = raw::scale(&scores, f64::from_bits(spec.scale));
    if let Some(mask) = mask {
        scores = raw::add(&scores, &raw::cast(mask, wide));
    }
    let constant = |value: f64, like: &Tensor| raw::full_like(like, value);
    if spec.causal {
        let at = |len, axis| raw::expand(&raw::positions(len, axis, 4, q.device()), scores.shape());
        let seen = raw::binary(Binary::Le, &at(k.shape()[2], 3), &at(q.shape()[2], 2));
        scores = raw::select(&seen, &scores, &constant(f64::NEG_INFINITY, &scores));
    }
    // A row that sees nothing has no largest score and no sum; it is shifted by 0 and divided by 1.
    let shift = no_grad(|| {
        let largest = raw::reduce(Reduce::Max, &scores, &[3]);
        let nothing = raw::binary(Binary::Eq, &largest, &constant(f64::NEG_INFINITY, &largest));
        raw::select(&nothing, &constant(0.0, &largest), &largest)
    });
    let powers = raw::exp(&raw::sub(&scores, &raw::expand(&shift, scores.shape())));
    let sum = raw::sum(&powers, &[3]);
    let nothing = raw::binary(Binary::Eq, &sum, &constant(0.0, &sum));
    let factor = raw::recip(&raw::select(&nothing, &constant(1.0, &sum), &sum));
    let weights = raw::mul(&powers, &raw::expand(&factor, powers.shape()));
    let out = raw::matmul(&weights, &heads(v));
    raw::cast(&raw::permute(&out, &[0, 2, 1, 3]), dtype)
}

/// `[B, Hk, T, D]` with every head repeated for the query heads that share it.
fn repeat_heads(x: &Tensor, heads: usize) -> Tensor {
    let &[b, hk, t, d] = x.shape() else { return x.clone() };
    if hk == heads || hk == 0 {
        return x.clone();
    }
    let group = heads / hk;
    let repeated = raw::expand(&raw::reshape(x, &[b, hk, 1, t, d]), &[b, hk, group, t, d]);
    raw::reshape(&repeated, &[b, heads, t, d])
}
