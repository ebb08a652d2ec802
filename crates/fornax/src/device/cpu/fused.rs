//! Compiles and launches loops: all segments' tiles become one flat list of tasks; a long reduction to few
//! results is cut into parts that are combined in order.

use super::compile;
use super::exec::{Context, Worker, running_at};
use super::reduce;
use super::threads::{Shared, each};
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
            let parts = if kept < FEW { (each_tile / TASK).min(reduced).min(48 / kept) } else { 1 };
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
}

/// Pass by pass: every (kept tile, part) reduces on its own, then the parts are joined in order.
fn launch_split(program: &Program, parts: &[Range<usize>], context: &Context) {
    let none = Shared(std::ptr::null_mut());
    let kept = program.kept_tiles();
    let bytes = program.running.end.next_multiple_of(64);
    // u64s for alignment; what a worker's scratch has in the running range, for each part and for the whole.
    let words = bytes / 8;
    let mut partial = vec![0u64; kept * parts.len() * words];
    let mut whole = vec![0u64; kept * words];
    let range = program.running.clone();
    for pass in 0..program.passes.len() {
        let (from, to) = (Shared(whole.as_mut_ptr().cast::<u8>()), Shared(partial.as_mut_ptr().cast::<u8>()));
        each(kept * parts.len(), |task| {
            let (tile, part) = (task / parts.len(), task % parts.len());
            Worker::with(program, context, none, |w| {
                w.seek_kept(tile);
                // SAFETY: each task has its own piece of `partial`; `whole` is only read.
                unsafe {
                    let known = from.at((tile * bytes + range.start) as isize);
                    std::ptr::copy_nonoverlapping(known, w.scratch().add(range.start), range.len());
                }
                for earlier in 0..pass {
                    w.run(&program.kept[earlier]);
                    w.finish(earlier);
                }
                w.run(&program.kept[pass]);
                w.pass(tile, pass, parts[part].clone());
                // SAFETY: as above.
                unsafe {
                    let mine = to.at((task * bytes + range.start) as isize);
                    std::ptr::copy_nonoverlapping(w.scratch().add(range.start), mine, range.len());
                }
            });
        });
        for tile in 0..kept {
            for (k, a) in program.accumulators.iter().enumerate() {
                for part in 0..parts.len() {
                    if a.pass == pass {
                        let n = program.kept_room();
                        let into = running_at(program, from.at((tile * bytes) as isize), k);
                        let new =
                            running_at(program, to.at(((tile * parts.len() + part) * bytes) as isize), k);
                        // SAFETY: both pieces have room for the kept extent of a full tile; lanes beyond a
                        // partial tile hold numbers that nobody reads.
                        unsafe { reduce::merge(a.op, a.dtype, into, new, n, part == 0) };
                    }
                }
            }
        }
    }
    let passes = program.passes.len();
    for tile in 0..kept {
        Worker::with(program, context, none, |w| {
            w.seek_kept(tile);
            // SAFETY: the worker's scratch holds the running range.
            unsafe {
                let known = whole.as_ptr().cast::<u8>().add(tile * bytes + range.start);
                std::ptr::copy_nonoverlapping(known, w.scratch().add(range.start), range.len());
            }
            for pass in 0..passes {
                w.run(&program.kept[pass]);
                w.finish(pass);
            }
            w.run(&program.kept[passes]);
        });
    }
}

impl Program {
    /// Kept values of a full tile.
    fn kept_room(&self) -> usize {
        if self.space.col_reduced { self.tile_rows } else { self.tile_cols }
    }
}
