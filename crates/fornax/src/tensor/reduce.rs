//! Reductions and what is made of them: mean, variance, norms, softmax, running sums.

use super::axes::{axes, axis};
use super::elementwise::to_float;
use super::{Tensor, autocast, no_grad, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Binary, Reduce, Unary};
use crate::view::Dims;

/// Takes away axes that were reduced to size 1.
fn drop_axes(x: &Tensor, axes: &[usize], keepdim: bool) -> Tensor {
    if keepdim {
        return x.clone();
    }
    let shape: Dims = (0..x.rank()).filter(|i| !axes.contains(i)).map(|i| x.shape()[i]).collect();
    raw::reshape(x, &shape)
}

/// The number of elements that go into each result.
fn count(x: &Tensor, axes: &[usize]) -> usize {
    axes.iter().map(|&a| x.shape()[a]).product()
}

/// The operand of a composite reduction as float in its compute dtype, and the dtype of the result.
pub(super) fn wide(x: &Tensor) -> (Tensor, DType) {
    let x = to_float(x);
    let result = autocast::result(x.dtype());
    (raw::cast(&x, x.dtype().compute()), result)
}

/// The mean over axes, kept with size 1.
pub(super) fn mean(x: &Tensor, axes: &[usize]) -> Tensor {
    divided(&raw::sum(x, axes), count(x, axes))
}

impl Tensor {
    /// The operand of a sum or product: small integers count in i64, as in PyTorch.
    fn summand(&self) -> Tensor {
        match self.dtype() {
            DType::Bool | DType::U8 | DType::I32 | DType::U32 => raw::cast(self, DType::I64),
            other => raw::cast(self, autocast::result(other)),
        }
    }

    fn reduced(&self, op: Reduce, name: &'static str, list: &[isize], keepdim: bool) -> Result<Tensor> {
        let axes = axes(name, list, self.rank())?;
        Ok(drop_axes(&raw::reduce(op, self, &axes), &axes, keepdim))
    }

    /// As `reduced`, for reductions that have no answer for no elements.
    fn extreme(&self, op: Reduce, name: &'static str, list: &[isize], keepdim: bool) -> Result<Tensor> {
        let axes = axes(name, list, self.rank())?;
        if count(self, &axes) == 0 {
            let detail =
                format!("axes {axes:?} of {:?} hold no elements, so there is no {name}", self.shape());
            return Err(Error::Shape { op: name, detail });
        }
        Ok(drop_axes(&raw::reduce(op, self, &axes), &axes, keepdim))
    }

    /// The sum over axes (none named means all). Integers and bool sum to i64.
    pub fn sum(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.summand().reduced(Reduce::Sum, "sum", axes, keepdim)
    }

    /// The product over axes (none named means all). Integers and bool multiply in i64.
    pub fn prod(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.summand().reduced(Reduce::Prod, "prod", axes, keepdim)
    }

    /// The largest element over axes; NaN if there is one. Equal largest elements share the gradient.
    pub fn max(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.extreme(Reduce::Max, "max", axes, keepdim)
    }

    /// The smallest element over axes; NaN if there is one. Equal smallest elements share the gradient.
    pub fn min(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.extreme(Reduce::Min, "min", axes, keepdim)
    }

    /// The position (i64) of the first largest element along an axis, or in row-major order of all.
    pub fn argmax(&self, axis: Option<isize>, keepdim: bool) -> Result<Tensor> {
        self.extreme(Reduce::ArgMax, "argmax", axis.as_slice(), keepdim)
    }

    /// The position (i64) of the first smallest element along an axis, or in row-major order of all.
    pub fn argmin(&self, axis: Option<isize>, keepdim: bool) -> Result<Tensor> {
        self.extreme(Reduce::ArgMin, "argmin", axis.as_slice(), keepdim)
    }

    /// Whether any element is not zero.
    pub fn any(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        raw::cast(self, DType::Bool).reduced(Reduce::Max, "any", axes, keepdim)
    }

    /// Whether no element is zero.
    pub fn all(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        raw::cast(self, DType::Bool).reduced(Reduce::Min, "all", axes, keepdim)
    }

    /// The mean over axes (none named means all); integers as f32, NaN of no elements.
    pub fn mean(&self, list: &[isize], keepdim: bool) -> Result<Tensor> {
        let axes = axes("mean", list, self.rank())?;
        let (x, dtype) = wide(self);
        Ok(drop_axes(&raw::cast(&mean(&x, &axes), dtype), &axes, keepdim))
    }

    /// The variance over axes: squared distances from the mean, divided by the count less `correction`.
    pub fn var(&self, list: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        let axes = axes("var", list, self.rank())?;
        let (x, dtype) = wide(self);
        let var = variance(&x, &axes, correction);
        Ok(drop_axes(&raw::cast(&var, dtype), &axes, keepdim))
    }

    /// The standard deviation, the root of [`Tensor::var`].
    pub fn std(&self, list: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        let axes = axes("std", list, self.rank())?;
        let (x, dtype) = wide(self);
        let std = raw::unary(Unary::Sqrt, &variance(&x, &axes, correction));
        Ok(drop_axes(&raw::cast(&std, dtype), &axes, keepdim))
    }

    /// `log(sum(exp(x)))` over axes, without overflow; -inf where every element is.
    pub fn logsumexp(&self, list: &[isize], keepdim: bool) -> Result<Tensor> {
        let axes = axes("logsumexp", list, self.rank())?;
        let (x, dtype) = wide(self);
        let shift = no_grad(|| {
            let largest = raw::reduce(Reduce::Max, &x, &axes);
            let (infinity, zero) = (raw::full_like(&largest, f64::INFINITY), raw::full_like(&largest, 0.0));
            let finite = raw::binary(Binary::Lt, &raw::unary(Unary::Abs, &largest), &infinity);
            raw::select(&finite, &largest, &zero)
        });
        let powers = raw::exp(&raw::sub(&x, &raw::expand(&shift, x.shape())));
        let result = raw::add(&raw::log(&raw::sum(&powers, &axes)), &shift);
        Ok(drop_axes(&raw::cast(&result, dtype), &axes, keepdim))
    }

    /// The p-norm over axes: 2 is Euclid's, 1 the sum of magnitudes, infinity the largest, 0 counts
    /// non-zeros.
    pub fn norm(&self, p: f64, list: &[isize], keepdim: bool) -> Result<Tensor> {
        let op = "norm";
        if p.is_nan() {
            return Err(Error::Argument { op, detail: "p is NaN; 2 is the usual norm".into() });
        }
        let axes = axes(op, list, self.rank())?;
        let (x, dtype) = wide(self);
        if p.is_infinite() && count(&x, &axes) == 0 {
            let detail = format!("axes {axes:?} of {:?} hold no elements, so none is largest", self.shape());
            return Err(Error::Shape { op, detail });
        }
        let magnitude = || raw::unary(Unary::Abs, &x);
        let zero = raw::full_like(&x, 0.0);
        let result = if p == 2.0 {
            root(&raw::sum(&raw::mul(&x, &x), &axes))
        } else if p == 1.0 {
            raw::sum(&magnitude(), &axes)
        } else if p == 0.0 {
            raw::sum(&raw::cast(&raw::binary(Binary::Ne, &x, &zero), x.dtype()), &axes)
        } else if p.is_infinite() {
            raw::reduce(if p > 0.0 { Reduce::Max } else { Reduce::Min }, &magnitude(), &axes)
        } else {
            magnitude().pow(p)?.sum(&signed(&axes), true)?.pow(1.0 / p)?
        };
        Ok(drop_axes(&raw::cast(&result, dtype), &axes, keepdim))
    }

    /// The running sum along an axis. Integers and bool sum to i64.
    pub fn cumsum(&self, axis: isize) -> Result<Tensor> {
        let at = self::axis("cumsum", axis, self.rank())?;
        Ok(raw::cumsum(&self.summand(), at))
    }

    /// The sum of all elements, shape `[]`.
    pub fn sum_all(&self) -> Result<Tensor> {
        self.sum(&[], false)
    }

    /// The mean of all elements, shape `[]`.
    pub fn mean_all(&self) -> Result<Tensor> {
        self.mean(&[], false)
    }

    /// The largest of all elements, shape `[]`.
    pub fn max_all(&self) -> Result<Tensor> {
        self.max(&[], false)
    }

    /// The smallest of all elements, shape `[]`.
    pub fn min_all(&self) -> Result<Tensor> {
        self.min(&[], false)
    }

    /// `exp(x)` along an axis, scaled to a sum of 1.
    pub fn softmax(&self, axis: isize) -> Result<Tensor> {
        let at = self::axis("softmax", axis, self.rank())?;
        let (x, dtype) = wide(self);
        let powers = raw::exp(&below_largest(&x, at));
        let factor = raw::recip(&raw::sum(&powers, &[at]));
        Ok(raw::cast(&raw::mul(&powers, &raw::expand(&factor, x.shape())), dtype))
    }

    /// The logarithm of [`Tensor::softmax`], computed without leaving the logarithm.
    pub fn log_softmax(&self, axis: isize) -> Result<Tensor> {
        let at = self::axis("log_softmax", axis, self.rank())?;
        let (x, dtype) = wide(self);
        let shifted = below_largest(&x, at);
        let total = raw::log(&raw::sum(&raw::exp(&shifted), &[at]));
        Ok(raw::cast(&raw::sub(&shifted, &raw::expand(&total, x.shape())), dtype))
    }
}

/// `x - max(x)` along an axis. The shift cancels in whatever follows, so no gradient goes through it.
pub(super) fn below_largest(x: &Tensor, axis: usize) -> Tensor {
    let largest = no_grad(|| raw::reduce(Reduce::Max, x, &[axis]));
    raw::sub(x, &raw::expand(&largest, x.shape()))
}

fn variance(x: &Tensor, axes: &[usize], correction: usize) -> Tensor {
    let centred = raw::sub(x, &raw::expand(&mean(x, axes), x.shape()));
    let divisor = count(x, axes).saturating_sub(correction);
    divided(&raw::sum(&raw::mul(&centred, &centred), axes), divisor)
}

/// A sum over the number of its terms, NaN for none.
pub(super) fn divided(sum: &Tensor, terms: usize) -> Tensor {
    match terms {
        // An addition, because some GPU drivers take 0 * x for 0.
        0 => raw::binary(Binary::Add, sum, &raw::full_like(sum, f64::NAN)),
        _ => raw::scale(sum, 1.0 / terms as f64),
    }
}

/// The square root with gradient 0 at 0.
fn root(x: &Tensor) -> Tensor {
    let zero = raw::full_like(x, 0.0);
    let is_zero = raw::binary(Binary::Eq, x, &zero);
    let safe = raw::select(&is_zero, &raw::full_like(x, 1.0), x);
    raw::select(&is_zero, &zero, &raw::unary(Unary::Sqrt, &safe))
}

fn signed(axes: &[usize]) -> smallvec::SmallVec<[isize; 6]> {
    axes.iter().map(|&a| a as isize).collect()
}
