//! Performance as tests: numbers that are the same in every run, and assertions about them for users' own suites.

use super::memory;
use super::observe::{Observed, observe};
use crate::device::{Device, Ran, TimingMode};
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happened how often in a call, and how much had to be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Kernels launched.
    pub launches: u64,
    /// Evaluations: plans that ran.
    pub evaluations: u64,
    /// Times that work was handed to the driver; `None` where timing changed it, zero on the CPU. Evaluations of few launches
    /// go together, as many as there are when the driver is free, so this may differ from run to run.
    pub submits: Option<u64>,
    /// Plans that had to be built.
    pub plans_built: u64,
    /// Evaluations that found their plan.
    pub plans_reused: u64,
    /// Kernels compiled.
    pub kernels_compiled: u64,
    /// Requests for memory that needed new memory.
    pub fresh: u64,
    /// Bytes of those.
    pub fresh_bytes: u64,
    /// Requests for memory that the pool served.
    pub reused: u64,
    /// Bytes of those.
    pub reused_bytes: u64,
    /// Bytes that the kernels had to read.
    pub bytes_read: u64,
    /// Bytes that the kernels had to write.
    pub bytes_written: u64,
    /// Operations that the kernels had to do.
    pub ops: u64,
    /// The most bytes in use at once, those included that were in use before.
    pub peak_bytes: u64,
    /// Labels of the kernels and how often each was launched.
    #[serde(skip)]
    pub kernels: BTreeMap<String, u64>,
}

/// Counts what a call does, without timing anything: all but submits is deterministic, so tests can assert it on any machine.
///
/// ```
/// # use fornax::*;
/// use fornax::profile::count;
/// let device = Device::open("cpu")?;
/// let x = Tensor::ones(&[32, 64], DType::F32, &device)?;
/// x.eval()?;
/// let step = || x.softmax(-1)?.eval();
/// step()?; // builds the plan and takes memory
/// count(&device, step)?.assert_launches(1).assert_fresh_allocations(0).assert_bytes(2 * 32 * 64 * 4);
/// # Ok::<(), Error>(())
/// ```
pub fn count(device: &Device, f: impl FnOnce() -> Result<()>) -> Result<Counts> {
    Ok(Counts::of(&observe(device, TimingMode::Off, f)?, true))
}

impl Counts {
    pub(super) fn of(seen: &Observed, submits: bool) -> Counts {
        let steps = |ran: &Ran| ran.plan.steps.len() as u64;
        let mut counts = Counts {
            launches: seen.ran.iter().map(steps).sum(),
            evaluations: seen.ran.len() as u64,
            submits: submits.then_some(seen.stats.submits),
            plans_built: seen.stats.plans_built,
            plans_reused: seen.stats.plans_reused,
            kernels_compiled: seen.stats.kernels_compiled,
            fresh: seen.stats.pool.fresh,
            fresh_bytes: seen.stats.pool.fresh_bytes,
            reused: seen.stats.pool.reused,
            reused_bytes: seen.stats.pool.reused_bytes,
            peak_bytes: memory::peak(&seen.recorded).0,
            ..Counts::default()
        };
        for ran in &seen.ran {
            let work = ran.plan.work();
            counts.bytes_read += work.bytes_read;
            counts.bytes_written += work.bytes_written;
            counts.ops += work.ops;
            for label in ran.plan.labels() {
                *counts.kernels.entry(label.to_string()).or_default() += 1;
            }
        }
        counts
    }

    /// Bytes that the kernels had to read and write.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// Panics if more kernels were launched.
    #[track_caller]
    pub fn assert_launches(&self, most: u64) -> &Counts {
        self.at_most("launches", self.launches, most)
    }

    /// Panics if more requests for memory needed new memory.
    #[track_caller]
    pub fn assert_fresh_allocations(&self, most: u64) -> &Counts {
        self.at_most("fresh allocations", self.fresh, most)
    }

    /// Panics if the kernels had to read and write more bytes.
    #[track_caller]
    pub fn assert_bytes(&self, most: u64) -> &Counts {
        self.at_most("bytes", self.bytes(), most)
    }

    /// Panics if more memory was in use at once.
    #[track_caller]
    pub fn assert_peak_bytes(&self, most: u64) -> &Counts {
        self.at_most("bytes at the peak", self.peak_bytes, most)
    }

    #[track_caller]
    fn at_most(&self, what: &str, found: u64, most: u64) -> &Counts {
        let list =
            || self.kernels.iter().map(|(label, n)| format!("\n  {n:5} x {label}")).collect::<String>();
        assert!(found <= most, "{found} {what}, at most {most} expected; kernels:{}", list());
        self
    }
}
