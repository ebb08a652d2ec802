//! Two profiles side by side: what changed, kernel by kernel.

use super::amounts::{self, bytes, seconds};
use super::{KernelTime, Profile};
use std::fmt;

/// How one thing differs between two profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// A kernel's label, or what else is compared.
    pub what: String,
    /// Launches before, and seconds; `None` if it was not there.
    pub before: Option<(u64, f64)>,
    /// Launches after, and seconds; `None` if it is not there any more.
    pub after: Option<(u64, f64)>,
    /// Whether the difference is larger than what each side varied by itself; `None` if that is unknown.
    pub beyond_noise: Option<bool>,
}

impl Change {
    /// Time after over time before.
    pub fn ratio(&self) -> Option<f64> {
        let (before, after) = (self.before?.1, self.after?.1);
        (before > 0.0).then(|| after / before)
    }

    /// Seconds that it takes longer.
    pub fn difference(&self) -> f64 {
        self.after.map_or(0.0, |a| a.1) - self.before.map_or(0.0, |b| b.1)
    }
}

/// What changed from one profile to another.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The profiles' names and devices.
    pub names: (String, String),
    /// The call as a whole, by the wall's clock.
    pub wall: Change,
    /// All kernels together.
    pub busy: Change,
    /// Kernels, the largest difference first.
    pub kernels: Vec<Change>,
    /// The most bytes in use.
    pub peak_bytes: (u64, u64),
    /// Why the figures may not be comparable.
    pub cautions: Vec<String>,
}

impl Profile {
    /// What changed from this profile to `after`.
    pub fn compare(&self, after: &Profile) -> Comparison {
        let mut cautions = vec![];
        let mut differ = |what: &str, a: String, b: String| {
            if a != b {
                cautions.push(format!("{what}: {a} before, {b} after"));
            }
        };
        differ("the workloads differ", self.name.clone(), after.name.clone());
        differ("the devices differ", self.device.clone(), after.device.clone());
        differ("the clocks differ", self.clock.to_string(), after.clock.to_string());
        let timed = |p: &Profile| if p.undisturbed { "untimed calls" } else { "a timed call" }.to_string();
        differ("the wall's time is of different calls", timed(self), timed(after));
        let launches = |p: &Profile| p.kernels.iter().map(|k| k.count).sum::<u64>();
        let apart = |a: (f64, f64), b: (f64, f64)| a.1 < b.0 || b.1 < a.0;
        Comparison {
            names: (
                format!("{} on {}", self.name, self.device),
                format!("{} on {}", after.name, after.device),
            ),
            wall: Change {
                what: "wall".into(),
                before: Some((launches(self), self.wall.median)),
                after: Some((launches(after), after.wall.median)),
                beyond_noise: (self.wall.calls > 1 && after.wall.calls > 1)
                    .then(|| apart((self.wall.low, self.wall.high), (after.wall.low, after.wall.high))),
            },
            busy: Change {
                what: "kernels".into(),
                before: Some((launches(self), self.busy)),
                after: Some((launches(after), after.busy)),
                beyond_noise: None,
            },
            kernels: kernels(self, after, apart),
            peak_bytes: (self.memory.peak, after.memory.peak),
            cautions,
        }
    }
}

fn kernels(before: &Profile, after: &Profile, apart: impl Fn((f64, f64), (f64, f64)) -> bool) -> Vec<Change> {
    let find = |profile: &Profile, label: &str| profile.kernels.iter().find(|k| k.label == label).cloned();
    let figures = |k: &KernelTime| (k.count, k.seconds);
    let mut changes: Vec<Change> = before
        .kernels
        .iter()
        .map(|old| {
            let new = find(after, &old.label);
            Change {
                what: old.label.clone(),
                before: Some(figures(old)),
                after: new.as_ref().map(figures),
                beyond_noise: old.spread.zip(new.and_then(|n| n.spread)).map(|(a, b)| apart(a, b)),
            }
        })
        .collect();
    for new in after.kernels.iter().filter(|k| find(before, &k.label).is_none()) {
        changes.push(Change {
            what: new.label.clone(),
            before: None,
            after: Some(figures(new)),
            beyond_noise: None,
        });
    }
    changes.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    changes
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "before  {}\nafter   {}", self.names.0, self.names.1)?;
        for caution in &self.cautions {
            writeln!(f, "caution: {caution}")?;
        }
        writeln!(
            f,
            "\n{:56} {:>13} {:>13} {:>10} {:>10} {:>11} {:>7}",
            "kernel", "launches", "", "before", "after", "difference", "ratio"
        )?;
        for change in [&self.wall, &self.busy].into_iter().chain(&self.kernels) {
            let count = |side: Option<(u64, f64)>| amounts::or_dash(side, |s| s.0.to_string());
            let time = |side: Option<(u64, f64)>| amounts::or_dash(side, |s| seconds(s.1));
            let sign = if change.difference() > 0.0 { "+" } else { "" };
            let note = match change.beyond_noise {
                Some(true) => " *",
                _ => "",
            };
            writeln!(
                f,
                "{:56} {:>13} {:>13} {:>10} {:>10} {:>11} {:>7}{note}",
                change.what.chars().take(56).collect::<String>(),
                count(change.before),
                count(change.after),
                time(change.before),
                time(change.after),
                format!("{sign}{}", seconds(change.difference())),
                amounts::or_dash(change.ratio(), |r| format!("{r:.2}x")),
            )?;
        }
        let (a, b) = self.peak_bytes;
        writeln!(f, "\npeak memory {} before, {} after", bytes(a), bytes(b))?;
        writeln!(f, "* differs by more than either side varied; ratio: after / before")
    }
}
