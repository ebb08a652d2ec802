//! Matrix products: blocks of the result are tasks; each is a call of the `gemm` crate (or a kernel for few
//! rows, or a plain loop for integers) straight into the result's memory where that can be, followed by the
//! epilogue on the block while it is in the cache.

use super::compile::{self, Epilogue};
use super::exec::{Context, Worker};
use super::fused::INLINE;
use super::numeric::{self, Number, register, with_register};
use super::ops::{Slot, Tile, loops};
use super::rows::{FewRows, few_rows};
use super::strided::Strided;
use super::threads::{Shared, each, with_scratch};
use super::tile::Program;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::{Inst, Kernel, MatMul, Matrix, Source};
use crate::view::View;

/// Multiply-adds that make a task, and the most tasks one product is cut into.
const TASK: usize = 8 << 20;
const TASKS: usize = 64;
/// With at most this many rows (or columns) reading the other operand is all the work.
const FEW: usize = 4;

/// A compiled matrix product.
#[derive(Debug)]
pub(super) struct Product {
    /// The type of the arithmetic.
    dtype: DType,
    batch: Vec<usize>,
    m: usize,
    n: usize,
    k: usize,
    left: Side,
    right: Side,
    /// The write whose memory takes the product, and how it lies there.
    direct: Option<(usize, View)>,
    /// What is left to do with the product.
    epilogue: Option<Program>,
    /// Rows and columns of a block, and how many batch items make a task.
    block: (usize, usize, usize),
}

/// An operand: where it lies, and whether it must be converted.
#[derive(Debug)]
struct Side {
    read: usize,
    memory: DType,
    /// What the elements are rounded to.
    dtype: DType,
    view: View,
}

impl Side {
    fn new(kernel: &Kernel, matrix: &Matrix) -> Result<Side> {
        let port = kernel.reads.get(matrix.read).filter(|_| matrix.view.mask.is_none());
        let memory = port.ok_or_else(|| Error::Internal("matmul: an operand is not there".into()))?.dtype;
        Ok(Side { read: matrix.read, memory, dtype: matrix.dtype, view: matrix.view.clone() })
    }

    /// Whether the arithmetic can read the memory itself.
    fn is_ready(&self) -> bool {
        self.memory == self.dtype && register(self.dtype) == self.dtype
    }

    /// The row and column strides.
    fn strides(&self) -> (isize, isize) {
        let n = self.view.strides.len();
        (self.view.strides[n - 2], self.view.strides[n - 1])
    }
}

/// Where a row-major batch index lies.
fn batch_offset(view: &View, batch: &[usize], index: usize) -> isize {
    let (mut left, mut offset) = (index, view.offset);
    for axis in (0..batch.len()).rev() {
        offset += (left % batch[axis]) as isize * view.strides[axis];
        left /= batch[axis];
    }
    offset
}

/// How many pieces to cut m and n into: about square ones, none thinner than is good for the microkernel.
fn cut(m: usize, n: usize, k: usize, batch: usize) -> (usize, usize) {
    let work = m.saturating_mul(n).saturating_mul(k);
    let tasks = (work / TASK).clamp(1, TASKS.div_ceil(batch));
    let (mut rows, mut cols) = (1, 1);
    while rows * cols < tasks {
        if m / rows > n / cols && m / rows >= 64 {
            rows += 1;
        } else if n / cols >= 64 {
            cols += 1;
        } else if m / rows >= 64 {
            rows += 1;
        } else {
            break;
        }
    }
    (rows, cols)
}

impl Product {
    pub fn compile(kernel: &Kernel, body: &MatMul) -> Result<Product> {
        let (left, right) = (Side::new(kernel, &body.left)?, Side::new(kernel, &body.right)?);
        let dtype = register(left.dtype);
        let fits = |side: &Side, r: usize, c: usize| {
            side.view.shape.ends_with(&[r, c]) && side.view.shape.len() == body.batch.len() + 2
        };
        let segment = body.epilogue.segments.first();
        let (true, true, Some(segment), true) = (
            fits(&left, body.m, body.k),
            fits(&right, body.k, body.n),
            segment,
            register(right.dtype) == dtype,
        ) else {
            return Err(Error::Internal(format!("{}: operands that do not fit", kernel.label)));
        };
        // The product may go to the memory of a store of its type that is nobody's operand; best one that
        // stores the product itself.
        let is_product = |v: crate::kernel::Val| {
            matches!(body.epilogue.program[v.index()].inst,
                Inst::Load(n) if segment.loads[n].source == Source::Product)
        };
        let free = |s: &usize| {
            let store = &segment.stores[*s];
            kernel.writes.get(store.write).is_some_and(|p| p.dtype == dtype)
                && kernel.in_place.iter().all(|(w, _)| *w != store.write)
                && store.view.mask.is_none()
        };
        let stores = 0..segment.stores.len();
        let first = stores.clone().filter(free).find(|&s| is_product(body.epilogue.stores[s]));
        let direct = first.or_else(|| stores.clone().find(free));
        let plain = segment.stores.len() == 1 && first.is_some();
        let batches: usize = body.batch.iter().product();
        let (rows, cols) = cut(body.m, body.n, body.k, batches);
        let block = |n: usize, pieces: usize| n.div_ceil(pieces).next_multiple_of(16).min(n);
        let work = body.m.saturating_mul(body.n).saturating_mul(body.k);
        let mut block = (block(body.m, rows), block(body.n, cols), (TASK / 8 / work.max(1)).max(1));
        let few = body.m <= FEW || body.n <= FEW;
        if few && register(dtype) == DType::F32 {
            // Little arithmetic, much memory: about 256 KiB of it for each task.
            let strip = (65536 / body.k).max(32);
            block =
                if body.m <= FEW { (body.m, strip.min(body.n), 1) } else { (strip.min(body.m), body.n, 1) };
            block.2 = (65536 / body.k / body.m.max(body.n)).max(1);
        }
        let mut epilogue = body.epilogue.clone();
        for load in epilogue.segments.iter_mut().flat_map(|s| &mut s.loads) {
            if load.source == Source::Product {
                load.view = match direct {
                    Some(s) => segment.stores[s].view.clone(),
                    // A block of its own: see `run_block`.
                    None => {
                        let mut view = View::contiguous(&load.view.shape);
                        let rank = view.strides.len();
                        view.strides.iter_mut().for_each(|s| *s = 0);
                        view.strides[rank - 2] = block.1 as isize;
                        view.strides[rank - 1] = 1;
                        view
                    }
                };
            }
        }
        let product_in = direct.map(|s| segment.stores[s].write);
        let program = match plain {
            true => None,
            false => {
                let how = Epilogue { product_in };
                Some(compile::compile(kernel, &epilogue, &epilogue.segments[0], Some(how))?)
            }
        };
        Ok(Product {
            dtype,
            batch: body.batch.to_vec(),
            m: body.m,
            n: body.n,
            k: body.k,
            left,
            right,
            direct: direct.map(|s| (segment.stores[s].write, segment.stores[s].view.clone())),
            epilogue: program,
            block,
        })
    }

    /// Whether one thread does it all.
    pub fn is_small(&self) -> bool {
        let results = self.batch.iter().product::<usize>().saturating_mul(self.m * self.n);
        results.saturating_mul(self.k + 8) <= 4 * INLINE
    }

    pub fn launch(&self, context: &Context) {
        let batches: usize = self.batch.iter().product();
        let (bm, bn, items) = self.block;
        let (rows, cols) = (self.m.div_ceil(bm), self.n.div_ceil(bn));
        let tasks = batches.div_ceil(items);
        let run = |task: usize| {
            let (group, block) = (task / (rows * cols), task % (rows * cols));
            let (m0, n0) = (block / cols * bm, block % cols * bn);
            let (m1, n1) = ((m0 + bm).min(self.m), (n0 + bn).min(self.n));
            for batch in group * items..((group + 1) * items).min(batches) {
                self.run_block(context, batch, (m0, m1), (n0, n1));
            }
        };
        if self.is_small() {
            (0..tasks * rows * cols).for_each(run);
        } else {
            each(tasks * rows * cols, run);
        }
    }

    fn run_block(&self, context: &Context, batch: usize, m: (usize, usize), n: (usize, usize)) {
        let size = self.dtype.size();
        let rows = m.1 - m.0;
        let finish = |product: *mut u8| {
            if let Some(program) = &self.epilogue {
                Worker::with(program, context, Shared(product), |w| w.map_box(batch, m.0..m.1, n.0..n.1));
            }
        };
        match &self.direct {
            Some((write, view)) => {
                let rank = view.strides.len();
                let (rs, cs) = (view.strides[rank - 2], view.strides[rank - 1]);
                let offset = batch_offset(view, &self.batch, batch) + m.0 as isize * rs + n.0 as isize * cs;
                let memory = context.writes[*write];
                let to = Target { ptr: memory.wrapping_offset(offset * size as isize), rs, cs };
                self.multiply(context, batch, m, n, to);
                finish(memory);
            }
            None => with_scratch(rows * self.block.1 * size, |scratch| {
                let rs = self.block.1 as isize;
                self.multiply(context, batch, m, n, Target { ptr: scratch, rs, cs: 1 });
                // The epilogue addresses (row, column) of the whole; the block's corner is at the start.
                let corner = (m.0 as isize * rs + n.0 as isize) * size as isize;
                finish(scratch.wrapping_offset(-corner));
            }),
        }
    }

    /// The product of a block, without the epilogue.
    fn multiply(&self, context: &Context, batch: usize, m: (usize, usize), n: (usize, usize), to: Target) {
        let (rows, cols, k) = (m.1 - m.0, n.1 - n.0, self.k);
        let corner = |side: &Side, row: usize, col: usize| {
            let (rs, cs) = side.strides();
            let offset = batch_offset(&side.view, &self.batch, batch) + row as isize * rs + col as isize * cs;
            Block {
                ptr: context.reads[side.read].wrapping_offset(offset * side.memory.size() as isize),
                rs,
                cs,
            }
        };
        let (a, b) = (corner(&self.left, m.0, 0), corner(&self.right, 0, n.0));
        if self.dtype == DType::F32 && self.m <= FEW && self.right.memory == self.right.dtype {
            let narrow = FewRows { rows, cols, k, wide: b, dtype: self.right.memory, to };
            return converted(&self.left, a, rows, k, |a| few_rows(&narrow, a));
        }
        if self.dtype == DType::F32 && self.n <= FEW && self.left.memory == self.left.dtype {
            // The transposed problem.
            let to = Target { ptr: to.ptr, rs: to.cs, cs: to.rs };
            let narrow = FewRows { rows: cols, cols: rows, k, wide: a.t(), dtype: self.left.memory, to };
            return converted(&self.right, b, k, cols, |b| few_rows(&narrow, b.t()));
        }
        converted(&self.left, a, rows, k, |a| {
            converted(&self.right, b, k, cols, |b| {
                // SAFETY: the views cover the block, and the target is this task's own.
                unsafe {
                    match self.dtype {
                        DType::F32 => call_gemm::<f32>(rows, cols, k, to, a, b, false, 0.0, 1.0),
                        DType::F64 => call_gemm::<f64>(rows, cols, k, to, a, b, false, 0.0, 1.0),
                        _ => with_register!(self.dtype, plain_product(rows, cols, k, to, a, b)),
                    }
                }
            })
        })
    }
}

/// Where a block of the product goes; strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub ptr: *mut u8,
    pub rs: isize,
    pub cs: isize,
}

/// A block of an operand; strides in elements.
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

/// Calls `f` with a block in the type of the arithmetic: itself, or converted in scratch memory.
fn converted(side: &Side, block: Block, rows: usize, cols: usize, f: impl FnOnce(Block)) {
    if side.is_ready() {
        return f(block);
    }
    let to = register(side.dtype);
    let wide = to.size().max(register(side.memory).size());
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
            strided.read(loops(), side.memory, from.ptr, slot(scratch));
            let mut at = scratch;
            if register(side.memory) != to {
                numeric::cast(side.memory, to, &tile(slot(second), slot(scratch)));
                at = second;
            }
            if side.dtype != side.memory && matches!(side.dtype, DType::F16 | DType::BF16) {
                (loops().round_to)(side.dtype, &tile(slot(at), slot(at)));
            }
            let out = Block { ptr: at, rs: c as isize, cs: 1 };
            f(if turned { out.t() } else { out });
        }
    })
}

/// `to = keep * to + factor * a b`; what is there is read only if `add`.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn call_gemm<T: Copy + 'static>(
    m: usize,
    n: usize,
    k: usize,
    to: Target,
    a: Block,
    b: Block,
    add: bool,
    keep: T,
    factor: T,
) {
    // SAFETY: the caller's.
    unsafe {
        gemm::gemm::<T>(
            m,
            n,
            k,
            to.ptr.cast(),
            to.cs,
            to.rs,
            add,
            a.ptr.cast(),
            a.cs,
            a.rs,
            b.ptr.cast(),
            b.cs,
            b.rs,
            keep,
            factor,
            false,
            false,
            false,
            gemm::Parallelism::None,
        )
    }
}

/// Integers, element by element; sums wrap.
unsafe fn plain_product<T: Number>(m: usize, n: usize, k: usize, to: Target, a: Block, b: Block) {
    for i in 0..m as isize {
        for j in 0..n as isize {
            let mut sum = T::default();
            // SAFETY: the caller's.
            unsafe {
                for p in 0..k as isize {
                    let x = *a.ptr.cast::<T>().offset(i * a.rs + p * a.cs);
                    sum = sum.add(x.mul(*b.ptr.cast::<T>().offset(p * b.rs + j * b.cs)));
                }
                *to.ptr.cast::<T>().offset(i * to.rs + j * to.cs) = sum;
            }
        }
    }
}
