//! Adam and AdamW, which differ only in where the weight decay goes.

use super::rule::{Moment, Rule, parts};
use crate::error::Result;
use crate::tensor::Tensor;

/// Adam (Kingma and Ba, 2014). Weight decay is added to the gradient.
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// How much of the averages of the gradient and of its square is kept.
    pub betas: (f64, f64),
    /// Keeps the division finite.
    pub eps: f64,
    /// How strongly weights are pulled to zero, unless a group says otherwise.
    pub weight_decay: f64,
}

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2017).
#[derive(Clone, Copy, Debug)]
pub struct AdamW {
    /// How much of the averages of the gradient and of its square is kept.
    pub betas: (f64, f64),
    /// Keeps the division finite.
    pub eps: f64,
    /// How strongly weights are pulled to zero, unless a group says otherwise.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Adam {
        Adam { betas: (0.9, 0.999), eps: 1e-8, weight_decay: 0.0 }
    }
}

impl Default for AdamW {
    fn default() -> AdamW {
        AdamW { betas: (0.9, 0.999), eps: 1e-8, weight_decay: 0.01 }
    }
}

const STATES: [&str; 2] = ["exp_avg", "exp_avg_sq"];

impl Rule for Adam {
    fn weight_decay(&self) -> f64 {
        self.weight_decay
    }

    fn states(&self) -> &[&'static str] {
        &STATES
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        numbers(self.betas, self.eps, at.weight_decay, at)
    }

    fn update(
        &self,
        p: &Tensor,
        g: &Tensor,
        states: &[Tensor],
        n: &[Tensor],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let [weight_decay, ..] = parts::<8>(n)?;
        moved(p, &g.add(&p.mul(weight_decay)?)?, states, n)
    }
}

impl Rule for AdamW {
    fn weight_decay(&self) -> f64 {
        self.weight_decay
    }

    fn states(&self) -> &[&'static str] {
        &STATES
    }

    fn numbers(&self, at: Moment) -> Vec<f64> {
        numbers(self.betas, self.eps, 1.0 - at.lr * at.weight_decay, at)
    }

    fn update(
        &self,
        p: &Tensor,
        g: &Tensor,
        states: &[Tensor],
        n: &[Tensor],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let [kept, ..] = parts::<8>(n)?;
        moved(&p.mul(kept)?, g, states, n)
    }
}

/// The decay comes first, then what `moved` uses. The corrections are computed here, in f64.
fn numbers((b1, b2): (f64, f64), eps: f64, decay: f64, at: Moment) -> Vec<f64> {
    let step_size = at.lr / (1.0 - b1.powf(at.step as f64));
    let correction = (1.0 - b2.powf(at.step as f64)).sqrt().recip();
    vec![decay, b1, 1.0 - b1, b2, 1.0 - b2, step_size, correction, eps]
}

/// `p - step_size * m / (correction * sqrt(v) + eps)` with the new averages m and v.
fn moved(p: &Tensor, g: &Tensor, states: &[Tensor], n: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
    let [_, keep_m, take_m, keep_v, take_v, step_size, correction, eps] = parts(n)?;
    let [m, v] = parts(states)?;
    let m = m.mul(keep_m)?.add(&g.mul(take_m)?)?;
    let v = v.mul(keep_v)?.add(&g.sqr()?.mul(take_v)?)?;
    let scale = v.sqrt()?.mul(correction)?.add(eps)?;
    let p = p.sub(&m.div(&scale)?.mul(step_size)?)?;
    Ok((p, vec![m, v]))
}
