//! What an update rule is: how one parameter and its state change in one step.

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// When a step happens: what its numbers may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The group's learning rate.
    pub lr: f64,
    /// The group's weight decay.
    pub weight_decay: f64,
    /// How many times the parameter will have been updated, counting this one.
    pub step: u64,
}

/// How one parameter changes. All arithmetic is recorded, nothing runs here.
///
/// ```
/// use fornax::optim::{Moment, Rule};
/// use fornax::{Result, Tensor};
///
/// /// Plain gradient descent.
/// struct Descent;
/// impl Rule for Descent {
///     fn states(&self) -> &[&'static str] {
///         &[]
///     }
///     fn numbers(&self, at: Moment) -> Vec<f64> {
///         vec![at.lr]
///     }
///     fn update(&self, p: &Tensor, g: &Tensor, _: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
///         Ok((p.sub(&g.mul(&n[0])?)?, vec![]))
///     }
/// }
/// ```
pub trait Rule {
    /// The weight decay of groups that do not say their own.
    fn weight_decay(&self) -> f64 {
        0.0
    }

    /// Names of the tensors kept for each parameter; they start as zeros of its shape.
    fn states(&self) -> &[&'static str];

    /// The numbers of a step. They reach `update` as tensors of shape `[]` that all parameters of a group share.
    fn numbers(&self, at: Moment) -> Vec<f64>;

    /// The parameter and its states after the step, from the parameter, its gradient, its states and the numbers, and from
    /// nothing else: parameters of one shape share what is recorded, unless it uses numbers or tensors of its own or reads
    /// values.
    fn update(
        &self,
        parameter: &Tensor,
        gradient: &Tensor,
        states: &[Tensor],
        numbers: &[Tensor],
    ) -> Result<(Tensor, Vec<Tensor>)>;
}

/// `tensors` as an array, so that a rule can name its parts.
pub(super) fn parts<const N: usize>(tensors: &[Tensor]) -> Result<&[Tensor; N]> {
    tensors
        .try_into()
        .map_err(|_| Error::Internal(format!("a rule was given {} tensors, not {N}", tensors.len())))
}
