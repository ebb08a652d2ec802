//! Tensors from nothing: constants, ranges, random numbers, and the masks made of ranges.

use super::{Tensor, checked_numel, raw};
use crate::device::Device;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::{Binary, Op, Random, Unary};
use smallvec::SmallVec;

/// An error unless `p` is a probability.
pub(super) fn probability(op: &'static str, p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Error::Argument { op, detail: format!("p is {p}; a probability lies in 0..=1") })
}

impl Tensor {
    /// All zeros.
    pub fn zeros(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        checked_numel("zeros", shape)?;
        Ok(raw::full(0, shape, dtype, device))
    }

    /// All ones.
    pub fn ones(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        checked_numel("ones", shape)?;
        Ok(raw::full(1, shape, dtype, device))
    }

    /// One number everywhere. It is a launch argument: another value does not make another kernel.
    pub fn full(shape: &[usize], value: impl Into<Scalar>, dtype: DType, device: &Device) -> Result<Tensor> {
        checked_numel("full", shape)?;
        Ok(Tensor::argument(value.into(), shape, dtype, device))
    }

    /// A number as a tensor of shape `[]`.
    pub fn scalar(value: impl Into<Scalar>, dtype: DType, device: &Device) -> Result<Tensor> {
        Ok(Tensor::argument(value.into(), &[], dtype, device))
    }

    /// Zeros of this shape, dtype and device.
    pub fn zeros_like(&self) -> Result<Tensor> {
        Ok(raw::full_like(self, 0))
    }

    /// Ones of this shape, dtype and device.
    pub fn ones_like(&self) -> Result<Tensor> {
        Ok(raw::full_like(self, 1))
    }

    /// One number in this shape, dtype and device.
    pub fn full_like(&self, value: impl Into<Scalar>) -> Result<Tensor> {
        Tensor::full(self.shape(), value, self.dtype(), self.device())
    }

    /// A number of this shape to stand on the left of an operator.
    pub(super) fn scalar_like(&self, value: impl Into<Scalar>) -> Tensor {
        let value = value.into();
        let dtype = match value {
            Scalar::Float(_) if !self.dtype().is_float() => DType::F32,
            _ if self.dtype() == DType::Bool => DType::I64,
            _ => self.dtype(),
        };
        Tensor::argument(value, self.shape(), dtype, self.device())
    }

    /// `start, start + step, ...` up to but without `end`.
    pub fn arange(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let op = "arange";
        let (start, end, step) = (start.into(), end.into(), step.into());
        if dtype == DType::Bool {
            return Err(Error::DType { op, detail: "bool has no ranges; take an integer dtype".into() });
        }
        let bad = |what: &str| {
            let detail = format!("start {start:?}, end {end:?}, step {step:?}: {what}");
            Err(Error::Argument { op, detail })
        };
        let count = match (start, end, step) {
            (Scalar::Int(a), Scalar::Int(b), Scalar::Int(s)) if s != 0 => {
                let (distance, s) = (b as i128 - a as i128, s as i128);
                (distance / s + (distance % s != 0 && (distance < 0) == (s < 0)) as i128) as f64
            }
            _ => ((end.as_f64() - start.as_f64()) / step.as_f64()).ceil(),
        };
        if step.as_f64() == 0.0 || !count.is_finite() {
            return bad("the range does not end");
        }
        let away = (end.as_f64() < start.as_f64()) != (step.as_f64() < 0.0) && end.as_f64() != start.as_f64();
        if away {
            return bad("the step leads away from the end");
        }
        let count = count.max(0.0) as usize;
        checked_numel(op, &[count])?;
        let work = dtype.compute();
        let index = Tensor::record_on(Op::Iota, SmallVec::new(), &[count], work, device);
        // The step must not turn an integer range into f32.
        let number = |v: Scalar| Tensor::argument(v, &[count], work, device);
        Ok(raw::cast(&raw::add(&raw::mul(&index, &number(step)), &number(start)), dtype))
    }

    /// `count` numbers from `start` to `end`, both included.
    pub fn linspace(start: f64, end: f64, count: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        let op = "linspace";
        checked_numel(op, &[count])?;
        if !dtype.is_float() {
            let detail = format!("{dtype} cannot hold the steps; take a float dtype and cast");
            return Err(Error::DType { op, detail });
        }
        let step = if count > 1 { (end - start) / (count - 1) as f64 } else { 0.0 };
        let work = dtype.compute();
        let index = Tensor::record_on(Op::Iota, SmallVec::new(), &[count], work, device);
        // Each half counts from its own end, so that both ends are exact.
        let from_end = index.sub(count.saturating_sub(1))?.mul(step)?.add(end)?;
        let from_start = index.mul(step)?.add(start)?;
        let first = index.lt(count.div_ceil(2))?;
        Ok(raw::cast(&raw::select(&first, &from_start, &from_end), dtype))
    }

    /// The identity matrix.
    pub fn eye(n: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        checked_numel("eye", &[n, n])?;
        let rows = raw::expand(&raw::positions(n, 0, 2, device), &[n, n]);
        let columns = raw::expand(&raw::positions(n, 1, 2, device), &[n, n]);
        Ok(raw::cast(&raw::binary(Binary::Eq, &rows, &columns), dtype))
    }

    /// Uniform random numbers in [0, 1), from this thread's generator.
    pub fn rand(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        random("rand", Random::Uniform, shape, dtype, device)
    }

    /// Standard normal random numbers, from this thread's generator.
    pub fn randn(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        random("randn", Random::Normal, shape, dtype, device)
    }

    /// 1 with probability `p`, else 0.
    pub fn bernoulli(p: f64, shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        probability("bernoulli", p)?;
        checked_numel("bernoulli", shape)?;
        Ok(raw::cast(&raw::random(Random::Uniform, shape, device).lt(p)?, dtype))
    }

    /// Uniform random integers in `low..high`.
    pub fn randint(low: i64, high: i64, shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
        let op = "randint";
        checked_numel(op, shape)?;
        let span = high as i128 - low as i128;
        if span <= 0 || span > u32::MAX as i128 {
            let detail =
                format!("{low}..{high} holds {} numbers; 1 to {} can be drawn", span.max(0), u32::MAX);
            return Err(Error::Argument { op, detail });
        }
        let bits = raw::random(Random::Bits, shape, device).rem(span as i64)?;
        Ok(raw::cast(&raw::cast(&bits, DType::I64).add(low)?, dtype))
    }

    /// A new last axis of `classes`, 1 at this tensor's value and 0 elsewhere.
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Result<Tensor> {
        super::axes::integers("one_hot", "the tensor", self)?;
        let mut shape = self.0.shape.clone();
        shape.push(classes);
        checked_numel("one_hot", &shape)?;
        let rank = shape.len();
        let classes = raw::expand(
            &raw::cast(&raw::positions(classes, rank - 1, rank, self.device()), self.dtype()),
            &shape,
        );
        let value = raw::expand(&self.unsqueeze(-1)?, &shape);
        Ok(raw::cast(&raw::binary(Binary::Eq, &classes, &value), dtype))
    }

    /// Zeros above the given diagonal of the last two axes (0 is the main one, positive lies above).
    pub fn tril(&self, diagonal: isize) -> Result<Tensor> {
        self.triangle("tril", diagonal, true)
    }

    /// Zeros below the given diagonal of the last two axes.
    pub fn triu(&self, diagonal: isize) -> Result<Tensor> {
        self.triangle("triu", diagonal, false)
    }

    fn triangle(&self, op: &'static str, diagonal: isize, lower: bool) -> Result<Tensor> {
        let rank = self.rank();
        if rank < 2 {
            let detail = format!("{:?} has no last two axes", self.shape());
            return Err(Error::Shape { op, detail });
        }
        let (m, n) = (self.shape()[rank - 2], self.shape()[rank - 1]);
        let at = |len, axis| raw::cast(&raw::positions(len, axis, rank, self.device()), DType::I64);
        // Diagonals beyond the matrix all mean the same.
        let diagonal = diagonal.clamp(-(m as isize), n as isize) as i64;
        let distance = at(n, rank - 1).sub(&at(m, rank - 2))?;
        let kept = if lower { distance.le(diagonal)? } else { distance.ge(diagonal)? };
        Ok(raw::select(&raw::broadcast(&kept, self.shape()), self, &raw::full_like(self, 0)))
    }
}

fn random(op: &'static str, kind: Random, shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    checked_numel(op, shape)?;
    if !dtype.is_float() {
        let detail = format!("{dtype} cannot hold random fractions; take randint(..) or a float dtype");
        return Err(Error::DType { op, detail });
    }
    let mut drawn = raw::random(kind, shape, device);
    // Rounding must not turn the largest numbers into 1: keep as many bits as the dtype holds.
    let steps = match dtype {
        DType::F16 => 2048.0,
        DType::BF16 => 256.0,
        _ => 0.0,
    };
    if kind == Random::Uniform && steps > 0.0 {
        drawn = raw::scale(&raw::unary(Unary::Floor, &raw::scale(&drawn, steps)), 1.0 / steps);
    }
    Ok(raw::cast(&drawn, dtype))
}
