//! Numbers as people read them, beside those of [`fornax::profile::amounts`]. What was not measured is "-".

use std::time::SystemTime;

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
    fn numbers_have_three_digits() {
        assert_eq!((digits(0.1234), digits(f64::NAN)), ("0.123".into(), "-".into()));
        assert_eq!(ago(SystemTime::now() - Duration::from_secs(7300)), "2 hours ago");
        assert_eq!(ago(SystemTime::now() - Duration::from_secs(200_000)), "2 days ago");
    }
}
