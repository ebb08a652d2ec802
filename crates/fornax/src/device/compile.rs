//! From kernels to pipelines: equal kernels are compiled once as long as a plan holds them, those of one plan together.

use super::{Device, Pipeline, Way};
use crate::error::{Error, Result};
use crate::kernel::{Body, Kernel, Port};
use crate::schedule::Plan;
use crate::span::{self, Phase};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

type Key = (Body, Vec<Port>, Vec<Port>, Vec<(usize, usize)>, usize);

/// The pipelines of a device that some plan holds.
#[derive(Default)]
pub(crate) struct Pipelines(Mutex<FxHashMap<Key, Weak<dyn Pipeline>>>);

impl Device {
    /// Compiles what a plan needs, without running it, so that the first evaluation does not have to wait for it.
    ///
    /// ```
    /// # use fornax::*;
    /// let device = Device::open("cpu")?;
    /// let x = Tensor::zeros(&[64, 64], DType::F32, &device)?;
    /// let y = x.add(1.0)?.softmax(-1)?;
    /// device.prewarm(&*y.plan()?)?;
    /// assert!(device.stats().kernels_compiled > 0 && device.stats().launches == 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn prewarm(&self, plan: &Plan) -> Result<()> {
        self.compiled(plan).map(|_| ())
    }

    /// For every kernel of a plan that the device could compute in several ways: its label, and the ways with the
    /// seconds that each takes now (none for one that could not be measured). With `keep` the fastest are used from then
    /// on, and remembered between runs.
    pub fn alternatives(&self, plan: &Plan, keep: bool) -> Result<Vec<(String, Vec<Way>)>> {
        let mut found = vec![];
        for kernel in plan.steps.iter().map(|step| &step.kernel) {
            let ways = self.0.backend.alternatives(kernel, keep)?;
            if ways.len() > 1 {
                found.push((kernel.label.clone(), ways));
            }
        }
        Ok(found)
    }

    /// The pipelines of a plan's steps, compiled now if they were not yet.
    pub(crate) fn compiled<'a>(&self, plan: &'a Plan) -> Result<&'a [Arc<dyn Pipeline>]> {
        if plan.device != self.0.id {
            let detail =
                format!("the plan was not made for this device, {self}; tensors of it give plans of it");
            return Err(Error::Argument { op: "prewarm", detail });
        }
        if let Some(pipelines) = plan.pipelines.get() {
            return Ok(pipelines);
        }
        let kernels: Vec<&Kernel> = plan.steps.iter().map(|step| &step.kernel).collect();
        let pipelines = self.pipelines(&kernels)?;
        Ok(plan.pipelines.get_or_init(|| pipelines))
    }

    fn pipelines(&self, kernels: &[&Kernel]) -> Result<Vec<Arc<dyn Pipeline>>> {
        let key =
            |k: &Kernel| (k.body.clone(), k.reads.clone(), k.writes.clone(), k.in_place.clone(), k.beside);
        let lock = || self.0.pipelines.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let keys: Vec<Key> = kernels.iter().map(|kernel| key(kernel)).collect();
        let mut known: FxHashMap<&Key, Option<Arc<dyn Pipeline>>> = FxHashMap::default();
        let mut missing: Vec<usize> = vec![];
        {
            let pipelines = lock();
            for (i, key) in keys.iter().enumerate() {
                known.entry(key).or_insert_with(|| {
                    let found = pipelines.get(key).and_then(Weak::upgrade);
                    if found.is_none() {
                        missing.push(i);
                    }
                    found
                });
            }
        }
        if !missing.is_empty() {
            let new: Vec<&Kernel> = missing.iter().map(|&i| kernels[i]).collect();
            let _phase = span::enter(Phase::Compile);
            let made = self.0.backend.compile_all(&new)?;
            self.0.counters.kernels_compiled.fetch_add(made.len() as u64, Ordering::Relaxed);
            let mut pipelines = lock();
            if pipelines.len() > 4096 {
                pipelines.retain(|_, weak| weak.strong_count() > 0);
            }
            for (i, pipeline) in missing.into_iter().zip(made) {
                let pipeline: Arc<dyn Pipeline> = Arc::from(pipeline);
                pipelines.insert(keys[i].clone(), Arc::downgrade(&pipeline));
                known.insert(&keys[i], Some(pipeline));
            }
        }
        let lost = || Error::Internal("a kernel was not compiled".into());
        keys.iter().map(|key| known[key].clone().ok_or_else(lost)).collect()
    }
}
