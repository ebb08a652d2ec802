//! Results as a table and as JSON.

/// What was measured of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub case: String,
    pub device: String,
    /// NaN if it could not be measured.
    pub median_ms: f64,
    /// From the 10th to the 90th of a hundred calls.
    pub spread_ms: f64,
    /// Bytes that must move, over the median; where that means something.
    pub gbps: Option<f64>,
    /// Operations of matrix products, over the median; where there are any.
    pub gflops: Option<f64>,
    /// The least time that the measured peaks allow, over the median.
    pub of_peak: Option<f64>,
    /// Which peak that is.
    pub bound: Option<String>,
    /// Whether its data may fit a cache, which is faster than the measured memory.
    pub cacheable: bool,
    /// Why it could not be measured.
    pub error: Option<String>,
}

impl Row {
    /// A case that could not be measured.
    pub fn failed(case: &str, device: &str, error: String) -> Row {
        Row {
            case: case.into(),
            device: device.into(),
            median_ms: f64::NAN,
            spread_ms: f64::NAN,
            gbps: None,
            gflops: None,
            of_peak: None,
            bound: None,
            cacheable: false,
            error: Some(error),
        }
    }
}

/// The head of the table.
pub fn print_head() {
    println!("{:34} {:>12} {:>10} {:>9} {:>9}  of peak", "case", "median ms", "spread", "GB/s", "GFLOP/s");
}

/// One line of the table.
pub fn print_row(row: &Row) {
    println!("{}", line(row));
    if row.case.ends_with("_ns_per_node") && row.median_ms.is_finite() {
        println!("{:34} {:>12.0} ns", "", row.median_ms * 1e6);
    }
}

fn line(row: &Row) -> String {
    if let Some(error) = &row.error {
        return format!("{:34} {:>12} {error}", row.case, "-");
    }
    let number = |v: Option<f64>| v.map_or("-".to_string(), |v| format!("{v:.1}"));
    // Six digits below a microsecond, four otherwise.
    let digits = if row.median_ms < 1e-2 { 6 } else { 4 };
    let of_peak = match (row.of_peak, &row.bound) {
        (Some(part), Some(bound)) => {
            let star = if row.cacheable && bound == "memory" { "*" } else { "" };
            format!("{:.0}% {bound}{star}", part * 100.0)
        }
        _ => "-".into(),
    };
    format!(
        "{:34} {:>12.digits$} {:>10.digits$} {:>9} {:>9}  {of_peak}",
        row.case,
        row.median_ms,
        row.spread_ms,
        number(row.gbps),
        number(row.gflops)
    )
}

/// What the table's signs mean, if they were used.
pub fn print_notes(rows: &[Row]) {
    if rows.iter().any(|row| row.cacheable && row.bound.as_deref() == Some("memory")) {
        println!("* less than large caches hold: it can be faster than memory");
    }
    if rows.iter().any(|row| !row.cacheable && row.of_peak.is_some_and(|part| part > 1.1)) {
        println!("A case beat the measured peak: measure it again with `fornax info --measure`.");
    }
    if rows.iter().any(|row| row.device != "cpu") {
        println!(
            "A GPU is timed over many evaluations in a row, side by side as a program's are where none needs another's \
             result; in a chain each waits."
        );
    }
}

/// All rows as an array of objects.
pub fn json(rows: &[Row]) -> String {
    let objects: Vec<String> = rows.iter().map(object).collect();
    if objects.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", objects.join(",\n")) }
}

fn object(row: &Row) -> String {
    let number = |v: f64| if v.is_finite() { format!("{v:.6}") } else { "null".into() };
    let optional = |v: Option<f64>| v.map_or("null".into(), number);
    let text = |v: &Option<String>| v.as_deref().map_or("null".into(), quoted);
    let mut out = format!(
        "  {{\"case\": {}, \"device\": {}, \"median_ms\": {}, \"spread_ms\": {}, \"gbps\": {}, \"gflops\": {}, \
         \"of_peak\": {}, \"bound\": {}, \"cacheable\": {}",
        quoted(&row.case),
        quoted(&row.device),
        number(row.median_ms),
        number(row.spread_ms),
        optional(row.gbps),
        optional(row.gflops),
        optional(row.of_peak),
        text(&row.bound),
        row.cacheable,
    );
    if row.error.is_some() {
        out += &format!(", \"error\": {}", text(&row.error));
    }
    out + "}"
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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
            of_peak: Some(0.25),
            bound: Some("memory".into()),
            cacheable: true,
            error: None,
        };
        let want = r#"  {"case": "a", "device": "the \"best\"\n", "median_ms": 1.500000, "spread_ms": null, "gbps": null, "gflops": 2.000000, "of_peak": 0.250000, "bound": "memory", "cacheable": true}"#;
        assert_eq!(object(&row), want);
        assert!(line(&row).ends_with("25% memory*"));
    }

    #[test]
    fn what_could_not_be_measured_is_not_zero() {
        let row = Row::failed("a", "cpu", "no room".into());
        assert!(
            object(&row).contains("\"median_ms\": null") && object(&row).ends_with("\"error\": \"no room\"}")
        );
        assert!(line(&row).ends_with("- no room"));
    }
}
