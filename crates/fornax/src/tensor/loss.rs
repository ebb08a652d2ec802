//! Losses, in plain ops and in f32 at least.

use super::axes::{integers, pair, same_device};
use super::elementwise::to_float;
use super::reduce::{below_largest, divided, mean};
use super::{Tensor, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Binary;
use crate::view::Dims;

/// What becomes of the losses of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// All of them.
    None,
}

/// The choices of [`Tensor::cross_entropy_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropy {
    /// Rows with this target count for nothing.
    pub ignore_index: Option<i64>,
    /// The share of the target's probability that is spread evenly over all classes.
    pub label_smoothing: f64,
    /// What becomes of the rows.
    pub reduction: Reduction,
}

/// The sum of all elements, shape `[]`.
fn total(x: &Tensor) -> Tensor {
    let axes: Dims = (0..x.rank()).collect();
    raw::reshape(&raw::sum(x, &axes), &[])
}

impl Tensor {
    /// The mean cross-entropy of logits `[.., C]` with integer targets `[..]`, in f32 at least.
    ///
    /// ```
    /// # use fornax::*;
    /// let device = Device::cpu();
    /// let logits = Tensor::zeros(&[2, 4], DType::F32, &device)?;
    /// let targets = Tensor::from_slice(&[0i64, 3], &[2], &device)?;
    /// let loss = logits.cross_entropy(&targets)?.item::<f32>()?;
    /// assert!((loss - 4f32.ln()).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cross_entropy(&self, targets: &Tensor) -> Result<Tensor> {
        self.cross_entropy_with(targets, CrossEntropy::default())
    }

    /// As [`Tensor::cross_entropy`], with choices. The mean over no rows is NaN.
    pub fn cross_entropy_with(&self, targets: &Tensor, options: CrossEntropy) -> Result<Tensor> {
        let op = "cross_entropy";
        same_device(op, self, targets)?;
        integers(op, "the target", targets)?;
        let rank = self.rank();
        if rank == 0 || self.shape()[..rank - 1] != *targets.shape() {
            let detail = format!(
                "logits {:?} with targets {:?}: logits have the targets' axes and one of classes behind",
                self.shape(),
                targets.shape()
            );
            return Err(Error::Shape { op, detail });
        }
        let smoothing = options.label_smoothing;
        if !(0.0..=1.0).contains(&smoothing) {
            let detail = format!("label_smoothing is {smoothing}; it lies in 0..=1");
            return Err(Error::Argument { op, detail });
        }
        let last = rank - 1;
        let (rows, classes) = (targets.numel(), self.shape()[last]);
        if classes == 0 && rows > 0 {
            return Err(Error::Shape { op, detail: format!("logits {:?} have no classes", self.shape()) });
        }
        let mut line = targets.0.shape.clone();
        line.push(1);
        let targets = raw::reshape(&raw::cast(targets, DType::I64), &line);
        let (kept, targets) = match options.ignore_index {
            Some(ignored) => {
                let kept = targets.ne(ignored)?;
                let safe = raw::select(&kept, &targets, &raw::full_like(&targets, 0));
                (Some(kept), safe)
            }
            None => (None, targets),
        };
        let x = to_float(self);
        let x = raw::cast(&x, x.dtype().compute());
        // log(sum(exp(x - m))) - (x[target] - m), in which the largest logit m cancels.
        let shifted = below_largest(&x, last);
        let lse = raw::log(&raw::sum(&raw::exp(&shifted), &[last]));
        let picked = raw::gather(&shifted, last, &targets);
        let mut loss = if smoothing == 0.0 {
            raw::sub(&lse, &picked)
        } else {
            let spread = mean(&shifted, &[last]).mul(smoothing)?;
            raw::sub(&raw::sub(&lse, &picked.mul(1.0 - smoothing)?), &spread)
        };
        if let Some(kept) = &kept {
            loss = raw::select(kept, &loss, &raw::full_like(&loss, 0.0));
        }
        Ok(match (options.reduction, kept) {
            (Reduction::None, _) => raw::reshape(&loss, &self.shape()[..last]),
            (Reduction::Sum, _) => total(&loss),
            (Reduction::Mean, None) => divided(&total(&loss), rows),
            (Reduction::Mean, Some(kept)) => raw::div(&total(&loss), &total(&raw::cast(&kept, loss.dtype()))),
        })
    }

    /// The mean squared difference from a target of the same shape.
    pub fn mse_loss(&self, target: &Tensor) -> Result<Tensor> {
        let op = "mse_loss";
        if self.shape() != target.shape() {
            let detail = format!("{:?} against {:?}: the shapes must be equal", self.shape(), target.shape());
            return Err(Error::Shape { op, detail });
        }
        let (x, y) = pair(op, self, target)?;
        let wide = |x: Tensor| raw::cast(&to_float(&x), to_float(&x).dtype().compute());
        let difference = raw::binary(Binary::Sub, &wide(x), &wide(y));
        Ok(divided(&total(&raw::mul(&difference, &difference)), self.numel()))
    }
}
