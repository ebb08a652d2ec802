//! `fornax generate`: continues prompts with a model from a folder.

use crate::Failure;
use clap::Args;
use fornax::profile::amounts;
use fornax::{Device, Error, Result};
use fornax_models::{
    Completion, Generation, Gpt2, Gpt2Config, Request, Sampling, Speed, Tokenizer, generate,
};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The arguments of `fornax generate`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    texts: TextArguments,
    /// The folder of the model: config.json, model.safetensors and, if it has its own, tokenizer.json
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// One JSON object instead of text, with tokens and speeds
    #[arg(long)]
    json: bool,
}

/// What is continued and how.
#[derive(Args)]
pub struct TextArguments {
    /// What to continue; several are continued together. Without one, the standard input is the prompt
    prompts: Vec<String>,
    /// gpt2, bytes or a tokenizer.json; otherwise the model's own
    #[arg(long, value_name = "NAME|FILE")]
    tokenizer: Option<String>,
    /// Where to run; otherwise on the best there is
    #[arg(long)]
    device: Option<String>,
    /// The most tokens for each prompt
    #[arg(long, value_name = "N", default_value_t = 128)]
    tokens: usize,
    /// How freely tokens are drawn; 0 always takes the most likely one
    #[arg(long, value_name = "X", default_value_t = 0.8)]
    temperature: f64,
    /// Draw from the K most likely tokens only; 0 for all
    #[arg(long, value_name = "K", default_value_t = 0)]
    top_k: usize,
    /// Draw from the most likely tokens that together have this probability
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    top_p: f64,
    /// Draw from tokens at least this times as likely as the most likely one
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    min_p: f64,
    /// Make tokens that are there already less likely by this factor
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    repetition_penalty: f64,
    /// The same seed gives the same text on the same device; otherwise one from the clock
    #[arg(long)]
    seed: Option<u64>,
    /// End before this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
}

impl TextArguments {
    fn sampling(&self) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
        }
    }

    /// Fails with everything that is wrong with them, for the model of a folder.
    fn check(&self, model: Option<&Path>) -> std::result::Result<(), Failure> {
        let mut all = self.sampling().problems();
        let mut check = |good: bool, text: String| all.extend((!good).then_some(text));
        check(self.tokens > 0, "0 tokens are nothing to generate".into());
        check(!self.stop.contains(&String::new()), "an empty stop text would end at once".into());
        if let Some(config) = model.map(|model| model.join("config.json")) {
            let what = "--model names the folder of a model; it was not found:";
            check(config.exists(), format!("{what} {}", config.display()));
        }
        if let Some(file) = self.tokenizer.as_deref().filter(|name| !["gpt2", "bytes"].contains(name)) {
            let there = PathBuf::from(file).exists();
            check(there, format!("the tokenizer {file:?} is neither gpt2 nor bytes nor a file that exists"));
        }
        if all.is_empty() { Ok(()) } else { Err(Failure::Usage(all.join("\nerror: "))) }
    }

    /// The one that is named, otherwise that of the model's folder, otherwise GPT-2's.
    fn tokenizer(&self, model: &Gpt2, folder: Option<&Path>) -> Result<Tokenizer> {
        match (self.tokenizer.as_deref(), folder) {
            (None, Some(folder)) => Tokenizer::of_folder(folder, model.config.vocabulary),
            (None | Some("gpt2"), _) => Tokenizer::gpt2(),
            (Some("bytes"), _) => Tokenizer::bytes(),
            (Some(file), _) => Tokenizer::from_file(file),
        }
    }

    fn request(&self) -> Request {
        let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64);
        Request {
            tokens: self.tokens,
            sampling: self.sampling(),
            seed: self.seed.unwrap_or_else(clock),
            stop: self.stop.clone(),
        }
    }
}

/// Continues the prompts.
pub fn run(arguments: &Arguments) -> std::result::Result<(), Failure> {
    let Arguments { texts, model: folder, json: as_json } = arguments;
    texts.check(Some(folder))?;
    let device = crate::device(texts.device.as_deref())?;
    let read;
    let prompts: Vec<&str> = match &texts.prompts[..] {
        [] => {
            read = read_prompt()?;
            vec![&read]
        }
        given => given.iter().map(String::as_str).collect(),
    };
    let model = Gpt2::load(folder, &device)?;
    let tokenizer = texts.tokenizer(&model, Some(folder))?;
    let request = texts.request();
    let seed = request.seed;
    // One text can be watched as it grows; several would be mixed up.
    let watch = prompts.len() == 1 && !as_json;
    let show = |_: usize, text: &str| if watch { print(text) } else { Ok(()) };
    let (done, speed) = match generate(&model, &tokenizer, &prompts, &request, show) {
        // Who reads the text has enough of it.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
        done => done?,
    };
    if *as_json {
        print(&json(&prompts, &done, speed, seed, &device))?;
    } else if !watch {
        for (number, (prompt, completion)) in prompts.iter().zip(&done).enumerate() {
            print(&format!("[{}] {prompt}{}\n", number + 1, completion.text))?;
        }
    }
    if watch {
        print("\n")?;
    }
    if !as_json {
        let of =
            |(tokens, time): (usize, Duration)| format!("{tokens} tokens at {:.1}/s", rate((tokens, time)));
        eprintln!("{device}: prompt {}, then {}; seed {seed}", of(speed.prefill), of(speed.decode));
    }
    Ok(())
}

/// Gives `look` a name, the device and a call that makes a token more of every text, as [`run`] makes them. Without a folder
/// the weights are random, and distilgpt2's in size; without a prompt there is a short one.
pub fn steady(
    texts: &TextArguments,
    folder: Option<&Path>,
    look: impl FnOnce(&str, &Device, &mut dyn FnMut() -> Result<()>) -> std::result::Result<(), Failure>,
) -> std::result::Result<(), Failure> {
    texts.check(folder)?;
    let device = crate::device(texts.device.as_deref())?;
    let model = match folder {
        Some(folder) => Gpt2::load(folder, &device)?,
        None => Gpt2::new(Gpt2Config::preset("distilgpt2")?, &device)?,
    };
    let tokenizer = texts.tokenizer(&model, folder)?;
    let request = texts.request();
    let mut prompts: Vec<&str> = texts.prompts.iter().map(String::as_str).collect();
    if prompts.is_empty() {
        prompts.push("Once upon a time");
    }
    let begin = || Generation::new(&model, &tokenizer, &prompts, &request);
    let mut generation = begin()?;
    let mut token = || {
        // When all texts have ended they begin anew.
        if !generation.step(&mut |_, _| Ok(()))? {
            generation = begin()?;
        }
        Ok(())
    };
    let name = folder.map_or("distilgpt2".into(), |folder| folder.display().to_string());
    let name = format!("generate {name}, {} at once", amounts::plural(prompts.len() as u64, "text"));
    look(&name, &device, &mut token)
}

fn read_prompt() -> std::result::Result<String, Failure> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        eprintln!("prompt, then Ctrl-D:");
    }
    let mut text = String::new();
    let read = stdin.read_to_string(&mut text);
    read.map_err(|error| Failure::Usage(format!("the standard input is not a prompt: {error}")))?;
    // A shell's echo ends its line; a model would take that for the end of a sentence.
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_string())
}

/// To the standard output, at once.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|source| Error::Io { path: "standard output".into(), source })
}

/// Tokens a second.
fn rate((tokens, time): (usize, Duration)) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}

fn json(prompts: &[&str], done: &[Completion], speed: Speed, seed: u64, device: &Device) -> String {
    let completions: Vec<serde_json::Value> = prompts
        .iter()
        .zip(done)
        .map(|(prompt, completion)| {
            serde_json::json!({
                "prompt": prompt,
                "text": completion.text,
                "tokens": completion.tokens,
                "prompt_tokens": completion.prompt_tokens,
                "reason": completion.reason.name(),
            })
        })
        .collect();
    let of = |part: (usize, Duration)| serde_json::json!({"tokens": part.0, "seconds": part.1.as_secs_f64(), "tokens_per_s": rate(part)});
    let all = serde_json::json!({
        "device": device.name(),
        "seed": seed,
        "completions": completions,
        "prefill": of(speed.prefill),
        "decode": of(speed.decode),
    });
    format!("{all}\n")
}
