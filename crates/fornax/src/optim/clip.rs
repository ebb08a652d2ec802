//! Gradient clipping. Everything is recorded: the norm is not read unless the caller reads it.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn::Parameter;
use crate::scope::scope;
use crate::graph::autograd::Gradients;
use crate::tensor::{Tensor, no_grad};

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
    let gradients = &gradients.fenced();
    no_grad(|| {
        scope("clip", || {
            let mut squares = vec![];
            for_each(gradients, parameters, |_, gradient| {
                squares.push(gradient.to_dtype(DType::F32)?.sqr()?.sum_all()?);
                Ok(())
            })?;
            if squares.is_empty() {
                let norm = Tensor::zeros(&[], DType::F32, gradients.root().device())?;
                return Ok((gradients.clone(), norm));
            }
            let norm = Tensor::stack(&squares.iter().collect::<Vec<_>>(), 0)?.sum_all()?.sqrt()?;
            let max_norm = Tensor::scalar(max_norm, DType::F32, norm.device())?;
            let factor = max_norm.div(&norm.add(1e-6)?)?.minimum(1.0)?;
            let mut clipped = gradients.clone();
            for_each(gradients, parameters, |parameter, gradient| {
                clipped.set(parameter, gradient.mul(&factor.to_dtype(gradient.dtype())?)?);
                Ok(())
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
    let gradients = &gradients.fenced();
    no_grad(|| {
        scope("clip", || {
            let mut clipped = gradients.clone();
            let bound = |v| Tensor::scalar(v, DType::F32, gradients.root().device());
            let (low, high) = (bound(-limit)?, bound(limit)?);
            for_each(gradients, parameters, |parameter, gradient| {
                let dtype = gradient.dtype();
                clipped.set(parameter, gradient.clamp(&low.to_dtype(dtype)?, &high.to_dtype(dtype)?)?);
                Ok(())
            })?;
            Ok(clipped)
        })
    })
}

/// Calls `f` with every parameter that has a gradient.
fn for_each(
    gradients: &Gradients,
    parameters: &[Parameter],
    mut f: impl FnMut(&Tensor, &Tensor) -> Result<()>,
) -> Result<()> {
    for parameter in parameters {
        let tensor = parameter.tensor();
        if let Some(gradient) = gradients.get(&tensor) {
            f(&tensor, gradient)?;
        }
    }
    Ok(())
}
