//! The inner loops over a tile of f32, written once over [`Simd`] and compiled for each kind of machine. A tile
//! is `rows` x `cols`; every operand is a pointer, a row stride, and whether it advances along the columns.

use super::math;
use super::reduce;
use super::rows::{Packed, few_rows_with};
use super::simd::*;
use crate::dtype::DType;
use crate::graph::{Binary, Reduce, Unary};
use std::sync::LazyLock;

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

/// A row of an operand as the loops read it: a repeated element is spread to one vector, read again and again.
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

    #[inline(always)]
    pub fn begin(&mut self) {
        if self.step == 0 {
            self.at = self.spread.as_ptr();
        }
    }

    /// The pointer of this step; moves on to the next.
    #[inline(always)]
    pub fn next(&mut self) -> *const T {
        let at = self.at;
        self.at = at.wrapping_add(self.step);
        at
    }

    /// The last `n` elements, padded, where they may be read as a whole vector.
    #[inline(always)]
    pub unsafe fn part(&mut self, n: usize) -> *const T {
        if self.step != 0 {
            unsafe { std::ptr::copy_nonoverlapping(self.at, self.spread.as_mut_ptr(), n) };
        }
        self.spread.as_ptr()
    }
}

// The loops are macros and not functions of closures: a closure is compiled without the machine's instructions
// first, and a large one is then not inlined where they exist.

/// `dst = f(a)`.
macro_rules! map1 {
    ($S:ty, $t:expr, |$x:ident| $f:expr) => {{
        let t: &Tile = $t;
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let mut a = Row::<f32>::new::<$S>(&t.a, row);
            a.begin();
            let mut i = 0;
            while i + <$S>::W <= t.cols {
                let $x = <$S>::load(a.next());
                let y: $S = $f;
                y.store(dst.add(i));
                i += <$S>::W;
            }
            if i < t.cols {
                let $x = <$S>::load(a.part(t.cols - i));
                let y: $S = $f;
                y.store_part(dst.add(i), t.cols - i);
            }
        }
    }};
}

/// `dst = f(a, b)`.
macro_rules! map2 {
    ($S:ty, $t:expr, |$x:ident, $y:ident| $f:expr) => {{
        let t: &Tile = $t;
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let (mut a, mut b) = (Row::<f32>::new::<$S>(&t.a, row), Row::<f32>::new::<$S>(&t.b, row));
            a.begin();
            b.begin();
            let mut i = 0;
            while i + <$S>::W <= t.cols {
                let ($x, $y) = (<$S>::load(a.next()), <$S>::load(b.next()));
                let z: $S = $f;
                z.store(dst.add(i));
                i += <$S>::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let ($x, $y) = (<$S>::load(a.part(n)), <$S>::load(b.part(n)));
                let z: $S = $f;
                z.store_part(dst.add(i), n);
            }
        }
    }};
}

/// `dst = f(a, b)` as truth values, a byte each.
macro_rules! compare2 {
    ($S:ty, $t:expr, |$x:ident, $y:ident| $f:expr) => {{
        let t: &Tile = $t;
        for row in 0..t.rows {
            let dst: *mut u8 = t.dst.row(row);
            let (mut a, mut b) = (Row::<f32>::new::<$S>(&t.a, row), Row::<f32>::new::<$S>(&t.b, row));
            a.begin();
            b.begin();
            let mut i = 0;
            while i + <$S>::W <= t.cols {
                let ($x, $y) = (<$S>::load(a.next()), <$S>::load(b.next()));
                <$S>::store_mask($f, dst.add(i));
                i += <$S>::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let ($x, $y) = (<$S>::load(a.part(n)), <$S>::load(b.part(n)));
                let mut bytes = [0u8; 16];
                <$S>::store_mask($f, bytes.as_mut_ptr());
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst.add(i), n);
            }
        }
    }};
}

/// f32 to a 16-bit float.
macro_rules! narrow {
    ($S:ty, $t:expr, $store:ident) => {{
        let t: &Tile = $t;
        for row in 0..t.rows {
            let (a, dst): (*const f32, *mut u16) = (t.a.row(row), t.dst.row(row));
            let (n, whole) = (t.cols, t.cols - t.cols % <$S>::W);
            let mut bits = [0u16; 16];
            if !t.a.each {
                <$S>::splat(*a).$store(bits.as_mut_ptr());
                (0..n).for_each(|i| *dst.add(i) = bits[0]);
                continue;
            }
            for i in (0..whole).step_by(<$S>::W) {
                <$S>::load(a.add(i)).$store(dst.add(i));
            }
            if whole < n {
                <$S>::load_part(a.add(whole), n - whole).$store(bits.as_mut_ptr());
                std::ptr::copy_nonoverlapping(bits.as_ptr(), dst.add(whole), n - whole);
            }
        }
    }};
}

/// A 16-bit float to f32.
macro_rules! widen {
    ($S:ty, $t:expr, $load:ident) => {{
        let t: &Tile = $t;
        for row in 0..t.rows {
            let (a, dst): (*const u16, *mut f32) = (t.a.row(row), t.dst.row(row));
            let (n, whole) = (t.cols, t.cols - t.cols % <$S>::W);
            for i in (0..whole).step_by(<$S>::W) {
                <$S>::$load(a.add(i)).store(dst.add(i));
            }
            if whole < n {
                let mut bits = [0u16; 16];
                std::ptr::copy_nonoverlapping(a.add(whole), bits.as_mut_ptr(), n - whole);
                <$S>::$load(bits.as_ptr()).store_part(dst.add(whole), n - whole);
            }
        }
    }};
}

/// `dst = a * b + c`, rounded twice: a value must come out the same in every kernel that computes it, alone or fused,
/// or comparing two of them (the gradient of a maximum does) would go wrong.
#[inline(always)]
unsafe fn multiply_add<S: Simd>(t: &Tile) {
    unsafe {
        for row in 0..t.rows {
            let dst: *mut f32 = t.dst.row(row);
            let (mut a, mut b) = (Row::<f32>::new::<S>(&t.a, row), Row::<f32>::new::<S>(&t.b, row));
            let mut c = Row::<f32>::new::<S>(&t.c, row);
            a.begin();
            b.begin();
            c.begin();
            let mut i = 0;
            while i + S::W <= t.cols {
                S::load(a.next()).mul(S::load(b.next())).add(S::load(c.next())).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let (a, b, c) = (S::load(a.part(n)), S::load(b.part(n)), S::load(c.part(n)));
                a.mul(b).add(c).store_part(dst.add(i), n);
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
            m.begin();
            b.begin();
            c.begin();
            let mut i = 0;
            while i + S::W <= t.cols {
                S::select(S::load_mask(m.next()), S::load(b.next()), S::load(c.next())).store(dst.add(i));
                i += S::W;
            }
            if i < t.cols {
                let n = t.cols - i;
                let (b, c) = (S::load(b.part(n)), S::load(c.part(n)));
                S::select(S::load_mask(m.part(n)), b, c).store_part(dst.add(i), n);
            }
        }
    }
}

#[inline(always)]
unsafe fn unary<S: Simd>(op: Unary, t: &Tile) {
    unsafe {
        match op {
            Unary::Neg => map1!(S, t, |x| x.neg()),
            Unary::Abs => map1!(S, t, |x| x.abs()),
            Unary::Sign => map1!(S, t, |x| {
                let one = S::splat(1.0).copysign(x);
                S::select(S::splat(0.0).lt(x.abs()), one, x)
            }),
            Unary::Recip => map1!(S, t, |x| S::splat(1.0).div(x)),
            Unary::Sqrt => map1!(S, t, |x| x.sqrt()),
            Unary::Rsqrt => map1!(S, t, |x| S::splat(1.0).div(x.sqrt())),
            Unary::Exp => map1!(S, t, |x| math::exp(x)),
            Unary::Exp2 => map1!(S, t, |x| math::exp2(x)),
            Unary::Expm1 => map1!(S, t, |x| math::expm1(x)),
            Unary::Log => map1!(S, t, |x| math::log(x)),
            Unary::Log2 => map1!(S, t, |x| math::log2(x)),
            Unary::Log1p => map1!(S, t, |x| math::log1p(x)),
            Unary::Sin => map1!(S, t, |x| math::sin(x)),
            Unary::Cos => map1!(S, t, |x| math::cos(x)),
            Unary::Tan => map1!(S, t, |x| math::tan(x)),
            Unary::Tanh => map1!(S, t, |x| math::tanh(x)),
            Unary::Erf => map1!(S, t, |x| math::erf(x)),
            Unary::Floor => map1!(S, t, |x| x.floor()),
            Unary::Ceil => map1!(S, t, |x| x.ceil()),
            Unary::Round => map1!(S, t, |x| x.round()),
            Unary::Trunc => map1!(S, t, |x| x.trunc()),
            // Rare ones go through the standard library.
            Unary::Asin => map1!(S, t, |x| math::each_lane(x, f32::asin)),
            Unary::Acos => map1!(S, t, |x| math::each_lane(x, f32::acos)),
            Unary::Atan => map1!(S, t, |x| math::each_lane(x, f32::atan)),
            Unary::Sinh => map1!(S, t, |x| math::each_lane(x, f32::sinh)),
            Unary::Cosh => map1!(S, t, |x| math::each_lane(x, f32::cosh)),
            Unary::Not => map1!(S, t, |x| S::select(x.eq(S::splat(0.0)), S::splat(1.0), S::splat(0.0))),
        }
    }
}

/// The larger, NaN if either is.
#[inline(always)]
pub(super) unsafe fn max_nan<S: Simd>(a: S, b: S) -> S {
    unsafe { S::select(a.ne(a), a, a.max(b)) }
}

/// The smaller, NaN if either is.
#[inline(always)]
pub(super) unsafe fn min_nan<S: Simd>(a: S, b: S) -> S {
    unsafe { S::select(a.ne(a), a, a.min(b)) }
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
            Binary::Add => map2!(S, t, |a, b| a.add(b)),
            Binary::Sub => map2!(S, t, |a, b| a.sub(b)),
            Binary::Mul => map2!(S, t, |a, b| a.mul(b)),
            Binary::Div => map2!(S, t, |a, b| a.div(b)),
            Binary::Max => map2!(S, t, |a, b| max_nan(a, b)),
            Binary::Min => map2!(S, t, |a, b| min_nan(a, b)),
            Binary::Rem => map2!(S, t, |a, b| each_pair(a, b, |a, b| super::numeric::floor_rem(a as f64, b as f64) as f32)),
            Binary::Pow => power::<S>(t),
            Binary::Atan2 => map2!(S, t, |a, b| each_pair(a, b, f32::atan2)),
            Binary::Eq => compare2!(S, t, |a, b| a.eq(b)),
            Binary::Ne => compare2!(S, t, |a, b| a.ne(b)),
            Binary::Lt => compare2!(S, t, |a, b| a.lt(b)),
            Binary::Le => compare2!(S, t, |a, b| a.le(b)),
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
            map1!(S, t, |x| x.mul(x));
        } else if one_exponent && exponent == 3.0 {
            map1!(S, t, |x| x.mul(x).mul(x));
        } else {
            map2!(S, t, |a, b| each_pair(a, b, f32::powf));
        }
    }
}

/// `dst = a` between f32 and the 16-bit floats; one of the two is f32.
#[inline(always)]
unsafe fn convert<S: Simd>(from: DType, to: DType, t: &Tile) {
    unsafe {
        match (from, to) {
            (DType::F32, DType::F16) => narrow!(S, t, store_f16),
            (DType::F32, _) => narrow!(S, t, store_bf16),
            (DType::F16, _) => widen!(S, t, load_f16),
            _ => widen!(S, t, load_bf16),
        }
    }
}

/// Rounds f32 to the nearest value of a 16-bit float.
#[inline(always)]
unsafe fn round_to<S: Simd>(to: DType, t: &Tile) {
    unsafe {
        let mut bits = [0u16; 16];
        let p = bits.as_mut_ptr();
        if to == DType::F16 {
            map1!(S, t, |x| {
                x.store_f16(p);
                S::load_f16(p)
            });
        } else {
            map1!(S, t, |x| {
                x.store_bf16(p);
                S::load_bf16(p)
            });
        }
    }
}

/// The loops of one kind of machine.
pub(super) struct Loops {
    pub unary: unsafe fn(Unary, &Tile),
    pub binary: unsafe fn(Binary, &Tile),
    pub choose: unsafe fn(&Tile),
    /// `dst = a * b + c`.
    pub fma: unsafe fn(&Tile),
    pub convert: unsafe fn(DType, DType, &Tile),
    pub round_to: unsafe fn(DType, &Tile),
    /// Reduces the columns (true) or the rows of `a` (times `b`, if it is there) into `dst`.
    pub reduce: unsafe fn(Reduce, bool, &Tile),
    pub integer: unsafe fn(DType, Binary, &Tile) -> bool,
    pub few_rows: unsafe fn(&Packed),
}

macro_rules! machine {
    ($module:ident, $vector:ty $(, $features:literal)?) => {
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
            unsafe fn fma(t: &Tile) {
                unsafe { multiply_add::<$vector>(t) }
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
                Loops { unary, binary, choose, fma, convert, round_to, reduce, integer, few_rows };
        }
    };
}

machine!(plain, Plain);
#[cfg(target_arch = "x86_64")]
machine!(avx2, Avx2, "avx2,fma,f16c,bmi1,bmi2");
#[cfg(target_arch = "x86_64")]
machine!(avx512, Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2");

/// The loops for this machine.
pub(super) fn loops() -> &'static Loops {
    static CHOICE: LazyLock<&'static Loops> = LazyLock::new(|| {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                return &avx512::LOOPS;
            }
            if avx2 {
                return &avx2::LOOPS;
            }
        }
        &plain::LOOPS
    });
    *CHOICE
}
