//! What a device has counted.

use super::{Counts, PoolStats};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard};

/// Counters of a device since it was opened or [`Device::reset_stats`](crate::Device::reset_stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Plans that had to be built.
    pub plans_built: u64,
    /// Evaluations that found their plan.
    pub plans_reused: u64,
    /// Kernels made ready to launch.
    pub kernels_compiled: u64,
    /// Pipelines that a driver had to compile for them; zero on the CPU, which has no driver.
    pub pipelines_compiled: u64,
    /// Pipelines that were on disk, left there by an earlier run.
    pub pipelines_found: u64,
    /// Kernels launched.
    pub launches: u64,
    /// Times that work was handed to the driver (launches, read-backs); zero on the CPU, which has none.
    pub submits: u64,
    /// Passes that launches were recorded in; what a GPU runs side by side shares one. Zero on the CPU.
    pub passes: u64,
    /// Groups of memories that were made for kernels to name; one that was met before is used again. Zero on the CPU.
    pub bind_groups: u64,
    /// Buffers made for reading back; others are used again. Zero on the CPU.
    pub staging: u64,
    /// Timestamps that a GPU was asked to write; zero where nobody times anything.
    pub timestamps: u64,
    /// Memory.
    pub pool: PoolStats,
}

impl Stats {
    /// What was counted since an earlier look at the same counters; live memory and its peak are what they are now.
    pub fn since(&self, before: &Stats) -> Stats {
        let (pool, old) = (self.pool, before.pool);
        Stats {
            plans_built: self.plans_built - before.plans_built,
            plans_reused: self.plans_reused - before.plans_reused,
            kernels_compiled: self.kernels_compiled - before.kernels_compiled,
            launches: self.launches - before.launches,
            submits: self.submits - before.submits,
            pipelines_compiled: self.pipelines_compiled - before.pipelines_compiled,
            pipelines_found: self.pipelines_found - before.pipelines_found,
            passes: self.passes - before.passes,
            bind_groups: self.bind_groups - before.bind_groups,
            staging: self.staging - before.staging,
            timestamps: self.timestamps - before.timestamps,
            pool: PoolStats {
                requests: pool.requests - old.requests,
                requested_bytes: pool.requested_bytes - old.requested_bytes,
                reused: pool.reused - old.reused,
                reused_bytes: pool.reused_bytes - old.reused_bytes,
                fresh: pool.fresh - old.fresh,
                fresh_bytes: pool.fresh_bytes - old.fresh_bytes,
                ..pool
            },
        }
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub plans_built: AtomicU64,
    pub plans_reused: AtomicU64,
    pub kernels_compiled: AtomicU64,
    pub launches: AtomicU64,
    /// What the backend had counted when the counters were last reset.
    before: Mutex<Counts>,
}

impl Counters {
    pub fn before(&self) -> MutexGuard<'_, Counts> {
        self.before.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
