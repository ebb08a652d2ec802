//! The command as a user meets it: exit codes, messages, the files it writes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// A directory of this run, in which the command remembers what it measured.
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("fornax-command-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

fn fornax(arguments: &[&str]) -> Output {
    fornax_with_input(arguments, "")
}

fn fornax_with_input(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    command.env("XDG_CACHE_HOME", scratch("cache")).env("FORNAX_DEVICE", "cpu");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end without reading it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// A folder with a tiny model of bytes; random, but always the same.
fn model() -> String {
    static MODEL: LazyLock<String> = LazyLock::new(|| {
        let dir = scratch("model");
        fornax::manual_seed(1);
        let config = fornax_models::Gpt2Config::new(256, 48, 2, 32, 4);
        fornax_models::Gpt2::new(config, &fornax::Device::cpu()).unwrap().save(&dir).unwrap();
        dir.to_str().unwrap().to_string()
    });
    MODEL.clone()
}

#[test]
fn generate_continues_prompts() {
    let model = model();
    let base = ["generate", "--model", &model, "--device", "cpu"];
    let run_with = |more: &[&str], input: &str| {
        let output = fornax_with_input(&[&base[..], more].concat(), input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        (output.stdout, error)
    };
    let run =
        |more: &[&str], input: &str| run_with(&[&["--tokens", "12", "--seed", "3"], more].concat(), input);
    let (text, told) = run(&["Once upon"], "");
    assert!(text.ends_with(b"\n") && text.len() > 1);
    assert!(told.contains("cpu: prompt 9 tokens at ") && told.contains("then 10 tokens at "), "{told}");
    assert_eq!(run(&["Once upon"], "").0, text, "the same seed, the same text");
    assert_ne!(run_with(&["Once upon", "--seed", "4", "--tokens", "12"], "").0, text);
    assert_eq!(run(&[], "Once upon\n").0, text, "from the standard input");

    let json = |more: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&run(&[&["--json"], more].concat(), "").0).unwrap()
    };
    let two = json(&["Once upon", "a", "--temperature", "0"]);
    let alone = json(&["a", "--temperature", "0"]);
    assert_eq!(two["completions"][1], alone["completions"][0]);
    assert_eq!(two["completions"][0]["prompt"], "Once upon");
    assert_eq!(two["completions"][0]["tokens"].as_array().unwrap().len(), 12);
    assert_eq!((&two["completions"][0]["reason"], &two["seed"]), (&"tokens".into(), &3.into()));
    assert_eq!((&two["prefill"]["tokens"], &two["decode"]["tokens"]), (&10.into(), &20.into()));
    assert!(two["decode"]["tokens_per_s"].as_f64().unwrap() > 0.0);
    let long: serde_json::Value = serde_json::from_slice(&run_with(&["a", "--json"], "").0).unwrap();
    assert_eq!(long["completions"][0]["reason"], "context");
    assert_eq!(long["completions"][0]["tokens"].as_array().unwrap().len(), 48);
    let (several, _) = run(&["Once upon", "a"], "");
    assert!(several.starts_with(b"[1] Once upon"), "{}", String::from_utf8_lossy(&several));
}

#[test]
fn generate_says_everything_that_is_wrong_at_once() {
    let arguments = [
        "--temperature=-1",
        "--top-p=7",
        "--min-p=2",
        "--repetition-penalty=0",
        "--tokens=0",
        "--stop=",
        "--tokenizer=nonsense",
        "--model=/no/such/model",
    ];
    let output = fornax(&[&["generate", "x"], &arguments[..]].concat());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    let words = ["temperature", "top-p", "min-p", "penalty", "tokens", "stop", "nonsense", "/no/such/model"];
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
    assert_eq!(text.lines().count(), words.len(), "{text}");
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
    let adapters = fornax::device::wgpu::adapters();
    println!("adapters listed: {}", adapters.len());
    for adapter in adapters {
        let of = text.split("\n\n").find(|part| part.starts_with(&adapter.device)).unwrap_or_default();
        let bound = format!("bound to {} MiB", adapter.caps.binding_bytes >> 20);
        for word in [&adapter.name, &adapter.kind, &adapter.backend, &adapter.driver, &bound, "bindings"] {
            assert!(of.contains(word), "{word}: {text}");
        }
        assert_eq!(of.contains("f16,"), adapter.caps.f16, "{of}");
    }
}

#[test]
fn info_shows_the_rest_where_a_device_cannot_be_used() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    command.env("XDG_CACHE_HOME", scratch("cache")).env("FORNAX_DEVICE", "abacus");
    let output = command.arg("info").output().unwrap();
    let text = text(&output.stdout);
    assert!(output.status.success() && text.contains("abacus") && text.contains("simd"), "{text}");
}

#[test]
#[cfg(unix)]
fn who_reads_no_further_ends_the_command_without_a_word() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
    command.env("XDG_CACHE_HOME", scratch("cache")).arg("info");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && !said.contains("panicked"), "{said}");
}

#[test]
fn a_gpu_is_timed_by_its_own_cases() {
    let Some(adapter) = fornax::device::wgpu::adapters().into_iter().next() else {
        println!("no wgpu adapter: nothing was tested");
        return;
    };
    let path = scratch("gpu.json");
    let arguments =
        ["bench", "--device", "wgpu", "--filter", "launches_1000", "--json", path.to_str().unwrap()];
    let output = fornax(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let cases: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["case"].as_str().unwrap()).collect();
    assert_eq!(cases, ["launches_1000", "launches_1000_wall", "launches_1000_cpu"]);
    for row in rows.as_array().unwrap() {
        assert_eq!(row["device"], adapter.device.as_str());
        assert!(row["median_ms"].as_f64().unwrap() > 0.0 && row["bound"] == "launch", "{row}");
    }
}

#[test]
fn wrong_usage_exits_with_two_and_says_why() {
    let broken = scratch("broken.json");
    std::fs::write(&broken, "{}").unwrap();
    let broken = broken.to_str().unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&[], "Usage"),
        (&["bunch"], "bunch"),
        (&["bench", "--bogus"], "--bogus"),
        (&["bench", "--device", "abacus"], "abacus"),
        (&["bench", "--filter", "no such case"], "matmul_f32_512"),
        (&["bench", "--json", "/no/such/folder/x.json", "--filter", "tiny"], "/no/such/folder"),
        (&["bench", "--compare", "/no/such/file.json", "--filter", "tiny"], "/no/such/file.json"),
        (&["bench", "--compare", broken, "--filter", "tiny"], "fornax bench --json"),
        (&["bench", "--threshold", "-1", "--filter", "tiny"], "--threshold"),
        (&["profile", "nothing"], "nothing"),
        (&["profile", "--rows", "60", "train"], "fornax profile train --rows 60"),
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

    // A case that is not there any more; the filter leaves the other one out, and nobody ran the third's device.
    let gone = r#"[{"case": "layer_norm_of_old", "device": "cpu", "median_ms": 1}, {"case": "old", "device": "cpu",
        "median_ms": 1}, {"case": "layer_norm_of_old", "device": "wgpu:7", "median_ms": 1}]"#;
    std::fs::write(&path, gone).unwrap();
    let output = fornax(&["bench", "--filter", "layer_norm", "--compare", path.to_str().unwrap()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("1 of the cases that worked are missing now: layer_norm_of_old on cpu\n"),
        "{said}"
    );
}

#[test]
fn all_devices_have_their_table() {
    let output = fornax(&["bench", "--device", "all", "--filter", "tiny_ops"]);
    let table = text(&output.stdout);
    assert!(output.status.success() && table.contains("tiny_ops_2000x64"), "{table}");
}

#[test]
fn without_a_name_the_best_device_is_used() {
    for arguments in [&["bench"][..], &["sweep"], &["profile", "tiny_ops_2000x64"], &["train"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fornax"));
        let output = command.env("FORNAX_DEVICE", "abacus").args(arguments).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("abacus"), "{arguments:?}: {said}");
    }
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
