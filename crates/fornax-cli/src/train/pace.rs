//! How long a run is, and what the learning rate does meanwhile.

use super::arguments::Settings;
use super::steps::Reached;
use fornax::optim::{Constant, Cosine, Schedule, StepDecay, Warmup};

/// With a limit in minutes the number of steps is an estimate, made anew after 20, 40, 80, ... steps; the learning rate
/// depends on the estimate and the step, never on the clock itself.
pub struct Pace {
    lr: f64,
    schedule: String,
    warmup: u64,
    /// The number of steps, as far as it is known.
    pub total: Option<u64>,
    /// Seconds, if they limit the run.
    pub seconds: Option<f64>,
}

/// The first estimate is made after this many steps.
const FIRST: u64 = 20;

impl Pace {
    pub fn new(settings: &Settings) -> Pace {
        // Some of the time goes to evaluations, checkpoints and the sample.
        let seconds = settings.steps.is_none().then_some(settings.minutes * 60.0 * 0.95);
        let warmup = settings.steps.map_or(FIRST, |steps| (steps / 20).clamp(1, 1000));
        Pace { lr: settings.lr, schedule: settings.schedule.clone(), warmup, total: settings.steps, seconds }
    }

    /// Goes on after `done` steps. An estimate stays what it was, unless the run is given another limit.
    pub fn resume(&mut self, done: u64, reached: &Reached) {
        let Some(seconds) = self.seconds else { return };
        self.total = reached.total;
        if reached.limit != self.seconds && done > 0 {
            let typical = reached.seconds / done as f64;
            self.total = Some(done + ((seconds - reached.seconds) / typical.max(1e-6)).max(0.0) as u64);
        }
    }

    /// The learning rate of the step after `done` others.
    pub fn lr(&self, done: u64) -> f64 {
        let (lr, warmup) = (self.lr, self.warmup);
        match (self.schedule.as_str(), self.total) {
            ("constant", _) => Constant { lr }.lr(done),
            ("cosine", Some(total)) => Cosine { lr, min_lr: lr / 10.0, warmup, total }.lr(done),
            ("step", Some(total)) => StepDecay { lr, gamma: 0.5, every: total.div_ceil(4) }.lr(done),
            _ => Warmup { lr, warmup }.lr(done),
        }
    }

    /// Looks at the clock: `elapsed` seconds of the run are over, and a step takes `typical` seconds.
    pub fn look(&mut self, done: u64, elapsed: f64, typical: f64) {
        let Some(seconds) = self.seconds else { return };
        if done >= FIRST && done.is_multiple_of(FIRST) && (done / FIRST).is_power_of_two() {
            self.total = Some(done + ((seconds - elapsed) / typical.max(1e-6)).max(0.0) as u64);
        }
    }

    /// Whether the run ends here.
    pub fn over(&self, done: u64, elapsed: f64) -> bool {
        let late =
            |seconds: f64| done > 0 && elapsed > if self.total.is_some() { 1.15 * seconds } else { seconds };
        self.total.is_some_and(|total| done >= total) || self.seconds.is_some_and(late)
    }

    /// How much of the run is done, and how many seconds are left.
    pub fn outlook(&self, done: u64, elapsed: f64, typical: f64) -> (f64, f64) {
        match (self.total, self.seconds) {
            (Some(total), _) => {
                (done as f64 / total.max(1) as f64, total.saturating_sub(done) as f64 * typical)
            }
            (None, Some(seconds)) => (elapsed / seconds, (seconds - elapsed).max(0.0)),
            (None, None) => (0.0, 0.0),
        }
    }

    /// Whether something that happens `every` so many steps, otherwise a `share` of the run, happens after `done`.
    pub fn due(&self, done: u64, every: Option<u64>, share: u64) -> bool {
        let every = every.or_else(|| Some((self.total? / share).max(1)));
        every.is_some_and(|every| done.is_multiple_of(every))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(total: Option<u64>, seconds: Option<f64>) -> Pace {
        Pace { lr: 1.0, schedule: "cosine".into(), warmup: FIRST, total, seconds }
    }

    #[test]
    fn a_limit_in_seconds_becomes_a_number_of_steps() {
        let mut pace = pace(None, Some(60.0));
        assert_eq!(pace.lr(9), 0.5, "the first steps do not depend on what is not known yet");
        pace.look(19, 2.0, 0.1);
        assert_eq!(pace.total, None);
        pace.look(20, 2.0, 0.1);
        assert_eq!(pace.total, Some(600));
        let before = pace.lr(300);
        pace.look(60, 30.0, 1.0);
        assert_eq!((pace.total, pace.lr(300)), (Some(600), before), "60 is no time to look");
        pace.look(80, 40.0, 0.2);
        assert_eq!(pace.total, Some(180));
        assert!(!pace.over(179, 68.0) && pace.over(179, 70.0) && pace.over(180, 1.0));
        assert_eq!(pace.outlook(90, 41.0, 0.2), (0.5, 18.0));
    }

    #[test]
    fn a_run_of_slow_steps_ends_too() {
        let mut pace = pace(None, Some(60.0));
        assert!(!pace.over(0, 100.0), "one step at least");
        assert!(pace.over(3, 61.0) && !pace.over(3, 59.0));
        pace.look(20, 90.0, 4.0);
        assert!(pace.over(20, 90.0));
    }

    #[test]
    fn what_happens_every_so_often() {
        let run = pace(Some(100), None);
        assert!(run.due(10, None, 10) && !run.due(11, None, 10) && run.due(11, Some(11), 10));
        assert!(!pace(None, Some(60.0)).due(10, None, 10));
        assert!(pace(Some(3), None).due(2, None, 10), "short runs at every step");
    }
}
