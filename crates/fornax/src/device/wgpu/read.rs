//! Reading back. A copy into a buffer that the host can map is queued behind the work that it depends on, and mapped when
//! the GPU has come so far; whoever reads decides whether to wait. With the bytes come the status words of all kernels
//! before. Such buffers are kept, so a loop that reads a step behind uses two of them by turns.

use super::memory::{USAGE, buffer};
use super::submit::Submits;
use super::{Wgpu, lock};
use crate::device::Reading;
use crate::error::{Error, Result};
use crate::span::{self, Phase};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;

/// Bytes of the status words.
const STATUS: u64 = 16;

/// What reads of one device share; they may outlive the device's handle.
pub(super) struct Reader {
    name: String,
    device: wgpu::Device,
    submits: Arc<Submits>,
    /// Four words in which kernels report: whether an index was bad, the index, the size of its axis.
    pub status: wgpu::Buffer,
    /// How often the status was set back. A read whose status is older has nothing new to set back.
    resets: AtomicU64,
    /// Buffers that can be mapped and that nobody uses.
    free: Mutex<Vec<wgpu::Buffer>>,
    /// How many such buffers were made.
    pub fresh: AtomicU64,
    /// The first error that no call was there to return, such as the loss of the device.
    fault: Arc<Mutex<Option<String>>>,
    watcher: OnceLock<Mutex<Sender<wgpu::SubmissionIndex>>>,
}

impl Reader {
    pub fn new(
        name: String,
        device: &wgpu::Device,
        submits: Arc<Submits>,
        fault: Arc<Mutex<Option<String>>>,
    ) -> Reader {
        let status = buffer(device, Some("status"), STATUS, USAGE);
        // Not all drivers give memory that is zero, where wgpu takes it for that.
        submits.write(&status, 0, &[0; STATUS as usize]);
        Reader {
            name,
            device: device.clone(),
            submits,
            status,
            resets: AtomicU64::new(0),
            free: Mutex::default(),
            fresh: AtomicU64::new(0),
            fault,
            watcher: OnceLock::new(),
        }
    }

    /// The error that happened outside a call, if one did. It stays: such a device is not to be trusted.
    pub fn check(&self) -> Result<()> {
        match &*lock(&self.fault) {
            Some(message) => Err(self.failed(message)),
            None => Ok(()),
        }
    }

    /// Bytes that do not come mean that the device is gone, even if the driver has not said so yet.
    fn broken(&self, detail: &dyn std::fmt::Display) -> Error {
        let detail = format!("reading back: {detail}");
        lock(&self.fault).get_or_insert_with(|| detail.clone());
        self.failed(detail)
    }

    /// An error where nobody may wait.
    pub fn may_wait(&self) -> Result<()> {
        if cfg!(target_family = "wasm") {
            return Err(self.failed(
                "a browser does not wait for a GPU; await instead: to_vec_async, item_async, synchronize_async",
            ));
        }
        Ok(())
    }

    fn failed(&self, detail: impl ToString) -> Error {
        Error::Device { device: self.name.clone(), detail: detail.to_string() }
    }

    /// A mappable buffer of at least that size.
    fn take(&self, bytes: u64) -> wgpu::Buffer {
        let mut free = lock(&self.free);
        if let Some(i) = free.iter().position(|b| b.size() >= bytes && b.size() <= bytes.max(4096) * 4) {
            return free.swap_remove(i);
        }
        drop(free);
        self.fresh.fetch_add(1, Ordering::Relaxed);
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes.next_power_of_two().max(256),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    fn give(&self, buffer: wgpu::Buffer) {
        const KEEP: usize = 8;
        buffer.unmap();
        let mut free = lock(&self.free);
        if free.len() == KEEP {
            free.remove(0);
        }
        free.push(buffer);
    }

    /// Turns what kernels reported into an error, and forgets it.
    fn raise(&self, status: [u32; 4], resets: u64) -> Result<()> {
        if status[0] == 0 {
            return Ok(());
        }
        if self.resets.compare_exchange(resets, resets + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.submits.write(&self.status, 0, &[0; STATUS as usize]);
        }
        let (index, size) = (status[1] as i32, status[2]);
        Err(Error::Index { op: "gather", detail: format!("index {index} is outside 0..{size}") })
    }

    /// Makes sure that the callbacks of a submission are called without anybody waiting for it: a browser does that by
    /// itself, elsewhere a thread waits.
    fn watch(&self, index: &wgpu::SubmissionIndex) {
        if cfg!(target_family = "wasm") {
            return;
        }
        let watcher = self.watcher.get_or_init(|| {
            let (send, receive) = channel::<wgpu::SubmissionIndex>();
            let device = self.device.clone();
            // It ends with the reader. What a poll fails with comes to light where the bytes are taken.
            std::thread::spawn(move || {
                for index in receive {
                    let _ =
                        device.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None });
                }
            });
            Mutex::new(send)
        });
        let _ = lock(watcher).send(index.clone());
    }
}

/// Whether a buffer is mapped, and who wants to know.
#[derive(Default)]
struct Arrival {
    mapped: AtomicBool,
    failed: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// Bytes on their way from a GPU.
pub(super) struct GpuReading {
    reader: Arc<Reader>,
    /// Taken when it is dropped.
    staging: Option<wgpu::Buffer>,
    index: wgpu::SubmissionIndex,
    arrival: Arc<Arrival>,
    watched: bool,
    bytes: usize,
    resets: u64,
}

impl Wgpu {
    /// Queues the copy of a buffer's first bytes.
    pub(super) fn read(&self, buffer: &wgpu::Buffer, bytes: usize) -> Result<GpuReading> {
        self.reader.check()?;
        let (reader, size) = (self.reader.clone(), padded(bytes));
        let staging = reader.take(size + STATUS);
        let resets = reader.resets.load(Ordering::Relaxed);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if size > 0 {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size.min(buffer.size()));
        }
        encoder.copy_buffer_to_buffer(&reader.status, 0, &staging, size, STATUS);
        let index = self.submits.submit([encoder.finish()]);
        let arrival = Arc::new(Arrival::default());
        let (arrived, submits) = (arrival.clone(), self.submits.clone());
        staging.slice(..size + STATUS).map_async(wgpu::MapMode::Read, move |result| {
            arrived.failed.store(result.is_err(), Ordering::Relaxed);
            arrived.mapped.store(true, Ordering::Release);
            if let Some(waker) = lock(&arrived.waker).take() {
                submits.wake(waker);
            }
        });
        Ok(GpuReading { reader, staging: Some(staging), index, arrival, watched: false, bytes, resets })
    }

    /// Waits for everything before, and raises what it reported.
    pub(super) fn check_status(&self) -> Result<()> {
        self.read(&self.reader.status, 0)?.take(|_| ())
    }
}

fn padded(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(16)
}

impl GpuReading {
    /// Waits for the bytes and shows them.
    pub fn take<R>(mut self, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let reader = self.reader.clone();
        if !self.arrival.mapped.load(Ordering::Acquire) {
            let until = wgpu::PollType::Wait { submission_index: Some(self.index.clone()), timeout: None };
            let _phase = span::enter(Phase::Wait);
            reader.may_wait()?;
            reader.device.poll(until).map_err(|e| reader.broken(&e))?;
        }
        reader.check()?;
        let staging = self.staging.take().ok_or_else(|| reader.failed("it was read already"))?;
        let size = padded(self.bytes);
        let shown = if self.arrival.failed.load(Ordering::Relaxed) {
            Err(reader.broken(&"the memory could not be mapped"))
        } else {
            staging
                .slice(..size + STATUS)
                .get_mapped_range()
                .map_err(|e| reader.broken(&format!("{e:?}")))
                .map(|view| {
                    let status = bytemuck::pod_read_unaligned(&view[size as usize..(size + STATUS) as usize]);
                    (f(&view[..self.bytes]), status)
                })
        };
        reader.give(staging);
        let (value, status) = shown?;
        reader.raise(status, self.resets)?;
        Ok(value)
    }
}

impl Reading for GpuReading {
    fn ready(&mut self) -> bool {
        // Callbacks are called here, at the latest; an error of the poll is one of `wait` too.
        let done = || self.arrival.mapped.load(Ordering::Acquire);
        done() || self.reader.device.poll(wgpu::PollType::Poll).is_err() || done()
    }

    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        self.take(|bytes| bytes.to_vec())
    }

    fn wake(&mut self, waker: &Waker) -> bool {
        *lock(&self.arrival.waker) = Some(waker.clone());
        if !std::mem::replace(&mut self.watched, true) {
            self.reader.watch(&self.index);
        }
        // The callback may have come before the waker was there.
        self.arrival.mapped.load(Ordering::Acquire)
    }
}

impl Drop for GpuReading {
    /// What nobody waited for goes back too: the queue's order keeps a later copy behind this one.
    fn drop(&mut self) {
        if let Some(staging) = self.staging.take() {
            self.reader.give(staging);
        }
    }
}
