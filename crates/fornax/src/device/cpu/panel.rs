//! The matrices that attention works on, in scratch or in memory, and their products. Left operands are read
//! where they lie; right ones are packed, once for all the rows that meet them.

use super::micro::{Float, Pack, Part, Strips, kernels};
use super::numeric;
use super::ops::{Slot, Tile, loops};
use super::simd::level;
use super::softmax::{ROWS_F64, Rows, rows_f32};
use super::threads::with_scratch;
use crate::dtype::DType;
use crate::graph::Binary;

/// The floats that attention is computed in.
pub(super) trait Real: Float {
    const DTYPE: DType;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn from_f64(x: f64) -> Self;
    /// The loops over rows of scores.
    fn rows() -> &'static Rows<Self>;
    /// An instruction on a tile.
    unsafe fn binary_tile(op: Binary, t: &Tile);
}

impl Real for f32 {
    const DTYPE: DType = DType::F32;
    fn exp(self) -> f32 {
        f32::exp(self)
    }
    fn ln(self) -> f32 {
        f32::ln(self)
    }
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    fn rows() -> &'static Rows<f32> {
        rows_f32(level())
    }
    unsafe fn binary_tile(op: Binary, t: &Tile) {
        unsafe { (loops().binary)(op, t) }
    }
}

impl Real for f64 {
    const DTYPE: DType = DType::F64;
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    fn from_f64(x: f64) -> f64 {
        x
    }
    fn rows() -> &'static Rows<f64> {
        &ROWS_F64
    }
    unsafe fn binary_tile(op: Binary, t: &Tile) {
        unsafe { numeric::binary::<f64>(op, t) }
    }
}

/// A matrix in scratch or memory, in the type of the arithmetic.
#[derive(Clone, Copy)]
pub(super) struct Panel<T> {
    pub ptr: *mut T,
    pub rs: isize,
    pub cs: isize,
}

impl<T: Real> Panel<T> {
    /// Rows of `cols` elements.
    pub fn new(ptr: *mut T, cols: usize) -> Panel<T> {
        Panel { ptr, rs: cols as isize, cs: 1 }
    }
    pub fn t(self) -> Panel<T> {
        Panel { ptr: self.ptr, rs: self.cs, cs: self.rs }
    }
    pub fn row(self, row: usize) -> *mut T {
        self.ptr.wrapping_offset(row as isize * self.rs)
    }
    pub fn from(self, row: usize) -> Panel<T> {
        Panel { ptr: self.row(row), ..self }
    }
    /// As an operand of a tile; the columns must be contiguous.
    pub fn slot(self) -> Slot {
        Slot { ptr: self.ptr.cast(), rs: self.rs, each: true }
    }

    /// Packs `lines` x `cols` as a right operand; takes `lines * whole(cols)` elements.
    pub unsafe fn pack(self, lines: usize, cols: usize, to: *mut T) -> Packed<T> {
        let Panel { ptr, rs, cs } = self;
        // SAFETY: the caller's; the panels of a right operand are those of the transposed one.
        unsafe { (kernels::<T>().pack_right)(&Pack { from: ptr, rs: cs, ks: rs, rows: cols, k: lines, to }) };
        Packed { ptr: to, lines }
    }
}

/// A packed right operand.
#[derive(Clone, Copy)]
pub(super) struct Packed<T> {
    ptr: *const T,
    lines: usize,
}

impl<T: Real> Packed<T> {
    /// From a line on.
    pub fn from(self, line: usize) -> Packed<T> {
        Packed { ptr: self.ptr.wrapping_add(line * kernels::<T>().nr), ..self }
    }
}

/// As many columns, in whole panels of every kind of machine.
pub(super) fn whole(cols: usize) -> usize {
    cols.next_multiple_of(32)
}

/// From row to row of a block of scores: lines of the cache below each other fall into different sets of it.
pub(super) fn stride(cols: usize) -> usize {
    whole(cols) + 16
}

/// `to = scale * a b`, added to what is there if `add`. Rows of `to` have room for whole panels.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn product<T: Real>(
    (rows, cols, k): (usize, usize, usize),
    to: Panel<T>,
    a: Panel<T>,
    b: Packed<T>,
    add: bool,
    scale: T,
    part: Part,
) {
    let (Panel { ptr, rs, cs: ks }, Packed { ptr: b, lines }) = (a, b);
    let (c, crs) = (to.ptr, to.rs);
    // SAFETY: the caller's.
    unsafe {
        (kernels::<T>().strips)(&Strips { rows, cols, k, a: ptr, rs, ks, b, lines, c, crs, add, scale, part })
    }
}

/// `dst = a op b` on a tile.
pub(super) unsafe fn combine<T: Real>(op: Binary, rows: usize, cols: usize, dst: Slot, a: Slot, b: Slot) {
    let mut t = Tile { rows, cols, dst, a, b, c: Slot::NONE };
    t.flatten();
    // SAFETY: the caller's.
    unsafe { T::binary_tile(op, &t) }
}

/// Calls `f` with pieces of the thread's scratch of these many elements, each aligned to cache lines.
pub(super) fn with_pieces<T, const N: usize>(sizes: [usize; N], f: impl FnOnce([*mut T; N])) {
    let bytes = sizes.map(|n| (n * size_of::<T>()).next_multiple_of(64));
    with_scratch(bytes.iter().sum(), |scratch| {
        let mut end = scratch;
        f(bytes.map(|n| {
            end = end.wrapping_add(n);
            end.wrapping_sub(n).cast()
        }))
    })
}
