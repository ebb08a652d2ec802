//! Checkpoints: everything that decides how a training run goes on, in one safetensors file. A run that goes on from
//! its checkpoint gives the same losses as one that was never stopped.
//!
//! ```
//! use fornax::io::checkpoint::{Checkpoints, Training};
//! use fornax::nn::{Linear, Module};
//! use fornax::optim::{AdamW, Optimizer};
//! # let folder = std::env::temp_dir().join(format!("fornax-doc-{}-checkpoints", std::process::id()));
//!
//! let model = Linear::new(2, 2, &fornax::Device::cpu())?;
//! let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
//! let mut training = Training { module: &model, optimizer: &mut optimizer, scaler: None };
//! let checkpoints = Checkpoints::new(&folder, 3);
//! checkpoints.save(100, &mut training, &[("note".into(), "of mine".into())].into())?;
//! let restored = checkpoints.load_newest(&mut training)?.expect("one was saved");
//! assert_eq!((restored.step, &restored.notes["note"][..]), (100, "of mine"));
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), fornax::Error>(())
//! ```

use super::safetensors::{Notes, fitting, load_with, replace, save_with};
use super::{TEMPORARY, format_error, io_error};
use crate::error::{Error, Result};
use crate::nn::Module;
use crate::optim::{GradScaler, Optimizer, Rule};
use crate::random::{random_state, set_random_state};
use crate::tensor::Tensor;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of a run that change as it goes. This thread's random state belongs to it too.
pub struct Training<'a, R> {
    /// What is trained.
    pub module: &'a dyn Module,
    /// What trains it.
    pub optimizer: &'a mut Optimizer<R>,
    /// The scaler of a run in f16.
    pub scaler: Option<&'a mut GradScaler>,
}

/// The note in which the random state travels.
const RANDOM: &str = "fornax.random_state";

impl<R: Rule> Training<'_, R> {
    /// Writes everything to a file, with notes of the caller's own (a step, a position in the data).
    pub fn save(&mut self, path: impl AsRef<Path>, notes: &Notes) -> Result<()> {
        let mut tensors = vec![];
        let mut add = |part: &str, named: Vec<(String, Tensor)>| {
            tensors.extend(named.into_iter().map(|(name, tensor)| (format!("{part}.{name}"), tensor)));
        };
        let parameters = self.module.named_parameters();
        add("model", parameters.into_iter().map(|(name, parameter)| (name, parameter.tensor())).collect());
        add("optimizer", self.optimizer.state()?);
        if let Some(scaler) = &self.scaler {
            add("scaler", scaler.state());
        }
        let (seed, stream) = random_state();
        let mut notes = notes.clone();
        notes.insert(RANDOM.into(), format!("{seed} {stream}"));
        save_with(path, &tensors, &notes)
    }

    /// Restores what [`Training::save`] wrote for the same module, rule and kind of scaling; gives the caller's notes.
    /// On an error nothing has changed.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<Notes> {
        let path = path.as_ref();
        let parameters = self.module.named_parameters();
        let Some(device) = parameters.first().map(|(_, parameter)| parameter.device()) else {
            return Err(Error::Argument {
                op: "Training::load",
                detail: "the module has no parameters".into(),
            });
        };
        let (tensors, mut notes) = load_with(path, &device)?;
        notes.remove("format");
        let random = notes.remove(RANDOM).and_then(|text| {
            let (seed, stream) = text.split_once(' ')?;
            Some((seed.parse().ok()?, stream.parse().ok()?))
        });
        let random = random.ok_or_else(|| format_error(path, "not a checkpoint: it has no random state"))?;
        let mut parts: BTreeMap<&str, BTreeMap<String, Tensor>> = BTreeMap::new();
        for (name, tensor) in tensors {
            let known = ["model", "optimizer", "scaler"]
                .into_iter()
                .find_map(|part| Some((part, name.strip_prefix(part)?.strip_prefix('.')?.to_string())));
            let (part, name) = known
                .ok_or_else(|| format_error(path, format!("{name:?} belongs to no part of a checkpoint")))?;
            parts.entry(part).or_default().insert(name, tensor);
        }
        let scaled = parts.remove("scaler");
        if scaled.is_some() != self.scaler.is_some() {
            let (have, want) = if scaled.is_some() { ("one", "none") } else { ("none", "one") };
            let detail = format!("the checkpoint has {have}, this run {want}: they differ in precision");
            return Err(Error::Parameter { name: "scaler".into(), detail });
        }
        let values = fitting(&parameters, parts.remove("model").unwrap_or_default())?;
        if let (Some(scaler), Some(state)) = (&mut self.scaler, &scaled) {
            scaler.load_state(state)?;
        }
        self.optimizer.load_state(&parts.remove("optimizer").unwrap_or_default())?;
        replace(&parameters, &values)?;
        set_random_state(random);
        Ok(notes)
    }
}

/// The checkpoints of one run: files "step-00000100.safetensors" in a folder, the newest few.
pub struct Checkpoints {
    folder: PathBuf,
    keep: usize,
}

/// What [`Checkpoints::load_newest`] found.
pub struct Restored {
    /// The step that the checkpoint was saved under.
    pub step: u64,
    /// The caller's notes.
    pub notes: Notes,
    /// Newer files that were not whole.
    pub broken: Vec<PathBuf>,
}

impl Checkpoints {
    /// A folder, which need not exist yet, and how many checkpoints stay in it (at least one).
    pub fn new(folder: impl Into<PathBuf>, keep: usize) -> Checkpoints {
        Checkpoints { folder: folder.into(), keep: keep.max(1) }
    }

    /// The file of a step.
    pub fn path(&self, step: u64) -> PathBuf {
        self.folder.join(format!("step-{step:08}.safetensors"))
    }

    /// The steps of the checkpoints that are there, the oldest first.
    pub fn steps(&self) -> Result<Vec<u64>> {
        let mut steps: Vec<u64> = self
            .files()?
            .iter()
            .filter_map(|name| name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok())
            .collect();
        steps.sort_unstable();
        Ok(steps)
    }

    fn files(&self) -> Result<Vec<String>> {
        let list = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            list => list.map_err(|source| io_error(&self.folder, source))?,
        };
        let name = |entry: std::io::Result<fs::DirEntry>| {
            Ok(entry
                .map_err(|source| io_error(&self.folder, source))?
                .file_name()
                .to_string_lossy()
                .into_owned())
        };
        list.map(name).collect()
    }

    /// Writes the checkpoint of a step; when it lies on the disk, those go that are too old, and what writes that
    /// were killed have left.
    pub fn save<R: Rule>(&self, step: u64, training: &mut Training<'_, R>, notes: &Notes) -> Result<PathBuf> {
        fs::create_dir_all(&self.folder).map_err(|source| io_error(&self.folder, source))?;
        let path = self.path(step);
        training.save(&path, notes)?;
        // The new name must be on the disk before an old one is taken off it.
        #[cfg(unix)]
        fs::File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| io_error(&self.folder, source))?;
        let remove = |path: &Path| fs::remove_file(path).map_err(|source| io_error(path, source));
        let steps = self.steps()?;
        let older: Vec<u64> = steps.into_iter().filter(|&other| other < step).collect();
        for &old in &older[..(older.len() + 1).saturating_sub(self.keep)] {
            remove(&self.path(old))?;
        }
        for name in self.files()?.iter().filter(|name| name.starts_with('.') && name.ends_with(TEMPORARY)) {
            remove(&self.folder.join(name))?;
        }
        Ok(path)
    }

    /// Restores the newest checkpoint that is whole; `None` if there is no file. An error if none is whole, or if the
    /// newest whole one is of another model.
    pub fn load_newest<R: Rule>(&self, training: &mut Training<'_, R>) -> Result<Option<Restored>> {
        let (mut broken, mut first) = (vec![], None);
        for step in self.steps()?.into_iter().rev() {
            let path = self.path(step);
            match training.load(&path) {
                Ok(notes) => return Ok(Some(Restored { step, notes, broken })),
                Err(error @ Error::Format { .. }) => {
                    broken.push(path);
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        first.map_or(Ok(None), Err)
    }

    /// Removes the checkpoints of steps after this one: a run that went back to it will write them anew.
    pub fn remove_after(&self, step: u64) -> Result<()> {
        for newer in self.steps()?.into_iter().filter(|&other| other > step) {
            let path = self.path(newer);
            fs::remove_file(&path).map_err(|source| io_error(&path, source))?;
        }
        Ok(())
    }
}
