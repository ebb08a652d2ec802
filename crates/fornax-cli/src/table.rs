//! Numbers and tables as people read them. What was not measured is "-".

use std::time::SystemTime;

/// Three digits and a unit of thousands: 4.36 TB/s.
fn scaled(value: f64, unit: &str) -> String {
    let (value, prefix) = match value {
        v if v >= 1e12 => (v / 1e12, "T"),
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v => (v / 1e3, "k"),
    };
    format!("{} {prefix}{unit}", digits(value))
}

/// Three digits: 0.436, 4.36, 43.6, 436; no more than four behind the point.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "-".into(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

pub fn bytes_per_second(value: f64) -> String {
    scaled(value, "B/s")
}

pub fn flops(value: f64) -> String {
    scaled(value, "FLOP/s")
}

pub fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{} s", digits(v)),
        v if v >= 1e-3 => format!("{} ms", digits(v * 1e3)),
        v if v >= 1e-6 => format!("{} µs", digits(v * 1e6)),
        v => format!("{} ns", digits(v * 1e9)),
    }
}

/// How long ago something was.
pub fn ago(when: SystemTime) -> String {
    let Ok(age) = when.elapsed() else { return "in the future".into() };
    match age.as_secs() {
        0..60 => "just now".into(),
        s @ 60..3600 => format!("{} minutes ago", s / 60),
        s @ 3600..172_800 => format!("{} hours ago", s / 3600),
        s => format!("{} days ago", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(bytes_per_second(4.361e12), "4.36 TB/s");
        assert_eq!(flops(215.4e9), "215 GFLOP/s");
        assert_eq!(bytes_per_second(12.34e6), "12.3 MB/s");
        assert_eq!(seconds(2.04e-6), "2.04 µs");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!((digits(0.1234), digits(f64::NAN)), ("0.123".into(), "-".into()));
        assert_eq!(ago(SystemTime::now() - Duration::from_secs(7300)), "2 hours ago");
        assert_eq!(ago(SystemTime::now() - Duration::from_secs(200_000)), "2 days ago");
    }
}
