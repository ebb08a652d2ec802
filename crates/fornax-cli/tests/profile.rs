//! `fornax profile` as a user calls it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn fornax(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    // What is remembered between runs stays inside the test.
    command
        .args(arguments)
        .current_dir(directory)
        .env("XDG_CACHE_HOME", directory)
        .env("FORNAX_DEVICE", "cpu");
    command.output().expect("it runs")
}

#[test]
fn a_profile_is_printed_and_written_and_two_are_compared() {
    let directory = directory("profile");
    let run = |json: &str| {
        let files = ["--html", "p.html", "--trace", "p.trace", "--json", json];
        let out = fornax(&directory, &[&["profile", "mlp_train_128", "--runs", "2"], &files[..]].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let text = run("a.json");
    for part in
        ["wall ", "kernels ", "host ", "what could be saved", "% roof", "module", "in use at the peak"]
    {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    run("b.json");
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect("written");
    let json: serde_json::Value = serde_json::from_str(&read("a.json")).expect("JSON");
    assert_eq!(json["name"], "mlp_train_128");
    assert!(json["roof"]["copy"].as_f64() > Some(0.0), "judged by measured peaks");
    assert!(read("p.html").contains("\"format\":\"fornax-profile 2\""));
    let trace: serde_json::Value = serde_json::from_str(&read("p.trace")).expect("JSON");
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 10));
    let out = fornax(&directory, &["profile", "--compare", "a.json", "b.json"]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && text.contains("ratio") && text.contains("matmul"), "{text}");
}

/// What is profiled is what the command of the same name does with the same arguments.
#[test]
fn a_training_step_and_a_token_are_profiled_with_their_commands_arguments() {
    let directory = directory("profile-commands");
    let profile = |arguments: &[&str]| -> serde_json::Value {
        let out = fornax(&directory, &[arguments, &["--runs", "2", "--json", "p.json"]].concat());
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        let text = std::fs::read_to_string(directory.join("p.json")).expect("written");
        serde_json::from_str(&text).expect("JSON")
    };
    let small = ["--preset", "tiny", "--batch", "2", "--context", "16", "--device", "cpu"];
    let train = |more: &[&str]| {
        let p = profile(&[&["profile", "train"], &small[..], more].concat());
        (p["name"].as_str().expect("a name").to_string(), p["counts"]["launches"].as_u64().expect("a count"))
    };
    let metrics = |more: &[&str]| {
        let out = fornax(
            &directory,
            &[&["train", "--steps", "5", "--json", "--out", "r"], &small[..], more].concat(),
        );
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        std::fs::remove_dir_all(directory.join("r")).expect("the run's folder");
        let steps = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        steps.filter_map(|line| line["launches"].as_u64()).next_back().expect("steps")
    };
    let plain = train(&[]);
    assert_eq!(plain.0, "train tiny, f32, 2 x 16 tokens a step");
    assert_eq!(plain.1, metrics(&[]));
    let other = ["--accumulate", "2", "--precision", "f16", "--clip", "0"];
    let other = (train(&other), metrics(&other));
    assert_eq!(other.0.0, "train tiny, f16, 4 x 16 tokens a step");
    assert_eq!(other.0.1, other.1);
    assert_ne!(other.1, plain.1, "the arguments count");
    assert!(!directory.join("runs").exists(), "nothing of a run is written");

    fornax::manual_seed(1);
    let config = fornax_models::Gpt2Config::new(256, 48, 2, 32, 4);
    let model = fornax_models::Gpt2::new(config, &fornax::Device::cpu()).expect("a model");
    model.save(directory.join("model")).expect("saved");
    let generate = ["profile", "generate", "--model", "model", "--device", "cpu", "--tokens", "40"];
    let one = profile(&[&generate[..], &["Once"]].concat());
    let two = profile(&[&generate[..], &["Once", "upon a"]].concat());
    assert_eq!(one["name"], "generate model, 1 text at once");
    assert_eq!(two["name"], "generate model, 2 texts at once");
    // A token more, not a prompt: every evaluation replays.
    assert_eq!(one["counts"]["plans_built"], 0);
    assert!(two["counts"]["bytes_read"].as_u64() > one["counts"]["bytes_read"].as_u64());
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_would_be_right() {
    let directory = directory("profile-usage");
    std::fs::write(directory.join("not.json"), "[]").expect("written");
    for (arguments, message) in [
        (&["profile", "no_such_case"][..], "mlp_train_128"),
        (&["profile"], "WORKLOAD"),
        (&["profile", "train", "--runs", "0"], "runs"),
        (&["profile", "train", "--batch", "0", "--precision", "f12"], "f12"),
        (&["profile", "generate", "--model", "no-such-model"], "no-such-model"),
        (&["profile", "--device", "cpu", "train"], "train"),
        (&["profile", "mlp_train_128", "--json", "no/such/directory.json"], "directory.json"),
        (&["profile", "--compare", "not.json", "not.json"], "not a profile"),
        (&["profile", "--compare", "missing.json", "not.json"], "missing.json"),
        (&["profile", "mlp_train_128", "--device", "abacus"], "cpu"),
    ] {
        let out = fornax(&directory, arguments);
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(message), "{arguments:?}: {text}");
    }
}
