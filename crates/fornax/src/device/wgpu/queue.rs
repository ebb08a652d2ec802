//! Launching: a batch of kernels becomes a few command buffers, each one compute pass, and one or two submits.

use super::memory::GpuMemory;
use super::pipeline::{GpuPipeline, Ready, Variant};
use super::{Wgpu, lock, own};
use crate::device::{Clock, Launch, host_seconds};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::span::{self, Phase};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Launches that a long batch begins with.
const FIRST: usize = 32;
/// The most launches of a piece after them: few, because threads write the pieces at the same time, but not so few that
/// the beginning of a command buffer costs as much as its launches.
const MOST: usize = 64;

/// A batch in pieces: the first is short, so that the GPU begins soon, and the others are even. Or in one.
fn pieces(launches: usize, one: bool) -> Vec<Range<usize>> {
    let first = if one || launches <= FIRST + FIRST / 2 { launches } else { FIRST };
    let (rest, count) = (launches - first, (launches - first).div_ceil(MOST));
    let bound = |i: usize| first + rest * i / count;
    std::iter::once(0..first).chain((0..count).map(|i| bound(i)..bound(i + 1))).collect()
}

/// Where the GPU writes the time.
pub(super) struct Stamps {
    queries: wgpu::QuerySet,
    ticks: GpuMemory,
    count: u32,
    around: Around,
}

/// What two timestamps stand around.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// All launches, which are one pass.
    Batch,
    /// Every launch of the one pass.
    Launches,
    /// Every launch as a pass of its own.
    Passes,
}

impl Stamps {
    /// Makes a pass write the time at its beginning and end.
    fn writes(&self, first: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
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
    /// Encodes and submits a batch. With stamps, lets the GPU write the time there.
    pub(super) fn encode(&self, batch: &[Launch<'_>], stamps: Option<&Stamps>) -> Result<()> {
        self.reader.check()?;
        let mut variants: Vec<Arc<Variant>> = Vec::with_capacity(batch.len());
        for launch in batch {
            variants.push(own::<GpuPipeline>(launch.pipeline, "pipeline")?.variant(self, launch)?);
        }
        // Arguments that do not travel as immediates are written once for the whole batch, and nobody else may
        // write theirs before it is submitted.
        let uniform = variants.iter().any(|v| v.dispatches.iter().any(|d| d.uniform()));
        let _alone = uniform.then(|| lock(&self.launching));
        let args = if uniform { Some(self.upload_args(batch)?) } else { None };
        let record =
            |piece: &Range<usize>| self.record(batch, &variants, piece.clone(), args.as_ref(), stamps);
        match &pieces(batch.len(), stamps.is_some())[..] {
            [all] if all.is_empty() => {}
            [all] => self.hand_over([record(all)?]),
            [first, others @ ..] => {
                // The GPU begins with the first piece while threads write the others.
                let _phase = span::enter(Phase::Submit);
                let mut written = Ok(vec![]);
                rayon::in_place_scope(|scope| {
                    scope.spawn(|_| written = others.par_iter().map(record).collect());
                    record(first).map(|commands| self.hand_over([commands]))
                })?;
                self.hand_over(written?);
            }
            [] => {}
        }
        // What went wrong meanwhile, such as the loss of the device.
        self.reader.check()
    }

    /// Writes the commands of some launches.
    fn record(
        &self,
        batch: &[Launch<'_>],
        variants: &[Arc<Variant>],
        range: Range<usize>,
        args: Option<&Arguments>,
        stamps: Option<&Stamps>,
    ) -> Result<wgpu::CommandBuffer> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let around = stamps.map(|s| s.around);
        let pass_of = |i: usize| match around {
            Some(Around::Passes) => i..i + 1,
            _ => range.clone(),
        };
        let mut next = range.start;
        while next < range.end {
            let part = pass_of(next);
            next = part.end;
            let timestamp_writes = match around {
                Some(Around::Batch) => stamps.map(|s| s.writes(0)),
                Some(Around::Passes) => stamps.map(|s| s.writes(2 * part.start as u32)),
                Some(Around::Launches) | None => None,
            };
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            let mut already = Already::default();
            for i in part {
                let stamped = stamps.filter(|s| s.around == Around::Launches);
                if let Some(stamps) = stamped {
                    pass.write_timestamp(&stamps.queries, 2 * i as u32);
                }
                let args = args.map(|a| (&*a.memory, a.offsets[i]));
                self.dispatch(&mut pass, &mut already, &batch[i], &variants[i], args)?;
                if let Some(stamps) = stamped {
                    pass.write_timestamp(&stamps.queries, 2 * i as u32 + 1);
                }
            }
        }
        if let Some(stamps) = stamps {
            encoder.resolve_query_set(&stamps.queries, 0..stamps.count, &stamps.ticks.buffer, 0);
        }
        // Most of the work on commands is done here.
        let _phase = span::enter(Phase::Submit);
        Ok(encoder.finish())
    }

    /// Writes the commands of one launch; `args` is where its arguments lie if they do not travel as immediates.
    fn dispatch<'a>(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        already: &mut Already<'a>,
        launch: &Launch<'_>,
        variant: &'a Variant,
        args: Option<(&GpuMemory, u32)>,
    ) -> Result<()> {
        for ready in &variant.dispatches {
            let group = variant.group(self, ready, launch, args.map(|(memory, _)| memory))?;
            let same = already.pipeline.is_some_and(|current| std::ptr::eq(current, ready));
            if !same {
                pass.set_pipeline(&ready.pipeline);
                already.pipeline = Some(ready);
            }
            match args.filter(|_| ready.uniform()) {
                Some((_, offset)) => pass.set_bind_group(0, &group, &[offset]),
                None => pass.set_bind_group(0, &group, &[]),
            }
            if ready.immediates {
                let words = packed(launch);
                if !same || words != already.immediates {
                    pass.set_immediates(0, bytemuck::cast_slice(&words));
                    already.immediates = words;
                }
            }
            pass.dispatch_workgroups(ready.grid[0], ready.grid[1], 1);
        }
        Ok(())
    }

    /// Runs a batch by the host's clock, for adapters without timestamps: one submit a launch, and a wait for each.
    fn timed_by_submits(&self, batch: &[Launch<'_>], each: bool) -> Result<Vec<(f64, f64)>> {
        self.drain()?;
        let mut times = Vec::with_capacity(batch.len());
        for part in batch.chunks(if each { 1 } else { batch.len().max(1) }) {
            let begin = host_seconds();
            self.encode(part, None)?;
            self.drain()?;
            let end = host_seconds();
            times.extend(part.iter().map(|_| (begin, end)));
        }
        Ok(times)
    }

    /// Runs a batch between timestamps and waits for them; seconds of the GPU's clock where it has one.
    pub(super) fn timed(&self, batch: &[Launch<'_>], each: bool) -> Result<Vec<(f64, f64)>> {
        // The most queries of a set; longer batches go in pieces.
        const QUERIES: usize = 2048;
        let around = match (self.clock, each) {
            (Clock::Host | Clock::Submits, _) => return self.timed_by_submits(batch, each),
            (_, false) => Around::Batch,
            (Clock::Timestamps, true) => Around::Launches,
            (Clock::Passes, true) => Around::Passes,
        };
        let mut times = vec![];
        for part in batch.chunks(if each { QUERIES } else { batch.len().max(1) }) {
            let count = if each { 2 * part.len() as u32 } else { 2 };
            let queries = self.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count,
            });
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: (count as u64 * 8).next_multiple_of(16),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let stamps = Stamps { queries, ticks: GpuMemory { buffer, id: 0 }, count, around };
            self.encode(part, Some(&stamps))?;
            let mut bytes = vec![0u8; count as usize * 8];
            self.read(&stamps.ticks, bytes.len())?.take(|ticks| bytes.copy_from_slice(ticks))?;
            let period = self.queue.get_timestamp_period() as f64 * 1e-9;
            let tick = |i: usize| {
                let mut eight = [0u8; 8];
                eight.copy_from_slice(&bytes[i * 8..i * 8 + 8]);
                u64::from_le_bytes(eight) as f64 * period
            };
            times.extend((0..part.len()).map(|i| match each {
                true => (tick(2 * i), tick(2 * i + 1)),
                false => (tick(0), tick(1)),
            }));
        }
        Ok(times)
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
                let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("arguments"),
                    size: (bytes.len() as u64).next_power_of_two().max(65_536),
                    usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                let id = self.next_memory.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                kept.insert(Arc::new(GpuMemory { buffer, id })).clone()
            }
        };
        self.queue.write_buffer(&memory.buffer, 0, &bytes);
        Ok(Arguments { memory, offsets })
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
    let pairs = launch.args.iter().zip(&launch.kernel.args);
    let mut out: Words = pairs.flat_map(|(&v, &dtype)| words(v, dtype)).collect();
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
        assert_eq!(lengths(168, false), [32, 45, 45, 46]);
        assert_eq!(lengths(168, true), [168]);
        let many = pieces(1000, false);
        assert!(many.windows(2).all(|pair| pair[0].end == pair[1].start) && many.last().unwrap().end == 1000);
        assert!(many[1..].iter().all(|piece| (60..=MOST).contains(&piece.len())), "{many:?}");
    }
}
