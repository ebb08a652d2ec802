//! Buffers, and the way of bytes into them.

use super::submit::Submits;
use super::{Wgpu, checked};
use crate::device::Memory;
use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A buffer of its own: disjoint parts of one buffer would be ordered one after another by wgpu's barriers.
pub(super) struct GpuMemory {
    pub buffer: wgpu::Buffer,
    /// Distinguishes memories in the keys of bind groups; never used again.
    pub id: u64,
    /// Where it is named by bind groups that may outlive it: how the driver gets it back all the same.
    outlived: Option<Arc<Submits>>,
}

impl Memory for GpuMemory {}

impl Drop for GpuMemory {
    /// Bind groups that are left are found by memories that are there, so these are never asked for again.
    fn drop(&mut self) {
        if let Some(submits) = &self.outlived {
            submits.destroy(&self.buffer);
        }
    }
}

/// A buffer in the GPU's memory, of whole lines. Buffers lie one behind another there, and NVIDIA's driver asks for 16 bytes
/// between them: rows that begin inside a line of the cache cost products of halves up to a tenth. Where every buffer has whole
/// lines, all of them begin with one.
pub(super) fn buffer(
    device: &wgpu::Device,
    label: Option<&str>,
    bytes: u64,
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let size = whole_lines(bytes);
    device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
}

/// Bytes of a line of the cache.
pub(super) const LINE: usize = 128;

fn whole_lines(bytes: u64) -> u64 {
    bytes.next_multiple_of(2 * LINE as u64)
}

/// What kernels and copies do with a memory.
pub(super) const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Wgpu {
    /// Whether a buffer of the driver's can be so large.
    pub(super) fn can_hold(&self, bytes: usize) -> bool {
        whole_lines(bytes as u64) <= self.limits.max_buffer_size
    }

    pub(super) fn new_memory(&self, bytes: usize) -> Option<GpuMemory> {
        if !self.can_hold(bytes) {
            return None;
        }
        let make = || buffer(&self.device, None, bytes as u64, USAGE);
        let buffer = checked(&self.device, make).ok()?;
        Some(self.named(buffer))
    }

    /// A buffer as a memory with a name of its own.
    pub(super) fn named(&self, buffer: wgpu::Buffer) -> GpuMemory {
        let id = self.next_memory.fetch_add(1, Ordering::Relaxed);
        GpuMemory { buffer, id, outlived: Some(self.submits.clone()) }
    }

    /// Memory for which all bind groups are its owner's. Giving it back waits for nobody.
    pub(super) fn scratch(&self, bytes: usize) -> Result<GpuMemory> {
        let mut memory = self.memory(bytes)?;
        memory.outlived = None;
        Ok(memory)
    }

    /// As [`Wgpu::new_memory`], for what cannot go on without it.
    pub(super) fn memory(&self, bytes: usize) -> Result<GpuMemory> {
        let full = || Error::OutOfMemory { device: self.name.clone(), requested: bytes, live: 0 };
        self.new_memory(bytes).ok_or_else(full)
    }

    /// Queued before everything that is submitted later.
    pub(super) fn write(&self, memory: &GpuMemory, bytes: &[u8]) -> Result<()> {
        let whole = bytes.len() / 4 * 4;
        if whole > 0 {
            self.submits.write(&memory.buffer, 0, &bytes[..whole]);
        }
        if whole < bytes.len() {
            let mut last = [0u8; 4];
            last[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.submits.write(&memory.buffer, whole as u64, &last);
        }
        self.reader.check()
    }
}
