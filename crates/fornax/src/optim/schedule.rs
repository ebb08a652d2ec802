//! Learning rates as functions of the step, counted from 0.

/// A learning rate for every step.
///
/// ```
/// use fornax::optim::{Cosine, Schedule};
/// let schedule = Cosine { lr: 1e-3, min_lr: 1e-4, warmup: 10, total: 100 };
/// assert_eq!(schedule.lr(9), 1e-3);
/// assert_eq!(schedule.lr(500), 1e-4);
/// ```
pub trait Schedule {
    /// The learning rate of a step.
    fn lr(&self, step: u64) -> f64;
}

/// Always the same.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The learning rate.
    pub lr: f64,
}

/// Rises in equal parts to `lr` over `warmup` steps, then stays.
#[derive(Clone, Copy, Debug)]
pub struct Warmup {
    /// The learning rate after the warm-up.
    pub lr: f64,
    /// How many steps it takes; the last of them has the full rate.
    pub warmup: u64,
}

/// Rises over `warmup` steps, then falls along half a cosine to `min_lr` at step `total`, and stays there.
#[derive(Clone, Copy, Debug)]
pub struct Cosine {
    /// The highest learning rate.
    pub lr: f64,
    /// The lowest.
    pub min_lr: f64,
    /// Steps of linear warm-up.
    pub warmup: u64,
    /// Steps in all.
    pub total: u64,
}

/// Multiplied by `gamma` after every `every` steps.
#[derive(Clone, Copy, Debug)]
pub struct StepDecay {
    /// The first learning rate.
    pub lr: f64,
    /// The factor.
    pub gamma: f64,
    /// How many steps a rate lasts.
    pub every: u64,
}

impl Schedule for Constant {
    fn lr(&self, _step: u64) -> f64 {
        self.lr
    }
}

impl Schedule for Warmup {
    fn lr(&self, step: u64) -> f64 {
        if step < self.warmup { self.lr * (step + 1) as f64 / self.warmup as f64 } else { self.lr }
    }
}

impl Schedule for Cosine {
    fn lr(&self, step: u64) -> f64 {
        if step < self.warmup {
            return Warmup { lr: self.lr, warmup: self.warmup }.lr(step);
        }
        if step >= self.total {
            return self.min_lr;
        }
        let done = (step - self.warmup) as f64 / (self.total - self.warmup) as f64;
        self.min_lr + 0.5 * (self.lr - self.min_lr) * (1.0 + (std::f64::consts::PI * done).cos())
    }
}

impl Schedule for StepDecay {
    fn lr(&self, step: u64) -> f64 {
        self.lr * self.gamma.powf((step / self.every.max(1)) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_at_their_corners() {
        assert_eq!(Constant { lr: 0.5 }.lr(7), 0.5);
        let warmup = Warmup { lr: 1.0, warmup: 4 };
        assert_eq!([0, 1, 3, 4, 100].map(|s| warmup.lr(s)), [0.25, 0.5, 1.0, 1.0, 1.0]);
        let cosine = Cosine { lr: 1.0, min_lr: 0.2, warmup: 2, total: 12 };
        assert_eq!(cosine.lr(0), 0.5);
        assert!((cosine.lr(2) - 1.0).abs() < 1e-12);
        assert!((cosine.lr(7) - 0.6).abs() < 1e-12);
        assert_eq!(cosine.lr(12), 0.2);
        let steps = StepDecay { lr: 1.0, gamma: 0.5, every: 3 };
        assert_eq!([0, 2, 3, 8, 9].map(|s| steps.lr(s)), [1.0, 1.0, 0.5, 0.25, 0.125]);
        assert_eq!(Cosine { lr: 1.0, min_lr: 0.0, warmup: 0, total: 0 }.lr(0), 0.0);
        assert_eq!(StepDecay { lr: 1.0, gamma: 0.5, every: 0 }.lr(1), 0.5);
    }
}
