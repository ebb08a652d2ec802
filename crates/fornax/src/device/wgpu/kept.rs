//! Compiled pipelines between runs: the driver's own cache, one blob a device, kept in the store together with the list
//! of the texts that are in it. An adapter whose driver gives no such blob compiles every time, or has a cache that it
//! does not tell of.

use super::{checked, lock};
use crate::store;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Mutex;
use std::time::Duration;
use web_time::Instant;

const KIND: &str = "pipelines";
/// What has grown past this is begun anew: a driver's cache forgets nothing, and all of it is read when a device opens.
const MOST_BYTES: usize = 128 << 20;

pub(super) struct Kept {
    /// The driver's cache, where it has one.
    pub driver: Option<wgpu::PipelineCache>,
    /// What the blob is good for: this adapter, driver and version.
    key: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Hashes of the texts whose pipelines were on disk when the device was opened.
    found: FxHashSet<u64>,
    /// Those compiled since.
    compiled: FxHashSet<u64>,
    /// How many of them are not on disk yet.
    unsaved: usize,
    compiling: Duration,
    saving: Duration,
}

impl Kept {
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Kept {
        let key = key(info);
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return Kept { driver: None, key, state: Mutex::default() };
        }
        let stored = store::load(KIND, &key).filter(|stored| stored.len() <= MOST_BYTES);
        let (found, blob) = stored.as_deref().and_then(unpack).unwrap_or_default();
        let make = |data: Option<&[u8]>| {
            let descriptor = wgpu::PipelineCacheDescriptor { label: None, data, fallback: true };
            // SAFETY: the bytes came out of `get_data` of the same adapter and driver: the store's key names them, and
            // its checksum says that they are whole.
            let cache = || unsafe { device.create_pipeline_cache(&descriptor) };
            checked(device, cache).ok()
        };
        let taken = (!blob.is_empty()).then(|| make(Some(blob))).flatten();
        // Of bytes that it does not know, wgpu makes an empty cache.
        let taken = taken.filter(|cache| cache.get_data().is_some_and(|data| data.len() >= blob.len() / 2));
        let found = if taken.is_some() { found } else { FxHashSet::default() };
        let driver = taken.or_else(|| make(None));
        Kept { driver, key, state: Mutex::new(State { found, ..State::default() }) }
    }

    /// Notes that a text was compiled, and says whether its pipeline had been on disk.
    pub fn note(&self, text: &str, took: Duration) -> bool {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        let mut state = lock(&self.state);
        state.compiling += took;
        let found = state.found.contains(&hash);
        if !found && self.driver.is_some() && state.compiled.insert(hash) {
            state.unsaved += 1;
        }
        found
    }

    /// Saves what is new, but spends at most a tenth of the time on it that compiling took: a program that builds plan
    /// after plan does not write the whole blob after each.
    pub fn settle(&self) {
        let due = {
            let state = lock(&self.state);
            state.unsaved > 0 && state.saving * 10 <= state.compiling
        };
        if due {
            self.save();
        }
    }

    /// Saves what is new.
    pub fn save(&self) {
        let start = Instant::now();
        let mut state = lock(&self.state);
        if state.unsaved == 0 {
            return;
        }
        state.unsaved = 0;
        if let Some(blob) = self.driver.as_ref().and_then(|cache| cache.get_data()) {
            let texts: Vec<u64> = state.found.union(&state.compiled).copied().collect();
            store::save(KIND, &self.key, &pack(&texts, &blob));
        }
        state.saving += start.elapsed();
    }
}

/// What is kept is good for one adapter, driver and version.
pub(super) fn key(info: &wgpu::AdapterInfo) -> String {
    let wgpu::AdapterInfo { name, vendor, device: model, driver, driver_info, backend, .. } = info;
    format!(
        "{backend:?} {name} {vendor:x}:{model:x} {driver} {driver_info} wgpu 30 fornax {}",
        env!("CARGO_PKG_VERSION")
    )
}

fn pack(texts: &[u64], blob: &[u8]) -> Vec<u8> {
    let count = (texts.len() as u64).to_le_bytes();
    [&count, bytemuck::cast_slice(texts), blob].concat()
}

fn unpack(bytes: &[u8]) -> Option<(FxHashSet<u64>, &[u8])> {
    let (count, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(8)?;
    let (texts, blob) = rest.split_at_checked(length)?;
    Some((texts.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect(), blob))
}
