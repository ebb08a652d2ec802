//! Every rule on evidence made by hand, and what `rank` promises.

use super::rules::*;
use super::*;
use crate::device::Clock;
use crate::kernel::Work;
use crate::profile::assemble::{Form, Source};
use crate::profile::roof::tests::ROOF;
use crate::profile::{
    Arithmetic, Counts, KernelTime, MemoryUse, Phase, PhaseTime, Spread, Timeline, TimingCost,
};

/// A launch of some seconds that moves some bytes; half of them are written.
fn launch(label: &str, seconds: f64, bytes: u64, ops: u64) -> Launched {
    Launched {
        kernel: 0,
        label: label.into(),
        scope: Default::default(),
        plan: 0,
        begin: 0.0,
        end: seconds,
        work: Work { bytes_read: bytes / 2, bytes_written: bytes / 2, ops },
        arithmetic: Arithmetic::F32,
        form: Form::Map,
        result: bytes / 2,
        sources: vec![],
    }
}

fn reading(launch: Launched, from: usize, bytes: u64, only: bool) -> Launched {
    Launched { sources: vec![Source { launch: from, bytes, only }], ..launch }
}

/// A profile of launches one after the other, with the host's phases in seconds.
fn profile(launches: &mut [Launched], wall: f64, phases: &[(Phase, f64, u64, u64)]) -> Profile {
    let (mut at, mut kernels) = (0.0, Vec::<KernelTime>::new());
    for l in launches.iter_mut() {
        (l.begin, l.end) = (at, at + l.end - l.begin);
        at = l.end;
        l.kernel = kernels.iter().position(|k| k.label == l.label).unwrap_or(kernels.len());
        let (least, bound) = ROOF.least(&l.work, l.arithmetic);
        if l.kernel == kernels.len() {
            kernels.push(KernelTime {
                label: l.label.clone(),
                count: 0,
                seconds: 0.0,
                spread: None,
                bytes_read: l.work.bytes_read,
                bytes_written: l.work.bytes_written,
                ops: l.work.ops,
                bandwidth: Some((l.work.bytes_read + l.work.bytes_written) as f64 / l.seconds()),
                rate: Some(l.work.ops as f64 / l.seconds()),
                arithmetic: l.arithmetic,
                bound: Some(bound),
                of_roof: Some(least / l.seconds()),
            });
        }
        kernels[l.kernel].count += 1;
        kernels[l.kernel].seconds += l.seconds();
    }
    Profile {
        format: String::new(),
        name: "made up".into(),
        device: "none".into(),
        clock: Clock::Timestamps,
        roof: Some(ROOF),
        wall: Spread { median: wall, low: wall, high: wall, calls: 1 },
        undisturbed: true,
        busy: at,
        remainder: 0.0,
        overhead: None,
        timing: TimingCost::default(),
        phases: phases
            .iter()
            .map(|&(phase, seconds, count, bytes)| PhaseTime { phase, seconds, count, bytes })
            .collect(),
        counts: Counts::default(),
        kernels,
        modules: vec![],
        memory: MemoryUse::default(),
        timeline: Timeline::default(),
        advice: vec![],
    }
}

/// What a rule claims, of launches and of the host together.
fn claimed(claims: &[Claim]) -> Vec<f64> {
    claims.iter().map(|c| c.host + c.launches.iter().map(|l| l.1).sum::<f64>()).collect()
}

#[track_caller]
fn close(found: f64, want: f64) {
    assert!((found - want).abs() <= 1e-9 + 1e-6 * want.abs(), "{found} is not {want}");
}

/// Whoever speaks names a number in both of its sentences, or in the second.
#[track_caller]
fn speaks_with_numbers(claims: &[Claim]) {
    for claim in claims {
        assert!(claim.why.chars().any(|c| c.is_ascii_digit()), "{claim:?}");
        assert!(!claim.what.is_empty() && !claim.rule.is_empty());
    }
}

#[test]
fn small_independent_launches_are_joined_and_dependent_ones_are_not() {
    let mut launches: Vec<Launched> =
        (0..12).map(|i| launch(&format!("mean f32 {i}x4"), 53e-6, 1000, 10)).collect();
    launches[11] = reading(launches[11].clone(), 3, 500, true);
    let p = profile(&mut launches, 1e-3, &[]);
    let claims = join(&Evidence { profile: &p, launches: &launches });
    // Eleven become one of the length of a launch.
    assert_eq!(claims.len(), 1);
    close(claimed(&claims)[0], 11.0 * 53e-6 - 2e-6);
    assert_eq!(claims[0].what, "mean f32 ×11");
    assert!(claims[0].why.contains("11 launches of 53.0 µs"), "{}", claims[0].why);
    speaks_with_numbers(&claims);

    let mut chain: Vec<Launched> = (0..12).map(|_| launch("mean f32 4", 53e-6, 1000, 10)).collect();
    for (i, launch) in chain.iter_mut().enumerate().skip(1) {
        *launch = reading(launch.clone(), i - 1, 500, true);
    }
    let p = profile(&mut chain, 1e-3, &[]);
    assert!(join(&Evidence { profile: &p, launches: &chain }).is_empty());
    let mut large: Vec<Launched> = (0..4).map(|_| launch("mean f32 4", 53e-6, 1 << 24, 10)).collect();
    let p = profile(&mut large, 1e-3, &[]);
    assert!(join(&Evidence { profile: &p, launches: &large }).is_empty());
}

#[test]
fn a_map_of_what_one_kernel_wrote_for_it_alone_is_folded() {
    let product = Launched { form: Form::Product, ..launch("matmul f32 64x64x64", 1e-3, 1 << 30, 1 << 30) };
    let add = |only| {
        // Reads the product and a bias as large, writes the sum: a third of its bytes must move all the same.
        let add = launch("add f32 64x64", 5.1e-3, 0, 1 << 28);
        let work = Work { bytes_read: 2 << 30, bytes_written: 1 << 30, ops: 1 << 28 };
        reading(Launched { work, result: 1 << 30, ..add }, 0, 1 << 30, only)
    };
    let mut launches = vec![product, add(true)];
    let p = profile(&mut launches, 7e-3, &[]);
    let claims = fold(&Evidence { profile: &p, launches: &launches });
    close(claimed(&claims)[0], 5.1e-3 * 2.0 / 3.0);
    assert!(claims[0].why.contains("folded") && claims[0].why.contains("matmul f32 64x64x64"));
    speaks_with_numbers(&claims);
    launches[1] = add(false);
    assert!(fold(&Evidence { profile: &p, launches: &launches }).is_empty(), "somebody else reads it");
    launches[1] = Launched { form: Form::Other, ..add(true) };
    assert!(fold(&Evidence { profile: &p, launches: &launches }).is_empty(), "a reduction");
}

#[test]
fn a_kernel_below_the_roof_is_named_with_what_it_reaches() {
    let good = launch("copy f32 1", 1.1e-3, 1_000_000_000, 1);
    let slow = launch("transpose f32 1", 4e-3, 1_000_000_000, 1);
    let mut launches = vec![good, slow];
    let p = profile(&mut launches, 6e-3, &[]);
    let claims = below_roof(&Evidence { profile: &p, launches: &launches });
    assert_eq!(claims.len(), 1);
    close(claimed(&claims)[0], 4e-3 - 1e-3 / 0.85);
    let why = &claims[0].why;
    assert!(
        why.starts_with("memory-bound at 25.0% of roofline (250 GB/s, the device reaches 1.00 TB/s)"),
        "{why}"
    );
    speaks_with_numbers(&claims);
}

#[test]
fn compute_bound_products_in_f32_would_be_faster_in_f16() {
    // At half of the roof of 10 TFLOP/s.
    let product = Launched { form: Form::Product, ..launch("matmul f32 1", 2e-3, 1_000_000, 10_000_000_000) };
    let mut launches = vec![product];
    let p = profile(&mut launches, 2e-3, &[]);
    let claims = half(&Evidence { profile: &p, launches: &launches });
    close(claimed(&claims)[0], 2e-3 * 0.9);
    speaks_with_numbers(&claims);
    let mut p = p;
    p.roof = p.roof.map(|roof| crate::profile::Roof { cooperative: None, f16: Some(1.2e13), ..roof });
    assert!(half(&Evidence { profile: &p, launches: &launches }).is_empty(), "nothing is faster there");
}

#[test]
fn the_host_rules_claim_what_their_phases_took() {
    let mut launches = vec![launch("add f32 1", 1e-3, 1_000_000_000, 1)];
    let phases = [
        (Phase::Graph, 2e-3, 1, 0),
        (Phase::Lookup, 1e-3, 12, 0),
        (Phase::Schedule, 3e-3, 1, 0),
        (Phase::Compile, 4e-3, 2, 0),
        (Phase::Allocate, 5e-4, 7, 0),
        (Phase::Encode, 1e-3, 12, 0),
        (Phase::Submit, 1.58e-3, 158, 0),
        (Phase::ReadBack, 1e-3, 10, 1_000_000),
    ];
    let mut p = profile(&mut launches, 20e-3, &phases);
    let silent = |p: &Profile, rule: Rule| rule(&Evidence { profile: p, launches: &launches }).is_empty();
    assert!(silent(&p, submits) && silent(&p, allocations) && silent(&p, plans), "nothing was counted");
    p.counts = Counts {
        submits: Some(158),
        evaluations: 12,
        launches: 300,
        fresh: 41,
        fresh_bytes: 1 << 20,
        reused: 59,
        plans_built: 1,
        kernels_compiled: 2,
        ..Counts::default()
    };
    let evidence = Evidence { profile: &p, launches: &launches };
    let of = |rule: Rule| {
        let claims = rule(&evidence);
        speaks_with_numbers(&claims);
        assert_eq!(claims.len(), 1);
        (claimed(&claims)[0], claims[0].what.clone(), claims[0].why.clone())
    };
    let (saves, what, why) = of(submits);
    close(saves, 1.57e-3);
    assert_eq!(what, "158 submits");
    assert!(why.contains("10.0 µs each") && why.contains("12 evaluations"), "{why}");
    let (saves, what, why) = of(allocations);
    close(saves, 5e-4);
    assert_eq!(what, "pool reuse 59.0%");
    assert!(why.contains("41 of 100") && why.contains("1.00 MiB"), "{why}");
    close(of(plans).0, 7e-3);
    // A megabyte at 10 GB/s takes a tenth of a millisecond.
    let (saves, what, _) = of(transfers);
    close(saves, 1e-3 - 1e-4);
    assert_eq!(what, "read-back ×10");
    let (saves, _, why) = of(host);
    close(saves, 4e-3);
    assert!(why.contains("19.0 ms of 20.0 ms (95.0%)"), "{why}");
}

#[test]
fn all_advice_together_promises_no_more_than_was_measured() {
    // Small maps that several rules want: joined, folded, and far below the roof.
    let mut launches: Vec<Launched> = (0..40)
        .map(|i| {
            let l = launch(&format!("add f32 {i}"), 50e-6 + 1e-7 * i as f64, 1 << (10 + i % 16), 1 << 20);
            if i % 4 == 1 { reading(l.clone(), i - 1, l.result, true) } else { l }
        })
        .collect();
    let phases = [(Phase::Graph, 1.0, 1, 0), (Phase::Submit, 1.0, 99, 0), (Phase::Upload, 1.0, 3, 5)];
    let mut p = profile(&mut launches, 3e-3, &phases);
    p.counts.submits = Some(99);
    let evidence = Evidence { profile: &p, launches: &launches };
    let claims: Vec<Claim> = rules::ALL.iter().flat_map(|rule| rule(&evidence)).collect();
    assert!(claimed(&claims).iter().sum::<f64>() > p.seconds(), "the rules claim more than there is");
    let advice = advise(&evidence);
    assert!(advice.len() > 3, "{advice:?}");
    let saved: f64 = advice.iter().map(|a| a.saves).sum();
    assert!(saved <= p.seconds() * (1.0 + 1e-12), "{saved} of {}", p.seconds());
    assert!(advice.windows(2).all(|pair| pair[0].saves >= pair[1].saves), "ranked by what is saved");
    assert!(advice.iter().all(|a| a.saves > 0.0 && a.share <= 1.0));
    // Launches side by side cannot all be saved.
    p.busy /= 2.0;
    p.wall.median = p.busy;
    let advice = advise(&Evidence { profile: &p, launches: &launches });
    assert!(advice.iter().map(|a| a.saves).sum::<f64>() <= p.seconds() * (1.0 + 1e-12));
}
