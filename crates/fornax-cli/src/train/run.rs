//! A run as it goes: what is trained, on what, how far it has come, and what was measured. A step's loss is read when
//! the next step is queued, so that the device never waits for the host.

use super::arguments::Checked;
use super::curve;
use super::data::Data;
use super::folder::Log;
use super::metrics::{Evaluation, Line, Step};
use super::profile::Profile;
use super::progress::{Progress, thousands};
use super::steps::{Begun, Steps};
use crate::Failure;
use fornax::io::checkpoint::Checkpoints;
use fornax::nn::Module;
use fornax::{Device, Error, Pending, Result};
use fornax_models::{Batches, Request, Sampling, generate};
use std::time::Instant;

pub struct Run {
    checked: Checked,
    title: String,
    steps: Steps,
    eval_batches: Batches,
    checkpoints: Checkpoints,
    log: Log,
    progress: Progress,
    profile: Profile,
    /// The last step, its loss on the way from the device.
    queued: Option<(Step, Pending<f32>)>,
    began: Instant,
    /// Seconds of the run before this process.
    before: f64,
    /// When the last loss came, or what interrupted the steps ended.
    last: Instant,
}

/// Batches of an evaluation.
const EVAL_BATCHES: usize = 8;
/// The most tokens of the sample at the end, and of what it begins with.
const SAMPLE: usize = 200;
const SAMPLE_PROMPT: usize = 32;

impl Run {
    /// Makes or finds the run's folder, and everything up to the first step.
    pub fn begin(checked: Checked, data: &Data) -> std::result::Result<Run, Failure> {
        let Begun { steps, reached, broken } = Steps::begin(&checked, data)?;
        let Checked { settings, config, device, folder, resume, .. } = &checked;
        let checkpoints = folder.checkpoints(settings.keep);
        let eval_batches = Batches::new(data.eval.clone(), settings.batch, settings.context, 0)?;
        let eval_batches = eval_batches.checked(config.vocabulary);
        let mut progress = Progress::new(checked.json);
        let title = format!(
            "{} ({} parameters) on {device}, {}",
            settings.model(),
            thousands(steps.trainer.model.parameter_count() as f64),
            settings.step()
        );
        progress.say(&format!("model  {title}"));
        let (train, eval) = (thousands(data.train.len() as f64), thousands(data.eval.len() as f64));
        let name = checked.tokenizer.name();
        progress.say(&format!("data   {}: {train} tokens ({name}), {eval} more for evaluation", data.name));
        progress.say(&format!("run    {}", folder.path.display()));

        if *resume {
            for path in &broken {
                progress.say(&format!("       {} is not whole and is passed over", path.display()));
            }
            checkpoints.remove_after(steps.done)?;
            progress.say(&format!("       goes on after step {}", steps.done));
        }
        begin_folder(&checked)?;
        let (log, lines) = folder.log(steps.done)?;
        lines.iter().for_each(|line| progress.history.add(line));
        progress.begin();
        let profile = Profile::new(device);
        let now = Instant::now();
        Ok(Run {
            title,
            steps,
            eval_batches,
            checkpoints,
            log,
            progress,
            profile,
            queued: None,
            began: now,
            before: reached.seconds,
            last: now,
            checked,
        })
    }

    fn device(&self) -> &Device {
        &self.checked.device
    }

    fn elapsed(&self) -> f64 {
        self.before + self.began.elapsed().as_secs_f64()
    }

    pub fn is_over(&self) -> bool {
        self.steps.pace.over(self.steps.done, self.elapsed())
    }

    /// Queues a step, and reads the loss of the one before.
    pub fn step(&mut self) -> Result<()> {
        let device = self.device().clone();
        let measured =
            !self.checked.json && self.steps.pace.total.is_some_and(|total| self.steps.done + 3 >= total);
        self.profile.measure(measured);
        let before = device.stats();
        let (lr, mut loss) = self.steps.queue()?;
        let earlier = self.queued.take();
        if let Some(earlier) = earlier {
            self.read(earlier)?;
        }
        let counted = device.stats().since(&before);
        let line = Step {
            step: self.steps.done,
            lr,
            launches: counted.launches,
            submits: counted.submits,
            fresh_allocations: counted.pool.fresh,
            plans_built: counted.plans_built,
            kernels_compiled: counted.kernels_compiled,
            peak_bytes: counted.pool.peak_bytes,
            ..Step::default()
        };
        self.profile.step(&counted);
        let here = loss.ready();
        self.queued = Some((line, loss));
        if here { self.catch_up() } else { Ok(()) }
    }

    /// Reads the loss of a step and tells of it.
    fn read(&mut self, (mut line, loss): (Step, Pending<f32>)) -> Result<()> {
        line.loss = loss.wait()?;
        if line.loss.is_nan() {
            let detail = format!(
                "the loss of step {} is not a number; go on from the last checkpoint (--resume), or begin anew with a \
                 smaller --lr or --clip",
                line.step
            );
            return Err(Error::Argument { op: "train", detail });
        }
        let seconds = std::mem::replace(&mut self.last, Instant::now()).elapsed().as_secs_f64();
        line.ms = seconds * 1e3;
        let settings = &self.checked.settings;
        let tokens = settings.batch * settings.context * settings.accumulate;
        line.tokens_per_s = tokens as f64 / seconds.max(1e-9);
        self.profile.took(seconds);
        self.log.write(&Line::Step(line.clone()))?;
        let (elapsed, typical) = (self.elapsed(), self.profile.typical());
        self.steps.pace.look(line.step, elapsed, typical);
        let outlook = self.steps.pace.outlook(line.step, elapsed, typical);
        self.progress.step(&line, self.steps.pace.total, outlook);
        Ok(())
    }

    /// Reads what is still queued.
    fn catch_up(&mut self) -> Result<()> {
        match self.queued.take() {
            Some(queued) => self.read(queued),
            None => Ok(()),
        }
    }

    pub fn evaluation_is_due(&self) -> bool {
        self.steps.pace.due(self.steps.done, self.checked.settings.eval_every, 10)
    }

    pub fn evaluate(&mut self) -> Result<()> {
        self.catch_up()?;
        let (device, start) = (self.device().clone(), Instant::now());
        let eval_loss = self.steps.trainer.evaluate(&mut self.eval_batches, EVAL_BATCHES, &device)?;
        let line = Evaluation { step: self.steps.done, eval_loss, ms: start.elapsed().as_secs_f64() * 1e3 };
        self.log.write(&Line::Evaluation(line.clone()))?;
        self.progress.evaluation(&line);
        self.last = Instant::now();
        Ok(())
    }

    pub fn checkpoint_is_due(&self) -> bool {
        self.steps.pace.due(self.steps.done, self.checked.settings.checkpoint_every, 5)
    }

    pub fn save_checkpoint(&mut self) -> Result<()> {
        self.catch_up()?;
        let reached = self.steps.reached(self.elapsed());
        self.checkpoints.save(self.steps.done, &mut self.steps.trainer.training(), &reached.notes()?)?;
        self.checked.folder.write_curve(&curve::svg(&self.progress.history, &self.title))?;
        self.last = Instant::now();
        Ok(())
    }

    /// The last evaluation and checkpoint, the model, a sample of it, and where the time went.
    pub fn finish(mut self) -> std::result::Result<(), Failure> {
        self.catch_up()?;
        self.profile.measure(false);
        if self.progress.history.evaluations.last().is_none_or(|last| last.0 != self.steps.done as f64) {
            self.evaluate()?;
        }
        if self.checkpoints.steps()?.last() != Some(&self.steps.done) {
            self.save_checkpoint()?;
        }
        let folder = &self.checked.folder.path;
        self.steps.trainer.model.save(folder)?;
        self.progress.end();
        let (done, loss) = (self.steps.done, self.progress.recent_loss());
        let eval_loss = self.progress.history.evaluations.last().map_or(f64::NAN, |last| last.1);
        let seconds = self.elapsed();
        self.progress.say(&format!(
            "\n{done} steps in {seconds:.0} s: loss {loss:.4}, evaluation loss {eval_loss:.4}\n{}",
            self.profile.line()
        ));
        let sample = self.sample()?;
        let shown = folder.display();
        self.progress.say(&format!("\n{sample}\n\nfornax generate --model {shown} \"...\" goes on with it"));
        self.progress.tell(serde_json::json!({
            "finished": true, "step": done, "eval_loss": eval_loss, "seconds": seconds, "model": folder,
            "sample": sample,
        }));
        Ok(())
    }

    /// What the model makes of the first tokens that it was evaluated with.
    fn sample(&self) -> Result<String> {
        let Checked { tokenizer, config, settings, .. } = &self.checked;
        let known = SAMPLE_PROMPT.min(config.context / 2).max(1);
        let prompt = tokenizer.decode(&self.eval_batches.tokens().read(0, known)?);
        let sampling = Sampling { temperature: 0.8, top_k: 40, ..Sampling::default() };
        let request = Request { tokens: SAMPLE, sampling, seed: settings.seed, stop: vec![] };
        let (texts, _) = generate(&self.steps.trainer.model, tokenizer, &[&prompt], &request, |_, _| Ok(()))?;
        Ok(texts.into_iter().map(|text| prompt.clone() + &text.text).collect())
    }
}

/// What says which run it is comes first: from then on the run can be resumed.
fn begin_folder(checked: &Checked) -> Result<()> {
    let path = &checked.folder.path;
    checked.folder.begin(&checked.settings)?;
    checked.config.save(path.join("config.json"))?;
    checked.tokenizer.save(path.join("tokenizer.json"))
}
