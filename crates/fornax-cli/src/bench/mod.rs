//! `fornax bench`: how long a call of each case takes, how far that is from what the device was measured to do at most,
//! and what changed since an earlier run.

pub mod compare;
pub mod report;

use crate::cases::{self, Case, Prepared, Roof};
use crate::timing::time;
use crate::{Failure, files};
use fornax::{Device, Peaks, Result};
use report::Row;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// What to run and what to do with the figures.
#[derive(clap::Args)]
pub struct Options {
    /// Where to run: a device, or "all" for the CPU and every real GPU [default: the best device]
    #[arg(long)]
    device: Option<String>,
    /// Also write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run only cases whose name contains this
    #[arg(long, value_name = "SUBSTR", default_value = "")]
    filter: String,
    /// Compare with the results that an earlier run wrote with --json; a regression, a case that fails or one that is
    /// gone exits with 1
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// How many per cent slower a case may be; it must be slower by more than both spreads, too
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, allow_negative_numbers = true)]
    threshold: f64,
}

/// Runs the cases whose names contain the filter.
pub fn run(options: &Options) -> std::result::Result<(), Failure> {
    if !(options.threshold >= 0.0 && options.threshold.is_finite()) {
        return Err(Failure::Usage(format!("--threshold {}: not a number of per cent", options.threshold)));
    }
    let before = options.compare.as_deref().map(compare::read).transpose().map_err(Failure::Usage)?;
    let devices = devices(options.device.as_deref())?;
    let chosen = |device: &Device| -> Vec<Case> {
        cases::of(&device.name()).into_iter().filter(|case| case.name.contains(&options.filter)).collect()
    };
    if devices.iter().all(|device| chosen(device).is_empty()) {
        let names = |device: &Device| cases::of(&device.name()).into_iter().map(|case| case.name);
        let names: Vec<String> =
            devices.iter().max_by_key(|d| names(d).count()).into_iter().flat_map(names).collect();
        let (filter, names) = (&options.filter, names.join(", "));
        return Err(Failure::Usage(format!("no case contains {filter:?}; there are: {names}")));
    }
    if let Some(path) = &options.json {
        files::check_writable(path)?;
    }
    let mut rows = vec![];
    for device in &devices {
        progress(&format!("{device}: measuring what it can do at most"));
        // Without peaks there is no per cent of them, which is no reason to stop.
        let peaks = device.peaks().ok();
        progress("");
        if devices.len() > 1 {
            println!("{device}");
        }
        report::print_head();
        let cases = chosen(device);
        for (i, case) in cases.iter().enumerate() {
            progress(&format!("[{}/{}] {}", i + 1, cases.len(), case.name));
            let measured = measure(case, device, peaks.as_ref()).unwrap_or_else(|error| {
                // The memory of what failed must not be missing in the next case.
                device.trim();
                Row::failed(&case.name, &device.name(), error.to_string())
            });
            progress("");
            report::print_row(&measured);
            rows.push(measured);
            if let Some(path) = &options.json {
                files::write(path, &report::json(&rows))?;
            }
        }
    }
    report::print_notes(&rows);
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    match before {
        Some(before) => {
            let ran: Vec<String> = devices.iter().map(Device::name).collect();
            let wanted = |row: &Row| row.case.contains(&options.filter) && ran.contains(&row.device);
            let changes = compare::compare(&before, &rows, options.threshold / 100.0, wanted);
            compare::print(&changes, options.threshold)
        }
        None if failed == rows.len() => Err(Failure::Found("no case could be timed".into())),
        None => Ok(()),
    }
}

/// The devices that a name means.
fn devices(name: Option<&str>) -> Result<Vec<Device>> {
    if name != Some("all") {
        return Ok(vec![crate::device(name)?]);
    }
    let mut devices = vec![Device::open("cpu")?];
    for gpu in fornax::device::wgpu::adapters() {
        if gpu.software {
            println!("{} is a program, not a GPU: name it with --device to run on it", gpu.device);
            continue;
        }
        match Device::open(&gpu.device) {
            Ok(device) => devices.push(device),
            Err(error) => println!("{} is left out: {error}", gpu.device),
        }
    }
    Ok(devices)
}

/// One line on the terminal that the next one replaces; nothing where nobody watches.
pub fn progress(text: &str) {
    let mut stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    // Nobody is helped if a progress line that cannot be written ends the benchmark.
    let _ = write!(stderr, "\r\x1b[2K{text}");
    let _ = stderr.flush();
}

fn measure(case: &Case, device: &Device, peaks: Option<&Peaks>) -> Result<Row> {
    fornax::manual_seed(0);
    let Prepared { mut call, work, calls_are } = (case.prepare)(device)?;
    let time = time(device, case.clock, case.budget, &mut call)?;
    let parts = calls_are.max(1) as f64;
    let rate = |fits: fn(Roof) -> bool| {
        let amount = work.iter().find(|(roof, _)| fits(*roof)).map(|(_, amount)| amount);
        amount.map(|amount| amount / time.median / 1e9)
    };
    let bound = peaks.and_then(|peaks| cases::bound(&work, peaks));
    Ok(Row {
        case: case.name.clone(),
        device: device.name(),
        median_ms: time.median * 1e3 / parts,
        spread_ms: time.spread * 1e3 / parts,
        gbps: rate(Roof::is_bytes),
        gflops: rate(Roof::is_operations),
        of_peak: bound.map(|(_, least)| least / time.median),
        bound: bound.map(|(roof, _)| roof.name().to_string()),
        cacheable: work.iter().any(|&(roof, bytes)| roof.name() == "memory" && bytes < CACHES),
        error: None,
    })
}

/// Bytes that large caches hold: what moves fewer may not have come from memory.
const CACHES: f64 = (100u64 << 20) as f64;
