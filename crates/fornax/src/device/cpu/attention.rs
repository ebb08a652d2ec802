//! Flash attention: blocks of queries against blocks of keys, with the softmax kept up to date block by
//! block, so that the scores are never in memory as a whole.

use super::exec::Context;
use super::micro::{Part, kernels};
use super::numeric;
use super::ops::{Slot, Tile, loops};
use super::panel::*;
use super::softmax::LONG;
use super::strided::Strided;
use super::threads::each;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Binary;
use crate::kernel::{Attention, Kernel};
use crate::view::View;

/// Queries and keys of a block: all that a block needs stays in the second-level cache.
const QUERIES: usize = 128;
const KEYS: usize = 128;
/// Tasks to cut the work into where there are fewer heads.
pub(super) const TASKS: usize = 16;

/// A four-dimensional operand: `[batch, head, time, width]` once its axes are in that order.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub read: usize,
    pub dtype: DType,
    pub view: View,
}

impl Operand {
    pub fn new(kernel: &Kernel, (read, view): &(usize, View), rank: usize) -> Result<Operand> {
        match kernel.reads.get(*read) {
            Some(port) if view.mask.is_none() && view.shape.len() == rank => {
                Ok(Operand { read: *read, dtype: port.dtype, view: view.clone() })
            }
            _ => Err(Error::Internal(format!("{}: an operand that attention cannot read", kernel.label))),
        }
    }

    /// Rows `from..from + rows` of one batch and head: where they lie, or copied to `scratch`.
    pub unsafe fn rows<T: Real>(
        &self,
        context: &Context,
        (b, h): (usize, usize),
        from: usize,
        rows: usize,
        scratch: *mut T,
    ) -> Panel<T> {
        let s = &self.view.strides;
        let at = self.view.offset + b as isize * s[0] + h as isize * s[1] + from as isize * s[2];
        let ptr = context.reads[self.read].wrapping_offset(at * self.dtype.size() as isize);
        if self.dtype == T::DTYPE && s[3] == 1 {
            return Panel { ptr: ptr.cast(), rs: s[2], cs: 1 };
        }
        let width = self.view.shape[3];
        let part = Strided { rows, cols: width, rs: s[2], cs: s[3] };
        let rs = width as isize;
        // SAFETY: the view covers the rows, and the caller's scratch has room for them.
        unsafe { part.read(loops(), self.dtype, ptr, Slot { ptr: scratch.cast(), rs, each: true }) };
        Panel { ptr: scratch, rs, cs: 1 }
    }

    /// A part of one row of a mask, from `(row, col)` on: where it lies, or copied to `spare`, which has room for
    /// three of them.
    unsafe fn row<T: Real>(
        &self,
        context: &Context,
        (b, h): (usize, usize),
        (row, col): (usize, usize),
        cols: usize,
        spare: *mut T,
    ) -> Slot {
        let s = &self.view.strides;
        let at = [b, h, row, col].iter().zip(s).fold(self.view.offset, |at, (&i, &s)| at + i as isize * s);
        let ptr = context.reads[self.read].wrapping_offset(at * self.dtype.size() as isize);
        if self.dtype == T::DTYPE && (s[3] == 1 || s[3] == 0) {
            return Slot { ptr, rs: 0, each: s[3] == 1 };
        }
        let copy = Slot { ptr: spare.cast(), rs: 0, each: true };
        // SAFETY: the view covers the row; twice as much room is enough for the widest type.
        unsafe {
            Strided { rows: 1, cols, rs: 0, cs: s[3] }.read(loops(), self.dtype, ptr, copy);
            if numeric::register(self.dtype) == T::DTYPE {
                return copy;
            }
            let dst = Slot { ptr: spare.wrapping_add(2 * whole(cols)).cast(), ..copy };
            let t = Tile { rows: 1, cols, dst, a: copy, b: Slot::NONE, c: Slot::NONE };
            numeric::cast(self.dtype, T::DTYPE, &t);
            dst
        }
    }

    /// With the axes of an output `[batch, time, head, width]` in the order of an operand.
    pub fn turned(mut self) -> Operand {
        self.view = self.view.permute(&[0, 2, 1, 3]);
        self
    }
}

/// The operands that forward and backward share.
#[derive(Debug)]
pub(super) struct Inputs {
    pub q: Operand,
    pub k: Operand,
    pub v: Operand,
    pub mask: Option<Operand>,
    pub causal: bool,
    pub scale: f64,
    pub batch: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub tq: usize,
    pub tk: usize,
    pub d: usize,
    pub dv: usize,
}

impl Inputs {
    pub fn new(
        kernel: &Kernel,
        spec: &crate::graph::AttentionSpec,
        operands: [&(usize, View); 3],
        mask: Option<&(usize, View)>,
    ) -> Result<Inputs> {
        let [q, k, v] = operands.map(|o| Operand::new(kernel, o, 4));
        let (q, k, v) = (q?, k?, v?);
        let mask = mask.map(|m| Operand::new(kernel, m, 4)).transpose()?;
        let (qs, ks, vs) = (&q.view.shape, &k.view.shape, &v.view.shape);
        let sizes = (qs[0], qs[1], ks[1], qs[2], ks[2], qs[3], vs[3]);
        let fits = ks[0] == qs[0] && vs[..3] == ks[..3] && ks[3] == qs[3] && qs[1] % ks[1].max(1) == 0;
        if !fits || q.dtype != k.dtype || q.dtype != v.dtype || !q.dtype.is_float() {
            return Err(Error::Internal(format!("{}: operands that do not fit", kernel.label)));
        }
        let (batch, heads, kv_heads, tq, tk, d, dv) = sizes;
        let (causal, scale) = (spec.causal, f64::from_bits(spec.scale));
        Ok(Inputs { q, k, v, mask, causal, scale, batch, heads, kv_heads, tq, tk, d, dv })
    }

    /// Rows of queries and keys in a block.
    pub fn blocks(&self) -> (usize, usize) {
        // Few heads: lower blocks, so that there is something for every thread.
        let mut q = QUERIES;
        while q > 32 && self.batch * self.heads * self.tq.div_ceil(q) < TASKS {
            q /= 2;
        }
        let q = self.tq.min(q).max(1);
        (q, self.tk.min(if q <= 8 { 4 * KEYS } else { KEYS }).max(1))
    }

    /// The keys that a block of queries can see.
    pub fn visible(&self, q_end: usize) -> usize {
        if self.causal { self.tk.min(q_end) } else { self.tk }
    }

    /// The scores of these queries for the keys from `k0` on, and how many queries before see none of them.
    pub fn square<T: Real>(&self, (q0, rows): (usize, usize), k0: usize, bk: usize) -> (usize, Square) {
        let skip = if self.causal { k0.saturating_sub(q0) } else { 0 };
        let cols = bk.min(self.visible(q0 + rows) - k0);
        (skip, Square { q0: q0 + skip, rows: rows - skip, k0, cols, reach: kernels::<T>().mr - 1 })
    }

    /// A part of a product with scores: that which can be seen.
    pub fn part(&self, at: Square, part: fn(isize) -> Part) -> Part {
        if self.causal { part(at.q0 as isize - at.k0 as isize) } else { Part::All }
    }

    /// How much of a row can be seen: query i sees keys 0..=i.
    fn seen(&self, at: Square, row: usize) -> usize {
        if self.causal { (at.q0 + row + 1 - at.k0).min(at.cols) } else { at.cols }
    }

    /// Fills a row of a square beyond what can be seen, as far as tiles of products reach, and gives the length
    /// of all that.
    pub unsafe fn hide<T: Real>(&self, at: Square, row: usize, ptr: *mut T, x: T) -> usize {
        let seen = self.seen(at, row);
        let end = (seen + at.reach).min(at.cols).next_multiple_of(LONG);
        // SAFETY: rows of squares have room for that.
        (seen..end).for_each(|j| unsafe { *ptr.add(j) = x });
        end
    }

    /// The scores of a square, as far as they can be seen. `spare` has room for three rows.
    pub unsafe fn scores<T: Real>(
        &self,
        context: &Context,
        head: (usize, usize),
        at: Square,
        [q, s]: [Panel<T>; 2],
        k: Packed<T>,
        spare: *mut T,
    ) {
        let scale = T::from_f64(self.scale);
        // SAFETY: the caller's panels cover the square.
        unsafe {
            product((at.rows, at.cols, self.d), s, q, k, false, scale, self.part(at, Part::Result));
            let Some(mask) = &self.mask else { return };
            for row in 0..at.rows {
                let cols = self.seen(at, row);
                let to = Slot { ptr: s.row(row).cast(), rs: 0, each: true };
                let added = mask.row::<T>(context, head, (at.q0 + row, at.k0), cols, spare);
                combine::<T>(Binary::Add, 1, cols, to, to, added);
            }
        }
    }
}

/// A block of scores: these queries and keys.
#[derive(Clone, Copy)]
pub(super) struct Square {
    pub q0: usize,
    pub rows: usize,
    pub k0: usize,
    pub cols: usize,
    /// How far beyond the diagonal the tiles of products with it reach.
    reach: usize,
}

/// Compiled attention.
#[derive(Debug)]
pub(super) struct Flash {
    inputs: Inputs,
    out: Option<(usize, DType)>,
    lse: Option<usize>,
}

/// `to = factor * x`; they may be the same row.
unsafe fn scale_row<T: Real>(n: usize, x: *const T, to: *mut T, factor: T) {
    // SAFETY: the caller gives `n` elements.
    (0..n).for_each(|e| unsafe { *to.add(e) = (*x.add(e)).mul(factor) });
}

impl Flash {
    pub fn compile(kernel: &Kernel, body: &Attention) -> Result<Flash> {
        let inputs = Inputs::new(kernel, &body.spec, [&body.q, &body.k, &body.v], body.mask.as_ref())?;
        let missing = || Error::Internal(format!("{}: a result has no memory", kernel.label));
        let out =
            body.out.map(|w| kernel.writes.get(w).map(|p| (w, p.dtype)).ok_or_else(missing)).transpose()?;
        Ok(Flash { inputs, out, lse: body.lse })
    }

    pub fn launch(&self, context: &Context) {
        if self.inputs.q.dtype == DType::F64 {
            self.run::<f64>(context);
        } else {
            self.run::<f32>(context);
        }
    }

    fn run<T: Real>(&self, context: &Context) {
        let i = &self.inputs;
        let (bq, _) = i.blocks();
        let blocks = i.tq.div_ceil(bq);
        let tasks = i.batch * i.heads * blocks;
        let task = |task: usize| {
            // Late blocks see more keys: they go first.
            let block = blocks - 1 - task % blocks;
            let head = task / blocks;
            self.block::<T>(context, (head / i.heads, head % i.heads), block * bq);
        };
        if tasks * bq * i.tk * i.d <= 64 * 1024 {
            (0..tasks).for_each(task);
        } else {
            each(tasks, task);
        }
    }

    fn block<T: Real>(&self, context: &Context, (b, h): (usize, usize), q0: usize) {
        let i = &self.inputs;
        let (bq, bk) = i.blocks();
        let rows = bq.min(i.tq - q0);
        let kv = h / (i.heads / i.kv_heads);
        let (d, dv) = (i.d, i.dv);
        let (line, width) = (stride(bk), whole(dv));
        let [qs, ks, vs] = [bq * d, bk * d, bk * dv];
        let [kp, vp] = [whole(bk) * d, bk * width];
        let sizes = [qs, ks, vs, kp, vp, bq * line, bq * width, bq, bq, 3 * line];
        with_pieces::<T, _>(sizes, |[qs, ks, vs, kp, vp, s, o, top, sum, spare]| {
            let (s, o) = (Panel::new(s, line), Panel::new(o, width));
            // SAFETY: pieces have the sizes of the blocks; the views cover the operands; each task writes its
            // own rows.
            unsafe {
                let q = i.q.rows(context, (b, h), q0, rows, qs);
                (0..rows).for_each(|r| (*top.add(r), *sum.add(r)) = (T::LOWEST, T::ZERO));
                for k0 in (0..i.visible(q0 + rows)).step_by(bk) {
                    let (skip, at) = i.square::<T>((q0, rows), k0, bk);
                    let k = i.k.rows(context, (b, kv), k0, at.cols, ks).t().pack(d, at.cols, kp);
                    let v = i.v.rows(context, (b, kv), k0, at.cols, vs).pack(at.cols, dv, vp);
                    i.scores(context, (b, h), at, [q.from(skip), s], k, spare);
                    let (o, first) = (o.from(skip), k0 == 0);
                    self.soften(at, s, (!first).then_some(o), top.add(skip), sum.add(skip));
                    let part = i.part(at, Part::Left);
                    product((at.rows, dv, at.cols), o, s, v, !first, T::ONE, part);
                }
                self.store(context, (b, h), q0, rows, o, top, sum);
            }
        })
    }

    /// Takes a square of scores into the softmax of its rows: `s` becomes their weights, relative to the largest so
    /// far, and what was summed before is brought in line with it.
    unsafe fn soften<T: Real>(&self, at: Square, s: Panel<T>, o: Option<Panel<T>>, top: *mut T, sum: *mut T) {
        let loops = T::rows();
        for r in 0..at.rows {
            // SAFETY: the caller's.
            unsafe {
                let (row, top, sum) = (s.row(r), &mut *top.add(r), &mut *sum.add(r));
                let width = self.inputs.hide(at, r, row, T::LOWEST);
                let next = numeric::larger(*top, (loops.largest)(row, width));
                let keep = if *top == next { T::ONE } else { (*top).sub(next).exp() };
                *top = next;
                // Nothing seen yet: shift by zero, so that everything hidden becomes zero.
                let shift = if next == T::LOWEST { T::ZERO } else { next };
                *sum = (*sum).mul(keep).add((loops.exp_sum)(row, width, shift));
                if let Some(o) = o.filter(|_| keep != T::ONE) {
                    scale_row(self.inputs.dv, o.row(r), o.row(r), keep);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    unsafe fn store<T: Real>(
        &self,
        context: &Context,
        (b, h): (usize, usize),
        q0: usize,
        rows: usize,
        o: Panel<T>,
        top: *mut T,
        sum: *mut T,
    ) {
        let i = &self.inputs;
        // SAFETY: the caller's.
        unsafe {
            for r in 0..rows {
                let total = *sum.add(r);
                // The largest score alone adds one to the sum, and NaN is not zero.
                let unseen = total == T::ZERO;
                if let Some(write) = self.lse {
                    let lse = if unseen { T::LOWEST } else { (*top.add(r)).add(total.ln()) };
                    *context.writes[write].cast::<T>().add((b * i.heads + h) * i.tq + q0 + r) = lse;
                }
                let Some((write, dtype)) = self.out else { continue };
                let at = ((b * i.tq + q0 + r) * i.heads + h) * i.dv;
                let (row, to) = (o.row(r), context.writes[write].add(at * dtype.size()));
                let scaled = if dtype == T::DTYPE { to.cast() } else { row };
                match unseen {
                    true => (0..i.dv).for_each(|e| *scaled.add(e) = T::ZERO),
                    false => scale_row(i.dv, row, scaled, T::ONE.div(total)),
                }
                if dtype != T::DTYPE {
                    Strided { rows: 1, cols: i.dv, rs: 0, cs: 1 }.write(loops(), dtype, o.from(r).slot(), to);
                }
            }
        }
    }
}
