//! The loops of the rarer element types, and everything that is the same for all types. Plain Rust, once for
//! all machines: integers wrap, division by zero gives zero, casts saturate.

use super::math::erf64;
use super::ops::Tile;
use crate::dtype::DType;
use crate::graph::{Binary, Unary};

/// The type in which values of a dtype are held in a tile.
pub(super) fn register(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::U8 } else { dtype.compute() }
}

/// A type that a tile can hold.
pub(super) trait Number: Copy + PartialOrd + Default + Send + Sync + 'static {
    const LOWEST: Self;
    const ONE: Self;
    fn is_nan(self) -> bool;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn rem(self, o: Self) -> Self;
    fn pow(self, o: Self) -> Self;
    fn atan2(self, o: Self) -> Self;
    fn bits(self, o: Self, op: Binary) -> Self;
    fn unary(self, op: Unary) -> Self;
}

/// The remainder that goes with floor division.
#[inline(always)]
pub(super) fn floor_rem(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && ((r < 0.0) != (b < 0.0)) { r + b } else { r }
}

pub(super) fn unary_f64(x: f64, op: Unary) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sign => {
            if x == 0.0 || x.is_nan() {
                x
            } else {
                x.signum()
            }
        }
        Unary::Recip => 1.0 / x,
        Unary::Sqrt => x.sqrt(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Exp2 => x.exp2(),
        Unary::Expm1 => x.exp_m1(),
        Unary::Log => x.ln(),
        Unary::Log2 => x.log2(),
        Unary::Log1p => x.ln_1p(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Sinh => x.sinh(),
        Unary::Cosh => x.cosh(),
        Unary::Tanh => x.tanh(),
        Unary::Erf => erf64(x),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round_ties_even(),
        Unary::Trunc => x.trunc(),
        Unary::Not => (x == 0.0) as u8 as f64,
    }
}

macro_rules! float {
    ($t:ty) => {
        impl Number for $t {
            const LOWEST: Self = <$t>::NEG_INFINITY;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self + o
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self - o
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self * o
            }
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                self / o
            }
            fn rem(self, o: Self) -> Self {
                floor_rem(self as f64, o as f64) as $t
            }
            fn pow(self, o: Self) -> Self {
                self.powf(o)
            }
            fn atan2(self, o: Self) -> Self {
                <$t>::atan2(self, o)
            }
            fn bits(self, _: Self, _: Binary) -> Self {
                self
            }
            fn unary(self, op: Unary) -> Self {
                unary_f64(self as f64, op) as $t
            }
        }
    };
}
float!(f32);
float!(f64);

macro_rules! integer {
    ($t:ty) => {
        impl Number for $t {
            const LOWEST: Self = <$t>::MIN;
            const ONE: Self = 1;
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            fn div(self, o: Self) -> Self {
                if o == 0 {
                    return 0;
                }
                let q = self.wrapping_div(o);
                #[allow(unused_comparisons)]
                let down = self.wrapping_rem(o) != 0 && ((self < 0) != (o < 0));
                if down { q.wrapping_sub(1) } else { q }
            }
            fn rem(self, o: Self) -> Self {
                if o == 0 { 0 } else { self.wrapping_sub(o.wrapping_mul(self.div(o))) }
            }
            fn pow(self, o: Self) -> Self {
                #[allow(unused_comparisons)]
                if o < 0 {
                    // 1 / self^|o| rounded towards zero.
                    let odd = o & 1 == 1;
                    return if self == 1 {
                        1
                    } else if self == (0 as $t).wrapping_sub(1) {
                        if odd { self } else { 1 }
                    } else {
                        0
                    };
                }
                let (mut base, mut left, mut out) = (self, o, 1 as $t);
                while left != 0 {
                    if left & 1 == 1 {
                        out = out.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                out
            }
            fn atan2(self, o: Self) -> Self {
                (self as f64).atan2(o as f64) as $t
            }
            #[inline(always)]
            fn bits(self, o: Self, op: Binary) -> Self {
                match op {
                    Binary::And => self & o,
                    Binary::Or => self | o,
                    _ => self ^ o,
                }
            }
            fn unary(self, op: Unary) -> Self {
                #[allow(unused_comparisons)]
                let negative = self < 0;
                match op {
                    Unary::Neg => (0 as $t).wrapping_sub(self),
                    Unary::Abs if negative => (0 as $t).wrapping_sub(self),
                    Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc => self,
                    Unary::Sign if negative => (0 as $t).wrapping_sub(1),
                    Unary::Sign => (self != 0) as $t,
                    Unary::Not => (self == 0) as $t,
                    _ => unary_f64(self as f64, op) as $t,
                }
            }
        }
    };
}
integer!(i32);
integer!(i64);
integer!(u32);
integer!(u8);

/// Calls a generic function with the Rust type of a register dtype.
macro_rules! with_register {
    ($dtype:expr, $f:ident ( $($arg:expr),* )) => {
        match $dtype {
            DType::F32 => $f::<f32>($($arg),*),
            DType::F64 => $f::<f64>($($arg),*),
            DType::I32 => $f::<i32>($($arg),*),
            DType::I64 => $f::<i64>($($arg),*),
            DType::U32 => $f::<u32>($($arg),*),
            _ => $f::<u8>($($arg),*),
        }
    };
}
pub(super) use with_register;

/// The larger, NaN if either is.
#[inline(always)]
pub(super) fn larger<T: Number>(a: T, b: T) -> T {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller, NaN if either is.
#[inline(always)]
pub(super) fn smaller<T: Number>(a: T, b: T) -> T {
    if a.is_nan() || a < b { a } else { b }
}

#[inline(always)]
unsafe fn map1<A: Copy, R>(t: &Tile, f: impl Fn(A) -> R) {
    for row in 0..t.rows {
        unsafe {
            let (dst, a): (*mut R, *const A) = (t.dst.row(row), t.a.row(row));
            if t.a.each {
                (0..t.cols).for_each(|i| dst.add(i).write(f(*a.add(i))));
            } else {
                let x = *a;
                (0..t.cols).for_each(|i| dst.add(i).write(f(x)));
            }
        }
    }
}

#[inline(always)]
unsafe fn map2<A: Copy, R>(t: &Tile, f: impl Fn(A, A) -> R) {
    for row in 0..t.rows {
        unsafe {
            let dst: *mut R = t.dst.row(row);
            let (a, b): (*const A, *const A) = (t.a.row(row), t.b.row(row));
            match (t.a.each, t.b.each) {
                (true, true) => (0..t.cols).for_each(|i| dst.add(i).write(f(*a.add(i), *b.add(i)))),
                (_, false) => {
                    let (y, step) = (*b, t.a.each as usize);
                    (0..t.cols).for_each(|i| dst.add(i).write(f(*a.add(i * step), y)));
                }
                (false, true) => {
                    let x = *a;
                    (0..t.cols).for_each(|i| dst.add(i).write(f(x, *b.add(i))));
                }
            }
        }
    }
}

/// Any function of one operand.
pub(super) unsafe fn unary<T: Number>(op: Unary, t: &Tile) {
    unsafe { map1::<T, T>(t, |x| x.unary(op)) }
}

/// Any function of two operands; comparisons write bytes.
pub(super) unsafe fn binary<T: Number>(op: Binary, t: &Tile) {
    unsafe {
        match op {
            Binary::Add => map2::<T, T>(t, T::add),
            Binary::Sub => map2::<T, T>(t, T::sub),
            Binary::Mul => map2::<T, T>(t, T::mul),
            Binary::Div => map2::<T, T>(t, T::div),
            Binary::Rem => map2::<T, T>(t, T::rem),
            Binary::Pow => map2::<T, T>(t, T::pow),
            Binary::Atan2 => map2::<T, T>(t, T::atan2),
            Binary::Max => map2::<T, T>(t, larger),
            Binary::Min => map2::<T, T>(t, smaller),
            Binary::Eq => map2::<T, u8>(t, |a, b| (a == b) as u8),
            Binary::Ne => map2::<T, u8>(t, |a, b| (a != b) as u8),
            Binary::Lt => map2::<T, u8>(t, |a, b| (a < b) as u8),
            Binary::Le => map2::<T, u8>(t, |a, b| (a <= b) as u8),
            Binary::And | Binary::Or | Binary::Xor => map2::<T, T>(t, |a, b| a.bits(b, op)),
        }
    }
}

/// The integer instructions that appear in index arithmetic and masks, inlined where wide vectors are on.
/// Whether it was one of them.
#[inline(always)]
pub(super) unsafe fn common_integer(dtype: DType, op: Binary, t: &Tile) -> bool {
    unsafe {
        match (dtype, op) {
            (DType::I64, Binary::Add) => map2::<i64, i64>(t, i64::wrapping_add),
            (DType::I64, Binary::Sub) => map2::<i64, i64>(t, i64::wrapping_sub),
            (DType::I64, Binary::Mul) => map2::<i64, i64>(t, i64::wrapping_mul),
            (DType::I64, Binary::Eq) => map2::<i64, u8>(t, |a, b| (a == b) as u8),
            (DType::I64, Binary::Ne) => map2::<i64, u8>(t, |a, b| (a != b) as u8),
            (DType::I64, Binary::Lt) => map2::<i64, u8>(t, |a, b| (a < b) as u8),
            (DType::I64, Binary::Le) => map2::<i64, u8>(t, |a, b| (a <= b) as u8),
            (DType::U8, Binary::And) => map2::<u8, u8>(t, |a, b| a & b),
            (DType::U8, Binary::Or) => map2::<u8, u8>(t, |a, b| a | b),
            _ => return false,
        }
        true
    }
}

/// `dst = a ? b : c`.
pub(super) unsafe fn choose<T: Number>(t: &Tile) {
    for row in 0..t.rows {
        unsafe {
            let (dst, m): (*mut T, *const u8) = (t.dst.row(row), t.a.row(row));
            let (b, c): (*const T, *const T) = (t.b.row(row), t.c.row(row));
            let (sm, sb, sc) = (t.a.each as usize, t.b.each as usize, t.c.each as usize);
            for i in 0..t.cols {
                let (yes, no) = (*b.add(i * sb), *c.add(i * sc));
                dst.add(i).write(if *m.add(i * sm) != 0 { yes } else { no });
            }
        }
    }
}

/// `dst = a`, spread where `a` repeats.
pub(super) unsafe fn copy<T: Number>(t: &Tile) {
    for row in 0..t.rows {
        unsafe {
            let (dst, a): (*mut T, *const T) = (t.dst.row(row), t.a.row(row));
            if t.a.each {
                std::ptr::copy(a, dst, t.cols);
            } else {
                let x = *a;
                (0..t.cols).for_each(|i| dst.add(i).write(x));
            }
        }
    }
}

/// `dst = a as the destination's type`, for registers; bool is `!= 0`.
pub(super) unsafe fn cast(from: DType, to: DType, t: &Tile) {
    unsafe fn to_each<A: Number + Castable>(to: DType, t: &Tile) {
        unsafe {
            match to {
                DType::F32 | DType::F16 | DType::BF16 => map1::<A, f32>(t, A::to_f32),
                DType::F64 => map1::<A, f64>(t, A::to_f64),
                DType::I32 => map1::<A, i32>(t, A::to_i32),
                DType::I64 => map1::<A, i64>(t, A::to_i64),
                DType::U32 => map1::<A, u32>(t, A::to_u32),
                DType::U8 => map1::<A, u8>(t, A::to_u8),
                DType::Bool => map1::<A, u8>(t, |x| (x != A::default()) as u8),
            }
        }
    }
    unsafe { with_register!(register(from), to_each(to, t)) }
}

/// Conversions as Rust's `as` does them.
#[allow(missing_docs)]
pub(super) trait Castable: Copy {
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_i32(self) -> i32;
    fn to_i64(self) -> i64;
    fn to_u32(self) -> u32;
    fn to_u8(self) -> u8;
}

macro_rules! castable {
    ($($t:ty),*) => {$(
        impl Castable for $t {
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn to_i32(self) -> i32 { self as i32 }
            #[inline(always)]
            fn to_i64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn to_u32(self) -> u32 { self as u32 }
            #[inline(always)]
            fn to_u8(self) -> u8 { self as u8 }
        }
    )*};
}
castable!(f32, f64, i32, i64, u32, u8);
