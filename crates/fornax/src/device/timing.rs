//! Which launches are timed, and what was measured. A plan's time is read at marks: before its first launch, after its
//! last, and around the launches that are timed by themselves; neighbours share the mark between them.

use std::ops::Range;

/// When a launch ran, by the clock of its device.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The kernel's label.
    pub label: String,
    /// The module path that caused it.
    pub scope: String,
    /// Whether it belongs to the gradients.
    pub backward: bool,
    /// What it had to do.
    pub work: crate::kernel::Work,
    /// Seconds of the device's clock; only differences mean something. That of the launch or, if it was not timed by
    /// itself, of those around it.
    pub begin: f64,
    /// Seconds of the device's clock.
    pub end: f64,
}

/// What [`Device::set_timing`](crate::Device::set_timing) measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingMode {
    /// Nothing.
    Off,
    /// Beginning and end of every plan.
    Plans,
    /// As [`TimingMode::Plans`], but every plan is evaluated so often in a row, and what is told is the mean of one: short
    /// kernels are not charged for a device that was idle. Results stay for a while, so evaluations wait for each other
    /// only where they must. What works in place changes its memory as often.
    Bursts(usize),
    /// Beginning and end of every plan and of some launches: timing all of them would slow down what is measured.
    Sample(Sample),
    /// Beginning and end of every launch.
    Launches,
}

/// Some of the launches since timing was set: these come in blocks of `block` neighbours, and of every `of` blocks in a
/// row one is timed, the one with the number `part`. All parts together are all launches. With a `block` of none only
/// the end of one launch of every `of` is read, which takes half as many timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Launches of a block.
    pub block: usize,
    /// How many parts there are; at least one.
    pub of: usize,
    /// Which one, from zero.
    pub part: usize,
}

impl Sample {
    /// Whether a launch is timed, by its number.
    pub(crate) fn holds(&self, launch: usize) -> bool {
        launch / self.block.max(1) % self.of.max(1) == self.part
    }

    /// Whether only ends are read.
    pub(crate) fn only_ends(&self) -> bool {
        self.block == 0
    }
}

impl TimingMode {
    /// At how many ended launches the time is read in a plan of some launches, of which the first has a number.
    pub(crate) fn marks(self, first: usize, launches: usize) -> Vec<usize> {
        let alone = |i: usize| match self {
            TimingMode::Off | TimingMode::Plans | TimingMode::Bursts(_) => false,
            TimingMode::Sample(sample) => sample.holds(first + i),
            TimingMode::Launches => true,
        };
        let only_ends = matches!(self, TimingMode::Sample(sample) if sample.only_ends());
        let begins = |i: usize| alone(i) && !only_ends;
        let read = |&mark: &usize| mark == 0 || mark == launches || alone(mark - 1) || begins(mark);
        (0..=launches).filter(read).collect()
    }

    /// How often a plan runs in a row.
    pub(crate) fn repeats(self) -> usize {
        if let TimingMode::Bursts(times) = self { times.max(1) } else { 1 }
    }
}

/// When a plan had come how far; nothing if it was not timed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// How many launches had ended, from none to all.
    pub marks: Vec<usize>,
    /// And when.
    pub seconds: Vec<f64>,
}

impl Times {
    /// When the first launch began and the last ended.
    pub fn whole(&self) -> Option<(f64, f64)> {
        Some((*self.seconds.first()?, *self.seconds.last()?))
    }

    /// The launches between every two marks, with the times of those.
    pub fn parts(&self) -> impl Iterator<Item = (Range<usize>, f64, f64)> {
        let times = self.seconds.windows(2);
        self.marks.windows(2).zip(times).map(|(marks, times)| (marks[0]..marks[1], times[0], times[1]))
    }

    /// Marks that stand between launches.
    pub fn inner(&self) -> usize {
        self.marks.len().saturating_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_mark_and_every_launch_is_in_one_part() {
        assert_eq!(TimingMode::Plans.marks(0, 5), [0, 5]);
        assert_eq!(TimingMode::Bursts(9).marks(0, 5), [0, 5]);
        assert_eq!(TimingMode::Launches.marks(7, 4), [0, 1, 2, 3, 4]);
        let marks = |part, first| TimingMode::Sample(Sample { block: 2, of: 3, part }).marks(first, 10);
        assert_eq!(marks(0, 0), [0, 1, 2, 6, 7, 8, 10]);
        assert_eq!(marks(1, 0), [0, 2, 3, 4, 8, 9, 10]);
        assert_eq!(marks(2, 0), [0, 4, 5, 6, 10]);
        // Plans of one call go on counting.
        assert_eq!(marks(2, 3), [0, 1, 2, 3, 7, 8, 9, 10]);
        for of in [1, 2, 5, 40] {
            for launch in 0..100 {
                let held = (0..of).filter(|&part| Sample { block: 3, of, part }.holds(launch)).count();
                assert_eq!(held, 1, "launch {launch} of {of} parts");
            }
        }
    }

    #[test]
    fn times_are_of_what_lies_between_marks() {
        let times = Times { marks: vec![0, 2, 3], seconds: vec![1.0, 5.0, 6.0] };
        assert_eq!((times.whole(), times.inner()), (Some((1.0, 6.0)), 1));
        assert_eq!(times.parts().collect::<Vec<_>>(), [(0..2, 1.0, 5.0), (2..3, 5.0, 6.0)]);
        assert_eq!((Times::default().whole(), Times::default().inner()), (None, 0));
    }
}
