//! Dropout.

use super::{Module, Visitor};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// While training, zeroes each element with probability `p` and scales the rest by `1 / (1 - p)`. Clones share
/// the training switch.
#[derive(Clone, Debug)]
pub struct Dropout {
    p: f64,
    training: Arc<AtomicBool>,
}

impl Dropout {
    /// A layer in training mode; see [`Module::train`].
    pub fn new(p: f64) -> Result<Dropout> {
        if !(0.0..=1.0).contains(&p) {
            let detail = format!("the probability {p} is not between 0 and 1");
            return Err(Error::Argument { op: "Dropout", detail });
        }
        Ok(Dropout { p, training: Arc::new(AtomicBool::new(true)) })
    }

    /// The same shape, some elements zero.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let training = self.training.load(Ordering::Relaxed);
        if training && self.p > 0.0 { x.dropout(self.p, true) } else { Ok(x.clone()) }
    }
}

impl Module for Dropout {
    fn visit(&self, v: &mut Visitor) {
        v.training(&self.training);
    }
}
