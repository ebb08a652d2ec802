//! How large the tiles of a product should be: every form that the device can choose from, timed.

use super::{Bench, Findings, Line};
use crate::table::digits;
use crate::timing::Time;
use fornax::device::Way;
use fornax::profile::amounts;
use fornax::{DType, Result, Tensor};

/// (outputs, inputs) of GPT-2's layers.
const LAYERS: [(usize, usize); 4] = [(768, 768), (3072, 768), (768, 3072), (50257, 768)];
/// The products of a layer of 512 rows: its output without and with what follows it, and its gradients.
const WHICH: [&str; 4] = ["forward", "bias and gelu", "input", "weight"];
/// How often all forms are timed.
const REPEATS: usize = 3;

/// The forms of one product, the one that a rule would choose first, with what they took.
struct Product {
    label: String,
    operations: f64,
    forms: Vec<Form>,
}

struct Form {
    name: String,
    /// One of many in a row.
    time: Option<Time>,
    /// One by itself, in seconds.
    alone: Option<f64>,
}

/// A product that could be tried.
struct Subject {
    label: String,
    dtype: DType,
    which: &'static str,
    /// Rows, columns and inner size of the forward product.
    sizes: [usize; 3],
}

fn subjects(quick: bool) -> Vec<Subject> {
    let mut found = vec![];
    let mut add = |dtype: DType, which: &'static str, [m, n, k]: [usize; 3]| {
        let label = format!("{dtype} {m}x{n}x{k} {which}");
        found.push(Subject { label, dtype, which, sizes: [m, n, k] });
    };
    for dtype in [DType::F32, DType::F16] {
        if quick {
            add(dtype, "forward", [256; 3]);
            continue;
        }
        [2048, 4096].into_iter().for_each(|n| add(dtype, "forward", [n; 3]));
        for (n, k) in LAYERS {
            WHICH.into_iter().for_each(|which| add(dtype, which, [512, n, k]));
        }
    }
    found
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let device = &bench.device;
    let wanted = subjects(bench.quick).into_iter().filter(|subject| subject.label.contains(&bench.filter));
    let products = wanted.map(|subject| product(bench, subject)).collect::<Result<Vec<_>>>()?;
    let chosen = products.iter().any(|product| product.forms.len() > 1);
    let mut advice: Vec<String> = products.iter().filter_map(sentence).collect();
    match (chosen, bench.write) {
        (false, _) => advice.push(format!("{device} computes products in one way.")),
        (true, false) => advice.push("--write makes later runs use the fastest.".into()),
        (true, true) => {
            advice.push("Remembered: products of these sizes use the fastest from now on.".into())
        }
    }
    Ok(Findings {
        title: "Products: how large a tile?",
        about: match chosen {
            true => "The forms of a product, the one that a rule would choose first: one of many in a row, how far \
                     times lay apart in several rounds, and one by itself on an idle device."
                .into(),
            false => "Nothing was tried.".into(),
        },
        columns: vec!["form", "ms", "spread", "GFLOP/s", "of the best", "alone ms"],
        lines: products.iter().flat_map(lines).collect(),
        axis: "GFLOP/s",
        advice: advice.join(" "),
    })
}

fn product(bench: &Bench, subject: Subject) -> Result<Product> {
    let Subject { label, dtype, which, sizes: [m, n, k] } = subject;
    crate::bench::progress(&label);
    let operand = |shape: &[usize]| -> Result<Tensor> {
        let x = Tensor::randn(shape, DType::F32, &bench.device)?.to_dtype(dtype)?;
        x.eval()?;
        Ok(x)
    };
    let (x, w) = (operand(&[m, k])?, operand(&[k, n])?);
    let product = match which {
        "forward" => x.matmul(&w)?,
        "bias and gelu" => x.matmul(&w)?.add(&operand(&[n])?)?.gelu()?,
        "input" => operand(&[m, n])?.matmul(&w.t()?)?,
        _ => x.t()?.matmul(&operand(&[m, n])?)?,
    };
    let plan = product.plan()?;
    let rounds = (0..if bench.quick { 1 } else { REPEATS })
        .map(|_| {
            let found = bench.device.alternatives(&plan, bench.write)?;
            Ok(found.into_iter().flat_map(|(_, ways)| ways).collect())
        })
        .collect::<Result<Vec<Vec<Way>>>>()?;
    Ok(Product { label, operations: 2.0 * (m * n * k) as f64, forms: together(&rounds) })
}

/// What each form took over all rounds, in the order of the first.
fn together(rounds: &[Vec<Way>]) -> Vec<Form> {
    let sorted = |name: &str, of: fn(&Way) -> Option<f64>| {
        let ways = rounds.iter().flatten().filter(|way| way.name == name);
        let mut times: Vec<f64> = ways.filter_map(of).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let form = |way: &Way| {
        let (times, alone) = (sorted(&way.name, |w| w.seconds), sorted(&way.name, |w| w.alone));
        let time = times.first().zip(times.last()).map(|(first, last)| {
            // One round tells nothing about how far times lie apart.
            let spread = if times.len() > 1 { last - first } else { f64::NAN };
            Time { median: times[times.len() / 2], spread }
        });
        Form { name: way.name.clone(), time, alone: alone.get(alone.len() / 2).copied() }
    };
    rounds.first().into_iter().flatten().map(form).collect()
}

impl Product {
    fn best(&self) -> Option<(&str, Time)> {
        let timed = self.forms.iter().filter_map(|form| Some((form.name.as_str(), form.time?)));
        timed.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    }
}

fn lines(product: &Product) -> Vec<Line> {
    let best = product.best().map_or(f64::NAN, |(_, time)| time.median);
    let line = |Form { name, time, alone }: &Form| Line {
        label: format!("{}, {name}", product.label),
        cells: match time {
            Some(time) => vec![
                digits(time.median * 1e3),
                digits(time.spread * 1e3),
                digits(product.operations / time.median / 1e9),
                format!("{:.2}", time.median / best),
                alone.map_or("-".into(), |alone| digits(alone * 1e3)),
            ],
            None => vec!["-".into(); 5],
        },
        value: time.map(|time| product.operations / time.median / 1e9),
        spread: time
            .map_or(0.0, |time| product.operations / time.median / 1e9 * time.spread / time.median)
            .max(0.0),
    };
    product.forms.iter().map(line).collect()
}

/// What to do about a product.
fn sentence(product: &Product) -> Option<String> {
    let (Form { name: rule, time: by_rule, .. }, (best, time)) = (product.forms.first()?, product.best()?);
    let rate = amounts::rate(product.operations / time.median);
    // Less than two per cent is no difference, whatever the spreads say.
    let noise = by_rule.map_or(0.0, |by_rule| by_rule.spread).max(time.spread).max(0.02 * time.median);
    Some(match by_rule {
        Some(_) if rule == best => format!("{}: the rule's {best} is the fastest ({rate}).", product.label),
        Some(by_rule) if by_rule.median - time.median <= noise => format!(
            "{}: the rule's {rule} is as fast as {best}, within what times vary ({rate}).",
            product.label
        ),
        Some(by_rule) => format!(
            "{}: use {best}, {:.2} times as fast as the rule's {rule} ({rate}).",
            product.label,
            by_rule.median / time.median
        ),
        None => format!("{}: use {best} ({rate}); the rule's {rule} could not be measured.", product.label),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(times: &[(&str, [Option<f64>; 2])]) -> Product {
        let way = |name: &str, seconds| Way { name: name.into(), seconds, alone: seconds };
        let round = |i: usize| times.iter().map(|(name, time)| way(name, time[i])).collect();
        let forms = together(&[round(0), round(1)]);
        Product { label: "f32 4x4x4".into(), operations: 2e9, forms }
    }

    #[test]
    fn the_best_form_is_named_with_its_gain() {
        let clear =
            product(&[("a", [Some(0.2), Some(0.2)]), ("b", [Some(0.1), Some(0.1)]), ("c", [None, None])]);
        assert_eq!(
            sentence(&clear).unwrap(),
            "f32 4x4x4: use b, 2.00 times as fast as the rule's a (20.0 GFLOP/s)."
        );
        let cells: Vec<String> = lines(&clear).into_iter().map(|line| line.cells[3].clone()).collect();
        assert_eq!(cells, ["2.00", "1.00", "-"]);
        let same = product(&[("a", [Some(0.1), Some(0.1)]), ("b", [Some(0.2), Some(0.2)])]);
        assert!(sentence(&same).unwrap().contains("the rule's a is the fastest"));
        let noisy = product(&[("a", [Some(0.12), Some(0.2)]), ("b", [Some(0.11), Some(0.19)])]);
        assert!(sentence(&noisy).unwrap().contains("within what times vary"));
        assert_eq!(sentence(&product(&[])), None, "a device without a choice");
    }
}
