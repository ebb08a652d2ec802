//! The arguments of `fornax train`. Values arrive as text and are checked here, all of them, so that everything that
//! is wrong is said in one go and before any work.

use super::folder::Folder;
use crate::Failure;
use fornax::{DType, Device};
use fornax_models::gpt2::PRESETS;
use fornax_models::{Gpt2Config, Tokenizer};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What is trained, on what and how.
#[derive(clap::Args, Clone, Default)]
pub struct TrainArguments {
    /// A text file, a folder of them, a .bin of 16-bit tokens, or a folder with train.bin and val.bin
    #[arg(long, value_name = "FILE|DIR")]
    pub data: Option<PathBuf>,
    /// The model's sizes: tiny, distilgpt2, gpt2 or gpt2-medium [default: tiny]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Begin with the weights of this folder (config.json and model.safetensors) instead of random ones
    #[arg(long, value_name = "DIR")]
    init: Option<PathBuf>,
    /// Sequences computed at once
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    batch: Option<String>,
    /// Tokens of a sequence
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    context: Option<String>,
    /// How many steps; otherwise the run lasts for --minutes
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    steps: Option<String>,
    /// How long, about [default: 1]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    minutes: Option<String>,
    /// The highest learning rate
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    lr: Option<String>,
    /// How the learning rate goes: cosine, warmup, constant, or step (halved after every quarter) [default: cosine]
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,
    /// Batches whose gradients make one step [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    accumulate: Option<String>,
    /// What products are computed in: f32, f16 or bf16 [default: f32]
    #[arg(long, value_name = "DTYPE")]
    precision: Option<String>,
    /// The largest norm of the gradients; 0 for any [default: 1]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    clip: Option<String>,
    /// Steps between evaluations [default: a tenth of the run]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    eval_every: Option<String>,
    /// Steps between checkpoints [default: a fifth of the run]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    checkpoint_every: Option<String>,
    /// How many checkpoints stay [default: 2]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    keep: Option<String>,
    /// Compute blocks again in the backward pass: less memory for more work
    #[arg(long)]
    recompute: bool,
    /// Decides the first weights and the order of the data [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Where to run [default: the best device]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Go on with the run in --out from its newest checkpoint
    #[arg(long)]
    pub resume: bool,
    /// The run's folder [default: the next free number, runs/tiny-1]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What a run is; kept in its folder. The fields have the names of their arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub preset: String,
    pub init: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub batch: usize,
    pub context: usize,
    pub steps: Option<u64>,
    pub minutes: f64,
    pub lr: f64,
    pub schedule: String,
    pub accumulate: usize,
    pub precision: String,
    pub clip: f64,
    pub eval_every: Option<u64>,
    pub checkpoint_every: Option<u64>,
    pub keep: usize,
    pub recompute: bool,
    pub seed: u64,
}

/// What a resumed run may do otherwise than it began.
const MAY_CHANGE: [&str; 5] = ["steps", "minutes", "eval_every", "checkpoint_every", "keep"];

pub const SCHEDULES: [&str; 4] = ["cosine", "warmup", "constant", "step"];
const PRECISIONS: [(&str, DType); 3] = [("f32", DType::F32), ("f16", DType::F16), ("bf16", DType::BF16)];

impl Settings {
    /// What is not said, for a preset, from random weights or from given ones.
    fn defaults(preset: &str, config: &Gpt2Config, init: bool) -> Settings {
        let tiny = config.width <= 256;
        Settings {
            preset: preset.into(),
            init: None,
            data: None,
            batch: 8,
            context: config.context.min(if tiny { 128 } else { 512 }),
            steps: None,
            minutes: 1.0,
            lr: match (init, tiny) {
                (true, _) => 5e-5,
                (false, true) => 3e-3,
                (false, false) => 6e-4,
            },
            schedule: "cosine".into(),
            accumulate: 1,
            precision: "f32".into(),
            clip: 1.0,
            eval_every: None,
            checkpoint_every: None,
            keep: 2,
            recompute: false,
            seed: 0,
        }
    }

    /// What is trained, in words.
    pub fn model(&self) -> String {
        self.init.as_ref().map_or(self.preset.clone(), |dir| dir.display().to_string())
    }

    /// What a step is, in words.
    pub fn step(&self) -> String {
        let (precision, sequences) = (&self.precision, self.batch * self.accumulate);
        format!("{precision}, {sequences} x {} tokens a step", self.context)
    }

    pub fn dtype(&self) -> DType {
        PRECISIONS.iter().find(|(name, _)| *name == self.precision).map_or(DType::F32, |(_, dtype)| *dtype)
    }
}

/// A run whose arguments are right.
pub struct Checked {
    pub settings: Settings,
    pub config: Gpt2Config,
    pub tokenizer: Tokenizer,
    pub device: Device,
    pub folder: Folder,
    pub resume: bool,
    pub json: bool,
}

/// What is wrong, one line each.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn add(&mut self, text: impl std::fmt::Display) {
        self.0.push(text.to_string());
    }

    /// The value if there is one, a line if it is an error.
    fn take<T, E: std::fmt::Display>(&mut self, name: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(format!("{name}: {error}"))).ok()
    }

    /// Puts a number into its place.
    fn number<T: FromStr>(
        &mut self,
        name: &str,
        given: &Option<String>,
        want: &str,
        fits: impl Fn(&T) -> bool,
        mut put: impl FnMut(T),
    ) {
        let Some(text) = given else { return };
        match text.parse::<T>().ok().filter(fits) {
            Some(value) => put(value),
            None => self.add(format!("--{name} {text}: it must be {want}")),
        }
    }

    /// Puts a name into its place.
    fn name(&mut self, name: &str, given: &Option<String>, known: &[&str], put: &mut String) {
        match given {
            Some(text) if known.contains(&text.as_str()) => put.clone_from(text),
            Some(text) => self.add(format!("--{name} {text}: there are: {}", known.join(", "))),
            None => {}
        }
    }

    fn failure(&self) -> Failure {
        match &self.0[..] {
            [one] => Failure::Usage(one.clone()),
            all => Failure::Usage(format!("{} things are wrong:\n  {}", all.len(), all.join("\n  "))),
        }
    }
}

/// Checks everything. With `json` the run prints a JSON line a step and nothing else.
pub fn check(given: &TrainArguments, json: bool) -> Result<Checked, Failure> {
    let mut wrong = Complaints::default();
    let before = match (given.resume, &given.out) {
        (true, Some(out)) => wrong.take("--resume", Folder::settings(out)),
        (true, None) => {
            wrong.add("--resume: --out DIR must say which run to go on with");
            None
        }
        (false, _) => None,
    };
    let (settings, config) = overlay(given, before.as_ref(), &mut wrong);
    if let Some(before) = &before {
        unchanged(before, &settings, &mut wrong);
    }
    if let Some(data) = &settings.data {
        readable(data, &mut wrong);
    }
    let device = wrong.take("--device", crate::device(given.device.as_deref()));
    if let Some(device) = device.as_ref().filter(|device| !device.supports(settings.dtype())) {
        wrong.add(format!("--precision {}: {device} does not compute in it", settings.precision));
    }
    let own = given.out.as_ref().filter(|out| given.resume && out.join("tokenizer.json").exists());
    let tokenizer = match own.or(settings.init.as_ref()) {
        Some(dir) => config.and_then(|c| wrong.take("tokenizer", Tokenizer::of_folder(dir, c.vocabulary))),
        None if settings.preset == "tiny" => wrong.take("tokenizer", Tokenizer::bytes()),
        None => wrong.take("tokenizer", Tokenizer::gpt2()),
    };
    let folder = match given.resume {
        true => given.out.as_ref().map(|out| Folder::at(out)),
        false => {
            let name = if settings.init.is_some() { "tuned" } else { &settings.preset };
            wrong.take("--out", Folder::free(given.out.as_deref(), name))
        }
    };
    match (config, tokenizer, device, folder) {
        (Some(config), Some(tokenizer), Some(device), Some(folder)) if wrong.0.is_empty() => {
            let resume = given.resume;
            Ok(Checked { settings, config, tokenizer, device, folder, resume, json })
        }
        _ => Err(wrong.failure()),
    }
}

/// The run's settings: what was given, over what the run began with, over the defaults.
fn overlay(
    given: &TrainArguments,
    before: Option<&Settings>,
    wrong: &mut Complaints,
) -> (Settings, Option<Gpt2Config>) {
    let names = PRESETS.map(|(name, _)| name);
    let mut preset = before.map_or("tiny".to_string(), |before| before.preset.clone());
    wrong.name("preset", &given.preset, &names, &mut preset);
    let init = given.init.clone().or_else(|| before?.init.clone());
    if given.preset.is_some() && given.init.is_some() {
        wrong.add("--preset and --init: the folder says what the model's sizes are, leave one out");
    }
    // A resumed run has the configuration in its own folder.
    let own = given.out.as_ref().filter(|out| given.resume && out.join("config.json").exists());
    let config = match (own, &init) {
        (Some(own), Some(_)) => wrong.take("--resume", Gpt2Config::load(own.join("config.json"))),
        (None, Some(dir)) => {
            let config = wrong.take("--init", Gpt2Config::load(dir.join("config.json")));
            let weights = ["model.safetensors", "model.safetensors.index.json"];
            if config.is_some() && !weights.iter().any(|name| dir.join(name).exists()) {
                wrong.add(format!("--init {}: there is no model.safetensors", dir.display()));
            }
            config
        }
        (_, None) => wrong.take("--preset", Gpt2Config::preset(&preset)),
    };
    let sizes = config.unwrap_or(PRESETS[0].1);
    let mut new = before.cloned().unwrap_or_else(|| Settings::defaults(&preset, &sizes, init.is_some()));
    (new.preset, new.init) = (preset, init.map(|dir| std::path::absolute(&dir).unwrap_or(dir)));
    if let Some(data) = &given.data {
        new.data = Some(std::path::absolute(data).unwrap_or(data.clone()));
    }
    new.recompute |= given.recompute;
    let whole = "a whole number of 1 or more";
    wrong.number("batch", &given.batch, whole, |n| (1..=1 << 20).contains(n), |n| new.batch = n);
    let most = sizes.context;
    let fits = |n: &usize| (1..=most).contains(n);
    let range = format!("from 1 to {most}, what the model can read");
    wrong.number("context", &given.context, &range, fits, |n| new.context = n);
    if given.steps.is_some() && given.minutes.is_some() {
        wrong.add("--steps and --minutes: one of them says how long the run is");
    }
    wrong.number("steps", &given.steps, whole, |&n| n > 0, |n| new.steps = Some(n));
    let positive = |x: &f64| x.is_finite() && *x > 0.0;
    wrong.number("minutes", &given.minutes, "a positive number", positive, |x| {
        (new.minutes, new.steps) = (x, None)
    });
    wrong.number("lr", &given.lr, "a positive number", positive, |x| new.lr = x);
    wrong.number("accumulate", &given.accumulate, whole, |n| (1..=4096).contains(n), |n| new.accumulate = n);
    let not_negative = |x: &f64| x.is_finite() && *x >= 0.0;
    wrong.number("clip", &given.clip, "a positive number, or 0", not_negative, |x| new.clip = x);
    wrong.number("eval-every", &given.eval_every, whole, |&n| n > 0, |n| new.eval_every = Some(n));
    let every = &given.checkpoint_every;
    wrong.number("checkpoint-every", every, whole, |&n| n > 0, |n| new.checkpoint_every = Some(n));
    wrong.number("keep", &given.keep, whole, |&n| n > 0, |n| new.keep = n);
    wrong.number("seed", &given.seed, "a whole number of 0 or more", |_| true, |n| new.seed = n);
    wrong.name("schedule", &given.schedule, &SCHEDULES, &mut new.schedule);
    wrong.name("precision", &given.precision, &PRECISIONS.map(|(name, _)| name), &mut new.precision);
    (new, config)
}

/// A resumed run is the same run.
fn unchanged(before: &Settings, now: &Settings, wrong: &mut Complaints) {
    let fields = |settings| match serde_json::to_value(settings) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => Default::default(),
    };
    let now = fields(now);
    for (name, old) in fields(before) {
        if !MAY_CHANGE.contains(&name.as_str()) && now.get(&name) != Some(&old) {
            let (name, old) = (name.replace('_', "-"), old.to_string());
            wrong.add(format!(
                "--{name}: the run in --out began with {old} and goes on with it; leave --{name} out"
            ));
        }
    }
}

/// Whether there is something to read; what is in it is another question.
fn readable(data: &Path, wrong: &mut Complaints) {
    let opened = match data.is_dir() {
        true => std::fs::read_dir(data).map(|_| ()),
        false => std::fs::File::open(data).map(|_| ()),
    };
    wrong.take(&format!("--data {}", data.display()), opened);
}
