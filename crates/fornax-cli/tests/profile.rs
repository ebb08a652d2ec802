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
    command.args(arguments).current_dir(directory).env("XDG_CACHE_HOME", directory);
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

#[test]
fn wrong_usage_exits_with_2_and_says_what_would_be_right() {
    let directory = directory("profile-usage");
    std::fs::write(directory.join("not.json"), "[]").expect("written");
    for (arguments, message) in [
        (&["profile", "no_such_case"][..], "mlp_train_128"),
        (&["profile"], "WORKLOAD"),
        (&["profile", "train", "--runs", "0"], "runs"),
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
