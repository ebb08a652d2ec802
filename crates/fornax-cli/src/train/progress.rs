//! What a run shows: JSON lines for a machine, a bar and a curve on a terminal, plain lines elsewhere.

use super::curve;
use super::metrics::{Evaluation, History, Line, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

pub struct Progress {
    mode: Mode,
    pub history: History,
    drawn: Instant,
}

enum Mode {
    Json,
    Plain,
    Terminal(ProgressBar),
}

/// The bar counts parts of the run, because the number of steps may be an estimate.
const PARTS: u64 = 1000;
const CURVE_ROWS: usize = 10;
const CURVE_COLUMNS: usize = 76;

impl Progress {
    pub fn new(json: bool) -> Progress {
        let mode = match (json, std::io::stdout().is_terminal()) {
            (true, _) => Mode::Json,
            (false, false) => Mode::Plain,
            (false, true) => Mode::Terminal(ProgressBar::hidden()),
        };
        Progress { mode, history: History::default(), drawn: Instant::now() }
    }

    pub fn is_json(&self) -> bool {
        matches!(self.mode, Mode::Json)
    }

    /// A line of text, for people only.
    pub fn say(&self, text: &str) {
        match &self.mode {
            Mode::Json => {}
            Mode::Plain => print(text),
            Mode::Terminal(bar) => bar.suspend(|| print(text)),
        }
    }

    /// An object, for machines only.
    pub fn tell(&self, object: serde_json::Value) {
        if self.is_json() {
            print(&object.to_string());
        }
    }

    /// From now on there is something to watch.
    pub fn begin(&mut self) {
        if let Mode::Terminal(bar) = &mut self.mode {
            *bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stdout_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{prefix}[{bar:20}] {msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
        }
    }

    /// A step that is done, how much of the run that is, and the seconds that are left.
    pub fn step(&mut self, line: &Step, total: Option<u64>, (part, left): (f64, f64)) {
        self.keep(&Line::Step(line.clone()));
        let Mode::Terminal(bar) = &self.mode else { return };
        if self.drawn.elapsed() < Duration::from_millis(150) {
            return;
        }
        self.drawn = Instant::now();
        let of = total.map_or(String::new(), |total| format!("/{total}"));
        let (step, loss, left) = (line.step, line.loss, clock(left));
        let rate = thousands(line.tokens_per_s);
        bar.set_message(format!("step {step}{of}  loss {loss:.4}  {rate} tokens/s  {left} left"));
        let picture = curve::terminal(&self.history, CURVE_COLUMNS, CURVE_ROWS);
        bar.set_prefix(if picture.is_empty() { picture } else { picture + "\n" });
        bar.set_position((part.clamp(0.0, 1.0) * PARTS as f64) as u64);
    }

    pub fn evaluation(&mut self, line: &Evaluation) {
        self.keep(&Line::Evaluation(line.clone()));
        if let Mode::Plain = self.mode {
            let loss = self.recent_loss();
            print(&format!("step {:>6}  loss {loss:.4}  evaluation {:.4}", line.step, line.eval_loss));
        }
    }

    fn keep(&mut self, line: &Line) {
        self.history.add(line);
        if self.is_json() {
            print(&line.text());
        }
    }

    /// The mean loss of the last steps.
    pub fn recent_loss(&self) -> f64 {
        let losses = &self.history.losses;
        let last = &losses[losses.len().saturating_sub(20)..];
        last.iter().map(|p| p.1).sum::<f64>() / last.len().max(1) as f64
    }

    /// The bar goes, the curve stays.
    pub fn end(&mut self) {
        if let Mode::Terminal(bar) = &self.mode {
            bar.finish_and_clear();
            print(&curve::terminal(&self.history, CURVE_COLUMNS, CURVE_ROWS));
            self.mode = Mode::Terminal(ProgressBar::hidden());
        }
    }
}

/// A line. A run goes on when nobody listens any more.
fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Minutes and seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole / 3600 {
        0 => format!("{}:{:02}", whole / 60, whole % 60),
        hours => format!("{hours}:{:02}:{:02}", whole / 60 % 60, whole % 60),
    }
}

/// 1234567 as "1.23M".
pub fn thousands(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2}G", n / 1e9),
        n if n >= 1e6 => format!("{:.2}M", n / 1e6),
        n if n >= 1e4 => format!("{:.1}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([59.6, 61.0, 3661.0].map(clock), ["1:00", "1:01", "1:01:01"]);
        assert_eq!([999.0, 12_345.0, 82e6].map(thousands), ["999", "12.3k", "82.00M"]);
    }
}
