//! The gradients of attention: blocks of queries against blocks of keys, with the scores computed again from the
//! log-sum-exp that the forward pass left.

use super::attention::*;
use super::exec::Context;
use super::micro::Part;
use super::ops::{Slot, loops};
use super::panel::*;
use super::strided::Strided;
use super::threads::{Shared, each, with_scratch};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Binary;
use crate::kernel::{AttentionGrad, Kernel};

/// Multiply-adds of a product that are worth a task.
const PART: usize = 1 << 20;

/// The compiled gradients of attention.
#[derive(Debug)]
pub(super) struct FlashGrad {
    inputs: Inputs,
    out: Operand,
    lse: Operand,
    grad: Operand,
    /// Writes of the gradients of q, k and v.
    writes: [Option<(usize, DType)>; 3],
}

impl FlashGrad {
    pub fn compile(kernel: &Kernel, body: &AttentionGrad) -> Result<FlashGrad> {
        let inputs = Inputs::new(kernel, &body.spec, [&body.q, &body.k, &body.v], body.mask.as_ref())?;
        let write = |w: Option<usize>| match w {
            None => Ok(None),
            Some(w) => match kernel.writes.get(w) {
                Some(port) => Ok(Some((w, port.dtype))),
                None => Err(Error::Internal(format!("{}: a gradient has no memory", kernel.label))),
            },
        };
        Ok(FlashGrad {
            inputs,
            out: Operand::new(kernel, &body.out, 4)?.turned(),
            lse: Operand::new(kernel, &body.lse, 3)?,
            grad: Operand::new(kernel, &body.grad, 4)?.turned(),
            writes: [write(body.dq)?, write(body.dk)?, write(body.dv)?],
        })
    }

    pub fn launch(&self, context: &Context) {
        if self.inputs.q.dtype == DType::F64 {
            self.run::<f64>(context);
        } else {
            self.run::<f32>(context);
        }
    }

    /// How many parts the queries of a head of keys are cut into: several where there are few heads.
    fn parts(&self) -> usize {
        let i = &self.inputs;
        let (groups, share) = (i.batch * i.kv_heads, i.heads / i.kv_heads);
        let blocks = share * i.tq.div_ceil(i.blocks().0);
        let work = share.saturating_mul(i.tq).saturating_mul(i.tk).saturating_mul(i.d + i.dv);
        TASKS.div_ceil(groups).min(blocks / 2).min(work / PART).max(1)
    }

    fn run<T: Real>(&self, context: &Context) {
        let i = &self.inputs;
        let (groups, parts, sums) = (i.batch * i.kv_heads, self.parts(), i.tk * (whole(i.d) + whole(i.dv)));
        let head = |group: usize| (group / i.kv_heads, group % i.kv_heads);
        if parts == 1 {
            return each(groups, |group| {
                with_scratch(sums * size_of::<T>(), |scratch| {
                    let (b, kv) = head(group);
                    let [dk, dv] = self.sums(scratch.cast());
                    let at = (b, kv, i.kv_heads);
                    let dk = self.place::<T>(context, 1, at, (0, i.tk), i.d).unwrap_or(dk);
                    let dv = self.place::<T>(context, 2, at, (0, i.tk), i.dv).unwrap_or(dv);
                    self.group::<T>(context, (b, kv), (0, 1), [dk, dv]);
                    self.store_sums::<T>(context, (b, kv), [dk, dv]);
                })
            });
        }
        // Every part sums the gradients of keys and values by itself; then they are added in order.
        with_scratch(groups * parts * sums * size_of::<T>(), |scratch| {
            let all = Shared(scratch.cast::<T>());
            each(groups * parts, |task| {
                let to = self.sums(all.at((task * sums) as isize));
                self.group::<T>(context, head(task / parts), (task % parts, parts), to);
            });
            each(groups, |group| {
                let part = |p: usize| all.at(((group * parts + p) * sums) as isize);
                let slot = |p: usize| Slot { ptr: part(p).cast(), rs: 0, each: true };
                for p in 1..parts {
                    // SAFETY: parts of this group, which no other task touches now.
                    unsafe { combine::<T>(Binary::Add, 1, sums, slot(0), slot(0), slot(p)) };
                }
                self.store_sums::<T>(context, head(group), self.sums(part(0)));
            });
        })
    }

    /// The gradients of one head's keys and values while they are summed.
    fn sums<T: Real>(&self, sums: *mut T) -> [Panel<T>; 2] {
        let (d, dv) = (whole(self.inputs.d), whole(self.inputs.dv));
        [Panel::new(sums, d), Panel::new(sums.wrapping_add(self.inputs.tk * d), dv)]
    }

    /// Writes the gradients of one head's keys and values.
    fn store_sums<T: Real>(&self, context: &Context, (b, kv): (usize, usize), [keys, values]: [Panel<T>; 2]) {
        let i = &self.inputs;
        // SAFETY: the sums have the sizes of keys and values, and each task writes its own heads.
        unsafe {
            self.store(context, 1, (b, kv, i.kv_heads), (0, i.tk, i.tk), keys, i.d);
            self.store(context, 2, (b, kv, i.kv_heads), (0, i.tk, i.tk), values, i.dv);
        }
    }

    /// The gradients of one head of keys, and of the heads of queries that share it, from part `part` of `parts` of
    /// their blocks. Those of keys and values are left in `dk` and `dvs`.
    fn group<T: Real>(
        &self,
        context: &Context,
        (b, kv): (usize, usize),
        (part, parts): (usize, usize),
        [dk, dvs]: [Panel<T>; 2],
    ) {
        let i = &self.inputs;
        let (bq, bk) = i.blocks();
        let share = i.heads / i.kv_heads;
        let (d, dv, line) = (i.d, i.dv, stride(bk));
        let (wide, deep) = (whole(d), whole(dv));
        let [qs, gs, os, ks, vs] = [bq * d, bq * dv, bq * dv, bk * d, bk * dv];
        let [qp, gp] = [bq * wide, bq * deep];
        // Packed keys and values, one after the other.
        let kp = (bk * wide).max(whole(bk) * d.max(dv));
        let square = bq * line;
        let sizes = [qs, gs, os, ks, vs, qp, gp, kp, square, square, bq * wide, bq, bq, 3 * line];
        with_pieces::<T, _>(sizes, |pieces| {
            let [qs, gs, os, ks, vs, qp, gp, kp, p, dp, dq, shift, delta, spare] = pieces;
            let (p, dp, dq) = (Panel::new(p, line), Panel::new(dp, line), Panel::new(dq, wide));
            let [want_q, want_k, want_v] = self.writes.map(|w| w.is_some());
            let (scale, loops) = (T::from_f64(i.scale), T::rows());
            // SAFETY: pieces have the sizes of the blocks; the views cover the operands; each task writes the
            // rows of its own blocks.
            unsafe {
                for row in 0..i.tk {
                    (0..d).for_each(|e| *dk.row(row).add(e) = T::ZERO);
                    (0..dv).for_each(|e| *dvs.row(row).add(e) = T::ZERO);
                }
                let blocks = i.tq.div_ceil(bq);
                for block in (part..share * blocks).step_by(parts) {
                    let (h, q0) = (kv * share + block / blocks, block % blocks * bq);
                    let rows = bq.min(i.tq - q0);
                    let q = i.q.rows(context, (b, h), q0, rows, qs);
                    let g = self.grad.rows(context, (b, h), q0, rows, gs);
                    let o = self.out.rows(context, (b, h), q0, rows, os);
                    self.row_values(context, (b, h), q0, rows, shift);
                    (0..rows).for_each(|r| *delta.add(r) = (loops.dot)(g.row(r), o.row(r), dv));
                    let (qp, gp) = (q.pack(rows, d, qp), g.pack(rows, dv, gp));
                    let dq = self.place(context, 0, (b, h, i.heads), (q0, i.tq), d).unwrap_or(dq);
                    if i.tk == 0 {
                        // No product writes it.
                        (0..rows).for_each(|r| (0..d).for_each(|e| *dq.row(r).add(e) = T::ZERO));
                    }
                    for k0 in (0..i.visible(q0 + rows)).step_by(bk) {
                        let (skip, at) = i.square::<T>((q0, rows), k0, bk);
                        let (rows, cols) = (at.rows, at.cols);
                        let (q, g, qp, gp) = (q.from(skip), g.from(skip), qp.from(skip), gp.from(skip));
                        let k = i.k.rows(context, (b, kv), k0, cols, ks);
                        i.scores(context, (b, h), at, [q, p], k.t().pack(d, cols, kp), spare);
                        for r in 0..rows {
                            let width = i.hide(at, r, p.row(r), T::LOWEST);
                            (loops.exp_sum)(p.row(r), width, *shift.add(skip + r));
                        }
                        let turned = i.part(at, Part::LeftTurned);
                        if want_v {
                            product((cols, dv, rows), dvs.from(k0), p.t(), gp, true, T::ONE, turned);
                        }
                        if !(want_q || want_k) {
                            continue;
                        }
                        // The gradient of the scores: p (g v^T - delta).
                        let v = i.v.rows(context, (b, kv), k0, cols, vs).t().pack(dv, cols, kp);
                        product((rows, cols, dv), dp, g, v, false, T::ONE, i.part(at, Part::Result));
                        for r in 0..rows {
                            let width = i.hide(at, r, dp.row(r), T::ZERO);
                            (loops.weigh)(p.row(r), dp.row(r), width, *delta.add(skip + r));
                        }
                        if want_q {
                            let (dq, k, part) = (dq.from(skip), k.pack(cols, d, kp), i.part(at, Part::Left));
                            product((rows, d, cols), dq, dp, k, k0 > 0, scale, part);
                        }
                        if want_k {
                            product((cols, d, rows), dk.from(k0), dp.t(), qp, true, scale, turned);
                        }
                    }
                    self.store(context, 0, (b, h, i.heads), (q0, rows, i.tq), dq, d);
                }
            }
        })
    }

    /// The log-sum-exp of some rows, zero where nothing was seen.
    unsafe fn row_values<T: Real>(
        &self,
        context: &Context,
        (b, h): (usize, usize),
        q0: usize,
        rows: usize,
        to: *mut T,
    ) {
        let s = &self.lse.view.strides;
        let at = self.lse.view.offset + b as isize * s[0] + h as isize * s[1] + q0 as isize * s[2];
        let from = context.reads[self.lse.read].cast::<T>().wrapping_offset(at);
        for r in 0..rows {
            // SAFETY: the view covers the rows.
            unsafe {
                let x = *from.offset(r as isize * s[2]);
                *to.add(r) = if x == T::LOWEST { T::ZERO } else { x };
            }
        }
    }

    /// Where rows of a gradient `[batch, time, head, width]` lie, if products can be written there at once.
    fn place<T: Real>(
        &self,
        context: &Context,
        which: usize,
        (b, h, heads): (usize, usize, usize),
        (from, time): (usize, usize),
        width: usize,
    ) -> Option<Panel<T>> {
        let (write, dtype) = self.writes[which]?;
        let at = ((b * time + from) * heads + h) * width;
        let panel = || Panel::new(context.writes[write].cast::<T>().wrapping_add(at), heads * width);
        (dtype == T::DTYPE && width == whole(width)).then(panel)
    }

    /// Writes rows of a gradient `[batch, time, head, width]`, if it is wanted and not there yet.
    unsafe fn store<T: Real>(
        &self,
        context: &Context,
        which: usize,
        (b, h, heads): (usize, usize, usize),
        (from, rows, time): (usize, usize, usize),
        panel: Panel<T>,
        width: usize,
    ) {
        let Some((write, dtype)) = self.writes[which] else { return };
        let at = ((b * time + from) * heads + h) * width;
        let to = context.writes[write].wrapping_add(at * dtype.size());
        if panel.ptr.cast() != to {
            let part = Strided { rows, cols: width, rs: (heads * width) as isize, cs: 1 };
            // SAFETY: the caller's.
            unsafe { part.write(loops(), dtype, panel.slot(), to) }
        }
    }
}
