//! The way of commands to the driver. A submit costs as much as ten launches, so those of short batches are recorded into
//! one command buffer that stays open for more of them. It goes with the next submit of any kind, or from a thread that
//! does nothing else: while that is busy with a submit, those of the next gather.

use super::lock;
use crate::span::{self, Phase};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::Waker;

/// Launches that may wait in an open command buffer.
const MOST: usize = 256;

/// A command buffer that more launches may join.
struct Open {
    encoder: wgpu::CommandEncoder,
    pass: wgpu::ComputePass<'static>,
    launches: usize,
}

impl Open {
    fn new(device: &wgpu::Device) -> Open {
        let mut encoder = device.create_command_encoder(&Default::default());
        let pass = encoder.begin_compute_pass(&Default::default()).forget_lifetime();
        Open { encoder, pass, launches: 0 }
    }

    fn finish(self) -> wgpu::CommandBuffer {
        drop(self.pass);
        self.encoder.finish()
    }
}

/// What the thread is for.
enum Task {
    /// To submit what was recorded.
    Flush,
    /// To wake somebody, who may submit something in turn.
    Wake(Waker),
}

impl Task {
    fn run(self, flush: impl FnOnce()) {
        match self {
            Task::Flush => flush(),
            Task::Wake(waker) => waker.wake(),
        }
    }
}

/// Where commands of one device are handed over, in the order in which they were recorded.
pub(super) struct Submits {
    device: wgpu::Device,
    queue: wgpu::Queue,
    open: Mutex<Option<Open>>,
    /// Held from the moment at which the open command buffer is taken until it is submitted.
    order: Mutex<()>,
    count: AtomicU64,
    thread: OnceLock<Mutex<Sender<Task>>>,
    /// Where it tells what nobody waits for.
    fault: Arc<Mutex<Option<String>>>,
}

impl Submits {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, fault: Arc<Mutex<Option<String>>>) -> Submits {
        Submits {
            device: device.clone(),
            queue: queue.clone(),
            open: Mutex::default(),
            order: Mutex::default(),
            count: AtomicU64::new(0),
            thread: OnceLock::new(),
            fault,
        }
    }

    /// How often commands were handed to the driver.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Submits commands, behind those that were recorded before.
    pub fn submit(&self, commands: impl IntoIterator<Item = wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        let _order = lock(&self.order);
        let open = lock(&self.open).take();
        self.hand_over(open.map(Open::finish).into_iter().chain(commands))
    }

    /// Submits what is nobody's work.
    pub fn submit_uncounted(&self, commands: wgpu::CommandBuffer) {
        let _order = lock(&self.order);
        self.queue.submit([commands]);
    }

    /// Submits what was recorded, if anything was.
    pub fn flush(&self) {
        drop(self.flushed());
    }

    /// The same; nobody else submits while what this returns is held.
    fn flushed(&self) -> MutexGuard<'_, ()> {
        let order = lock(&self.order);
        let open = lock(&self.open).take();
        if let Some(open) = open {
            self.hand_over([open.finish()]);
        }
        order
    }

    fn hand_over(&self, commands: impl IntoIterator<Item = wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        let _phase = span::enter(Phase::Submit);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.queue.submit(commands)
    }

    /// Writes bytes into a buffer, behind everything recorded before and ahead of everything recorded later.
    pub fn write(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        // wgpu writes when something is submitted next, ahead of that.
        let _order = self.flushed();
        self.queue.write_buffer(buffer, offset, bytes);
    }

    /// Gives a buffer back to the driver when what uses it has ended. Nobody submits meanwhile: of bytes that are on their way
    /// into a buffer wgpu knows before that submit and after it.
    pub fn destroy(&self, buffer: &wgpu::Buffer) {
        let _order = self.flushed();
        buffer.destroy();
    }

    /// Records some launches that need not be submitted at once.
    pub fn add<E>(
        self: &Arc<Self>,
        launches: usize,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut open = lock(&self.open);
        let first = open.is_none();
        let recording = open.get_or_insert_with(|| Open::new(&self.device));
        recording.launches += launches;
        let (recorded, full) = (record(&mut recording.pass), recording.launches >= MOST);
        drop(open);
        if full {
            self.flush();
        } else if first {
            self.leave(Task::Flush);
        }
        recorded
    }

    /// Wakes whoever waits for a callback of the driver, which may come in the middle of a submit.
    pub fn wake(self: &Arc<Self>, waker: Waker) {
        // A browser's come by themselves.
        if cfg!(target_family = "wasm") { waker.wake() } else { self.leave(Task::Wake(waker)) }
    }

    /// Leaves a task to the thread.
    fn leave(self: &Arc<Self>, task: Task) {
        let thread = self.thread.get_or_init(|| {
            let (send, receive) = channel::<Task>();
            let (submits, fault) = (Arc::downgrade(self), self.fault.clone());
            // It ends with the device.
            let work = move || {
                for task in receive {
                    let flush = || submits.upgrade().iter().for_each(|submits| submits.flush());
                    let is_flush = matches!(task, Task::Flush);
                    // A waker that panics must not keep others from being woken.
                    if catch_unwind(AssertUnwindSafe(|| task.run(flush))).is_err() && is_flush {
                        lock(&fault).get_or_insert("what was recorded could not be submitted".into());
                    }
                }
            };
            // Where none can be had, nobody receives.
            let _ = std::thread::Builder::new().name("submits".into()).spawn(work);
            Mutex::new(send)
        });
        let left = lock(thread).send(task);
        if let Err(SendError(task)) = left {
            task.run(|| self.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Caps, tests::limited};
    use super::*;
    use crate::{DType, Device, Error, Result, Tensor};
    use std::sync::Barrier;
    use std::sync::mpsc::Receiver;
    use std::task::{Context, Wake};
    use std::time::Duration;

    /// One of many ops whose order the result tells for good.
    fn next(u: &Tensor, step: usize) -> Result<Tensor> {
        if step.is_multiple_of(3) { u.neg() } else { u.add(step as f64) }
    }

    /// Evaluations of which each needs the one before.
    fn chain(x: &Tensor, count: usize) -> Result<Tensor> {
        let mut u = x.clone();
        for step in 0..count {
            u = next(&u, step)?;
            u.eval()?;
        }
        Ok(u)
    }

    fn right(count: usize) -> Vec<f32> {
        let step = |v: f32, step: usize| if step.is_multiple_of(3) { -v } else { v + step as f32 };
        vec![(0..count).fold(0.0, step); 1000]
    }

    /// Zeros that are there, on a device that has nothing to do.
    fn zeros(device: &Device) -> Result<Tensor> {
        let x = Tensor::from_slice(&[0f32; 1000], &[1000], device)?;
        device.synchronize()?;
        device.reset_stats();
        Ok(x)
    }

    #[test]
    fn short_batches_share_a_submit() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        // Launches that need an argument and have no immediates go one by one.
        let gathers = gpu.caps.immediates;
        chain(&zeros(&device)?, 2)?;
        let x = zeros(&device)?;
        let busy = gathers.then(|| lock(&gpu.submits.order));
        let u = chain(&x, MOST - 1)?;
        assert_eq!(device.stats().submits, if gathers { 0 } else { MOST as u64 - 1 });
        drop(busy);
        assert_eq!(u.to_vec::<f32>()?, right(MOST - 1));
        assert!(!gathers || device.stats().submits <= 2, "the thread's and the read's: {:?}", device.stats());
        Ok(())
    }

    #[test]
    fn many_short_batches_run_in_order() -> Result<()> {
        for immediates in [true, false] {
            let limit = |caps: Caps| Caps { immediates: caps.immediates && immediates, ..caps };
            let Some((_, device)) = limited(limit) else { return Ok(()) };
            let x = zeros(&device)?;
            assert_eq!(chain(&x, 5 * MOST)?.to_vec::<f32>()?, right(5 * MOST));
            // From several threads, and between batches that are submitted by themselves.
            std::thread::scope(|scope| {
                let one = || -> Result<Vec<f32>> {
                    let mut u = chain(&x, 30)?;
                    for step in 30..90 {
                        u = next(&u, step)?.fence();
                    }
                    chain(&u, 0)?.to_vec()
                };
                let all: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
                all.into_iter().try_for_each(|thread| {
                    assert_eq!(thread.join().expect("no thread panics")?, right(90));
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    #[test]
    fn what_is_written_comes_after_what_was_recorded() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        let next = |i: usize| -> Result<Tensor> {
            // Its memory is that of the next one.
            let x = Tensor::from_slice(&[i as f32; 1000], &[1000], &device)?;
            let y = x.add(1.0)?;
            y.eval()?;
            Ok(y)
        };
        let all = (0..300).map(next).collect::<Result<Vec<_>>>()?;
        for (i, y) in all.iter().enumerate() {
            assert_eq!(y.to_vec::<f32>()?, vec![i as f32 + 1.0; 1000]);
        }
        Ok(())
    }

    /// Whoever is woken: evaluates something, and tells on which thread.
    struct Next(Tensor, Mutex<Sender<String>>);

    impl Wake for Next {
        fn wake(self: Arc<Self>) {
            let sum = self.0.add(1.0).and_then(|next| next.sum_all()?.item::<f32>());
            let thread = std::thread::current().name().unwrap_or_default().to_string();
            let _ = lock(&self.1).send(format!("{sum:?} on {thread}"));
        }
    }

    #[test]
    fn who_is_woken_may_submit() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        let x = zeros(&device)?;
        let (send, receive) = channel();
        let waker = Waker::from(Arc::new(Next(x.clone(), Mutex::new(send))));
        // What takes a while is not there yet when it is asked for.
        let long = Tensor::ones(&[512, 512], DType::F32, &device)?;
        let long = (0..4).try_fold(long.clone(), |product, _| product.matmul(&long)?.mul(1e-3))?;
        let mut value = Box::pin(long.to_vec_async::<f32>());
        assert!(value.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let woken = receive.recv_timeout(Duration::from_secs(60)).expect("it is woken");
        assert_eq!(woken, "Ok(1000.0) on submits", "not in the middle of a submit");
        assert!(value.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        Ok(())
    }

    /// A waker that keeps the thread for submits busy until it is told to go on.
    struct Hold(Mutex<Receiver<()>>);

    impl Wake for Hold {
        fn wake(self: Arc<Self>) {
            let _ = lock(&self.0).recv();
        }
    }

    #[test]
    fn what_could_not_be_submitted_is_told_by_the_next_read() -> Result<()> {
        for awaited in [false, true] {
            let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
            let x = zeros(&device)?;
            let (go_on, hold) = channel();
            gpu.submits.wake(Waker::from(Arc::new(Hold(Mutex::new(hold)))));
            // A launch without a pipeline.
            gpu.submits.add(1, |pass| {
                pass.dispatch_workgroups(1, 1, 1);
                Ok::<(), Error>(())
            })?;
            let (send, receive) = channel();
            std::thread::spawn(move || {
                let read = if awaited { pollster::block_on(x.to_vec_async()) } else { x.to_vec::<f32>() };
                send.send(read.map_err(|e| e.to_string()))
            });
            let read = receive.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
            drop(go_on);
            let error = read.expect_err("it could not be submitted");
            assert!(error.contains("pipeline") && !error.contains("reading back"), "{error}");
            assert!(device.synchronize().is_err_and(|e| e.to_string() == error));
        }
        Ok(())
    }

    #[test]
    fn memory_goes_back_although_kernels_used_it() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        const BYTES: usize = 64 << 20;
        let x = Tensor::zeros(&[BYTES / 4], DType::F32, &device)?;
        x.eval()?;
        let (y, z) = (x.add(1.0)?, x.slice(0, 0, 10, 1)?.add(2.0)?);
        y.eval()?;
        z.eval()?;
        device.synchronize()?;
        let allocated = || gpu.device.generate_allocator_report().map(|report| report.total_allocated_bytes);
        let Some(before) = allocated() else { return Ok(()) };
        // Also while what uses it is recorded and cannot be submitted.
        let w = y.slice(0, 0, 10, 1)?.add(&z)?;
        let (held, submits) = (Barrier::new(2), &gpu.submits);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _order = lock(&submits.order);
                held.wait();
                std::thread::sleep(Duration::from_millis(50));
            });
            held.wait();
            w.eval()?;
            drop((x, y, z));
            device.trim();
            assert_eq!(w.to_vec::<f32>()?, [3.0; 10]);
            Ok(())
        })?;
        device.synchronize()?;
        let after = allocated().unwrap_or(before);
        assert!(after + 2 * BYTES as u64 <= before, "{before} bytes before, {after} after");
        Ok(())
    }
}
