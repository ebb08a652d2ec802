//! What is measured of a run: a line a step and a line an evaluation, in the log and for `--json`.

use serde::{Deserialize, Serialize};

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    Step(Step),
    Evaluation(Evaluation),
}

/// A training step. Counts are those of the step itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 1 on.
    pub step: u64,
    pub loss: f32,
    pub lr: f64,
    /// From the loss before to this one, as they came from the device.
    pub ms: f64,
    pub tokens_per_s: f64,
    pub launches: u64,
    pub submits: u64,
    pub fresh_allocations: u64,
    pub plans_built: u64,
    pub kernels_compiled: u64,
    /// The most memory in use so far.
    pub peak_bytes: u64,
}

/// The mean loss of the evaluation data after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub step: u64,
    pub eval_loss: f64,
    pub ms: f64,
}

impl Line {
    pub fn step(&self) -> u64 {
        match self {
            Line::Step(line) => line.step,
            Line::Evaluation(line) => line.step,
        }
    }

    /// As JSON. Numbers that JSON has not become null.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The losses of a run so far.
#[derive(Default)]
pub struct History {
    pub losses: Vec<(f64, f64)>,
    pub evaluations: Vec<(f64, f64)>,
}

impl History {
    pub fn add(&mut self, line: &Line) {
        match line {
            Line::Step(line) => self.losses.push((line.step as f64, line.loss as f64)),
            Line::Evaluation(line) => self.evaluations.push((line.step as f64, line.eval_loss)),
        }
    }
}
