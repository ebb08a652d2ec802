//! Flash attention: blocks of queries against blocks of keys, with the softmax kept up to date block by
//! block, so that the scores are never in memory as a whole.

use super::exec::Context;
use super::gemm::{Block, Operand as Factor, multiply};
use super::micro::Float;
use super::numeric;
use super::ops::{Slot, Tile, loops};
use super::strided::Strided;
use super::threads::{each, with_scratch};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Binary, Reduce};
use crate::kernel::{Attention, Kernel};
use crate::view::View;

/// The floats that attention is computed in.
pub(super) trait Real: Float {
    const DTYPE: DType;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn from_f64(x: f64) -> Self;
    /// `dst = exp(a - b)` with one `b` a row, and the rows' sums in `c`.
    unsafe fn exp_sum_tile(t: &Tile);
    /// An instruction on a tile.
    unsafe fn binary_tile(op: Binary, t: &Tile);
    unsafe fn reduce_tile(op: Reduce, t: &Tile);
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
    unsafe fn exp_sum_tile(t: &Tile) {
        unsafe { (loops().exp_sum)(t) }
    }
    unsafe fn binary_tile(op: Binary, t: &Tile) {
        unsafe { (loops().binary)(op, t) }
    }
    unsafe fn reduce_tile(op: Reduce, t: &Tile) {
        unsafe { (loops().reduce)(op, true, t) }
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
    unsafe fn exp_sum_tile(t: &Tile) {
        for row in 0..t.rows {
            unsafe {
                let (dst, a): (*mut f64, *const f64) = (t.dst.row(row), t.a.row(row));
                let (shift, mut sum) = (*t.b.row::<f64>(row), 0.0);
                for i in 0..t.cols {
                    let x = f64::exp(*a.add(i) - shift);
                    *dst.add(i) = x;
                    sum += x;
                }
                *t.c.ptr.cast::<f64>().add(row) = sum;
            }
        }
    }
    unsafe fn binary_tile(op: Binary, t: &Tile) {
        unsafe { numeric::binary::<f64>(op, t) }
    }
    unsafe fn reduce_tile(op: Reduce, t: &Tile) {
        unsafe { super::reduce::reduce_any::<f64>(op, true, t) }
    }
}

/// A matrix in scratch or memory, in the type of the arithmetic.
#[derive(Clone, Copy)]
pub(super) struct Panel<T> {
    pub ptr: *mut T,
    pub rs: isize,
    pub cs: isize,
}

impl<T: Copy> Panel<T> {
    fn block(self) -> Block {
        Block { ptr: self.ptr.cast(), rs: self.rs, cs: self.cs }
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
}

/// `to = scale * a b`, added to what is there if `add`.
pub(super) unsafe fn product<T: Real>(
    sizes: (usize, usize, usize),
    to: Panel<T>,
    a: Panel<T>,
    b: Panel<T>,
    add: bool,
    scale: T,
) {
    let [a, b] = [a, b].map(|p| Factor { block: p.block(), memory: T::DTYPE, dtype: T::DTYPE });
    multiply::<T>(sizes, to.block(), a, b, add, scale);
}

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
        // Lower blocks leave out more of the hidden half, which counts where there are few of them.
        let q = self.tq.min(if self.causal && self.tq <= 256 { 64 } else { 128 });
        (q, self.tk.min(if q <= 8 { 1024 } else { 256 }))
    }

    /// The keys that a block of queries can see.
    pub fn visible(&self, q_end: usize) -> usize {
        if self.causal { self.tk.min(q_end) } else { self.tk }
    }

    /// The scores of a block, `rows` x `cols`, with what is hidden at minus infinity.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn scores<T: Real>(
        &self,
        context: &Context,
        (b, h): (usize, usize),
        (q0, rows): (usize, usize),
        (k0, cols): (usize, usize),
        q: Panel<T>,
        k: Panel<T>,
        s: Panel<T>,
        spare: *mut T,
    ) {
        // SAFETY: the caller's panels cover the block; `spare` has room for a row of scores.
        unsafe {
            product((rows, cols, self.d), s, q, k.t(), false, T::from_f64(self.scale));
            for i in 0..rows {
                let row = Panel { ptr: s.row(i), rs: 0, cs: 1 };
                if let Some(mask) = &self.mask {
                    let st = &mask.view.strides;
                    let at = mask.view.offset
                        + b as isize * st[0]
                        + h as isize * st[1]
                        + (q0 + i) as isize * st[2]
                        + k0 as isize * st[3];
                    let ptr = context.reads[mask.read].wrapping_offset(at * mask.dtype.size() as isize);
                    let part = Strided { rows: 1, cols, rs: 0, cs: st[3] };
                    let added = Slot { ptr: spare.cast(), rs: 0, each: true };
                    if mask.dtype == T::DTYPE && (st[3] == 1 || st[3] == 0) {
                        let b = Slot { ptr, rs: 0, each: st[3] == 1 };
                        combine::<T>(Binary::Add, 1, cols, row.slot(), row.slot(), b);
                    } else {
                        part.read(loops(), mask.dtype, ptr, added);
                        if numeric::register(mask.dtype) != T::DTYPE {
                            let wide = spare.wrapping_add(cols.next_multiple_of(16));
                            let dst = Slot { ptr: wide.cast(), ..added };
                            let none = Slot::NONE;
                            let t = Tile { rows: 1, cols, dst, a: added, b: none, c: none };
                            numeric::cast(mask.dtype, T::DTYPE, &t);
                            combine::<T>(Binary::Add, 1, cols, row.slot(), row.slot(), dst);
                        } else {
                            combine::<T>(Binary::Add, 1, cols, row.slot(), row.slot(), added);
                        }
                    }
                }
                if self.causal {
                    // Query i sees keys 0..=i.
                    let seen = (q0 + i + 1).saturating_sub(k0).min(cols);
                    (seen..cols).for_each(|j| *row.ptr.add(j) = T::LOWEST);
                }
            }
        }
    }
}

/// `dst = a op b` on a tile.
pub(super) unsafe fn combine<T: Real>(op: Binary, rows: usize, cols: usize, dst: Slot, a: Slot, b: Slot) {
    let mut t = Tile { rows, cols, dst, a, b, c: Slot::NONE };
    t.flatten();
    // SAFETY: the caller's.
    unsafe { T::binary_tile(op, &t) }
}

/// One value a row, spread over the columns.
pub(super) fn per_row<T>(values: *mut T) -> Slot {
    Slot { ptr: values.cast(), rs: 1, each: false }
}

/// `s = exp(s - shift of the row)`, and the sums of the rows.
pub(super) unsafe fn exp_shifted<T: Real>(
    rows: usize,
    cols: usize,
    s: Panel<T>,
    shift: *mut T,
    sums: *mut T,
) {
    let c = Slot { ptr: sums.cast(), rs: 0, each: true };
    // SAFETY: the caller's.
    unsafe { T::exp_sum_tile(&Tile { rows, cols, dst: s.slot(), a: s.slot(), b: per_row(shift), c }) }
}

/// Cuts a thread's scratch into aligned pieces.
pub(super) struct Pieces(pub *mut u8);

impl Pieces {
    pub fn take<T>(&mut self, n: usize) -> *mut T {
        let at = self.0;
        self.0 = at.wrapping_add((n * size_of::<T>()).next_multiple_of(64));
        at.cast()
    }
}

/// Compiled attention.
#[derive(Debug)]
pub(super) struct Flash {
    inputs: Inputs,
    out: Option<(usize, DType)>,
    lse: Option<usize>,
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
        let blocks = i.tq.div_ceil(bq.max(1));
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
        let room = bq * (i.d + i.dv + bk + 4) + bk * (i.d + i.dv + 4) + bq + 256;
        with_scratch(room * size_of::<T>() + 1024, |scratch| {
            let mut pieces = Pieces(scratch);
            let (qs, ks, vs) = (pieces.take::<T>(bq * i.d), pieces.take(bk * i.d), pieces.take(bk * i.dv));
            let s = Panel { ptr: pieces.take::<T>(bq * bk), rs: bk as isize, cs: 1 };
            let o = Panel { ptr: pieces.take::<T>(bq * i.dv), rs: i.dv as isize, cs: 1 };
            let spare = pieces.take::<T>(2 * bk + bq + 32);
            let (top, sum, new) = (pieces.take::<T>(bq), pieces.take::<T>(bq), pieces.take::<T>(bq));
            // SAFETY: pieces have the sizes of the blocks; the views cover the operands; each task writes its
            // own rows.
            unsafe {
                let q = i.q.rows(context, (b, h), q0, rows, qs);
                for r in 0..rows {
                    (*top.add(r), *sum.add(r)) = (T::LOWEST, T::ZERO);
                }
                (0..bq * i.dv).for_each(|e| *o.ptr.add(e) = T::ZERO);
                let visible = i.visible(q0 + rows);
                for k0 in (0..visible).step_by(bk) {
                    let cols = bk.min(visible - k0);
                    let k = i.k.rows(context, (b, kv), k0, cols, ks);
                    let v = i.v.rows(context, (b, kv), k0, cols, vs);
                    i.scores(context, (b, h), (q0, rows), (k0, cols), q, k, s, spare);
                    let none = Slot::NONE;
                    let vector = |p: *mut T| Slot { ptr: p.cast(), rs: 0, each: true };
                    T::reduce_tile(
                        Reduce::Max,
                        &Tile { rows, cols, dst: vector(new), a: s.slot(), b: none, c: none },
                    );
                    for r in 0..rows {
                        let old = *top.add(r);
                        let next = numeric::larger(old, *new.add(r));
                        let unseen = next == T::LOWEST;
                        let keep = if old == next { T::ONE } else { old.sub(next).exp() };
                        *top.add(r) = next;
                        // Nothing seen yet: shift by zero, so that everything hidden becomes zero.
                        *new.add(r) = if unseen { T::ZERO } else { next };
                        *sum.add(r) = (*sum.add(r)).mul(keep);
                        if keep != T::ONE {
                            let row = o.row(r);
                            (0..i.dv).for_each(|e| *row.add(e) = (*row.add(e)).mul(keep));
                        }
                    }
                    exp_shifted(rows, cols, s, new, new);
                    (0..rows).for_each(|r| *sum.add(r) = (*sum.add(r)).add(*new.add(r)));
                    product((rows, i.dv, cols), o, s, v, true, T::ONE);
                }
                self.store(context, (b, h), q0, rows, o, top, sum);
            }
        })
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
                let unseen = *top.add(r) == T::LOWEST;
                if let Some(write) = self.lse {
                    let lse = if unseen { T::LOWEST } else { (*top.add(r)).add(total.ln()) };
                    *context.writes[write].cast::<T>().add((b * i.heads + h) * i.tq + q0 + r) = lse;
                }
                let factor = if unseen { T::ZERO } else { T::ONE.div(total) };
                let row = o.row(r);
                (0..i.dv).for_each(|e| *row.add(e) = (*row.add(e)).mul(factor));
            }
            if let Some((write, dtype)) = self.out {
                let at = ((b * i.tq + q0) * i.heads + h) * i.dv;
                let part = Strided { rows, cols: i.dv, rs: (i.heads * i.dv) as isize, cs: 1 };
                part.write(loops(), dtype, o.slot(), context.writes[write].add(at * dtype.size()));
            }
        }
    }
}
