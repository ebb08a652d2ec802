//! Launching: a batch of kernels becomes a few command buffers, each one compute pass; a short one joins those of others.

use super::memory::{GpuMemory, buffer};
use super::pipeline::{GpuPipeline, Ready, Variant};
use super::{Wgpu, lock, own};
use crate::device::{Clock, Launch, host_seconds};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The most launches of a batch that need not be submitted at once.
const FEW: usize = 16;
/// Launches that a long batch begins with.
const FIRST: usize = 32;
/// The most launches of a piece after them.
const MOST: usize = 128;

/// A batch in pieces: the first is short, so that the GPU begins with it while the others are written, which threads do
/// at the same time. Or in one.
fn pieces(launches: usize, one: bool) -> Vec<Range<usize>> {
    let first = if one || launches <= FIRST + FIRST / 2 { launches } else { FIRST };
    let (rest, count) = (launches - first, (launches - first).div_ceil(MOST));
    let bound = |i: usize| first + rest * i / count;
    std::iter::once(0..first).chain((0..count).map(|i| bound(i)..bound(i + 1))).collect()
}

/// The most timestamps of a query set; what needs more has several.
const QUERIES: usize = wgpu::QUERY_SET_MAX_QUERIES as usize;

/// Where the GPU writes the time, a timestamp for every mark.
pub(super) struct Stamps<'a> {
    /// How many launches have ended at each timestamp, from none to all.
    marks: &'a [usize],
    sets: Vec<wgpu::QuerySet>,
    ticks: wgpu::Buffer,
    /// Whether only the ends of passes can be timed, so that one must end at every mark.
    passes: bool,
}

impl Stamps<'_> {
    /// The set in which a mark's timestamp is, and its place there.
    fn query(&self, mark: usize) -> (&wgpu::QuerySet, u32) {
        (&self.sets[mark / QUERIES], (mark % QUERIES) as u32)
    }

    /// Makes the pass up to a mark write the time at its end; the first also at its beginning.
    fn writes(&self, mark: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        let (query_set, end) = self.query(mark);
        wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: (mark == 1).then_some(0),
            end_of_pass_write_index: Some(end),
        }
    }
}

/// What a pass has set already.
#[derive(Default)]
struct Already<'a> {
    pipeline: Option<&'a Ready>,
    immediates: Words,
}

/// A launch argument as the two words that texts expect.
fn words(value: Scalar, dtype: DType) -> [u32; 2] {
    match dtype {
        DType::F32 | DType::F64 => [(value.as_f64() as f32).to_bits(), 0],
        DType::F16 => [half::f16::from_f64(value.as_f64()).to_f32().to_bits(), 0],
        DType::BF16 => [half::bf16::from_f64(value.as_f64()).to_f32().to_bits(), 0],
        DType::Bool => [(value.as_f64() != 0.0) as u32, 0],
        _ => {
            let bits = value.as_i64() as u64;
            [bits as u32, (bits >> 32) as u32]
        }
    }
}

impl Wgpu {
    /// Encodes a batch and submits it, at once or with others. With stamps, lets the GPU write the time there.
    pub(super) fn encode(&self, batch: &[Launch<'_>], stamps: Option<&Stamps<'_>>) -> Result<()> {
        self.reader.check()?;
        if batch.is_empty() {
            return Ok(());
        }
        let mut variants: Vec<&Variant> = Vec::with_capacity(batch.len());
        for launch in batch {
            variants.push(own::<GpuPipeline>(launch.pipeline, "pipeline")?.variant(self, launch)?);
        }
        // Arguments that do not travel as immediates are written once for the whole batch, and nobody else may
        // write theirs before it is submitted.
        let uniform = variants.iter().any(|v| v.dispatches.iter().any(|d| d.uniform()));
        let _alone = uniform.then(|| lock(&self.launching));
        let args = if uniform { Some(self.upload_args(batch)?) } else { None };
        if batch.len() <= FEW && stamps.is_none() && !uniform && cfg!(not(target_family = "wasm")) {
            let (launches, groups) = (batch.iter().zip(&variants), self.groups(batch, &variants, None)?);
            self.submits.add(batch.len(), |pass| {
                let (mut already, mut groups) = (Already::default(), groups.iter());
                for (launch, variant) in launches {
                    dispatch(pass, &mut already, launch, variant, &mut groups, 0);
                }
            });
            return Ok(());
        }
        let pieces = pieces(batch.len(), stamps.is_some());
        let record = |piece: &Range<usize>| self.record(batch, &variants, piece, args.as_ref(), stamps);
        self.submits.submit([record(&pieces[0])?.finish()]);
        // What is recorded becomes the driver's commands in `finish`, the dearest part of a launch: other threads do it
        // while the next piece is recorded. Not while a lock is held: who waits in a thread of the pool does what others
        // have to do meanwhile, which may be to launch.
        let mut written: Vec<Option<wgpu::CommandBuffer>> = pieces[1..].iter().map(|_| None).collect();
        rayon::in_place_scope(|threads| -> Result<()> {
            for (piece, written) in pieces[1..].iter().zip(&mut written) {
                let encoder = record(piece)?;
                if uniform || piece.end == batch.len() {
                    *written = Some(encoder.finish());
                } else {
                    threads.spawn(move |_| *written = Some(encoder.finish()));
                }
            }
            Ok(())
        })?;
        if !written.is_empty() {
            self.submits.submit(written.into_iter().flatten());
        }
        // What went wrong meanwhile, such as the loss of the device.
        self.reader.check()
    }

    /// Records the launches of a piece.
    fn record(
        &self,
        batch: &[Launch<'_>],
        variants: &[&Variant],
        range: &Range<usize>,
        args: Option<&Arguments>,
        stamps: Option<&Stamps<'_>>,
    ) -> Result<wgpu::CommandEncoder> {
        let memory = args.map(|args| &*args.memory);
        let groups = self.groups(&batch[range.clone()], &variants[range.clone()], memory)?;
        let mut groups = groups.iter();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let (passes, inside) = (stamps.filter(|s| s.passes), stamps.filter(|s| !s.passes));
        let ends = passes.map_or(std::slice::from_ref(&range.end), |s| &s.marks[1..]);
        let mut first = range.start;
        for (i, &end) in ends.iter().enumerate() {
            let timestamp_writes = passes.map(|s| s.writes(i + 1));
            self.submits.passes.fetch_add(1, Ordering::Relaxed);
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            let mut already = Already::default();
            let mut marks = inside.map_or(&[][..], |s| s.marks).iter().enumerate().peekable();
            for launch in first..=end {
                if let Some((stamps, (mark, _))) = inside.zip(marks.next_if(|(_, ended)| **ended == launch)) {
                    let (set, index) = stamps.query(mark);
                    pass.write_timestamp(set, index);
                }
                if launch < end {
                    let offset = args.map_or(0, |args| args.offsets[launch]);
                    dispatch(&mut pass, &mut already, &batch[launch], variants[launch], &mut groups, offset);
                }
            }
            first = end;
        }
        if let Some(stamps) = stamps {
            for (i, set) in stamps.sets.iter().enumerate() {
                let count = (stamps.marks.len() - i * QUERIES).min(QUERIES) as u32;
                encoder.resolve_query_set(set, 0..count, &stamps.ticks, (i * QUERIES * 8) as u64);
            }
        }
        Ok(encoder)
    }

    /// The bind groups of all dispatches of launches; `args` is where their arguments lie if these do not travel as immediates.
    fn groups(
        &self,
        launches: &[Launch<'_>],
        variants: &[&Variant],
        args: Option<&GpuMemory>,
    ) -> Result<Vec<wgpu::BindGroup>> {
        let all = launches.iter().zip(variants);
        all.flat_map(|(launch, variant)| variant.groups(self, launch, args)).collect()
    }

    /// Runs a batch by the host's clock, for adapters without timestamps: a submit between every two marks, and a wait
    /// for each.
    fn timed_by_submits(&self, batch: &[Launch<'_>], marks: &[usize]) -> Result<Vec<f64>> {
        self.drain()?;
        let mut times = vec![host_seconds()];
        for part in marks.windows(2) {
            self.encode(&batch[part[0]..part[1]], None)?;
            self.drain()?;
            times.push(host_seconds());
        }
        Ok(times)
    }

    /// Runs a batch with a timestamp at every mark and waits for them; seconds of the GPU's clock where it has one.
    pub(super) fn timed(&self, batch: &[Launch<'_>], marks: &[usize]) -> Result<Vec<f64>> {
        if matches!(self.clock, Clock::Host | Clock::Submits) {
            return self.timed_by_submits(batch, marks);
        }
        let set = |marks: &[usize]| {
            let (label, ty, count) = (None, wgpu::QueryType::Timestamp, marks.len() as u32);
            self.device.create_query_set(&wgpu::QuerySetDescriptor { label, ty, count })
        };
        let mut bytes = vec![0u8; marks.len() * 8];
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let ticks = buffer(&self.device, Some("timestamps"), bytes.len() as u64, usage);
        let stamps = Stamps {
            marks,
            sets: marks.chunks(QUERIES).map(set).collect(),
            ticks,
            passes: self.clock == Clock::Passes,
        };
        self.timestamps.fetch_add(marks.len() as u64, Ordering::Relaxed);
        self.encode(batch, Some(&stamps))?;
        self.read_into(&stamps.ticks, &mut bytes)?;
        let period = self.queue.get_timestamp_period() as f64 * 1e-9;
        // Counted from the first: an f64 does not hold the nanoseconds of decades.
        let ticks = bytes.chunks_exact(8).map(|eight| eight.iter().rev().fold(0, |t, &b| t << 8 | b as u64));
        let since = |ticks: u64| ticks.wrapping_sub(*self.first_tick.get_or_init(|| ticks)) as i64;
        Ok(ticks.map(|ticks| since(ticks) as f64 * period).collect())
    }

    /// Writes the arguments of all launches into one uniform buffer.
    fn upload_args(&self, batch: &[Launch<'_>]) -> Result<Arguments> {
        let step = self.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
        let (mut bytes, mut offsets): (Vec<u8>, Vec<u32>) = (vec![], Vec::with_capacity(batch.len()));
        for launch in batch {
            offsets.push(bytes.len() as u32);
            bytes.extend_from_slice(bytemuck::cast_slice(&packed(launch)));
            bytes.resize(bytes.len().next_multiple_of(step), 0);
        }
        let mut kept = lock(&self.arguments);
        let memory = match &*kept {
            Some(memory) if memory.buffer.size() >= bytes.len() as u64 => memory.clone(),
            _ => {
                let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
                let size = (bytes.len() as u64).next_power_of_two().max(65_536);
                let buffer = buffer(&self.device, Some("arguments"), size, usage);
                kept.insert(Arc::new(self.named(buffer))).clone()
            }
        };
        self.write(&memory, &bytes)?;
        Ok(Arguments { memory, offsets })
    }
}

/// Records the commands of one launch, for which the next bind groups are; its arguments lie at `offset` if they do not travel
/// as immediates.
fn dispatch<'a>(
    pass: &mut wgpu::ComputePass<'_>,
    already: &mut Already<'a>,
    launch: &Launch<'_>,
    variant: &'a Variant,
    groups: &mut std::slice::Iter<'_, wgpu::BindGroup>,
    offset: u32,
) {
    for (ready, group) in variant.dispatches.iter().zip(groups) {
        let same = already.pipeline.is_some_and(|current| std::ptr::eq(current, ready));
        if !same {
            pass.set_pipeline(&ready.pipeline);
            already.pipeline = Some(ready);
        }
        pass.set_bind_group(0, group, if ready.uniform() { std::slice::from_ref(&offset) } else { &[] });
        if ready.immediates {
            let words = packed(launch);
            if !same || words != already.immediates {
                pass.set_immediates(0, bytemuck::cast_slice(&words));
                already.immediates = words;
            }
        }
        pass.dispatch_workgroups(ready.grid[0], ready.grid[1], 1);
    }
}

/// The arguments of a batch in a uniform buffer.
pub(super) struct Arguments {
    memory: Arc<GpuMemory>,
    /// Where each launch's begin.
    offsets: Vec<u32>,
}

/// The arguments of a launch as words.
type Words = smallvec::SmallVec<[u32; 16]>;

/// The arguments of a launch, padded to whole vectors.
fn packed(launch: &Launch<'_>) -> Words {
    let mut out = Words::new();
    for (&value, &dtype) in launch.args.iter().zip(&launch.kernel.args) {
        out.extend_from_slice(&words(value, dtype));
    }
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_order_and_even() {
        let lengths =
            |launches, one| pieces(launches, one).iter().map(|piece| piece.len()).collect::<Vec<_>>();
        assert_eq!(lengths(0, false), [0]);
        assert_eq!(lengths(48, false), [48]);
        assert_eq!(lengths(49, false), [32, 17]);
        assert_eq!(lengths(168, false), [32, 68, 68]);
        assert_eq!(lengths(168, true), [168]);
        let many = pieces(1000, false);
        assert!(many.windows(2).all(|pair| pair[0].end == pair[1].start) && many.last().unwrap().end == 1000);
        assert!(many[1..].iter().all(|piece| (120..=MOST).contains(&piece.len())), "{many:?}");
    }
}
