//! Attention as the interpreter sees it: plain loops over scores.

use super::{Array, binary};
use crate::error::Result;
use crate::graph::{AttentionSpec, Binary, Side};

/// The operands of attention with their sizes. Heads are counted over the batch, `h = batch * H + head`.
pub(super) struct Attention<'a> {
    q: &'a [f64],
    k: &'a [f64],
    pub v: &'a [f64],
    mask: Option<&'a [f64]>,
    heads: usize,
    /// Query heads of one batch, and how many share a key head.
    per_batch: usize,
    group: usize,
    pub tq: usize,
    tk: usize,
    d: usize,
    pub dv: usize,
    scale: f64,
    causal: bool,
}

impl<'a> Attention<'a> {
    pub fn new(
        q: &'a Array,
        k: &'a Array,
        v: &'a Array,
        mask: Option<&'a Array>,
        spec: &AttentionSpec,
    ) -> Result<Self> {
        let mask = mask.filter(|_| spec.mask).map(Array::float).transpose()?;
        Ok(Attention {
            q: q.float()?,
            k: k.float()?,
            v: v.float()?,
            mask,
            heads: q.shape[0] * q.shape[1],
            per_batch: q.shape[1],
            group: q.shape[1] / k.shape[1].max(1),
            tq: q.shape[2],
            tk: k.shape[2],
            d: q.shape[3],
            dv: v.shape[3],
            scale: f64::from_bits(spec.scale),
            causal: spec.causal,
        })
    }

    /// Keys and values of query head `h`: their head, counted over the batch.
    fn key_head(&self, h: usize) -> usize {
        h / self.group
    }

    fn q_at(&self, h: usize, i: usize, d: usize) -> usize {
        (h * self.tq + i) * self.d + d
    }

    fn k_at(&self, h: usize, j: usize, d: usize) -> usize {
        (self.key_head(h) * self.tk + j) * self.d + d
    }

    pub fn v_at(&self, h: usize, j: usize, d: usize) -> usize {
        (self.key_head(h) * self.tk + j) * self.dv + d
    }

    /// Results are `[B, T, H, D]`.
    pub fn out_at(&self, h: usize, i: usize, d: usize) -> usize {
        ((h / self.per_batch * self.tq + i) * self.per_batch + h % self.per_batch) * self.dv + d
    }

    /// Calls `f` with each head, query, its scores and their log-sum-exp.
    pub fn rows(&self, mut f: impl FnMut(usize, usize, &[f64], f64)) {
        for h in 0..self.heads {
            for i in 0..self.tq {
                let score = |j: usize| {
                    let product: f64 =
                        (0..self.d).map(|d| self.q[self.q_at(h, i, d)] * self.k[self.k_at(h, j, d)]).sum();
                    let mask = self.mask.map_or(0.0, |m| m[(h * self.tq + i) * self.tk + j]);
                    if self.causal && j > i { f64::NEG_INFINITY } else { product * self.scale + mask }
                };
                let scores: Vec<f64> = (0..self.tk).map(score).collect();
                let largest = scores.iter().fold(f64::NEG_INFINITY, |a, &b| binary(Binary::Max, a, b));
                let shift = if largest == f64::NEG_INFINITY { 0.0 } else { largest };
                let lse = scores.iter().map(|s| (s - shift).exp()).sum::<f64>().ln() + shift;
                f(h, i, &scores, lse);
            }
        }
    }

    /// With p = exp(s - lse) and dp = g v^T: dv = p^T g, ds = p (dp - sum(g out)), dq = ds k, dk = ds^T q.
    pub fn gradient(&self, side: Side, out: &[f64], lse: &[f64], g: &[f64], n: usize) -> Vec<f64> {
        let mut result = vec![0.0; n];
        let key_heads = self.per_batch / self.group;
        // `[B, Tk, Hk, D]`, of which several query heads fill one.
        let key_side = |h: usize, j: usize, d: usize, size: usize| {
            let (batch, head) = (h / self.per_batch, h % self.per_batch / self.group);
            ((batch * self.tk + j) * key_heads + head) * size + d
        };
        self.rows(|h, i, scores, _| {
            let row = |of: &[f64], d| of[self.out_at(h, i, d)];
            let delta: f64 = (0..self.dv).map(|d| row(g, d) * row(out, d)).sum();
            let lse = lse[h * self.tq + i];
            for (j, s) in scores.iter().enumerate().filter(|(_, s)| **s != f64::NEG_INFINITY) {
                let p = (s - lse).exp();
                let dp: f64 = (0..self.dv).map(|d| row(g, d) * self.v[self.v_at(h, j, d)]).sum();
                let ds = p * (dp - delta) * self.scale;
                match side {
                    Side::V => (0..self.dv).for_each(|d| result[key_side(h, j, d, self.dv)] += p * row(g, d)),
                    Side::K => (0..self.d)
                        .for_each(|d| result[key_side(h, j, d, self.d)] += ds * self.q[self.q_at(h, i, d)]),
                    Side::Q => (0..self.d).for_each(|d| {
                        let (batch, head) = (h / self.per_batch, h % self.per_batch);
                        let at = ((batch * self.tq + i) * self.per_batch + head) * self.d + d;
                        result[at] += ds * self.k[self.k_at(h, j, d)];
                    }),
                }
            }
        });
        result
    }
}
