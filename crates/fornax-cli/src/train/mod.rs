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
mod text;
mod trainer;

use crate::Failure;
use arguments::TrainArguments;
use run::Run;

/// Trains.
pub fn train(given: &TrainArguments) -> Result<(), Failure> {
    let checked = arguments::check(given)?;
    let data = data::open(
        checked.settings.data.as_deref(),
        &checked.tokenizer,
        checked.config.end,
        checked.settings.context,
    )?;
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
