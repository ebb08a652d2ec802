//! Gradient clipping. Everything is recorded: the norm is not read unless the caller reads it.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::autograd::Gradients;
use crate::nn::Parameter;
use crate::scope::scope;
use crate::tensor::formula::Formulas;
use crate::tensor::{Tensor, no_grad};
use rustc_hash::FxHashSet;

/// Scales the gradients of these parameters so that their common Euclidean norm is at most `max_norm`, as
/// PyTorch's `clip_grad_norm_`. Returns the new gradients and the norm before, a lazy `[]` of f32; name it in
/// `step_with(..)` to read it after the step.
pub fn clip_grad_norm(
    gradients: &Gradients,
    parameters: &[Parameter],
    max_norm: f64,
) -> Result<(Gradients, Tensor)> {
    if max_norm.is_nan() || max_norm < 0.0 {
        let detail = format!("max_norm {max_norm} is not a positive number");
        return Err(Error::Argument { op: "clip_grad_norm", detail });
    }
    let (gradients, leaves) = (&gradients.fenced(), leaves(parameters));
    no_grad(|| {
        scope("clip", || {
            let (mut squares, mut formulas) = (vec![], Formulas::new([]));
            for (_, gradient) in gradients.iter().filter(|(id, _)| leaves.contains(id)) {
                let [square] = formulas.results(&[gradient], || {
                    Ok([gradient.to_dtype(DType::F32)?.sqr()?.sum_all()?.reshape(&[1])?])
                })?;
                squares.push(square);
            }
            let norm = match squares.len() {
                0 => Tensor::zeros(&[], DType::F32, gradients.root().device())?,
                _ => Tensor::cat(&squares.iter().collect::<Vec<_>>(), 0)?.sum_all()?.sqrt()?,
            };
            let max_norm = Tensor::scalar(max_norm, DType::F32, norm.device())?;
            let factor = max_norm.div(&norm.add(1e-6)?)?.minimum(1.0)?;
            let clipped = gradients.map(|id, gradient| match leaves.contains(&id) {
                true => gradient.mul(&factor.to_dtype(gradient.dtype())?),
                false => Ok(gradient.clone()),
            })?;
            Ok((clipped, norm))
        })
    })
}

/// Limits every element of these parameters' gradients to ±`limit`, as PyTorch's `clip_grad_value_`.
pub fn clip_grad_value(gradients: &Gradients, parameters: &[Parameter], limit: f64) -> Result<Gradients> {
    if limit.is_nan() || limit < 0.0 {
        let detail = format!("the limit {limit} is not a positive number");
        return Err(Error::Argument { op: "clip_grad_value", detail });
    }
    let (gradients, leaves) = (&gradients.fenced(), leaves(parameters));
    no_grad(|| {
        scope("clip", || {
            let bound = |v| Tensor::scalar(v, DType::F32, gradients.root().device());
            let (low, high) = (bound(-limit)?, bound(limit)?);
            gradients.map(|id, gradient| match leaves.contains(&id) {
                true => gradient.clamp(&low.to_dtype(gradient.dtype())?, &high.to_dtype(gradient.dtype())?),
                false => Ok(gradient.clone()),
            })
        })
    })
}

/// The ids of the parameters' tensors, by which gradients are known.
fn leaves(parameters: &[Parameter]) -> FxHashSet<u64> {
    parameters.iter().map(|parameter| parameter.tensor().id()).collect()
}
