//! Watching one call: the host's phases, the plans that ran, the pool, the counters.

use crate::device::{Device, Ran, Recorded, Stats, TimingMode};
use crate::error::{Error, Result};
use crate::span::{self, Span};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use web_time::Instant;

/// What was seen of one call.
pub(super) struct Observed {
    pub start: Instant,
    /// When its last kernel had ended.
    pub end: Instant,
    pub spans: Vec<Span>,
    pub ran: Vec<Ran>,
    /// What was counted meanwhile. Memory in use and its peak are the device's.
    pub stats: Stats,
    pub recorded: Recorded,
}

impl Observed {
    pub fn wall(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64()
    }

    /// From the beginning to the end of every plan, all together.
    pub fn device_seconds(&self) -> f64 {
        self.ran.iter().filter_map(|ran| ran.times.whole()).map(|(begin, end)| (end - begin).max(0.0)).sum()
    }

    /// How many launches there were.
    pub fn launches(&self) -> usize {
        self.ran.iter().map(|ran| ran.plan.steps.len()).sum()
    }

    /// Whether it launched the same as another call.
    pub fn launches_as(&self, other: &Observed) -> bool {
        let same = |(a, b): (&Ran, &Ran)| {
            Arc::ptr_eq(&a.plan, &b.plan) || a.plan.labels().iter().eq(b.plan.labels().iter())
        };
        self.ran.len() == other.ran.len() && self.ran.iter().zip(&other.ran).all(same)
    }

    /// Times at which the clock was read between launches.
    pub fn inner_marks(&self) -> usize {
        self.ran.iter().map(|ran| ran.times.inner()).sum()
    }
}

/// Which call is in the middle by some measure; there is at least one.
pub(super) fn middle(calls: &[Observed], measure: impl Fn(&Observed) -> f64) -> usize {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by(|&a, &b| measure(&calls[a]).total_cmp(&measure(&calls[b])));
    order[order.len() / 2]
}

/// Puts the device back as it was, whatever happens to the call.
struct Watching<'a> {
    device: &'a Device,
    mode: TimingMode,
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.device.set_timing(self.mode);
        self.device.0.pool.record(false);
        self.device.0.settings.recording.store(false, Release);
    }
}

/// Calls `f`, waits for the device, and tells what was seen. A device is watched by one at a time.
pub(super) fn observe(device: &Device, mode: TimingMode, f: impl FnOnce() -> Result<()>) -> Result<Observed> {
    device.synchronize()?;
    if device.0.settings.recording.compare_exchange(false, true, AcqRel, Acquire).is_err() {
        return Err(Error::Argument {
            op: "profile",
            detail: format!("{device} is being profiled already; profile one call at a time"),
        });
    }
    let watching = Watching { device, mode: device.timing() };
    device.set_timing(mode);
    let others = std::mem::take(&mut *device.ran());
    device.0.pool.record(true);
    let before = device.stats();
    let mut after = before;
    let start = Instant::now();
    let (result, spans) = span::record(|| {
        f()?;
        after = device.stats();
        device.synchronize()?;
        // What waited to be submitted with more counts too; the last submit is that of the waiting itself.
        after.submits = after.submits.max(device.stats().submits.saturating_sub(1));
        Ok(())
    });
    let end = Instant::now();
    let ran = std::mem::replace(&mut *device.ran(), others);
    let recorded = device.0.pool.record(false).unwrap_or(Recorded { before: 0, events: vec![] });
    drop(watching);
    result?;
    Ok(Observed { start, end, spans, ran, stats: after.since(&before), recorded })
}
