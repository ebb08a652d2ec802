//! What a device must be able to do, and what passes between it and the rest: the only thing that a new one has to
//! implement.

use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::kernel::Kernel;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::task::Waker;
use std::time::Duration;
use web_time::Instant;

/// A memory on a device. The device that made it knows what is behind it.
pub trait Memory: Any + Send + Sync {}

/// A compiled kernel. The device that made it knows what is behind it.
pub trait Pipeline: Any + Send + Sync {}

/// A kernel ready to go, with everything it works on.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// What it does.
    pub kernel: &'a Kernel,
    /// Its compiled form.
    pub pipeline: &'a dyn Pipeline,
    /// One memory for each of `kernel.reads`; each may be larger than the port.
    pub reads: &'a [&'a dyn Memory],
    /// One memory for each of `kernel.writes`.
    pub writes: &'a [&'a dyn Memory],
    /// One number for each of `kernel.args`.
    pub args: &'a [Scalar],
}

/// Seconds of the host's clock since it was first asked for.
pub(crate) fn host_seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Bytes on their way from a device to the host.
pub trait Reading: Send + Sync {
    /// Whether they have arrived, or failed to: then [`Reading::wait`] does not wait.
    fn ready(&mut self) -> bool;
    /// Waits for them. What kernels reported before comes as an error.
    fn wait(self: Box<Self>) -> Result<Vec<u8>>;
    /// True if they have arrived; otherwise a task is woken when they do.
    fn wake(&mut self, waker: &Waker) -> bool;
}

/// Bytes of a device that works only while it is called.
struct Arrived(Vec<u8>);

impl Reading for Arrived {
    fn ready(&mut self) -> bool {
        true
    }

    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        Ok(self.0)
    }

    fn wake(&mut self, _: &Waker) -> bool {
        true
    }
}

/// A way of computing a kernel, with the seconds that it takes; none if it could not be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// What the device calls it.
    pub name: String,
    /// One of many in a row, on a device that is busy.
    pub seconds: Option<f64>,
    /// One by itself, on a device that had nothing to do.
    pub alone: Option<f64>,
}

/// What a device must be able to do.
pub trait Backend: Send + Sync {
    /// The name, as `FORNAX_DEVICE` would say it.
    fn name(&self) -> String;
    /// New memory of that many bytes, contents undefined. `None` if there is no room.
    fn allocate(&self, bytes: usize) -> Option<Arc<dyn Memory>>;
    /// Copies bytes to the start of a memory.
    fn upload(&self, memory: &dyn Memory, bytes: &[u8]) -> Result<()>;
    /// Copies bytes from the start of a memory, after all launches that write it.
    fn download(&self, memory: &dyn Memory, bytes: &mut [u8]) -> Result<()>;
    /// Begins to copy bytes from the start of a memory, after all launches before, without waiting where the device
    /// can work by itself.
    fn read(&self, memory: &dyn Memory, bytes: usize) -> Result<Box<dyn Reading>> {
        let mut arrived = vec![0; bytes];
        self.download(memory, &mut arrived)?;
        Ok(Box::new(Arrived(arrived)))
    }
    /// Compiles a kernel.
    fn compile(&self, kernel: &Kernel) -> Result<Box<dyn Pipeline>>;
    /// Compiles the kernels of a plan; at the same time, if compiling takes the device long.
    fn compile_all(&self, kernels: &[&Kernel]) -> Result<Vec<Box<dyn Pipeline>>> {
        kernels.iter().map(|kernel| self.compile(kernel)).collect()
    }
    /// Runs kernels in order, or as if in order.
    fn launch(&self, batch: &[Launch<'_>]) -> Result<()>;
    /// What [`Backend::launch_timed`] measures with.
    fn clock(&self) -> Clock {
        Clock::Host
    }
    /// Runs kernels in order, waits for them, and says when it had come how far: for each of `marks`, numbers of
    /// launches that rise from zero to all of them, the time at which so many had ended, in seconds of a clock of the
    /// device.
    fn launch_timed(&self, batch: &[Launch<'_>], marks: &[usize]) -> Result<Vec<f64>> {
        let mut times = vec![host_seconds()];
        for part in marks.windows(2) {
            self.launch(&batch[part[0]..part[1]])?;
            self.synchronize()?;
            times.push(host_seconds());
        }
        Ok(times)
    }
    /// Waits until everything launched has finished.
    fn synchronize(&self) -> Result<()>;
    /// The ways of computing a kernel that the device chooses from, with the seconds that each takes now (none for one
    /// that could not be measured). Empty if there is no choice. With `keep` the fastest is used from then on.
    fn alternatives(&self, _kernel: &Kernel, _keep: bool) -> Result<Vec<Way>> {
        Ok(vec![])
    }
    /// How long the device may measure alternatives when a plan is compiled.
    fn set_tuning(&self, _budget: Duration) {}
    /// What a driver was asked to do since the device was opened; nothing where there is none.
    fn counts(&self) -> Counts {
        Counts::default()
    }
    /// The most memories that a segment of a kernel may read and write.
    fn memories(&self) -> usize {
        usize::MAX
    }
    /// Whether launches run side by side unless one reads or overwrites what another uses.
    fn side_by_side(&self) -> bool {
        false
    }
    /// Bytes of a line of memory, at whose beginning rows are read and written faster; 1 if they are the same anywhere.
    fn line(&self) -> usize {
        1
    }
    /// The most bytes of a memory that a kernel can address.
    fn largest(&self) -> usize {
        usize::MAX
    }
    /// Which hardware and driver it is: what is remembered between runs is true of these alone.
    fn identity(&self) -> String {
        self.name()
    }
    /// Whether products of f16 matrices run on cooperative matrices.
    fn cooperative(&self) -> bool {
        false
    }
    /// Whether kernels can read and write elements of a dtype.
    fn supports(&self, _dtype: DType) -> bool {
        true
    }
}

/// What a driver was asked to do, as [`Backend::counts`] gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that work was handed to it.
    pub submits: u64,
    /// Pipelines that it compiled.
    pub compiled: u64,
    /// Pipelines that it found on disk.
    pub found: u64,
    /// Passes that launches were recorded in.
    pub passes: u64,
    /// Groups of memories that were made for kernels to name.
    pub bind_groups: u64,
    /// Buffers made to read back through.
    pub staging: u64,
    /// Timestamps that a GPU was asked to write.
    pub timestamps: u64,
}

/// Whose clock says when launches run, and how closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The host's, around every launch: the CPU runs them itself.
    Host,
    /// The GPU's, between launches.
    Timestamps,
    /// The GPU's, between passes, which is all that this adapter can time: a launch that is timed is a pass of its own.
    Passes,
    /// The host's, around submits, because the adapter has no timestamps: a launch that is timed is a submit of its own,
    /// which the host waits for.
    Submits,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clock::Host => "the host's clock",
            Clock::Timestamps => "timestamps of the GPU",
            Clock::Passes => "timestamps of the GPU between passes",
            Clock::Submits => "the host's clock around submits (the adapter has no timestamps)",
        })
    }
}
