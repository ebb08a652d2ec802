//! The loss curve: dots of braille for a terminal, an SVG for a browser.

use super::metrics::History;
use std::fmt::Write;

/// What fits on an axis: the ends, and a few round numbers between.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>) -> Option<Axis> {
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        // A flat curve lies in the middle.
        let room = if high > low { 0.0 } else { 0.5 };
        (low <= high).then_some(Axis { low: low - room, high: high + room })
    }

    /// 0 at the low end, 1 at the high one.
    fn part(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|&s| s >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|n| n as f64 * step).take_while(|&t| t <= self.high + step * 1e-9).collect()
    }
}

/// The mean of each of `count` equal stretches of the points, at the middle of its steps.
fn condensed(points: &[(f64, f64)], count: usize) -> Vec<(f64, f64)> {
    let finite: Vec<(f64, f64)> = points.iter().copied().filter(|p| p.1.is_finite()).collect();
    let size = finite.len().div_ceil(count.max(1)).max(1);
    let mean = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        (sum.0 / part.len() as f64, sum.1 / part.len() as f64)
    };
    finite.chunks(size).map(mean).collect()
}

/// The curve in `columns` by `rows` characters, with the loss at its ends; empty as long as there is no curve.
pub fn terminal(history: &History, columns: usize, rows: usize) -> String {
    const LABEL: usize = 8;
    let (wide, high) = (columns.saturating_sub(LABEL + 2).max(10), rows.max(3));
    let points = condensed(&history.losses, 2 * wide);
    if points.len() < 2 {
        return String::new();
    }
    let all = || points.iter().chain(&history.evaluations);
    let (Some(x), Some(y)) = (Axis::of(all().map(|p| p.0)), Axis::of(all().map(|p| p.1))) else {
        return String::new();
    };
    let (dots_wide, dots_high) = (2 * wide, 4 * high);
    let place = |&(step, loss): &(f64, f64)| {
        let across = (x.part(step) * (dots_wide - 1) as f64).round() as usize;
        let down = ((1.0 - y.part(loss)) * (dots_high - 1) as f64).round() as usize;
        (across.min(dots_wide - 1), down.min(dots_high - 1))
    };
    let mut cells = vec![vec![0u8; wide]; high];
    // The bits of braille, by column and row of a character.
    const BITS: [[u8; 4]; 2] = [[0, 1, 2, 6], [3, 4, 5, 7]];
    let mut dot = |across: usize, down: usize| cells[down / 4][across / 2] |= 1 << BITS[across % 2][down % 4];
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (place(&pair[0]), place(&pair[1]));
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        for i in 0..=steps {
            let between = |a: usize, b: usize| {
                (a as f64 + (b as f64 - a as f64) * i as f64 / steps as f64).round() as usize
            };
            dot(between(x0, x1), between(y0, y1));
        }
    }
    let mut marks = vec![vec![false; wide]; high];
    for (across, down) in history.evaluations.iter().filter(|p| p.1.is_finite()).map(place) {
        marks[down / 4][across / 2] = true;
    }
    let mut text = String::new();
    for (row, (cells, marks)) in cells.iter().zip(&marks).enumerate() {
        let label = match row {
            0 => format!("{:.3}", y.high),
            _ if row == high - 1 => format!("{:.3}", y.low),
            _ => String::new(),
        };
        let _ = write!(text, "{label:>LABEL$} ┤");
        for (&bits, &mark) in cells.iter().zip(marks) {
            text.push(if mark { '●' } else { char::from_u32(0x2800 + bits as u32).unwrap_or(' ') });
        }
        text.truncate(text.trim_end_matches('\u{2800}').len());
        text.push('\n');
    }
    let _ = writeln!(text, "{:LABEL$} └{}", "", "─".repeat(wide));
    let last = format!("{:.0}", x.high);
    let (first, legend) = (format!("step {:.0}", x.low), "⣀ training  ● evaluation");
    let gap = wide.saturating_sub(first.len() + last.len() + legend.chars().count()).max(4);
    let (left, right) = (" ".repeat(gap / 2), " ".repeat(gap - gap / 2));
    let _ = write!(text, "{:LABEL$}  {first}{left}{legend}{right}{last}", "");
    text
}

/// The curve as a picture, with axes and a legend.
pub fn svg(history: &History, title: &str) -> String {
    const WIDE: f64 = 860.0;
    const HIGH: f64 = 420.0;
    const LEFT: f64 = 64.0;
    const TOP: f64 = 44.0;
    const RIGHT: f64 = 836.0;
    const BOTTOM: f64 = 372.0;
    let title: String = title
        .chars()
        .map(|c| match c {
            '<' => "&lt;".to_string(),
            '>' => "&gt;".into(),
            '&' => "&amp;".into(),
            c => c.into(),
        })
        .collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {HIGH}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"#333\">\n<rect width=\"{WIDE}\" height=\"{HIGH}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{title}</text>\n"
    );
    let points = condensed(&history.losses, 700);
    let all = || points.iter().chain(&history.evaluations);
    if let (Some(x), Some(y)) = (Axis::of(all().map(|p| p.0)), Axis::of(all().map(|p| p.1))) {
        let across = |step: f64| LEFT + x.part(step) * (RIGHT - LEFT);
        let down = |loss: f64| BOTTOM - y.part(loss) * (BOTTOM - TOP);
        for tick in y.ticks() {
            let at = down(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick:.4}</text>",
                LEFT - 8.0,
                at + 4.0
            );
        }
        for tick in x.ticks().into_iter().filter(|tick| tick.fract() == 0.0) {
            let (at, below) = (across(tick), BOTTOM + 18.0);
            let _ =
                writeln!(out, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{tick:.0}</text>");
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#888\"/>\
             <text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">step</text>\
             <text x=\"{RIGHT}\" y=\"24\" text-anchor=\"end\"><tspan fill=\"#2563c9\">training</tspan> \
             <tspan fill=\"#d9480f\">evaluation</tspan></text>",
            BOTTOM + 36.0
        );
        let line = |points: &[(f64, f64)]| -> String {
            let finite = points.iter().filter(|p| p.1.is_finite());
            finite.map(|p| format!("{:.1},{:.1} ", across(p.0), down(p.1))).collect()
        };
        let (training, evaluations) = (line(&points), line(&history.evaluations));
        for (color, points) in [("#2563c9", training), ("#d9480f", evaluations)] {
            let points = points.trim_end();
            let _ = writeln!(
                out,
                "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" points=\"{points}\"/>"
            );
        }
        for p in history.evaluations.iter().filter(|p| p.1.is_finite()) {
            let (x, y) = (across(p.0), down(p.1));
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#d9480f\"/>");
        }
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn falling() -> History {
        let losses = (1..=500).map(|i| (i as f64, 1.0 + 4.0 / (i as f64).sqrt())).collect();
        History { losses, evaluations: vec![(100.0, 1.5), (500.0, 1.25)] }
    }

    #[test]
    fn a_falling_loss_goes_from_the_upper_left_to_the_lower_right() {
        let text = terminal(&falling(), 60, 8);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{text}");
        let reach = |line: &str| line.chars().count();
        assert!(reach(lines[0]) < 20 && reach(lines[7]) > 50, "{text}");
        assert!(lines[9].contains("step 1 ") && lines[9].contains("500") && text.contains('●'), "{text}");
        assert_eq!(terminal(&History::default(), 60, 8), "");
    }

    #[test]
    fn strange_losses_draw_what_can_be_drawn() {
        let losses = vec![(1.0, f64::NAN), (2.0, 3.0), (3.0, 3.0), (4.0, f64::INFINITY)];
        let history = History { losses, evaluations: vec![(4.0, f64::NAN)] };
        assert!(!terminal(&history, 5, 1).is_empty());
        let picture = svg(&history, "a < b & c");
        assert!(picture.contains("a &lt; b &amp; c") && !picture.contains("NaN") && !picture.contains("inf"));
        assert!(svg(&History::default(), "").ends_with("</svg>\n"));
    }

    #[test]
    fn the_picture_has_both_curves() {
        let picture = svg(&falling(), "tiny");
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert_eq!(picture.matches("<circle").count(), 2);
        let ticks = Axis { low: 1.2, high: 5.0 }.ticks();
        assert_eq!(ticks, [2.0, 3.0, 4.0, 5.0]);
    }
}
