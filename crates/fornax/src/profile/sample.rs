//! Timing launches without slowing down what is timed. A timestamp between two launches costs a GPU some microseconds, as
//! much as a small launch itself. So only some launches of a call are timed, others in the next call, and so on until
//! all were; in between are calls in which only plans are timed, which tell what the rest changed. Where even the two
//! timestamps of one launch would cost too much, a call has one, at the end of a launch: what share of the plan's time had
//! passed then. A launch took what lies between its share and that of the launch before.

use super::observe::{Observed, middle, observe};
use super::{Spread, TimingCost};
use crate::device::{Clock, Device, Sample, TimingMode};
use crate::dtype::DType;
use crate::error::Result;
use crate::peaks;
use crate::tensor::Tensor;

/// The share of a call's time that its timestamps may cost: half of the three per cent that are promised, because what
/// they will cost is an estimate.
const SHARE: f64 = 0.015;
/// The most calls in which launches are timed. Where that is too few, more launches are timed in each.
const CALLS: usize = 512;
/// The most neighbours that are timed together. They share timestamps, so a longer block needs fewer.
const BLOCK: usize = 8;
/// How often a call is made again that launched something else than the others.
const TRIES: usize = 4;

/// What was measured of a call's launches.
pub(super) struct Sampled {
    /// A call in which only plans were timed; the timed one if there was but one.
    pub shown: Observed,
    /// For every launch, each time that it was timed: seconds from its plan's beginning, and seconds that it took.
    pub times: Vec<Vec<(f64, f64)>>,
    /// Seconds of all plans, without what timing launches cost.
    pub busy: f64,
    /// By how much timing launches changed the seconds of all plans, as measured.
    pub overhead: Option<Spread>,
    pub cost: TimingCost,
}

/// Makes calls until every launch was timed in at least one of them. `None` if the calls are not alike.
pub(super) fn calls(
    device: &Device,
    runs: usize,
    f: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<Sampled>> {
    calls_at(cost(device)?, device, runs, f)
}

/// As [`calls`], with what a timestamp costs.
fn calls_at(
    timestamp: f64,
    device: &Device,
    runs: usize,
    f: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<Sampled>> {
    let mut plain =
        (0..3).map(|_| observe(device, TimingMode::Plans, &mut *f)).collect::<Result<Vec<_>>>()?;
    let typical = plain.swap_remove(middle(&plain, Observed::device_seconds));
    let launches = typical.launches();
    // A clock that is no timestamp disturbs too much for shares of a plan's time to mean anything.
    let ends = device.clock() == Clock::Timestamps;
    let (block, of) = divide(launches, SHARE * typical.device_seconds() / timestamp, ends);
    let mut again = |mode: TimingMode| -> Result<Option<Observed>> {
        for _ in 0..TRIES {
            let seen = observe(device, mode, &mut *f)?;
            if seen.launches_as(&typical) {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    };
    let (mut times, mut ends) = (vec![vec![]; launches], vec![vec![]; launches]);
    let (mut plain, mut changes, mut timestamps) = (vec![], vec![], 0);
    for _round in 0..(CALLS / of).clamp(1, runs) {
        for part in 0..of {
            let sample = Sample { block, of, part };
            let Some(whole) = again(TimingMode::Plans)? else { return Ok(None) };
            let Some(timed) = again(TimingMode::Sample(sample))? else { return Ok(None) };
            if whole.device_seconds() > 0.0 {
                changes.push(timed.device_seconds() / whole.device_seconds() - 1.0);
            }
            timestamps = timestamps.max(timed.inner_marks());
            if sample.only_ends() {
                add_ends(&mut ends, &timed, sample, timestamp);
            } else {
                add(&mut times, &timed, sample, timestamp);
            }
            plain.push(whole);
        }
    }
    if block == 0 {
        times = between(&ends, &plain);
    }
    let busy = Spread::of(&plain.iter().map(Observed::device_seconds).collect::<Vec<_>>()).median;
    Ok(Some(Sampled {
        shown: plain.swap_remove(middle(&plain, Observed::device_seconds)),
        times,
        busy,
        overhead: (!changes.is_empty()).then(|| Spread::of(&changes)),
        cost: TimingCost { timestamp, timestamps: timestamps as u64, calls: of as u64 },
    }))
}

/// Makes one call in which every launch is timed. What that costs is known from [`cost`] alone.
pub(super) fn one_call(device: &Device, f: impl FnOnce() -> Result<()>) -> Result<Sampled> {
    let shown = observe(device, TimingMode::Launches, f)?;
    let timestamp = cost(device)?;
    let mut times = vec![vec![]; shown.launches()];
    add(&mut times, &shown, Sample { block: 1, of: 1, part: 0 }, timestamp);
    let timestamps = shown.inner_marks();
    Ok(Sampled {
        busy: (shown.device_seconds() - timestamp * timestamps as f64).max(0.0),
        shown,
        times,
        overhead: None,
        cost: TimingCost { timestamp, timestamps: timestamps as u64, calls: 1 },
    })
}

/// How many neighbours are timed together, none if only ends are read, and in how many parts a call's launches are timed,
/// if each call may have so many timestamps between launches, and `ends` says that ends alone will do.
fn divide(launches: usize, allowed: f64, ends: bool) -> (usize, usize) {
    if allowed.is_nan() || allowed >= launches as f64 {
        return (1, 1);
    }
    let allowed = allowed as usize;
    if allowed < 2 && ends {
        return (0, launches.clamp(1, CALLS));
    }
    // A block has a timestamp more than launches.
    let block = allowed.saturating_sub(1).clamp(1, BLOCK);
    let blocks = launches.div_ceil(block);
    let at_once = (allowed / (block + 1)).max(1);
    (block, blocks.div_ceil(at_once).clamp(1, CALLS))
}

/// Adds the launches of a part to what was measured. Half of what a timestamp costs falls before it and half after, so
/// that the launches of a call in which all were timed add up to what they take when none is.
fn add(times: &mut [Vec<(f64, f64)>], seen: &Observed, sample: Sample, timestamp: f64) {
    let mut first = 0;
    for ran in &seen.ran {
        let all = ran.plan.steps.len();
        let begun = ran.times.whole().map_or(0.0, |whole| whole.0);
        for (part, begin, end) in ran.times.parts() {
            let launch = first + part.start;
            if part.len() == 1 && sample.holds(launch) {
                let inner = (part.start > 0) as usize + (part.end < all) as usize;
                let seconds = end - begin - timestamp * inner as f64 / 2.0;
                times[launch].push((begin - begun, seconds.max(0.0)));
            }
        }
        first += all;
    }
}

/// Adds, for each launch whose end was read, what share of its plan's time had passed then.
fn add_ends(ends: &mut [Vec<f64>], seen: &Observed, sample: Sample, timestamp: f64) {
    let mut first = 0;
    for ran in &seen.ran {
        let all = ran.plan.steps.len();
        if let Some((begin, end)) = ran.times.whole() {
            let net = end - begin - timestamp * ran.times.inner() as f64;
            let marks = ran.times.marks.iter().zip(&ran.times.seconds).enumerate().skip(1);
            for (n, (&mark, &at)) in marks.filter(|(_, (mark, _))| sample.holds(first + **mark - 1)) {
                // As in `add`: half of what a timestamp costs falls before it.
                let passed = at - begin - timestamp * (n as f64 - 0.5);
                let share = if mark == all || net <= 0.0 { mark as f64 / all as f64 } else { passed / net };
                ends[first + mark - 1].push(share.clamp(0.0, 1.0));
            }
        }
        first += all;
    }
}

/// The times of launches from the shares of their plans' time at which they ended, and what the plans take.
fn between(ends: &[Vec<f64>], plain: &[Observed]) -> Vec<Vec<(f64, f64)>> {
    let mut times = vec![vec![]; ends.len()];
    let mut first = 0;
    for (p, ran) in plain.first().map_or(&[][..], |call| &call.ran).iter().enumerate() {
        let took = |call: &Observed| call.ran.get(p)?.times.whole().map(|(begin, end)| end - begin);
        let took = Spread::of(&plain.iter().filter_map(took).collect::<Vec<_>>()).median;
        for launch in first..first + ran.plan.steps.len() {
            for (round, end) in ends[launch].iter().enumerate() {
                let begin = if launch == first { None } else { ends[launch - 1].get(round) };
                let begin = begin.copied().unwrap_or(0.0);
                times[launch].push((begin * took, (end - begin).max(0.0) * took));
            }
        }
        first += ran.plan.steps.len();
    }
    times
}

/// Seconds that a timestamp between two launches costs: what a chain of small launches takes longer if all of them are
/// timed.
fn cost(device: &Device) -> Result<f64> {
    const LAUNCHES: usize = 64;
    const CALLS: usize = 9;
    // A handle of its own: the user's pool, plans, timings and statistics stay as they are.
    let device = &Device::with_backend(device.0.backend.clone());
    let x = Tensor::ones(&[64], DType::F32, device)?;
    x.eval()?;
    let call = |mode: TimingMode| observe(device, mode, || peaks::chain(&x, LAUNCHES));
    call(TimingMode::Launches)?;
    let mut each = vec![];
    for _ in 0..CALLS {
        let (whole, timed) = (call(TimingMode::Plans)?, call(TimingMode::Launches)?);
        each.push((timed.device_seconds() - whole.device_seconds()) / timed.inner_marks().max(1) as f64);
    }
    Ok(Spread::of(&each).median.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_divided_so_that_no_call_has_too_many_timestamps() {
        assert_eq!(divide(168, 500.0, true), (1, 1), "all of them");
        assert_eq!(divide(168, f64::INFINITY, true), (1, 1), "what costs nothing is not spared");
        assert_eq!(divide(0, f64::NAN, true), (1, 1));
        assert_eq!(divide(168, 40.0, true), (8, 6));
        assert_eq!(divide(168, 4.4, true), (3, 56));
        assert_eq!(divide(10, 2.3, true), (1, 10), "one launch at a time");
        assert_eq!(divide(10, 0.3, true), (0, 10), "the end of one, which is the least");
        assert_eq!(divide(10, 0.3, false), (1, 10), "unless that will not do");
        assert_eq!(divide(100_000, 0.3, true), (0, CALLS), "but not for ever");
        for launches in 1..200 {
            for allowed in 1..220 {
                let (block, of) = divide(launches, allowed as f64, true);
                let mode = |part| TimingMode::Sample(Sample { block, of, part });
                for part in 0..of {
                    let inner = mode(part).marks(0, launches).len() - 2;
                    assert!(
                        inner <= allowed,
                        "{inner} timestamps, {allowed} allowed for {launches} launches"
                    );
                }
            }
        }
    }

    fn device() -> Device {
        let name =
            std::env::var("FORNAX_DEVICE").ok().filter(|name| !name.is_empty()).unwrap_or("cpu".into());
        Device::open(&name).unwrap()
    }

    /// A plan of ten launches and one of seven.
    fn call(x: &Tensor) -> Result<()> {
        peaks::chain(x, 10)?;
        peaks::chain(&x.add(1.0)?, 6)
    }

    #[test]
    fn every_launch_is_timed_as_often_and_no_call_has_more_timestamps_than_it_may() -> Result<()> {
        let device = device();
        let x = Tensor::ones(&[64], DType::F32, &device)?;
        x.eval()?;
        call(&x)?;
        let launches = crate::profile::count(&device, || call(&x))?.launches as usize;
        // At these prices all launches can be timed at once, or only one, or its end.
        let least = if device.clock() == Clock::Timestamps { 1 } else { 2 };
        for (price, of, most) in [(0.0, 1, launches - 2), (1e9, launches, least)] {
            let mut written = vec![];
            let sampled = calls_at(price, &device, 3, &mut || {
                written.push(device.stats().timestamps);
                call(&x)
            })?;
            let sampled = sampled.expect("the calls are alike");
            assert!(sampled.times.iter().all(|times| times.len() == 3), "{:?}", sampled.times);
            assert_eq!((sampled.cost.calls as usize, sampled.cost.timestamps as usize), (of, most));
            assert_eq!(written.len(), 3 + 2 * 3 * of, "the first look, then two calls for every part");
            if device.clock() == Clock::Timestamps {
                // A call has two for each of its plans, and every other one those of its part.
                let counts: Vec<u64> = written.windows(2).map(|w| w[1] - w[0]).collect();
                assert!(counts[..3].iter().all(|&n| n == 4), "{counts:?}");
                assert!(counts[3..].iter().step_by(2).all(|&n| n == 4), "{counts:?}");
                assert!(counts[4..].iter().step_by(2).all(|&n| n >= 4 && n <= 4 + most as u64), "{counts:?}");
            }
            assert_eq!(sampled.overhead.map(|o| o.calls), Some(3 * of));
        }
        Ok(())
    }

    #[test]
    fn calls_that_differ_are_made_again_and_given_up_if_they_all_do() -> Result<()> {
        let device = device();
        let x = Tensor::ones(&[64], DType::F32, &device)?;
        x.eval()?;
        let mut count = 0;
        let sometimes = calls_at(1e9, &device, 2, &mut || {
            count += 1;
            peaks::chain(&x, if count % 5 == 0 { 2 } else { 4 })
        })?;
        let times = sometimes.map(|s| s.times).unwrap_or_default();
        assert!(times.len() > 3 && times.iter().all(|t| t.len() == 2), "{times:?}");
        let mut count = 0;
        let always = calls_at(0.0, &device, 2, &mut || {
            count += 1;
            peaks::chain(&x, count)
        })?;
        assert!(always.is_none());
        Ok(())
    }

    /// The second call, with all launches timed.
    fn seen() -> Result<Observed> {
        let device = device();
        let x = Tensor::ones(&[4096], DType::F32, &device)?;
        x.eval()?;
        call(&x)?;
        observe(&device, TimingMode::Launches, || call(&x))
    }

    #[test]
    fn launches_that_are_all_timed_add_up_to_their_plan() -> Result<()> {
        let seen = seen()?;
        let all = Sample { block: 1, of: 1, part: 0 };
        let sum = |timestamp: f64| {
            let mut times = vec![vec![]; seen.launches()];
            add(&mut times, &seen, all, timestamp);
            times.iter().map(|t| t[0].1).sum::<f64>()
        };
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 + 1e-6 * b;
        assert!(close(sum(0.0), seen.device_seconds()));
        // A price below every launch's time: none of them is cut off at zero.
        let least = seen.ran.iter().flat_map(|r| r.times.parts()).map(|(_, a, b)| b - a);
        let price = least.fold(f64::INFINITY, f64::min) / 2.0;
        assert!(close(sum(price), seen.device_seconds() - price * seen.inner_marks() as f64));
        Ok(())
    }

    #[test]
    fn launches_take_what_lies_between_their_ends() -> Result<()> {
        let seen = seen()?;
        let n = seen.launches();
        let (mut times, mut ends) = (vec![vec![]; n], vec![vec![]; n]);
        add(&mut times, &seen, Sample { block: 1, of: 1, part: 0 }, 0.0);
        (0..n).for_each(|part| add_ends(&mut ends, &seen, Sample { block: 0, of: n, part }, 0.0));
        for (expected, found) in times.iter().zip(between(&ends, std::slice::from_ref(&seen))) {
            let [(begin, seconds)] = found[..] else { panic!("{found:?}") };
            assert!((begin - expected[0].0).abs() < 1e-9 && (seconds - expected[0].1).abs() < 1e-9);
        }
        Ok(())
    }
}
