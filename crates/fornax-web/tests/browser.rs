//! The browser's version in a real browser: the engine's table of cases on WebGPU, training, errors, and the page on which a
//! network learns a picture. `scripts/web.sh --cases` builds what is served here.

#[path = "../../fornax-cli/tests/browser/mod.rs"]
mod browser;

use browser::Browser;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Serves a folder to this machine; gives the address.
fn serve(folder: PathBuf) -> String {
    assert!(folder.join("fornax_web_bg.wasm").is_file(), "run scripts/web.sh --cases first");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = BufReader::new(&stream);
            let mut line = String::new();
            let _ = request.read_line(&mut line);
            let mut header = String::from("-");
            while header.trim() != "" {
                header.clear();
                let _ = request.read_line(&mut header);
            }
            let path = line.split([' ', '?']).nth(1).unwrap_or("/").trim_start_matches('/');
            let file = folder.join(if path.is_empty() { "index.html" } else { path });
            let kind = match file.extension().and_then(|e| e.to_str()) {
                Some("html") => "text/html",
                Some("js") => "text/javascript",
                Some("wasm") => "application/wasm",
                _ => "application/octet-stream",
            };
            let (status, body) = match std::fs::read(&file) {
                Ok(body) => ("200 OK", body),
                // Browsers ask for one of their own accord.
                Err(_) if path == "favicon.ico" => ("204 No Content", vec![]),
                Err(_) => ("404 Not Found", vec![]),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

fn start(name: &str) -> (Browser, String, PathBuf) {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let directory = temporary.join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    (Browser::start(&directory), serve(temporary.with_file_name("web")), directory)
}

/// Waits until an expression is true.
fn until(browser: &mut Browser, expression: &str, seconds: u64) {
    let begun = Instant::now();
    while browser.value(expression) != true {
        let page = || "document.body.innerText";
        assert!(
            begun.elapsed() < Duration::from_secs(seconds),
            "{expression} took too long: {}",
            browser.value(page())
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A software GPU needs a quarter of an hour for all cases (`EVERY=1`), so one in so many is walked, and fewer where texts are
/// long or sorts slow.
const EVERY: usize = 16;
const FEWER: &str =
    "attention_forward_and_backward=40&matrix_products_of_every_layout=50&reductions_over_any_axes=37";

#[test]
#[ignore = "needs Chromium and what scripts/web.sh --cases builds"]
fn the_engines_cases_agree() {
    let (mut browser, home, _) = start("web-cases");
    let every = std::env::var("EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(EVERY);
    let few = if every == EVERY { FEWER } else { "" };
    browser.open(&format!("{home}cases.html?every={every}&{few}"), 1000, false);
    until(&mut browser, "window.report?.done === true", if every == EVERY { 300 } else { 3000 });
    let report = browser.value("window.report");
    println!("{}", browser.value("document.body.innerText").as_str().unwrap_or_default());
    assert_eq!(report["error"], Value::Null);

    let parts = report["parts"].as_object().expect("parts");
    let count = |part: &Value| part["count"].as_u64().unwrap_or(0);
    assert!(parts.len() >= 10 && parts.values().all(|part| count(part) >= 1), "{report}");
    assert!(parts.values().map(count).sum::<u64>() > if every == 1 { 2500 } else { 120 }, "{report}");
    for (name, part) in parts {
        assert_eq!(part["wrong"], serde_json::json!([]), "{name}");
    }

    let losses: Vec<f64> =
        report["training"].as_array().expect("losses").iter().filter_map(Value::as_f64).collect();
    let (cpu, gpu) = losses.split_at(6);
    assert_eq!(gpu.len(), 6);
    assert!(cpu.iter().zip(gpu).all(|(c, g)| (c / g - 1.0).abs() < 1e-5), "{cpu:?} {gpu:?}");
    assert!(gpu[5] < gpu[0] - 0.1, "it learns: {gpu:?}");

    let refusals: Vec<&str> =
        report["refusals"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let wanted = [
        "open_async",
        "to_vec_async",
        "synchronize_async",
        "index 7 is outside 0..3",
        "wgpu:5",
        "[2.0, 2.0, 2.0]",
        // The browser's GPU is a program here, and such a one must be asked for.
        "cpu",
    ];
    assert_eq!(refusals.len(), wanted.len());
    for (said, wanted) in refusals.iter().zip(wanted) {
        assert!(said.contains(wanted), "{said:?} does not say {wanted:?}");
    }
    assert_eq!(browser.complaints(&home), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium and what scripts/web.sh builds"]
fn a_network_learns_a_picture_on_the_page() {
    let (mut browser, home, directory) = start("web-page");
    browser.open(&format!("{home}?side=48&device=wgpu"), 900, false);
    until(
        &mut browser,
        "window.fornax?.step() >= 60 || document.getElementById('trouble').textContent !== ''",
        120,
    );
    assert_eq!(browser.value("document.getElementById('trouble').textContent"), "");
    assert_eq!(browser.value("document.getElementById('device').textContent"), "wgpu:0");
    let losses = browser.value("window.fornax.losses()");
    let losses: Vec<f64> = losses.as_array().expect("losses").iter().filter_map(Value::as_f64).collect();
    assert!(losses[losses.len() - 1] < losses[0] / 3.0, "it learns: {losses:?}");
    // The third step and all after it plan, compile and allocate nothing; what is painted has plans of its own.
    let last = browser.value("window.fornax.last");
    assert_eq!((&last["fresh"], &last["compiled"]), (&0.into(), &0.into()), "{last}");
    // What is painted has come near the picture.
    let far = browser.value(
        "(() => { const d = (id) => document.getElementById(id).getContext('2d').getImageData(0, 0, 48, 48).data; \
         const [a, b] = [d('given'), d('learnt')]; let s = 0; for (let i = 0; i < a.length; i++) s += Math.abs(a[i] - b[i]); \
         return s / a.length; })()",
    );
    assert!(far.as_f64() < Some(25.0), "{far} of 255 apart");
    browser.picture(&directory.join("page.png"));
    browser.click("document.getElementById('pause')");
    std::thread::sleep(Duration::from_secs(2));
    let paused = browser.value("window.fornax.step()");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(browser.value("window.fornax.step()"), paused);
    assert_eq!(browser.complaints(&home), Vec::<String>::new());
}
