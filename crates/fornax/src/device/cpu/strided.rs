//! Copies between memory of any dtype and strides and the contiguous values that the loops work on.

use super::ops::{Loops, Slot, Tile};
use crate::dtype::DType;

/// A rectangle of memory with any strides.
pub(super) struct Strided {
    pub rows: usize,
    pub cols: usize,
    pub rs: isize,
    pub cs: isize,
}

#[inline(always)]
pub(super) unsafe fn read_one(dtype: DType, from: *const u8, to: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        match dtype {
            DType::F16 => *to.cast::<f32>() = (*from.cast::<half::f16>()).to_f32(),
            DType::BF16 => *to.cast::<f32>() = (*from.cast::<half::bf16>()).to_f32(),
            _ => std::ptr::copy_nonoverlapping(from, to, dtype.size()),
        }
    }
}

impl Strided {
    /// Copies from memory of a dtype to a register.
    pub unsafe fn read(&self, loops: &Loops, dtype: DType, from: *const u8, to: Slot) {
        // SAFETY: the caller gives memory for the rectangle on both sides.
        unsafe {
            match dtype {
                DType::F16 | DType::BF16 if self.cs == 1 => {
                    let a = Slot { ptr: from.cast_mut(), rs: self.rs, each: true };
                    let none = Slot::NONE;
                    let tile = Tile { rows: self.rows, cols: self.cols, dst: to, a, b: none, c: none };
                    (loops.convert)(dtype, DType::F32, &tile);
                }
                DType::F16 => self.read_as(from.cast::<half::f16>(), to, half::f16::to_f32),
                DType::BF16 => self.read_as(from.cast::<half::bf16>(), to, half::bf16::to_f32),
                _ => match dtype.size() {
                    1 => self.read_as(from, to, |x| x),
                    4 => self.read_as(from.cast::<u32>(), to, |x| x),
                    _ => self.read_as(from.cast::<u64>(), to, |x| x),
                },
            }
        }
    }

    #[inline(always)]
    unsafe fn read_as<A: Copy, R: Copy>(&self, from: *const A, to: Slot, f: impl Fn(A) -> R) {
        // SAFETY: as in `read`.
        unsafe {
            if self.rs.unsigned_abs() < self.cs.unsigned_abs() && self.rows > 1 {
                // Memory runs down the rows: squares keep both sides in the cache.
                const SIDE: usize = 16;
                for row0 in (0..self.rows).step_by(SIDE) {
                    for col0 in (0..self.cols).step_by(SIDE) {
                        for col in col0..(col0 + SIDE).min(self.cols) {
                            let from = from.offset(col as isize * self.cs);
                            for row in row0..(row0 + SIDE).min(self.rows) {
                                *to.row::<R>(row).add(col) = f(*from.offset(row as isize * self.rs));
                            }
                        }
                    }
                }
                return;
            }
            for row in 0..self.rows {
                let (from, to) = (from.offset(row as isize * self.rs), to.row::<R>(row));
                match self.cs {
                    1 => (0..self.cols).for_each(|i| *to.add(i) = f(*from.add(i))),
                    0 => {
                        let x = f(*from);
                        (0..self.cols).for_each(|i| *to.add(i) = x);
                    }
                    cs => (0..self.cols).for_each(|i| *to.add(i) = f(*from.offset(i as isize * cs))),
                }
            }
        }
    }

    /// Writes a register to memory of a dtype.
    pub unsafe fn write(&self, loops: &Loops, dtype: DType, from: Slot, to: *mut u8) {
        // SAFETY: as in `read`.
        unsafe {
            match dtype {
                DType::F16 | DType::BF16 if self.cs == 1 => {
                    let dst = Slot { ptr: to, rs: self.rs, each: true };
                    let none = Slot::NONE;
                    let tile = Tile { rows: self.rows, cols: self.cols, dst, a: from, b: none, c: none };
                    (loops.convert)(DType::F32, dtype, &tile);
                }
                DType::F16 => self.write_as(from, to.cast::<half::f16>(), half::f16::from_f32),
                DType::BF16 => self.write_as(from, to.cast::<half::bf16>(), half::bf16::from_f32),
                _ => match dtype.size() {
                    1 => self.write_as(from, to, |x: u8| x),
                    4 => self.write_as(from, to.cast::<u32>(), |x: u32| x),
                    _ => self.write_as(from, to.cast::<u64>(), |x: u64| x),
                },
            }
        }
    }

    #[inline(always)]
    unsafe fn write_as<A: Copy, R: Copy>(&self, from: Slot, to: *mut R, f: impl Fn(A) -> R) {
        // SAFETY: as in `read`.
        unsafe {
            let step = from.each as usize;
            for row in 0..self.rows {
                let (from, to) = (from.row::<A>(row), to.offset(row as isize * self.rs));
                if self.cs == 1 && step == 1 {
                    // Said with constants, which lets the compiler use vectors.
                    (0..self.cols).for_each(|i| *to.add(i) = f(*from.add(i)));
                    continue;
                }
                (0..self.cols).for_each(|i| *to.offset(i as isize * self.cs) = f(*from.add(i * step)));
            }
        }
    }
}
