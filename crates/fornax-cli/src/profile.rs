//! `fornax profile`: where the time and the memory of a workload go, and what to fix first.

use crate::Failure;
use crate::{cases, files};
use fornax::profile::{Options, Profile, profile_with};
use fornax::{Device, Error, Result};
use fornax_models::{Gpt2, Gpt2Config, Session};
use std::path::{Path, PathBuf};

/// What is profiled and what becomes of it.
#[derive(clap::Args)]
pub struct Request {
    /// `train` (a step), `generate` (a token), or a case as `fornax bench` names it
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
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
    #[arg(conflicts_with_all = ["workload", "html", "trace", "json"])]
    compare: Option<Vec<PathBuf>>,
}

/// One call of a workload: a training step, a token, a benchmark's expression.
type Call = Box<dyn FnMut() -> Result<()>>;

/// A workload by name, and how its call is prepared.
type Workload = (&'static str, fn(&Device) -> Result<Call>);

/// Workloads with names of their own; every benchmark case is one too.
const WORKLOADS: &[Workload] = &[("train", train), ("generate", generate)];

/// A training step of a distilgpt2-sized model.
fn train(device: &Device) -> Result<Call> {
    let name = if device.name() == "cpu" { "distilgpt2_train_B1_T128" } else { "distilgpt2_train_B1_T512" };
    benchmark(name, device)?.ok_or_else(|| Error::Internal(format!("there is no case {name}")))
}

/// A token more of a text, by a distilgpt2-sized model.
fn generate(device: &Device) -> Result<Call> {
    const ROOM: usize = 256;
    // Sessions borrow it; it is used until the command ends.
    let model: &Gpt2 = Box::leak(Box::new(Gpt2::new(Gpt2Config::preset("distilgpt2")?, device)?));
    let begin = move || Session::new(model, &[(0..64).collect()], ROOM);
    let (mut session, mut tokens) = (begin()?, 0);
    Ok(Box::new(move || {
        if tokens == ROOM {
            (session, tokens) = (begin()?, 0);
        }
        tokens += 1;
        session.push(&[1])
    }))
}

/// A call of a benchmark case; `None` if there is no such case.
fn benchmark(name: &str, device: &Device) -> Result<Option<Call>> {
    let case = cases::all().into_iter().chain(cases::gpu()).find(|case| case.name == name);
    case.map(|case| (case.prepare)(device).map(|prepared| prepared.call)).transpose()
}

fn prepare(name: &str, device: &Device) -> std::result::Result<Call, Failure> {
    if let Some((_, workload)) = WORKLOADS.iter().find(|(known, _)| *known == name) {
        return Ok(workload(device)?);
    }
    benchmark(name, device)?.ok_or_else(|| {
        let named = WORKLOADS.iter().map(|(name, _)| name.to_string());
        let cases = cases::all().into_iter().chain(cases::gpu()).map(|case| case.name);
        let all: Vec<String> = named.chain(cases).collect();
        Failure::Usage(format!("there is no workload {name:?}; there are: {}", all.join(", ")))
    })
}

/// Profiles a workload, prints the profile and writes it where it was asked for; or compares two.
pub fn run(request: &Request) -> std::result::Result<(), Failure> {
    if let Some([before, after]) = request.compare.as_deref() {
        return compare(before, after);
    }
    let name = request.workload.as_deref().unwrap_or_default();
    let device = Device::open(&request.device)?;
    let asked = [&request.html, &request.trace, &request.json];
    for path in asked.into_iter().flatten() {
        files::check_writable(path)?;
    }
    fornax::manual_seed(0);
    let mut call = prepare(name, &device)?;
    let options = Options { name: name.into(), runs: request.runs.into(), ..Options::default() };
    let profile = profile_with(&device, &options, &mut call)?;
    print!("{}", profile.text(request.rows));
    let [html, trace, json] = asked;
    for (path, text) in [
        (html, Profile::to_html as fn(&Profile) -> Result<String>),
        (trace, Profile::to_trace),
        (json, Profile::to_json),
    ] {
        if let Some(path) = path {
            files::write(path, &text(&profile)?)?;
            println!("written: {}", path.display());
        }
    }
    Ok(())
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
