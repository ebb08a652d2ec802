//! The way of commands and bytes to the driver. A submit costs as much as ten launches, so those of short batches are
//! recorded into one command buffer that stays open for more of them, and so are copies of few bytes. It goes with the next
//! submit of any kind, or, once it has launches, from a thread that does nothing else: while that is busy with a submit,
//! those of the next gather. Bytes go by belts of mapped memory, which comes back when they have arrived.

use super::belt::{Belt, Refused};
use super::lock;
use crate::span::{self, Phase};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;

/// Launches and copies that may wait in an open command buffer.
const MOST: usize = 256;
/// The most bytes whose copy is recorded with launches, and those of a piece of their belt.
const FEW: usize = 64 << 10;
/// The same of more bytes, which are submitted by themselves. Each has a piece of its own: pieces of one size serve all.
const MANY: usize = 4 << 20;
/// Bytes of pieces of either kind that may be on their way.
const ON_THEIR_WAY: usize = 32 << 20;

/// A command buffer that more commands may join.
struct Open {
    encoder: wgpu::CommandEncoder,
    /// That of launches in a row.
    pass: Option<wgpu::ComputePass<'static>>,
    launches: usize,
    copies: usize,
}

/// What was recorded and not submitted.
struct Recorded {
    device: wgpu::Device,
    open: Option<Open>,
    belt: Belt,
}

impl Recorded {
    fn open(&mut self) -> (&mut Open, &mut Belt) {
        let encoder = || self.device.create_command_encoder(&Default::default());
        let new = || Open { encoder: encoder(), pass: None, launches: 0, copies: 0 };
        (self.open.get_or_insert_with(new), &mut self.belt)
    }

    /// Records the copy of a few bytes to the beginning of a buffer.
    fn copy(&mut self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), Refused> {
        let (open, belt) = self.open();
        open.pass = None;
        open.copies += 1;
        belt.load(&mut open.encoder, buffer, 0, bytes)
    }

    /// All of it, to be finished and submitted, and the bytes that it carries; what is recorded from now on comes later.
    fn take(&mut self) -> Option<(wgpu::CommandEncoder, usize)> {
        let Open { encoder, pass, .. } = self.open.take()?;
        drop(pass);
        let carried = self.belt.loaded();
        self.belt.send(&encoder);
        Some((encoder, carried))
    }

    fn is_full(&self) -> bool {
        let commands = self.open.as_ref().map_or(0, |open| open.launches + open.copies);
        commands >= MOST || self.belt.loaded() >= ON_THEIR_WAY / 8
    }
}

/// Bytes of a belt that may be on their way.
#[derive(Default)]
struct Sent {
    /// Their submits, the first first, and how many each carries.
    submits: VecDeque<(wgpu::SubmissionIndex, usize)>,
    bytes: usize,
}

impl Sent {
    fn add(&mut self, submit: wgpu::SubmissionIndex, bytes: usize) {
        self.submits.push_back((submit, bytes));
        self.bytes += bytes;
    }

    /// If no more bytes may be on their way, the submit after which as few are as `keep` says. Whoever takes it waits for it.
    fn take_if_full(&mut self, keep: usize) -> Option<wgpu::SubmissionIndex> {
        let mut last = None;
        if self.bytes >= ON_THEIR_WAY {
            while self.bytes > keep
                && let Some((submit, bytes)) = self.submits.pop_front()
            {
                self.bytes -= bytes;
                last = Some(submit);
            }
        }
        last
    }
}

/// Lets wgpu call back what is due, after a submit if one is given. Without a timeout: wgpu panics where one is over just
/// when another thread learns that the submit has ended.
pub(super) fn poll(
    device: &wgpu::Device,
    after: Option<&wgpu::SubmissionIndex>,
) -> Result<(), wgpu::PollError> {
    let until = match after {
        Some(submit) => wgpu::PollType::Wait { submission_index: Some(submit.clone()), timeout: None },
        None => wgpu::PollType::Poll,
    };
    device.poll(until).map(drop)
}

/// What the thread is for.
enum Task {
    /// To submit what was recorded.
    Flush,
    /// To wake somebody, who may submit something in turn.
    Wake(Waker),
}

/// Where commands of one device are handed over, in the order in which they were recorded.
pub(super) struct Submits {
    queue: wgpu::Queue,
    device: wgpu::Device,
    recorded: Mutex<Recorded>,
    /// The belt of many bytes.
    bulk: Mutex<Belt>,
    /// What is on its way by either belt.
    few_sent: Mutex<Sent>,
    many_sent: Mutex<Sent>,
    /// Held from the moment at which what was recorded is taken until it is submitted. The last submit.
    order: Mutex<Option<wgpu::SubmissionIndex>>,
    count: AtomicU64,
    /// How many passes launches were recorded in.
    pub passes: AtomicU64,
    thread: OnceLock<Sender<Task>>,
    /// Where it tells what nobody waits for.
    fault: Arc<Mutex<Option<String>>>,
}

impl Submits {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, fault: Arc<Mutex<Option<String>>>) -> Submits {
        let recorded = Recorded { device: device.clone(), open: None, belt: Belt::new(device, FEW) };
        Submits {
            queue: queue.clone(),
            device: device.clone(),
            recorded: Mutex::new(recorded),
            bulk: Mutex::new(Belt::new(device, MANY)),
            few_sent: Mutex::default(),
            many_sent: Mutex::default(),
            order: Mutex::default(),
            count: AtomicU64::new(0),
            passes: AtomicU64::new(0),
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
        let mut last = lock(&self.order);
        let index = self.hand_over(self.taken(), commands);
        last.insert(index).clone()
    }

    /// Submits what is nobody's work.
    pub fn submit_uncounted(&self, commands: wgpu::CommandBuffer) {
        let mut last = lock(&self.order);
        *last = Some(self.queue.submit([commands]));
    }

    /// Submits what was recorded, if anything was. Gives the last submit that there was.
    pub fn flush(&self) -> Option<wgpu::SubmissionIndex> {
        let mut last = lock(&self.order);
        if let Some(taken) = self.taken() {
            *last = Some(self.hand_over(Some(taken), []));
        }
        last.clone()
    }

    /// What was recorded, if anything was, and the bytes that it carries. The caller keeps others from submitting.
    fn taken(&self) -> Option<(wgpu::CommandBuffer, usize)> {
        let taken = lock(&self.recorded).take();
        // The dear part, in which others may record.
        taken.map(|(encoder, carried)| (encoder.finish(), carried))
    }

    fn hand_over(
        &self,
        taken: Option<(wgpu::CommandBuffer, usize)>,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> wgpu::SubmissionIndex {
        let _phase = span::enter(Phase::Submit);
        self.count.fetch_add(1, Ordering::Relaxed);
        let (first, carried) = taken.unzip();
        let index = self.queue.submit(first.into_iter().chain(commands));
        if let Some(carried @ 1..) = carried {
            lock(&self.few_sent).add(index.clone(), carried);
        }
        index
    }

    /// Waits until more bytes may be on their way; so few are then.
    fn wait_for_room(&self, sent: &Mutex<Sent>, keep: usize) {
        let full = lock(sent).take_if_full(keep);
        if full.is_some() {
            self.wait(full.as_ref());
        }
    }

    /// Waits for a submit. That a device is lost is told to whoever reads.
    fn wait(&self, submit: Option<&wgpu::SubmissionIndex>) {
        let _phase = span::enter(Phase::Wait);
        let _ = catch_unwind(AssertUnwindSafe(|| poll(&self.device, submit)));
    }

    /// Writes bytes to the beginning of a buffer, behind everything recorded before and ahead of everything recorded later.
    /// They fill whole words.
    pub fn write(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), Refused> {
        if bytes.is_empty() {
            return Ok(());
        }
        if cfg!(target_family = "wasm") {
            // A browser copies them itself, and nothing stays recorded there.
            let (whole, rest) = bytes.split_at(bytes.len() / 4 * 4);
            self.queue.write_buffer(buffer, 0, whole);
            let mut last = [0u8; 4];
            last[..rest.len()].copy_from_slice(rest);
            if !rest.is_empty() {
                self.queue.write_buffer(buffer, whole.len() as u64, &last);
            }
            return Ok(());
        }
        if bytes.len() <= FEW {
            return self.twice(|| self.write_few(buffer, bytes));
        }
        let mut pieces = bytes.chunks(MANY).enumerate();
        pieces.try_for_each(|(i, piece)| self.twice(|| self.write_many(buffer, i * MANY, piece)))
    }

    /// Tries again without what was on its way, if there was no memory.
    fn twice(&self, write: impl Fn() -> Result<(), Refused>) -> Result<(), Refused> {
        match write() {
            Err(Refused::NoMemory) => {
                let last = self.flush();
                self.wait(last.as_ref());
                write()
            }
            done => done,
        }
    }

    /// Records the copy of a few bytes.
    fn write_few(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), Refused> {
        // Seldom: to ask costs as much as some copies.
        self.wait_for_room(&self.few_sent, ON_THEIR_WAY / 2);
        let mut recorded = lock(&self.recorded);
        let (copied, full) = (recorded.copy(buffer, bytes), recorded.is_full());
        drop(recorded);
        if full {
            self.flush();
        }
        copied
    }

    /// Submits the copy of a piece of many bytes.
    fn write_many(&self, buffer: &wgpu::Buffer, offset: usize, bytes: &[u8]) -> Result<(), Refused> {
        let mut belt = lock(&self.bulk);
        self.wait_for_room(&self.many_sent, ON_THEIR_WAY - MANY);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        belt.load(&mut encoder, buffer, offset, bytes)?;
        belt.send(&encoder);
        let index = self.submit([encoder.finish()]);
        lock(&self.many_sent).add(index, MANY);
        Ok(())
    }

    /// Records some launches that need not be submitted at once.
    pub fn add(self: &Arc<Self>, launches: usize, record: impl FnOnce(&mut wgpu::ComputePass<'_>)) {
        let mut recorded = lock(&self.recorded);
        let (open, _) = recorded.open();
        let first = open.launches == 0;
        let begin = || {
            self.passes.fetch_add(1, Ordering::Relaxed);
            open.encoder.begin_compute_pass(&Default::default()).forget_lifetime()
        };
        record(open.pass.get_or_insert_with(begin));
        open.launches += launches;
        let full = recorded.is_full();
        drop(recorded);
        if full {
            self.flush();
        } else if first {
            self.leave(Task::Flush);
        }
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
            let submits = Arc::downgrade(self);
            // It ends with the device.
            let work = move || {
                for task in receive {
                    match task {
                        Task::Flush => submits.upgrade().iter().for_each(|submits| submits.flush_unheard()),
                        // A waker that panics must not keep others from being woken.
                        Task::Wake(waker) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
                    }
                }
            };
            // Where none can be had, nobody receives.
            let _ = std::thread::Builder::new().name("submits".into()).spawn(work);
            send
        });
        match thread.send(task) {
            Ok(()) => {}
            Err(SendError(Task::Flush)) => drop(self.flush()),
            Err(SendError(Task::Wake(waker))) => waker.wake(),
        }
    }

    /// Submits what was recorded. Nobody hears if that fails, so the next to ask is told.
    fn flush_unheard(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.flush())).is_err() {
            lock(&self.fault).get_or_insert("what was recorded could not be submitted".into());
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
        // Few bytes, many, and by turns.
        let few = FEW / 4;
        for lengths in [[1000, 1000], [few + 1, few + 1], [few, few + 1]] {
            let next = |i: usize| -> Result<Tensor> {
                // Its memory is that of the next one.
                let x = Tensor::from_slice(&vec![i as f32; lengths[i % 2]], &[lengths[i % 2]], &device)?;
                let y = x.slice(0, 0, 1000, 1)?.add(1.0)?;
                y.eval()?;
                Ok(y)
            };
            let all = (0..300).map(next).collect::<Result<Vec<_>>>()?;
            for (i, y) in all.iter().enumerate() {
                assert_eq!(y.to_vec::<f32>()?, vec![i as f32 + 1.0; 1000]);
            }
        }
        Ok(())
    }

    #[test]
    fn few_bytes_wait_for_no_submit_and_have_none_of_their_own() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let gathers = gpu.caps.immediates;
        let sum = |i: usize| -> Result<Tensor> {
            let x = Tensor::from_slice(&[i as f32; 100], &[100], &device)?.add(1.0)?;
            x.eval()?;
            Ok(x)
        };
        // Kernels are compiled, and pieces of the belt are there.
        (0..4).try_for_each(|i| sum(i)?.to_vec::<f32>().map(drop))?;
        device.synchronize()?;
        device.reset_stats();
        // Nobody can submit, and nobody has to.
        let busy = gathers.then(|| lock(&gpu.submits.order));
        let all = (0..MOST / 2 - 1).map(sum).collect::<Result<Vec<_>>>()?;
        assert!(!gathers || device.stats().submits == 0);
        drop(busy);
        for (i, x) in all.iter().enumerate() {
            assert_eq!(x.to_vec::<f32>()?, [i as f32 + 1.0; 100]);
        }
        let reads = all.len() as u64;
        assert!(!gathers || device.stats().submits <= reads + 1, "{:?}", device.stats());
        Ok(())
    }

    #[test]
    fn uploads_alone_are_submitted_with_what_comes_next() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        zeros(&device)?;
        let upload = |i: usize| Tensor::from_slice(&[i as f32; 10], &[10], &device);
        let all = (0..MOST - 1).map(upload).collect::<Result<Vec<_>>>()?;
        assert_eq!(device.stats().submits, 0);
        assert_eq!(all[MOST - 2].to_vec::<f32>()?, [(MOST - 2) as f32; 10]);
        assert_eq!(device.stats().submits, 1);
        // Many do not gather for ever.
        let all = (0..2 * MOST).map(upload).collect::<Result<Vec<_>>>()?;
        assert_eq!(device.stats().submits, 3);
        assert_eq!(all[MOST].to_vec::<f32>()?, [MOST as f32; 10]);
        Ok(())
    }

    #[test]
    fn pieces_of_belts_come_back() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let made = || lock(&gpu.submits.recorded).belt.made + lock(&gpu.submits.bulk).made;
        let mut counts = vec![];
        for _ in 0..6 {
            // More than a piece of a belt, and more than may be on their way.
            for (length, count) in [(FEW, 10), (FEW + 4, 24), (ON_THEIR_WAY + 2 * MANY + 5, 2)] {
                let bytes = vec![7u8; length];
                let upload = |_| Tensor::from_bytes(&bytes, &[length], DType::U8, &device);
                let all = (0..count).map(upload).collect::<Result<Vec<_>>>()?;
                all.iter().try_for_each(|x| x.to_bytes().map(|read| assert!(read == bytes)))?;
            }
            counts.push(made());
        }
        // How many are on their way at once depends on how soon they arrive: never more than one round uses, so that all
        // other rounds do with those of the first and few new ones.
        let of_a_round = 10 + 24 + 2 * (ON_THEIR_WAY / MANY + 2);
        assert!(counts[0] > 0 && counts[5] < of_a_round, "{counts:?}");
        Ok(())
    }

    #[test]
    fn not_many_bytes_are_on_their_way() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        for (length, count) in [(FEW + 1, 24), (MANY, 16), (ON_THEIR_WAY + 2 * MANY + 5, 2)] {
            let upload = |i: u8| Tensor::from_bytes(&vec![i; length], &[length], DType::U8, &device);
            let all = (0..count as u8).map(upload).collect::<Result<Vec<_>>>()?;
            assert!(lock(&gpu.submits.many_sent).bytes <= ON_THEIR_WAY);
            for (i, x) in all.iter().enumerate() {
                assert!(x.to_bytes()? == vec![i as u8; length], "{i} of {length}");
            }
        }
        Ok(())
    }

    #[test]
    fn few_bytes_of_many_submits_wait_for_those_before() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        // What takes a while, and behind it one submit after another that carries something.
        let x = Tensor::ones(&[512, 512], DType::F32, &device)?;
        let long = (0..4).try_fold(x.clone(), |product, _| product.matmul(&x)?.mul(1e-3))?;
        long.eval()?;
        let mut most = 0;
        let mut all = vec![];
        for i in 0..2 * ON_THEIR_WAY / FEW {
            all.push(Tensor::from_slice(&[i as f32; 4], &[4], &device)?);
            gpu.submits.flush();
            most = most.max(lock(&gpu.submits.few_sent).bytes);
        }
        assert!((ON_THEIR_WAY / 2..=ON_THEIR_WAY + FEW).contains(&most), "{most}");
        for (i, x) in all.iter().enumerate().step_by(100) {
            assert_eq!(x.to_vec::<f32>()?, [i as f32; 4]);
        }
        // Pieces that are only half used count whole.
        let upload = |_| Tensor::from_bytes(&vec![1u8; FEW / 2 + 4], &[FEW / 2 + 4], DType::U8, &device);
        let all = (0..2 * MOST).map(upload).collect::<Result<Vec<_>>>()?;
        assert!(device.stats().submits > 0 && all[MOST].to_bytes()?.iter().all(|&byte| byte == 1));
        Ok(())
    }

    #[test]
    fn no_memory_for_bytes_is_an_error_of_that_upload_alone() -> Result<()> {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let upload = |length: usize| Tensor::from_bytes(&vec![3u8; length], &[length], DType::U8, &device);
        let refuse = |count: usize| {
            gpu.submits.flush();
            lock(&gpu.submits.recorded).belt.refused = count;
            lock(&gpu.submits.bulk).refused = count;
        };
        let before = upload(100)?;
        for length in [100, FEW + 1, 3 * MANY] {
            // Without what was on its way, and then without what the pool holds, there is enough.
            for count in 0..4 {
                refuse(count);
                assert!(upload(length)?.to_bytes()?.iter().all(|&byte| byte == 3), "{length}, {count}");
            }
            refuse(4);
            match upload(length).map(drop) {
                Err(Error::OutOfMemory { requested, .. }) => assert_eq!(requested, length),
                other => panic!("{length}: {other:?}"),
            }
        }
        // Pieces that no driver can give.
        let most = usize::try_from(gpu.device.limits().max_buffer_size).unwrap_or(usize::MAX) / 16 * 16;
        *lock(&gpu.submits.bulk) = Belt::new(&gpu.device, most.saturating_add(16));
        let refused = upload(3 * MANY).map(drop);
        assert!(matches!(refused, Err(Error::Device { .. } | Error::OutOfMemory { .. })), "{refused:?}");
        *lock(&gpu.submits.bulk) = Belt::new(&gpu.device, MANY);
        assert!(upload(3 * MANY)?.to_bytes()?.iter().all(|&byte| byte == 3));
        assert_eq!(before.to_bytes()?, [3; 100]);
        gpu.reader.check()
    }

    #[test]
    fn bytes_of_any_number_arrive() -> Result<()> {
        let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
        let (few, many) = (FEW, MANY);
        for length in
            [0, 1, 3, 4, 5, 1000, few - 3, few - 1, few, few + 1, few + 4, 5 * few + 2, many, many + 3]
        {
            let bytes: Vec<u8> = (0..length).map(|i| (i * i / 7 + 3 * i) as u8).collect();
            let x = Tensor::from_bytes(&bytes, &[length], DType::U8, &device)?;
            assert!(x.to_bytes()? == bytes, "{length} bytes");
            assert!(x.add(0)?.to_bytes()? == bytes, "{length} bytes, by a kernel");
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
            gpu.submits.add(1, |pass| pass.dispatch_workgroups(1, 1, 1));
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
        let Some(before) = allocated() else {
            println!("this driver does not tell what is allocated: nothing was tested");
            return Ok(());
        };
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
