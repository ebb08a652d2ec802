//! Buffers in the GPU's memory, and how they go back to the driver.

use super::pipeline::Groups;
use super::{Wgpu, checked, lock};
use crate::device::Memory;
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A buffer of its own: disjoint parts of one buffer would be ordered one after another by wgpu's barriers.
pub(super) struct GpuMemory {
    pub buffer: wgpu::Buffer,
    /// Distinguishes memories in the keys of bind groups; never used again.
    pub id: u64,
    /// Whose bind groups may name it.
    bound_by: Mutex<FxHashMap<usize, Weak<Groups>>>,
}

impl Memory for GpuMemory {}

impl GpuMemory {
    /// Notes that one of these bind groups names it.
    pub fn bind_in(&self, groups: &Arc<Groups>) {
        let mut bound_by = lock(&self.bound_by);
        if bound_by.len() == bound_by.capacity() {
            bound_by.retain(|_, known| known.strong_count() > 0);
        }
        // Nothing else has that address while this is known.
        bound_by.entry(Arc::as_ptr(groups) as usize).or_insert_with(|| Arc::downgrade(groups));
    }
}

impl Drop for GpuMemory {
    /// The driver gets it back when nobody names it any more: bind groups go with it, commands keep it until they have run.
    /// To destroy the buffer instead would make all who use the device wait for those who wait for the GPU.
    fn drop(&mut self) {
        let bound_by = self.bound_by.get_mut().unwrap_or_else(PoisonError::into_inner);
        for groups in bound_by.values().filter_map(Weak::upgrade) {
            lock(&groups).retain(|memories, _| !memories.contains(&self.id));
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

/// The most bytes of a buffer that is no larger than that.
pub(super) fn whole_lines_below(bytes: u64) -> u64 {
    bytes / (2 * LINE as u64) * (2 * LINE as u64)
}

/// What kernels and copies do with a memory.
pub(super) const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

impl Wgpu {
    /// Whether a buffer of the driver's can be so large.
    pub(super) fn can_hold(&self, bytes: usize) -> bool {
        whole_lines(bytes as u64) <= self.limits.max_buffer_size
    }

    fn new_buffer(&self, bytes: usize) -> Option<wgpu::Buffer> {
        if !self.can_hold(bytes) {
            return None;
        }
        checked(&self.device, || buffer(&self.device, None, bytes as u64, USAGE)).ok()
    }

    pub(super) fn new_memory(&self, bytes: usize) -> Option<GpuMemory> {
        self.new_buffer(bytes).map(|buffer| self.named(buffer))
    }

    /// A buffer as a memory with a name of its own.
    pub(super) fn named(&self, buffer: wgpu::Buffer) -> GpuMemory {
        let id = self.next_memory.fetch_add(1, Ordering::Relaxed);
        GpuMemory { buffer, id, bound_by: Mutex::default() }
    }

    /// As [`Wgpu::new_memory`], for what cannot go on without it.
    pub(super) fn memory(&self, bytes: usize) -> Result<GpuMemory> {
        self.scratch(bytes).map(|buffer| self.named(buffer))
    }

    /// Memory that only its owner's bind groups name: it goes with them.
    pub(super) fn scratch(&self, bytes: usize) -> Result<wgpu::Buffer> {
        let full = || Error::OutOfMemory { device: self.name.clone(), requested: bytes, live: 0 };
        self.new_buffer(bytes).ok_or_else(full)
    }
}
