//! Sorting along an axis.

use super::axes::axis;
use super::{Tensor, raw};
use crate::error::{Error, Result};
use crate::view::Range;

impl Tensor {
    /// The positions (i64) that sort an axis. Stable; NaN counts as largest.
    pub fn argsort(&self, axis: isize, descending: bool) -> Result<Tensor> {
        let at = self::axis("argsort", axis, self.rank())?;
        Ok(raw::argsort(self, at, descending))
    }

    /// The sorted values of an axis and where they were. Stable; NaN counts as largest.
    pub fn sort(&self, axis: isize, descending: bool) -> Result<(Tensor, Tensor)> {
        let at = self::axis("sort", axis, self.rank())?;
        let order = raw::argsort(self, at, descending);
        Ok((raw::gather(self, at, &order), order))
    }

    /// The `k` largest (or smallest) values of an axis, in order, and where they were.
    pub fn topk(&self, k: usize, axis: isize, largest: bool) -> Result<(Tensor, Tensor)> {
        let at = self::axis("topk", axis, self.rank())?;
        let size = self.shape()[at];
        if k > size {
            let detail = format!("k is {k}, axis {at} of {:?} has {size}", self.shape());
            return Err(Error::Argument { op: "topk", detail });
        }
        let order = raw::argsort(self, at, largest);
        let order = raw::narrow(&order, at, Range { start: 0, len: k, step: 1 });
        Ok((raw::gather(self, at, &order), order))
    }
}
