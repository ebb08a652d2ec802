//! `fornax train` as a user meets it: what it writes, what it says, and that a run can be killed at any moment.
//! `FORNAX_DEVICE` chooses the device, the CPU without it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("fornax-train-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    command.arg("train").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    if std::env::var_os("FORNAX_DEVICE").is_none() {
        command.env("FORNAX_DEVICE", "cpu");
    }
    command
}

fn train(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn trained(arguments: &[&str]) -> String {
    let output = train(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect()
}

/// The losses of the log by step, as they were written.
fn losses(run: &str) -> Vec<(u64, String)> {
    let text = std::fs::read_to_string(Path::new(run).join("metrics.jsonl")).unwrap();
    let lines = json(&text).into_iter().filter(|line| !line["loss"].is_null());
    lines.map(|line| (line["step"].as_u64().unwrap(), line["loss"].to_string())).collect()
}

const SMALL: [&str; 6] = ["--batch", "2", "--context", "16", "--seed", "5"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn a_run_writes_its_folder_and_tells_what_it_did() {
    let scratch = Scratch::new("folder");
    let run = scratch.path("run");
    let text =
        trained(&small(&["--steps", "12", "--eval-every", "4", "--checkpoint-every", "5", "--out", &run]));
    for part in ["tiny (", "own sources", "evaluation", "12 steps", "launches", "peak memory"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
    assert!(
        !text.contains('\u{1b}') && !text.contains('⠀') && !text.contains('┤'),
        "nothing is drawn: {text}"
    );
    let mut files: Vec<String> = std::fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let want = [
        "checkpoints",
        "config.json",
        "loss.svg",
        "metrics.jsonl",
        "model.safetensors",
        "run.json",
        "tokenizer.json",
    ];
    assert_eq!(files, want);
    let steps: Vec<u64> = losses(&run).iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, (1..=12).collect::<Vec<_>>());
    let log = json(&std::fs::read_to_string(Path::new(&run).join("metrics.jsonl")).unwrap());
    let evaluated: Vec<u64> =
        log.iter().filter(|l| !l["eval_loss"].is_null()).map(|l| l["step"].as_u64().unwrap()).collect();
    assert_eq!(evaluated, [4, 8, 12]);
    let mut kept: Vec<String> = std::fs::read_dir(Path::new(&run).join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, ["step-00000010.safetensors", "step-00000012.safetensors"], "the last two");
    let svg = std::fs::read_to_string(Path::new(&run).join("loss.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.matches("<polyline").count() == 2);

    // What was trained can be trained further.
    let more = scratch.path("more");
    trained(&["--init", &run, "--steps", "2", "--batch", "2", "--context", "16", "--out", &more]);
    let first: f64 = losses(&more)[0].1.parse().unwrap();
    let start: f64 = losses(&run)[0].1.parse().unwrap();
    assert!(first < start - 0.5, "begins at {first}, the random model at {start}");
}

#[test]
fn json_lines_and_nothing_else_and_a_steady_state() {
    let scratch = Scratch::new("json");
    let all = [("f16", "2"), ("f32", "1"), ("f32", "3"), ("f16", "1"), ("bf16", "1")];
    // A software GPU takes a minute for each.
    let slow = std::env::var("FORNAX_DEVICE").is_ok_and(|name| name.starts_with("wgpu"));
    for (precision, accumulate) in all.into_iter().take(if slow { 1 } else { 9 }) {
        let run = scratch.path(&format!("{precision}-{accumulate}"));
        let more =
            ["--steps", "7", "--precision", precision, "--accumulate", accumulate, "--json", "--out", &run];
        let lines = json(&trained(&small(&more)));
        let steps: Vec<&Value> = lines.iter().filter(|line| !line["loss"].is_null()).collect();
        assert_eq!(steps.len(), 7, "{lines:?}");
        for line in &steps {
            for key in [
                "step",
                "loss",
                "ms",
                "tokens_per_s",
                "launches",
                "submits",
                "fresh_allocations",
                "plans_built",
            ] {
                assert!(line[key].is_number(), "{key} in {line}");
            }
            assert!(line["peak_bytes"].as_u64().unwrap() > 0 && line["launches"].as_u64().unwrap() > 0);
            if line["step"].as_u64().unwrap() >= 3 {
                for key in ["fresh_allocations", "plans_built", "kernels_compiled"] {
                    assert_eq!(line[key], 0, "{precision}, {accumulate} parts: {key} in {line}");
                }
            }
        }
        let rates: Vec<f64> = steps.iter().map(|line| line["lr"].as_f64().unwrap()).collect();
        assert!(rates[1..].windows(2).all(|pair| pair[0] != pair[1]), "the rate changes: {rates:?}");
        let last = lines.last().unwrap();
        assert!(last["finished"] == true && last["sample"].is_string(), "{last}");
    }
}

#[test]
fn everything_wrong_is_said_at_once_before_any_work() {
    let scratch = Scratch::new("wrong");
    let run = scratch.path("run");
    let output = train(&[
        "--preset",
        "huge",
        "--batch",
        "0",
        "--context",
        "100000",
        "--steps",
        "x",
        "--lr",
        "-1",
        "--schedule",
        "zigzag",
        "--accumulate",
        "0",
        "--precision",
        "f8",
        "--clip",
        "nan",
        "--eval-every",
        "0",
        "--checkpoint-every",
        "-3",
        "--keep",
        "0",
        "--seed",
        "-1",
        "--device",
        "abacus",
        "--data",
        "no-such-file.txt",
        "--minutes",
        "1",
        "--out",
        &run,
    ]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    for word in [
        "--preset huge",
        "--batch 0",
        "--context 100000",
        "--steps x",
        "--lr -1",
        "--schedule zigzag",
        "--accumulate 0",
        "--precision f8",
        "--clip nan",
        "--eval-every 0",
        "--checkpoint-every -3",
        "--keep 0",
        "--seed -1",
        "abacus",
        "no-such-file.txt",
        "--steps and --minutes",
    ] {
        assert!(text.contains(word), "{word} is missing in: {text}");
    }
    assert!(output.stdout.is_empty() && !Path::new(&run).exists());
}

#[test]
fn data_and_folders_that_do_not_fit_are_said_clearly() {
    let scratch = Scratch::new("misfit");
    let (short, binary) =
        (scratch.write("short.txt", "too short"), scratch.write("binary.txt", b"\xff\xfe\x00"));
    let odd = scratch.write("odd.bin", [1, 0, 2]);
    let empty = scratch.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let full = scratch.path("");
    let run = scratch.path("run");
    let cases: [(Vec<&str>, &[&str]); 8] = [
        (vec!["--data", &short], &["too little", "--context"]),
        (vec!["--data", &binary], &["not UTF-8"]),
        (vec!["--data", &odd], &["16-bit"]),
        (vec!["--data", &empty], &["no text file"]),
        (vec!["--init", &empty], &["config.json"]),
        (vec!["--out", &full], &["not empty"]),
        (vec!["--resume"], &["--out"]),
        (vec!["--resume", "--out", &empty], &["run.json"]),
    ];
    for (mut arguments, words) in cases {
        if !arguments.contains(&"--out") && !arguments.contains(&"--resume") {
            arguments.extend(["--out", &run]);
        }
        let output = train(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {text}");
        assert!(!Path::new(&run).exists(), "{arguments:?}");
    }

    trained(&small(&["--steps", "2", "--out", &run]));
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = train(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments:?}: {text}");
    };
    refused(&["--out", &run], 2, &["another run", "--resume"]);
    let changed = ["--resume", "--out", &run, "--batch", "4", "--lr", "0.5", "--precision", "bf16"];
    refused(&changed, 2, &["--batch", "--lr", "--precision", "3 things"]);
    // Tokens that the model does not know.
    let tokens: Vec<u8> = (0..4000u16).flat_map(|i| (i % 300).to_le_bytes()).collect();
    let tokens = scratch.write("tokens.bin", tokens);
    refused(&small(&["--data", &tokens, "--out", &scratch.path("bin")]), 1, &["the token", "256"]);
    // A checkpoint of another run in its place.
    let other = scratch.path("other");
    trained(&small(&["--steps", "2", "--precision", "f16", "--out", &other]));
    let newest = |run: &str| Path::new(run).join("checkpoints/step-00000002.safetensors");
    std::fs::copy(newest(&other), newest(&run)).unwrap();
    refused(&["--resume", "--steps", "4", "--out", &run], 1, &["scaler", "precision"]);
}

#[test]
fn text_folders_and_token_files_are_data_too() {
    let scratch = Scratch::new("data");
    let text = "the quick brown fox jumps over the lazy dog\n".repeat(40);
    std::fs::create_dir(scratch.0.join("texts")).unwrap();
    scratch.write("texts/a.txt", &text);
    scratch.write("texts/b.md", &text);
    scratch.write("texts/.hidden", b"\xff");
    scratch.write("texts/picture.png", b"\x89PNG\xff");
    let tokens: Vec<u8> = text.bytes().flat_map(|byte| (byte as u16).to_le_bytes()).collect();
    let bin = scratch.write("tokens.bin", &tokens);
    std::fs::create_dir(scratch.0.join("split")).unwrap();
    scratch.write("split/train.bin", &tokens);
    scratch.write("split/val.bin", &tokens[..400]);
    let (texts, split) = (scratch.path("texts"), scratch.path("split"));
    for (i, (data, words)) in
        [(&texts, "2 of 3 files"), (&bin, "1584 tokens"), (&split, "200 more")].into_iter().enumerate()
    {
        let run = scratch.path(&format!("run-{i}"));
        let text = trained(&small(&["--data", data, "--steps", "2", "--out", &run]));
        assert!(text.contains(words), "{words} is missing in: {text}");
    }
    // The same text as tokens is the same run.
    let whole = scratch.write("whole.txt", &text);
    let run = scratch.path("run-text");
    trained(&small(&["--data", &whole, "--steps", "2", "--out", &run]));
    assert_eq!(losses(&run), losses(&scratch.path("run-1")));
}

#[test]
fn a_limit_in_minutes_is_kept() {
    let scratch = Scratch::new("minutes");
    let run = scratch.path("run");
    let start = Instant::now();
    trained(&small(&["--minutes", "0.05", "--out", &run]));
    let seconds = start.elapsed().as_secs_f64();
    assert!((1.0..30.0).contains(&seconds), "{seconds} s for 3");
    assert!(!losses(&run).is_empty());
}

/// Starts a run and kills it after a while.
fn killed(arguments: &[&str], after: Duration) -> bool {
    let mut child: Child = command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let finished = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    finished
}

#[test]
fn a_run_that_is_killed_again_and_again_gives_the_losses_of_one_that_is_not() {
    let scratch = Scratch::new("kill");
    let (whole, torn) = (scratch.path("whole"), scratch.path("torn"));
    let more = ["--steps", "60", "--checkpoint-every", "1", "--eval-every", "7", "--precision", "f16"];
    let begin = |run| small(&[&more[..], &["--out", run]].concat());
    trained(&begin(&whole));
    let want = losses(&whole);
    assert_eq!(want.len(), 60);

    let first = begin(&torn);
    let resume = ["--resume", "--out", &torn];
    let (mut kills, mut finished) = (0, false);
    // A checkpoint a step: most of the time is spent inside their writes.
    let mut millis = 331;
    while !finished {
        let arguments: &[&str] = if Path::new(&torn).join("run.json").exists() { &resume } else { &first };
        let _ = std::fs::remove_dir(&torn);
        finished = killed(arguments, Duration::from_millis(millis));
        millis = 150 + (millis * 7 + 13) % 997 + 20 * kills;
        kills += 1;
        assert!(kills < 200, "the run never ends");
        if kills == 3 {
            // And once the newest file is cut, as a disk that lost power would leave it.
            let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(&torn).join("checkpoints"))
                .map(|list| list.map(|entry| entry.unwrap().path()).collect())
                .unwrap_or_default();
            files.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("step-"));
            files.sort();
            if files.len() > 1 {
                let newest = files.pop().unwrap();
                let bytes = std::fs::read(&newest).unwrap();
                std::fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();
            }
        }
    }
    println!("killed {} times", kills - 1);
    assert!(kills > 2, "killed at least twice");
    trained(&resume);
    assert_eq!(losses(&torn), want);
    let leftovers: Vec<_> = std::fs::read_dir(Path::new(&torn).join("checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(leftovers.len(), 2, "{leftovers:?}");
}

#[test]
fn a_finished_run_can_be_made_longer() {
    let scratch = Scratch::new("longer");
    let run = scratch.path("run");
    trained(&small(&["--steps", "4", "--schedule", "constant", "--out", &run]));
    trained(&["--resume", "--steps", "9", "--out", &run]);
    let whole = scratch.path("whole");
    trained(&small(&["--steps", "9", "--schedule", "constant", "--out", &whole]));
    assert_eq!(losses(&run), losses(&whole));
}

#[test]
fn recomputed_layers_give_the_same_losses() {
    let scratch = Scratch::new("recompute");
    let run = |name: &str, more: &[&str]| {
        let out = scratch.path(name);
        let lines = json(&trained(&small(&[&["--steps", "4", "--json", "--out", &out], more].concat())));
        let steps: Vec<Value> = lines.into_iter().filter(|line| !line["launches"].is_null()).collect();
        assert_eq!(steps.len(), 4);
        steps
    };
    let (kept, again) = (run("kept", &[]), run("again", &["--recompute"]));
    for (kept, again) in kept.iter().zip(&again) {
        let (a, b) = (kept["loss"].as_f64().unwrap(), again["loss"].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-5 * a, "{kept} {again}");
        assert!(
            kept["launches"].as_u64() < again["launches"].as_u64(),
            "nothing was recomputed: {kept} {again}"
        );
    }
}
