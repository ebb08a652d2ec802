//! `fornax profile`: where the time of a benchmark case goes, kernel by kernel.

use crate::Failure;
use crate::cases::{self, Prepared};
use fornax::{Device, TimingMode};
use std::collections::BTreeMap;
use std::time::Instant;

/// What all launches of one label took.
#[derive(Default)]
struct Total {
    count: usize,
    seconds: f64,
    bytes: f64,
    operations: f64,
}

/// Times every launch of one call of a case and prints the kernels, the slowest first.
pub fn run(device: &str, name: &str) -> Result<(), Failure> {
    let device = Device::open(device)?;
    let Some(case) = cases::all().into_iter().chain(cases::gpu()).find(|case| case.name == name) else {
        let names: Vec<String> = cases::all().into_iter().chain(cases::gpu()).map(|case| case.name).collect();
        return Err(Failure::Usage(format!("there is no case {name:?}; there are: {}", names.join(", "))));
    };
    fornax::manual_seed(0);
    let Prepared { mut call, .. } = (case.prepare)(&device)?;
    let mut wall = f64::INFINITY;
    let mut recorded = f64::INFINITY;
    for _ in 0..8 {
        let start = Instant::now();
        call()?;
        recorded = recorded.min(start.elapsed().as_secs_f64());
        device.synchronize()?;
        wall = wall.min(start.elapsed().as_secs_f64());
    }
    device.set_timing(TimingMode::Launches);
    call()?;
    device.take_timings();
    call()?;
    let timings = device.take_timings();
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    for timing in &timings {
        let total = totals.entry(&timing.label).or_default();
        total.count += 1;
        total.seconds += timing.end - timing.begin;
        total.bytes += (timing.work.bytes_read + timing.work.bytes_written) as f64;
        total.operations += timing.work.ops as f64;
    }
    let busy: f64 = totals.values().map(|t| t.seconds).sum();
    println!(
        "{name} on {device}: {:.3} ms a call, {:.3} ms until it returns, {} launches, {:.3} ms in kernels",
        wall * 1e3,
        recorded * 1e3,
        timings.len(),
        busy * 1e3
    );
    println!("{:64} {:>5} {:>9} {:>6} {:>8} {:>9}", "kernel", "count", "ms", "%", "GB/s", "GFLOP/s");
    let mut rows: Vec<(&str, Total)> = totals.into_iter().collect();
    rows.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    for (label, total) in rows.iter().take(40) {
        println!(
            "{:64} {:>5} {:>9.4} {:>6.1} {:>8.0} {:>9.0}",
            label.chars().take(64).collect::<String>(),
            total.count,
            total.seconds * 1e3,
            total.seconds / busy * 100.0,
            total.bytes / total.seconds / 1e9,
            total.operations / total.seconds / 1e9
        );
    }
    Ok(())
}
