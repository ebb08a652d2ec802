//! Findings as one page that needs nothing beside it: tables, bars in SVG, advice.

use super::{Findings, Line};
use crate::table::digits;
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --bar: #3b7dd8; --faint: #8886; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; }
svg { display: block; margin: 1rem 0; }
.advice { border-left: 4px solid var(--bar); padding-left: .8rem; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
";

/// The whole page.
pub fn page(device: &str, found: &[Findings]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>fornax sweep: {0}</title>\n\
         <style>{STYLE}</style>\n<h1>fornax sweep on {0}</h1>\n",
        escaped(device)
    );
    for findings in found {
        let _ = writeln!(out, "<h2>{}</h2>\n<p>{}</p>", escaped(findings.title), escaped(&findings.about));
        out += &table(findings);
        out += &chart(findings);
        let _ = writeln!(out, "<p class=\"advice\">{}</p>", escaped(&findings.advice));
    }
    out + "</html>\n"
}

fn table(found: &Findings) -> String {
    if found.lines.is_empty() {
        return String::new();
    }
    let mut out = String::from("<table>\n<tr>");
    for column in &found.columns {
        let _ = write!(out, "<th>{}</th>", escaped(column));
    }
    out += "</tr>\n";
    for line in &found.lines {
        let _ = write!(out, "<tr><td>{}</td>", escaped(&line.label));
        for cell in &line.cells {
            let _ = write!(out, "<td>{}</td>", escaped(cell));
        }
        out += "</tr>\n";
    }
    out + "</table>\n"
}

/// Bars from the left, each with its spread as a line across its end.
fn chart(found: &Findings) -> String {
    const BARS: f64 = 520.0;
    const STEP: f64 = 26.0;
    let reach = |line: &Line| line.value.map_or(0.0, |value| value + line.spread / 2.0);
    let most = found.lines.iter().map(reach).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    // About as wide as letters of 13 pixels are.
    let longest = found.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    let labels = 7.4 * longest as f64 + 12.0;
    let (width, height) = (labels + BARS + 90.0, STEP * found.lines.len() as f64 + 26.0);
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         style=\"max-width:100%;height:auto\">\n<text x=\"{labels}\" y=\"14\">{}</text>\n",
        escaped(found.axis)
    );
    for (i, line) in found.lines.iter().enumerate() {
        let y = 24.0 + STEP * i as f64;
        let (middle, baseline) = (y + 9.0, y + 14.0);
        let label = escaped(&line.label);
        let _ =
            writeln!(out, "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{label}</text>", labels - 8.0);
        let Some(value) = line.value else {
            let _ = writeln!(out, "<text x=\"{labels}\" y=\"{baseline}\">-</text>");
            continue;
        };
        let at = |v: f64| labels + BARS * (v / most).clamp(0.0, 1.0);
        let (end, low, high) = (at(value), at(value - line.spread / 2.0), at(value + line.spread / 2.0));
        let _ = writeln!(
            out,
            "<rect x=\"{labels}\" y=\"{y}\" width=\"{:.1}\" height=\"18\" rx=\"2\" fill=\"var(--bar)\">\
             <title>{label}: {}</title></rect>",
            end - labels,
            digits(value)
        );
        let _ = writeln!(
            out,
            "<line x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"currentColor\"/>"
        );
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{baseline}\">{}</text>", high + 6.0, digits(value));
    }
    out + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_whole_and_escaped() {
        let line =
            |label: &str, value| Line { label: label.into(), cells: vec!["a<b".into()], value, spread: 1.0 };
        let found = Findings {
            title: "A & B",
            about: "\"quoted\"".into(),
            columns: vec!["", "x"],
            lines: vec![line("one", Some(3.0)), line("two", None)],
            axis: "ms",
            advice: "Do <this>.".into(),
        };
        let page = page("wgpu:0", &[found]);
        for part in
            ["A &amp; B", "a&lt;b", "Do &lt;this&gt;.", "&quot;quoted&quot;", "fornax sweep on wgpu:0"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<rect").count(), 1, "what was not measured has no bar");
        for tag in ["table", "svg", "tr", "h2"] {
            let closed = page.matches(&format!("</{tag}>")).count();
            assert_eq!(page.matches(&format!("<{tag}")).count(), closed, "{tag}");
        }
    }
}
