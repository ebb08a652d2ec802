//! What the host does: phases of a call with their times, recorded only on a thread that is being profiled. Beside the
//! path, because every stop marks its own; where nobody profiles, a mark is one load of an atomic.

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use web_time::Instant;

/// What the host is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Recording ops and gradients, and whatever else the caller does: all the time that no other phase has.
    Graph,
    /// Walking what is asked for and finding its plan.
    Lookup,
    /// Building a plan that was not found.
    Schedule,
    /// Compiling kernels.
    Compile,
    /// Asking the system for fresh memory.
    Allocate,
    /// Giving memory to a plan and writing its commands.
    Encode,
    /// Handing commands to the driver.
    Submit,
    /// Copying data to the device.
    Upload,
    /// Waiting for kernels; on the CPU device, running them.
    Wait,
    /// Copying results to the host, once they are there.
    ReadBack,
}

impl Phase {
    /// All phases, in the order in which a call meets them.
    pub const ALL: [Phase; 10] = [
        Phase::Graph,
        Phase::Lookup,
        Phase::Schedule,
        Phase::Compile,
        Phase::Allocate,
        Phase::Encode,
        Phase::Submit,
        Phase::Upload,
        Phase::Wait,
        Phase::ReadBack,
    ];

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Graph => "graph",
            Phase::Lookup => "plan lookup",
            Phase::Schedule => "schedule",
            Phase::Compile => "compile",
            Phase::Allocate => "allocate",
            Phase::Encode => "encode",
            Phase::Submit => "submit",
            Phase::Upload => "upload",
            Phase::Wait => "wait",
            Phase::ReadBack => "read-back",
        }
    }
}

/// A phase from its beginning to its end. Spans nest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub phase: Phase,
    pub begin: Instant,
    pub end: Instant,
    /// Bytes that were copied, in phases that copy.
    pub bytes: u64,
}

/// How many threads are being profiled.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SPANS: RefCell<Option<Vec<Span>>> = const { RefCell::new(None) };
}

/// Ends a phase when it is dropped.
#[must_use = "the phase ends when this is dropped"]
pub(crate) struct Mark(Option<(Phase, Instant, u64)>);

/// Begins a phase.
#[inline]
pub(crate) fn enter(phase: Phase) -> Mark {
    copying(phase, 0)
}

/// Begins a phase that copies some bytes.
#[inline]
pub(crate) fn copying(phase: Phase, bytes: usize) -> Mark {
    Mark((RECORDING.load(Relaxed) != 0).then(|| (phase, Instant::now(), bytes as u64)))
}

impl Mark {
    /// Says how many bytes were copied, where that is known only now.
    pub fn copied(&mut self, bytes: usize) {
        if let Some((_, _, copied)) = &mut self.0 {
            *copied = bytes as u64;
        }
    }
}

impl Drop for Mark {
    #[inline]
    fn drop(&mut self) {
        if let Some((phase, begin, bytes)) = self.0 {
            let end = Instant::now();
            SPANS.with_borrow_mut(|spans| {
                if let Some(spans) = spans {
                    spans.push(Span { phase, begin, end, bytes });
                }
            });
        }
    }
}

/// Runs `f` and gives the phases of this thread meanwhile, inner ones before those around them.
pub(crate) fn record<R>(f: impl FnOnce() -> R) -> (R, Vec<Span>) {
    struct Stop(Option<Vec<Span>>);
    impl Drop for Stop {
        fn drop(&mut self) {
            RECORDING.fetch_sub(1, Relaxed);
            SPANS.set(self.0.take());
        }
    }
    let _stop = Stop(SPANS.replace(Some(vec![])));
    RECORDING.fetch_add(1, Relaxed);
    let result = f();
    (result, SPANS.replace(None).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_kept_only_while_somebody_records_on_this_thread() {
        drop(enter(Phase::Lookup));
        let ((), spans) = record(|| {
            let _encode = enter(Phase::Encode);
            enter(Phase::Upload).copied(7);
            std::thread::scope(|s| {
                s.spawn(|| drop(enter(Phase::Wait)));
            });
        });
        let seen: Vec<(Phase, u64)> = spans.iter().map(|s| (s.phase, s.bytes)).collect();
        assert_eq!(seen, [(Phase::Upload, 7), (Phase::Encode, 0)]);
        assert!(spans[1].begin <= spans[0].begin && spans[0].end <= spans[1].end);
        drop(enter(Phase::Lookup));
        assert!(record(|| ()).1.is_empty());
    }
}
