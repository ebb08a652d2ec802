//! Advice: what could be saved, ranked. Rules look at the evidence and claim seconds, each from certain launches or from
//! the host's time; `rank` grants what is claimed only once, so that all advice together promises no more than was
//! measured.

mod rules;
#[cfg(test)]
mod tests;

use super::Profile;
use super::assemble::Launched;
use serde::{Deserialize, Serialize};

/// Something that could be changed, and what it would save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The rule that speaks.
    pub rule: String,
    /// What it is about: "mul_add f32 ×12".
    pub what: String,
    /// What was measured and what could be done, with numbers.
    pub why: String,
    /// Seconds of a call that this would save at most, beside what advice above it saves.
    pub saves: f64,
    /// That over the seconds of a call.
    pub share: f64,
    /// The profile's kernels that it is about.
    pub kernels: Vec<usize>,
}

/// What rules look at.
pub(super) struct Evidence<'a> {
    /// All but its advice.
    pub profile: &'a Profile,
    /// The launches of the timed call, with what they read of each other.
    pub launches: &'a [Launched],
}

/// What a rule says.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    pub rule: &'static str,
    pub what: String,
    pub why: String,
    /// Launches and the seconds that each would save.
    pub launches: Vec<(usize, f64)>,
    /// Seconds that the host would save.
    pub host: f64,
}

/// Less than this share of a call is not worth a word.
const WORTH: f64 = 0.005;
/// How many pieces of advice are given.
const MOST: usize = 12;

/// All rules' advice, ranked.
pub(super) fn advise(evidence: &Evidence<'_>) -> Vec<Advice> {
    rank(evidence, rules::ALL.iter().flat_map(|rule| rule(evidence)).collect())
}

/// Grants the largest claim first. What it saves of a launch, or of the host's time, no later one can save again. The host
/// can save no more than the time in which no kernel ran.
fn rank(evidence: &Evidence<'_>, mut claims: Vec<Claim>) -> Vec<Advice> {
    let profile = evidence.profile;
    let total = profile.seconds();
    // Launches that ran side by side cannot all be saved.
    let sum: f64 = evidence.launches.iter().map(Launched::seconds).sum();
    let share = if sum > 0.0 { (profile.busy / sum).min(1.0) } else { 0.0 };
    let mut left: Vec<f64> = evidence.launches.iter().map(|l| l.seconds() * share).collect();
    let mut host = (total - profile.busy).max(0.0);
    let mut given = vec![];
    while given.len() < MOST {
        let grant = |claim: &Claim| {
            let device: f64 = claim.launches.iter().map(|&(i, s)| s.min(left[i])).sum();
            device + claim.host.min(host)
        };
        let best = claims.iter().map(grant).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, saves)) = best.filter(|(_, saves)| *saves > 0.0 && *saves >= WORTH * total) else {
            break;
        };
        let claim = claims.swap_remove(at);
        host -= claim.host.min(host);
        for &(i, s) in &claim.launches {
            left[i] -= s.min(left[i]);
        }
        let mut kernels: Vec<usize> =
            claim.launches.iter().map(|&(i, _)| evidence.launches[i].kernel).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let rule = claim.rule.into();
        given.push(Advice { rule, what: claim.what, why: claim.why, saves, share: saves / total, kernels });
    }
    given
}
