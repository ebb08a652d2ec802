//! Loss scaling for f16: small gradients are lifted into range, and a step whose gradients overflowed is undone.
//! Scale and verdict live on the device; no step waits for the host to look at them.

use super::{Optimizer, Rule};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::autograd::Gradients;
use crate::scope::scope;
use crate::tensor::formula::Formulas;
use crate::tensor::{Tensor, no_grad};
use std::collections::BTreeMap;

/// Scales a loss, unscales its gradients, and skips steps with infinite or undefined gradients, as PyTorch's
/// `GradScaler`. In a browser, where nobody may wait for the verdict on a step, await its loss before the next.
///
/// ```
/// # use fornax::nn::{Linear, Module};
/// # use fornax::optim::{GradScaler, Optimizer, Sgd};
/// # use fornax::*;
/// # let device = Device::cpu();
/// # let model = Linear::new(3, 1, &device)?;
/// # let x = Tensor::ones(&[2, 3], DType::F32, &device)?;
/// let mut optimizer = Optimizer::new(Sgd::default(), 0.1, model.named_parameters())?;
/// let mut scaler = GradScaler::new(&device)?;
/// let loss = autocast(DType::F16, || model.forward(&x))?.to_dtype(DType::F32)?.sqr()?.mean_all()?;
/// let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
/// scaler.step(&mut optimizer, &gradients, &overflow, &[&loss])?;
/// # Ok::<(), Error>(())
/// ```
pub struct GradScaler {
    scale: Tensor,
    streak: Tensor,
    /// The scale is multiplied by this after `growth_interval` good steps in a row.
    pub growth_factor: f64,
    /// The scale is multiplied by this after a step that overflowed.
    pub backoff_factor: f64,
    /// How many good steps in a row let the scale grow.
    pub growth_interval: u32,
}

impl GradScaler {
    /// PyTorch's numbers: scale 65536, doubled after 2000 good steps, halved after a bad one.
    pub fn new(device: &Device) -> Result<GradScaler> {
        GradScaler::with_scale(65536.0, device)
    }

    /// Another scale to start with.
    pub fn with_scale(scale: f64, device: &Device) -> Result<GradScaler> {
        if !(scale.is_finite() && scale > 0.0) {
            let detail = format!("the scale {scale} is not a positive number");
            return Err(Error::Argument { op: "GradScaler", detail });
        }
        Ok(GradScaler {
            scale: Tensor::from_slice(&[scale as f32], &[], device)?,
            streak: Tensor::from_slice(&[0i32], &[], device)?,
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
        })
    }

    /// The scale now, f32 of shape `[]`.
    pub fn current(&self) -> &Tensor {
        &self.scale
    }

    /// The loss times the scale: what `backward` is called on. [`GradScaler::current`] as the seed of `backward_with`, or
    /// of [`super::accumulate`], does the same.
    pub fn scale(&self, loss: &Tensor) -> Result<Tensor> {
        loss.mul(&self.scale)
    }

    /// The true gradients, and whether any of them is infinite or undefined (bool of shape `[]`). Clip after this.
    pub fn unscale(&self, gradients: &Gradients) -> Result<(Gradients, Tensor)> {
        let gradients = &gradients.fenced();
        no_grad(|| {
            scope("scaler", || {
                let factor = self.scale.recip()?;
                let mut finite = vec![];
                let unscale = |gradient: &Tensor| {
                    let wide = gradient.to_dtype(gradient.dtype().compute())?;
                    wide.mul(&factor.to_dtype(wide.dtype())?)
                };
                let mut formulas = Formulas::new([&factor]);
                let unscaled = gradients.map(|_, gradient| {
                    let [unscaled, verdict] = formulas.results(&[gradient], || {
                        // Behind a fence of its own: nothing that must wait for the verdict joins the launch that finds it.
                        let verdict = unscale(&gradient.fence())?.isfinite()?.all(&[], false)?;
                        Ok([unscale(gradient)?, verdict.reshape(&[1])?])
                    })?;
                    finite.push(verdict);
                    Ok(unscaled)
                })?;
                let overflow = match finite.len() {
                    0 => Tensor::zeros(&[], DType::Bool, self.scale.device())?,
                    _ => {
                        Tensor::cat(&finite.iter().collect::<Vec<_>>(), 0)?.all(&[], false)?.logical_not()?
                    }
                };
                Ok((unscaled, overflow))
            })
        })
    }

    /// Steps the optimizer where `overflow` is false, adjusts the scale, and evaluates `also`, all in one plan.
    pub fn step<R: Rule>(
        &mut self,
        optimizer: &mut Optimizer<R>,
        gradients: &Gradients,
        overflow: &Tensor,
        also: &[&Tensor],
    ) -> Result<()> {
        let (scale, streak) = no_grad(|| scope("scaler", || self.adjusted(overflow)))?;
        let mut also = also.to_vec();
        also.extend([&scale, &streak, overflow]);
        optimizer.advance(gradients, &also, Some(overflow))?;
        (self.scale, self.streak) = (scale.detach(), streak.detach());
        Ok(())
    }

    /// What the scaler remembers: "scale" and "streak", the number of good steps in a row.
    pub fn state(&self) -> Vec<(String, Tensor)> {
        vec![("scale".into(), self.scale.detach()), ("streak".into(), self.streak.detach())]
    }

    /// Restores what [`GradScaler::state`] gave. On an error nothing has changed.
    pub fn load_state(&mut self, state: &BTreeMap<String, Tensor>) -> Result<()> {
        let find = |name: &str, like: &Tensor| {
            let wrong = |detail: String| Error::Parameter { name: name.into(), detail };
            let tensor =
                state.get(name).ok_or_else(|| wrong("the scaler's state does not have it".into()))?;
            if (tensor.shape(), tensor.dtype()) != (like.shape(), like.dtype()) {
                return Err(wrong(format!("{tensor:?} is not a number of {}", like.dtype())));
            }
            Ok(tensor.detach())
        };
        (self.scale, self.streak) = (find("scale", &self.scale)?, find("streak", &self.streak)?);
        Ok(())
    }

    fn adjusted(&self, overflow: &Tensor) -> Result<(Tensor, Tensor)> {
        let streak = overflow.where_(0, &self.streak.add(1)?)?;
        let grown = self.scale.mul(self.growth_factor)?;
        let grows = streak.ge(self.growth_interval)?.logical_and(&grown.isfinite()?)?;
        let larger = grows.where_(&grown, &self.scale)?;
        let scale = overflow.where_(&self.scale.mul(self.backoff_factor)?, &larger)?;
        Ok((scale, grows.where_(0, &streak)?))
    }
}
