//! `fornax train`, the conductor: arguments, data, folder, model; then steps, evaluations and checkpoints; then the
//! trained model, a sample of it, and where the time went.

pub mod arguments;
mod curve;
mod data;
mod folder;
mod metrics;
mod pace;
mod profile;
mod progress;
mod run;
mod steps;
mod text;
mod trainer;

use crate::Failure;
use arguments::{Checked, TrainArguments};
use data::Data;
use fornax::Device;
use run::Run;
use steps::Steps;

/// Trains a GPT-2; without arguments a tiny one, for a minute, on Fornax's own sources
#[derive(clap::Args)]
pub struct Request {
    #[command(flatten)]
    arguments: TrainArguments,
    /// Print a JSON line a step and nothing else
    #[arg(long)]
    json: bool,
}

/// Trains.
pub fn train(request: &Request) -> Result<(), Failure> {
    let checked = arguments::check(&request.arguments, request.json)?;
    let data = open(&checked)?;
    let mut run = Run::begin(checked, &data)?;
    while !run.is_over() {
        run.step()?;
        if run.evaluation_is_due() {
            run.evaluate()?;
        }
        if run.checkpoint_is_due() {
            run.save_checkpoint()?;
        }
    }
    run.finish()
}

fn open(checked: &Checked) -> Result<Data, Failure> {
    let Checked { settings, tokenizer, config, .. } = checked;
    data::open(settings.data.as_deref(), tokenizer, config.end, settings.context)
}

/// A run whose steps can be made one by one, without writing anything.
pub struct Steady {
    /// What a step is, in words.
    pub name: String,
    pub device: Device,
    /// Queues a step and reads the loss of the one before, as a run does.
    pub step: Box<dyn FnMut() -> fornax::Result<()>>,
}

/// The steps that [`train`] would make.
pub fn steady(given: &TrainArguments) -> Result<Steady, Failure> {
    // A run that begins writes to no folder here, so it may be the one of another.
    let mut given = given.clone();
    given.out = given.out.filter(|_| given.resume);
    let checked = arguments::check(&given, false)?;
    let mut steps = Steps::begin(&checked, &open(&checked)?)?.steps;
    let mut queued = None;
    let step = move || {
        let (_, loss) = steps.queue()?;
        queued.replace(loss).map_or(Ok(()), |earlier: fornax::Pending<f32>| earlier.wait().map(drop))
    };
    let name = format!("train {}, {}", checked.settings.model(), checked.settings.step());
    Ok(Steady { name, device: checked.device, step: Box::new(step) })
}
