//! A profile for the terminal.

use super::amounts::{bandwidth, bytes, or_dash, percent, plural, range, rate, seconds};
use super::{ModuleTime, PartTime, Profile, TimingCost};
use std::fmt::{self, Write};

/// Rows of each table that `Display` shows.
const ROWS: usize = 24;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(ROWS))
    }
}

impl Profile {
    /// The profile as a text with at most so many rows a table.
    pub fn text(&self, rows: usize) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self
            .head(&mut out)
            .and_then(|()| self.advice_text(&mut out))
            .and_then(|()| self.kernels_text(&mut out, rows))
            .and_then(|()| self.modules_text(&mut out, rows))
            .and_then(|()| self.memory_text(&mut out, rows));
        out
    }

    fn head(&self, out: &mut String) -> fmt::Result {
        let wall = &self.wall;
        let how = match (self.undisturbed, wall.calls) {
            (true, calls) => format!("{} in {}", range(wall.low, wall.high), plural(calls as u64, "call")),
            (false, _) => "while every launch was timed, which waits for every plan".into(),
        };
        writeln!(out, "{} on {}, launches timed by {}\n", self.name, self.device, self.clock)?;
        writeln!(out, "wall       {} ({how})", seconds(wall.median))?;
        writeln!(
            out,
            "kernels    {} ({} of the wall), {} of it between launches",
            seconds(self.busy),
            percent(self.busy / wall.median),
            seconds(self.remainder)
        )?;
        writeln!(out, "timing     {}", self.timing_text())?;
        let phases: Vec<String> =
            self.phases.iter().map(|p| format!("{} {}", p.phase.name(), seconds(p.seconds))).collect();
        writeln!(out, "host       {}", phases.join(", "))?;
        let c = &self.counts;
        writeln!(
            out,
            "counts     {}, {}, {}, {} built, {} compiled",
            plural(c.launches, "launch"),
            plural(c.evaluations, "evaluation"),
            c.submits.map_or("- submits".into(), |n| plural(n, "submit")),
            plural(c.plans_built, "plan"),
            plural(c.kernels_compiled, "kernel")
        )?;
        writeln!(
            out,
            "memory     peak {}, {} before the call; {} ({}), {} reused ({})",
            bytes(self.memory.peak),
            bytes(self.memory.before),
            plural(c.fresh, "fresh allocation"),
            bytes(c.fresh_bytes),
            c.reused,
            bytes(c.reused_bytes)
        )?;
        match &self.roof {
            None => writeln!(
                out,
                "peaks      - (not measured, so no bound and no roofline; Device::peaks or `fornax info` measures them)"
            ),
            Some(roof) => writeln!(
                out,
                "peaks      copy {}, read {}, f32 {}, f16 {}, cooperative {}, launch {}",
                bandwidth(roof.copy),
                bandwidth(roof.read),
                rate(roof.f32),
                or_dash(roof.f16, rate),
                or_dash(roof.cooperative, rate),
                seconds(roof.launch)
            ),
        }
    }

    /// What timing the launches cost, and what was done to keep it small.
    fn timing_text(&self) -> String {
        let TimingCost { timestamp, timestamps, calls } = self.timing;
        let signed = |v: f64| format!("{}{}", if v >= 0.0 { "+" } else { "" }, percent(v));
        let stamps = format!("{} of {}", plural(timestamps, "timestamp"), seconds(timestamp));
        match self.overhead {
            Some(o) => format!(
                "all launches in {}, at most {stamps} in each: they changed the kernels' time by {} ({} .. {} in {})",
                plural(calls, "call"),
                signed(o.median),
                signed(o.low),
                signed(o.high),
                plural(o.calls as u64, "call"),
            ),
            None => format!(
                "all launches in {}: {stamps}, about {}, which is taken off",
                plural(calls, "call"),
                seconds(timestamp * timestamps as f64)
            ),
        }
    }

    fn advice_text(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "\nwhat could be saved")?;
        if self.advice.is_empty() {
            let why =
                if self.roof.is_none() { "peaks were not measured" } else { "no rule found half a per cent" };
            return writeln!(out, "  - ({why})");
        }
        for (i, a) in self.advice.iter().enumerate() {
            writeln!(out, "{:3}. up to {} ({})  {}", i + 1, seconds(a.saves), percent(a.share), a.what)?;
            writeln!(out, "     {}", a.why)?;
        }
        Ok(())
    }

    fn kernels_text(&self, out: &mut String, rows: usize) -> fmt::Result {
        writeln!(
            out,
            "\n{:52} {:>5} {:>9} {:>6} {:>9} {:>19} {:>10} {:>13} {:>8} {:>7}",
            "kernel", "count", "total", "%", "mean", "spread", "bytes/s", "ops/s", "bound", "% roof"
        )?;
        for k in self.kernels.iter().take(rows) {
            let spread = or_dash(k.spread, |(low, high)| range(low, high));
            writeln!(
                out,
                "{:52} {:>5} {:>9} {:>6} {:>9} {:>19} {:>10} {:>13} {:>8} {:>7}",
                cut(&k.label, 52),
                k.count,
                seconds(k.seconds),
                percent(k.seconds / self.busy),
                seconds(k.seconds / k.count as f64),
                spread,
                or_dash(k.bandwidth, bandwidth),
                or_dash(k.rate, rate),
                or_dash(k.bound, |b| b.name().into()),
                or_dash(k.of_roof, |r| format!("{:.0}", r * 100.0)),
            )?;
        }
        more(out, self.kernels.len(), rows)?;
        let (what, share) = ("(between launches)", percent(self.remainder / self.busy));
        writeln!(out, "{what:52} {:>5} {:>9} {share:>6}", "", seconds(self.remainder))
    }

    fn modules_text(&self, out: &mut String, rows: usize) -> fmt::Result {
        writeln!(
            out,
            "\n{:32} {:>8} {:>10} {:>8} {:>10} {:>6}",
            "module", "forward", "", "backward", "", "%"
        )?;
        let shown: Vec<&ModuleTime> = self.modules.iter().filter(|m| m.depth < 2).collect();
        for m in shown.iter().take(rows * 2) {
            let part = |p: &PartTime| match p.launches {
                0 => ("0".to_string(), "".to_string()),
                n => (n.to_string(), seconds(p.seconds)),
            };
            let ((forward, forward_time), (backward, backward_time)) = (part(&m.forward), part(&m.backward));
            let name = if m.path.is_empty() {
                "(no module)".into()
            } else {
                format!("{}{}", "  ".repeat(m.depth), m.path)
            };
            writeln!(
                out,
                "{:32} {:>8} {:>10} {:>8} {:>10} {:>6}",
                cut(&name, 32),
                forward,
                forward_time,
                backward,
                backward_time,
                percent((m.forward.seconds + m.backward.seconds) / self.busy),
            )?;
        }
        more(out, shown.len(), rows * 2)
    }

    fn memory_text(&self, out: &mut String, rows: usize) -> fmt::Result {
        let memory = &self.memory;
        writeln!(out, "\nin use at the peak of {} (at {})", bytes(memory.peak), seconds(memory.peak_at))?;
        for a in memory.alive.iter().take(rows / 2) {
            let module = if a.module.is_empty() { String::new() } else { format!(" in {}", a.module) };
            writeln!(out, "  {:>10}  {} {:?} {}{module}", bytes(a.bytes), a.what, a.shape, a.dtype)?;
        }
        let shown: u64 = memory.alive.iter().take(rows / 2).map(|a| a.bytes).sum();
        writeln!(out, "  {:>10}  others", bytes(memory.peak.saturating_sub(shown)))
    }
}

fn more(out: &mut String, all: usize, rows: usize) -> fmt::Result {
    if all > rows { writeln!(out, "  .. {} more", all - rows) } else { Ok(()) }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
