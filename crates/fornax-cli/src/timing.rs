//! How long a call takes: some calls to warm up, one to choose how many follow, then the median and how far they lie
//! apart. A GPU is timed over many evaluations in a row, as others are: from idle, a short kernel would seem to take
//! longer than it does in a step. Their results are kept, so none waits for another and a time is one's share of all.

use fornax::{Device, Error, Result, TimingMode};
use std::cell::Cell;
use std::time::Instant;

/// Whose time is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From the call to its end.
    Wall,
    /// From the call to its return: what the device does after that is not told.
    Host,
    /// What a GPU's timestamps say; the wall on the CPU. The call must launch something.
    Device,
}

/// What calls took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    pub median: f64,
    /// From the tenth to the ninetieth of a hundred calls.
    pub spread: f64,
}

impl Time {
    /// Of at least one time.
    fn of(mut times: Vec<f64>) -> Time {
        times.sort_by(f64::total_cmp);
        let at = |quantile: f64| times[((times.len() - 1) as f64 * quantile).round() as usize];
        Time { median: times[times.len() / 2], spread: at(0.9) - at(0.1) }
    }
}

/// Times a call; those that count may take about `budget` seconds together.
pub fn time(
    device: &Device,
    clock: Clock,
    budget: f64,
    call: &mut dyn FnMut() -> Result<()>,
) -> Result<Time> {
    // A GPU's own clock says how long it worked; the wall's says what a user waits for.
    let by_gpu = clock == Clock::Device && device.name() != "cpu";
    let launches = Cell::new(0);
    let mut seconds = |repeats: usize| -> Result<f64> {
        // Between short calls a GPU would lower its clocks: the timed one follows three others, when they have ended.
        if by_gpu {
            (0..3).try_for_each(|_| call())?;
            device.synchronize()?;
            device.set_timing(TimingMode::Bursts(repeats));
        }
        let before = device.stats().launches;
        let start = Instant::now();
        let done = call();
        let host = start.elapsed().as_secs_f64();
        if !by_gpu {
            done?;
            device.synchronize()?;
        } else {
            device.set_timing(TimingMode::Off);
            done?;
        }
        let wall = start.elapsed().as_secs_f64();
        launches.set(device.stats().launches - before);
        if clock == Clock::Device && launches.get() == 0 {
            return Err(Error::Internal("what was to be timed launched nothing".into()));
        }
        if !by_gpu {
            return Ok(if clock == Clock::Host { host } else { wall });
        }
        // The launches of a plan have its time in common.
        let mut plans: Vec<(f64, f64)> = device.take_timings().iter().map(|t| (t.begin, t.end)).collect();
        plans.dedup();
        Ok(plans.iter().map(|(begin, end)| end - begin).sum::<f64>().max(0.0))
    };
    // The first calls build plans and compile; a step's memory settles in the third.
    for _ in 0..4 {
        seconds(1)?;
    }
    let warm = Instant::now();
    let mut one = seconds(1)?;
    // A GPU's clocks take a third of a second to rise if it was idle for long.
    while by_gpu && warm.elapsed().as_millis() < 500 {
        one = seconds(1)?;
    }
    let repeats = if by_gpu { repeats(one, launches.get()) } else { 1 };
    let count =
        ((budget / (one.max(1e-6) * repeats as f64)) as usize).clamp(3, if by_gpu { 100 } else { 300 });
    Ok(Time::of((0..count).map(|_| seconds(repeats)).collect::<Result<_>>()?))
}

/// How many evaluations of some seconds and launches a GPU does in a row: for a millisecond and at least 20, but not more
/// launches than one submit should hold, nor so long that a driver would think it hangs. One of many launches is a row by
/// itself; repeated, they would wait for those before that use the same temporaries, though nothing in the plan makes them wait.
fn repeats(one: f64, launches: u64) -> usize {
    if launches >= 100 {
        return 1;
    }
    let wanted = (1e-3 / one.max(1e-6)).ceil().max(20.0).min(0.2 / one.max(1e-6)).max(1.0) as usize;
    wanted.min((4096 / launches.max(1)).max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fornax::{DType, Tensor};

    #[test]
    fn the_middle_and_how_far_apart() {
        let time = Time::of((0..=10).rev().map(f64::from).collect());
        assert_eq!((time.median, time.spread), (5.0, 8.0));
        assert_eq!(Time::of(vec![3.0]), Time { median: 3.0, spread: 0.0 });
    }

    #[test]
    fn short_calls_are_timed_in_bursts() {
        assert_eq!(repeats(5e-6, 1), 200);
        assert_eq!(repeats(3e-3, 1), 20);
        assert_eq!(repeats(2e-4, 99), 20);
        assert_eq!(repeats(2e-4, 100), 1);
        assert_eq!(repeats(0.05, 1), 4);
        assert_eq!(repeats(1.0, 10_000), 1);
    }

    #[test]
    fn a_call_that_computes_nothing_is_not_timed() {
        let device = Device::open("cpu").unwrap();
        let x = Tensor::ones(&[8], DType::F32, &device).unwrap();
        x.eval().unwrap();
        assert!(time(&device, Clock::Device, 0.0, &mut || x.eval()).is_err());
        assert!(time(&device, Clock::Device, 0.0, &mut || x.add(1.0)?.eval()).is_ok());
    }
}
