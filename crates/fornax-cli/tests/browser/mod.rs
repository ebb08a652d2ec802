//! A headless Chromium, driven through its debugging pipe: messages of JSON, each ended by a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
    /// What came without being asked for.
    pub events: Vec<Value>,
}

/// The first browser on the path.
fn installed() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let path = std::env::var_os("PATH")?;
    let all: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| all.iter().map(move |dir| dir.join(name))).find(|file| file.is_file())
}

impl Browser {
    pub fn start(directory: &Path) -> Browser {
        let program = installed().expect("no Chromium on the path: apt-get install chromium");
        // The pipe is read at descriptor 3 and written at 4, which a shell can move there.
        let process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program)
            .args(["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--hide-scrollbars", "--disable-background-networking"])
            // A GPU that is a program, so that WebGPU is there on every machine. It may take its time.
            .args(["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--disable-gpu-watchdog"])
            .arg(format!("--user-data-dir={}", directory.join("browser").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = process.expect("the browser starts");
        let (to, from) = (process.stdin.take().expect("a pipe"), process.stdout.take().expect("a pipe"));
        let mut browser =
            Browser { process, to, from: BufReader::new(from), session: None, sent: 0, events: vec![] };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn next(&mut self) -> Value {
        let mut message = vec![];
        self.from.read_until(0, &mut message).expect("the browser answers");
        assert_eq!(message.pop(), Some(0), "the browser has gone");
        serde_json::from_slice(&message).expect("JSON")
    }

    /// Calls a method and waits for its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.to, "{message}\0").and_then(|()| self.to.flush()).expect("the browser listens");
        loop {
            let mut answer = self.next();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Opens a page at a width, light or dark, and waits until it is loaded.
    pub fn open(&mut self, address: &str, width: u32, dark: bool) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = json!({"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }});
        self.call("Emulation.setEmulatedMedia", json!({"features": [scheme]}));
        let before = self.events.len();
        self.call("Page.navigate", json!({"url": address}));
        while !self.events[before..].iter().any(|e| e["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// The value of a JavaScript expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub fn mouse(&mut self, kind: &str, x: f64, y: f64, clicks: u32) {
        let held = if kind == "mouseMoved" && clicks == 0 { "none" } else { "left" };
        let params = json!({"type": kind, "x": x, "y": y, "button": held, "buttons": clicks.min(1), "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Scrolls an element into view and gives its box: left, top, width, height.
    pub fn find(&mut self, element: &str) -> [f64; 4] {
        let found = self.value(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); \
             return [r.left, r.top, r.width, r.height]; }})()"
        ));
        [0, 1, 2, 3].map(|i| found[i].as_f64().unwrap_or_else(|| panic!("{element}: {found}")))
    }

    pub fn click(&mut self, element: &str) {
        let [x, y, width, height] = self.find(element);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, x + width / 2.0, y + height / 2.0, (kind != "mouseMoved") as u32);
        }
    }

    /// A picture of the whole page.
    pub fn picture(&mut self, file: &Path) {
        let answer =
            self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": true}));
        let data = answer["data"].as_str().expect("a picture");
        std::fs::write(file, decode(data)).expect("written");
    }

    /// Errors and warnings of the page's script, and what it asked of anybody but its home.
    pub fn complaints(&self, home: &str) -> Vec<String> {
        let is = |e: &Value| match e["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                e["params"]["type"] == "error" || e["params"]["type"] == "warning"
            }
            Some("Log.entryAdded") => e["params"]["entry"]["level"] == "error",
            Some("Network.requestWillBeSent") => {
                let url = e["params"]["request"]["url"].as_str().unwrap_or_default();
                !url.starts_with(home) && !url.starts_with("data:")
            }
            _ => false,
        };
        self.events.iter().filter(|e| is(e)).map(|e| e.to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Base64 as bytes.
fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').map(digit).collect();
    let mut bytes = vec![];
    for four in digits.chunks(4) {
        let word = four.iter().fold(0u32, |word, &d| word << 6 | d as u32) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&word.to_be_bytes()[1..four.len()]);
    }
    bytes
}
