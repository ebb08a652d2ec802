//! Two runs of the benchmarks, case by case. A case is slower only if it is so by more than the threshold and by more
//! than either run varied; one that worked and does not any more is a regression too.

use super::report::Row;
use crate::Failure;
use serde_json::Value;
use std::path::Path;

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    Faster,
    Slower,
    /// It worked before and fails now.
    Broken,
    /// It worked before, was to run now, and there is no such case.
    Missing,
    /// It did not work before.
    Unknown,
}

/// A case in both runs, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub case: String,
    pub device: String,
    pub before: f64,
    pub now: f64,
    pub verdict: Verdict,
}

/// Reads what `--json` wrote.
pub fn read(path: &Path) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|detail| {
        format!("{}: {detail}; it must be a file that fornax bench --json wrote", path.display())
    })
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = value.as_array().ok_or("not an array")?;
    rows.iter()
        .enumerate()
        .map(|(i, row)| row_of(row).ok_or(format!("row {i} has no case or device")))
        .collect()
}

fn row_of(row: &Value) -> Option<Row> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(String::from);
    let number = |name: &str| row.get(name).and_then(Value::as_f64);
    Some(Row {
        case: text("case")?,
        device: text("device")?,
        median_ms: number("median_ms").unwrap_or(f64::NAN),
        spread_ms: number("spread_ms").unwrap_or(f64::NAN),
        gbps: number("gbps"),
        gflops: number("gflops"),
        of_peak: number("of_peak"),
        bound: text("bound"),
        cacheable: row.get("cacheable").and_then(Value::as_bool).unwrap_or(false),
        error: text("error"),
    })
}

/// What became of every case that was run now, and of those that were `wanted` and are gone.
pub fn compare(before: &[Row], now: &[Row], threshold: f64, wanted: impl Fn(&Row) -> bool) -> Vec<Change> {
    let same = |a: &Row, b: &Row| a.case == b.case && a.device == b.device;
    let change = |row: &Row| {
        let old = before.iter().find(|old| same(old, row));
        Change {
            case: row.case.clone(),
            device: row.device.clone(),
            before: old.map_or(f64::NAN, |old| old.median_ms),
            now: row.median_ms,
            verdict: old.map_or(Verdict::Unknown, |old| verdict(old, row, threshold)),
        }
    };
    let gone = |old: &&Row| old.median_ms > 0.0 && wanted(old) && !now.iter().any(|row| same(old, row));
    let missing = before.iter().filter(gone).map(|old| Change {
        case: old.case.clone(),
        device: old.device.clone(),
        before: old.median_ms,
        now: f64::NAN,
        verdict: Verdict::Missing,
    });
    now.iter().map(change).chain(missing).collect()
}

fn verdict(old: &Row, new: &Row, threshold: f64) -> Verdict {
    match (old.median_ms > 0.0, new.median_ms > 0.0) {
        (false, _) => return Verdict::Unknown,
        (true, false) => return Verdict::Broken,
        (true, true) => {}
    }
    // A spread that is not known counts as none.
    let noise = old.spread_ms.max(new.spread_ms).max(0.0);
    let apart = (new.median_ms - old.median_ms).abs() > noise;
    match new.median_ms / old.median_ms {
        ratio if apart && ratio > 1.0 + threshold => Verdict::Slower,
        ratio if apart && ratio < 1.0 / (1.0 + threshold) => Verdict::Faster,
        _ => Verdict::Same,
    }
}

/// Prints what changed; a regression is a failure.
pub fn print(changes: &[Change], percent: f64) -> Result<(), Failure> {
    println!("\n{:34} {:8} {:>12} {:>12} {:>8}", "case", "device", "before ms", "now ms", "ratio");
    for change in changes {
        println!("{}", line(change));
    }
    let count = |verdict| changes.iter().filter(|change| change.verdict == verdict).count();
    let (slower, faster) = (count(Verdict::Slower), count(Verdict::Faster));
    println!("{slower} slower, {faster} faster, {} as before", count(Verdict::Same));
    let mut found = vec![];
    let slowest = changes.iter().filter(|change| change.verdict == Verdict::Slower);
    if let Some(worst) = slowest.max_by(|a, b| (a.now / a.before).total_cmp(&(b.now / b.before))) {
        found.push(format!(
            "{slower} of {} cases are more than {percent}% slower; the worst is {} on {}, {:.2} times",
            changes.len(),
            worst.case,
            worst.device,
            worst.now / worst.before
        ));
    }
    for (verdict, what) in [(Verdict::Broken, "fail now"), (Verdict::Missing, "are missing now")] {
        let names: Vec<String> = changes
            .iter()
            .filter(|change| change.verdict == verdict)
            .map(|change| format!("{} on {}", change.case, change.device))
            .collect();
        if !names.is_empty() {
            found.push(format!("{} of the cases that worked {what}: {}", names.len(), names.join(", ")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::Found(found.join("\n"))) }
}

fn line(change: &Change) -> String {
    let ms = |v: f64| match v.is_finite() {
        true if v < 1e-2 => format!("{v:.6}"),
        true => format!("{v:.4}"),
        false => "-".into(),
    };
    let ratio = change.now / change.before;
    let ratio = if ratio.is_finite() { format!("{ratio:.3}") } else { "-".into() };
    let word = match change.verdict {
        Verdict::Same | Verdict::Unknown => "",
        Verdict::Faster => "faster",
        Verdict::Slower => "SLOWER",
        Verdict::Broken => "FAILS",
        Verdict::Missing => "MISSING",
    };
    let line = format!(
        "{:34} {:8} {:>12} {:>12} {ratio:>8} {word}",
        change.case,
        change.device,
        ms(change.before),
        ms(change.now)
    );
    line.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::json;

    fn row(median_ms: f64, spread_ms: f64) -> Row {
        let error = None;
        Row { median_ms, spread_ms, error, ..Row::failed("add", "cpu", String::new()) }
    }

    #[test]
    fn rows_survive_their_json() {
        let full = Row {
            gbps: Some(10.5),
            gflops: Some(2.0),
            of_peak: Some(0.5),
            bound: Some("memory".into()),
            cacheable: true,
            ..row(1.25, 0.5)
        };
        assert_eq!(parse(&json(std::slice::from_ref(&full))), Ok(vec![full]));
        assert_eq!(parse(&json(&[])), Ok(vec![]));
        let failed = Row::failed("a", "wgpu:0", "no room".into());
        let back = parse(&json(&[failed])).unwrap();
        assert!(back[0].median_ms.is_nan() && back[0].error.as_deref() == Some("no room"));
        // What earlier versions wrote.
        let old = r#"[{"case": "a", "device": "cpu", "median_ms": 1.5, "spread_ms": null, "gbps": null, "gflops": 2}]"#;
        assert_eq!(parse(old).unwrap()[0].gflops, Some(2.0));
        for wrong in ["", "{}", "[1]", "[{\"case\": 1}]"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn slower_means_past_the_threshold_and_past_both_spreads() {
        let of = |old: Row, new: Row| verdict(&old, &new, 0.1);
        assert_eq!(of(row(1.0, 0.01), row(1.09, 0.01)), Verdict::Same);
        assert_eq!(of(row(1.0, 0.01), row(1.2, 0.01)), Verdict::Slower);
        assert_eq!(of(row(1.0, 0.3), row(1.2, 0.01)), Verdict::Same, "the first run varied more");
        assert_eq!(of(row(1.0, 0.01), row(1.2, 0.3)), Verdict::Same, "the second run varied more");
        assert_eq!(of(row(1.2, 0.01), row(1.0, 0.01)), Verdict::Faster);
        assert_eq!(of(row(1.0, f64::NAN), row(1.2, 0.01)), Verdict::Slower);
        assert_eq!(of(row(f64::NAN, 0.0), row(1.2, 0.01)), Verdict::Unknown);
        assert_eq!(of(row(f64::NAN, 0.0), row(f64::NAN, 0.0)), Verdict::Unknown);
        assert_eq!(of(row(1.0, 0.0), row(f64::NAN, 0.0)), Verdict::Broken);
    }

    #[test]
    fn cases_are_found_by_name_and_device() {
        let elsewhere = Row { device: "wgpu:0".into(), ..row(9.0, 0.0) };
        let changes = compare(&[elsewhere, row(1.0, 0.0)], &[row(2.0, 0.0)], 0.1, |_| false);
        assert_eq!((changes[0].before, changes[0].verdict), (1.0, Verdict::Slower));
        assert!(line(&changes[0]).ends_with("2.000 SLOWER"));
        let changes = compare(&[], &[row(2.0, 0.0)], 0.1, |_| true);
        assert_eq!(changes[0].verdict, Verdict::Unknown);
        assert!(line(&changes[0]).ends_with('-'));
    }

    #[test]
    fn a_case_that_fails_or_is_gone_is_a_regression_if_it_worked_and_was_wanted() {
        let named = |case: &str, median_ms: f64| Row { case: case.into(), ..row(median_ms, 0.0) };
        let before = [named("a", 1.0), named("b", 1.0), named("never", f64::NAN), named("other", 1.0)];
        let now = [Row::failed("a", "cpu", "no room".into())];
        let changes = compare(&before, &now, 0.1, |row| row.case != "other");
        let verdicts: Vec<_> = changes.iter().map(|c| (c.case.as_str(), c.verdict)).collect();
        assert_eq!(verdicts, [("a", Verdict::Broken), ("b", Verdict::Missing)]);
        let Err(Failure::Found(said)) = print(&changes, 10.0) else { panic!("it is a failure") };
        assert!(said.contains("fail now: a on cpu") && said.contains("missing now: b on cpu"), "{said}");
        assert!(print(&compare(&before[2..3], &[], 0.1, |_| true), 10.0).is_ok());
    }
}
