//! Findings in a terminal: a table, bars, and the advice. Or as JSON: the tables, and what the bars show in numbers.

use super::Findings;
use crate::table::digits;
use std::fmt::Write;

/// The widest bar, in characters.
const WIDTH: usize = 40;

/// Everything about an experiment as text.
pub fn text(found: &Findings) -> String {
    let mut out = format!("\n{}\n{}\n", found.title, found.about);
    if !found.lines.is_empty() {
        out.push('\n');
    }
    let mut rows: Vec<Vec<String>> = vec![found.columns.iter().map(|c| c.to_string()).collect()];
    for line in &found.lines {
        rows.push(std::iter::once(line.label.clone()).chain(line.cells.iter().cloned()).collect());
    }
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..found.columns.len()).map(|c| width(c).unwrap_or(0)).collect();
    for row in rows.iter().filter(|_| !found.lines.is_empty()) {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c].saturating_sub(cell.chars().count()));
            line += &if c == 0 { format!("{cell}{pad}") } else { format!("  {pad}{cell}") };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let most = found.lines.iter().filter_map(|line| line.value).fold(0.0, f64::max);
    if most > 0.0 {
        let _ = writeln!(out, "\n{}", found.axis);
        for line in &found.lines {
            let label = format!("{:1$}", line.label, widths[0]);
            let _ = match line.value {
                Some(value) => writeln!(out, "{label}  {} {}", bar(value / most), digits(value)),
                None => writeln!(out, "{label}  -"),
            };
        }
    }
    let _ = writeln!(out, "\n{}", found.advice);
    out
}

/// The experiments as JSON: every line with its cells under the heads of their columns.
pub fn json(found: &[Findings]) -> String {
    let line = |columns: &[&str], line: &super::Line| {
        let cells = columns.iter().skip(1).zip(&line.cells).map(|(&head, cell)| (head, cell.clone()));
        let mut out: serde_json::Map<String, serde_json::Value> =
            cells.map(|(head, cell)| (head.to_string(), cell.into())).collect();
        out.insert(columns[0].into(), line.label.clone().into());
        out.insert("value".into(), line.value.into());
        serde_json::Value::Object(out)
    };
    let experiment = |f: &Findings| {
        let lines: Vec<_> = f.lines.iter().map(|l| line(&f.columns, l)).collect();
        serde_json::json!({ "title": f.title, "axis": f.axis, "lines": lines, "advice": f.advice })
    };
    let all: Vec<_> = found.iter().map(experiment).collect();
    format!("{:#}\n", serde_json::Value::from(all))
}

/// A bar of a part of the width, to an eighth of a character.
fn bar(part: f64) -> String {
    let eighths = (part.clamp(0.0, 1.0) * (WIDTH * 8) as f64).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::*;

    #[test]
    fn tables_line_up_and_bars_have_their_length() {
        let line = |label: &str, value: Option<f64>| Line {
            label: label.into(),
            cells: vec![value.map_or("-".into(), digits)],
            value,
            spread: 0.0,
        };
        let found = Findings {
            title: "A question",
            about: "What was run.".into(),
            columns: vec!["size", "ms"],
            lines: vec![line("32", Some(2.0)), line("1024", Some(1.0)), line("64", None)],
            axis: "milliseconds",
            advice: "Use 1024.".into(),
        };
        let text = text(&found);
        assert!(text.contains("size    ms\n32    2.00\n1024  1.00\n64       -\n"), "{text}");
        let bars: Vec<usize> = text.lines().map(|l| l.matches('█').count()).filter(|&n| n > 0).collect();
        assert_eq!(bars, [WIDTH, WIDTH / 2]);
        let json: serde_json::Value = serde_json::from_str(&json(&[found])).unwrap();
        assert_eq!(
            (&json[0]["lines"][1]["size"], &json[0]["lines"][1]["ms"]),
            (&"1024".into(), &"1.00".into())
        );
        assert_eq!(json[0]["lines"][2]["value"], serde_json::Value::Null);
        assert!(text.contains("\n64    -\n") && text.ends_with("Use 1024.\n"), "{text}");
    }
}
