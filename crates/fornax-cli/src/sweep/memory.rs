//! Memory versus arithmetic: kernels as they are, their memory traffic alone, and their arithmetic alone. What takes as
//! long as the whole is what the kernel waits for.

use super::{Bench, Findings, Line};
use crate::table::digits;
use crate::timing::Time;
use fornax::profile::amounts::{bandwidth, seconds};
use fornax::{DType, Result, Tensor};

/// Elements of a row.
const ROW: usize = 1024;

type Expression = Box<dyn Fn(&Tensor) -> Result<Tensor>>;

pub fn run(bench: &Bench) -> Result<Findings> {
    let device = &bench.device;
    let rows = if bench.quick { 256 } else { 32768 };
    let elements = (rows * ROW) as f64;
    let ready = |shape: &[usize]| -> Result<Tensor> {
        let x = Tensor::randn(shape, DType::F32, device)?;
        x.eval()?;
        Ok(x)
    };
    let (x, row, column) = (ready(&[rows, ROW])?, ready(&[1, ROW])?, ready(&[rows, 1])?);
    let read = bench.time(|| x.sum(&[1], false)?.eval())?;
    let moved = bench.time(|| x.add(1.0)?.eval())?;
    // Values that are made from a row and a column come from no memory. What follows is summed up, and the sum alone
    // is taken off.
    let made = || row.add(&column);
    let sum = bench.time(|| made()?.sum(&[1], false)?.eval())?;
    let mut lines = vec![];
    let mut pairs = vec![];
    let mut named = vec![];
    for (label, operations, f) in kernels(device)? {
        let full = bench.time(|| f(&x)?.eval())?;
        let compute = bench.time(|| f(&made()?)?.sum(&[1], false)?.eval())?;
        let compute = (compute.median - sum.median).max(0.0);
        let bound = bound(moved.median, compute, full.median);
        match operations {
            Some(operations) => pairs.push((operations as f64, compute)),
            None => named.push((label.clone(), bound)),
        }
        // What is lost in the sum's own time is not known.
        let ms = |seconds: f64| if seconds > 0.0 { digits(seconds * 1e3) } else { "-".into() };
        let times = [read.median, moved.median, compute, full.median, full.spread].map(ms);
        lines.push(Line {
            label,
            cells: times.into_iter().chain([bound.to_string()]).collect(),
            value: Some(full.median * 1e3),
            spread: full.spread * 1e3,
        });
    }
    let advice = advice(elements, moved, &pairs, &named);
    Ok(Findings {
        title: "Memory or arithmetic: what do kernels wait for?",
        about: format!(
            "Kernels over {rows} x {ROW} f32 ({} MiB in, as much out): reading alone, reading and writing alone, the \
             arithmetic alone, and the whole.",
            (rows * ROW * 4) >> 20
        ),
        columns: vec![
            "kernel",
            "read only ms",
            "read+write ms",
            "compute only ms",
            "full ms",
            "spread",
            "bound",
        ],
        lines,
        axis: "milliseconds of the whole",
        advice,
    })
}

/// Kernels by name; those that are only multiply-adds with the number of their operations.
fn kernels(device: &fornax::Device) -> Result<Vec<(String, Option<usize>, Expression)>> {
    let mut all: Vec<(String, Option<usize>, Expression)> = vec![
        ("add".into(), None, Box::new(|x| x.add(1.0))),
        ("gelu".into(), None, Box::new(|x| x.gelu())),
        ("softmax".into(), None, Box::new(|x| x.softmax(-1))),
        ("layer_norm".into(), None, Box::new(|x| x.layer_norm(1, None, None, 1e-5))),
    ];
    for pairs in [4usize, 16, 64, 256] {
        // Launch arguments: nobody who compiles the kernel knows them, so nothing can be folded.
        let factor = Tensor::scalar(0.999, DType::F32, device)?;
        let term = Tensor::scalar(0.001, DType::F32, device)?;
        let chain = move |x: &Tensor| {
            let mut u = x.clone();
            for _ in 0..pairs {
                u = u.mul(&factor)?.add(&term)?;
            }
            Ok(u)
        };
        all.push((format!("{pairs} multiply-adds"), Some(2 * pairs), Box::new(chain)));
    }
    Ok(all)
}

/// What a kernel waits for, by how long its halves take.
fn bound(memory: f64, compute: f64, full: f64) -> &'static str {
    match compute / memory {
        _ if full > 1.25 * (memory + compute) => "neither",
        ratio if ratio < 0.8 => "memory",
        ratio if ratio > 1.25 => "arithmetic",
        _ => "both",
    }
}

/// Seconds of one more operation: the slope of the last two chains.
fn slope(pairs: &[(f64, f64)]) -> Option<f64> {
    let [.., (few, short), (many, long)] = pairs else { return None };
    (many > few && long > short).then(|| (long - short) / (many - few))
}

fn advice(elements: f64, moved: Time, pairs: &[(f64, f64)], named: &[(String, &str)]) -> String {
    let of = |what: &str| -> Vec<&str> {
        named.iter().filter(|(_, bound)| *bound == what).map(|(label, _)| label.as_str()).collect()
    };
    let mut out = format!(
        "Reading and writing takes {} ({}).",
        seconds(moved.median),
        bandwidth(8.0 * elements / moved.median)
    );
    match slope(pairs) {
        Some(operation) => {
            out += &format!(
                " One more operation an element takes {}, so a kernel that reads and writes an f32 has room for about \
                 {:.0} of them before arithmetic bounds it.",
                seconds(operation),
                moved.median / operation
            );
        }
        None => {
            out += " What an operation takes could not be told: twice the arithmetic did not take longer."
        }
    }
    for (what, then) in [
        ("memory", "Memory bounds {}: fuse them, or halve their bytes."),
        ("arithmetic", "Arithmetic bounds {}: fewer bytes would not help."),
        ("neither", "Slower than memory and arithmetic together: {}; the way they are cut is the cost."),
    ] {
        if !of(what).is_empty() {
            out += &format!(" {}", then.replace("{}", &of(what).join(", ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_as_long_as_the_whole_bounds_it() {
        assert_eq!(bound(1.0, 0.2, 1.0), "memory");
        assert_eq!(bound(1.0, 1.1, 1.3), "both");
        assert_eq!(bound(1.0, 5.0, 5.5), "arithmetic");
        assert_eq!(bound(1.0, 1.0, 4.0), "neither");
    }

    #[test]
    fn the_advice_has_numbers() {
        let moved = Time { median: 0.01, spread: 0.0 };
        let named = [("add".to_string(), "memory"), ("softmax".to_string(), "arithmetic")];
        let pairs = [(8.0, 0.001), (32.0, 0.002), (512.0, 0.050)];
        let text = advice(1e7, moved, &pairs, &named);
        for part in [
            "10.0 ms (8.00 GB/s)",
            "100 µs",
            "about 100 of them",
            "Memory bounds add:",
            "Arithmetic bounds softmax:",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(advice(1e7, moved, &[(8.0, 0.1), (32.0, 0.1)], &named).contains("could not be told"));
    }
}
