//! Elementwise ops: functions of one, two and three operands, and the activations composed of them.

use super::axes::{broadcast_shape, pair, same_device};
use super::{Tensor, raw};
use crate::device::Device;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::{Binary, Random, Unary};

/// The right-hand side of an op: a tensor, or a number that travels as a launch argument and takes the
/// tensor's dtype (a real number makes an integer tensor f32).
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number.
    Scalar(Scalar),
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(tensor: &'a Tensor) -> Operand<'a> {
        Operand::Tensor(tensor)
    }
}

macro_rules! operand_from {
    ($($t:ty),*) => {$(
        impl From<$t> for Operand<'_> {
            fn from(value: $t) -> Self {
                Operand::Scalar(value.into())
            }
        }
    )*};
}
operand_from!(f32, f64, i32, i64, u32, u8, usize, bool, Scalar);

/// The dtype of a tensor of `dtype` together with a number.
fn with_scalar(dtype: DType, scalar: Scalar) -> DType {
    match scalar {
        Scalar::Float(_) if !dtype.is_float() => DType::F32,
        Scalar::Int(v) if dtype == DType::Bool && v != 0 && v != 1 => DType::I64,
        _ => dtype,
    }
}

impl Operand<'_> {
    /// The operand as a tensor for use beside tensors of `dtype`.
    fn tensor(self, dtype: DType, device: &Device) -> Tensor {
        match self {
            Operand::Tensor(tensor) => tensor.clone(),
            Operand::Scalar(value) => Tensor::argument(value, &[], with_scalar(dtype, value), device),
        }
    }
}

/// Brings two operands to one device, dtype and shape.
fn operands<'a>(op: &'static str, a: &Tensor, b: impl Into<Operand<'a>>) -> Result<(Tensor, Tensor)> {
    match b.into() {
        Operand::Tensor(b) => pair(op, a, b),
        Operand::Scalar(value) => {
            let dtype = with_scalar(a.dtype(), value);
            let b = Tensor::argument(value, a.shape(), dtype, a.device());
            Ok((raw::cast(a, dtype), b))
        }
    }
}

fn arithmetic<'a>(op: &'static str, kind: Binary, a: &Tensor, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    let (a, b) = operands(op, a, b)?;
    let kind = match (kind, a.dtype()) {
        // On truth values a sum is an or and a product an and.
        (Binary::Add | Binary::Max, DType::Bool) => Binary::Or,
        (Binary::Mul | Binary::Min, DType::Bool) => Binary::And,
        (_, DType::Bool) => {
            let detail = "bool operands; use logical_xor(..), or cast with .to_dtype(..)".into();
            return Err(Error::DType { op, detail });
        }
        (kind, _) => kind,
    };
    Ok(raw::binary(kind, &a, &b))
}

fn logical<'a>(op: &'static str, kind: Binary, a: &Tensor, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    let (a, b) = operands(op, a, b)?;
    Ok(raw::binary(kind, &raw::cast(&a, DType::Bool), &raw::cast(&b, DType::Bool)))
}

macro_rules! binary_ops {
    ($($(#[$doc:meta])* $name:ident: $function:ident $kind:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            pub fn $name<'a>(&self, rhs: impl Into<Operand<'a>>) -> Result<Tensor> {
                $function(stringify!($name), Binary::$kind, self, rhs)
            }
        )*}
    };
}

fn compare<'a>(op: &'static str, kind: Binary, a: &Tensor, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    let (a, b) = operands(op, a, b)?;
    Ok(raw::binary(kind, &a, &b))
}

/// `a > b` is `b < a`.
fn compare_swapped<'a>(
    op: &'static str,
    kind: Binary,
    a: &Tensor,
    b: impl Into<Operand<'a>>,
) -> Result<Tensor> {
    let (a, b) = operands(op, a, b)?;
    Ok(raw::binary(kind, &b, &a))
}

/// Integers and bool become f32.
fn float_binary<'a>(op: &'static str, kind: Binary, a: &Tensor, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    let (a, b) = operands(op, a, b)?;
    Ok(raw::binary(kind, &to_float(&a), &to_float(&b)))
}

binary_ops! {
    /// `self + rhs`, broadcast; of bools a logical or.
    add: arithmetic Add;
    /// `self - rhs`, broadcast.
    sub: arithmetic Sub;
    /// `self * rhs`, broadcast; of bools a logical and.
    mul: arithmetic Mul;
    /// True division, broadcast; integers are divided as f32 (see [`Tensor::floor_div`]).
    div: float_binary Div;
    /// The remainder of floor division: it has the sign of `rhs`, as in Python.
    rem: arithmetic Rem;
    /// The larger of both; NaN if either is.
    maximum: arithmetic Max;
    /// The smaller of both; NaN if either is.
    minimum: arithmetic Min;
    /// The angle of the point (x = rhs, y = self).
    atan2: float_binary Atan2;
    /// Where both are equal.
    eq: compare Eq;
    /// Where they differ; NaN differs from itself.
    ne: compare Ne;
    /// Where `self < rhs`.
    lt: compare Lt;
    /// Where `self <= rhs`.
    le: compare Le;
    /// Where `self > rhs`.
    gt: compare_swapped Lt;
    /// Where `self >= rhs`.
    ge: compare_swapped Le;
    /// Where both are not zero.
    logical_and: logical And;
    /// Where one or both are not zero.
    logical_or: logical Or;
    /// Where exactly one is not zero.
    logical_xor: logical Xor;
}

/// Integers and bool as f32.
pub(super) fn to_float(x: &Tensor) -> Tensor {
    if x.dtype().is_float() { x.clone() } else { raw::cast(x, DType::F32) }
}

/// Computes a composite in f32 where the dtype is narrower, and casts back.
fn in_compute(x: &Tensor, f: impl FnOnce(&Tensor) -> Tensor) -> Tensor {
    let x = to_float(x);
    raw::cast(&f(&raw::cast(&x, x.dtype().compute())), x.dtype())
}

/// `1 / (1 + exp(-x))`, with x held above -80: an infinite exponential would make its gradient 0 * inf.
fn sigmoid(x: &Tensor) -> Tensor {
    let lowest = raw::full_like(x, -80.0);
    let x = raw::select(&raw::binary(Binary::Lt, x, &lowest), &lowest, x);
    raw::recip(&raw::offset(&raw::exp(&raw::neg(&x)), 1.0))
}

macro_rules! unary_ops {
    ($($(#[$doc:meta])* $name:ident: $function:ident $kind:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            pub fn $name(&self) -> Result<Tensor> {
                $function(stringify!($name), Unary::$kind, self)
            }
        )*}
    };
}

fn float_unary(_: &'static str, kind: Unary, x: &Tensor) -> Result<Tensor> {
    Ok(raw::unary(kind, &to_float(x)))
}

fn number_unary(op: &'static str, kind: Unary, x: &Tensor) -> Result<Tensor> {
    if x.dtype() == DType::Bool {
        let detail = "bool operand; use logical_not(), or cast with .to_dtype(..)".into();
        return Err(Error::DType { op, detail });
    }
    Ok(raw::unary(kind, x))
}

fn rounding(_: &'static str, kind: Unary, x: &Tensor) -> Result<Tensor> {
    Ok(if x.dtype().is_float() { raw::unary(kind, x) } else { x.clone() })
}

unary_ops! {
    /// `-x`.
    neg: number_unary Neg;
    /// The absolute value.
    abs: number_unary Abs;
    /// -1, 0 or 1; NaN stays.
    sign: number_unary Sign;
    /// `1 / x`.
    recip: float_unary Recip;
    /// The square root.
    sqrt: float_unary Sqrt;
    /// `1 / sqrt(x)`.
    rsqrt: float_unary Rsqrt;
    /// e to the power of x.
    exp: float_unary Exp;
    /// 2 to the power of x.
    exp2: float_unary Exp2;
    /// `exp(x) - 1`, exact near 0.
    expm1: float_unary Expm1;
    /// The natural logarithm.
    log: float_unary Log;
    /// The logarithm to base 2.
    log2: float_unary Log2;
    /// `log(1 + x)`, exact near 0.
    log1p: float_unary Log1p;
    /// The sine.
    sin: float_unary Sin;
    /// The cosine.
    cos: float_unary Cos;
    /// The tangent.
    tan: float_unary Tan;
    /// The inverse sine.
    asin: float_unary Asin;
    /// The inverse cosine.
    acos: float_unary Acos;
    /// The inverse tangent.
    atan: float_unary Atan;
    /// The hyperbolic sine.
    sinh: float_unary Sinh;
    /// The hyperbolic cosine.
    cosh: float_unary Cosh;
    /// The hyperbolic tangent.
    tanh: float_unary Tanh;
    /// The error function.
    erf: float_unary Erf;
    /// To the next lower integer.
    floor: rounding Floor;
    /// To the next higher integer.
    ceil: rounding Ceil;
    /// To the nearest integer, ties to even.
    round: rounding Round;
    /// Towards zero.
    trunc: rounding Trunc;
}

impl Tensor {
    /// `floor(self / rhs)`; integers stay integers, and by zero gives 0.
    pub fn floor_div<'a>(&self, rhs: impl Into<Operand<'a>>) -> Result<Tensor> {
        arithmetic("floor_div", Binary::Div, self, rhs)?.floor()
    }

    /// `self` to the power of `rhs`. Small whole exponents become products; for a negative base and a broken
    /// exponent the result is NaN.
    pub fn pow<'a>(&self, rhs: impl Into<Operand<'a>>) -> Result<Tensor> {
        let rhs = rhs.into();
        if let Operand::Scalar(exponent) = rhs {
            let float = self.dtype().is_float();
            let exponent = exponent.as_f64();
            if float && exponent == 0.5 {
                return self.sqrt();
            } else if float && exponent == -0.5 {
                return self.rsqrt();
            } else if float && exponent == -1.0 {
                return self.recip();
            } else if float && exponent == 1.0 {
                return Ok(self.clone());
            } else if float && exponent == 2.0 {
                return Ok(raw::mul(self, self));
            } else if float && exponent == 3.0 {
                return Ok(raw::mul(&raw::mul(self, self), self));
            } else if float && exponent == 4.0 {
                let square = raw::mul(self, self);
                return Ok(raw::mul(&square, &square));
            }
        }
        arithmetic("pow", Binary::Pow, self, rhs)
    }

    /// `x * x`.
    pub fn sqr(&self) -> Result<Tensor> {
        arithmetic("sqr", Binary::Mul, self, self)
    }

    /// Where the element is zero.
    pub fn logical_not(&self) -> Result<Tensor> {
        Ok(raw::unary(Unary::Not, &raw::cast(self, DType::Bool)))
    }

    /// Where the element is not a number.
    pub fn isnan(&self) -> Result<Tensor> {
        Ok(raw::binary(Binary::Ne, self, self))
    }

    /// Where the element is infinite, of either sign.
    pub fn isinf(&self) -> Result<Tensor> {
        if !self.dtype().is_float() {
            return self.isnan();
        }
        Ok(raw::binary(Binary::Eq, &self.abs()?, &raw::full_like(self, f64::INFINITY)))
    }

    /// Where the element is neither infinite nor NaN.
    pub fn isfinite(&self) -> Result<Tensor> {
        if !self.dtype().is_float() {
            return Ok(raw::binary(Binary::Eq, self, self));
        }
        Ok(raw::binary(Binary::Lt, &self.abs()?, &raw::full_like(self, f64::INFINITY)))
    }

    /// `max(x, 0)`; the gradient at 0 is 0.
    pub fn relu(&self) -> Result<Tensor> {
        self.leaky(&raw::full_like(self, 0))
    }

    /// x above 0, `slope * x` below.
    pub fn leaky_relu(&self, slope: f64) -> Result<Tensor> {
        let x = to_float(self);
        x.leaky(&x.mul(slope)?)
    }

    /// x above 0, `alpha * (exp(x) - 1)` below.
    pub fn elu(&self, alpha: f64) -> Result<Tensor> {
        let x = to_float(self);
        // Only x <= 0 goes through the exponential, so that the gradient of the other branch stays finite.
        let zero = raw::full_like(&x, 0.0);
        let low = raw::select(&raw::binary(Binary::Le, &x, &zero), &x, &zero);
        x.leaky(&raw::unary(Unary::Expm1, &low).mul(alpha)?)
    }

    /// x above 0 (and where it is NaN), else `below`.
    fn leaky(&self, below: &Tensor) -> Result<Tensor> {
        if self.dtype() == DType::Bool {
            let detail = "bool operand; cast it with .to_dtype(..)".into();
            return Err(Error::DType { op: "relu", detail });
        }
        let negative = raw::binary(Binary::Le, self, &raw::full_like(self, 0));
        Ok(raw::select(&negative, below, self))
    }

    /// The logistic function `1 / (1 + exp(-x))`.
    pub fn sigmoid(&self) -> Result<Tensor> {
        Ok(in_compute(self, sigmoid))
    }

    /// `x * sigmoid(x)`, also called swish.
    pub fn silu(&self) -> Result<Tensor> {
        Ok(in_compute(self, |x| raw::mul(x, &sigmoid(x))))
    }

    /// `x / 2 (1 + tanh(z))` with `z = sqrt(2 / pi) (x + 0.044715 x^3)`, the form of GPT-2.
    pub fn gelu(&self) -> Result<Tensor> {
        let c = (2.0 / std::f64::consts::PI).sqrt();
        Ok(in_compute(self, |x| {
            let z = raw::mul(x, &raw::offset(&raw::scale(&raw::mul(x, x), c * 0.044715), c));
            let half = raw::scale(x, 0.5);
            raw::add(&half, &raw::mul(&half, &raw::unary(Unary::Tanh, &z)))
        }))
    }

    /// `x / 2 (1 + erf(x / sqrt(2)))`, the exact form.
    pub fn gelu_erf(&self) -> Result<Tensor> {
        Ok(in_compute(self, |x| {
            let erf = raw::unary(Unary::Erf, &raw::scale(x, std::f64::consts::FRAC_1_SQRT_2));
            raw::mul(&raw::scale(x, 0.5), &raw::offset(&erf, 1.0))
        }))
    }

    /// `log(1 + exp(x))`, without overflow: `max(x, 0) + log1p(exp(-|x|))`.
    pub fn softplus(&self) -> Result<Tensor> {
        Ok(in_compute(self, |x| {
            let rest = raw::unary(Unary::Log1p, &raw::exp(&raw::neg(&raw::unary(Unary::Abs, x))));
            // The gradient at 0 comes out right: max splits it in halves there, and that of |x| is 0.
            raw::add(&raw::binary(Binary::Max, x, &raw::full_like(x, 0.0)), &rest)
        }))
    }

    /// `a` where this (bool) tensor is true, `b` elsewhere; all broadcast.
    pub fn where_<'a>(&self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
        let op = "where";
        if self.dtype() != DType::Bool {
            let detail = format!("the condition is {}, not bool; compare it, as in x.ne(0)", self.dtype());
            return Err(Error::DType { op, detail });
        }
        let (a, b) = (a.into(), b.into());
        let (a, b) = match (a, b) {
            (Operand::Tensor(x), b) => (x.clone(), b.tensor(x.dtype(), self.device())),
            (a, Operand::Tensor(y)) => (a.tensor(y.dtype(), self.device()), y.clone()),
            (Operand::Scalar(x), Operand::Scalar(y)) => {
                let dtype = match (x, y) {
                    (Scalar::Int(_), Scalar::Int(_)) => DType::I64,
                    _ => DType::F32,
                };
                let tensor = |v| Tensor::argument(v, &[], dtype, self.device());
                (tensor(x), tensor(y))
            }
        };
        same_device(op, self, &a)?;
        same_device(op, self, &b)?;
        let dtype = DType::promote(a.dtype(), b.dtype());
        let shape = broadcast_shape(op, a.shape(), b.shape())?;
        let shape = broadcast_shape(op, self.shape(), &shape)?;
        let branch = |x: &Tensor| raw::broadcast(&raw::cast(x, dtype), &shape);
        Ok(raw::select(&raw::broadcast(self, &shape), &branch(&a), &branch(&b)))
    }

    /// The nearest value between `lo` and `hi`; NaN stays, and `hi` wins where they cross.
    pub fn clamp<'a>(&self, lo: impl Into<Operand<'a>>, hi: impl Into<Operand<'a>>) -> Result<Tensor> {
        let (x, lo) = operands("clamp", self, lo)?;
        let x = raw::select(&raw::binary(Binary::Lt, &x, &lo), &lo, &x);
        let (x, hi) = operands("clamp", &x, hi)?;
        Ok(raw::select(&raw::binary(Binary::Lt, &hi, &x), &hi, &x))
    }

    /// Zeros each element with probability `p` and scales the rest by `1 / (1 - p)`; nothing if not
    /// `training`.
    pub fn dropout(&self, p: f64, training: bool) -> Result<Tensor> {
        super::create::probability("dropout", p)?;
        if !training || p == 0.0 {
            return Ok(self.clone());
        }
        let x = to_float(self);
        let kept = raw::random(Random::Uniform, x.shape(), x.device()).lt(1.0 - p)?;
        let scale = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
        raw::select(&kept, &x, &raw::full_like(&x, 0.0)).mul(scale)
    }

    /// The same values as another dtype: floats to integers truncate and saturate, to bool is `!= 0`.
    pub fn to_dtype(&self, dtype: DType) -> Result<Tensor> {
        Ok(raw::cast(self, dtype))
    }

    /// The same value on another device, without history. Evaluates it unless it is there already.
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        if self.device() == device {
            return Ok(self.clone());
        }
        Tensor::from_bytes(&self.to_bytes()?, self.shape(), self.dtype(), device)
    }
}
