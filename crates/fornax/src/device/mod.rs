//! Stops 6 and 7 of the path: devices. A device is one folder behind the small [`Backend`] trait: it
//! allocates memory, compiles kernels and launches them. No method is named after an op, and nothing here
//! knows tensors or graphs. [`Device`] is the handle that tensors carry: a backend with its pool, plan cache,
//! statistics and settings.

mod backend;
mod compile;
pub mod cpu;
mod pool;
mod stats;
mod timing;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub(crate) use backend::host_seconds;
pub use backend::{Backend, Clock, Counts, Launch, Memory, Pipeline, Reading, Way};
pub use pool::{Buffer, PoolStats};
pub(crate) use pool::{PoolEvent, Recorded};
pub(crate) use pool::{size_class, size_class_within};
pub use stats::Stats;
pub(crate) use timing::Times;
pub use timing::{Sample, Timing, TimingMode};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::plan_cache::PlanCache;
use crate::schedule::Plan;
use pool::Pool;
use stats::Counters;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;
use web_time::Instant;

/// A plan that ran while somebody measured or recorded.
pub(crate) struct Ran {
    pub plan: Arc<Plan>,
    /// When it had come how far.
    pub times: Times,
    /// When the call that ran it returned.
    pub done: Instant,
    /// The memories of its inputs, outputs and slots, as [`Buffer::id`] names them; empty unless recording.
    pub memories: Vec<usize>,
}

pub(crate) struct Settings {
    /// What is timed, and the number of launches since that was set.
    pub timing: Mutex<(TimingMode, usize)>,
    pub fusion: AtomicBool,
    pub plan_reuse: AtomicBool,
    pub verify: AtomicBool,
    /// Whether plans that run are kept for a profile.
    pub recording: AtomicBool,
    /// Bytes; `usize::MAX` for none.
    pub budget: AtomicUsize,
}

pub(crate) struct Inner {
    /// No other device of this process has it.
    pub id: u64,
    pub backend: Arc<dyn Backend>,
    pub pool: Arc<Pool>,
    pub plans: Mutex<PlanCache>,
    pipelines: compile::Pipelines,
    pub settings: Settings,
    pub counters: Counters,
    ran: Mutex<Vec<Ran>>,
    pub peaks: Mutex<Option<crate::peaks::Peaks>>,
}

/// Where tensors live and kernels run. Cheap to clone; all clones share pool, plans and statistics.
///
/// ```
/// # use fornax::*;
/// let device = Device::best()?;
/// println!("{device}");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Inner>);

impl Device {
    /// The best device of this machine (a GPU if there is a real one, otherwise the CPU), or the one that
    /// `FORNAX_DEVICE` names. Always the same one. In a browser the CPU, unless [`Device::best_async`] came before.
    pub fn best() -> Result<Device> {
        let mut best = Device::chosen();
        if let Some(device) = &*best {
            return Ok(device.clone());
        }
        let device = match std::env::var("FORNAX_DEVICE") {
            Ok(name) if name == "cpu" => Device::cpu(),
            Ok(name) if !name.is_empty() => Device::open(&name)?,
            _ => Device::gpu().unwrap_or_else(Device::cpu),
        };
        Ok(best.insert(device).clone())
    }

    /// As [`Device::best`], also in a browser, which shows its GPU only to those who await it.
    pub async fn best_async() -> Result<Device> {
        #[cfg(all(feature = "wgpu", target_family = "wasm"))]
        if Device::chosen().is_none()
            && let Some(gpu) = wgpu::Wgpu::best_async().await
        {
            Device::chosen().get_or_insert(Device::with_backend(Arc::new(gpu)));
        }
        Device::best()
    }

    /// What [`Device::best`] found, once it was asked.
    fn chosen() -> MutexGuard<'static, Option<Device>> {
        static BEST: Mutex<Option<Device>> = Mutex::new(None);
        BEST.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The first real GPU that can be opened.
    fn gpu() -> Option<Device> {
        #[cfg(feature = "wgpu")]
        let gpu = wgpu::Wgpu::best().map(|gpu| Device::with_backend(Arc::new(gpu)));
        #[cfg(not(feature = "wgpu"))]
        let gpu = None;
        gpu
    }

    /// The CPU. Always the same device; see [`Device::open`] for one with its own pool, plans and statistics.
    pub fn cpu() -> Device {
        static CPU: LazyLock<Device> = LazyLock::new(|| Device::with_backend(Arc::new(cpu::Cpu::new())));
        CPU.clone()
    }

    /// Opens a device by name, with a pool, plan cache and statistics of its own: "cpu", "wgpu" (the best GPU),
    /// "wgpu:1" (by number) or "wgpu:name" (by a part of its name). [`Device::names`] lists them.
    pub fn open(name: &str) -> Result<Device> {
        match name {
            "cpu" => Ok(Device::with_backend(Arc::new(cpu::Cpu::new()))),
            #[cfg(feature = "wgpu")]
            _ if wgpu::Wgpu::is_named(name) => Ok(Device::with_backend(Arc::new(wgpu::Wgpu::open(name)?))),
            _ => Err(Device::unknown(name)),
        }
    }

    /// As [`Device::open`], without blocking the thread: the only way to a GPU in a browser.
    pub async fn open_async(name: &str) -> Result<Device> {
        #[cfg(feature = "wgpu")]
        if wgpu::Wgpu::is_named(name) {
            return Ok(Device::with_backend(Arc::new(wgpu::Wgpu::open_async(name, |caps| caps).await?)));
        }
        Device::open(name)
    }

    /// The names of all devices of this machine, as [`Device::open`] takes them.
    pub fn names() -> Vec<String> {
        #[cfg(feature = "wgpu")]
        let gpus = wgpu::adapters().into_iter().map(|a| a.device);
        #[cfg(not(feature = "wgpu"))]
        let gpus = std::iter::empty();
        std::iter::once("cpu".to_string()).chain(gpus).collect()
    }

    fn unknown(name: &str) -> Error {
        Error::NoDevice { name: name.into(), detail: format!("there are: {}", Device::names().join(", ")) }
    }

    /// Whether tensors of a dtype can be computed here.
    pub fn supports(&self, dtype: DType) -> bool {
        self.0.backend.supports(dtype)
    }

    /// A device over a backend that was opened in a way of its own, with its own pool, plans and statistics.
    pub fn with_backend(backend: Arc<dyn Backend>) -> Device {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Device(Arc::new(Inner {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            pool: Arc::new(Pool::new(backend.clone())),
            backend,
            plans: Mutex::new(PlanCache::new(256)),
            pipelines: Default::default(),
            ran: Mutex::default(),
            peaks: Mutex::default(),
            settings: Settings {
                timing: Mutex::new((TimingMode::Off, 0)),
                fusion: true.into(),
                plan_reuse: true.into(),
                verify: false.into(),
                recording: false.into(),
                budget: usize::MAX.into(),
            },
            counters: Counters::default(),
        }))
    }

    /// The name, as `FORNAX_DEVICE` would say it.
    pub fn name(&self) -> String {
        self.0.backend.name()
    }

    /// Waits until everything launched has finished.
    pub fn synchronize(&self) -> Result<()> {
        self.0.backend.synchronize()
    }

    /// As [`Device::synchronize`], without blocking the thread.
    pub async fn synchronize_async(&self) -> Result<()> {
        let memory = self.allocate(16)?;
        let mut reading = self.0.backend.read(memory.memory(), 0)?;
        std::future::poll_fn(|context| match reading.wake(context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        reading.wait().map(drop)
    }

    /// Counters since the device was opened or [`Device::reset_stats`].
    pub fn stats(&self) -> Stats {
        let (c, driver, before) = (&self.0.counters, self.0.backend.counts(), *self.0.counters.before());
        Stats {
            plans_built: c.plans_built.load(Ordering::Relaxed),
            plans_reused: c.plans_reused.load(Ordering::Relaxed),
            kernels_compiled: c.kernels_compiled.load(Ordering::Relaxed),
            launches: c.launches.load(Ordering::Relaxed),
            submits: driver.submits - before.submits,
            pipelines_compiled: driver.compiled - before.compiled,
            pipelines_found: driver.found - before.found,
            passes: driver.passes - before.passes,
            bind_groups: driver.bind_groups - before.bind_groups,
            staging: driver.staging - before.staging,
            timestamps: driver.timestamps - before.timestamps,
            pool: self.0.pool.stats(),
        }
    }

    /// Sets all counters to zero; live memory stays what it is, the peak becomes it.
    pub fn reset_stats(&self) {
        let c = &self.0.counters;
        for counter in [&c.plans_built, &c.plans_reused, &c.kernels_compiled, &c.launches] {
            counter.store(0, Ordering::Relaxed);
        }
        *c.before() = self.0.backend.counts();
        self.0.pool.reset_stats();
    }

    /// Sets the most bytes that live tensors and a plan together may take; `None` for no limit. A plan that
    /// would exceed it is refused before it runs. What a device needs beside that, such as parts of sums that several
    /// workgroups of a GPU share, is not counted.
    pub fn set_memory_budget(&self, bytes: Option<usize>) {
        self.0.settings.budget.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
    }

    /// How long the device may measure, when a plan with new matrix products is compiled, which of their forms is
    /// fastest (2 s on GPUs); what it finds is remembered between runs. Zero measures nothing.
    pub fn set_tuning(&self, budget: Duration) {
        self.0.backend.set_tuning(budget);
    }

    /// Switches fusion off or on (on is the default). Off, every op is a kernel of its own: slow, but a
    /// second opinion.
    pub fn set_fusion(&self, on: bool) {
        self.0.settings.fusion.store(on, Ordering::Relaxed);
    }

    /// Switches the reuse of plans off or on (on is the default).
    pub fn set_plan_reuse(&self, on: bool) {
        self.0.settings.plan_reuse.store(on, Ordering::Relaxed);
    }

    /// Switches trust mode on or off (off is the default): every kernel is compared with the reference
    /// interpreter on its real inputs, and the first that differs is an [`Error::Verify`].
    pub fn set_verify(&self, on: bool) {
        self.0.settings.verify.store(on, Ordering::Relaxed);
    }

    /// Measures when launches run (off is the default); [`Device::take_timings`] gives what was measured.
    /// Measuring waits for every plan.
    pub fn set_timing(&self, mode: TimingMode) {
        *self.timed() = (mode, 0);
    }

    /// What is measured now.
    pub(crate) fn timing(&self) -> TimingMode {
        self.timed().0
    }

    /// Where the time of a plan of so many launches is to be read, and how often it is to be evaluated in a row; none if
    /// nothing is measured.
    pub(crate) fn marks(&self, launches: usize) -> Option<(Vec<usize>, usize)> {
        let mut timed = self.timed();
        let first = timed.1;
        timed.1 += launches;
        let mode = timed.0;
        (mode != TimingMode::Off && launches > 0).then(|| (mode.marks(first, launches), mode.repeats()))
    }

    fn timed(&self) -> MutexGuard<'_, (TimingMode, usize)> {
        self.0.settings.timing.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What was measured since the last call, in the order of the launches.
    pub fn take_timings(&self) -> Vec<Timing> {
        let mut timings = vec![];
        for ran in std::mem::take(&mut *self.ran()) {
            for (launches, begin, end) in ran.times.parts() {
                timings.extend(ran.plan.steps[launches].iter().map(|step| Timing {
                    label: step.kernel.label.clone(),
                    scope: step.kernel.scope.path(),
                    backward: step.kernel.scope.is_backward(),
                    work: step.kernel.work,
                    begin,
                    end,
                }));
            }
        }
        timings
    }

    /// Whose clock [`Device::set_timing`] measures with.
    pub fn clock(&self) -> Clock {
        self.0.backend.clock()
    }

    /// What ran since somebody measures or records.
    pub(crate) fn ran(&self) -> MutexGuard<'_, Vec<Ran>> {
        self.0.ran.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps at most this many plans; the least recently used goes first. The default is 256.
    pub fn set_plan_capacity(&self, plans: usize) {
        self.plans().set_capacity(plans);
    }

    /// How many plans are kept now.
    pub fn plans_kept(&self) -> usize {
        self.plans().len()
    }

    /// Gives pooled memory that no tensor uses back to the system; on a GPU when the work that uses it has ended and the device
    /// is next used, or [`Device::synchronize`] waits for both.
    pub fn trim(&self) {
        self.0.pool.trim();
    }

    /// Copies bytes to the start of a memory.
    pub(crate) fn upload(&self, buffer: &Buffer, bytes: &[u8]) -> Result<()> {
        let upload = || self.0.backend.upload(buffer.memory(), bytes);
        match upload() {
            // What waits in the pool may be the room that bytes need on their way.
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                upload()
            }
            done => done,
        }
    }

    pub(crate) fn plans(&self) -> std::sync::MutexGuard<'_, PlanCache> {
        self.0.plans.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Memory from the pool, contents undefined; dropping it gives it back. A program that allocates ahead what it will
    /// need spares its first step the system's slower answer.
    pub fn allocate(&self, bytes: usize) -> Result<Arc<Buffer>> {
        Pool::take(&self.0.pool, bytes)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
