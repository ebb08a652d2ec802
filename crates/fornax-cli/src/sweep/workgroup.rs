//! How many lanes a workgroup should have, where the kernel leaves the choice: maps and long sums.

use super::{Bench, Findings, Line};
use crate::table::digits;
use crate::timing::Time;
use fornax::device::wgpu::{Caps, Wgpu};
use fornax::{DType, Device, Result, Tensor};
use std::sync::Arc;

const SIZES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

type Expression = fn(&Tensor) -> Result<Tensor>;

const KERNELS: [(&str, Expression); 3] =
    [("add ms", |x| x.add(1.0)), ("gelu ms", |x| x.gelu()), ("sum ms", |x| x.sum_all())];

/// What one size took, by kernel.
struct Tried {
    lanes: u32,
    times: Vec<Time>,
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let mut found = Findings {
        title: "Workgroups: how many lanes?",
        about: String::new(),
        columns: std::iter::once("lanes")
            .chain(KERNELS.map(|(name, _)| name))
            .chain(["of the best"])
            .collect(),
        lines: vec![],
        axis: "times the best, the kernels' geometric mean",
        advice: String::new(),
    };
    let name = bench.device.name();
    if !name.starts_with("wgpu") {
        found.about = format!("{name} has no workgroups: nothing was tried.");
        found.advice = "Run it with --device wgpu.".into();
        return Ok(found);
    }
    let elements = if bench.quick { 1 << 16 } else { 1 << 25 };
    found.about = format!("Maps and a sum of {elements} f32.");
    let mut tried = vec![];
    let mut default = 0;
    for lanes in SIZES {
        let mut fits = true;
        let backend = Wgpu::open_with(&name, |caps| {
            default = caps.workgroup;
            fits = lanes <= caps.lanes;
            Caps { workgroup: lanes.min(caps.lanes), ..caps }
        })?;
        if !fits {
            let cells = vec!["-".into(); KERNELS.len() + 1];
            found.lines.push(Line { label: lanes.to_string(), cells, value: None, spread: 0.0 });
            continue;
        }
        let device = Device::with_backend(Arc::new(backend));
        let x = Tensor::randn(&[elements], DType::F32, &device)?;
        x.eval()?;
        let time = |(_, f): (&str, Expression)| bench.time_on(&device, &mut || f(&x)?.eval());
        tried.push(Tried { lanes, times: KERNELS.into_iter().map(time).collect::<Result<_>>()? });
    }
    let scores = scores(&tried);
    for (one, &score) in tried.iter().zip(&scores) {
        let mut cells: Vec<String> = one.times.iter().map(|t| digits(t.median * 1e3)).collect();
        cells.push(format!("{score:.3}"));
        let spread = score * varies(one);
        let at = found.lines.iter().position(|l| l.value.is_none()).unwrap_or(found.lines.len());
        found.lines.insert(at, Line { label: one.lanes.to_string(), cells, value: Some(score), spread });
    }
    let (best, advice) = advice(&tried, &scores, default);
    found.advice = advice;
    if bench.write {
        Wgpu::open(&name)?.remember_workgroup(best);
        found.advice += &format!(" Remembered: this device uses {best} from now on.");
    }
    Ok(found)
}

/// For every size the geometric mean of its times over the best of each kernel.
fn scores(tried: &[Tried]) -> Vec<f64> {
    let best = |k: usize| tried.iter().map(|t| t.times[k].median).fold(f64::INFINITY, f64::min);
    let score = |t: &Tried| {
        let logs = t.times.iter().enumerate().map(|(k, time)| (time.median / best(k)).ln());
        (logs.sum::<f64>() / t.times.len().max(1) as f64).exp()
    };
    tried.iter().map(score).collect()
}

/// How much calls vary, the kernels' mean, as a part of their time.
fn varies(tried: &Tried) -> f64 {
    tried.times.iter().map(|t| t.spread / t.median).sum::<f64>() / tried.times.len().max(1) as f64
}

/// The size to use. The present one stays unless another is better by more than calls vary.
fn advice(tried: &[Tried], scores: &[f64], now: u32) -> (u32, String) {
    let at = |lanes: u32| tried.iter().position(|t| t.lanes == lanes);
    let Some(best) = (0..tried.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b])) else {
        return (now, "No size could be tried.".into());
    };
    let noise = at(now).map_or(0.0, |at| varies(&tried[at])).max(varies(&tried[best]));
    let (lanes, gain) = (tried[best].lanes, at(now).map(|at| scores[at] / scores[best]));
    match gain {
        Some(_) if lanes == now => (now, format!("Keep {now} lanes: nothing is faster.")),
        Some(gain) if gain - 1.0 <= noise.max(0.02) => (
            now,
            format!(
                "Keep {now} lanes: {lanes} are {:.1}% faster, which is within what calls vary ({:.1}%).",
                (gain - 1.0) * 100.0,
                noise * 100.0
            ),
        ),
        Some(gain) => (
            lanes,
            format!(
                "Use {lanes} lanes: {:.1}% faster than {now}. --write makes it so.",
                (gain - 1.0) * 100.0
            ),
        ),
        None => (lanes, format!("Use {lanes} lanes.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(lanes: u32, medians: [f64; 2], spread: f64) -> Tried {
        Tried { lanes, times: medians.map(|median| Time { median, spread }).to_vec() }
    }

    #[test]
    fn the_best_size_wins_if_it_is_clearly_better() {
        let all = [tried(64, [1.0, 4.0], 0.0), tried(256, [2.0, 8.0], 0.0), tried(512, [4.0, 4.0], 0.0)];
        let scores = scores(&all);
        assert!(
            (scores[0] - 1.0).abs() < 1e-12
                && (scores[1] - 2.0).abs() < 1e-12
                && (scores[2] - 2.0).abs() < 1e-12
        );
        let (best, text) = advice(&all, &scores, 256);
        assert!(best == 64 && text.contains("100.0% faster than 256"), "{text}");
        assert_eq!(advice(&all, &scores, 64).0, 64);
    }

    #[test]
    fn what_calls_vary_by_is_no_gain() {
        let all = [tried(64, [1.0, 1.0], 0.2), tried(256, [1.1, 1.1], 0.2)];
        let (best, text) = advice(&all, &scores(&all), 256);
        assert!(best == 256 && text.contains("within what calls vary"), "{text}");
        assert_eq!(advice(&[], &[], 256).0, 256);
    }
}
