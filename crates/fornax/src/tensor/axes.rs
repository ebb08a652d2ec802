//! What the ops check about their operands before they record: axes, shapes that broadcast, devices, dtypes.

use super::{Tensor, raw};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::view::Dims;
use smallvec::SmallVec;

/// The axis that a possibly negative number means.
pub(crate) fn axis(op: &'static str, axis: isize, rank: usize) -> Result<usize> {
    let resolved = if axis < 0 { axis.checked_add_unsigned(rank) } else { Some(axis) };
    match resolved {
        Some(a) if a >= 0 && (a as usize) < rank => Ok(a as usize),
        _ if rank == 0 => {
            Err(Error::Axis { op, detail: format!("axis {axis} of a tensor of shape [], which has no axes") })
        }
        _ => {
            let detail = format!("axis {axis} of a tensor of {rank} axes; -{rank} to {} exist", rank - 1);
            Err(Error::Axis { op, detail })
        }
    }
}

/// Several axes, sorted; none means all.
pub(crate) fn axes(op: &'static str, list: &[isize], rank: usize) -> Result<Dims> {
    if list.is_empty() {
        return Ok((0..rank).collect());
    }
    let mut out: Dims = list.iter().map(|&a| axis(op, a, rank)).collect::<Result<_>>()?;
    out.sort_unstable();
    if out.windows(2).any(|w| w[0] == w[1]) {
        return Err(Error::Axis { op, detail: format!("axes {list:?} name an axis of {rank} twice") });
    }
    Ok(out)
}

/// The shape to which both broadcast.
pub(crate) fn broadcast_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Dims> {
    let rank = a.len().max(b.len());
    let mut out: Dims = SmallVec::from_elem(1, rank);
    for i in 1..=rank {
        let x = if i <= a.len() { a[a.len() - i] } else { 1 };
        let y = if i <= b.len() { b[b.len() - i] } else { 1 };
        out[rank - i] = match (x, y) {
            _ if x == y => x,
            (1, _) => y,
            (_, 1) => x,
            _ => {
                let detail = format!(
                    "{a:?} with {b:?}: sizes {x} and {y} of axis -{i} differ and neither is 1 \
                     (unsqueeze(..) or reshape(..) lines axes up)"
                );
                return Err(Error::Shape { op, detail });
            }
        };
    }
    // Two outer vectors can ask for more than can be addressed.
    super::checked_numel(op, &out)?;
    Ok(out)
}

/// An error unless both live on one device.
pub(crate) fn same_device(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    check_device(op, a.device(), b.device())
}

fn check_device(op: &'static str, a: &Device, b: &Device) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(Error::DeviceMismatch { op, left: a.name(), right: b.name() })
}

/// An error unless the dtype is an integer one.
pub(crate) fn integers(op: &'static str, what: &str, x: &Tensor) -> Result<()> {
    if x.dtype().is_int() {
        return Ok(());
    }
    let detail = format!("{what} is {}, not integers; cast it with .to_dtype(DType::I64)", x.dtype());
    Err(Error::DType { op, detail })
}

/// Both operands on one device, with one dtype and one shape.
pub(crate) fn pair(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    same_device(op, a, b)?;
    let dtype = DType::promote(a.dtype(), b.dtype());
    let (a, b) = (raw::cast(a, dtype), raw::cast(b, dtype));
    if a.shape() == b.shape() {
        return Ok((a, b));
    }
    let shape = broadcast_shape(op, a.shape(), b.shape())?;
    Ok((raw::broadcast(&a, &shape), raw::broadcast(&b, &shape)))
}
