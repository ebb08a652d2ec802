//! Recomputation as a graph pass. The tensors of a `checkpoint` region are not kept for the backward pass:
//! when the walk reaches the region, its nodes are recorded again behind `After(source, gradient)`, and the
//! gradient formulas refer to these copies.

use super::Op;
use crate::tensor::{Sources, State, Tensor, raw, recording};
use rustc_hash::{FxHashMap, FxHashSet};

/// The copies that one walk has made.
#[derive(Default)]
pub(super) struct Recompute {
    /// By region, the gradient that reached it first: what its copies wait for.
    tokens: FxHashMap<u32, Tensor>,
    /// By region and id, what stands for a tensor in that region's gradient formulas.
    copies: FxHashMap<(u32, u64), Tensor>,
}

impl Recompute {
    /// A node of a region as a copy over copies; `None` for a node of no region.
    pub fn node(&mut self, tensor: &Tensor, src: &Sources, gradient: &Tensor) -> Option<(Tensor, Sources)> {
        let region = tensor.0.region;
        if region == 0 {
            return None;
        }
        let token = self.tokens.entry(region).or_insert_with(|| gradient.clone()).clone();
        let copy = self.copy(tensor, region, &token);
        Some((copy, src.iter().map(|s| self.copy(s, region, &token)).collect()))
    }

    fn copy(&mut self, tensor: &Tensor, region: u32, token: &Tensor) -> Tensor {
        let mut inside: Vec<(Tensor, Sources)> = vec![];
        let mut seen = FxHashSet::default();
        let mut stack = vec![tensor.clone()];
        while let Some(tensor) = stack.pop() {
            let key = (region, tensor.id());
            if self.copies.contains_key(&key) || !seen.insert(tensor.id()) {
                continue;
            }
            match recomputed(&tensor, region) {
                Some(src) => {
                    stack.extend(src.iter().cloned());
                    inside.push((tensor, src));
                }
                None => {
                    self.copies.insert(key, outside(&tensor, token));
                }
            }
        }
        // Sources are older than their users.
        inside.sort_by_key(|(tensor, _)| tensor.id());
        for (tensor, src) in inside {
            let src = src.iter().map(|s| self.copies[&(region, s.id())].clone()).collect();
            let copy = tensor.0.scope.backward().enter(|| again(&tensor, src));
            self.copies.insert((region, tensor.id()), copy);
        }
        self.copies[&(region, tensor.id())].clone()
    }
}

/// What a tensor of the region is computed from again; `None` for what exists anyway.
fn recomputed(tensor: &Tensor, region: u32) -> Option<Sources> {
    let src = match &*tensor.state() {
        State::Lazy(src) if tensor.0.region == region => src.clone(),
        _ => return None,
    };
    (!(is_cut(tensor, &src) && tensor.requires_grad())).then_some(src)
}

/// Whether `variable` or `detach` made the tensor.
fn is_cut(tensor: &Tensor, src: &Sources) -> bool {
    *tensor.op() == Op::Reshape && src[0].shape() == tensor.shape()
}

/// The copy requires a gradient if and only if the original does.
fn again(tensor: &Tensor, src: Sources) -> Tensor {
    if is_cut(tensor, &src) {
        return src[0].leaf(false);
    }
    recording(tensor.requires_grad(), || {
        Tensor::record_on(tensor.op().clone(), src, tensor.shape(), tensor.dtype(), tensor.device())
    })
}

/// What the region reads, once the gradient is there. Numbers need not wait.
fn outside(tensor: &Tensor, token: &Tensor) -> Tensor {
    if matches!(&*tensor.state(), State::Scalar(_)) {
        return tensor.clone();
    }
    recording(tensor.requires_grad(), || raw::after(tensor, token))
}
