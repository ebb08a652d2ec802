//! Compiles and launches loops: all segments' tiles become one flat list of tasks; a long reduction to few
//! results is cut into parts that are combined in order. A loop over rows and one that sums their columns go
//! together, a few rows at a time, so that the second finds in a cache what the first has read.

use super::compile;
use super::exec::{Context, Worker, running_at};
use super::reduce;
use super::space::{Access, Base};
use super::threads::{Shared, each, with_scratch};
use super::tile::Program;
use crate::error::Result;
use crate::kernel::{Kernel, Loop};
use std::ops::Range;

/// Element-instructions below which a launch runs on the calling thread.
pub(super) const INLINE: usize = 48 * 1024;
/// Element-instructions that make a task.
const TASK: usize = 256 * 1024;
/// The most tasks of a segment, however large it is.
const MOST_TASKS: usize = 4096;
/// A reduction is cut into parts only where fewer kept tiles than this could share the work.
const FEW: usize = 12;
/// The most parts of a reduction.
const MOST_PARTS: usize = 48;
/// Elements of the rows that two loops walk together: a few such operands stay in the second-level cache.
const TOGETHER: usize = 32 * 1024;

/// A compiled loop.
#[derive(Debug)]
pub(super) struct Fused {
    segments: Vec<Program>,
    /// Segment and kept tiles.
    tasks: Vec<(usize, Range<usize>)>,
    /// Segments whose reduction is cut, with the reduced tiles of each part.
    split: Vec<(usize, Vec<Range<usize>>)>,
    /// Little enough work for one thread.
    inline: bool,
}

impl Fused {
    pub fn compile(kernel: &Kernel, body: &Loop) -> Result<Fused> {
        let mut this = Fused { segments: vec![], tasks: vec![], split: vec![], inline: false };
        let mut all = 0;
        for (s, segment) in body.segments.iter().enumerate() {
            let program = compile::compile(kernel, body, segment, None)?;
            let work = crate::view::numel(&segment.dims).saturating_mul(program.weight());
            all += work;
            let (kept, reduced) = (program.kept_tiles(), program.reduced_tiles());
            let each_tile = work / kept;
            // A part is worth at least a task.
            let parts = if kept < FEW { (each_tile / TASK).min(reduced).min(MOST_PARTS / kept) } else { 1 };
            if parts > 1 {
                let cut = |i: usize| i * reduced / parts;
                this.split.push((s, (0..parts).map(|i| cut(i)..cut(i + 1)).collect()));
            } else {
                let count = (TASK / each_tile.max(1)).max(kept / MOST_TASKS).clamp(1, kept);
                for start in (0..kept).step_by(count) {
                    this.tasks.push((s, start..(start + count).min(kept)));
                }
            }
            this.segments.push(program);
        }
        this.inline = all <= INLINE && this.split.is_empty();
        Ok(this)
    }

    /// Whether one thread does it all.
    pub fn is_small(&self) -> bool {
        self.inline
    }

    pub fn launch(&self, context: &Context) {
        let none = Shared(std::ptr::null_mut());
        let task = |i: usize| {
            let (segment, tiles) = &self.tasks[i];
            Worker::with(&self.segments[*segment], context, none, |w| w.kept_tiles(tiles.clone()));
        };
        if self.inline {
            (0..self.tasks.len()).for_each(task);
        } else {
            each(self.tasks.len(), task);
        }
        for (segment, parts) in &self.split {
            launch_split(&self.segments[*segment], parts, context);
        }
    }

    /// Whether another loop may run together with this one, which it would follow: this one makes rows, the other
    /// reduces the same rows in one pass and reads of each only what this one wrote there.
    pub fn pairs(&self, context: &Context, then: &Fused, its: &Context) -> bool {
        let ([rows], [columns], [_]) = (&self.segments[..], &then.segments[..], &then.split[..]) else {
            return false;
        };
        let (a, b) = (&rows.space, &columns.space);
        let same = a.outer.is_empty() && b.outer.is_empty() && a.rows == b.rows && self.split.is_empty();
        let kinds = a.col_reduced && !a.row_reduced && rows.reduced_tiles() == 1;
        let other = b.row_reduced && !b.col_reduced && columns.kept_tiles() == 1 && columns.passes.len() == 1;
        let shared = its.reads.iter().any(|r| context.reads.contains(r) || context.writes.contains(r));
        same && kinds
            && other
            && shared
            && a.accesses.iter().all(|wrote| {
                b.accesses.iter().all(|reads| match (wrote.base, reads.base) {
                    (Base::Write(w), Base::Read(r)) if context.writes[w] == its.reads[r] => {
                        // Each row has its own stretch of the memory, in both the same.
                        let inside = |access: &Access, cols: usize| {
                            let last = (cols as isize - 1) * access.col_stride();
                            (0..access.row_stride()).contains(&last) && access.mask.is_none()
                        };
                        (wrote.offset, wrote.row_stride()) == (reads.offset, reads.row_stride())
                            && inside(wrote, a.cols)
                            && inside(reads, b.cols)
                    }
                    _ => true,
                })
            })
    }

    /// Runs this loop and one that [`pairs`](Fused::pairs) with it.
    pub fn launch_with(&self, context: &Context, then: &Fused, its: &Context) {
        let none = Shared(std::ptr::null_mut());
        let (rows, columns) = (&self.segments[0], &then.segments[0]);
        let (height, tiles) = (rows.tile_rows, rows.kept_tiles());
        // Tiles that go together, and how many such groups make a part.
        let group = (TOGETHER / rows.space.cols / height).max(1);
        let part = group * tiles.div_ceil(group).div_ceil(MOST_PARTS);
        Sums::with(columns, tiles.div_ceil(part), |sums| {
            let partial = sums.partial;
            each(sums.parts, |n| {
                let all = n * part..((n + 1) * part).min(tiles);
                Worker::with(columns, its, none, |w| {
                    w.seek_kept(0);
                    w.run(&columns.kept[0]);
                    for start in all.clone().step_by(group) {
                        let tiles = start..(start + group).min(all.end);
                        let these = start * height..(tiles.end * height).min(rows.space.rows);
                        Worker::with(rows, context, none, |w| w.kept_tiles(tiles));
                        w.reduce_rows(these, start == all.start);
                    }
                    Sums::take(columns, w, partial, n);
                });
            });
            sums.merge(0);
            sums.finish(its);
        });
    }
}

/// Pass by pass: every (kept tile, part) reduces on its own, then the parts are joined in order.
fn launch_split(program: &Program, parts: &[Range<usize>], context: &Context) {
    let none = Shared(std::ptr::null_mut());
    Sums::with(program, parts.len(), |sums| {
        for pass in 0..program.passes.len() {
            let (whole, partial) = (sums.whole, sums.partial);
            each(program.kept_tiles() * parts.len(), |task| {
                let (tile, part) = (task / parts.len(), task % parts.len());
                Worker::with(program, context, none, |w| {
                    Sums::resume(program, w, whole, (tile, pass));
                    w.pass(tile, pass, parts[part].clone());
                    Sums::take(program, w, partial, task);
                });
            });
            sums.merge(pass);
        }
        sums.finish(context);
    });
}

/// What the workers' scratch has in the running range, for each part of each kept tile and for the whole.
struct Sums<'a> {
    program: &'a Program,
    parts: usize,
    partial: Shared<u8>,
    whole: Shared<u8>,
}

impl<'a> Sums<'a> {
    /// Calls `f` with memory for the sums of so many parts.
    fn with(program: &'a Program, parts: usize, f: impl FnOnce(&Sums<'a>)) {
        let whole = program.kept_tiles() * Self::bytes(program);
        with_scratch(whole * (parts + 1), |memory| {
            let partial = Shared(memory.wrapping_add(whole));
            f(&Sums { program, parts, partial, whole: Shared(memory) });
        });
    }

    /// Bytes of one piece.
    fn bytes(program: &Program) -> usize {
        program.running.end.next_multiple_of(64)
    }

    /// Brings a worker to a pass of a kept tile: with what the passes before have summed, and what is made of that.
    fn resume(program: &Program, w: &mut Worker, whole: Shared<u8>, (tile, pass): (usize, usize)) {
        w.seek_kept(tile);
        let range = program.running.clone();
        let known = whole.at((tile * Self::bytes(program) + range.start) as isize);
        // SAFETY: `whole` is only read while workers run, and their scratch holds the running range.
        unsafe { std::ptr::copy_nonoverlapping(known, w.scratch().add(range.start), range.len()) };
        for earlier in 0..pass {
            w.run(&program.kept[earlier]);
            w.finish(earlier);
        }
        w.run(&program.kept[pass]);
    }

    /// Takes what a worker has computed of piece number `piece`.
    fn take(program: &Program, w: &Worker, partial: Shared<u8>, piece: usize) {
        let range = program.running.clone();
        let mine = partial.at((piece * Self::bytes(program) + range.start) as isize);
        // SAFETY: each task has its own piece.
        unsafe { std::ptr::copy_nonoverlapping(w.scratch().add(range.start), mine, range.len()) };
    }

    /// Joins the parts of a pass, in order.
    fn merge(&self, pass: usize) {
        let (whole, partial, program) = (self.whole, self.partial, self.program);
        let (bytes, n) = (Self::bytes(program), program.kept_room());
        for tile in 0..program.kept_tiles() {
            for (k, a) in program.accumulators.iter().enumerate().filter(|(_, a)| a.pass == pass) {
                for part in 0..self.parts {
                    let into = running_at(program, whole.at((tile * bytes) as isize), k);
                    let new =
                        running_at(program, partial.at(((tile * self.parts + part) * bytes) as isize), k);
                    // SAFETY: both pieces have room for the kept extent of a full tile; lanes beyond a partial tile
                    // hold numbers that nobody reads.
                    unsafe { reduce::merge(a.op, a.dtype, into, new, n, part == 0) };
                }
            }
        }
    }

    /// Computes what is made of the sums.
    fn finish(&self, context: &Context) {
        let (whole, program) = (self.whole, self.program);
        for tile in 0..program.kept_tiles() {
            Worker::with(program, context, Shared(std::ptr::null_mut()), |w| {
                Self::resume(program, w, whole, (tile, program.passes.len()));
            });
        }
    }
}

impl Program {
    /// Kept values of a full tile.
    fn kept_room(&self) -> usize {
        if self.space.col_reduced { self.tile_rows } else { self.tile_cols }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{leaves, norm};
    use super::*;
    use crate::kernel::Body;
    use crate::schedule::Place;
    use crate::{Result, Tensor, eval};

    /// Whether the first two kernels of the plan run together, when every place is a memory of its own.
    fn together(of: &[Tensor]) -> Result<bool> {
        let plan = crate::realize::plan(&of.iter().collect::<Vec<_>>())?;
        let mut known: Vec<Place> = vec![];
        let mut pointer = |place: &Place| {
            let at = known.iter().position(|k| k == place).unwrap_or_else(|| {
                known.push(*place);
                known.len() - 1
            });
            std::ptr::without_provenance_mut::<u8>(64 * (at + 1))
        };
        let mut loops = vec![];
        for step in &plan.steps {
            let Body::Loop(body) = &step.kernel.body else { return Ok(false) };
            let context = Context {
                reads: step.reads.iter().map(&mut pointer).collect(),
                writes: step.writes.iter().map(&mut pointer).collect(),
                args: Default::default(),
                outside: Default::default(),
            };
            loops.push((Fused::compile(&step.kernel, body)?, context));
        }
        let [(first, context), (then, its), ..] = &loops[..] else { return Ok(false) };
        Ok(first.pairs(context, then, its))
    }

    #[test]
    fn rows_and_their_columns_go_together() -> Result<()> {
        // The last is so long that a part has several groups.
        for (rows, cols) in [(1500, 256), (2049, 511), (700, 768), (4099, 768)] {
            let leaves = leaves(rows, cols)?;
            let both = norm(&leaves)?;
            assert!(together(&both)?, "{rows}x{cols}");
            eval(&both.iter().collect::<Vec<_>>())?;
            for (alone, both) in norm(&leaves)?.iter().zip(&both) {
                // One at a time, nothing goes with anything.
                let (alone, both) = (alone.to_vec::<f32>()?, both.to_vec::<f32>()?);
                let size = alone.iter().fold(0f32, |m, x| m.max(x.abs()));
                let error = alone.iter().zip(&both).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
                assert!(error <= 2e-6 * size, "{rows}x{cols}: {error} of {size}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_loop_that_needs_other_rows_waits() -> Result<()> {
        let [x, ..] = leaves(1500, 256)?;
        // The columns are those of the transposed result: each of its rows needs all rows of the first loop.
        let y = x.softmax(1)?;
        let turned = (&y.t()?.reshape(&[1500, 256])? * &x)?.sum(&[0], false)?;
        assert!(!together(&[y.clone(), turned])?);
        let straight = (&y * &x)?.sum(&[0], false)?;
        assert!(together(&[y, straight])?);
        Ok(())
    }
}
