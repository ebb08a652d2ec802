//! Indexing with tensors: gather, scatter, rows of a table.

use super::axes::{axis, integers, same_device};
use super::raw::{Amounts, Ranges};
use super::{Tensor, checked_numel, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::view::{Dims, Range};
use smallvec::SmallVec;

/// An error if something is taken from an axis that holds nothing.
fn not_empty(op: &'static str, x: &Tensor, axis: usize, index: &Tensor) -> Result<()> {
    if x.shape()[axis] > 0 || index.numel() == 0 {
        return Ok(());
    }
    let detail = format!("{:?} has nothing along axis {axis} to take", x.shape());
    Err(Error::Index { op, detail })
}

/// The index of a gather or scatter as i64, checked against the tensor it goes into.
fn checked(op: &'static str, x: &Tensor, axis: usize, index: &Tensor) -> Result<Tensor> {
    same_device(op, x, index)?;
    integers(op, "the index", index)?;
    let fits = |i: usize| i == axis || index.shape()[i] <= x.shape()[i];
    if index.rank() != x.rank() || !(0..x.rank()).all(fits) {
        let detail = format!(
            "an index of {:?} for {:?} along axis {axis}: ranks must be equal and other sizes not larger",
            index.shape(),
            x.shape()
        );
        return Err(Error::Shape { op, detail });
    }
    not_empty(op, x, axis, index)?;
    Ok(raw::cast(index, DType::I64))
}

/// The part of `x` with the index's sizes off the axis.
fn part(x: &Tensor, axis: usize, index: &Tensor) -> Tensor {
    let range = |i: usize| {
        let len = if i == axis { x.shape()[i] } else { index.shape()[i] };
        Range { start: 0, len, step: 1 }
    };
    raw::slice(x, (0..x.rank()).map(range).collect::<Ranges>())
}

impl Tensor {
    /// `out[c] = self[c with c[axis] = index[c]]`. An index outside the axis is an error when it is
    /// evaluated.
    pub fn gather(&self, axis: isize, index: &Tensor) -> Result<Tensor> {
        let at = self::axis("gather", axis, self.rank())?;
        let index = checked("gather", self, at, index)?;
        Ok(raw::gather(&part(self, at, &index), at, &index))
    }

    /// The elements of an axis at the positions of a 1-D index, in its order.
    pub fn index_select(&self, axis: isize, index: &Tensor) -> Result<Tensor> {
        let op = "index_select";
        let at = self::axis(op, axis, self.rank())?;
        same_device(op, self, index)?;
        integers(op, "the index", index)?;
        if index.rank() != 1 {
            let detail = format!("an index of {:?}; it must have one axis (flatten it)", index.shape());
            return Err(Error::Shape { op, detail });
        }
        not_empty(op, self, at, index)?;
        let mut shape = self.0.shape.clone();
        shape[at] = index.numel();
        checked_numel(op, &shape)?;
        let mut line: Dims = SmallVec::from_elem(1, self.rank());
        line[at] = index.numel();
        let index = raw::reshape(&raw::cast(index, DType::I64), &line);
        Ok(raw::gather(self, at, &raw::expand(&index, &shape)))
    }

    /// Rows of a table `[V, C]` by number: ids of any shape give that shape with an axis of C behind.
    pub fn embedding(weight: &Tensor, ids: &Tensor) -> Result<Tensor> {
        let op = "embedding";
        if weight.rank() != 2 {
            let detail = format!("a table of {:?}; it must be [rows, width]", weight.shape());
            return Err(Error::Shape { op, detail });
        }
        same_device(op, weight, ids)?;
        integers(op, "the ids", ids)?;
        not_empty(op, weight, 0, ids)?;
        let (n, width) = (ids.numel(), weight.shape()[1]);
        let mut shape = ids.0.shape.clone();
        shape.push(width);
        checked_numel(op, &shape)?;
        let index = raw::reshape(&raw::cast(ids, DType::I64), &[n, 1]);
        Ok(raw::reshape(&raw::gather(weight, 0, &raw::expand(&index, &[n, width])), &shape))
    }

    /// `out = self; out[c with c[axis] = index[c]] += src[c]`.
    pub fn scatter_add(&self, axis: isize, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let op = "scatter_add";
        let at = self::axis(op, axis, self.rank())?;
        let index = checked(op, self, at, index)?;
        same_device(op, self, src)?;
        if src.dtype() != self.dtype() {
            let detail = format!("{} into {}; cast one with .to_dtype(..)", src.dtype(), self.dtype());
            return Err(Error::DType { op, detail });
        }
        if self.dtype() == DType::Bool {
            return Err(Error::DType { op, detail: "bool cannot be summed; cast it".into() });
        }
        if src.shape() != index.shape() {
            let detail = format!("values of {:?} with an index of {:?}", src.shape(), index.shape());
            return Err(Error::Shape { op, detail });
        }
        if (0..self.rank()).all(|i| i == at || index.shape()[i] == self.shape()[i]) {
            return Ok(raw::scatter_add(self, at, &index, src));
        }
        // A smaller index touches the leading part only: scatter into zeros of its size and add those.
        let zeros = raw::full_like(&part(self, at, &index), 0);
        let sums = raw::scatter_add(&zeros, at, &index, src);
        let rest: Amounts = (0..self.rank()).map(|i| (0, self.shape()[i] - sums.shape()[i])).collect();
        Ok(raw::add(self, &raw::pad(&sums, rest)))
    }
}
