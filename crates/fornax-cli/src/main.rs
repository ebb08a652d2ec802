//! The `fornax` command: `train` trains a model, `generate` continues texts with it, `bench` times the engine, `profile`
//! tells where the time goes, `sweep` settles arguments, `info` tells what it runs on. Wrong usage exits with code 2,
//! failures and regressions with 1.

mod bench;
mod cases;
mod files;
mod generate;
mod info;
mod profile;
mod sweep;
mod table;
mod timing;
mod train;

use clap::{Parser, Subcommand};
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
    /// Times a fixed set of cases, tells how far each is from what the device can do, and compares runs
    Bench(bench::Options),
    /// Trains a GPT-2
    Train(Box<train::Request>),
    /// Tells where the time and the memory of a workload go, and what to fix first
    Profile(Box<profile::Request>),
    /// Tries what settles arguments: memory or arithmetic, quantisation, workgroup and tile sizes
    Sweep(sweep::Options),
    /// Tells the version, the devices, and what each was measured to do at most
    Info {
        /// Measure all devices again, software ones too
        #[arg(long)]
        measure: bool,
    },
}

/// The device of that name, or the best one.
fn device(name: Option<&str>) -> fornax::Result<fornax::Device> {
    name.map_or_else(fornax::Device::best, fornax::Device::open)
}

/// What ends the command, with its exit code.
enum Failure {
    Usage(String),
    /// What was looked for was found, such as a regression.
    Found(String),
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

/// Whoever reads the output may have seen enough, as `head` has: then the command ends without a word, as others do.
fn end_with_its_reader() {
    // SAFETY: no other thread runs yet, and the system's own answer to the signal runs no code of this program.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

fn main() -> ExitCode {
    end_with_its_reader();
    let done = match Arguments::parse().command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Bench(options) => bench::run(&options),
        Command::Train(request) => train::train(&request),
        Command::Profile(request) => profile::run(&request),
        Command::Sweep(options) => sweep::run(&options),
        Command::Info { measure } => {
            info::run(measure);
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Found(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
        Err(Failure::Engine(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
