//! `fornax bench`: how long a call of each case takes. The method is that of the scripts it is compared with: two
//! calls to warm up, one to choose how many follow, then the median.

use crate::Failure;
use crate::cases::{self, Case, Prepared};
use crate::report::{self, Row};
use fornax::{Device, Result};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

/// Runs the cases whose names contain `filter`.
pub fn run(device: &str, json: Option<&Path>, filter: &str) -> std::result::Result<(), Failure> {
    let device = Device::open(device)?;
    let cases: Vec<Case> = cases::all().into_iter().filter(|case| case.name.contains(filter)).collect();
    if cases.is_empty() {
        let names: Vec<&str> = cases::all().iter().map(|case| case.name).collect();
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
    let mut seconds = || -> Result<f64> {
        let start = Instant::now();
        call()?;
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    };
    seconds()?;
    seconds()?;
    let one = seconds()?;
    let count = ((case.budget / one.max(1e-6)) as usize).clamp(3, 300);
    let mut times = (0..count).map(|_| seconds()).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    let at = |quantile: f64| times[((count - 1) as f64 * quantile).round() as usize];
    let median = times[count / 2];
    let parts = calls_are.max(1) as f64;
    Ok(Row {
        case: case.name,
        device: device.name(),
        median_ms: median * 1e3 / parts,
        spread_ms: (at(0.9) - at(0.1)) * 1e3 / parts,
        gbps: bytes.map(|bytes| bytes / median / 1e9),
        gflops: operations.map(|operations| operations / median / 1e9),
    })
}
