//! Vectors of f32 and f64 as the micro-kernel of matrix products sees them, each with the size of tile that its
//! registers hold.

use super::micro::Float;
pub(super) use super::simd::Plain;
use super::simd::Simd;
#[cfg(target_arch = "x86_64")]
pub(super) use super::simd::{Avx2, Avx512};

/// A vector as the micro-kernel sees it.
///
/// # Safety
/// As [`Simd`]: the machine must have the instructions, and pointers must be valid.
#[allow(clippy::missing_safety_doc)]
pub(super) unsafe trait Lanes: Copy {
    type Item: Float;
    /// Lanes.
    const W: usize;
    /// Rows of a tile: with two vectors a row, the sums fill the registers that operands leave.
    const ROWS: usize;

    unsafe fn splat(x: Self::Item) -> Self;
    unsafe fn load(p: *const Self::Item) -> Self;
    unsafe fn store(self, p: *mut Self::Item);
    unsafe fn add(self, o: Self) -> Self;
    unsafe fn mul(self, o: Self) -> Self;
    unsafe fn fma(self, b: Self, c: Self) -> Self;

    /// Turns a block: `to[c * ts + r] = from[r * rs + c]` for `W` columns c and `rows <= W` rows r. May also
    /// write `to[c * ts + r]` for the other r below `W`, in the order of c.
    #[inline(always)]
    unsafe fn turn(from: *const Self::Item, rs: isize, rows: usize, to: *mut Self::Item, ts: usize) {
        for c in 0..Self::W {
            for r in 0..rows {
                // SAFETY: the caller's.
                unsafe { *to.add(c * ts + r) = *from.offset(r as isize * rs + c as isize) };
            }
        }
    }
}

macro_rules! lanes_f32 {
    ($vector:ty, $rows:literal $(, $turn:path)?) => {
        // SAFETY: the contract is that of `Simd`.
        unsafe impl Lanes for $vector {
            type Item = f32;
            const W: usize = <$vector as Simd>::W;
            const ROWS: usize = $rows;
            #[inline(always)]
            unsafe fn splat(x: f32) -> Self {
                unsafe { Simd::splat(x) }
            }
            #[inline(always)]
            unsafe fn load(p: *const f32) -> Self {
                unsafe { Simd::load(p) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut f32) {
                unsafe { Simd::store(self, p) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                unsafe { Simd::add(self, o) }
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                unsafe { Simd::mul(self, o) }
            }
            #[inline(always)]
            unsafe fn fma(self, b: Self, c: Self) -> Self {
                unsafe { Simd::fma(self, b, c) }
            }
            $(
                #[inline(always)]
                unsafe fn turn(from: *const f32, rs: isize, rows: usize, to: *mut f32, ts: usize) {
                    unsafe { $turn(from, rs, rows, to, ts) }
                }
            )?
        }
    };
}

lanes_f32!(Plain, 6);
#[cfg(target_arch = "x86_64")]
lanes_f32!(Avx2, 6, super::simd_x86::turn8);
#[cfg(target_arch = "x86_64")]
lanes_f32!(Avx512, 12, super::simd_x86::turn16);

/// Two lanes of f64 in plain Rust.
#[derive(Clone, Copy)]
pub(super) struct PlainDouble([f64; 2]);

// SAFETY: plain Rust.
unsafe impl Lanes for PlainDouble {
    type Item = f64;
    const W: usize = 2;
    const ROWS: usize = 6;
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        PlainDouble([x; 2])
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        PlainDouble(unsafe { p.cast::<[f64; 2]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        unsafe { p.cast::<[f64; 2]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        PlainDouble([self.0[0] + o.0[0], self.0[1] + o.0[1]])
    }
    #[inline(always)]
    unsafe fn mul(self, o: Self) -> Self {
        PlainDouble([self.0[0] * o.0[0], self.0[1] * o.0[1]])
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        unsafe { self.mul(b).add(c) }
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! lanes_f64 {
    ($name:ident($vector:ident), $w:literal, $rows:literal, $splat:ident, $load:ident, $store:ident, $add:ident,
     $mul:ident, $fma:ident, $text:literal) => {
        #[doc = $text]
        #[derive(Clone, Copy)]
        pub(super) struct $name(std::arch::x86_64::$vector);

        // SAFETY: the trait's contract is that of the intrinsics.
        unsafe impl Lanes for $name {
            type Item = f64;
            const W: usize = $w;
            const ROWS: usize = $rows;
            #[inline(always)]
            unsafe fn splat(x: f64) -> Self {
                unsafe { $name(std::arch::x86_64::$splat(x)) }
            }
            #[inline(always)]
            unsafe fn load(p: *const f64) -> Self {
                unsafe { $name(std::arch::x86_64::$load(p)) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut f64) {
                unsafe { std::arch::x86_64::$store(p, self.0) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                unsafe { $name(std::arch::x86_64::$add(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                unsafe { $name(std::arch::x86_64::$mul(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn fma(self, b: Self, c: Self) -> Self {
                unsafe { $name(std::arch::x86_64::$fma(self.0, b.0, c.0)) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
lanes_f64!(
    Avx2Double(__m256d),
    4,
    6,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    "Four lanes of f64."
);
#[cfg(target_arch = "x86_64")]
lanes_f64!(
    Avx512Double(__m512d),
    8,
    12,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    "Eight lanes of f64."
);
