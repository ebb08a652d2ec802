//! The wgpu device: every GPU that Vulkan, Metal, DX12 or a browser's WebGPU reaches. Kernels become WGSL (`print/`), a
//! plan becomes one command buffer (`queue`). Submission is asynchronous: [`Backend::launch`] returns when the work is
//! queued; reading back waits, and uploads of much behind much. Nothing here knows tensors or graphs.

mod adapter;
mod belt;
mod kept;
mod memory;
mod pipeline;
mod print;
mod queue;
mod read;
mod submit;
#[cfg(test)]
mod tests;
mod tune;

pub use adapter::{AdapterReport, adapters, adapters_async};
pub use print::Caps;

use super::{Backend, Clock, Counts, Launch, Memory, Pipeline, Reading, Way};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::span::{self, Phase};
use belt::Refused;
use memory::{GpuMemory, LINE};
use pipeline::GpuPipeline;
use rayon::prelude::*;
use read::Reader;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use submit::Submits;

/// What a future gives that the GPU's driver or a poll completes. Nothing in a browser, where nobody may wait.
fn wait<T>(future: impl Future<Output = T>) -> Option<T> {
    #[cfg(not(target_family = "wasm"))]
    let value = Some(pollster::block_on(future));
    #[cfg(target_family = "wasm")]
    let value = {
        drop(future);
        None
    };
    value
}

/// Makes something on a device, and says what the device has against it: nothing of that is left for the next call to
/// find. A browser does not tell at once: there the next call that uses the device does.
fn checked<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> std::result::Result<T, wgpu::Error> {
    use wgpu::ErrorFilter as Kind;
    if cfg!(target_family = "wasm") {
        return Ok(make());
    }
    // A text that the driver's own compiler does not take is an internal error.
    let scopes =
        [Kind::Validation, Kind::OutOfMemory, Kind::Internal].map(|kind| device.push_error_scope(kind));
    let made = make();
    let found = scopes.into_iter().rev().filter_map(|scope| wait(scope.pop()).flatten());
    // All scopes end here, not only those before the first error.
    match found.reduce(|first, _| first) {
        Some(e) => Err(e),
        None => Ok(made),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A GPU behind wgpu.
pub struct Wgpu {
    name: String,
    /// The adapter, its driver and the version: what is remembered is true of these alone.
    adapter: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
    caps: Caps,
    /// Whether it is a program that plays a GPU.
    software: bool,
    limits: wgpu::Limits,
    submits: Arc<Submits>,
    reader: Arc<Reader>,
    /// The uniform buffer of launch arguments, where immediates do not carry them.
    arguments: Mutex<Option<Arc<GpuMemory>>>,
    /// Held from the writing of arguments to the submit that reads them.
    launching: Mutex<()>,
    next_memory: AtomicU64,
    compiled: AtomicU64,
    found: AtomicU64,
    /// Bind groups that were made.
    groups: AtomicU64,
    /// Those that the GPU was asked to write.
    timestamps: AtomicU64,
    /// Compiled pipelines between runs.
    kept: Arc<kept::Kept>,
    tuner: tune::Tuner,
    /// How launches are timed.
    clock: Clock,
    /// The first time that the GPU wrote.
    first_tick: OnceLock<u64>,
}

impl Wgpu {
    /// Whether that is a name of such a device.
    pub fn is_named(name: &str) -> bool {
        name == "wgpu" || name.starts_with("wgpu:")
    }

    /// Opens the best adapter that can be opened and is a GPU, not a program. In a browser it does not: see
    /// [`Wgpu::best_async`].
    pub fn best() -> Option<Wgpu> {
        wait(Wgpu::best_async()).flatten()
    }

    /// As [`Wgpu::best`], for those who must not wait.
    pub async fn best_async() -> Option<Wgpu> {
        for adapter in adapters_async().await.iter().filter(|adapter| !adapter.software) {
            if let Ok(gpu) = Wgpu::open_async(&adapter.device, |caps| caps).await {
                return Some(gpu);
            }
        }
        None
    }

    /// Opens the adapter that a name means; see [`crate::Device::open`].
    pub fn open(name: &str) -> Result<Wgpu> {
        Wgpu::open_with(name, |caps| caps)
    }

    /// Opens an adapter and uses only what `limit` leaves of its capabilities.
    pub fn open_with(name: &str, limit: impl FnOnce(Caps) -> Caps) -> Result<Wgpu> {
        wait(Wgpu::open_async(name, limit)).unwrap_or_else(|| {
            let detail = "a browser opens a GPU only for those who await it: use Device::open_async";
            Err(Error::NoDevice { name: name.into(), detail: detail.into() })
        })
    }

    /// As [`Wgpu::open_with`], for those who must not wait.
    pub async fn open_async(name: &str, limit: impl FnOnce(Caps) -> Caps) -> Result<Wgpu> {
        let instance = adapter::instance();
        let (number, adapter) = adapter::find(&instance, name).await?;
        adapter::suffices(name, &adapter)?;
        let mut features = adapter::features(&adapter);
        // Nothing experimental for nothing: there are matrices of other sizes than those that texts use.
        features.set(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX, adapter::caps(&adapter).cooperative);
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("fornax"),
            required_features: features,
            required_limits: limits.clone(),
            // SAFETY: the experimental feature asked for is cooperative matrices, whose results tests compare with
            // the reference before they are relied upon.
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let refused =
            |e| Error::NoDevice { name: name.into(), detail: format!("the driver refused it: {e}") };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(refused)?;
        let fault = Arc::new(Mutex::new(None));
        let (on_error, on_loss) = (fault.clone(), fault.clone());
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| {
            lock(&on_error).get_or_insert(e.to_string());
        }));
        device.set_device_lost_callback(move |_, message| {
            lock(&on_loss)
                .get_or_insert(format!("the device was lost; open it again or use another: {message}"));
        });
        let name = format!("wgpu:{number}");
        let submits = Arc::new(Submits::new(&device, &queue, fault.clone()));
        let reader = Arc::new(Reader::new(name.clone(), &device, submits.clone(), fault));
        let (mut caps, identity) = (adapter::caps(&adapter), kept::key(&adapter.get_info()));
        if let Some(lanes) = remembered_workgroup(&identity).filter(|&lanes| lanes <= caps.lanes) {
            caps.workgroup = lanes;
        }
        Ok(Wgpu {
            name,
            caps: limit(caps),
            software: adapter::is_software(&adapter),
            limits,
            submits,
            reader,
            arguments: Mutex::default(),
            launching: Mutex::default(),
            next_memory: AtomicU64::new(1),
            compiled: AtomicU64::new(0),
            found: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            timestamps: AtomicU64::new(0),
            tuner: tune::Tuner::open(&identity, adapter::tuning_budget(&adapter)),
            adapter: identity,
            kept: Arc::new(kept::Kept::open(&device, &adapter.get_info())),
            clock: adapter::clock(features),
            first_tick: OnceLock::new(),
            device,
            queue,
        })
    }

    /// Lets devices that are opened later on this adapter use workgroups of that many lanes where kernels leave the
    /// choice; see [`Caps::workgroup`].
    pub fn remember_workgroup(&self, lanes: u32) {
        crate::store::save("workgroup", &self.adapter, lanes.to_string().as_bytes());
    }

    /// Times launches with a coarser clock than the adapter has, as on those that have no better one.
    #[cfg(test)]
    pub(crate) fn timed_with(mut self, clock: Clock) -> Wgpu {
        self.clock = clock;
        self
    }

    /// Writes bytes to the beginning of a memory, in the order of what is recorded.
    fn write(&self, memory: &GpuMemory, bytes: &[u8]) -> Result<()> {
        let written = self.submits.write(&memory.buffer, bytes);
        // Where the device was lost, that is told.
        self.reader.check()?;
        written.map_err(|refused| match refused {
            Refused::NoMemory => {
                Error::OutOfMemory { device: self.name.clone(), requested: bytes.len(), live: 0 }
            }
            Refused::Device(detail) => Error::Device { device: self.name.clone(), detail },
        })
    }

    /// Waits until everything submitted has finished.
    fn drain(&self) -> Result<()> {
        let _phase = span::enter(Phase::Wait);
        self.reader.may_wait()?;
        let last = self.submits.flush();
        self.reader.check()?;
        self.reader.poll(last.as_ref())?;
        self.reader.check()
    }
}

fn remembered_workgroup(adapter: &str) -> Option<u32> {
    let bytes = crate::store::load("workgroup", adapter)?;
    let lanes: u32 = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
    (lanes.is_power_of_two() && (32..=1024).contains(&lanes)).then_some(lanes)
}

impl Drop for Wgpu {
    fn drop(&mut self) {
        self.kept.save();
    }
}

/// The concrete type behind a trait object of this device.
fn own<'a, T: Any>(any: &'a dyn Any, what: &str) -> Result<&'a T> {
    any.downcast_ref().ok_or_else(|| Error::Internal(format!("a {what} of another device reached wgpu")))
}

impl Backend for Wgpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn allocate(&self, bytes: usize) -> Option<Arc<dyn Memory>> {
        if !self.can_hold(bytes) {
            return None;
        }
        let memory = self.new_memory(bytes).or_else(|| {
            // What was given back is free when the work that uses it has ended.
            self.drain().ok()?;
            self.reader.trim();
            self.new_memory(bytes)
        });
        memory.map(|memory| Arc::new(memory) as Arc<dyn Memory>)
    }

    fn upload(&self, memory: &dyn Memory, bytes: &[u8]) -> Result<()> {
        self.write(own(memory, "memory")?, bytes)
    }

    fn download(&self, memory: &dyn Memory, bytes: &mut [u8]) -> Result<()> {
        self.read_into(&own::<GpuMemory>(memory, "memory")?.buffer, bytes)
    }

    fn read(&self, memory: &dyn Memory, bytes: usize) -> Result<Box<dyn Reading>> {
        Ok(Box::new(self.read(&own::<GpuMemory>(memory, "memory")?.buffer, 0..bytes)?))
    }

    fn compile(&self, kernel: &Kernel) -> Result<Box<dyn Pipeline>> {
        Ok(self.compile_all(&[kernel])?.remove(0))
    }

    fn compile_all(&self, kernels: &[&Kernel]) -> Result<Vec<Box<dyn Pipeline>>> {
        let forms = self.tuned(kernels);
        let pipeline = |(kernel, form): (&&Kernel, &Option<print::Form>)| {
            Ok(Box::new(GpuPipeline::new(self, kernel, *form)?) as Box<dyn Pipeline>)
        };
        let made = kernels.par_iter().zip(&forms).map(pipeline).collect();
        self.kept.settle();
        made
    }

    fn launch(&self, batch: &[Launch<'_>]) -> Result<()> {
        self.encode(batch, None)
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn launch_timed(&self, batch: &[Launch<'_>], marks: &[usize]) -> Result<Vec<f64>> {
        self.timed(batch, marks)
    }

    fn alternatives(&self, kernel: &Kernel, keep: bool) -> Result<Vec<Way>> {
        self.all_forms(kernel, keep)
    }

    fn set_tuning(&self, budget: Duration) {
        self.tuner.set_budget(budget);
    }

    fn counts(&self) -> Counts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            submits: self.submits.count(),
            compiled: count(&self.compiled),
            found: count(&self.found),
            passes: count(&self.submits.passes),
            bind_groups: count(&self.groups),
            staging: count(&self.reader.fresh),
            timestamps: count(&self.timestamps),
        }
    }

    fn identity(&self) -> String {
        format!("{}\n{:?}", self.adapter, self.caps)
    }

    fn cooperative(&self) -> bool {
        self.caps.cooperative
    }

    fn memories(&self) -> usize {
        // Some bindings stay free for scratch memories and the status.
        (self.caps.buffers - (self.caps.buffers / 4).max(2)) as usize
    }

    fn side_by_side(&self) -> bool {
        true
    }

    fn line(&self) -> usize {
        LINE
    }

    fn largest(&self) -> usize {
        usize::try_from(self.caps.binding_bytes).unwrap_or(usize::MAX)
    }

    fn supports(&self, dtype: DType) -> bool {
        dtype != DType::F64
    }

    fn synchronize(&self) -> Result<()> {
        self.drain()?;
        self.check_status()
    }
}
