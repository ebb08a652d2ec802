//! The steps of a run: what is trained, on what, and how far it has come. All of a step but telling of it, so that
//! `fornax profile train` looks at the same.

use super::arguments::Checked;
use super::data::Data;
use super::pace::Pace;
use super::trainer::Trainer;
use crate::Failure;
use fornax::io::safetensors::Notes;
use fornax::{Device, Error, Pending, Result};
use fornax_models::{Batches, Gpt2};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub struct Steps {
    pub trainer: Trainer,
    pub batches: Batches,
    pub pace: Pace,
    /// Steps that are queued or done.
    pub done: u64,
    accumulate: usize,
    device: Device,
}

/// A run before its first step, or where it goes on.
pub struct Begun {
    pub steps: Steps,
    /// How far it had come.
    pub reached: Reached,
    /// Checkpoints that were passed over because they are not whole.
    pub broken: Vec<PathBuf>,
}

impl Steps {
    /// Everything up to the first step; a resumed run goes on after its newest checkpoint. Only reads.
    pub fn begin(checked: &Checked, data: &Data) -> std::result::Result<Begun, Failure> {
        let Checked { settings, config, device, folder, resume, .. } = checked;
        fornax::manual_seed(settings.seed);
        let checkpoints = folder.checkpoints(settings.keep);
        let mut model = match &settings.init {
            Some(dir) if checkpoints.steps()?.is_empty() => Gpt2::load(dir, device)?,
            _ => Gpt2::new(*config, device)?,
        };
        model.recompute = settings.recompute;
        let batches = Batches::new(data.train.clone(), settings.batch, settings.context, settings.seed)?;
        let mut steps = Steps {
            trainer: Trainer::new(model, settings, device)?,
            batches: batches.checked(config.vocabulary),
            pace: Pace::new(settings),
            done: 0,
            accumulate: settings.accumulate,
            device: device.clone(),
        };
        let tokens = data.train.len();
        let mut reached = Reached { position: 0, total: None, limit: None, seconds: 0.0, tokens };
        let mut broken = vec![];
        let newest = match resume {
            true => checkpoints.load_newest(&mut steps.trainer.training())?,
            false => None,
        };
        if let Some(restored) = newest {
            (steps.done, reached) = (restored.step, Reached::read(&restored.notes)?);
            broken = restored.broken;
            if reached.tokens != tokens {
                return Err(Failure::Usage(format!(
                    "--data: the run began with {} tokens to train on, now there are {tokens}; it goes on only with \
                     the same data",
                    reached.tokens
                )));
            }
        }
        steps.batches.set_position(reached.position);
        steps.pace.resume(steps.done, &reached);
        Ok(Begun { steps, reached, broken })
    }

    /// Queues a step; gives its learning rate, and its loss on the way from the device.
    pub fn queue(&mut self) -> Result<(f64, Pending<f32>)> {
        let parts = (0..self.accumulate).map(|_| self.batches.next(&self.device));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let lr = self.pace.lr(self.done);
        let loss = self.trainer.step(&parts, lr)?.item_later()?;
        self.done += 1;
        Ok((lr, loss))
    }

    /// How far they have come, in a run of so many seconds.
    pub fn reached(&self, seconds: f64) -> Reached {
        Reached {
            position: self.batches.position(),
            total: self.pace.total,
            limit: self.pace.seconds,
            seconds,
            tokens: self.batches.tokens().len(),
        }
    }
}

/// What a checkpoint notes of a run beside the weights.
#[derive(Serialize, Deserialize)]
pub struct Reached {
    /// In the data.
    position: u64,
    /// Steps of the whole run, as far as that was known.
    pub total: Option<u64>,
    /// The seconds that the run was given.
    pub limit: Option<f64>,
    /// Those it has taken.
    pub seconds: f64,
    /// How many there are to train on.
    tokens: u64,
}

const NOTE: &str = "fornax.train";

impl Reached {
    pub fn notes(&self) -> Result<Notes> {
        let text = serde_json::to_string(self).map_err(|error| Error::Internal(error.to_string()))?;
        Ok([(NOTE.to_string(), text)].into())
    }

    fn read(notes: &Notes) -> Result<Reached> {
        let text = notes.get(NOTE).map_or("", |text| text);
        serde_json::from_str(text).map_err(|error| Error::Format {
            path: "the newest checkpoint".into(),
            detail: format!("it was not written by fornax train: {error}"),
        })
    }
}
