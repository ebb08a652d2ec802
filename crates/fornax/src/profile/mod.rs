//! Where the time and the memory of a call went, how far each kernel is from what the device can do, and what to fix
//! first. On top of everything else; nothing below knows it, but for the marks of `span`.
//!
//! [`profile`] looks at one call, [`profile_with`] at several: some that nobody times, for the wall's clock and the
//! host's phases, then some in which launches are timed, a few in each. `observe` watches a call, `sample` chooses the
//! launches, `assemble` and `memory` make a [`Profile`] of what was seen, `advice` ranks what could be saved, and a profile becomes a text, a page, a trace or JSON.
//! [`count`] times nothing: its numbers are the same in every run, so tests can assert them.

mod advice;
pub mod amounts;
mod assemble;
mod compare;
mod expect;
mod html;
mod json;
mod memory;
mod observe;
mod roof;
mod sample;
#[cfg(test)]
mod tests;
mod text;
mod trace;

pub use crate::span::Phase;
pub use advice::Advice;
pub use compare::{Change, Comparison};
pub use expect::{Counts, count};
pub use memory::{Alive, MemoryUse};
pub use roof::{Arithmetic, Bound, Roof};

use crate::device::{Clock, Device, TimingMode};
use crate::error::Result;
use observe::{Observed, observe};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use web_time::Instant;

/// How [`profile_with`] looks at a call.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the profile is called.
    pub name: String,
    /// Calls before anything is measured: plans are built, kernels compiled, memory settles.
    pub warm_up: usize,
    /// Calls that are measured without timing launches, and how often every launch is timed; at least one.
    pub runs: usize,
    /// What kernels are judged by; `None` for the device's peaks, which are measured if they were not yet.
    pub roof: Option<Roof>,
}

impl Default for Options {
    fn default() -> Options {
        Options { name: "call".into(), warm_up: 3, runs: 5, roof: None }
    }
}

/// Several measurements of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// How many there were.
    pub calls: usize,
}

/// Where the time and the memory of a call went. Times are in seconds; what could not be measured is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Names this schema; see [`Profile::from_json`].
    pub format: String,
    /// What was profiled.
    pub name: String,
    /// Where it ran.
    pub device: String,
    /// Whose clock timed the launches.
    pub clock: Clock,
    /// What kernels are judged by.
    pub roof: Option<Roof>,
    /// From the call to the end of its last kernel.
    pub wall: Spread,
    /// Whether `wall`, `phases` and `counts` are of calls whose launches nobody timed. Timing waits for every plan,
    /// so a call that is timed takes longer.
    pub undisturbed: bool,
    /// Seconds of the device from the beginning to the end of every evaluation, while no launch was timed.
    pub busy: f64,
    /// What of that the launches are not: gaps between them. Less than nothing if they run side by side when nobody times
    /// them.
    pub remainder: f64,
    /// By how much timing launches changed `busy`, as measured call by call: 0.01 is one per cent.
    pub overhead: Option<Spread>,
    /// What timing launches costs, and how it was spread over calls.
    pub timing: TimingCost,
    /// What the calling thread did. Together they are the wall's time of one call.
    pub phases: Vec<PhaseTime>,
    /// What happened how often.
    pub counts: Counts,
    /// Kernels of one label together, the slowest first.
    pub kernels: Vec<KernelTime>,
    /// Module paths, each followed by those inside it; a path includes them.
    pub modules: Vec<ModuleTime>,
    /// Memory of the device.
    pub memory: MemoryUse,
    /// What ran when.
    pub timeline: Timeline,
    /// What could be saved, the most first. Together no more than was measured.
    pub advice: Vec<Advice>,
}

/// What timing launches costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimingCost {
    /// Seconds that a timestamp between two launches costs, measured on small launches. It is taken off the times of the
    /// launches beside it.
    pub timestamp: f64,
    /// The most of them in a call.
    pub timestamps: u64,
    /// In how many calls all launches were timed.
    pub calls: u64,
}

/// A phase of the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Which.
    pub phase: Phase,
    /// Without the phases inside it.
    pub seconds: f64,
    /// How often.
    pub count: u64,
    /// Bytes that were copied, in phases that copy.
    pub bytes: u64,
}

/// All launches of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTime {
    /// What is inside.
    pub label: String,
    /// Launches.
    pub count: u64,
    /// Of all launches together; each counts with its median.
    pub seconds: f64,
    /// The least and the most of several times that all of them were timed.
    pub spread: Option<(f64, f64)>,
    /// Bytes that had to be read.
    pub bytes_read: u64,
    /// Bytes that had to be written.
    pub bytes_written: u64,
    /// Operations that had to be done.
    pub ops: u64,
    /// Bytes a second.
    pub bandwidth: Option<f64>,
    /// Operations a second.
    pub rate: Option<f64>,
    /// What it computes with.
    pub arithmetic: Arithmetic,
    /// What keeps it from being faster.
    pub bound: Option<Bound>,
    /// The least time that the peaks allow over the time it took. Above 1 where caches serve what peaks are measured
    /// without.
    pub of_roof: Option<f64>,
}

/// A module path and everything inside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleTime {
    /// "h.3/attn"; empty for what no module made.
    pub path: String,
    /// How many modules are around it.
    pub depth: usize,
    /// Launches of the forward pass, and of what has no gradient.
    pub forward: PartTime,
    /// Launches of the gradients.
    pub backward: PartTime,
}

/// A share of the launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartTime {
    /// How many.
    pub launches: u64,
    /// All together.
    pub seconds: f64,
}

/// What ran when. Seconds since a call began in which plans were timed, on the host's clock; a GPU's clock is laid over it
/// so that no plan ends after the host heard of it. Launches lie where they were in the calls that timed them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// How long the call took.
    pub length: f64,
    /// Phases of the calling thread; inner ones have a larger depth.
    pub spans: Vec<SpanTime>,
    /// Launches, in order.
    pub launches: Vec<LaunchTime>,
    /// Whether there were more spans or launches than are kept here.
    pub cut: bool,
}

/// A phase from beginning to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanTime {
    /// Which.
    pub phase: Phase,
    /// Seconds since the call began.
    pub begin: f64,
    /// Seconds since the call began.
    pub end: f64,
    /// How many phases are around it.
    pub depth: usize,
}

/// A launch from beginning to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchTime {
    /// Which of the profile's kernels.
    pub kernel: usize,
    /// Which of the profile's modules.
    pub module: usize,
    /// Whether it belongs to the gradients.
    pub backward: bool,
    /// Seconds since the call began.
    pub begin: f64,
    /// Seconds since the call began.
    pub end: f64,
}

/// Profiles one call, in which every launch is timed: what that costs is told, but was not measured on this call, and where
/// launches are small it is much. The call should have run before, unless building plans and compiling
/// kernels is what is to be seen. Kernels are judged by the device's peaks if those were measured before
/// ([`Device::peaks`]).
///
/// ```
/// # use fornax::*;
/// let device = Device::open("cpu")?;
/// let x = Tensor::ones(&[64, 64], DType::F32, &device)?;
/// x.eval()?;
/// let profile = profile::profile(&device, || x.matmul(&x)?.softmax(-1)?.eval())?;
/// println!("{profile}");
/// assert_eq!(profile.counts.launches, 2);
/// # Ok::<(), Error>(())
/// ```
pub fn profile(device: &Device, f: impl FnOnce() -> Result<()>) -> Result<Profile> {
    let roof = device.remembered_peaks().map(|peaks| Roof::from(&peaks));
    Ok(assemble::assemble(device, "call", roof, None, sample::one_call(device, f)?))
}

/// Profiles a call that is made many times, such as a training step: first to warm up, then untimed, then with some of the
/// launches timed in each call until all were, so that timing slows no call down by more than about one and a half per
/// cent; what it did is measured and told. Calls should be alike: if they launch different things each time, one is made in
/// which every launch is timed, as in [`profile`].
///
/// ```
/// # use fornax::*;
/// # use fornax::profile::{Options, profile_with};
/// # set_cache_dir(None);
/// let device = Device::open("cpu")?;
/// let x = Tensor::ones(&[64, 64], DType::F32, &device)?;
/// x.eval()?;
/// let options = Options { name: "square".into(), ..Options::default() };
/// let profile = profile_with(&device, &options, || x.matmul(&x)?.eval())?;
/// profile.counts.assert_launches(1).assert_fresh_allocations(0);
/// # Ok::<(), Error>(())
/// ```
pub fn profile_with(
    device: &Device,
    options: &Options,
    mut f: impl FnMut() -> Result<()>,
) -> Result<Profile> {
    let roof = match options.roof {
        Some(roof) => roof,
        None => Roof::from(&device.peaks()?),
    };
    // A GPU's clocks take some tens of milliseconds to rise.
    let rising = Duration::from_millis(if device.clock() == Clock::Host { 0 } else { 100 });
    let (begun, mut calls) = (Instant::now(), 0);
    while calls < options.warm_up || (begun.elapsed() < rising && calls < 1000) {
        f()?;
        calls += 1;
    }
    device.synchronize()?;
    let runs = options.runs.max(1);
    let free: Vec<Observed> =
        (0..runs).map(|_| observe(device, TimingMode::Off, &mut f)).collect::<Result<_>>()?;
    let sampled = match sample::calls(device, runs, &mut f)? {
        Some(sampled) => sampled,
        None => sample::one_call(device, f)?,
    };
    Ok(assemble::assemble(device, &options.name, Some(roof), Some(&free), sampled))
}

impl Spread {
    /// Of at least one number.
    pub(crate) fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        Spread {
            median: at(sorted.len() / 2),
            low: at(0),
            high: at(sorted.len().max(1) - 1),
            calls: sorted.len(),
        }
    }
}

impl Profile {
    /// Seconds that there are to save: the wall's, or the kernels' where those were slower.
    pub fn seconds(&self) -> f64 {
        self.wall.median.max(self.busy)
    }

    /// Seconds of a phase.
    pub fn phase(&self, phase: Phase) -> f64 {
        self.phases.iter().find(|p| p.phase == phase).map_or(0.0, |p| p.seconds)
    }
}
