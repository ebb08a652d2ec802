//! Where the time and the memory of a run went, in one line.

use fornax::{DType, Device, Stats, Tensor, TimingMode};
use std::collections::VecDeque;

pub struct Profile {
    device: Device,
    /// Whether the device times its plans now, which makes the host wait for them.
    measuring: bool,
    /// What the device was busy for, in each step that was timed.
    busy: Vec<f64>,
    /// What the last steps took that were not timed, without the first, which build and compile.
    recent: VecDeque<f64>,
    steps: u64,
    launches: u64,
    submits: u64,
    /// Memories asked for, and those of them that the pool had.
    requests: u64,
    reused: u64,
    peak: u64,
}

/// Steps that make up what is typical.
const RECENT: usize = 64;
/// From this step of the process on nothing is new.
const STEADY: u64 = 3;

impl Profile {
    pub fn new(device: &Device) -> Profile {
        Profile {
            device: device.clone(),
            measuring: false,
            busy: vec![],
            recent: VecDeque::new(),
            steps: 0,
            launches: 0,
            submits: 0,
            requests: 0,
            reused: 0,
            peak: 0,
        }
    }

    /// Lets the device time its plans, if it can.
    pub fn measure(&mut self, on: bool) {
        if on == self.measuring {
            return;
        }
        self.device.set_timing(if on { TimingMode::Plans } else { TimingMode::Off });
        if on {
            let tried = Tensor::zeros(&[1], DType::F32, &self.device).and_then(|x| x.add(1.0)?.eval());
            self.device.take_timings();
            if tried.is_err() {
                self.device.set_timing(TimingMode::Off);
            }
        }
        self.measuring = on;
    }

    /// What was counted while a step was queued.
    pub fn step(&mut self, counted: &Stats) {
        self.steps += 1;
        self.peak = counted.pool.peak_bytes;
        if self.measuring {
            let timings = self.device.take_timings();
            let begin = timings.iter().map(|t| t.begin).fold(f64::INFINITY, f64::min);
            let end = timings.iter().map(|t| t.end).fold(f64::NEG_INFINITY, f64::max);
            self.busy.extend((end > begin).then_some(end - begin));
        } else if self.steps >= STEADY {
            self.launches = counted.launches;
            self.submits = counted.submits;
            self.requests += counted.pool.requests;
            self.reused += counted.pool.reused;
        }
    }

    /// How long a step took, as its loss came.
    pub fn took(&mut self, seconds: f64) {
        if !self.measuring && self.steps > STEADY {
            self.recent.push_back(seconds);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
    }

    /// The median of the last steps; zero as long as there is none.
    pub fn typical(&self) -> f64 {
        median(self.recent.iter().copied().collect())
    }

    pub fn line(&self) -> String {
        let mut parts = vec![];
        let (busy, typical) = (median(self.busy.clone()), self.typical());
        if busy > 0.0 && typical > 0.0 {
            parts.push(format!("{} busy {:.0} %", self.device, (100.0 * busy / typical).min(100.0)));
        }
        if typical > 0.0 {
            parts.push(format!("{:.1} ms a step", typical * 1e3));
        }
        if self.requests > 0 {
            parts.push(format!("{} launches and {} submits a step", self.launches, self.submits));
            let reused = 100.0 * self.reused as f64 / self.requests as f64;
            parts.push(format!("{reused:.1} % of memory requests from the pool"));
        }
        parts.push(format!("peak memory {:.1} MiB", self.peak as f64 / (1 << 20) as f64));
        parts.join("; ")
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
