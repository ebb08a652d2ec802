//! `fornax bench`: how long a call of each case takes: some calls to warm up, one to choose how many follow, then the
//! median.

use crate::Failure;
use crate::cases::{self, Case, Clock, Prepared};
use crate::report::{self, Row};
use fornax::{Device, Result, TimingMode};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

/// Runs the cases whose names contain `filter`.
pub fn run(device: &str, json: Option<&Path>, filter: &str) -> std::result::Result<(), Failure> {
    let device = Device::open(device)?;
    let all = || cases::all().into_iter().chain(if device.name() == "cpu" { vec![] } else { cases::gpu() });
    let cases: Vec<Case> = all().filter(|case| case.name.contains(filter)).collect();
    if cases.is_empty() {
        let names: Vec<String> = all().map(|case| case.name).collect();
        return Err(Failure::Usage(format!("no case contains {filter:?}; there are: {}", names.join(", "))));
    }
    if let Some(path) = json {
        // Better to hear now than after minutes that the file cannot be written.
        report::write_json(path, &[]).map_err(|error| Failure::Usage(error.to_string()))?;
    }
    report::print_head();
    let mut rows = vec![];
    for (i, case) in cases.iter().enumerate() {
        progress(&format!("[{}/{}] {}", i + 1, cases.len(), case.name));
        let measured = measure(case, &device)?;
        progress("");
        report::print_row(&measured);
        rows.push(measured);
        if let Some(path) = json {
            report::write_json(path, &rows)?;
        }
    }
    Ok(())
}

/// One line on the terminal that the next one replaces; nothing where nobody watches.
fn progress(text: &str) {
    let mut stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    // Nobody is helped if a progress line that cannot be written ends the benchmark.
    let _ = write!(stderr, "\r\x1b[2K{text}");
    let _ = stderr.flush();
}

fn measure(case: &Case, device: &Device) -> Result<Row> {
    fornax::manual_seed(0);
    let Prepared { mut call, bytes, operations, calls_are } = (case.prepare)(device)?;
    // A GPU's own clock says how long it worked; the wall's says what a user waits for.
    let by_gpu = case.clock == Clock::Device && device.name() != "cpu";
    let mut seconds = || -> Result<f64> {
        // Between short calls a GPU would lower its clocks: the timed one follows three others at once.
        for _ in 0..if by_gpu { 3 } else { 0 } {
            device.set_timing(TimingMode::Off);
            call()?;
            device.set_timing(TimingMode::Plans);
        }
        let start = Instant::now();
        call()?;
        if !by_gpu {
            device.synchronize()?;
            return Ok(start.elapsed().as_secs_f64());
        }
        let timings = device.take_timings();
        let begin = timings.iter().map(|t| t.begin).fold(f64::INFINITY, f64::min);
        let end = timings.iter().map(|t| t.end).fold(0.0, f64::max);
        Ok((end - begin).max(0.0))
    };
    // The first calls build plans and compile; a step's memory settles in the third.
    for _ in 0..4 {
        seconds()?;
    }
    let warm = Instant::now();
    let mut one = seconds()?;
    // A GPU's clocks take some tens of milliseconds to rise.
    while by_gpu && warm.elapsed().as_millis() < 100 {
        one = seconds()?;
    }
    let count = ((case.budget / one.max(1e-6)) as usize).clamp(3, if by_gpu { 100 } else { 300 });
    let times = (0..count).map(|_| seconds()).collect::<Result<Vec<f64>>>()?;
    device.set_timing(TimingMode::Off);
    let mut times = times;
    times.sort_by(f64::total_cmp);
    let at = |quantile: f64| times[((count - 1) as f64 * quantile).round() as usize];
    let median = times[count / 2];
    let parts = calls_are.max(1) as f64;
    Ok(Row {
        case: case.name.clone(),
        device: device.name(),
        median_ms: median * 1e3 / parts,
        spread_ms: (at(0.9) - at(0.1)) * 1e3 / parts,
        gbps: bytes.map(|bytes| bytes / median / 1e9),
        gflops: operations.map(|operations| operations / median / 1e9),
    })
}
