//! Blocked matrix products: both operands are packed into panels, a stretch of the inner axis at a time, and
//! blocks of the result, which are the tasks, run the micro-kernel over them. Packing absorbs strides and
//! conversions.
//!
//! ```text
//!   left: panels of mr rows      right: panels of nr columns      result
//!   |kc|kc|kc|  slab             ---- kc                          +----+----+
//!   |  |  |  |                   ---- kc   slab                   | bm |    |   a task: bm x bn, all of the slab
//!   |  |  |  |                   ---- kc                          +-bn-+----+
//! ```

use super::micro::{Float, Kernels, Pack, Tiles, kernels};
use super::numeric::{self, register};
use super::ops::{Slot, Tile, loops};
use super::strided::Strided;
use super::threads::{Shared, each, with_scratch};
use crate::dtype::DType;
use std::ops::Range;

/// The longest stretch of the inner axis that is packed together: a panel of the right operand then stays in
/// the first-level cache.
const KC: usize = 384;
/// Rows of a block: with `KC` columns they stay in the second-level cache.
const MC: usize = 192;
/// Columns of a block.
const NC: usize = 512;
/// Bytes of packed operands at a time; they should stay in the last-level cache.
const SLAB: usize = 8 << 20;
/// Blocks that a product is cut into if it is large enough, so that threads end together, and multiply-adds
/// that are worth a task.
const TASKS: usize = 24;
const TASK: usize = 1 << 20;
/// Elements that are packed by a task.
const PACK: usize = 32 << 10;

/// A block of memory; strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub ptr: *mut u8,
    pub rs: isize,
    pub cs: isize,
}

impl Block {
    /// Transposed.
    pub fn t(self) -> Block {
        Block { ptr: self.ptr, rs: self.cs, cs: self.rs }
    }
}

/// An operand where it lies.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub block: Block,
    /// Of its elements in memory, and what they are rounded to before they are multiplied.
    pub memory: DType,
    pub dtype: DType,
}

// SAFETY: as `Shared`: operands are only read while a product runs.
unsafe impl Send for Operand {}
// SAFETY: as above.
unsafe impl Sync for Operand {}

impl Operand {
    pub fn t(self) -> Operand {
        Operand { block: self.block.t(), ..self }
    }

    /// From a row and a column on.
    pub fn at(self, row: usize, col: usize) -> Operand {
        let Block { ptr, rs, cs } = self.block;
        let offset = (row as isize * rs + col as isize * cs) * self.memory.size() as isize;
        Operand { block: Block { ptr: ptr.wrapping_offset(offset), rs, cs }, ..self }
    }

    /// Calls `f` with rows and columns in the type of the arithmetic: where they lie, or converted in scratch
    /// memory.
    pub fn converted(self, rows: usize, cols: usize, f: impl FnOnce(Block)) {
        let (block, to) = (self.block, register(self.dtype));
        if self.memory == to && self.dtype == to {
            return f(block);
        }
        let wide = to.size().max(register(self.memory).size());
        with_scratch(2 * rows * cols * wide + 64, |scratch| {
            // Along the memory, so that reading is contiguous whichever way the matrix lies.
            let turned = block.rs.unsigned_abs() < block.cs.unsigned_abs();
            let (from, r, c) = if turned { (block.t(), cols, rows) } else { (block, rows, cols) };
            let second = scratch.wrapping_add(rows * cols * wide);
            let slot = |ptr| Slot { ptr, rs: c as isize, each: true };
            let tile = |dst, a| Tile { rows: 1, cols: r * c, dst, a, b: Slot::NONE, c: Slot::NONE };
            // SAFETY: scratch has room for two copies of the block.
            unsafe {
                let strided = Strided { rows: r, cols: c, rs: from.rs, cs: from.cs };
                strided.read(loops(), self.memory, from.ptr, slot(scratch));
                let mut at = scratch;
                if register(self.memory) != to {
                    numeric::cast(self.memory, to, &tile(slot(second), slot(scratch)));
                    at = second;
                }
                if self.dtype != self.memory && matches!(self.dtype, DType::F16 | DType::BF16) {
                    (loops().round_to)(self.dtype, &tile(slot(at), slot(at)));
                }
                let out = Block { ptr: at, rs: c as isize, cs: 1 };
                f(if turned { out.t() } else { out });
            }
        })
    }
}

/// Equal parts of at most `most`, in whole units.
fn even(n: usize, most: usize, unit: usize) -> usize {
    n.max(1).div_ceil(n.max(1).div_ceil(most)).next_multiple_of(unit)
}

/// How a product is cut. It depends on sizes alone, and which block an element is in does not matter to its
/// bits: only the stretches of the inner axis do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Rows and columns of a block.
    pub bm: usize,
    pub bn: usize,
    /// A stretch of the inner axis, and how much of it is packed at a time.
    pub kc: usize,
    pub slab: usize,
}

impl Cut {
    /// For one thread.
    pub fn alone<T: Float>(kernels: &Kernels<T>, m: usize, n: usize, k: usize) -> Cut {
        let kc = even(k, KC, 4);
        let (bm, bn) = (even(m, MC, kernels.mr), even(n, NC, kernels.nr));
        let packed = if bm >= m { m } else { m + n };
        let stretches = (SLAB / size_of::<T>() / packed.max(1) / kc).max(1);
        Cut { m, n, k, bm, bn, kc, slab: (stretches * kc).min(k.max(1)) }
    }

    /// For all threads. `whole` if all of the inner axis must be in one slab.
    pub fn together<T: Float>(kernels: &Kernels<T>, m: usize, n: usize, k: usize, whole: bool) -> Cut {
        let Cut { kc, slab, mut bm, mut bn, .. } = Cut::alone(kernels, m, n, k);
        let tasks = (m.saturating_mul(n).saturating_mul(k) / TASK).clamp(1, TASKS);
        let blocks = |bm: usize, bn: usize| m.div_ceil(bm) * n.div_ceil(bn);
        // A block of all rows packs its part of the right operand by itself, so it becomes narrower, as long as
        // some cache lines lie side by side. Others stay about square.
        let (low, square, narrow) = (8 * kernels.mr, (16 * kernels.mr, 8 * kernels.nr), 4 * kernels.nr);
        while blocks(bm, bn) < tasks {
            let lower = bn <= narrow || bm < m && bn <= square.1 && bm > square.0;
            if !lower {
                bn = even(n, bn - kernels.nr, kernels.nr);
            } else if bm > low && (bn > narrow || blocks(bm, bn) < tasks.min(8)) {
                bm = even(m, bm - kernels.mr, kernels.mr);
            } else {
                break;
            }
        }
        Cut { m, n, k, bm, bn, kc, slab: if whole { k } else { slab } }
    }

    /// How many blocks.
    pub fn blocks(&self) -> usize {
        self.m.div_ceil(self.bm) * self.n.div_ceil(self.bn)
    }

    fn block(&self, index: usize) -> (Range<usize>, Range<usize>) {
        let rows = self.m.div_ceil(self.bm);
        let (m0, n0) = (index % rows * self.bm, index / rows * self.bn);
        (m0..(m0 + self.bm).min(self.m), n0..(n0 + self.bn).min(self.n))
    }

    /// Whether a block has all rows, so that nobody else wants its part of the right operand.
    fn has_all_rows(&self) -> bool {
        self.bm >= self.m
    }

    /// The stretches of a slab.
    fn stretches(&self, slab: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (kc, end) = (self.kc, slab.end);
        slab.clone().step_by(kc).map(move |k| k..(k + kc).min(end))
    }
}

/// A product to be computed.
pub(super) struct Gemm<T: 'static> {
    pub kernels: &'static Kernels<T>,
    pub cut: Cut,
    pub left: Operand,
    pub right: Operand,
    pub scale: T,
    /// Whether it is added to what is there.
    pub add: bool,
}

/// Where the packed operands of a slab lie.
#[derive(Clone, Copy)]
struct Packed<T> {
    left: Shared<T>,
    right: Shared<T>,
}

impl<T: Float> Gemm<T> {
    /// Multiplies on all threads. `block` is called once for each block and slab, with its rows and columns,
    /// a function that puts the product (so far) somewhere, and whether it is then complete. The place must
    /// be the same for every slab.
    pub fn parallel(&self, block: impl Fn(Range<usize>, Range<usize>, &dyn Fn(Block), bool) + Send + Sync) {
        let cut = &self.cut;
        let slabs = cut.k.div_ceil(cut.slab);
        let slab = |s: usize| s * cut.slab..((s + 1) * cut.slab).min(cut.k);
        let room = self.room();
        let bytes = (room.0 + room.1) * size_of::<T>();
        with_scratch(if slabs > 1 { 2 * bytes } else { bytes }, |scratch| {
            let packed = |s: usize| {
                let left: *mut T = scratch.wrapping_add(s % 2 * bytes).cast();
                Packed { left: Shared(left), right: Shared(left.wrapping_add(room.0)) }
            };
            let first = packed(0);
            each(self.packs(&slab(0)), |task| self.pack(&slab(0), task, first));
            for s in 0..slabs {
                let (now, next) = (packed(s), packed(s + 1));
                let packs = if s + 1 < slabs { self.packs(&slab(s + 1)) } else { 0 };
                each(packs + cut.blocks(), |task| {
                    if task < packs {
                        return self.pack(&slab(s + 1), task, next);
                    }
                    let (rows, cols) = cut.block(task - packs);
                    let multiply = |to: Block| self.block(now, &slab(s), rows.clone(), cols.clone(), to);
                    block(rows.clone(), cols.clone(), &multiply, s + 1 == slabs);
                });
            }
        })
    }

    /// Multiplies on this thread.
    pub fn serial(&self, to: Block) {
        let cut = &self.cut;
        let room = self.room();
        with_scratch((room.0 + room.1) * size_of::<T>(), |scratch| {
            let left: *mut T = scratch.cast();
            let packed = Packed { left: Shared(left), right: Shared(left.wrapping_add(room.0)) };
            for k in (0..cut.k).step_by(cut.slab) {
                let slab = k..(k + cut.slab).min(cut.k);
                (0..self.packs(&slab)).for_each(|task| self.pack(&slab, task, packed));
                for index in 0..cut.blocks() {
                    let (rows, cols) = cut.block(index);
                    let offset = rows.start as isize * to.rs + cols.start as isize * to.cs;
                    let ptr = to.ptr.wrapping_offset(offset * size_of::<T>() as isize);
                    self.block(packed, &slab, rows, cols, Block { ptr, ..to });
                }
            }
        })
    }

    /// Elements of the packed operands of a slab.
    fn room(&self) -> (usize, usize) {
        let cut = &self.cut;
        let left = cut.m.next_multiple_of(self.kernels.mr) * cut.slab;
        let right = if cut.has_all_rows() { 0 } else { cut.n.next_multiple_of(self.kernels.nr) * cut.slab };
        (left.next_multiple_of(16), right)
    }

    /// Rows of the left operand, or columns of the right one, that are packed together.
    fn strip(&self, unit: usize) -> usize {
        (PACK / self.cut.kc.max(1)).max(1).next_multiple_of(unit)
    }

    /// How many tasks packing is.
    fn packs(&self, slab: &Range<usize>) -> usize {
        let right =
            if self.cut.has_all_rows() { 0 } else { self.cut.n.div_ceil(self.strip(self.kernels.nr)) };
        slab.len().div_ceil(self.cut.kc) * (self.cut.m.div_ceil(self.strip(self.kernels.mr)) + right)
    }

    fn pack(&self, slab: &Range<usize>, task: usize, to: Packed<T>) {
        let cut = &self.cut;
        let stretches = slab.len().div_ceil(cut.kc);
        let (strip, k0) = (task / stretches, slab.start + task % stretches * cut.kc);
        let k = k0..(k0 + cut.kc).min(slab.end);
        let lefts = cut.m.div_ceil(self.strip(self.kernels.mr));
        let kernels = self.kernels;
        let (operand, size, unit, to, strip, pack) = match strip < lefts {
            true => (self.left, cut.m, kernels.mr, to.left, strip, kernels.pack_left),
            // The panels of the right operand are those of the transposed one.
            false => (self.right.t(), cut.n, kernels.nr, to.right, strip - lefts, kernels.pack_right),
        };
        let row = strip * self.strip(unit);
        let rows = self.strip(unit).min(size - row);
        let place = size.next_multiple_of(unit) * (k.start - slab.start) + row * k.len();
        operand.at(row, k.start).converted(rows, k.len(), |from| {
            let (to, from_at) = (to.at(place as isize), from.ptr.cast_const().cast());
            // SAFETY: the operand covers the part, and each task packs into its own place.
            unsafe { pack(&Pack { from: from_at, rs: from.rs, ks: from.cs, rows, k: k.len(), to }) }
        });
    }

    /// A block over a slab.
    fn block(
        &self,
        packed: Packed<T>,
        slab: &Range<usize>,
        rows: Range<usize>,
        cols: Range<usize>,
        to: Block,
    ) {
        let cut = &self.cut;
        let Kernels { mr, nr, tiles, pack_right, .. } = *self.kernels;
        for k in cut.stretches(slab) {
            let line = |size: usize, unit: usize, from: usize| {
                (size.next_multiple_of(unit) * (k.start - slab.start) + from * k.len()) as isize
            };
            let run = |b: *const T| {
                let t = Tiles {
                    rows: rows.len(),
                    cols: cols.len(),
                    k: k.len(),
                    a: packed.left.at(line(cut.m, mr, rows.start)),
                    b,
                    c: to.ptr.cast(),
                    rs: to.rs,
                    cs: to.cs,
                    add: self.add || k.start > 0,
                    scale: self.scale,
                };
                // SAFETY: the panels are packed, and the block of the result is this task's own.
                unsafe { tiles(&t) };
            };
            if !cut.has_all_rows() {
                run(packed.right.at(line(cut.n, nr, cols.start)));
                continue;
            }
            let room = cols.len().next_multiple_of(nr) * k.len();
            self.right.at(k.start, cols.start).converted(k.len(), cols.len(), |b| {
                with_scratch(room * size_of::<T>(), |to| {
                    let (from, to, rows) = (b.ptr.cast_const().cast(), to.cast::<T>(), cols.len());
                    // SAFETY: the operand covers the part, and there is room for it.
                    unsafe { pack_right(&Pack { from, rs: b.cs, ks: b.rs, rows, k: k.len(), to }) };
                    run(to);
                })
            });
        }
    }
}

/// `to = scale * a b` on this thread, added to what is there if `add`.
#[allow(clippy::too_many_arguments)]
pub(super) fn multiply<T: Float>(
    (m, n, k): (usize, usize, usize),
    to: Block,
    a: Operand,
    b: Operand,
    add: bool,
    scale: T,
) {
    let kernels = kernels::<T>();
    // Rows of the result should be contiguous; if its columns are, it is the transposed product.
    let turned = to.cs != 1 && to.rs == 1;
    let (m, n, left, right, to) = if turned { (n, m, b.t(), a.t(), to.t()) } else { (m, n, a, b, to) };
    Gemm { kernels, cut: Cut::alone(kernels, m, n, k), left, right, scale, add }.serial(to);
}
