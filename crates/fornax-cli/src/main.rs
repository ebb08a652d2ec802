//! The `fornax` command: `train` trains a model, `generate` continues texts with it, `bench` and `profile` time the
//! engine, `info` tells what it runs on. Wrong usage exits with code 2, failures with 1.

mod bench;
mod cases;
mod generate;
mod info;
mod profile;
mod report;
mod train;

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
    /// Continues prompts with a model
    Generate(generate::Arguments),
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
    /// Times every kernel of one benchmark case
    Profile {
        /// The case, as `fornax bench` names it
        case: String,
        /// Where to run
        #[arg(long, default_value = "cpu")]
        device: String,
    },
    Train(Box<train::arguments::TrainArguments>),
    /// Tells the version, the device and what the machine offers
    Info,
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
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Bench { device, json, filter } => bench::run(&device, json.as_deref(), &filter),
        Command::Profile { case, device } => profile::run(&device, &case),
        Command::Train(arguments) => train::train(&arguments),
        Command::Info => info::run(),
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
