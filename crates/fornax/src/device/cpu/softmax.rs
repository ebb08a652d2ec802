//! The loops over rows of scores in attention: written once over [`Simd`] for f32 and compiled for each kind of
//! machine; f64 is plain Rust.

use super::math;
use super::numeric::larger;
use super::reduce::fold_lanes;
use super::simd::*;

/// What the lengths of rows are a multiple of, so that they are whole vectors on every machine.
pub(super) const LONG: usize = 16;

/// The loops for one type.
pub(super) struct Rows<T> {
    /// The largest element that is not NaN.
    pub largest: unsafe fn(*const T, usize) -> T,
    /// `x = exp(x - shift)`, and the sum of it; `shift` is about the largest of them, or larger.
    pub exp_sum: unsafe fn(*mut T, usize, T) -> T,
    /// `y = x (y - shift)`: the gradient of scores from that of weights.
    pub weigh: unsafe fn(*const T, *mut T, usize, T),
    /// A scalar product; of any length.
    pub dot: unsafe fn(*const T, *const T, usize) -> T,
}

#[inline(always)]
unsafe fn largest<S: Simd>(x: *const f32, n: usize) -> f32 {
    // SAFETY: the caller gives `n` elements.
    unsafe {
        let mut tops = [S::splat(f32::NEG_INFINITY); 2];
        for i in (0..n - n % (2 * S::W)).step_by(2 * S::W) {
            tops = [S::load(x.add(i)).max(tops[0]), S::load(x.add(i + S::W)).max(tops[1])];
        }
        if !n.is_multiple_of(2 * S::W) {
            tops[0] = S::load(x.add(n - S::W)).max(tops[0]);
        }
        fold_lanes::<S>(tops[0].max(tops[1]), &larger)
    }
}

#[inline(always)]
unsafe fn exp_sum<S: Simd>(x: *mut f32, n: usize, shift: f32) -> f32 {
    // SAFETY: as above.
    unsafe {
        let shift = S::splat(shift);
        let mut sum = S::splat(0.0);
        // One vector at a time: the constants and it just fill the registers.
        for i in (0..n).step_by(S::W) {
            let y = math::exp_weight(S::load(x.add(i)).sub(shift));
            y.store(x.add(i));
            sum = sum.add(y);
        }
        fold_lanes::<S>(sum, &|a, b| a + b)
    }
}

#[inline(always)]
unsafe fn weigh<S: Simd>(x: *const f32, y: *mut f32, n: usize, shift: f32) {
    for i in (0..n).step_by(S::W) {
        // SAFETY: as above.
        unsafe { S::load(y.add(i)).sub(S::splat(shift)).mul(S::load(x.add(i))).store(y.add(i)) };
    }
}

#[inline(always)]
unsafe fn dot<S: Simd>(x: *const f32, y: *const f32, n: usize) -> f32 {
    // SAFETY: as above.
    unsafe {
        let mut sums = [S::splat(0.0); 2];
        let whole = n - n % (2 * S::W);
        for i in (0..whole).step_by(2 * S::W) {
            sums[0] = S::load(x.add(i)).fma(S::load(y.add(i)), sums[0]);
            sums[1] = S::load(x.add(i + S::W)).fma(S::load(y.add(i + S::W)), sums[1]);
        }
        let sum = fold_lanes::<S>(sums[0].add(sums[1]), &|a, b| a + b);
        (whole..n).fold(sum, |sum, i| sum + *x.add(i) * *y.add(i))
    }
}

macro_rules! machine {
    ($module:ident, $vector:ty $(, $features:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $features)])?
            unsafe fn largest(x: *const f32, n: usize) -> f32 {
                unsafe { super::largest::<$vector>(x, n) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn exp_sum(x: *mut f32, n: usize, shift: f32) -> f32 {
                unsafe { super::exp_sum::<$vector>(x, n, shift) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn weigh(x: *const f32, y: *mut f32, n: usize, shift: f32) {
                unsafe { super::weigh::<$vector>(x, y, n, shift) }
            }
            $(#[target_feature(enable = $features)])?
            unsafe fn dot(x: *const f32, y: *const f32, n: usize) -> f32 {
                unsafe { super::dot::<$vector>(x, y, n) }
            }
            pub(super) static ROWS: Rows<f32> = Rows { largest, exp_sum, weigh, dot };
        }
    };
}

machine!(plain, Plain);
#[cfg(target_arch = "x86_64")]
machine!(avx2, Avx2, "avx2,fma,f16c,bmi1,bmi2");
#[cfg(target_arch = "x86_64")]
machine!(avx512, Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2");

/// The loops for f32 of a kind of machine, which must be this one or less.
pub(super) fn rows_f32(level: Level) -> &'static Rows<f32> {
    match level {
        Level::Plain => &plain::ROWS,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => &avx2::ROWS,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => &avx512::ROWS,
    }
}

/// The loops for f64.
pub(super) static ROWS_F64: Rows<f64> = {
    unsafe fn largest(x: *const f64, n: usize) -> f64 {
        // SAFETY: the caller gives `n` elements; the same below.
        (0..n).fold(f64::NEG_INFINITY, |top, i| top.max(unsafe { *x.add(i) }))
    }
    unsafe fn exp_sum(x: *mut f64, n: usize, shift: f64) -> f64 {
        (0..n).fold(0.0, |sum, i| unsafe {
            *x.add(i) = f64::exp(*x.add(i) - shift);
            sum + *x.add(i)
        })
    }
    unsafe fn weigh(x: *const f64, y: *mut f64, n: usize, shift: f64) {
        (0..n).for_each(|i| unsafe { *y.add(i) = *x.add(i) * (*y.add(i) - shift) });
    }
    unsafe fn dot(x: *const f64, y: *const f64, n: usize) -> f64 {
        (0..n).fold(0.0, |sum, i| sum + unsafe { *x.add(i) * *y.add(i) })
    }
    Rows { largest, exp_sum, weigh, dot }
};
