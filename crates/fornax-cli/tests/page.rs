//! The page of a profile in a real browser: it renders, hovering and sorting work, nothing complains.

mod browser;

use browser::Browser;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A profile with modules, gradients and some hundred launches, as a page.
fn page(directory: &Path) -> PathBuf {
    let file = directory.join("profile.html");
    let done = Command::new(env!("CARGO_BIN_EXE_fornax"))
        .args(["profile", "gpt_train_4x256_B8_T128_V256", "--runs", "2", "--html"])
        .arg(&file)
        .env("XDG_CACHE_HOME", directory)
        .env("FORNAX_DEVICE", "cpu")
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    file
}

fn column(browser: &mut Browser, number: usize) -> Vec<String> {
    let cells = browser.value(&format!(
        "[...document.querySelectorAll('#kernels tbody td:nth-child({number})')].map(c => c.textContent)"
    ));
    cells.as_array().expect("cells").iter().map(|c| c.as_str().unwrap_or_default().to_string()).collect()
}

fn tip(browser: &mut Browser) -> Option<String> {
    let shown = browser
        .value("document.getElementById('tip').hidden ? null : document.getElementById('tip').textContent");
    shown.as_str().map(String::from)
}

fn renders(browser: &mut Browser, what: &str) {
    for (expression, least) in [
        ("document.querySelectorAll('.tile').length", 6),
        ("document.querySelectorAll('#advice li').length", 1),
        ("document.querySelectorAll('#phases .stack div').length", 4),
        ("document.querySelectorAll('.point').length", 5),
        ("document.querySelectorAll('.roof-line').length", 3),
        ("document.querySelectorAll('#kernels tbody tr').length", 10),
        ("document.querySelectorAll('#modules tbody tr').length", 10),
        ("document.querySelectorAll('#alive tbody tr').length", 3),
    ] {
        let found = browser.value(expression).as_u64();
        assert!(found >= Some(least), "{what}: {expression} is {found:?}");
    }
    for canvas in ["timeline", "memory"] {
        let colours = browser.value(&format!(
            "(() => {{ const c = document.getElementById('{canvas}'); const d = new Uint32Array(c.getContext('2d')\
             .getImageData(0, 0, c.width, c.height).data.buffer); return new Set(d).size; }})()"
        ));
        assert!(colours.as_u64() > Some(3), "{what}: {canvas} shows {colours} colours");
    }
    let wider = browser.value("document.documentElement.scrollWidth - innerWidth").as_i64();
    assert!(wider <= Some(0), "{what}: the page is {wider:?} pixels wider than the window");
    let unknown = browser.value("/NaN|undefined|Infinity/.exec(document.body.innerText)?.input ?? null");
    assert_eq!(unknown, Value::Null, "{what}");
}

fn hovers(browser: &mut Browser) {
    let [x, y, width, height] = browser.find("document.querySelector('.point')");
    let (x, y) = (x + width / 2.0, y + height / 2.0);
    browser.mouse("mouseMoved", x, y, 0);
    let label = browser.value(&format!("document.elementFromPoint({x}, {y}).getAttribute('aria-label')"));
    let text = tip(browser).expect("hovering over a point of the roofline tells of it");
    assert!(text.starts_with(label.as_str().expect("a kernel")) && text.contains("of roofline"), "{text}");
    browser.mouse("mouseMoved", 2.0, 2.0, 0);
    assert_eq!(tip(browser), None, "and goes away");

    let [left, top, ..] = browser.find("document.getElementById('timeline')");
    let at = browser
        .value("timeline.x((profile.timeline.launches[0].begin + profile.timeline.launches[0].end) / 2)");
    let bottom =
        browser.value("document.getElementById('timeline').clientHeight").as_f64().expect("a height");
    browser.mouse("mouseMoved", left + at.as_f64().expect("a place"), top + bottom - 30.0 - 44.0 + 8.0, 0);
    let text = tip(browser).expect("hovering over a launch tells of it");
    assert!(text.contains("forward"), "{text}");
}

fn sorts(browser: &mut Browser) {
    let head = |n: usize| format!("document.querySelector('#kernels th:nth-child({n}) button')");
    let order = |browser: &mut Browser, n: usize| {
        browser
            .value(&format!("document.querySelector('#kernels th:nth-child({n})').getAttribute('aria-sort')"))
    };
    let counts = |browser: &mut Browser| -> Vec<u64> {
        column(browser, 2).iter().map(|c| c.parse().expect("a count")).collect()
    };
    assert_eq!(order(browser, 3), "descending", "the slowest kernel comes first");
    browser.click(&head(2));
    assert_eq!(order(browser, 2), "descending");
    let sorted = counts(browser);
    assert!(sorted.windows(2).all(|pair| pair[0] >= pair[1]) && sorted[0] > 1, "{sorted:?}");
    browser.click(&head(2));
    assert_eq!(order(browser, 2), "ascending");
    assert!(counts(browser).windows(2).all(|pair| pair[0] <= pair[1]));
    browser.click(&head(1));
    let labels = column(browser, 1);
    let mut alphabetical = labels.clone();
    alphabetical.sort_by_key(|label| label.to_lowercase());
    assert_eq!(labels[0], alphabetical[0]);

    browser.click("document.getElementById('filter')");
    browser.call("Input.insertText", serde_json::json!({"text": "matmul"}));
    let found = column(browser, 1);
    assert!(!found.is_empty() && found.len() < labels.len(), "{found:?}");
    assert!(found.iter().all(|label| label.contains("matmul")), "{found:?}");
    browser.value("(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input')); })()");
}

fn zooms(browser: &mut Browser) {
    let view = |browser: &mut Browser| {
        let view = browser.value("timeline.view");
        view[1].as_f64().expect("an end") - view[0].as_f64().expect("a beginning")
    };
    let whole = view(browser);
    let [x, y, width, height] = browser.find("document.getElementById('timeline')");
    let y = y + height / 2.0;
    browser.mouse("mousePressed", x + width * 0.25, y, 1);
    browser.mouse("mouseMoved", x + width * 0.4, y, 1);
    browser.mouse("mouseMoved", x + width * 0.5, y, 1);
    browser.mouse("mouseReleased", x + width * 0.5, y, 1);
    let part = view(browser);
    assert!((part / whole - 0.25).abs() < 0.02, "a quarter was dragged over, {} is shown", part / whole);
    browser.click("document.querySelector('#zoom button')");
    assert!((view(browser) / part - 0.5).abs() < 1e-6);
    browser.click("document.querySelector('#zoom button:last-child')");
    assert!((view(browser) / whole - 1.0).abs() < 1e-6);
}

#[test]
#[ignore = "needs Chromium, which .ci/run installs"]
fn the_page_works_in_a_browser() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = page(&directory);
    let address = format!("file://{}", file.display());
    let mut browser = Browser::start(&directory);
    for (name, width, dark) in
        [("light", 1280, false), ("dark", 1280, true), ("narrow", 390, false), ("narrow-dark", 390, true)]
    {
        browser.open(&address, width, dark);
        renders(&mut browser, name);
        browser.picture(&directory.join(format!("{name}.png")));
    }
    browser.open(&address, 1280, false);
    hovers(&mut browser);
    sorts(&mut browser);
    zooms(&mut browser);
    assert_eq!(browser.complaints("file://"), Vec::<String>::new());
}
