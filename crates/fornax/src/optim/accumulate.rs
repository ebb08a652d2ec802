//! Gradient accumulation: a large batch in parts, one after another inside one plan, so that the memory of one part's
//! activations serves them all. Very many parts take several plans, because planning takes longer the more there is
//! to plan.

use crate::error::{Error, Result};
use crate::graph::autograd::Gradients;
use crate::tensor::{Tensor, no_grad};

/// The most parts of a plan.
const PARTS: usize = 8;

/// The mean of the losses of several parts of a batch and its gradients, recorded: the optimizer's step computes
/// everything (of more than eight parts, the last ones). Each part is the inputs that `loss` is called with. `seed` is the gradient of something for the mean
/// loss (see [`super::GradScaler::current`]), one if there is none.
///
/// ```
/// use fornax::nn::{Linear, Module};
/// use fornax::optim::{Optimizer, Sgd, accumulate};
/// use fornax::{DType, Device, Tensor};
///
/// let device = Device::cpu();
/// let model = Linear::new(3, 1, &device)?;
/// let mut optimizer = Optimizer::new(Sgd::default(), 0.1, model.named_parameters())?;
/// let parts = [[Tensor::ones(&[2, 3], DType::F32, &device)?], [Tensor::zeros(&[2, 3], DType::F32, &device)?]];
/// let gradients = accumulate(&parts, None, |[x]| model.forward(x)?.sqr()?.mean_all())?;
/// optimizer.step(&gradients)?;
/// assert!(gradients.root().item::<f32>()? >= 0.0);
/// # Ok::<(), fornax::Error>(())
/// ```
pub fn accumulate<const N: usize>(
    parts: &[[Tensor; N]],
    seed: Option<&Tensor>,
    loss: impl Fn(&[Tensor; N]) -> Result<Tensor>,
) -> Result<Gradients> {
    let mut all: Option<Gradients> = None;
    for (number, part) in parts.iter().enumerate() {
        if let (Some(before), true) = (&all, number % PARTS == 0) {
            crate::realize::eval(&before.iter().map(|(_, g)| g).chain([before.root()]).collect::<Vec<_>>())?;
        }
        let mut inputs = part.clone();
        if let (Some(before), Some(input)) = (&all, inputs.first_mut()) {
            // Without this order all parts would go forwards before one goes backwards.
            for (_, gradient) in before.iter() {
                *input = input.after(gradient)?;
            }
        }
        let loss = loss(&inputs)?;
        let share = match (seed, parts.len()) {
            (None, 1) => None,
            (None, n) => Some(Tensor::scalar(1.0 / n as f64, loss.dtype(), loss.device())?),
            (Some(seed), 1) => Some(seed.clone()),
            (Some(seed), n) => Some(seed.mul(1.0 / n as f64)?),
        };
        let gradients = match share {
            Some(share) => loss.backward_with(&share)?,
            None => loss.backward()?,
        };
        all = Some(match all {
            Some(before) => {
                let root = no_grad(|| before.root().add(&loss))?;
                before.plus(&gradients, &root)?
            }
            None => gradients,
        });
    }
    let all = all.ok_or_else(|| Error::Argument {
        op: "accumulate",
        detail: "there is no part to take the gradient of".into(),
    })?;
    match parts.len() {
        1 => Ok(all),
        n => {
            let mean = no_grad(|| all.root().mul(1.0 / n as f64))?;
            Ok(all.with_root(mean))
        }
    }
}
