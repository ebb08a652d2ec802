//! Scatter-add, sort and running sums: kernels that move along one axis of a strided operand.

use super::exec::Context;
use super::numeric::{Number, register, with_register};
use super::ops::{Slot, loops};
use super::strided::Strided;
use super::threads::{Shared, each, with_scratch};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Scan, ScatterAdd, Sort};
use crate::view::{View, numel};
use std::cmp::Ordering;

/// Elements that make a task.
const TASK: usize = 32 * 1024;

/// An operand and the axis that a kernel moves along.
#[derive(Debug)]
struct Lines {
    read: usize,
    dtype: DType,
    view: View,
    axis: usize,
}

impl Lines {
    fn new(kernel: &Kernel, (read, view): &(usize, View), axis: usize) -> Result<Lines> {
        match kernel.reads.get(*read) {
            Some(port) if axis < view.shape.len() => {
                Ok(Lines { read: *read, dtype: port.dtype, view: view.clone(), axis })
            }
            _ => Err(Error::Internal(format!("{}: an operand without the axis", kernel.label))),
        }
    }

    /// How many lines there are, how long each is, and how many lines lie beside each other.
    fn sizes(&self) -> (usize, usize, usize) {
        let shape = &self.view.shape;
        let inner = shape[self.axis + 1..].iter().product();
        (shape[..self.axis].iter().product::<usize>() * inner, shape[self.axis], inner)
    }

    /// Copies a line to a register buffer, zeros where the mask hides it.
    unsafe fn copy(&self, context: &Context, line: usize, to: *mut u8) {
        let (_, n, inner) = self.sizes();
        let v = &self.view;
        let size = register(self.dtype).size();
        let mut coord: Vec<usize> = vec![0; v.shape.len()];
        let (mut before, mut after) = (line / inner.max(1), line % inner.max(1));
        for i in (0..self.axis).rev() {
            (coord[i], before) = (before % v.shape[i], before / v.shape[i]);
        }
        for i in (self.axis + 1..v.shape.len()).rev() {
            (coord[i], after) = (after % v.shape[i], after / v.shape[i]);
        }
        let (mut lo, mut hi) = (0, n);
        if let Some(mask) = &v.mask {
            let hidden =
                (0..coord.len()).any(|i| i != self.axis && !(mask[i].0..mask[i].1).contains(&coord[i]));
            (lo, hi) = if hidden { (0, 0) } else { mask[self.axis] };
            // SAFETY: the buffer holds a line.
            unsafe { std::ptr::write_bytes(to, 0, n * size) };
        }
        if lo >= hi {
            return;
        }
        let stride = v.strides[self.axis];
        let at: isize = coord.iter().zip(&v.strides).map(|(&c, &s)| c as isize * s).sum::<isize>()
            + v.offset
            + lo as isize * stride;
        let from = context.reads[self.read].wrapping_offset(at * self.dtype.size() as isize);
        let part = Strided { rows: 1, cols: hi - lo, rs: 0, cs: stride };
        // SAFETY: the view covers the line.
        unsafe {
            part.read(loops(), self.dtype, from, Slot { ptr: to.add(lo * size), rs: 0, each: true });
        }
    }
}

/// Calls `f` with every line, in tasks of about equal work.
fn each_line(lines: usize, len: usize, f: impl Fn(usize) + Send + Sync) {
    let count = (TASK / len.max(1)).max(1);
    let tasks = lines.div_ceil(count);
    let run = |task: usize| (task * count..((task + 1) * count).min(lines)).for_each(&f);
    if lines * len <= TASK { (0..tasks).for_each(run) } else { each(tasks, run) }
}

/// A compiled sort.
#[derive(Debug)]
pub(super) struct Sorted {
    lines: Lines,
    descending: bool,
}

impl Sorted {
    pub fn compile(kernel: &Kernel, body: &Sort) -> Result<Sorted> {
        Ok(Sorted { lines: Lines::new(kernel, &body.value, body.axis)?, descending: body.descending })
    }

    pub fn launch(&self, context: &Context) {
        with_register!(register(self.lines.dtype), sort(self, context))
    }
}

fn sort<T: Number>(sorted: &Sorted, context: &Context) {
    let (lines, n, inner) = sorted.lines.sizes();
    let out = Shared(context.writes[0].cast::<i64>());
    // NaN counts as largest.
    let ascending = |a: T, b: T| match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (x, y) => x.cmp(&y),
    };
    each_line(lines, n * 8, |line| {
        with_scratch(n * size_of::<T>(), |scratch| {
            // SAFETY: scratch holds a line; lines write disjoint elements.
            let values = unsafe {
                sorted.lines.copy(context, line, scratch);
                std::slice::from_raw_parts(scratch.cast::<T>(), n)
            };
            let mut order: Vec<u32> = (0..n as u32).collect();
            let compare = |&i: &u32, &j: &u32| {
                let by = ascending(values[i as usize], values[j as usize]);
                if sorted.descending { by.reverse() } else { by }
            };
            order.sort_by(compare);
            let start = (line / inner.max(1)) * n * inner + line % inner.max(1);
            for (k, &i) in order.iter().enumerate() {
                unsafe { *out.at((start + k * inner) as isize) = i as i64 };
            }
        })
    });
}

/// A compiled running sum.
#[derive(Debug)]
pub(super) struct Running {
    lines: Lines,
    dtype: DType,
}

impl Running {
    pub fn compile(kernel: &Kernel, body: &Scan) -> Result<Running> {
        let lines = Lines::new(kernel, &body.value, body.axis)?;
        match kernel.writes.first() {
            Some(port) if register(port.dtype) == register(lines.dtype) => {
                Ok(Running { lines, dtype: port.dtype })
            }
            _ => Err(Error::Internal(format!("{}: a running sum of another type", kernel.label))),
        }
    }

    pub fn launch(&self, context: &Context) {
        with_register!(register(self.lines.dtype), scan(self, context))
    }
}

fn scan<T: Number>(running: &Running, context: &Context) {
    let (lines, n, inner) = running.lines.sizes();
    let out = Shared(context.writes[0]);
    each_line(lines, n, |line| {
        with_scratch(n * size_of::<T>(), |scratch| {
            // SAFETY: scratch holds a line; lines write disjoint elements.
            unsafe {
                running.lines.copy(context, line, scratch);
                let values = std::slice::from_raw_parts_mut(scratch.cast::<T>(), n);
                let mut sum = T::default();
                for x in values.iter_mut() {
                    sum = sum.add(*x);
                    *x = sum;
                }
                let start = (line / inner.max(1)) * n * inner + line % inner.max(1);
                let to = out.at((start * running.dtype.size()) as isize);
                let part = Strided { rows: 1, cols: n, rs: 0, cs: inner as isize };
                part.write(loops(), running.dtype, Slot { ptr: scratch, rs: 0, each: true }, to);
            }
        })
    });
}

/// A compiled scatter-add.
#[derive(Debug)]
pub(super) struct Scattered {
    base: Option<Lines>,
    index: Lines,
    value: Lines,
    shape: Vec<usize>,
    axis: usize,
    dtype: DType,
}

impl Scattered {
    pub fn compile(kernel: &Kernel, body: &ScatterAdd) -> Result<Scattered> {
        let lines = |operand| Lines::new(kernel, operand, body.axis);
        let (index, value) = (lines(&body.index)?, lines(&body.value)?);
        let last = body.shape.len().saturating_sub(1);
        let base = body.base.as_ref().map(|b| Lines::new(kernel, b, last)).transpose()?;
        match kernel.writes.first() {
            Some(port)
                if port.dtype == value.dtype
                    && index.dtype == DType::I64
                    && index.view.shape == value.view.shape
                    && body.shape.len() == index.view.shape.len() =>
            {
                let shape = body.shape.to_vec();
                Ok(Scattered { base, index, value, shape, axis: body.axis, dtype: port.dtype })
            }
            _ => Err(Error::Internal(format!("{}: operands that do not fit", kernel.label))),
        }
    }

    pub fn launch(&self, context: &Context) {
        with_register!(register(self.dtype), scatter(self, context))
    }

    /// Whether the base is the result's own memory, row-major.
    fn in_place(&self, context: &Context) -> bool {
        self.base.as_ref().is_some_and(|b| {
            b.view.is_contiguous() && b.dtype == self.dtype && context.reads[b.read] == context.writes[0]
        })
    }
}

/// Each task owns some of the result, goes through all indices in order, and adds what falls to it, so that
/// sums have one order whatever the number of threads.
fn scatter<T: Number>(s: &Scattered, context: &Context) {
    let out = Shared(context.writes[0]);
    let size = s.dtype.size();
    let len = s.shape[s.axis];
    let (_, count, inner) = s.value.sizes();
    let outer: usize = s.value.view.shape[..s.axis].iter().product();
    let rest: usize = numel(&s.shape[s.axis + 1..]);
    if !s.in_place(context) {
        // The base, line by line along its last axis, or zeros.
        let line_len = s.shape[s.shape.len() - 1].max(1);
        each_line(numel(&s.shape) / line_len, line_len, |line| {
            let to = out.at((line * line_len * size) as isize);
            // SAFETY: lines are disjoint.
            unsafe {
                match &s.base {
                    None => std::ptr::write_bytes(to, 0, line_len * size),
                    Some(base) => with_scratch(line_len * size_of::<T>(), |scratch| {
                        base.copy(context, line, scratch);
                        let part = Strided { rows: 1, cols: line_len, rs: 0, cs: 1 };
                        part.write(loops(), s.dtype, Slot { ptr: scratch, rs: 0, each: true }, to);
                    }),
                }
            }
        });
    }
    if numel(&s.value.view.shape) == 0 {
        return;
    }
    // The coordinates after the axis, row-major over the values, as offsets in the result.
    let tail = s.value.view.shape[s.axis + 1..].to_vec();
    let mut tail_offsets = Vec::with_capacity(inner);
    crate::view::each_coord(&tail, |c| {
        let mut offset = 0;
        for (i, &at) in c.iter().enumerate() {
            offset = offset * s.shape[s.axis + 1 + i] + at;
        }
        tail_offsets.push(offset);
    });
    let head = s.value.view.shape[..s.axis].to_vec();
    let mut head_offsets = Vec::with_capacity(outer);
    crate::view::each_coord(&head, |c| {
        let offset = c.iter().enumerate().fold(0, |offset, (i, &at)| offset * s.shape[i] + at);
        head_offsets.push(offset * len * rest);
    });
    // Tasks share the work by columns after the axis; with none, by ranges of the axis.
    let pieces = (outer * count * inner / TASK).clamp(1, 8);
    let by_columns = inner >= 16;
    let pieces = if by_columns { pieces.min(inner / 16) } else { pieces.min(len) };
    let find = |view: &View, o: usize, k: usize, j: usize| {
        let (mut offset, mut o, mut j) = (view.offset + k as isize * view.strides[s.axis], o, j);
        let mut inside = view.mask.as_ref().is_none_or(|m| (m[s.axis].0..m[s.axis].1).contains(&k));
        let mut visit = |i: usize, at: usize| {
            offset += at as isize * view.strides[i];
            inside &= view.mask.as_ref().is_none_or(|m| (m[i].0..m[i].1).contains(&at));
        };
        for i in (0..s.axis).rev() {
            visit(i, o % view.shape[i]);
            o /= view.shape[i];
        }
        for i in (s.axis + 1..view.shape.len()).rev() {
            visit(i, j % view.shape[i]);
            j /= view.shape[i];
        }
        inside.then_some(offset)
    };
    each(pieces, |piece| {
        let cut = |n: usize, p: usize| p * n / pieces;
        let (j0, j1) = if by_columns { (cut(inner, piece), cut(inner, piece + 1)) } else { (0, inner) };
        let (a0, a1) = if by_columns { (0, len) } else { (cut(len, piece), cut(len, piece + 1)) };
        let unit = |v: &View| v.mask.is_none() && tail_is_unit(v, s.axis);
        let fast = unit(&s.value.view) && same_index(&s.index.view, s.axis) && register(s.dtype) == s.dtype;
        for (o, &head) in head_offsets.iter().enumerate() {
            for k in 0..count {
                let read_index = |j: usize| match find(&s.index.view, o, k, j) {
                    // SAFETY: the view covers the coordinate.
                    Some(at) => unsafe { *context.reads[s.index.read].cast::<i64>().offset(at) },
                    None => 0,
                };
                let target = |index: i64| {
                    if index < 0 || index as usize >= len {
                        context.report(index, len);
                        return None;
                    }
                    let index = index as usize;
                    (index >= a0 && index < a1).then_some(head + index * rest)
                };
                if fast {
                    // One index for a whole row of values, which lies in a row.
                    let Some(to) = target(read_index(j0)) else { continue };
                    let Some(from) = find(&s.value.view, o, k, j0) else { continue };
                    // SAFETY: as above; pieces are disjoint.
                    unsafe {
                        let from = context.reads[s.value.read].cast::<T>().offset(from);
                        let to = out.at(0).cast::<T>().add(to);
                        if tail == s.shape[s.axis + 1..] {
                            let to = to.add(j0);
                            (0..j1 - j0).for_each(|j| *to.add(j) = (*to.add(j)).add(*from.add(j)));
                        } else {
                            for j in j0..j1 {
                                let to = to.add(tail_offsets[j]);
                                *to = (*to).add(*from.add(j - j0));
                            }
                        }
                    }
                    continue;
                }
                for j in j0..j1 {
                    let Some(to) = target(read_index(j)) else { continue };
                    let Some(from) = find(&s.value.view, o, k, j) else { continue };
                    // SAFETY: as above; pieces are disjoint.
                    unsafe {
                        let mut pair = [T::default(); 2];
                        let from = context.reads[s.value.read].offset(from * size as isize);
                        let to = out.at(((to + tail_offsets[j]) * size) as isize);
                        let one = Strided { rows: 1, cols: 1, rs: 0, cs: 1 };
                        for (i, p) in [from, to].into_iter().enumerate() {
                            let ptr = pair.as_mut_ptr().add(i).cast();
                            one.read(loops(), s.dtype, p, Slot { ptr, rs: 0, each: true });
                        }
                        let mut sum = pair[0].add(pair[1]);
                        let ptr = std::ptr::from_mut(&mut sum).cast();
                        one.write(loops(), s.dtype, Slot { ptr, rs: 0, each: true }, to);
                    }
                }
            }
        }
    });
}

/// Whether the axes after `axis` are one row of memory.
fn tail_is_unit(view: &View, axis: usize) -> bool {
    let mut want = 1;
    (axis + 1..view.shape.len()).rev().all(|i| {
        let fits = view.shape[i] == 1 || view.strides[i] == want;
        want *= view.shape[i] as isize;
        fits
    })
}

/// Whether all elements after the axis have one index.
fn same_index(view: &View, axis: usize) -> bool {
    view.mask.is_none() && (axis + 1..view.shape.len()).all(|i| view.shape[i] == 1 || view.strides[i] == 0)
}
