//! What weights of fewer bits gain and what decoding them costs. The eight-bit weights are blocks of 32 with a scale in
//! f16, like q8_0: 34 bytes for 32 weights. Formats of fewer bits follow when the engine can hold them.

use super::{Bench, Findings, Line};
use crate::table::digits;
use crate::timing::Time;
use fornax::{DType, Result, Tensor, eval};

/// Weights that share a scale.
const BLOCK: usize = 32;
/// Rows of a prompt.
const ROWS: usize = 64;

/// The matrix `[outputs, inputs]` in three formats.
struct Weights {
    f32: Tensor,
    f16: Tensor,
    /// `[outputs, inputs / 32, 32]`, 128 for zero.
    codes: Tensor,
    /// `[outputs, inputs / 32, 1]`.
    scales: Tensor,
}

impl Weights {
    fn new(outputs: usize, inputs: usize, device: &fornax::Device) -> Result<Weights> {
        let f32 = Tensor::randn(&[outputs, inputs], DType::F32, device)?;
        let blocks = f32.reshape(&[outputs as isize, (inputs / BLOCK) as isize, BLOCK as isize])?;
        let scales = blocks.abs()?.max(&[2], true)?.div(127.0)?.to_dtype(DType::F16)?;
        let codes = blocks.div(&scales.to_dtype(DType::F32)?)?.round()?.clamp(-127.0, 127.0)?.add(128.0)?;
        let (codes, f16) = (codes.to_dtype(DType::U8)?, f32.to_dtype(DType::F16)?);
        eval(&[&f32, &f16, &codes, &scales])?;
        Ok(Weights { f32, f16, codes, scales })
    }

    /// The weights that the codes stand for, in f32 and blocks; nothing is computed yet.
    fn decoded(&self) -> Result<Tensor> {
        // Spread out before they are cast, or the cast of the scales would be a kernel of its own.
        let scales = self.scales.broadcast_to(self.codes.shape())?.to_dtype(DType::F32)?;
        self.codes.to_dtype(DType::F32)?.sub(128.0)?.mul(&scales)
    }
}

/// A way to multiply rows by the weights, with the bytes of the weights that it reads.
struct Way {
    label: &'static str,
    bytes: f64,
    product: Box<dyn Fn() -> Result<Tensor>>,
}

fn ways(rows: usize, weights: &Weights) -> Result<Vec<Way>> {
    let (outputs, inputs) = (weights.f32.shape()[0], weights.f32.shape()[1]);
    let x = Tensor::randn(&[rows, inputs], DType::F32, weights.f32.device())?;
    let half = x.to_dtype(DType::F16)?;
    eval(&[&x, &half])?;
    let count = (outputs * inputs) as f64;
    let coded = count * (BLOCK + 2) as f64 / BLOCK as f64;
    let way = |label, bytes, product: Box<dyn Fn() -> Result<Tensor>>| Way { label, bytes, product };
    let (f32, f16, w) = (weights.f32.clone(), weights.f16.clone(), weights.handles());
    let (x1, h1, h2) = (x.clone(), half.clone(), half.clone());
    let mut all = vec![
        way("f32 weights", 4.0 * count, Box::new(move || x1.matmul(&f32.t()?))),
        way("f16 weights", 2.0 * count, Box::new(move || h1.matmul(&f16.t()?)?.to_dtype(DType::F32))),
        way(
            "q8 decoded, then f16 product",
            coded,
            Box::new(move || {
                let decoded = w.decoded()?.to_dtype(DType::F16)?;
                let decoded = decoded.reshape(&[outputs as isize, inputs as isize])?.fence();
                h2.matmul(&decoded.t()?)?.to_dtype(DType::F32)
            }),
        ),
    ];
    if rows == 1 {
        // One row is a weighted sum of each row of weights: decoding fuses into it.
        let blocks = x.reshape(&[1, (inputs / BLOCK) as isize, BLOCK as isize])?;
        let (f16, w, b1) = (weights.f16.clone(), weights.handles(), blocks.clone());
        let shape = [outputs as isize, (inputs / BLOCK) as isize, BLOCK as isize];
        let sum = |products: Tensor| products.sum(&[1, 2], false)?.reshape(&[1, -1]);
        all.push(way(
            "f16 in the sum",
            2.0 * count,
            Box::new(move || sum(f16.reshape(&shape)?.to_dtype(DType::F32)?.mul(&b1)?)),
        ));
        all.push(way("q8 decoded in the sum", coded, Box::new(move || sum(w.decoded()?.mul(&blocks)?))));
    }
    Ok(all)
}

impl Weights {
    fn handles(&self) -> Weights {
        let [f32, f16, codes, scales] = [&self.f32, &self.f16, &self.codes, &self.scales].map(Tensor::clone);
        Weights { f32, f16, codes, scales }
    }
}

/// A way that was timed.
struct Timed {
    label: &'static str,
    rows: usize,
    bytes: f64,
    time: Time,
}

pub fn run(bench: &Bench) -> Result<Findings> {
    let (outputs, inputs) = if bench.quick { (256, 512) } else { (8192, 4096) };
    let weights = Weights::new(outputs, inputs, &bench.device)?;
    let (mut lines, mut timed) = (vec![], vec![]);
    for rows in [1, ROWS] {
        let mut exact: Option<Tensor> = None;
        let mut f16 = f64::NAN;
        for Way { label, bytes, product } in ways(rows, &weights)? {
            let result = product()?;
            let exact: &Tensor = exact.get_or_insert(result.clone());
            let size = |x: &Tensor| -> Result<f32> { x.sqr()?.sum_all()?.sqrt()?.item() };
            let error = size(&result.sub(exact)?)? / size(exact)?;
            let time = bench.time(|| product()?.eval())?;
            if label == "f16 weights" {
                f16 = time.median;
            }
            lines.push(Line {
                label: format!("{label}, {rows} row{}", if rows == 1 { "" } else { "s" }),
                cells: vec![
                    digits(bytes / 1e6),
                    digits(time.median * 1e3),
                    digits(time.spread * 1e3),
                    digits(bytes / time.median / 1e9),
                    if f16.is_finite() { digits(time.median / f16) } else { "-".into() },
                    format!("{error:.0e}"),
                ],
                value: Some(time.median * 1e3),
                spread: time.spread * 1e3,
            });
            timed.push(Timed { label, rows, bytes, time });
        }
    }
    let advice = advice(&timed);
    Ok(Findings {
        title: "Quantisation: what do weights of fewer bits gain?",
        about: format!(
            "Rows times {outputs} x {inputs} weights in f32, f16, and 8 bits with a scale in f16 for every {BLOCK}; \
             error against f32, weights drawn from a normal distribution."
        ),
        columns: vec!["weights", "MB", "ms", "spread", "GB/s", "of f16", "error"],
        lines,
        axis: "milliseconds",
        advice,
    })
}

fn advice(timed: &[Timed]) -> String {
    let of = |label: &str, rows: usize| timed.iter().find(|t| t.label == label && t.rows == rows);
    let mut out = String::new();
    if let (Some(half), Some(coded), Some(sum)) =
        (of("f16 weights", 1), of("q8 decoded in the sum", 1), of("f16 in the sum", 1))
    {
        let (time, bytes) = (coded.time.median / half.time.median, coded.bytes / half.bytes);
        out += &match time < 1.0 {
            true => format!("One row: 8-bit weights decoded in the sum take {time:.2} of f16's time"),
            false => format!(
                "One row: stay with f16; 8-bit weights decoded in the sum take {time:.2} times as long"
            ),
        };
        let decoding = coded.time.median / sum.time.median / bytes;
        out += &format!(
            ", with {bytes:.2} of its bytes. Against the same sum over f16, decoding costs {decoding:.2} times what \
             the bytes alone would take."
        );
    }
    if let (Some(half), Some(coded)) = (of("f16 weights", ROWS), of("q8 decoded, then f16 product", ROWS)) {
        let ratio = coded.time.median / half.time.median;
        out += &match ratio > 1.0 {
            true => format!(
                " {ROWS} rows: decoding first takes {ratio:.2} times as long as f16, {} ms more for each use; decode \
                 once if a matrix is used often.",
                digits((coded.time.median - half.time.median) * 1e3)
            ),
            false => {
                format!(" {ROWS} rows: decoding first takes {ratio:.2} of f16's time: decode at every use.")
            }
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fornax::Device;

    #[test]
    fn eight_bits_are_close_and_fuse_into_the_sum() {
        let weights = Weights::new(64, 128, &Device::cpu()).unwrap();
        let ways = ways(1, &weights).unwrap();
        let values = |way: &Way| (way.product)().unwrap().to_vec::<f32>().unwrap();
        let exact = values(&ways[0]);
        let scale = exact.iter().map(|v| v * v).sum::<f32>().sqrt();
        for way in &ways {
            let apart = exact.iter().zip(values(way)).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
            assert!(apart / scale < 0.02, "{}: {apart} of {scale}", way.label);
        }
        let launches = |way: &Way| (way.product)().unwrap().plan().unwrap().steps.len();
        assert_eq!(ways.iter().map(launches).collect::<Vec<_>>(), [1, 1, 2, 1, 1]);
    }

    #[test]
    fn the_advice_depends_on_who_is_faster() {
        let timed =
            |label, rows, bytes, median| Timed { label, rows, bytes, time: Time { median, spread: 0.0 } };
        let of = |coded: f64| {
            advice(&[
                timed("f16 weights", 1, 64.0, 0.002),
                timed("f16 in the sum", 1, 64.0, 0.002),
                timed("q8 decoded in the sum", 1, 34.0, coded),
                timed("f16 weights", ROWS, 64.0, 0.010),
                timed("q8 decoded, then f16 product", ROWS, 34.0, 0.015),
            ])
        };
        assert!(of(0.0012).contains("0.60 of f16's time, with 0.53 of its bytes"), "{}", of(0.0012));
        assert!(of(0.0012).contains("1.50 times as long as f16, 5.00 ms more"));
        assert!(of(0.004).starts_with("One row: stay with f16"));
    }
}
