//! Lion.

use super::rule::{Moment, Rule, parts};
use crate::error::Result;
use crate::tensor::Tensor;

/// Lion (Chen et al., 2023): the sign of an average of the gradient, with decoupled weight decay.
#[derive(Clone, Copy, Debug)]
pub struct Lion {
    /// How much of the average counts in the step, and how much of it is kept.
    pub betas: (f64, f64),
    /// How strongly weights are pulled to zero, unless a group says otherwise.
    pub weight_decay: f64,
}

impl Default for Lion {
    fn default() -> Lion {
        Lion { betas: (0.9, 0.99), weight_decay: 0.0 }
    }
}

impl Rule for Lion {
    fn weight_decay(&self) -> f64 {
        self.weight_decay
    }

    fn states(&self) -> &[&'static str] {
        &["exp_avg"]
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        let (b1, b2) = self.betas;
        vec![at.lr, 1.0 - at.lr * at.weight_decay, b1, 1.0 - b1, b2, 1.0 - b2]
    }

    fn update(
        &self,
        p: &Tensor,
        g: &Tensor,
        states: &[Tensor],
        n: &[Tensor],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let [lr, kept, old_step, new_step, old_average, new_average] = parts(n)?;
        let [m] = parts(states)?;
        let direction = m.mul(old_step)?.add(&g.mul(new_step)?)?.sign()?;
        let m = m.mul(old_average)?.add(&g.mul(new_average)?)?;
        Ok((p.mul(kept)?.sub(&direction.mul(lr)?)?, vec![m]))
    }
}
