//! One constructor for each graph op. Arguments have been checked by the callers: the public ops of this
//! folder and the gradient formulas. Views that change nothing give their operand back.

use super::{Sources, Tensor};
use crate::device::Device;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Op, Random, Reduce, Unary};
use crate::view::{Dims, Range};
use smallvec::{SmallVec, smallvec};

/// The ranges of a slice, one for each axis.
pub(crate) type Ranges = SmallVec<[Range; 6]>;
/// The zeros of a pad before and after each axis.
pub(crate) type Amounts = SmallVec<[(usize, usize); 6]>;

pub(crate) fn unary(op: Unary, x: &Tensor) -> Tensor {
    Tensor::record(Op::Unary(op), smallvec![x.clone()], x.shape(), x.dtype())
}

pub(crate) fn binary(op: Binary, a: &Tensor, b: &Tensor) -> Tensor {
    debug_assert!(a.shape() == b.shape() && a.dtype() == b.dtype(), "{op:?} {a:?} {b:?}");
    let dtype = if op.is_comparison() { DType::Bool } else { a.dtype() };
    Tensor::record(Op::Binary(op), smallvec![a.clone(), b.clone()], a.shape(), dtype)
}

pub(crate) fn add(a: &Tensor, b: &Tensor) -> Tensor {
    binary(Binary::Add, a, b)
}

pub(crate) fn sub(a: &Tensor, b: &Tensor) -> Tensor {
    binary(Binary::Sub, a, b)
}

pub(crate) fn mul(a: &Tensor, b: &Tensor) -> Tensor {
    binary(Binary::Mul, a, b)
}

pub(crate) fn div(a: &Tensor, b: &Tensor) -> Tensor {
    binary(Binary::Div, a, b)
}

pub(crate) fn neg(x: &Tensor) -> Tensor {
    unary(Unary::Neg, x)
}

pub(crate) fn recip(x: &Tensor) -> Tensor {
    unary(Unary::Recip, x)
}

pub(crate) fn exp(x: &Tensor) -> Tensor {
    unary(Unary::Exp, x)
}

pub(crate) fn log(x: &Tensor) -> Tensor {
    unary(Unary::Log, x)
}

/// `condition ? a : b`.
pub(crate) fn select(condition: &Tensor, a: &Tensor, b: &Tensor) -> Tensor {
    debug_assert!(a.shape() == b.shape() && a.shape() == condition.shape() && a.dtype() == b.dtype());
    let src = smallvec![condition.clone(), a.clone(), b.clone()];
    Tensor::record(Op::Where, src, a.shape(), a.dtype())
}

pub(crate) fn cast(x: &Tensor, dtype: DType) -> Tensor {
    if x.dtype() == dtype {
        return x.clone();
    }
    Tensor::record(Op::Cast, smallvec![x.clone()], x.shape(), dtype)
}

pub(crate) fn reshape(x: &Tensor, shape: &[usize]) -> Tensor {
    if x.shape() == shape {
        return x.clone();
    }
    debug_assert_eq!(x.numel(), crate::view::numel(shape));
    Tensor::record(Op::Reshape, smallvec![x.clone()], shape, x.dtype())
}

pub(crate) fn permute(x: &Tensor, axes: &[usize]) -> Tensor {
    if axes.iter().enumerate().all(|(i, &a)| i == a) {
        return x.clone();
    }
    let shape: Dims = axes.iter().map(|&a| x.shape()[a]).collect();
    Tensor::record(Op::Permute(axes.into()), smallvec![x.clone()], &shape, x.dtype())
}

/// Swaps the last two axes.
pub(crate) fn transpose(x: &Tensor) -> Tensor {
    let mut axes: Dims = (0..x.rank()).collect();
    axes.swap(x.rank() - 1, x.rank() - 2);
    permute(x, &axes)
}

/// Repeats axes of size 1; same rank, or from the shape `[]`.
pub(crate) fn expand(x: &Tensor, shape: &[usize]) -> Tensor {
    if x.shape() == shape {
        return x.clone();
    }
    debug_assert!(x.rank() == shape.len() || x.rank() == 0);
    Tensor::record(Op::Expand, smallvec![x.clone()], shape, x.dtype())
}

/// Adds leading axes, then repeats axes of size 1.
pub(crate) fn broadcast(x: &Tensor, shape: &[usize]) -> Tensor {
    if x.shape() == shape {
        return x.clone();
    }
    if x.rank() == shape.len() || x.rank() == 0 {
        return expand(x, shape);
    }
    let mut padded: Dims = SmallVec::from_elem(1, shape.len());
    padded[shape.len() - x.rank()..].copy_from_slice(x.shape());
    expand(&reshape(x, &padded), shape)
}

pub(crate) fn slice(x: &Tensor, ranges: Ranges) -> Tensor {
    if ranges.iter().zip(x.shape()).all(|(r, &n)| *r == (Range { start: 0, len: n, step: 1 })) {
        return x.clone();
    }
    let shape: Dims = ranges.iter().map(|r| r.len).collect();
    Tensor::record(Op::Slice(ranges.into_boxed_slice()), smallvec![x.clone()], &shape, x.dtype())
}

/// A slice of one axis.
pub(crate) fn narrow(x: &Tensor, axis: usize, range: Range) -> Tensor {
    let mut ranges: Ranges = x.shape().iter().map(|&len| Range { start: 0, len, step: 1 }).collect();
    ranges[axis] = range;
    slice(x, ranges)
}

pub(crate) fn flip(x: &Tensor, axis: usize) -> Tensor {
    let len = x.shape()[axis];
    if len < 2 {
        return x.clone();
    }
    narrow(x, axis, Range { start: len - 1, len, step: -1 })
}

pub(crate) fn pad(x: &Tensor, amounts: Amounts) -> Tensor {
    if amounts.iter().all(|&a| a == (0, 0)) {
        return x.clone();
    }
    let shape: Dims = amounts.iter().zip(x.shape()).map(|(a, n)| a.0 + n + a.1).collect();
    Tensor::record(Op::Pad(amounts.into_boxed_slice()), smallvec![x.clone()], &shape, x.dtype())
}

/// Reduces axes, which stay with size 1. A reduction over axes of size 1 changes nothing.
pub(crate) fn reduce(op: Reduce, x: &Tensor, axes: &[usize]) -> Tensor {
    let positions = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
    if !positions && axes.iter().all(|&a| x.shape()[a] == 1) {
        return x.clone();
    }
    let mut shape = x.0.shape.clone();
    axes.iter().for_each(|&a| shape[a] = 1);
    let dtype = if positions { DType::I64 } else { x.dtype() };
    Tensor::record(Op::Reduce(op, axes.into()), smallvec![x.clone()], &shape, dtype)
}

pub(crate) fn sum(x: &Tensor, axes: &[usize]) -> Tensor {
    reduce(Reduce::Sum, x, axes)
}

pub(crate) fn cumsum(x: &Tensor, axis: usize) -> Tensor {
    Tensor::record(Op::Cumsum(axis), smallvec![x.clone()], x.shape(), x.dtype())
}

pub(crate) fn argsort(x: &Tensor, axis: usize, descending: bool) -> Tensor {
    Tensor::record(Op::ArgSort { axis, descending }, smallvec![x.clone()], x.shape(), DType::I64)
}

pub(crate) fn matmul(a: &Tensor, b: &Tensor) -> Tensor {
    let rank = a.rank();
    debug_assert!(rank == b.rank() && a.shape()[rank - 1] == b.shape()[rank - 2], "{a:?} {b:?}");
    let mut shape = a.0.shape.clone();
    shape[rank - 1] = b.shape()[rank - 1];
    Tensor::record(Op::MatMul, smallvec![a.clone(), b.clone()], &shape, a.dtype())
}

/// The cast of what may be a product: if that is still to be computed, and `dtype` is what it is summed in, it is handed on
/// without being rounded.
pub(crate) fn cast_product(product: &Tensor, dtype: DType) -> Tensor {
    let op = product.op();
    match product.sources().filter(|_| product.dtype() != dtype && !product.is_ready()) {
        Some(src) if *op == Op::MatMul && dtype == product.dtype().compute() => {
            Tensor::record(Op::MatMul, src, product.shape(), dtype)
        }
        Some(src) if matches!(op, Op::Reshape | Op::Permute(_)) => {
            let below = cast_product(&src[0], dtype);
            Tensor::record(op.clone(), smallvec![below], product.shape(), dtype)
        }
        _ => cast(product, dtype),
    }
}

pub(crate) fn gather(x: &Tensor, axis: usize, index: &Tensor) -> Tensor {
    let src = smallvec![x.clone(), index.clone()];
    Tensor::record(Op::Gather(axis), src, index.shape(), x.dtype())
}

pub(crate) fn scatter_add(base: &Tensor, axis: usize, index: &Tensor, value: &Tensor) -> Tensor {
    let src = smallvec![base.clone(), index.clone(), value.clone()];
    Tensor::record(Op::ScatterAdd(axis), src, base.shape(), base.dtype())
}

/// Joins parts of one dtype; at least one.
pub(crate) fn cat(parts: &[Tensor], axis: usize) -> Tensor {
    if let [only] = parts {
        return only.clone();
    }
    let mut shape = parts[0].0.shape.clone();
    shape[axis] = parts.iter().map(|p| p.shape()[axis]).sum();
    let src: Sources = parts.iter().cloned().collect();
    Tensor::record(Op::Cat(axis), src, &shape, parts[0].dtype())
}

/// The first operand, to be computed only after the second.
pub(crate) fn after(x: &Tensor, token: &Tensor) -> Tensor {
    Tensor::record(Op::After, smallvec![x.clone(), token.clone()], x.shape(), x.dtype())
}

/// A constant of a formula in every element of a shape; part of the structure, so never for a number that changes.
pub(crate) fn full(value: impl Into<Scalar>, shape: &[usize], dtype: DType, device: &Device) -> Tensor {
    let op = Op::Literal(value.into().to_bits(dtype));
    Tensor::record_on(op, SmallVec::new(), shape, dtype, device)
}

/// A constant of a formula, shaped like a tensor.
pub(crate) fn full_like(x: &Tensor, value: impl Into<Scalar>) -> Tensor {
    full(value, x.shape(), x.dtype(), x.device())
}

/// `x * value`, a constant of the formula.
pub(crate) fn scale(x: &Tensor, value: f64) -> Tensor {
    mul(x, &full_like(x, value))
}

/// `x + value`, a constant of the formula.
pub(crate) fn offset(x: &Tensor, value: f64) -> Tensor {
    add(x, &full_like(x, value))
}

/// The index along an axis of size `len`, as a tensor of `rank` axes of which the others have size 1.
pub(crate) fn positions(len: usize, axis: usize, rank: usize, device: &Device) -> Tensor {
    let dtype = if len <= i32::MAX as usize { DType::I32 } else { DType::I64 };
    let mut shape: Dims = SmallVec::from_elem(1, rank);
    shape[axis] = len;
    Tensor::record_on(Op::Iota, SmallVec::new(), &shape, dtype, device)
}

/// The next random tensor of this thread's generator.
pub(crate) fn random(kind: Random, shape: &[usize], device: &Device) -> Tensor {
    let (seed, stream) = crate::random::next_stream();
    let argument = |word: u32| Tensor::argument(Scalar::Int(word as i64), &[], DType::U32, device);
    let dtype = if kind == Random::Bits { DType::U32 } else { DType::F32 };
    let src = smallvec![argument(seed), argument(stream)];
    Tensor::record_on(Op::Random(kind), src, shape, dtype, device)
}
