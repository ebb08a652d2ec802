//! The command as a user meets it: exit codes, messages, the files it writes.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory of this run, in which the command remembers what it measured.
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("fornax-command-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

fn fornax(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    command.env("XDG_CACHE_HOME", scratch("cache")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn info_tells_the_version_the_device_and_its_peaks() {
    let output = fornax(&["info"]);
    let text = text(&output.stdout);
    assert!(output.status.success(), "{text}");
    for word in
        [env!("CARGO_PKG_VERSION"), "cpu", "peaks measured", "copy", "f32", "one more launch", "upload"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn wrong_usage_exits_with_two_and_says_why() {
    let broken = scratch("broken.json");
    std::fs::write(&broken, "{}").unwrap();
    let broken = broken.to_str().unwrap();
    let cases: [(&[&str], &str); 11] = [
        (&[], "Usage"),
        (&["bunch"], "bunch"),
        (&["bench", "--bogus"], "--bogus"),
        (&["bench", "--device", "abacus"], "abacus"),
        (&["bench", "--filter", "no such case"], "matmul_f32_512"),
        (&["bench", "--json", "/no/such/folder/x.json", "--filter", "tiny"], "/no/such/folder"),
        (&["bench", "--compare", "/no/such/file.json", "--filter", "tiny"], "/no/such/file.json"),
        (&["bench", "--compare", broken, "--filter", "tiny"], "fornax bench --json"),
        (&["bench", "--threshold", "-1", "--filter", "tiny"], "--threshold"),
        (&["sweep", "everything"], "everything"),
        (&["sweep", "memory", "--html", "/no/such/folder/x.html"], "/no/such/folder"),
    ];
    for (arguments, word) in cases {
        let output = fornax(arguments);
        let text = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
}

#[test]
fn bench_writes_json_and_compares_with_it() {
    let path = scratch("bench.json");
    let arguments = ["bench", "--filter", "layer_norm_4096x768", "--json", path.to_str().unwrap()];
    let output = fornax(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json = std::fs::read_to_string(&path).unwrap();
    assert!(
        json.starts_with("[\n  {\"case\": \"layer_norm_4096x768\", \"device\": \"cpu\", \"median_ms\": "),
        "{json}"
    );
    for field in ["\"gflops\": null", "\"bound\": \"memory\"", "\"cacheable\": true"] {
        assert!(json.contains(field), "{field}: {json}");
    }

    // An earlier run that took a minute: this one is faster, whatever the machine.
    let slow = r#"[{"case": "layer_norm_4096x768", "device": "cpu", "median_ms": 60000, "spread_ms": 1}]"#;
    std::fs::write(&path, slow).unwrap();
    let output = fornax(&["bench", "--filter", "layer_norm_4096x768", "--compare", path.to_str().unwrap()]);
    let table = text(&output.stdout);
    assert!(output.status.success(), "{table}");
    assert!(table.contains("faster") && table.contains("0 slower, 1 faster"), "{table}");
}

#[test]
fn all_devices_have_their_table() {
    let output = fornax(&["bench", "--device", "all", "--filter", "tiny_ops"]);
    let table = text(&output.stdout);
    assert!(output.status.success() && table.contains("tiny_ops_2000x64"), "{table}");
}

#[test]
fn sweep_tells_what_to_do() {
    let path = scratch("sweep.html");
    let output = fornax(&["sweep", "memory", "quantisation", "--quick", "--html", path.to_str().unwrap()]);
    let (table, page) = (text(&output.stdout), std::fs::read_to_string(&path).unwrap());
    assert!(output.status.success(), "{}", text(&output.stderr));
    for word in ["gelu", "f16 weights", "bound"] {
        assert!(table.contains(word) && page.contains(word), "{word}: {table}");
    }
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("http://"));
}
