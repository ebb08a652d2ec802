//! The inner loops over a tile of f32, written once over [`Simd`] and compiled for each kind of machine. A
//! tile is `rows` x `cols`; every operand is a pointer, a row stride, and whether it advances along the
//! columns.

use super::chain::{self, Part, Work};
use super::math;
use super::reduce;
use super::rows::{Packed, few_rows_with};
use super::simd::*;
use crate::dtype::DType;
use crate::graph::{Binary, Reduce, Unary};

/// An operand of a tile loop.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub ptr: *mut u8,
    /// Elements from one row to the next.
    pub rs: isize,
    /// Whether the columns are elements in a row; if not, a row is one element repeated.
    pub each: bool,
}

impl Slot {
    pub const NONE: Slot = Slot { ptr: std::ptr::null_mut(), rs: 0, each: false };

    #[inline(always)]
    fn flat(&self, cols: usize) -> bool {
        self.rs == if self.each { cols as isize } else { 0 }
    }

    /// The first element of a row.
    #[inline(always)]
    pub unsafe fn row<T>(&self, row: usize) -> *mut T {
        self.ptr.cast::<T>().wrapping_offset(row as isize * self.rs)
    }
}

/// One instruction's work on one tile. Destination and operands may be the same memory, element for element.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub rows: usize,
    pub cols: usize,
    pub dst: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
}

impl Tile {
    /// Joins the rows into one where the operands allow it.
    #[inline(always)]
    pub fn flatten(&mut self) {
        if self.rows > 1 {
            let cols = self.cols;
            if self.cols == 1 {
                // A column with unit row stride is a row.
                for slot in [&mut self.dst, &mut self.a, &mut self.b, &mut self.c] {
                    slot.each = slot.rs != 0;
                }
            }
            if self.dst.flat(cols) && self.a.flat(cols) && self.b.flat(cols) && self.c.flat(cols) {
                self.cols *= self.rows;
                self.rows = 1;
            }
        }
        if self.cols == 1 {
            for slot in [&mut self.dst, &mut self.a, &mut self.b, &mut self.c] {
                slot.each = true;
            }
        }
    }
}

/// A row of an operand as the loops read it: a repeated element is spread to one vector, read again and
/// again.
pub(super) struct Row<T> {
    at: *const T,
    step: usize,
    spread: [T; 16],
}

impl<T: Copy> Row<T> {
    #[inline(always)]
    pub unsafe fn new<S: Simd>(slot: &Slot, row: usize) -> Row<T> {
        unsafe {
            let at: *const T = slot.row(row);
            Row { at, step: if slot.each { S::W } else { 0 }, spread: [*at; 16] }
        }
    }

    /// Where the first vector lies. The position is a variable of the loop: kept here, it would live in
    /// memory.
    #[inline(always)]
    pub fn start(&self) -> *const T {
        if self.step == 0 { self.spread.as_ptr() } else { self.at }
    }

    /// The position of this vector; moves on to the next.
    #[inline(always)]
    pub fn next(&self, position: &mut *const T) -> *const T {
        let at = *position;
        *position = at.wrapping_add(self.step);
        at
    }

    /// The last `n` elements, padded, where they may be read as a whole vector.
    #[inline(always)]
    pub unsafe fn part(&mut self, position: *const T, n: usize) -> *const T {
        if self.step != 0 {
            unsafe { std::ptr::copy_nonoverlapping(position, self.spread.as_mut_ptr(), n) };
        }
        self.spread.as_ptr()
    }
}

/// Functions are types, not closures: only a function can demand to be inlined, and one that is not would run
/// without the machine's vector instructions.
pub(super) trait Op1 {
    unsafe fn apply<S: Simd>(x: S) -> S;
}

/// A function of two vectors.
pub(super) trait Op2 {
    unsafe fn apply<S: Simd>(a: S, b: S) -> S;
}

/// A comparison of two vectors.
trait Test {
    unsafe fn apply<S: Simd>(a: S, b: S) -> S::Mask;
}

macro_rules! functions {
    ($trait:ident $args:tt -> $out:ty; $($name:ident = $e:expr;)*) => {$(
        pub(super) struct $name;
        impl $trait for $name {
            #[inline(always)]
            unsafe fn apply<S: Simd> $args -> $out {
                unsafe { $e }
            }
        }
    )*};
}

functions! { Op1 (x: S) -> S;
    Neg = x.neg();
    Abs = x.abs();
    Sign = S::select(S::splat(0.0).lt(x.abs()), S::splat(1.0).copysign(x), x);
    Recip = S::splat(1.0).div(x);
    Sqrt = x.sqrt();
    Rsqrt = S::splat(1.0).div(x.sqrt());
    Exp = math::exp(x);
    Exp2 = math::exp2(x);
    Expm1 = math::expm1(x);
    Log = math::log(x);
    Log2 = math::log2(x);
    Log1p = math::log1p(x);
    Sin = math::sin(x);
    Cos = math::cos(x);
    Tan = math::tan(x);
    Tanh = math::tanh(x);
    Erf = math::erf(x);
    Floor = x.floor();
    Ceil = x.ceil();
    Round = x.round();
    Trunc = x.trunc();
    // Rare ones go through the standard library.
    Asin = math::each_lane(x, f32::asin);
    Acos = math::each_lane(x, f32::acos);
    Atan = math::each_lane(x, f32::atan);
    Sinh = math::each_lane(x, f32::sinh);
    Cosh = math::each_lane(x, f32::cosh);
    Not = S::select(x.eq(S::splat(0.0)), S::splat(1.0), S::splat(0.0));
    Square = x.mul(x);
    Cube = x.mul(x).mul(x);
    ToF16 = {
        let mut bits = [0u16; 16];
        x.store_f16(bits.as_mut_ptr());
        S::load_f16(bits.as_ptr())
    };
    ToBf16 = {
        let mut bits = [0u16; 16];
        x.store_bf16(bits.as_mut_ptr());
        S::load_bf16(bits.as_ptr())
    };
}

functions! { Op2 (a: S, b: S) -> S;
    Add = a.add(b);
    Sub = a.sub(b);
    Mul = a.mul(b);
    Div = a.div(b);
    // NaN if either is.
    Max = S::select(a.ne(a), a, a.max(b));
    Min = S::select(a.ne(a), a, a.min(b));
    Rem = each_pair(a, b, |a, b| super::numeric::floor_rem(a as f64, b as f64) as f32);
    Pow = each_pair(a, b, f32::powf);
    Atan2 = each_pair(a, b, f32::atan2);
}

functions! { Test (a: S, b: S) -> S::Mask;
    Eq = a.eq(b);
    Ne = a.ne(b);
    Lt = a.lt(b);
    Le = a.le(b);
}

/// A 16-bit float in memory.
pub(super) trait Half {
    unsafe fn load<S: Simd>(p: *const u16) -> S;
    unsafe fn store<S: Simd>(x: S, p: *mut u16);
}

pub(super) struct F16;
pub(super) struct Bf16;

impl Half for F16 {
    #[inline(always)]
    unsafe fn load<S: Simd>(p: *const u16) -> S {
        unsafe { S::load_f16(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(x: S, p: *mut u16) {
        unsafe { x.store_f16(p) }
    }
}

impl Half for Bf16 {
    #[inline(always)]
    unsafe fn load<S: Simd>(p: *const u16) -> S {
        unsafe { S::load_bf16(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(x: S, p: *mut u16) {
        unsafe { x.store_bf16(p) }
    }
}

/// `dst = f(a)`.
#[inline(always)]
unsafe fn map1<S: Simd, F: Op1>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let mut a = Row::<f32>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                F::apply(S::load(a.next(&mut pa))).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                F::apply(S::load(a.part(pa, t.cols - i))).store_part(dst.add(i), t.cols - i);
            }
        }
    }
}

/// `dst = f(a, b)`.
#[inline(always)]
unsafe fn map2<S: Simd, F: Op2>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let (mut a, mut b) = (Row::<f32>::new::<S>(&t.a, row), Row::<f32>::new::<S>(&t.b, row));
            let mut pa = a.start();
            let mut pb = b.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                F::apply(S::load(a.next(&mut pa)), S::load(b.next(&mut pb))).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                F::apply(S::load(a.part(pa, n)), S::load(b.part(pb, n))).store_part(dst.add(i), n);
            }
        }
    }
}

/// `dst = f(a, b)` as truth values, a byte each.
#[inline(always)]
unsafe fn compare2<S: Simd, F: Test>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut u8 = t.dst.row(row);
            let (mut a, mut b) = (Row::<f32>::new::<S>(&t.a, row), Row::<f32>::new::<S>(&t.b, row));
            let mut pa = a.start();
            let mut pb = b.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                S::store_mask(F::apply(S::load(a.next(&mut pa)), S::load(b.next(&mut pb))), dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let mut bytes = [0u8; 16];
                S::store_mask(F::apply(S::load(a.part(pa, n)), S::load(b.part(pb, n))), bytes.as_mut_ptr());
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst.add(i), n);
            }
        }
    }
}

/// `dst = a ? b : c`, with a byte for each truth value.
#[inline(always)]
unsafe fn choose<S: Simd>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let mut m = Row::<u8>::new::<S>(&t.a, row);
            let (mut b, mut c) = (Row::<f32>::new::<S>(&t.b, row), Row::<f32>::new::<S>(&t.c, row));
            let mut pm = m.start();
            let mut pb = b.start();
            let mut pc = c.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                S::select(S::load_mask(m.next(&mut pm)), S::load(b.next(&mut pb)), S::load(c.next(&mut pc)))
                    .store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let (b, c) = (S::load(b.part(pb, n)), S::load(c.part(pc, n)));
                S::select(S::load_mask(m.part(pm, n)), b, c).store_part(dst.add(i), n);
            }
        }
    }
}

/// Calls a macro with the function of that name.
macro_rules! with_unary {
    ($op:expr, $call:ident) => {
        with_unary!(@each $op, $call, Neg Abs Sign Recip Sqrt Rsqrt Exp Exp2 Expm1 Log Log2 Log1p Sin Cos Tan Asin Acos
            Atan Sinh Cosh Tanh Erf Floor Ceil Round Trunc Not)
    };
    (@each $op:expr, $call:ident, $($name:ident)*) => {
        match $op {
            $(Unary::$name => $call!($name),)*
        }
    };
}

#[inline(always)]
unsafe fn unary<S: Simd>(op: Unary, t: &Tile) {
    macro_rules! map {
        ($f:ident) => {
            map1::<S, $f>(t)
        };
    }
    unsafe { with_unary!(op, map) }
}

/// A function of one vector.
#[cfg(all(unix, target_arch = "x86_64"))]
pub(super) unsafe fn unary_of<S: Simd>(op: Unary, x: S) -> S {
    macro_rules! apply {
        ($f:ident) => {
            $f::apply(x)
        };
    }
    unsafe { with_unary!(op, apply) }
}

/// Two vectors lane by lane through a scalar function.
#[inline(always)]
unsafe fn each_pair<S: Simd>(a: S, b: S, f: impl Fn(f32, f32) -> f32) -> S {
    unsafe {
        let (mut x, y) = (a.lanes(), b.lanes());
        for i in 0..S::W {
            x[i] = f(x[i], y[i]);
        }
        S::load(x.as_ptr())
    }
}

#[inline(always)]
unsafe fn binary<S: Simd>(op: Binary, t: &Tile) {
    unsafe {
        match op {
            Binary::Add => map2::<S, Add>(t),
            Binary::Sub => map2::<S, Sub>(t),
            Binary::Mul => map2::<S, Mul>(t),
            Binary::Div => map2::<S, Div>(t),
            Binary::Max => map2::<S, Max>(t),
            Binary::Min => map2::<S, Min>(t),
            Binary::Rem => map2::<S, Rem>(t),
            Binary::Atan2 => map2::<S, Atan2>(t),
            Binary::Pow => power::<S>(t),
            Binary::Eq => compare2::<S, Eq>(t),
            Binary::Ne => compare2::<S, Ne>(t),
            Binary::Lt => compare2::<S, Lt>(t),
            Binary::Le => compare2::<S, Le>(t),
            // Not defined on floats; the compiler of the tile refuses them.
            Binary::And | Binary::Or | Binary::Xor => {}
        }
    }
}

/// Powers; by one small whole exponent they are products.
#[inline(always)]
unsafe fn power<S: Simd>(t: &Tile) {
    unsafe {
        let exponent = *t.b.row::<f32>(0);
        let one_exponent = t.rows == 1 && (!t.b.each || t.cols == 1);
        if one_exponent && exponent == 2.0 {
            map1::<S, Square>(t);
        } else if one_exponent && exponent == 3.0 {
            map1::<S, Cube>(t);
        } else {
            map2::<S, Pow>(t);
        }
    }
}

/// `dst = a` between f32 and the 16-bit floats; one of the two is f32.
#[inline(always)]
unsafe fn convert<S: Simd>(from: DType, to: DType, t: &Tile) {
    unsafe {
        match (from, to) {
            (DType::F32, DType::F16) => narrow::<S, F16>(t),
            (DType::F32, _) => narrow::<S, Bf16>(t),
            (DType::F16, _) => widen::<S, F16>(t),
            _ => widen::<S, Bf16>(t),
        }
    }
}

#[inline(always)]
unsafe fn narrow<S: Simd, H: Half>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut u16 = t.dst.row(row);
            let mut a = Row::<f32>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                H::store(S::load(a.next(&mut pa)), dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let mut bits = [0u16; 16];
                H::store(S::load(a.part(pa, t.cols - i)), bits.as_mut_ptr());
                std::ptr::copy_nonoverlapping(bits.as_ptr(), dst.add(i), t.cols - i);
            }
        }
    }
}

#[inline(always)]
unsafe fn widen<S: Simd, H: Half>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let mut a = Row::<u16>::new::<S>(&t.a, row);
            let mut pa = a.start();
            let mut i = 0;
            while i + S::W <= t.cols {
                H::load::<S>(a.next(&mut pa)).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                H::load::<S>(a.part(pa, t.cols - i)).store_part(dst.add(i), t.cols - i);
            }
        }
    }
}

/// Rounds f32 to the nearest value of a 16-bit float.
#[inline(always)]
unsafe fn round_to<S: Simd>(to: DType, t: &Tile) {
    unsafe {
        match to {
            DType::F16 => map1::<S, ToF16>(t),
            _ => map1::<S, ToBf16>(t),
        }
    }
}

/// `dst = a`, past the caches: for results so large that they would only push out what is still needed.
#[inline(always)]
unsafe fn stream<S: Simd>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let (a, dst): (*const f32, *mut f32) = (t.a.row(row), t.dst.row(row));
            let step = t.a.each as usize;
            let mut i = 0;
            while i < t.cols && !dst.add(i).addr().is_multiple_of(4 * S::W) {
                *dst.add(i) = *a.add(i * step);
                i += 1;
            }
            while i + S::W <= t.cols {
                let x = if t.a.each { S::load(a.add(i)) } else { S::splat(*a) };
                x.stream(dst.add(i));
                i += S::W;
            }
            while i < t.cols {
                *dst.add(i) = *a.add(i * step);
                i += 1;
            }
        }
    }
}

/// The loops of one kind of machine.
pub(super) struct Loops {
    pub unary: unsafe fn(Unary, &Tile),
    pub binary: unsafe fn(Binary, &Tile),
    pub choose: unsafe fn(&Tile),
    /// `dst = a` in f32, past the caches.
    pub stream: unsafe fn(&Tile),
    pub chain: unsafe fn(&Work, &Part),
    pub convert: unsafe fn(DType, DType, &Tile),
    pub round_to: unsafe fn(DType, &Tile),
    /// Reduces the columns (true) or the rows of `a` into `dst`.
    pub reduce: unsafe fn(Reduce, bool, &Tile),
    pub integer: unsafe fn(DType, Binary, &Tile) -> bool,
    pub few_rows: unsafe fn(&Packed),
}

macro_rules! machine {
    ($module:ident, $vector:ty, $block:literal $(, $features:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $features)])?
            unsafe fn unary(op: Unary, t: &Tile) {
                unsafe { super::unary::<$vector>(op, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn binary(op: Binary, t: &Tile) {
                unsafe { super::binary::<$vector>(op, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn choose(t: &Tile) {
                unsafe { super::choose::<$vector>(t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn stream(t: &Tile) {
                unsafe { super::stream::<$vector>(t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn chain(w: &Work, part: &Part) {
                unsafe { chain::run::<$vector, $block>(w, part) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn convert(from: DType, to: DType, t: &Tile) {
                unsafe { super::convert::<$vector>(from, to, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn round_to(to: DType, t: &Tile) {
                unsafe { super::round_to::<$vector>(to, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn reduce(op: Reduce, columns: bool, t: &Tile) {
                unsafe { reduce::reduce_f32::<$vector>(op, columns, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn integer(dtype: DType, op: Binary, t: &Tile) -> bool {
                unsafe { super::super::numeric::common_integer(dtype, op, t) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn few_rows(p: &Packed) {
                unsafe { few_rows_with::<$vector>(p) }
            }
            pub(super) static LOOPS: Loops =
                Loops { unary, binary, choose, stream, chain, convert, round_to, reduce, integer, few_rows };
        }
    };
}

machine!(plain, Plain, 8);
#[cfg(target_arch = "x86_64")]
machine!(avx2, Avx2, 8, "avx2,fma,f16c,bmi1,bmi2");
#[cfg(target_arch = "x86_64")]
machine!(avx512, Avx512, 4, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2");

/// The loops for this machine.
pub(super) fn loops() -> &'static Loops {
    match level() {
        Level::Plain => &plain::LOOPS,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => &avx2::LOOPS,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => &avx512::LOOPS,
    }
}
