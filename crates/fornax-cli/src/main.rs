//! The `fornax` command: `bench` times the engine, `profile` tells where the time goes, `info` what it runs on. Wrong
//! usage exits with code 2, failures with 1.

mod bench;
mod cases;
mod info;
mod profile;
mod report;
mod table;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "fornax", version, about = "A tensor engine: lazy tensors, fused kernels, planned memory")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Times a fixed set of cases and prints a table
    Bench {
        /// Where to run
        #[arg(long, default_value = "cpu")]
        device: String,
        /// Also write the results to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Run only cases whose name contains this
        #[arg(long, value_name = "SUBSTR", default_value = "")]
        filter: String,
    },
    /// Tells where the time and the memory of a workload go, and what to fix first
    Profile {
        /// `train`, or a case as `fornax bench` names it
        #[arg(required_unless_present = "compare")]
        workload: Option<String>,
        /// Where to run
        #[arg(long, default_value = "cpu")]
        device: String,
        /// How many calls are measured
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
        /// How many rows each table has
        #[arg(long, value_name = "N", default_value_t = 24)]
        rows: usize,
        /// Write a page with charts
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// Write a trace for Perfetto or chrome://tracing
        #[arg(long, value_name = "FILE")]
        trace: Option<PathBuf>,
        /// Write everything that was measured
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Show what changed between two files of --json
        #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["workload", "html", "trace", "json"])]
        compare: Option<Vec<PathBuf>>,
    },
    /// Tells the version, the devices, and what each was measured to do at most
    Info {
        /// Measure all devices again, software ones too
        #[arg(long)]
        measure: bool,
    },
}

/// What ends the command, with its exit code.
enum Failure {
    Usage(String),
    Engine(fornax::Error),
}

impl From<fornax::Error> for Failure {
    fn from(error: fornax::Error) -> Failure {
        match error {
            fornax::Error::NoDevice { .. } => Failure::Usage(error.to_string()),
            other => Failure::Engine(other),
        }
    }
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Bench { device, json, filter } => bench::run(&device, json.as_deref(), &filter),
        Command::Profile { compare: Some(files), .. } => profile::compare(&files[0], &files[1]),
        Command::Profile { workload, device, runs, rows, html, trace, json, compare: None } => {
            let (workload, runs) = (workload.unwrap_or_default(), runs.into());
            profile::run(&profile::Request { workload, device, runs, rows, html, trace, json })
        }
        Command::Info { measure } => info::run(measure),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Engine(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
