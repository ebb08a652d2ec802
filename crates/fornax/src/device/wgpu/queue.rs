//! Launching: a batch of kernels becomes one command buffer with one compute pass, submitted once.

use super::pipeline::{GpuPipeline, Variant};
use super::{Wgpu, own};
use crate::device::Launch;
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use std::sync::Arc;

/// Bytes between the arguments of one launch and the next in the uniform buffer.
pub(super) const ARGS_STRIDE: u64 = 1024;

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
    pub(super) fn encode(&self, batch: &[Launch<'_>]) -> Result<()> {
        self.check()?;
        let mut variants: Vec<Arc<Variant>> = Vec::with_capacity(batch.len());
        for launch in batch {
            variants.push(own::<GpuPipeline>(launch.pipeline, "pipeline")?.variant(self, launch)?);
        }
        // Arguments that do not travel as immediates are written once for the whole batch.
        let uniform = variants.iter().any(|v| v.dispatches.iter().any(|d| d.uniform()));
        let args = uniform.then(|| self.upload_args(batch));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for (i, (launch, variant)) in batch.iter().zip(&variants).enumerate() {
                for ready in &variant.dispatches {
                    let group = variant.group(self, ready, launch, args.as_ref().unwrap_or(&self.status))?;
                    pass.set_pipeline(&ready.pipeline);
                    let offset = [(i as u64 * ARGS_STRIDE) as u32];
                    pass.set_bind_group(0, &group, if ready.uniform() { &offset } else { &[] });
                    if ready.immediates {
                        pass.set_immediates(0, bytemuck::cast_slice(&packed(launch)));
                    }
                    pass.dispatch_workgroups(ready.grid[0], ready.grid[1], 1);
                }
            }
        }
        self.submit(encoder);
        Ok(())
    }

    fn upload_args(&self, batch: &[Launch<'_>]) -> wgpu::Buffer {
        let mut bytes = vec![0u8; batch.len() * ARGS_STRIDE as usize];
        for (i, launch) in batch.iter().enumerate() {
            let words = packed(launch);
            let at = i * ARGS_STRIDE as usize;
            bytes[at..at + words.len() * 4].copy_from_slice(bytemuck::cast_slice(&words));
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("arguments"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }
}

/// The arguments of a launch as words, padded to whole vectors.
fn packed(launch: &Launch<'_>) -> smallvec::SmallVec<[u32; 32]> {
    let pairs = launch.args.iter().zip(&launch.kernel.args);
    let mut out: smallvec::SmallVec<[u32; 32]> = pairs.flat_map(|(&v, &dtype)| words(v, dtype)).collect();
    while out.len() % 4 != 0 {
        out.push(0);
    }
    out
}
