//! The plan cache: finished plans by structural key, the least recently used dropped first.

use crate::schedule::Plan;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The structural key of what is asked for: ops, shapes, dtypes and edges; never data, never scalars.
pub(crate) type Key = u128;

pub(crate) struct PlanCache {
    plans: FxHashMap<Key, (Arc<Plan>, u64)>,
    capacity: usize,
    clock: u64,
}

impl PlanCache {
    pub fn new(capacity: usize) -> PlanCache {
        PlanCache { plans: FxHashMap::default(), capacity, clock: 0 }
    }

    pub fn get(&mut self, key: Key) -> Option<Arc<Plan>> {
        self.clock += 1;
        let (plan, used) = self.plans.get_mut(&key)?;
        *used = self.clock;
        Some(plan.clone())
    }

    pub fn insert(&mut self, key: Key, plan: Arc<Plan>) {
        self.clock += 1;
        self.plans.insert(key, (plan, self.clock));
        self.shrink();
    }

    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.shrink();
    }

    pub fn len(&self) -> usize {
        self.plans.len()
    }

    fn shrink(&mut self) {
        while self.plans.len() > self.capacity {
            let Some(oldest) = self.plans.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| *key)
            else {
                return;
            };
            self.plans.remove(&oldest);
        }
    }
}
