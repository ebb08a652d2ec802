//! Reading back. A copy into a buffer that the host can map is queued behind the work that it depends on, and mapped when
//! the GPU has come so far; whoever reads decides whether to wait. With the bytes come the status words of all kernels
//! before. Such buffers are kept, so a loop that reads a step behind uses two of them by turns.

use super::memory::{USAGE, buffer};
use super::submit::{self, Submits};
use super::{Wgpu, checked, lock};
use crate::device::Reading;
use crate::error::{Error, Result};
use crate::span::{self, Phase};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;

/// Bytes of the status words.
const STATUS: u64 = 16;
/// The largest buffers that are kept for other reads.
const LARGE: u64 = 64 << 20;
/// The most bytes that are read at once by whoever waits: with the status words they fill a buffer.
const PIECE: usize = (8 << 20) - STATUS as usize;

/// What reads of one device share; they may outlive the device's handle.
pub(super) struct Reader {
    name: String,
    device: wgpu::Device,
    submits: Arc<Submits>,
    /// Four words in which kernels report: whether an index was bad, the index, the size of its axis.
    pub status: wgpu::Buffer,
    /// How often the status was set back. A read whose status is older has nothing new to set back. Held while the status is
    /// set back, and until a read's copy of it is submitted.
    resets: Mutex<u64>,
    /// Buffers that can be mapped and that nobody uses.
    free: Mutex<Vec<wgpu::Buffer>>,
    /// Those of reads that nobody waited for. They are free when their bytes have come: wgpu would take a map of the next read
    /// for that of the one before, and show its bytes.
    left: Mutex<Vec<(wgpu::Buffer, Arc<Arrival>)>>,
    /// How many such buffers were made.
    pub fresh: AtomicU64,
    /// The first error that no call was there to return, such as the loss of the device.
    fault: Arc<Mutex<Option<String>>>,
    watcher: OnceLock<Sender<Arc<Arrival>>>,
}

impl Reader {
    pub fn new(
        name: String,
        device: &wgpu::Device,
        submits: Arc<Submits>,
        fault: Arc<Mutex<Option<String>>>,
    ) -> Reader {
        let status = buffer(device, Some("status"), STATUS, USAGE);
        let reader = Reader {
            name,
            device: device.clone(),
            submits,
            status,
            resets: Mutex::new(0),
            free: Mutex::default(),
            left: Mutex::default(),
            fresh: AtomicU64::new(0),
            fault,
            watcher: OnceLock::new(),
        };
        // Not all drivers give memory that is zero, where wgpu takes it for that.
        if !reader.clear() {
            lock(&reader.fault).get_or_insert("there is no memory for what kernels report".into());
        }
        reader
    }

    /// Sets the status back; says whether it could.
    fn clear(&self) -> bool {
        self.submits.write(&self.status, &[0; STATUS as usize]).is_ok()
    }

    /// The error that happened outside a call, if one did. It stays: such a device is not to be trusted.
    pub fn check(&self) -> Result<()> {
        match &*lock(&self.fault) {
            Some(message) => Err(self.failed(message)),
            None => Ok(()),
        }
    }

    /// Bytes that do not come mean that the device is gone, even if the driver has not said so yet. If it has, that is told.
    fn broken(&self, detail: &dyn std::fmt::Display) -> Error {
        let mut fault = lock(&self.fault);
        self.failed(fault.get_or_insert_with(|| format!("reading back: {detail}")))
    }

    /// Lets wgpu call back what is due, after a submit if one is given. It panics where the driver says that the device is
    /// lost.
    pub fn poll(&self, after: Option<&wgpu::SubmissionIndex>) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| submit::poll(&self.device, after))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(e)) => Err(self.broken(&e)),
            Err(_) => Err(self.broken(&"the device was lost; open it again or use another")),
        }
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

    /// Takes back the buffers of reads that nobody waited for, if their bytes have come.
    fn collect(&self) {
        let has_come = |(_, arrival): &mut (_, Arc<Arrival>)| arrival.mapped.load(Ordering::Acquire);
        let come: Vec<_> = lock(&self.left).extract_if(.., has_come).collect();
        come.into_iter().for_each(|(buffer, _)| self.give(buffer));
    }

    /// Gives all buffers that nobody uses back to the driver.
    pub fn trim(&self) {
        self.collect();
        let free = std::mem::take(&mut *lock(&self.free));
        drop(free);
    }

    /// A mappable buffer of at least that size.
    fn take(&self, bytes: u64) -> Result<wgpu::Buffer> {
        self.collect();
        let mut free = lock(&self.free);
        if let Some(i) = free.iter().position(|b| b.size() >= bytes && b.size() <= bytes.max(4096) * 4) {
            return Ok(free.swap_remove(i));
        }
        drop(free);
        // Large ones serve once: rounded up, one could be as large again, or larger than a buffer may be.
        let size = if bytes > LARGE { bytes } else { bytes.next_power_of_two().max(256) };
        let make = || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("staging"),
                size,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let staging = checked(&self.device, make).map_err(|e| match e {
            wgpu::Error::OutOfMemory { .. } => {
                Error::OutOfMemory { device: self.name.clone(), requested: bytes as usize, live: 0 }
            }
            e => self.failed(format!("a buffer to read {bytes} bytes into: {e}")),
        })?;
        self.fresh.fetch_add(1, Ordering::Relaxed);
        Ok(staging)
    }

    fn give(&self, buffer: wgpu::Buffer) {
        const KEEP: usize = 8;
        buffer.unmap();
        if buffer.size() > LARGE {
            return;
        }
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
        let mut count = lock(&self.resets);
        // If it cannot be set back now, the next read finds it again.
        if *count == resets && self.clear() {
            *count += 1;
        }
        drop(count);
        let (index, size) = (status[1] as i32, status[2]);
        Err(Error::Index { op: "gather", detail: format!("index {index} is outside 0..{size}") })
    }

    /// Makes sure that somebody hears of the bytes of a submission without anybody waiting for it: a browser calls back by
    /// itself, elsewhere a thread waits.
    fn watch(self: &Arc<Self>, arrival: &Arc<Arrival>) {
        if cfg!(target_family = "wasm") {
            return;
        }
        let watcher = self.watcher.get_or_init(|| {
            let (send, receive) = channel::<Arc<Arrival>>();
            let reader = Arc::downgrade(self);
            // It ends with the reader.
            let work = move || {
                receive.into_iter().for_each(|arrival| reader.upgrade().iter().for_each(|r| r.hear(&arrival)))
            };
            // Where none can be had, nobody receives, and whoever asks waits.
            let _ = std::thread::Builder::new().name("reads".into()).spawn(work);
            send
        });
        if watcher.send(arrival.clone()).is_err() {
            self.hear(arrival);
        }
    }

    /// Waits for the bytes of a submission.
    fn hear(&self, arrival: &Arrival) {
        // Where nobody is called back any more, it is told here.
        if self.poll(Some(&arrival.index)).is_err() {
            arrival.come(true, Waker::wake);
        }
    }
}

/// Whether a buffer is mapped, and who wants to know.
struct Arrival {
    /// The submit with the copy.
    index: wgpu::SubmissionIndex,
    mapped: AtomicBool,
    failed: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Arrival {
    fn new(index: wgpu::SubmissionIndex) -> Arrival {
        Arrival {
            index,
            mapped: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            waker: Mutex::default(),
        }
    }

    fn come(&self, failed: bool, wake: impl FnOnce(Waker)) {
        self.failed.store(failed, Ordering::Relaxed);
        self.mapped.store(true, Ordering::Release);
        let waker = lock(&self.waker).take();
        waker.map(wake);
    }
}

/// Bytes on their way from a GPU.
pub(super) struct GpuReading {
    reader: Arc<Reader>,
    /// Taken when it is dropped.
    staging: Option<wgpu::Buffer>,
    arrival: Arc<Arrival>,
    watched: bool,
    bytes: usize,
    resets: u64,
}

impl Wgpu {
    /// Waits for a buffer's first bytes: a piece at a time, of which the next is on its way while one is copied, so that many
    /// bytes need no mapped memory of their own.
    pub(super) fn read_into(&self, buffer: &wgpu::Buffer, bytes: &mut [u8]) -> Result<()> {
        let length = bytes.len();
        let piece = |begin: usize| self.read(buffer, begin..length.min(begin + PIECE));
        let (mut coming, mut rest) = (piece(0)?, bytes);
        loop {
            let (part, after) = rest.split_at_mut(rest.len().min(PIECE));
            let next = if after.is_empty() { None } else { Some(piece(length - after.len())?) };
            coming.take(|arrived| part.copy_from_slice(arrived))?;
            let Some(next) = next else { return Ok(()) };
            (coming, rest) = (next, after);
        }
    }

    /// Queues the copy of some bytes of a buffer, from a multiple of 16 on.
    pub(super) fn read(&self, buffer: &wgpu::Buffer, bytes: Range<usize>) -> Result<GpuReading> {
        self.reader.check()?;
        let (reader, size) = (self.reader.clone(), padded(bytes.len()));
        let staging = reader.take(size + STATUS)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if size > 0 {
            let from = bytes.start as u64;
            encoder.copy_buffer_to_buffer(buffer, from, &staging, 0, size.min(buffer.size() - from));
        }
        encoder.copy_buffer_to_buffer(&reader.status, 0, &staging, size, STATUS);
        let copy = encoder.finish();
        let (index, resets) = {
            let resets = lock(&reader.resets);
            (self.submits.submit([copy]), *resets)
        };
        let arrival = Arc::new(Arrival::new(index));
        // The driver's queue keeps what calls back, so that must not keep the queue.
        let (arrived, submits) = (arrival.clone(), Arc::downgrade(&self.submits));
        staging.slice(..size + STATUS).map_async(wgpu::MapMode::Read, move |result| {
            arrived.come(result.is_err(), |waker| match submits.upgrade() {
                Some(submits) => submits.wake(waker),
                None => waker.wake(),
            });
        });
        Ok(GpuReading { reader, staging: Some(staging), arrival, watched: false, bytes: bytes.len(), resets })
    }

    /// Waits for everything before, and raises what it reported.
    pub(super) fn check_status(&self) -> Result<()> {
        self.read_into(&self.reader.status, &mut [])
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
            let _phase = span::enter(Phase::Wait);
            reader.may_wait()?;
            reader.check()?;
            reader.poll(Some(&self.arrival.index))?;
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
        done() || self.reader.poll(None).is_err() || done()
    }

    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        self.take(|bytes| bytes.to_vec())
    }

    fn wake(&mut self, waker: &Waker) -> bool {
        *lock(&self.arrival.waker) = Some(waker.clone());
        if !std::mem::replace(&mut self.watched, true) {
            self.reader.watch(&self.arrival);
        }
        // The callback may have come before the waker was there.
        self.arrival.mapped.load(Ordering::Acquire)
    }
}

impl Drop for GpuReading {
    fn drop(&mut self) {
        if let Some(staging) = self.staging.take() {
            lock(&self.reader.left).push((staging, self.arrival.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::limited;
    use super::*;
    use crate::{DType, Tensor};
    use std::time::Duration;

    #[test]
    fn a_device_goes_though_somebody_left_without_its_bytes() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let submits = Arc::downgrade(&gpu.submits);
        let x = Tensor::ones(&[1000], DType::F32, &device)?;
        drop(x.exp()?.to_vec_later::<f32>()?);
        drop((x, device, gpu));
        // The thread may be in the middle of something.
        let gone = || {
            (0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                submits.strong_count() == 0
            })
        };
        assert!(gone());
        Ok(())
    }

    #[test]
    fn many_bytes_are_read_into_no_more_and_kept_no_longer_than_needed() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        // The next power of two may be more than a buffer can have.
        let most = gpu.device.limits().max_buffer_size;
        let bytes = (most / 2).min(1 << 30) / 16 * 16 + STATUS;
        assert_eq!(gpu.reader.take(bytes)?.size(), bytes);
        let large = Tensor::zeros(&[LARGE as usize + 1], DType::U8, &device)?;
        assert!(large.to_vec_later::<u8>()?.wait()?.iter().all(|&byte| byte == 0));
        assert!(lock(&gpu.reader.free).is_empty());
        // What cannot be had is an error of that read alone.
        let refused = gpu.reader.take(most.saturating_add(16) / 16 * 16);
        assert!(matches!(refused, Err(Error::Device { .. } | Error::OutOfMemory { .. })), "{refused:?}");
        gpu.reader.check()?;
        let x = Tensor::ones(&[1000], DType::F32, &device)?;
        assert_eq!(x.to_vec::<f32>()?, [1.0; 1000]);
        drop(x.to_vec_later::<f32>()?);
        device.synchronize()?;
        gpu.reader.trim();
        assert!(lock(&gpu.reader.free).is_empty() && lock(&gpu.reader.left).is_empty());
        assert_eq!(x.to_vec::<f32>()?, [1.0; 1000]);
        Ok(())
    }

    #[test]
    fn many_bytes_come_in_pieces_through_two_buffers() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        // One byte more than two pieces has a small buffer.
        for (length, fresh) in [(2 * PIECE, 2), (2 * PIECE + 1, 1), (3 * PIECE - 1, 0)] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let x = Tensor::from_bytes(&bytes, &[length], DType::U8, &device)?;
            device.reset_stats();
            assert!(x.to_bytes()? == bytes && x.to_vec::<u8>()? == bytes);
            assert_eq!(device.stats().staging, fresh, "{length}");
        }
        Ok(())
    }

    #[test]
    fn bytes_that_have_not_come_keep_their_buffer() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        let (x, y) = (Tensor::ones(&[1], DType::F32, &device)?, Tensor::zeros(&[1], DType::F32, &device)?);
        crate::eval(&[&x, &y])?;
        device.synchronize()?;
        // One buffer is there, that of the synchronisation.
        for fresh in [1, 0, 0] {
            device.reset_stats();
            // Nobody hears of the first before the second is on its way.
            drop(x.item_later::<f32>()?);
            let second = y.item_later::<f32>()?;
            assert_eq!(device.stats().staging, fresh);
            assert_eq!(second.wait()?, 0.0);
        }
        Ok(())
    }
}
