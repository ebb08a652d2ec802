//! Launching: a batch of kernels becomes a few command buffers, each one compute pass and one submit.

use super::memory::GpuMemory;
use super::pipeline::{GpuPipeline, Ready, Variant};
use super::{Wgpu, lock, own};
use crate::device::Launch;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use std::sync::Arc;

/// Launches that a long batch begins with.
const FIRST: usize = 32;
/// The most launches of a submit after them.
const MOST: usize = 256;

/// Where the GPU writes the time.
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    ticks: GpuMemory,
    count: u32,
    /// Around every launch, or around the whole batch.
    each: bool,
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
    /// Encodes and submits a batch. With a clock, writes the time into it before and after the pass, or each launch.
    pub(super) fn encode(&self, batch: &[Launch<'_>], clock: Option<&Clock>) -> Result<()> {
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
        let mut first = 0;
        while first < batch.len() {
            // The GPU begins with the first launches while the rest is encoded, and has no more than one piece left
            // when the last is; few pieces, because a submit costs as much as some launches.
            let left = batch.len() - first;
            let many = match (clock, first) {
                (None, 0) if left > FIRST + FIRST / 2 => FIRST,
                (None, _) => left.div_ceil(left.div_ceil(MOST)),
                (Some(_), _) => left,
            };
            let end = first + many;
            self.encode_some(batch, &variants, first..end, args.as_ref(), clock)?;
            first = end;
        }
        // What went wrong meanwhile, such as the loss of the device.
        self.reader.check()
    }

    fn encode_some(
        &self,
        batch: &[Launch<'_>],
        variants: &[Arc<Variant>],
        range: std::ops::Range<usize>,
        args: Option<&Arguments>,
        clock: Option<&Clock>,
    ) -> Result<()> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let whole = clock.filter(|c| !c.each).map(|c| wgpu::ComputePassTimestampWrites {
            query_set: &c.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let each = clock.filter(|c| c.each);
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes: whole });
        // What the pass has set already.
        let (mut current, mut immediates): (Option<&Ready>, Words) = (None, Words::new());
        for i in range {
            let (launch, variant) = (&batch[i], &variants[i]);
            if let Some(clock) = each {
                pass.write_timestamp(&clock.queries, 2 * i as u32);
            }
            for ready in &variant.dispatches {
                let group = variant.group(self, ready, launch, args.map(|a| &*a.memory))?;
                let same = current.is_some_and(|current| std::ptr::eq(current, ready));
                if !same {
                    pass.set_pipeline(&ready.pipeline);
                    current = Some(ready);
                }
                match args.filter(|_| ready.uniform()) {
                    Some(args) => pass.set_bind_group(0, &group, &[args.offsets[i]]),
                    None => pass.set_bind_group(0, &group, &[]),
                }
                if ready.immediates {
                    let words = packed(launch);
                    if !same || words != immediates {
                        pass.set_immediates(0, bytemuck::cast_slice(&words));
                        immediates = words;
                    }
                }
                pass.dispatch_workgroups(ready.grid[0], ready.grid[1], 1);
            }
            if let Some(clock) = each {
                pass.write_timestamp(&clock.queries, 2 * i as u32 + 1);
            }
        }
        drop(pass);
        if let Some(clock) = clock {
            encoder.resolve_query_set(&clock.queries, 0..clock.count, &clock.ticks.buffer, 0);
        }
        self.submit(encoder);
        Ok(())
    }

    /// Runs a batch between timestamps and waits for them; seconds of the GPU's clock.
    pub(super) fn timed(&self, batch: &[Launch<'_>], each: bool) -> Result<Vec<(f64, f64)>> {
        // The most queries of a set; longer batches go in pieces.
        const QUERIES: usize = 2048;
        let features = self.device.features();
        let each = each && features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);
        if !features.contains(wgpu::Features::TIMESTAMP_QUERY) {
            let detail = "this adapter has no timestamps".into();
            return Err(Error::Device { device: self.name.clone(), detail });
        }
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
            let clock = Clock { queries, ticks: GpuMemory { buffer, id: 0 }, count, each };
            self.encode(part, Some(&clock))?;
            let mut bytes = vec![0u8; count as usize * 8];
            self.read(&clock.ticks, bytes.len())?.take(|ticks| bytes.copy_from_slice(ticks))?;
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
