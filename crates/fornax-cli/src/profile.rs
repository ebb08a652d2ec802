//! `fornax profile`: where the time and the memory of a workload go, and what to fix first.

use crate::generate::{self, TextArguments};
use crate::train::{self, arguments::TrainArguments};
use crate::{Failure, cases, files};
use fornax::profile::{Options, Profile, profile_with};
use fornax::{Device, Error, Result};
use std::path::{Path, PathBuf};

/// What is profiled and what becomes of it.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Request {
    #[command(subcommand)]
    command: Option<Command>,
    /// A case as `fornax bench` names it, or one of the commands below
    #[arg(required_unless_present = "compare")]
    workload: Option<String>,
    /// Where to run the case [default: the best device]
    #[arg(long)]
    device: Option<String>,
    #[command(flatten)]
    report: Report,
    /// Show what changed between two files of --json
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
    #[arg(conflicts_with_all = ["workload", "html", "trace", "json"])]
    compare: Option<Vec<PathBuf>>,
}

/// What other commands do again and again.
#[derive(clap::Subcommand)]
enum Command {
    /// A training step, with the arguments of `fornax train`; nothing of the run is written
    Train(Box<Step>),
    /// A token of each text, with the arguments of `fornax generate`
    Generate(Box<Token>),
}

#[derive(clap::Args)]
struct Step {
    #[command(flatten)]
    arguments: TrainArguments,
    #[command(flatten)]
    report: Report,
}

#[derive(clap::Args)]
struct Token {
    #[command(flatten)]
    arguments: TextArguments,
    /// The folder of the model; otherwise random weights in the size of distilgpt2
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    #[command(flatten)]
    report: Report,
}

/// How closely it is looked at, and where that goes.
#[derive(clap::Args)]
struct Report {
    /// How many calls are measured, and how often every launch is timed
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
}

/// Profiles a workload, prints the profile and writes it where it was asked for; or compares two.
pub fn run(request: &Request) -> std::result::Result<(), Failure> {
    if let Some([before, after]) = request.compare.as_deref() {
        return compare(before, after);
    }
    match &request.command {
        Some(Command::Train(step)) => {
            step.report.check()?;
            let mut run = train::steady(&step.arguments)?;
            step.report.profile(&run.name, &run.device, &mut run.step)
        }
        Some(Command::Generate(token)) => {
            token.report.check()?;
            generate::steady(&token.arguments, token.model.as_deref(), |name, device, call| {
                token.report.profile(name, device, call)
            })
        }
        None => {
            let name = request.workload.as_deref().unwrap_or_default();
            let device = crate::device(request.device.as_deref())?;
            request.report.check()?;
            let case = cases::all().into_iter().chain(cases::gpu()).find(|case| case.name == name);
            let case = case.ok_or_else(|| unknown(name))?;
            fornax::manual_seed(0);
            request.report.profile(name, &device, &mut (case.prepare)(&device)?.call)
        }
    }
}

fn unknown(name: &str) -> Failure {
    let own = ["train", "generate"];
    if own.contains(&name) {
        return Failure::Usage(format!(
            "options come after the command, as in: fornax profile {name} --rows 60"
        ));
    }
    let own = own.map(String::from).into_iter();
    let all: Vec<String> =
        own.chain(cases::all().into_iter().chain(cases::gpu()).map(|case| case.name)).collect();
    Failure::Usage(format!("there is no workload {name:?}; there are: {}", all.join(", ")))
}

impl Report {
    /// Whether the files can be written, before anything is measured.
    fn check(&self) -> std::result::Result<(), Failure> {
        [&self.html, &self.trace, &self.json]
            .into_iter()
            .flatten()
            .try_for_each(|path| files::check_writable(path))
    }

    fn profile(
        &self,
        name: &str,
        device: &Device,
        call: &mut dyn FnMut() -> Result<()>,
    ) -> std::result::Result<(), Failure> {
        let options = Options { name: name.into(), runs: self.runs.into(), ..Options::default() };
        let profile = profile_with(device, &options, call)?;
        print!("{}", profile.text(self.rows));
        for (path, text) in [
            (&self.html, Profile::to_html as fn(&Profile) -> Result<String>),
            (&self.trace, Profile::to_trace),
            (&self.json, Profile::to_json),
        ] {
            if let Some(path) = path {
                files::write(path, &text(&profile)?)?;
                println!("written: {}", path.display());
            }
        }
        Ok(())
    }
}

/// Prints what changed from one profile to another.
fn compare(before: &Path, after: &Path) -> std::result::Result<(), Failure> {
    let read = |path: &Path| -> std::result::Result<Profile, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| Failure::Usage(Error::Io { path: name.clone(), source }.to_string()))?;
        Profile::from_json(&text, &name).map_err(|error| Failure::Usage(error.to_string()))
    };
    print!("{}", read(before)?.compare(&read(after)?));
    Ok(())
}
