//! The pool: memory comes in size classes and goes back to its class when the last tensor lets go of it, so a
//! steady training step asks the system for nothing.

use super::{Backend, Memory};
use crate::error::{Error, Result};
use crate::span::{self, Phase};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use web_time::Instant;

/// What the pool has done, in allocations and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Buffers asked for.
    pub requests: u64,
    /// Bytes asked for.
    pub requested_bytes: u64,
    /// Requests served from the pool.
    pub reused: u64,
    /// Bytes of those.
    pub reused_bytes: u64,
    /// Requests that needed new memory.
    pub fresh: u64,
    /// Bytes of those.
    pub fresh_bytes: u64,
    /// Bytes in use now, as size classes.
    pub live_bytes: u64,
    /// The most bytes ever in use.
    pub peak_bytes: u64,
    /// Bytes that wait in the pool.
    pub pooled_bytes: u64,
}

/// A memory that left the pool or came back to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolEvent {
    pub at: Instant,
    /// Which memory; see [`Buffer::id`].
    pub id: usize,
    /// A size class.
    pub bytes: usize,
    pub taken: bool,
}

/// What the pool did while somebody watched.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Bytes in use when the watching began.
    pub before: u64,
    /// In the order in which they happened.
    pub events: Vec<PoolEvent>,
}

#[derive(Default)]
struct State {
    free: FxHashMap<usize, Vec<Arc<dyn Memory>>>,
    stats: PoolStats,
    recorded: Option<Recorded>,
}

impl State {
    fn note(&mut self, memory: &Arc<dyn Memory>, bytes: usize, taken: bool) {
        if let Some(recorded) = &mut self.recorded {
            recorded.events.push(PoolEvent { at: Instant::now(), id: id(memory), bytes, taken });
        }
    }
}

/// Names a memory as long as it lives: its address.
fn id(memory: &Arc<dyn Memory>) -> usize {
    Arc::as_ptr(memory).cast::<()>() as usize
}

pub(crate) struct Pool {
    backend: Arc<dyn Backend>,
    state: Mutex<State>,
}

/// A memory on loan from the pool; dropping it gives the memory back.
pub struct Buffer {
    memory: Option<Arc<dyn Memory>>,
    class: usize,
    pool: Arc<Pool>,
}

/// Sizes are rounded up to one of four steps per power of two, at least 256 bytes: at most a quarter is lost.
pub(crate) fn size_class(bytes: usize) -> usize {
    if bytes <= 256 {
        return 256;
    }
    let step = (bytes.next_power_of_two() / 8).max(64);
    bytes.div_ceil(step) * step
}

/// The size class of a memory of which a device can use `largest` bytes; what is almost as large is not rounded up to more.
pub(crate) fn size_class_within(bytes: usize, largest: usize) -> usize {
    Some(size_class(bytes)).filter(|&class| class <= largest).unwrap_or(bytes)
}

impl Pool {
    pub fn new(backend: Arc<dyn Backend>) -> Pool {
        Pool { backend, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn take(pool: &Arc<Pool>, bytes: usize) -> Result<Arc<Buffer>> {
        let largest = pool.backend.largest();
        if bytes > largest {
            let detail = format!(
                "{bytes} bytes of a tensor are more than the {largest} that a kernel can address; split it along an axis"
            );
            return Err(Error::Device { device: pool.backend.name(), detail });
        }
        let class = size_class_within(bytes, largest);
        let pooled = {
            let mut state = pool.state();
            let pooled = state.free.get_mut(&class).and_then(Vec::pop);
            let stats = &mut state.stats;
            stats.requests += 1;
            stats.requested_bytes += bytes as u64;
            if pooled.is_some() {
                stats.reused += 1;
                stats.reused_bytes += class as u64;
                stats.pooled_bytes -= class as u64;
            } else {
                stats.fresh += 1;
                stats.fresh_bytes += class as u64;
            }
            stats.live_bytes += class as u64;
            stats.peak_bytes = stats.peak_bytes.max(stats.live_bytes);
            if let Some(memory) = &pooled {
                state.note(memory, class, true);
            }
            pooled
        };
        let memory = match pooled {
            Some(memory) => Some(memory),
            None => {
                let _phase = span::enter(Phase::Allocate);
                let fresh = pool.backend.allocate(class).or_else(|| {
                    // What waits in other size classes may be the room that is missing.
                    pool.trim();
                    pool.backend.allocate(class)
                });
                fresh.inspect(|memory| pool.state().note(memory, class, true))
            }
        };
        match memory {
            Some(memory) => Ok(Arc::new(Buffer { memory: Some(memory), class, pool: pool.clone() })),
            None => {
                let mut state = pool.state();
                state.stats.live_bytes -= class as u64;
                let live = state.stats.live_bytes as usize;
                Err(Error::OutOfMemory { device: pool.backend.name(), requested: bytes, live })
            }
        }
    }

    pub fn trim(&self) {
        let mut state = self.state();
        let free = std::mem::take(&mut state.free);
        state.stats.pooled_bytes = 0;
        drop(state);
        drop(free);
    }

    /// Begins to watch, or ends and gives what was seen.
    pub fn record(&self, on: bool) -> Option<Recorded> {
        let mut state = self.state();
        let before = state.stats.live_bytes;
        std::mem::replace(&mut state.recorded, on.then(|| Recorded { before, events: vec![] }))
    }

    pub fn stats(&self) -> PoolStats {
        self.state().stats
    }

    pub fn reset_stats(&self) {
        let stats = &mut self.state().stats;
        *stats = PoolStats {
            live_bytes: stats.live_bytes,
            peak_bytes: stats.live_bytes,
            pooled_bytes: stats.pooled_bytes,
            ..PoolStats::default()
        };
    }
}

impl Buffer {
    /// The memory behind the buffer.
    pub fn memory(&self) -> &dyn Memory {
        self.memory.as_deref().expect("memory leaves a buffer only when it is dropped")
    }

    /// Names the memory as long as it lives.
    pub(crate) fn id(&self) -> usize {
        self.memory.as_ref().map_or(0, id)
    }

    /// Its size in bytes, a size class.
    pub fn bytes(&self) -> usize {
        self.class
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            let mut state = self.pool.state();
            state.stats.live_bytes -= self.class as u64;
            state.stats.pooled_bytes += self.class as u64;
            state.note(&memory, self.class, false);
            state.free.entry(self.class).or_default().push(memory);
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_waste_at_most_a_quarter_and_grow() {
        let mut last = 0;
        for bytes in (1..10_000).chain((20..40).map(|p| (1usize << p) + 1)) {
            let class = size_class(bytes);
            assert!(class >= bytes && class >= last);
            assert!(bytes < 1024 || class <= bytes + bytes / 4, "{bytes} {class}");
            last = class;
        }
        assert_eq!(size_class_within(1900, 2048), 2048);
        assert_eq!(size_class_within(1900, 2000), 1900);
    }
}
