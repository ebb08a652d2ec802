//! Products with one to four rows, where reading the wide operand once, at the speed of memory, is
//! everything.

use super::gemm::Block;
use super::ops::{Bf16, F16, loops};
use super::simd::Simd;
use super::threads::with_scratch;
use crate::dtype::DType;

/// `to[i, j] = sum over p of narrow[i, p] * wide[p, j]` with few rows i.
pub(super) struct FewRows {
    pub rows: usize,
    pub cols: usize,
    pub k: usize,
    pub wide: Block,
    /// Of the wide operand in memory: f32, f16 or bf16.
    pub dtype: DType,
    pub to: Block,
}

/// The same with the narrow operand packed (rows of k) and the result packed (rows of cols).
pub(super) struct Packed<'a> {
    product: &'a FewRows,
    narrow: *const f32,
    out: *mut f32,
}

/// Multiplies; the narrow operand is f32 with any strides.
pub(super) fn few_rows(product: &FewRows, narrow: Block) {
    let (rows, cols, k) = (product.rows, product.cols, product.k);
    with_scratch((rows * k + rows * cols) * 4 + 64, |scratch| {
        let packed: *mut f32 = scratch.cast();
        let out = packed.wrapping_add((rows * k).next_multiple_of(16));
        // SAFETY: scratch has room for both; views cover the operands.
        unsafe {
            for i in 0..rows {
                let from = narrow.ptr.cast::<f32>().offset(i as isize * narrow.rs);
                for p in 0..k {
                    *packed.add(i * k + p) = *from.offset(p as isize * narrow.cs);
                }
            }
            (loops().few_rows)(&Packed { product, narrow: packed, out });
            for i in 0..rows {
                let to = product.to.ptr.cast::<f32>().offset(i as isize * product.to.rs);
                for j in 0..cols {
                    *to.offset(j as isize * product.to.cs) = *out.add(i * cols + j);
                }
            }
        }
    })
}

/// The wide operand's elements in memory.
trait Wide {
    type Memory: Copy;
    unsafe fn load<S: Simd>(p: *const Self::Memory) -> S;
    fn one(x: Self::Memory) -> f32;
}

struct F32;

impl Wide for F32 {
    type Memory = f32;
    #[inline(always)]
    unsafe fn load<S: Simd>(p: *const f32) -> S {
        unsafe { S::load(p) }
    }
    fn one(x: f32) -> f32 {
        x
    }
}

impl Wide for F16 {
    type Memory = u16;
    #[inline(always)]
    unsafe fn load<S: Simd>(p: *const u16) -> S {
        unsafe { S::load_f16(p) }
    }
    fn one(x: u16) -> f32 {
        half::f16::from_bits(x).to_f32()
    }
}

impl Wide for Bf16 {
    type Memory = u16;
    #[inline(always)]
    unsafe fn load<S: Simd>(p: *const u16) -> S {
        unsafe { S::load_bf16(p) }
    }
    fn one(x: u16) -> f32 {
        half::bf16::from_bits(x).to_f32()
    }
}

/// One machine's loops.
#[inline(always)]
pub(super) unsafe fn few_rows_with<S: Simd>(p: &Packed) {
    // SAFETY: the caller's.
    unsafe {
        match p.product.dtype {
            DType::F16 => by_layout::<S, F16>(p),
            DType::BF16 => by_layout::<S, Bf16>(p),
            _ => by_layout::<S, F32>(p),
        }
    }
}

#[inline(always)]
unsafe fn by_layout<S: Simd, T: Wide>(p: &Packed) {
    // SAFETY: the caller's.
    unsafe {
        let wide = p.product.wide;
        if wide.rs == 1 {
            match p.product.rows {
                1 => dots::<S, T, 1>(p),
                2 => dots::<S, T, 2>(p),
                3 => dots::<S, T, 3>(p),
                _ => dots::<S, T, 4>(p),
            }
        } else if wide.cs == 1 {
            match p.product.rows {
                1 => sums::<S, T, 1>(p),
                2 => sums::<S, T, 2>(p),
                3 => sums::<S, T, 3>(p),
                _ => sums::<S, T, 4>(p),
            }
        } else {
            let (rows, cols, k) = (p.product.rows, p.product.cols, p.product.k);
            for i in 0..rows {
                for j in 0..cols {
                    let from = wide.ptr.cast::<T::Memory>().offset(j as isize * wide.cs);
                    let terms =
                        (0..k).map(|q| *p.narrow.add(i * k + q) * T::one(*from.offset(q as isize * wide.rs)));
                    *p.out.add(i * cols + j) = terms.sum();
                }
            }
        }
    }
}

/// The wide operand's columns are contiguous: scalar products, two columns at a time.
#[inline(always)]
unsafe fn dots<S: Simd, T: Wide, const R: usize>(p: &Packed) {
    // SAFETY: the caller's.
    unsafe {
        let (cols, k, wide) = (p.product.cols, p.product.k, p.product.wide);
        let whole = k - k % (2 * S::W);
        for j in 0..cols {
            let from = wide.ptr.cast::<T::Memory>().offset(j as isize * wide.cs);
            let mut sums = [[S::splat(0.0); 2]; R];
            for q in (0..whole).step_by(2 * S::W) {
                let (x, y) = (T::load::<S>(from.add(q)), T::load::<S>(from.add(q + S::W)));
                for (i, s) in sums.iter_mut().enumerate() {
                    let row = p.narrow.add(i * k + q);
                    s[0] = S::load(row).fma(x, s[0]);
                    s[1] = S::load(row.add(S::W)).fma(y, s[1]);
                }
            }
            for (i, s) in sums.iter().enumerate() {
                let lanes = s[0].add(s[1]).lanes();
                let mut sum: f32 = lanes[..S::W].iter().sum();
                for q in whole..k {
                    sum += *p.narrow.add(i * k + q) * T::one(*from.add(q));
                }
                *p.out.add(i * cols + j) = sum;
            }
        }
    }
}

/// The wide operand's rows are contiguous: eight rows at a time are added to the sums.
#[inline(always)]
unsafe fn sums<S: Simd, T: Wide, const R: usize>(p: &Packed) {
    const ROWS: usize = 8;
    // SAFETY: the caller's.
    unsafe {
        let (cols, k, wide) = (p.product.cols, p.product.k, p.product.wide);
        std::ptr::write_bytes(p.out, 0, R * cols);
        let whole = cols - cols % S::W;
        for q in (0..k).step_by(ROWS) {
            let n = ROWS.min(k - q);
            let from: [*const T::Memory; ROWS] = std::array::from_fn(|r| {
                wide.ptr.cast::<T::Memory>().offset((q + r.min(n - 1)) as isize * wide.rs) as *const T::Memory
            });
            // Rows beyond the end count nothing.
            let factor = |i: usize, r: usize| if r < n { *p.narrow.add(i * k + q + r) } else { 0.0 };
            let mut factors = [[S::splat(0.0); ROWS]; R];
            for i in 0..R {
                for r in 0..ROWS {
                    factors[i][r] = S::splat(factor(i, r));
                }
            }
            for j in (0..whole).step_by(S::W) {
                let mut s = [S::splat(0.0); R];
                for i in 0..R {
                    s[i] = S::load(p.out.add(i * cols + j));
                }
                for r in 0..ROWS {
                    let x = T::load::<S>(from[r].add(j));
                    for i in 0..R {
                        s[i] = x.fma(factors[i][r], s[i]);
                    }
                }
                for i in 0..R {
                    s[i].store(p.out.add(i * cols + j));
                }
            }
            for j in whole..cols {
                for i in 0..R {
                    let mut s = *p.out.add(i * cols + j);
                    (0..n).for_each(|r| s += factor(i, r) * T::one(*from[r].add(j)));
                    *p.out.add(i * cols + j) = s;
                }
            }
        }
    }
}
