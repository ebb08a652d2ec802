//! `fornax sweep`: experiments that settle arguments about a device. Each gives a table, a chart and a sentence that
//! says what to do, with the numbers that say so.

mod memory;
mod page;
mod quantisation;
mod table;
mod tile;
mod workgroup;

use crate::bench::progress;
use crate::timing::{Clock, Time, time};
use crate::{Failure, files};
use fornax::{Device, Result};
use std::path::PathBuf;

/// The experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Experiment {
    /// Whether kernels wait for memory or for arithmetic
    Memory,
    /// What weights of fewer bits gain, and what decoding them costs
    Quantisation,
    /// How many lanes a workgroup should have
    Workgroup,
    /// How large the tiles of a product should be
    Tile,
}

/// What to try and where.
#[derive(clap::Args)]
pub struct Options {
    /// Which experiments; all of them if none is named
    experiments: Vec<Experiment>,
    /// Where to run [default: the best device]
    #[arg(long)]
    device: Option<String>,
    /// Also write a page with tables and charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the tables to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Of products, try only those whose name contains this
    #[arg(long, value_name = "SUBSTR", default_value = "")]
    filter: String,
    /// Let later runs on this device use what was found best
    #[arg(long)]
    write: bool,
    /// Small data and few calls: caches hold it, so it shows the way, not the device
    #[arg(long)]
    quick: bool,
}

/// What an experiment found.
pub struct Findings {
    pub title: &'static str,
    /// What was run, in a sentence.
    pub about: String,
    /// Heads of the table; the first is that of the labels.
    pub columns: Vec<&'static str>,
    pub lines: Vec<Line>,
    /// What the chart shows.
    pub axis: &'static str,
    pub advice: String,
}

/// A line of the table and a bar of the chart.
pub struct Line {
    pub label: String,
    pub cells: Vec<String>,
    /// What the bar shows; `None` where it could not be measured.
    pub value: Option<f64>,
    /// How far calls lay apart, in the same unit.
    pub spread: f64,
}

/// What experiments run with.
pub struct Bench {
    pub device: Device,
    pub quick: bool,
    pub write: bool,
    pub filter: String,
}

impl Bench {
    /// The time of a call, by the device's clock.
    fn time(&self, mut call: impl FnMut() -> Result<()>) -> Result<Time> {
        self.time_on(&self.device, &mut call)
    }

    fn time_on(&self, device: &Device, call: &mut dyn FnMut() -> Result<()>) -> Result<Time> {
        time(device, Clock::Device, if self.quick { 0.02 } else { 0.25 }, call)
    }
}

/// Runs the experiments and prints what they found.
pub fn run(options: &Options) -> std::result::Result<(), Failure> {
    let all = [Experiment::Memory, Experiment::Quantisation, Experiment::Workgroup, Experiment::Tile];
    let wanted = if options.experiments.is_empty() { &all[..] } else { &options.experiments };
    let device = crate::device(options.device.as_deref())?;
    let name = device.name();
    for path in options.html.iter().chain(&options.json) {
        files::check_writable(path)?;
    }
    let filter = options.filter.clone();
    let bench = Bench { device, quick: options.quick, write: options.write, filter };
    let mut found = vec![];
    for experiment in wanted {
        progress(&format!("{name}: {experiment:?}"));
        let findings = match experiment {
            Experiment::Memory => memory::run(&bench)?,
            Experiment::Quantisation => quantisation::run(&bench)?,
            Experiment::Workgroup => workgroup::run(&bench)?,
            Experiment::Tile => tile::run(&bench)?,
        };
        progress("");
        print!("{}", table::text(&findings));
        found.push(findings);
    }
    if let Some(path) = &options.html {
        files::write(path, &page::page(&name, &found))?;
    }
    if let Some(path) = &options.json {
        files::write(path, &table::json(&found))?;
    }
    Ok(())
}
