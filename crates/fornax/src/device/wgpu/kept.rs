//! Compiled pipelines between runs: the driver's own cache, one blob a device, kept in the store together with the list
//! of the texts that are in it. An adapter whose driver gives no such blob compiles every time, or has a cache that it
//! does not tell of.

use super::{checked, lock};
use crate::store;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use web_time::Instant;

const KIND: &str = "pipelines";
/// What has grown past this is begun anew: a driver's cache forgets nothing, and all of it is read when a device opens.
const MOST_BYTES: usize = 128 << 20;
/// How long nothing more is compiled before what is new is saved, if it was not at once.
const QUIET: Duration = Duration::from_millis(200);

pub(super) struct Kept {
    /// The driver's cache, where it has one.
    pub driver: Option<wgpu::PipelineCache>,
    /// What the blob is good for: this adapter, driver and version.
    key: String,
    state: Mutex<State>,
    /// Held while a blob is saved.
    writing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// Hashes of the texts whose pipelines were on disk when the device was opened.
    found: FxHashSet<u64>,
    /// Those compiled since.
    compiled: FxHashSet<u64>,
    /// How many of them are not on disk yet.
    unsaved: usize,
    /// Whether a thread will save them.
    left: bool,
    compiling: Duration,
    saving: Duration,
}

impl Kept {
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Kept {
        let key = key(info);
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return Kept { driver: None, key, state: Mutex::default(), writing: Mutex::default() };
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
        let state = Mutex::new(State { found, ..State::default() });
        Kept { driver, key, state, writing: Mutex::default() }
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

    /// Saves what is new at once, if saving then takes at most a tenth of the time that compiling took: a program that builds
    /// plan after plan does not write the whole blob after each. Otherwise a thread saves it when nothing more comes for a
    /// while, because a device that is never closed has no later moment.
    pub fn settle(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.unsaved == 0 {
            return;
        }
        if state.saving * 10 <= state.compiling {
            drop(state);
            return self.save();
        }
        if state.left {
            return;
        }
        let kept = Arc::downgrade(self);
        let wait = move || {
            let mut before = 0;
            loop {
                std::thread::sleep(QUIET);
                let Some(kept) = kept.upgrade() else { return };
                let unsaved = lock(&kept.state).unsaved;
                if unsaved == before {
                    return kept.save();
                }
                before = unsaved;
            }
        };
        // Where no thread can be had, the device saves when it is closed.
        state.left = std::thread::Builder::new().name("pipelines".into()).spawn(wait).is_ok();
    }

    /// Saves what is new.
    pub fn save(&self) {
        let _alone = lock(&self.writing);
        let start = Instant::now();
        let texts: Vec<u64> = {
            let mut state = lock(&self.state);
            state.left = false;
            if std::mem::take(&mut state.unsaved) == 0 {
                return;
            }
            state.found.union(&state.compiled).copied().collect()
        };
        // All of these pipelines are in it, and perhaps some that came since.
        if let Some(blob) = self.driver.as_ref().and_then(|cache| cache.get_data()) {
            store::save(KIND, &self.key, &pack(&texts, &blob));
        }
        lock(&self.state).saving += start.elapsed();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_for_one_adapter_and_driver() {
        let info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let change = |change: fn(&mut wgpu::AdapterInfo)| {
            let mut other = info.clone();
            change(&mut other);
            key(&other)
        };
        assert_eq!(change(|_| {}), key(&info));
        let changes: [fn(&mut wgpu::AdapterInfo); 6] = [
            |info| info.name = "another".into(),
            |info| info.vendor = 7,
            |info| info.device = 7,
            |info| info.driver = "another".into(),
            |info| info.driver_info = "580.1".into(),
            |info| info.backend = wgpu::Backend::Dx12,
        ];
        for (i, other) in changes.into_iter().enumerate() {
            assert_ne!(change(other), key(&info), "change {i}");
        }
    }
}
