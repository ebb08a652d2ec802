//! Vectors of f32, as wide as the machine: the few operations that the tile loops are written in. Which
//! vector is used is chosen once at run time; every function here is inlined into a function that enables the
//! instructions it needs.

use std::sync::LazyLock;

/// A vector of f32 with its masks and 32-bit integers.
///
/// # Safety
/// The functions may only run where the instructions of the implementation exist, and pointers must be valid
/// for `W` elements (`n` for the partial ones).
#[allow(clippy::missing_safety_doc)]
pub(super) unsafe trait Simd: Copy {
    /// Lanes.
    const W: usize;
    /// Whether `fma` rounds once.
    const FUSED: bool;
    /// One truth value a lane.
    type Mask: Copy;
    /// One i32 a lane.
    type Int: Copy;

    unsafe fn splat(x: f32) -> Self;
    unsafe fn load(p: *const f32) -> Self;
    unsafe fn store(self, p: *mut f32);
    /// Stores past the caches to an aligned pointer, where the machine can; a fence must follow before others read.
    #[inline(always)]
    unsafe fn stream(self, p: *mut f32) {
        unsafe { self.store(p) }
    }
    unsafe fn load_f16(p: *const u16) -> Self;
    unsafe fn store_f16(self, p: *mut u16);
    unsafe fn load_bf16(p: *const u16) -> Self;
    unsafe fn store_bf16(self, p: *mut u16);

    unsafe fn add(self, o: Self) -> Self;
    unsafe fn sub(self, o: Self) -> Self;
    unsafe fn mul(self, o: Self) -> Self;
    unsafe fn div(self, o: Self) -> Self;
    /// `self * b + c`, rounded once where the machine can.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// `self > o ? self : o`: the second operand if either is NaN.
    unsafe fn max(self, o: Self) -> Self;
    /// `self < o ? self : o`: the second operand if either is NaN.
    unsafe fn min(self, o: Self) -> Self;
    unsafe fn sqrt(self) -> Self;
    unsafe fn round(self) -> Self;
    unsafe fn floor(self) -> Self;
    unsafe fn ceil(self) -> Self;
    unsafe fn trunc(self) -> Self;

    unsafe fn lt(self, o: Self) -> Self::Mask;
    unsafe fn le(self, o: Self) -> Self::Mask;
    unsafe fn eq(self, o: Self) -> Self::Mask;
    unsafe fn ne(self, o: Self) -> Self::Mask;
    unsafe fn select(m: Self::Mask, yes: Self, no: Self) -> Self;
    unsafe fn any(m: Self::Mask) -> bool;
    unsafe fn load_mask(p: *const u8) -> Self::Mask;
    unsafe fn store_mask(m: Self::Mask, p: *mut u8);

    unsafe fn bits(self) -> Self::Int;
    unsafe fn from_bits(i: Self::Int) -> Self;
    /// To the nearest integer.
    unsafe fn to_int(self) -> Self::Int;
    unsafe fn to_float(i: Self::Int) -> Self;
    unsafe fn int(x: i32) -> Self::Int;
    unsafe fn iadd(a: Self::Int, b: Self::Int) -> Self::Int;
    unsafe fn isub(a: Self::Int, b: Self::Int) -> Self::Int;
    unsafe fn iand(a: Self::Int, b: Self::Int) -> Self::Int;
    unsafe fn ior(a: Self::Int, b: Self::Int) -> Self::Int;
    unsafe fn ixor(a: Self::Int, b: Self::Int) -> Self::Int;
    unsafe fn shl<const N: i32>(a: Self::Int) -> Self::Int;
    /// Keeps the sign.
    unsafe fn shr<const N: i32>(a: Self::Int) -> Self::Int;
    /// Lanes where the integer is zero.
    unsafe fn izero(a: Self::Int) -> Self::Mask;

    #[inline(always)]
    unsafe fn abs(self) -> Self {
        unsafe { Self::from_bits(Self::iand(self.bits(), Self::int(i32::MAX))) }
    }
    #[inline(always)]
    unsafe fn neg(self) -> Self {
        unsafe { Self::from_bits(Self::ixor(self.bits(), Self::int(i32::MIN))) }
    }
    /// The magnitude of `self` with the sign of `o`.
    #[inline(always)]
    unsafe fn copysign(self, o: Self) -> Self {
        unsafe {
            let sign = Self::iand(o.bits(), Self::int(i32::MIN));
            Self::from_bits(Self::ior(Self::iand(self.bits(), Self::int(i32::MAX)), sign))
        }
    }
    /// The first `n < W` elements; the other lanes are zero.
    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize) -> Self {
        let mut lanes = [0f32; 16];
        unsafe {
            std::ptr::copy_nonoverlapping(p, lanes.as_mut_ptr(), n);
            Self::load(lanes.as_ptr())
        }
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut f32, n: usize) {
        let mut lanes = [0f32; 16];
        unsafe {
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), p, n);
        }
    }
    /// The lanes, one after the other.
    #[inline(always)]
    unsafe fn lanes(self) -> [f32; 16] {
        let mut lanes = [0f32; 16];
        unsafe { self.store(lanes.as_mut_ptr()) };
        lanes
    }
}

/// Rounds to bf16, to nearest even; NaN stays NaN.
#[inline(always)]
fn bf16_bits(x: f32) -> u16 {
    half::bf16::from_f32(x).to_bits()
}

/// Four lanes in plain Rust, for machines without a vector of their own here. The compiler finds SSE2, NEON
/// or simd128 in it.
#[derive(Clone, Copy)]
pub(super) struct Plain([f32; 4]);

macro_rules! lanewise {
    ($($name:ident($a:ident $(, $arg:ident)*) = $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self $(, $arg: Self)*) -> Self {
            Plain(std::array::from_fn(|i| {
                let $a = self.0[i];
                $(let $arg = $arg.0[i];)*
                $e
            }))
        }
    )*};
}
macro_rules! lanewise_int {
    ($($name:ident = $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
            std::array::from_fn(|i| { let f: fn(i32, i32) -> i32 = $e; f(a[i], b[i]) })
        }
    )*};
}
macro_rules! lanewise_compare {
    ($($name:ident = $e:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(self, o: Self) -> [bool; 4] {
            std::array::from_fn(|i| { let f: fn(f32, f32) -> bool = $e; f(self.0[i], o.0[i]) })
        }
    )*};
}

// SAFETY: plain Rust.
unsafe impl Simd for Plain {
    const W: usize = 4;
    const FUSED: bool = cfg!(target_arch = "aarch64");
    type Mask = [bool; 4];
    type Int = [i32; 4];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Plain([x; 4])
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        Plain(unsafe { p.cast::<[f32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        unsafe { p.cast::<[f32; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_f16(p: *const u16) -> Self {
        let bits = unsafe { p.cast::<[u16; 4]>().read_unaligned() };
        Plain(bits.map(|b| half::f16::from_bits(b).to_f32()))
    }
    #[inline(always)]
    unsafe fn store_f16(self, p: *mut u16) {
        unsafe {
            p.cast::<[u16; 4]>().write_unaligned(self.0.map(|x| half::f16::from_f32(x).to_bits()));
        }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const u16) -> Self {
        let bits = unsafe { p.cast::<[u16; 4]>().read_unaligned() };
        Plain(bits.map(|b| f32::from_bits((b as u32) << 16)))
    }
    #[inline(always)]
    unsafe fn store_bf16(self, p: *mut u16) {
        unsafe { p.cast::<[u16; 4]>().write_unaligned(self.0.map(bf16_bits)) }
    }

    lanewise! {
        add(a, b) = a + b;
        sub(a, b) = a - b;
        mul(a, b) = a * b;
        div(a, b) = a / b;
        // A fused multiply-add without the instruction is a slow library call.
        fma(a, b, c) = if Self::FUSED { a.mul_add(b, c) } else { a * b + c };
        max(a, b) = if a > b { a } else { b };
        min(a, b) = if a < b { a } else { b };
        sqrt(a) = a.sqrt();
        round(a) = a.round_ties_even();
        floor(a) = a.floor();
        ceil(a) = a.ceil();
        trunc(a) = a.trunc();
    }
    lanewise_compare! {
        lt = |a, b| a < b;
        le = |a, b| a <= b;
        eq = |a, b| a == b;
        ne = |a, b| a != b;
    }
    #[inline(always)]
    unsafe fn select(m: [bool; 4], yes: Self, no: Self) -> Self {
        Plain(std::array::from_fn(|i| if m[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    unsafe fn any(m: [bool; 4]) -> bool {
        m[0] | m[1] | m[2] | m[3]
    }
    #[inline(always)]
    unsafe fn load_mask(p: *const u8) -> [bool; 4] {
        unsafe { p.cast::<[u8; 4]>().read_unaligned() }.map(|b| b != 0)
    }
    #[inline(always)]
    unsafe fn store_mask(m: [bool; 4], p: *mut u8) {
        unsafe { p.cast::<[u8; 4]>().write_unaligned(m.map(|b| b as u8)) }
    }

    #[inline(always)]
    unsafe fn bits(self) -> [i32; 4] {
        self.0.map(|x| x.to_bits() as i32)
    }
    #[inline(always)]
    unsafe fn from_bits(i: [i32; 4]) -> Self {
        Plain(i.map(|b| f32::from_bits(b as u32)))
    }
    #[inline(always)]
    unsafe fn to_int(self) -> [i32; 4] {
        self.0.map(|x| x.round_ties_even() as i32)
    }
    #[inline(always)]
    unsafe fn to_float(i: [i32; 4]) -> Self {
        Plain(i.map(|x| x as f32))
    }
    #[inline(always)]
    unsafe fn int(x: i32) -> [i32; 4] {
        [x; 4]
    }
    lanewise_int! {
        iadd = |a, b| a.wrapping_add(b);
        isub = |a, b| a.wrapping_sub(b);
        iand = |a, b| a & b;
        ior = |a, b| a | b;
        ixor = |a, b| a ^ b;
    }
    #[inline(always)]
    unsafe fn shl<const N: i32>(a: [i32; 4]) -> [i32; 4] {
        a.map(|x| x << N)
    }
    #[inline(always)]
    unsafe fn shr<const N: i32>(a: [i32; 4]) -> [i32; 4] {
        a.map(|x| x >> N)
    }
    #[inline(always)]
    unsafe fn izero(a: [i32; 4]) -> [bool; 4] {
        a.map(|x| x == 0)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use super::simd_x86::{Avx2, Avx512};

/// Kinds of machine, by the vectors they have; a later one has those of the earlier ones too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// What this machine is.
pub(super) fn level() -> Level {
    static LEVEL: LazyLock<Level> = LazyLock::new(|| {
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
                return Level::Avx512;
            }
            if avx2 {
                return Level::Avx2;
            }
        }
        Level::Plain
    });
    *LEVEL
}
