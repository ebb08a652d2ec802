//! Stochastic gradient descent.

use super::rule::{Moment, Rule, parts};
use crate::error::Result;
use crate::tensor::Tensor;

/// Gradient descent, with momentum if it is not zero. Weight decay is added to the gradient, as in PyTorch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sgd {
    /// How much of the last step goes into the next.
    pub momentum: f64,
    /// How much of the gradient does not enter the momentum.
    pub dampening: f64,
    /// Looks ahead along the momentum.
    pub nesterov: bool,
    /// How strongly weights are pulled to zero, unless a group says otherwise.
    pub weight_decay: f64,
}

impl Rule for Sgd {
    fn weight_decay(&self) -> f64 {
        self.weight_decay
    }

    fn states(&self) -> &[&'static str] {
        if self.momentum == 0.0 { &[] } else { &["momentum_buffer"] }
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        // The first gradient enters the momentum whole.
        let entering = if at.step == 1 { 1.0 } else { 1.0 - self.dampening };
        vec![at.lr, at.weight_decay, self.momentum, entering]
    }

    fn update(
        &self,
        p: &Tensor,
        g: &Tensor,
        states: &[Tensor],
        n: &[Tensor],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let [lr, weight_decay, momentum, entering] = parts(n)?;
        let g = g.add(&p.mul(weight_decay)?)?;
        if states.is_empty() {
            return Ok((p.sub(&g.mul(lr)?)?, vec![]));
        }
        let [m] = parts(states)?;
        let m = m.mul(momentum)?.add(&g.mul(entering)?)?;
        let direction = if self.nesterov { g.add(&m.mul(momentum)?)? } else { m.clone() };
        Ok((p.sub(&direction.mul(lr)?)?, vec![m]))
    }
}
