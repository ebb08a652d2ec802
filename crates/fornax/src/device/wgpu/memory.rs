//! Buffers, and the way of bytes into and out of them.

use super::{Wgpu, lock, wait};
use crate::device::Memory;
use crate::error::{Error, Result};
use crate::span::{self, Phase};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// A buffer of its own: disjoint parts of one buffer would be ordered one after another by wgpu's barriers.
pub(super) struct GpuMemory {
    pub buffer: wgpu::Buffer,
    /// Distinguishes memories in the keys of bind groups; never used again.
    pub id: u64,
}

impl Memory for GpuMemory {}

/// Buffers that the host can map, kept for the next read.
#[derive(Default)]
pub(super) struct Staging {
    free: Mutex<Vec<wgpu::Buffer>>,
}

impl Wgpu {
    pub(super) fn new_memory(&self, bytes: usize) -> Option<GpuMemory> {
        let size = (bytes as u64).next_multiple_of(16);
        if size > self.limits.max_buffer_size {
            return None;
        }
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        match wait(scope.pop()) {
            Some(_) => None,
            None => Some(GpuMemory { buffer, id: self.next_memory.fetch_add(1, Ordering::Relaxed) }),
        }
    }

    /// Queued before everything that is submitted later.
    pub(super) fn write(&self, memory: &GpuMemory, bytes: &[u8]) -> Result<()> {
        let whole = bytes.len() / 4 * 4;
        if whole > 0 {
            self.queue.write_buffer(&memory.buffer, 0, &bytes[..whole]);
        }
        if whole < bytes.len() {
            let mut last = [0u8; 4];
            last[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.queue.write_buffer(&memory.buffer, whole as u64, &last);
        }
        self.check()
    }

    /// A mappable buffer of at least that size.
    fn take_staging(&self, bytes: u64) -> wgpu::Buffer {
        let mut free = lock(&self.staging.free);
        if let Some(i) = free.iter().position(|b| b.size() >= bytes && b.size() <= bytes.max(4096) * 4) {
            return free.swap_remove(i);
        }
        drop(free);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes.next_power_of_two().max(256),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    fn give_staging(&self, buffer: wgpu::Buffer) {
        const KEEP: usize = 8;
        let mut free = lock(&self.staging.free);
        if free.len() < KEEP {
            free.push(buffer);
        }
    }

    /// Waits for all launches before and copies the memory's first bytes; with them comes the status.
    pub(super) fn read(&self, memory: &GpuMemory, bytes: &mut [u8]) -> Result<()> {
        let size = (bytes.len() as u64).next_multiple_of(16);
        let staging = self.take_staging(size + 16);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if size > 0 {
            encoder.copy_buffer_to_buffer(&memory.buffer, 0, &staging, 0, size.min(memory.buffer.size()));
        }
        encoder.copy_buffer_to_buffer(&self.status, 0, &staging, size, 16);
        let index = self.submit(encoder);
        let failed = |e: &dyn std::fmt::Display| Error::Device {
            device: self.name.clone(),
            detail: format!("reading back: {e}"),
        };
        staging.slice(..size + 16).map_async(wgpu::MapMode::Read, |_| {});
        let waiting = span::enter(Phase::Wait);
        self.device
            .poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None })
            .map_err(|e| failed(&e))?;
        drop(waiting);
        self.check()?;
        let status: [u32; 4] = {
            let view =
                staging.slice(..size + 16).get_mapped_range().map_err(|e| failed(&format!("{e:?}")))?;
            bytes.copy_from_slice(&view[..bytes.len()]);
            bytemuck::pod_read_unaligned(&view[size as usize..size as usize + 16])
        };
        staging.unmap();
        self.give_staging(staging);
        self.raise(status)
    }

    /// Turns what kernels reported into an error, and forgets it.
    fn raise(&self, status: [u32; 4]) -> Result<()> {
        if status[0] == 0 {
            return Ok(());
        }
        self.queue.write_buffer(&self.status, 0, &[0; 16]);
        let (index, size) = (status[1] as i32, status[2]);
        Err(Error::Index { op: "gather", detail: format!("index {index} is outside 0..{size}") })
    }

    pub(super) fn check_status(&self) -> Result<()> {
        let nothing = GpuMemory { buffer: self.status.clone(), id: 0 };
        self.read(&nothing, &mut [])
    }
}
