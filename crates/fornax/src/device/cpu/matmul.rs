//! Matrix products: blocks of the result are tasks; each is computed by `gemm` (or a kernel for few rows, or a
//! plain loop for integers) straight into the result's memory where that can be, followed by the epilogue on the
//! block while it is in the cache.

use super::compile::{self, Epilogue};
use super::exec::{Context, Worker};
use super::fused::INLINE;
use super::gemm::{Block, Cut, Gemm, Operand, multiply};
use super::micro::{Float, kernels};
use super::numeric::{Number, register, with_register};
use super::rows::{FewRows, few_rows};
use super::threads::{Shared, each, with_scratch};
use super::tile::Program;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::{Inst, Kernel, MatMul, Matrix, Source};
use crate::view::View;
use std::ops::Range;

/// Multiply-adds that make a task.
const TASK: usize = 1 << 20;
/// Results of a batch item that still fit a cache, so that one thread may do it alone.
const ITEM: usize = 64 << 10;
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
    how: How,
    /// Rows and columns of a block of the product as it lies in scratch memory.
    block: (usize, usize),
}

/// Who computes it.
#[derive(Debug)]
enum How {
    /// Tasks are this many batch items, or blocks of one.
    Alone(usize),
    /// All threads work on one batch item. The transposed product, if the columns of the result are contiguous.
    Together { cut: Cut, turned: bool },
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

    /// One batch item.
    fn item(&self, context: &Context, batch: &[usize], index: usize) -> Operand {
        let rank = self.view.strides.len();
        let offset = batch_offset(&self.view, batch, index) * self.memory.size() as isize;
        let block = Block {
            ptr: context.reads[self.read].wrapping_offset(offset),
            rs: self.view.strides[rank - 2],
            cs: self.view.strides[rank - 1],
        };
        Operand { block, memory: self.memory, dtype: self.dtype }
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
        let (m, n, k) = (body.m, body.n, body.k);
        let batches: usize = body.batch.iter().product();
        let work = m.saturating_mul(n).saturating_mul(k);
        let few = dtype == DType::F32 && (m <= FEW || n <= FEW);
        let single = work <= TASK / 2 || batches >= 8 && m.saturating_mul(n) <= ITEM;
        let (how, block) = if few {
            // Little arithmetic, much memory: about 256 KiB of it for each task.
            let strip = (65536 / k).max(32);
            let block = if m <= FEW { (m, strip.min(n)) } else { (strip.min(m), n) };
            (How::Alone((65536 / k / m.max(n)).max(1)), block)
        } else if !dtype.is_float() {
            (How::Alone((TASK / work.max(1)).max(1)), ((TASK / n / k).clamp(1, m), n))
        } else if single {
            (How::Alone((TASK / work.max(1)).max(1)), (m, n))
        } else {
            let view = direct.map(|s| &segment.stores[s].view);
            let turned = view.is_some_and(|v| v.strides[v.strides.len() - 2..] == [1, m as isize]);
            let (rows, cols) = if turned { (n, m) } else { (m, n) };
            let cut = match dtype {
                DType::F64 => Cut::together(kernels::<f64>(), rows, cols, k, direct.is_none()),
                _ => Cut::together(kernels::<f32>(), rows, cols, k, direct.is_none()),
            };
            (How::Together { cut, turned }, if turned { (cut.bn, cut.bm) } else { (cut.bm, cut.bn) })
        };
        let mut epilogue = body.epilogue.clone();
        for load in epilogue.segments.iter_mut().flat_map(|s| &mut s.loads) {
            if load.source == Source::Product {
                load.view = match direct {
                    Some(s) => segment.stores[s].view.clone(),
                    // A block of its own: see `place`.
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
                let how = Epilogue { product_in, cols: block.1 };
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
            how,
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
        match self.how {
            How::Together { cut, turned } => {
                for batch in 0..batches {
                    match self.dtype {
                        DType::F64 => self.together::<f64>(context, batch, cut, turned),
                        _ => self.together::<f32>(context, batch, cut, turned),
                    }
                }
            }
            How::Alone(items) => {
                let (bm, bn) = self.block;
                let (rows, cols) = (self.m.div_ceil(bm), self.n.div_ceil(bn));
                let run = |task: usize| {
                    let (group, block) = (task / (rows * cols), task % (rows * cols));
                    let (m0, n0) = (block / cols * bm, block % cols * bn);
                    let (m, n) = (m0..(m0 + bm).min(self.m), n0..(n0 + bn).min(self.n));
                    for batch in group * items..((group + 1) * items).min(batches) {
                        let multiply = |to: Block| self.multiply(context, batch, m.clone(), n.clone(), to);
                        self.place(context, batch, m.clone(), n.clone(), &multiply, true);
                    }
                };
                let tasks = batches.div_ceil(items) * rows * cols;
                if self.is_small() { (0..tasks).for_each(run) } else { each(tasks, run) }
            }
        }
    }

    /// One batch item on all threads.
    fn together<T: Float>(&self, context: &Context, batch: usize, cut: Cut, turned: bool) {
        let [left, right] = [&self.left, &self.right].map(|side| side.item(context, &self.batch, batch));
        let (left, right) = if turned { (right.t(), left.t()) } else { (left, right) };
        let gemm = Gemm { kernels: kernels::<T>(), cut, left, right, scale: T::ONE, add: false };
        gemm.parallel(|rows, cols, multiply, complete| {
            if turned {
                let multiply = |to: Block| multiply(to.t());
                self.place(context, batch, cols, rows, &multiply, complete);
            } else {
                self.place(context, batch, rows, cols, multiply, complete);
            }
        });
    }

    /// Has a block of the product put where it belongs; if that completes it, the epilogue follows.
    fn place(
        &self,
        context: &Context,
        batch: usize,
        m: Range<usize>,
        n: Range<usize>,
        multiply: &dyn Fn(Block),
        complete: bool,
    ) {
        let size = self.dtype.size();
        let finish = |product: *mut u8| match &self.epilogue {
            Some(program) if complete => {
                Worker::with(program, context, Shared(product), |w| w.map_box(batch, m.clone(), n.clone()));
            }
            _ => {}
        };
        match &self.direct {
            Some((write, view)) => {
                let rank = view.strides.len();
                let (rs, cs) = (view.strides[rank - 2], view.strides[rank - 1]);
                let corner = m.start as isize * rs + n.start as isize * cs;
                let offset = batch_offset(view, &self.batch, batch) + corner;
                let memory = context.writes[*write];
                multiply(Block { ptr: memory.wrapping_offset(offset * size as isize), rs, cs });
                finish(memory);
            }
            None => with_scratch(m.len() * self.block.1 * size, |scratch| {
                let rs = self.block.1 as isize;
                multiply(Block { ptr: scratch, rs, cs: 1 });
                // The epilogue addresses (row, column) of the whole; the block's corner is at the start.
                let corner = (m.start as isize * rs + n.start as isize) * size as isize;
                finish(scratch.wrapping_offset(-corner));
            }),
        }
    }

    /// The product of a block, without the epilogue, on this thread.
    fn multiply(&self, context: &Context, batch: usize, m: Range<usize>, n: Range<usize>, to: Block) {
        let (rows, cols, k) = (m.len(), n.len(), self.k);
        let a = self.left.item(context, &self.batch, batch).at(m.start, 0);
        let b = self.right.item(context, &self.batch, batch).at(0, n.start);
        if self.dtype == DType::F32 && self.m <= FEW && b.memory == b.dtype {
            let narrow = FewRows { rows, cols, k, wide: b.block, dtype: b.memory, to };
            return a.converted(rows, k, |a| few_rows(&narrow, a));
        }
        if self.dtype == DType::F32 && self.n <= FEW && a.memory == a.dtype {
            // The transposed problem.
            let narrow =
                FewRows { rows: cols, cols: rows, k, wide: a.block.t(), dtype: a.memory, to: to.t() };
            return b.converted(k, cols, |b| few_rows(&narrow, b.t()));
        }
        match self.dtype {
            DType::F32 => multiply((rows, cols, k), to, a, b, false, 1f32),
            DType::F64 => multiply((rows, cols, k), to, a, b, false, 1f64),
            _ => a.converted(rows, k, |a| {
                b.converted(k, cols, |b| {
                    // SAFETY: the views cover the block, and the target is this task's own.
                    unsafe { with_register!(self.dtype, plain_product(rows, cols, k, to, a, b)) }
                })
            }),
        }
    }
}

/// Integers, element by element; sums wrap.
unsafe fn plain_product<T: Number>(m: usize, n: usize, k: usize, to: Block, a: Block, b: Block) {
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
