//! Numbers for people: three digits and a unit.

/// Three digits, without zeros that say nothing.
fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 99.95 {
        format!("{value:.0}")
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 {
        return format!("0 {}", units.last().map_or("", |u| u.1));
    }
    let fits = |(size, _): &&(f64, &str)| value.abs() >= size * 0.9995;
    let (size, unit) = units.iter().find(fits).or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{} {unit}", digits(value / size))
}

/// "5.61 ms".
pub fn seconds(value: f64) -> String {
    scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
}

/// "5.61 .. 5.80 ms".
pub fn range(low: f64, high: f64) -> String {
    let (low, high) = (seconds(low), seconds(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, a)), Some((_, b))) if a == b => format!("{number} .. {high}"),
        _ => format!("{low} .. {high}"),
    }
}

/// "1 launch", "2 launches".
pub fn plural(count: u64, what: &str) -> String {
    let ending = match count {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {what}{ending}")
}

/// "1.50 MiB".
pub fn bytes(value: u64) -> String {
    const K: f64 = 1024.0;
    if value < 1024 {
        return format!("{value} B");
    }
    scaled(value as f64, &[(K * K * K * K, "TiB"), (K * K * K, "GiB"), (K * K, "MiB"), (K, "KiB")])
}

/// "93%".
pub fn percent(value: f64) -> String {
    if value.is_finite() { format!("{}%", digits(value * 100.0).trim_end_matches(".00")) } else { "-".into() }
}

/// "4.21 TB/s".
pub fn bandwidth(value: f64) -> String {
    scaled(value, &[(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")])
}

/// "38.2 TFLOP/s".
pub fn rate(value: f64) -> String {
    scaled(value, &[(1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1e3, "kFLOP/s")])
}

/// A number that may not be there.
pub fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or("-".into(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits_and_a_unit() {
        assert_eq!(seconds(0.00561234), "5.61 ms");
        assert_eq!(seconds(53.4e-6), "53.4 µs");
        assert_eq!(seconds(0.1234), "123 ms");
        assert_eq!(seconds(0.0), "0 ns");
        assert_eq!(seconds(f64::NAN), "-");
        assert_eq!(range(0.0056, 0.0058), "5.60 .. 5.80 ms");
        assert_eq!(range(0.9e-3, 1.1e-3), "900 µs .. 1.10 ms");
        assert_eq!((plural(1, "launch"), plural(2, "launch")), ("1 launch".into(), "2 launches".into()));
        assert_eq!(plural(0, "submit"), "0 submits");
        assert_eq!(bytes(1000), "1000 B");
        assert_eq!(bytes(3 << 19), "1.50 MiB");
        assert_eq!(percent(0.93), "93.0%");
        assert_eq!(percent(-0.002), "-0.20%");
        assert_eq!(bandwidth(4.21e12), "4.21 TB/s");
        assert_eq!(rate(38.2e12), "38.2 TFLOP/s");
        assert_eq!(bandwidth(4.361e12), "4.36 TB/s");
        assert_eq!(rate(215.4e9), "215 GFLOP/s");
        assert_eq!(bandwidth(12.34e6), "12.3 MB/s");
        assert_eq!((seconds(2.04e-6), seconds(0.0123)), ("2.04 µs".into(), "12.3 ms".into()));
        assert_eq!(or_dash(None, rate), "-");
    }
}
