//! The rules: each looks at the evidence for one thing and speaks only with numbers.

use super::{Claim, Evidence};
use crate::kernel::Work;
use crate::profile::amounts::{bandwidth, bytes, percent, rate, seconds};
use crate::profile::assemble::{Form, Launched, Source};
use crate::profile::{Arithmetic, Bound, Phase};
use std::collections::BTreeMap;

pub(super) type Rule = fn(&Evidence<'_>) -> Vec<Claim>;

/// All rules.
pub(super) const ALL: [Rule; 9] =
    [join, fold, below_roof, half, submits, allocations, plans, transfers, host];

/// The share of the roof that a well-made kernel reaches, and below which one is worth a word.
const GOOD: f64 = 0.85;
const POOR: f64 = 0.7;

/// Kernels smaller than a launch that do not depend on each other could be one launch.
pub(super) fn join(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Some(roof) = evidence.profile.roof else { return vec![] };
    let mut groups: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (i, launch) in evidence.launches.iter().enumerate() {
        if roof.least(&launch.work, launch.arithmetic).1 == Bound::Launch {
            groups.entry((launch.plan, program(&launch.label))).or_default().push(i);
        }
    }
    // The same kernels in every evaluation are one piece of advice.
    let mut claims: BTreeMap<String, (Claim, usize, f64)> = BTreeMap::new();
    for ((_, name), members) in groups {
        let joined = independent(evidence.launches, &members);
        if joined.len() < 2 {
            continue;
        }
        let (work, took) = total(evidence.launches, &joined);
        let together = roof.least(&work, Arithmetic::F32).0.max(roof.launch);
        let saved = (1.0 - together / took).max(0.0);
        let (claim, count, sum) = claims.entry(name).or_default();
        claim.launches.extend(joined.iter().map(|&i| (i, evidence.launches[i].seconds() * saved)));
        *count += joined.len();
        *sum += took;
    }
    let speak = |(name, (claim, count, took)): (String, (Claim, usize, f64))| Claim {
        rule: "join",
        what: format!("{name} ×{count}"),
        why: format!(
            "launch-bound: {count} launches of {} take {} ({}); they do not need each other and could be one \
             (a launch takes {})",
            seconds(took / count as f64),
            seconds(took),
            share(evidence, took),
            seconds(roof.launch),
        ),
        ..claim
    };
    claims.into_iter().map(speak).collect()
}

/// A map of what one other kernel just wrote, for nobody else, could be part of that kernel.
pub(super) fn fold(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Some(roof) = evidence.profile.roof else { return vec![] };
    let mut claims: BTreeMap<(String, String), (Claim, f64, f64)> = BTreeMap::new();
    for (i, launch) in evidence.launches.iter().enumerate() {
        let moved = (launch.work.bytes_read + launch.work.bytes_written) as f64;
        // Of the whole space, so that the map can follow its source element by element.
        let fits = |source: &&Source| source.only && source.bytes == launch.result;
        let Some(source) = launch.sources.iter().filter(fits).max_by_key(|s| s.bytes) else { continue };
        let writer = &evidence.launches[source.launch];
        if launch.form != Form::Map || !matches!(writer.form, Form::Map | Form::Product) || moved == 0.0 {
            continue;
        }
        // The value need not be read again, and the result is written in its stead.
        let (least, bound) = roof.least(&launch.work, launch.arithmetic);
        let saved = match bound {
            Bound::Launch => 1.0,
            _ => ((source.bytes + launch.result) as f64 / moved).min(1.0),
        };
        let key = (launch.label.clone(), writer.label.clone());
        let (claim, took, roofs) = claims.entry(key).or_default();
        claim.launches.push((i, launch.seconds() * saved));
        *took += launch.seconds();
        *roofs += least;
    }
    let speak = |((label, writer), (claim, took, roofs)): ((String, String), (Claim, f64, f64))| Claim {
        rule: "fold",
        what: format!("{label} ×{}", claim.launches.len()),
        why: format!(
            "{} ({}) at {} of roofline; it reads what {writer} wrote for nobody else, and could be folded into it",
            seconds(took),
            share(evidence, took),
            percent(roofs / took),
        ),
        ..claim
    };
    claims.into_iter().filter(|(_, (_, took, _))| *took > 0.0).map(speak).collect()
}

/// A kernel far below the roof could be written or tuned better.
pub(super) fn below_roof(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Some(roof) = evidence.profile.roof else { return vec![] };
    let mut claims = vec![];
    for (index, kernel) in evidence.profile.kernels.iter().enumerate() {
        let (Some(bound), Some(of_roof)) = (kernel.bound, kernel.of_roof) else { continue };
        if of_roof >= POOR || bound == Bound::Launch {
            continue;
        }
        let figure = match bound {
            Bound::Compute => roof.rate(kernel.arithmetic).zip(kernel.rate).map(|(p, r)| (rate(r), rate(p))),
            _ => kernel.bandwidth.map(|b| (bandwidth(b), bandwidth(roof.memory()))),
        };
        let Some((reached, peak)) = figure else { continue };
        let of_this = evidence.launches.iter().enumerate().filter(|(_, l)| l.kernel == index);
        let saves = |l: &Launched| (l.seconds() - roof.least(&l.work, l.arithmetic).0 / GOOD).max(0.0);
        claims.push(Claim {
            rule: "below_roof",
            what: format!("{} ×{}", kernel.label, kernel.count),
            why: format!(
                "{}-bound at {} of roofline ({reached}, the device reaches {peak}): {} ({}); at {} of roofline it \
                 would take {}",
                bound.name(),
                percent(of_roof),
                seconds(kernel.seconds),
                share(evidence, kernel.seconds),
                percent(GOOD),
                seconds(kernel.seconds * of_roof / GOOD),
            ),
            launches: of_this.map(|(i, l)| (i, saves(l))).collect(),
            host: 0.0,
        });
    }
    claims
}

/// Products in f32 that operations bound would be faster on f16 operands, where the device has units for them.
pub(super) fn half(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Some(roof) = evidence.profile.roof else { return vec![] };
    let Some(fast) = roof.cooperative.or(roof.f16).filter(|fast| *fast > 1.5 * roof.f32) else {
        return vec![];
    };
    let (mut launches, mut took, mut then) = (vec![], 0.0, 0.0);
    for (i, launch) in evidence.launches.iter().enumerate() {
        let (least, bound) = roof.least(&launch.work, launch.arithmetic);
        if launch.form != Form::Product || launch.arithmetic != Arithmetic::F32 || bound != Bound::Compute {
            continue;
        }
        // Half the bytes, the faster units, and as far below the roof as now.
        let Work { bytes_read, bytes_written, ops } = launch.work;
        let halved = Work { bytes_read: bytes_read / 2, bytes_written, ops };
        let least_then = roof.least(&halved, Arithmetic::Half).0.max(roof.launch);
        let now = launch.seconds();
        launches.push((i, (now * (1.0 - least_then / least)).max(0.0)));
        took += now;
        then += now * (least_then / least).min(1.0);
    }
    if took == 0.0 {
        return vec![];
    }
    let why = format!(
        "compute-bound f32 products take {} ({}); on f16 operands (autocast) the device reaches {} instead of {}: as \
         far from the roof as now they would take {}",
        seconds(took),
        share(evidence, took),
        rate(fast),
        rate(roof.f32),
        seconds(then),
    );
    vec![Claim { rule: "half", what: format!("f32 matmul ×{}", launches.len()), why, launches, host: 0.0 }]
}

/// Many submits where few evaluations ran, or many evaluations.
pub(super) fn submits(evidence: &Evidence<'_>) -> Vec<Claim> {
    let counts = &evidence.profile.counts;
    let phase = evidence.profile.phases.iter().find(|p| p.phase == Phase::Submit && p.seconds > 0.0);
    let Some((phase, submits)) = phase.zip(counts.submits.filter(|&n| n > 4)) else { return vec![] };
    let evaluations = counts.evaluations.max(1);
    let each = phase.seconds / phase.count as f64;
    let fix = if evaluations > 1 {
        format!("{evaluations} evaluations, which eval(&[..]) could join into one")
    } else {
        "one evaluation, which fewer launches would hand over in fewer parts".into()
    };
    vec![Claim {
        rule: "submits",
        what: format!("{submits} submits"),
        why: format!(
            "{} each, {} together, for {} launches in {fix}",
            seconds(each),
            seconds(phase.seconds),
            counts.launches
        ),
        // Those that another thread made cost the caller nothing.
        host: phase.seconds - each,
        ..Claim::default()
    }]
}

/// Fresh memory in a call that should find its memory in the pool.
pub(super) fn allocations(evidence: &Evidence<'_>) -> Vec<Claim> {
    let (counts, took) = (&evidence.profile.counts, evidence.profile.phase(Phase::Allocate));
    if counts.fresh == 0 || took == 0.0 {
        return vec![];
    }
    let requests = counts.fresh + counts.reused;
    vec![Claim {
        rule: "allocations",
        what: format!("pool reuse {}", percent(counts.reused as f64 / requests as f64)),
        why: format!(
            "{} of {requests} requests needed fresh memory, {} in {}; sizes that change from call to call find nothing \
             in the pool: pad or bucket them, and let go of results before the next call",
            counts.fresh,
            bytes(counts.fresh_bytes),
            seconds(took),
        ),
        host: took,
        ..Claim::default()
    }]
}

/// Plans that are built again in a call that should replay them.
pub(super) fn plans(evidence: &Evidence<'_>) -> Vec<Claim> {
    let (counts, profile) = (&evidence.profile.counts, evidence.profile);
    let took = profile.phase(Phase::Schedule) + profile.phase(Phase::Compile);
    if counts.plans_built == 0 && counts.kernels_compiled == 0 || took == 0.0 {
        return vec![];
    }
    vec![Claim {
        rule: "plans",
        what: format!("{} plans built", counts.plans_built),
        why: format!(
            "scheduling takes {}, compiling {} kernels {}; a call of the same shapes replays its plans: keep shapes the \
             same, or run the call once before it counts",
            seconds(profile.phase(Phase::Schedule)),
            counts.kernels_compiled,
            seconds(profile.phase(Phase::Compile)),
        ),
        host: took,
        ..Claim::default()
    }]
}

/// Copies between host and device that are many or slow.
pub(super) fn transfers(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Some(roof) = evidence.profile.roof else { return vec![] };
    let mut claims = vec![];
    for (phase, peak, fix) in [
        (Phase::Upload, roof.upload, "upload what is needed together, and what stays the same once"),
        (Phase::ReadBack, roof.readback, "read once what is needed together, and as seldom as possible"),
    ] {
        let Some(copies) = evidence.profile.phases.iter().find(|p| p.phase == phase && p.seconds > 0.0)
        else {
            continue;
        };
        let least = copies.bytes as f64 / peak;
        claims.push(Claim {
            rule: "transfers",
            what: format!("{} ×{}", phase.name(), copies.count),
            why: format!(
                "{} in {}, {}; at the {} that the device reaches it would take {}: {fix}",
                bytes(copies.bytes),
                seconds(copies.seconds),
                bandwidth(copies.bytes as f64 / copies.seconds),
                bandwidth(peak),
                seconds(least),
            ),
            host: (copies.seconds - least).max(0.0),
            ..Claim::default()
        });
    }
    claims
}

/// The device waits for the host.
pub(super) fn host(evidence: &Evidence<'_>) -> Vec<Claim> {
    let profile = evidence.profile;
    let idle = profile.seconds() - profile.busy;
    let parts = [Phase::Graph, Phase::Lookup, Phase::Encode];
    let took: f64 = parts.iter().map(|&p| profile.phase(p)).sum();
    if idle <= 0.0 || took <= 0.0 {
        return vec![];
    }
    let times: Vec<String> =
        parts.iter().map(|&p| format!("{} {}", p.name(), seconds(profile.phase(p)))).collect();
    vec![Claim {
        rule: "host",
        what: "the device waits for the host".into(),
        why: format!(
            "no kernel runs for {} of {} ({}); the host is busy with {}: larger batches, or fewer and larger ops",
            seconds(idle),
            seconds(profile.seconds()),
            percent(idle / profile.seconds()),
            times.join(", "),
        ),
        host: took.min(idle),
        ..Claim::default()
    }]
}

/// What launches must have in common to be one: the ops and the dtype, not the sizes.
fn program(label: &str) -> String {
    label.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

fn share(evidence: &Evidence<'_>, took: f64) -> String {
    percent(took / evidence.profile.seconds())
}

fn total(launches: &[Launched], members: &[usize]) -> (Work, f64) {
    let mut sum = (Work::default(), 0.0);
    for &i in members {
        let work = launches[i].work;
        sum.0.bytes_read += work.bytes_read;
        sum.0.bytes_written += work.bytes_written;
        sum.0.ops += work.ops;
        sum.1 += launches[i].seconds();
    }
    sum
}

/// Members of which none needs another, directly or not: those at the same distance from the plan's beginning, the
/// most numerous such set.
fn independent(launches: &[Launched], members: &[usize]) -> Vec<usize> {
    let Some((&first, &last)) = members.first().zip(members.last()) else { return vec![] };
    // Per launch the longest chain of members that it needs; what came before the first member needs none.
    let mut depth = vec![0usize; last + 1 - first];
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut member = members.iter().peekable();
    for i in first..=last {
        let earlier = launches[i].sources.iter().filter(|s| s.launch >= first && s.launch < i);
        let needs = earlier.map(|s| depth[s.launch - first]).max().unwrap_or(0);
        let is_member = member.next_if_eq(&&i).is_some();
        depth[i - first] = needs + is_member as usize;
        if is_member {
            layers.entry(needs).or_default().push(i);
        }
    }
    layers.into_values().max_by_key(Vec::len).unwrap_or_default()
}
