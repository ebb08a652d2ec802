//! Views: other shapes and orders of the same elements, slices, pads and joins.

use super::axes::{axes, axis, same_device};
use super::raw::{Amounts, Ranges};
use super::{Tensor, checked_numel, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::view::{Dims, Range};

impl Tensor {
    /// The same elements, row-major, under another shape. One size may be -1: what is left.
    pub fn reshape(&self, shape: &[isize]) -> Result<Tensor> {
        let op = "reshape";
        let bad =
            |why: String| Err(Error::Shape { op, detail: format!("{:?} to {shape:?}: {why}", self.shape()) });
        let mut known: Dims = Dims::with_capacity(shape.len());
        let mut open = None;
        for (i, &n) in shape.iter().enumerate() {
            match n {
                -1 if open.is_some() => return bad("only one size can be -1".into()),
                -1 => {
                    open = Some(i);
                    known.push(1);
                }
                n if n < 0 => return bad(format!("size {n} makes no sense")),
                n => known.push(n as usize),
            }
        }
        let count = checked_numel(op, &known)?;
        match open {
            Some(_) if count == 0 => return bad("-1 could be any size beside a size of 0".into()),
            Some(i) if self.numel().is_multiple_of(count) => known[i] = self.numel() / count,
            Some(_) => return bad(format!("{} elements do not divide by {count}", self.numel())),
            None if count != self.numel() => {
                return bad(format!("{} elements do not fill {count}", self.numel()));
            }
            None => {}
        }
        Ok(raw::reshape(self, &known))
    }

    /// Axis i of the result is axis `order[i]` of this tensor.
    pub fn permute(&self, order: &[usize]) -> Result<Tensor> {
        let rank = self.rank();
        let mut seen: Dims = smallvec::SmallVec::from_elem(0, rank);
        order.iter().filter(|&&a| a < rank).for_each(|&a| seen[a] += 1);
        if order.len() != rank || seen.iter().any(|&n| n != 1) {
            let detail = format!("{order:?} is not an order of the {rank} axes of {:?}", self.shape());
            return Err(Error::Axis { op: "permute", detail });
        }
        Ok(raw::permute(self, order))
    }

    /// Swaps two axes.
    pub fn transpose(&self, a: isize, b: isize) -> Result<Tensor> {
        let (a, b) = (axis("transpose", a, self.rank())?, axis("transpose", b, self.rank())?);
        let mut order: Dims = (0..self.rank()).collect();
        order.swap(a, b);
        Ok(raw::permute(self, &order))
    }

    /// Swaps the last two axes.
    pub fn t(&self) -> Result<Tensor> {
        if self.rank() < 2 {
            let detail = format!("{:?} has no last two axes to swap", self.shape());
            return Err(Error::Shape { op: "t", detail });
        }
        Ok(raw::transpose(self))
    }

    /// `len` elements of an axis from `start` on.
    pub fn narrow(&self, axis: isize, start: usize, len: usize) -> Result<Tensor> {
        let at = self::axis("narrow", axis, self.rank())?;
        let size = self.shape()[at];
        if start.checked_add(len).is_none_or(|end| end > size) {
            let detail =
                format!("{len} elements from {start} on of axis {at} of {:?}, size {size}", self.shape());
            return Err(Error::Index { op: "narrow", detail });
        }
        Ok(raw::narrow(self, at, Range { start, len, step: 1 }))
    }

    /// Elements `start, start + step, ..` before `end` of an axis, as Python's `[start:end:step]`: negative
    /// positions count from the end and what lies outside is cut off.
    pub fn slice(&self, axis: isize, start: isize, end: isize, step: isize) -> Result<Tensor> {
        let at = self::axis("slice", axis, self.rank())?;
        if step == 0 {
            return Err(Error::Argument {
                op: "slice",
                detail: "the step is 0; 1 takes every element".into(),
            });
        }
        let size = self.shape()[at] as i128;
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let position = |p: isize| (p as i128 + if p < 0 { size } else { 0 }).clamp(low, high);
        let (start, end, stride) = (position(start), position(end), step.unsigned_abs() as i128);
        let distance = if step > 0 { end - start } else { start - end };
        let len = if distance > 0 { ((distance + stride - 1) / stride) as usize } else { 0 };
        let range = match len {
            0 => Range { start: 0, len, step: 1 },
            1 => Range { start: start as usize, len, step: 1 },
            _ => Range { start: start as usize, len, step },
        };
        Ok(raw::narrow(self, at, range))
    }

    /// Element `index` of an axis, which goes away. Negative counts from the end.
    pub fn select(&self, axis: isize, index: isize) -> Result<Tensor> {
        let at = self::axis("select", axis, self.rank())?;
        let size = self.shape()[at];
        let start = if index < 0 { index.checked_add_unsigned(size) } else { Some(index) };
        match start {
            Some(start) if start >= 0 && (start as usize) < size => {
                let one = raw::narrow(self, at, Range { start: start as usize, len: 1, step: 1 });
                one.squeeze(at as isize)
            }
            _ => {
                let detail = format!("index {index} of axis {at} of {:?}, size {size}", self.shape());
                Err(Error::Index { op: "select", detail })
            }
        }
    }

    /// Repeats axes of size 1 to this shape of the same rank.
    pub fn expand(&self, shape: &[usize]) -> Result<Tensor> {
        if shape.len() != self.rank() {
            let detail = format!(
                "{:?} to {shape:?}: the ranks differ (broadcast_to(..) adds leading axes)",
                self.shape()
            );
            return Err(Error::Shape { op: "expand", detail });
        }
        self.broadcast("expand", shape)
    }

    /// Adds leading axes and repeats axes of size 1 to this shape.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Tensor> {
        self.broadcast("broadcast_to", shape)
    }

    pub(super) fn broadcast(&self, op: &'static str, shape: &[usize]) -> Result<Tensor> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        checked_numel(op, shape)?;
        let fits = self.rank() <= shape.len()
            && self
                .shape()
                .iter()
                .rev()
                .zip(shape.iter().rev())
                .all(|(&have, &want)| have == want || have == 1);
        if !fits {
            let detail = format!("{:?} to {shape:?}: only axes of size 1 can be repeated", self.shape());
            return Err(Error::Shape { op, detail });
        }
        Ok(raw::broadcast(self, shape))
    }

    /// Turns axes around; none named means all.
    pub fn flip(&self, axes: &[isize]) -> Result<Tensor> {
        let axes = self::axes("flip", axes, self.rank())?;
        let range = |(i, &len): (usize, &usize)| match len > 1 && axes.contains(&i) {
            true => Range { start: len - 1, len, step: -1 },
            false => Range { start: 0, len, step: 1 },
        };
        Ok(raw::slice(self, self.shape().iter().enumerate().map(range).collect::<Ranges>()))
    }

    /// Takes away an axis of size 1.
    pub fn squeeze(&self, axis: isize) -> Result<Tensor> {
        let at = self::axis("squeeze", axis, self.rank())?;
        if self.shape()[at] != 1 {
            let detail = format!("axis {at} of {:?} has size {}, not 1", self.shape(), self.shape()[at]);
            return Err(Error::Shape { op: "squeeze", detail });
        }
        let mut shape = self.0.shape.clone();
        shape.remove(at);
        Ok(raw::reshape(self, &shape))
    }

    /// Puts in an axis of size 1, so that it becomes axis `axis` of the result.
    pub fn unsqueeze(&self, axis: isize) -> Result<Tensor> {
        let at = self::axis("unsqueeze", axis, self.rank() + 1)?;
        let mut shape = self.0.shape.clone();
        shape.insert(at, 1);
        Ok(raw::reshape(self, &shape))
    }

    /// Joins axes `from` to `to` (both included) into one.
    pub fn flatten(&self, from: isize, to: isize) -> Result<Tensor> {
        if self.rank() == 0 && matches!(from, 0 | -1) && matches!(to, 0 | -1) {
            return Ok(raw::reshape(self, &[1]));
        }
        let (from, to) = (axis("flatten", from, self.rank())?, axis("flatten", to, self.rank())?);
        if from > to {
            let detail = format!("axis {from} lies behind axis {to}");
            return Err(Error::Axis { op: "flatten", detail });
        }
        let mut shape: Dims = self.shape()[..from].into();
        shape.push(self.shape()[from..=to].iter().product());
        shape.extend_from_slice(&self.shape()[to + 1..]);
        Ok(raw::reshape(self, &shape))
    }

    /// Pieces of `size` along an axis; the last may be smaller.
    pub fn split(&self, size: usize, axis: isize) -> Result<Vec<Tensor>> {
        let at = self::axis("split", axis, self.rank())?;
        if size == 0 {
            return Err(Error::Argument {
                op: "split",
                detail: "pieces of size 0 never cover an axis".into(),
            });
        }
        let whole = self.shape()[at];
        let piece =
            |start: usize| raw::narrow(self, at, Range { start, len: size.min(whole - start), step: 1 });
        Ok(if whole == 0 { vec![self.clone()] } else { (0..whole).step_by(size).map(piece).collect() })
    }

    /// At most `n` pieces of equal size along an axis; the last may be smaller.
    pub fn chunk(&self, n: usize, axis: isize) -> Result<Vec<Tensor>> {
        let at = self::axis("chunk", axis, self.rank())?;
        if n == 0 {
            return Err(Error::Argument {
                op: "chunk",
                detail: "0 chunks hold nothing; 1 is the whole".into(),
            });
        }
        self.split(self.shape()[at].div_ceil(n).max(1), axis)
    }

    /// Puts `value` before and after every axis, `(before, after)` for each.
    pub fn pad(&self, amounts: &[(usize, usize)], value: f64) -> Result<Tensor> {
        let op = "pad";
        if amounts.len() != self.rank() {
            let detail =
                format!("{} pairs for the {} axes of {:?}", amounts.len(), self.rank(), self.shape());
            return Err(Error::Shape { op, detail });
        }
        let size = |(&n, &(before, after)): (&usize, &(usize, usize))| {
            n.checked_add(before).and_then(|n| n.checked_add(after)).ok_or_else(|| Error::Shape {
                op,
                detail: format!("{:?} with {amounts:?} is larger than can be addressed", self.shape()),
            })
        };
        let shape: Dims = self.shape().iter().zip(amounts).map(size).collect::<Result<_>>()?;
        checked_numel(op, &shape)?;
        let amounts: Amounts = amounts.into();
        if value == 0.0 || amounts.iter().all(|&a| a == (0, 0)) {
            return Ok(raw::pad(self, amounts));
        }
        let inside = raw::full(true, self.shape(), DType::Bool, self.device());
        let outside = Tensor::argument(value.into(), &shape, self.dtype(), self.device());
        let padded = raw::pad(self, amounts.clone());
        Ok(raw::select(&raw::pad(&inside, amounts), &padded, &outside))
    }

    /// Joins tensors along an axis. Their other sizes must be equal; dtypes are promoted.
    pub fn cat(parts: &[&Tensor], axis: isize) -> Result<Tensor> {
        let op = "cat";
        let Some(&first) = parts.first() else {
            return Err(Error::Argument { op, detail: "no tensors to join".into() });
        };
        let at = self::axis(op, axis, first.rank())?;
        let (mut total, mut dtype) = (0usize, first.dtype());
        for part in parts {
            same_device(op, first, part)?;
            dtype = DType::promote(dtype, part.dtype());
            let same = |i: usize| i == at || part.shape()[i] == first.shape()[i];
            if part.rank() != first.rank() || !(0..first.rank()).all(same) {
                let detail = format!(
                    "{:?} and {:?} along axis {at}: all other sizes must be equal",
                    first.shape(),
                    part.shape()
                );
                return Err(Error::Shape { op, detail });
            }
            total = total.saturating_add(part.shape()[at]);
        }
        let mut shape = first.0.shape.clone();
        shape[at] = total;
        checked_numel(op, &shape)?;
        let mut kept: Vec<Tensor> =
            parts.iter().filter(|p| p.shape()[at] > 0).map(|p| raw::cast(p, dtype)).collect();
        if kept.is_empty() {
            kept.push(raw::cast(first, dtype));
        }
        Ok(raw::cat(&kept, at))
    }

    /// Joins tensors of one shape along a new axis.
    pub fn stack(parts: &[&Tensor], axis: isize) -> Result<Tensor> {
        let op = "stack";
        let Some(&first) = parts.first() else {
            return Err(Error::Argument { op, detail: "no tensors to join".into() });
        };
        let at = self::axis(op, axis, first.rank() + 1)? as isize;
        if let Some(other) = parts.iter().find(|p| p.shape() != first.shape()) {
            let detail = format!("{:?} and {:?}: all shapes must be equal", first.shape(), other.shape());
            return Err(Error::Shape { op, detail });
        }
        let parts: Vec<Tensor> = parts.iter().map(|p| p.unsqueeze(at)).collect::<Result<_>>()?;
        Tensor::cat(&parts.iter().collect::<Vec<_>>(), at)
    }
}
