//! How large the tiles of a product should be: every form that the device can choose from, timed.

use super::{Bench, Findings, Line};
use crate::table::digits;
use crate::timing::Time;
use fornax::profile::amounts;
use fornax::{DType, Result, Tensor};

/// Rows, columns and inner size: square, and two layers of GPT-2.
const SHAPES: [[usize; 3]; 3] = [[2048; 3], [512, 3072, 768], [512, 768, 3072]];
/// How often all forms are timed.
const REPEATS: usize = 3;

/// The forms of one product, the one that a rule would choose first, with what they took.
struct Product {
    label: String,
    operations: f64,
    forms: Vec<(String, Option<Time>)>,
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let device = &bench.device;
    let shapes = if bench.quick { &[[256; 3]][..] } else { &SHAPES };
    let mut products = vec![];
    for dtype in [DType::F32, DType::F16] {
        for &shape in shapes {
            products.push(product(bench, shape, dtype)?);
        }
    }
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
            true => {
                "Every form of a product, the one that a rule would choose first; how far times lay apart in \
                     several rounds."
                    .into()
            }
            false => "Nothing was tried.".into(),
        },
        columns: vec!["form", "ms", "spread", "GFLOP/s", "of the best"],
        lines: products.iter().flat_map(lines).collect(),
        axis: "GFLOP/s",
        advice: advice.join(" "),
    })
}

fn product(bench: &Bench, [m, n, k]: [usize; 3], dtype: DType) -> Result<Product> {
    let operand = |rows: usize, columns: usize| -> Result<Tensor> {
        let x = Tensor::randn(&[rows, columns], DType::F32, &bench.device)?.to_dtype(dtype)?;
        x.eval()?;
        Ok(x)
    };
    let plan = operand(m, k)?.matmul(&operand(k, n)?)?.plan()?;
    let rounds = (0..if bench.quick { 1 } else { REPEATS })
        .map(|_| {
            Ok(bench
                .device
                .alternatives(&plan, bench.write)?
                .into_iter()
                .flat_map(|(_, ways)| ways)
                .collect())
        })
        .collect::<Result<Vec<Vec<(String, Option<f64>)>>>>()?;
    Ok(Product {
        label: format!("{dtype} {m}x{n}x{k}"),
        operations: 2.0 * (m * n * k) as f64,
        forms: together(&rounds),
    })
}

/// What each form took over all rounds, in the order of the first.
fn together(rounds: &[Vec<(String, Option<f64>)>]) -> Vec<(String, Option<Time>)> {
    let names = rounds.first().into_iter().flatten().map(|(name, _)| name);
    let of = |name: &String| {
        let mut times: Vec<f64> = rounds
            .iter()
            .flatten()
            .filter(|(other, _)| other == name)
            .filter_map(|(_, time)| *time)
            .collect();
        times.sort_by(f64::total_cmp);
        let (first, last) = (times.first()?, times.last()?);
        // One round tells nothing about how far times lie apart.
        let spread = if times.len() > 1 { last - first } else { f64::NAN };
        Some(Time { median: times[times.len() / 2], spread })
    };
    names.map(|name| (name.clone(), of(name))).collect()
}

impl Product {
    fn best(&self) -> Option<(&str, Time)> {
        let timed = self.forms.iter().filter_map(|(name, time)| Some((name.as_str(), (*time)?)));
        timed.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    }
}

fn lines(product: &Product) -> Vec<Line> {
    let best = product.best().map_or(f64::NAN, |(_, time)| time.median);
    let line = |(form, time): &(String, Option<Time>)| Line {
        label: format!("{}, {form}", product.label),
        cells: match time {
            Some(time) => vec![
                digits(time.median * 1e3),
                digits(time.spread * 1e3),
                digits(product.operations / time.median / 1e9),
                format!("{:.2}", time.median / best),
            ],
            None => vec!["-".into(); 4],
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
    let ((rule, by_rule), (best, time)) = (product.forms.first()?, product.best()?);
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
        let round = |i: usize| times.iter().map(|(name, time)| (name.to_string(), time[i])).collect();
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
