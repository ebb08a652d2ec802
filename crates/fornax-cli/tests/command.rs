//! The command as a user meets it: exit codes, messages, the JSON file.

use std::process::{Command, Output};

fn fornax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fornax")).args(arguments).output().unwrap()
}

#[test]
fn info_tells_the_version_and_the_device() {
    let output = fornax(&["info"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.contains(env!("CARGO_PKG_VERSION")) && text.contains("cpu"),
        "{text}"
    );
}

#[test]
fn wrong_usage_exits_with_two_and_says_why() {
    let cases: [(&[&str], &str); 6] = [
        (&[], "Usage"),
        (&["bunch"], "bunch"),
        (&["bench", "--bogus"], "--bogus"),
        (&["bench", "--device", "abacus"], "abacus"),
        (&["bench", "--filter", "no such case"], "matmul_f32_512"),
        (&["bench", "--json", "/no/such/folder/x.json", "--filter", "tiny"], "/no/such/folder"),
    ];
    for (arguments, word) in cases {
        let output = fornax(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
}

#[test]
fn bench_writes_json() {
    let path = std::env::temp_dir().join(format!("fornax-bench-{}.json", std::process::id()));
    let output = fornax(&["bench", "--filter", "layer_norm_4096x768", "--json", path.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(
        text.starts_with("[\n  {\"case\": \"layer_norm_4096x768\", \"device\": \"cpu\", \"median_ms\": "),
        "{text}"
    );
    assert!(text.contains("\"gflops\": null}\n]"), "{text}");
}
