//! Results as a table and as JSON.

use fornax::{Error, Result};
use std::path::Path;

/// What was measured of one case.
pub struct Row {
    pub case: String,
    pub device: String,
    pub median_ms: f64,
    /// From the 10th to the 90th of a hundred calls.
    pub spread_ms: f64,
    /// Bytes that must move, over the median; where that means something.
    pub gbps: Option<f64>,
    /// Operations of matrix products, over the median; where there are any.
    pub gflops: Option<f64>,
}

/// The head of the table.
pub fn print_head() {
    println!("{:32} {:>12} {:>10} {:>9} {:>9}", "case", "median ms", "spread", "GB/s", "GFLOP/s");
}

/// One line of the table.
pub fn print_row(row: &Row) {
    let number = |v: Option<f64>| v.map_or("-".to_string(), |v| format!("{v:.1}"));
    // Six digits below a microsecond, four otherwise.
    let digits = if row.median_ms < 1e-2 { 6 } else { 4 };
    println!(
        "{:32} {:>12.digits$} {:>10.digits$} {:>9} {:>9}",
        row.case,
        row.median_ms,
        row.spread_ms,
        number(row.gbps),
        number(row.gflops)
    );
    if row.case.ends_with("_ns_per_node") {
        println!("{:32} {:>12.0} ns", "", row.median_ms * 1e6);
    }
}

/// Writes all rows as an array of objects.
pub fn write_json(path: &Path, rows: &[Row]) -> Result<()> {
    let objects: Vec<String> = rows.iter().map(object).collect();
    let text = if objects.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", objects.join(",\n")) };
    std::fs::write(path, text).map_err(|source| Error::Io { path: path.display().to_string(), source })
}

fn object(row: &Row) -> String {
    let number = |v: f64| if v.is_finite() { format!("{v:.6}") } else { "null".into() };
    let optional = |v: Option<f64>| v.map_or("null".into(), number);
    format!(
        "  {{\"case\": {}, \"device\": {}, \"median_ms\": {}, \"spread_ms\": {}, \"gbps\": {}, \"gflops\": {}}}",
        quoted(&row.case),
        quoted(&row.device),
        number(row.median_ms),
        number(row.spread_ms),
        optional(row.gbps),
        optional(row.gflops)
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_json() {
        let row = Row {
            case: "a".into(),
            device: "the \"best\"\n".into(),
            median_ms: 1.5,
            spread_ms: f64::NAN,
            gbps: None,
            gflops: Some(2.0),
        };
        let want = r#"  {"case": "a", "device": "the \"best\"\u000a", "median_ms": 1.500000, "spread_ms": null, "gbps": null, "gflops": 2.000000}"#;
        assert_eq!(object(&row), want);
    }
}
