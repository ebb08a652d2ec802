//! Matrix products: square ones, those of GPT-2's layers, and products of few rows.

use super::{Case, Prepared, Roof, case, randn_of, wall};
use fornax::{DType, Device, Result, Tensor, eval};

/// How weights lie: `[k, n]`, or `[n, k]` and used transposed.
#[derive(Clone, Copy)]
enum Layout {
    Plain,
    Turned,
}

/// (outputs, inputs) of GPT-2's layers.
const LAYERS: [(usize, usize); 4] = [(768, 768), (3072, 768), (768, 3072), (50257, 768)];

pub fn all() -> Vec<Case> {
    let mut all = vec![
        case("matmul_f32_512", |d| matmul([512; 3], DType::F32, d)),
        case("matmul_f32_1024", |d| matmul([1024; 3], DType::F32, d)),
        case("matmul_f32_2048", |d| matmul([2048; 3], DType::F32, d)),
    ];
    all.extend(LAYERS.map(|shape| layer("forward", shape, DType::F32)));
    for dtype in [DType::F32, DType::F16] {
        all.push(rows(1, Layout::Plain, dtype));
    }
    all
}

pub fn gpu() -> Vec<Case> {
    let mut all = vec![];
    for dtype in [DType::F32, DType::F16] {
        // The smaller one of f32 is among the cases of all devices.
        for n in if dtype == DType::F32 { vec![4096] } else { vec![2048, 4096] } {
            all.push(case(&format!("matmul_{dtype}_{n}"), move |d| matmul([n; 3], dtype, d)));
        }
        all.push(rows(1, Layout::Turned, dtype));
        for m in [2, 4, 8] {
            all.extend([Layout::Plain, Layout::Turned].map(|layout| rows(m, layout, dtype)));
        }
        for shape in LAYERS {
            for which in ["forward", "input", "weight"] {
                if (dtype, which) != (DType::F32, "forward") {
                    all.push(layer(which, shape, dtype));
                }
            }
        }
        all.extend(["forward", "input", "weight"].map(|which| calls(which, LAYERS[0], dtype)));
        all.push(chain(LAYERS[0].0, dtype));
    }
    all
}

fn arithmetic(dtype: DType) -> Roof {
    if dtype == DType::F16 { Roof::F16 } else { Roof::F32 }
}

/// `[m, n, k]`.
fn matmul([m, n, k]: [usize; 3], dtype: DType, device: &Device) -> Result<Prepared> {
    let operand = |shape: &[usize]| randn_of(shape, dtype, device);
    let (x, y) = (operand(&[m, k])?, operand(&[k, n])?);
    let bytes = dtype.size() as f64 * (m * k + k * n + m * n) as f64;
    let call = Prepared::new(move || x.matmul(&y)?.eval());
    Ok(call.needs(Roof::Memory, bytes).needs(arithmetic(dtype), 2.0 * (m * n * k) as f64))
}

/// A few rows by each of several weights; per product. None is in a cache when its turn comes, as in a model.
fn rows(m: usize, layout: Layout, dtype: DType) -> Case {
    const WEIGHTS: usize = 8;
    let (n, k) = (8192, 4096);
    let name = match (m, layout) {
        (1, Layout::Plain) => format!("gemv_{dtype}_{n}x{k}"),
        (m, Layout::Plain) => format!("rows{m}_{dtype}_{n}x{k}"),
        (m, Layout::Turned) => format!("rows{m}_{dtype}_{n}x{k}_turned"),
    };
    case(&name, move |device| {
        let x = randn_of(&[m, k], dtype, device)?;
        let weights = (0..WEIGHTS).map(|_| match layout {
            Layout::Plain => randn_of(&[k, n], dtype, device),
            Layout::Turned => randn_of(&[n, k], dtype, device)?.t(),
        });
        let weights = weights.collect::<Result<Vec<_>>>()?;
        let call = move || {
            let products = weights.iter().map(|w| x.matmul(w)).collect::<Result<Vec<_>>>()?;
            eval(&products.iter().collect::<Vec<_>>())
        };
        let bytes = (WEIGHTS * dtype.size() * (m * k + k * n + m * n)) as f64;
        let operations = 2.0 * (WEIGHTS * m * n * k) as f64;
        let call = Prepared::new(call).in_parts(WEIGHTS as u64);
        Ok(call.needs(Roof::Memory, bytes).needs(arithmetic(dtype), operations))
    })
}

/// Rows of a layer's input.
const ROWS: usize = 512;

/// One of the three products of a linear layer: `[512, k] x [k, n]` and its gradients.
fn layer(which: &'static str, (n, k): (usize, usize), dtype: DType) -> Case {
    case(&format!("linear_{which}_{dtype}_{ROWS}x{n}x{k}"), move |device| {
        let (left, right) = operands(which, (n, k), dtype, device)?;
        let call = move || left.matmul(&right)?.eval();
        Ok(Prepared::new(call).needs(arithmetic(dtype), 2.0 * (ROWS * n * k) as f64))
    })
}

/// The operands of one of these products.
fn operands(which: &str, (n, k): (usize, usize), dtype: DType, device: &Device) -> Result<(Tensor, Tensor)> {
    let operand = |shape: &[usize]| randn_of(shape, dtype, device);
    Ok(match which {
        "forward" => (operand(&[ROWS, k])?, operand(&[k, n])?),
        "input" => (operand(&[ROWS, n])?, operand(&[k, n])?.t()?),
        _ => (operand(&[ROWS, k])?.t()?, operand(&[ROWS, n])?),
    })
}

/// Square layers of which each needs what the one before gave; per layer. As short as these are, they spend more time on
/// waiting than on computing.
fn chain(n: usize, dtype: DType) -> Case {
    const COUNT: usize = 64;
    case(&format!("linear_chain_{dtype}_{ROWS}x{n}x{n}"), move |device| {
        let (x, w) = operands("forward", (n, n), dtype, device)?;
        // Values neither grow nor fade.
        let w = w.mul((n as f64).powf(-0.5))?;
        w.eval()?;
        let call = move || {
            let mut x = x.clone();
            for _ in 0..COUNT {
                x = x.matmul(&w)?;
            }
            x.eval()
        };
        let operations = 2.0 * (ROWS * n * n * COUNT) as f64;
        Ok(Prepared::new(call).in_parts(COUNT as u64).needs(arithmetic(dtype), operations))
    })
}

/// Such products as a program calls them, each evaluated by itself, by the wall; per product. Their results stay, as those
/// that somebody wants do.
fn calls(which: &'static str, (n, k): (usize, usize), dtype: DType) -> Case {
    const COUNT: usize = 256;
    wall(&format!("linear_{which}_{dtype}_{ROWS}x{n}x{k}_calls"), move |device| {
        let (left, right) = operands(which, (n, k), dtype, device)?;
        let call = move || {
            let one = |_| {
                let product = left.matmul(&right)?;
                product.eval()?;
                Ok(product)
            };
            (0..COUNT).map(one).collect::<Result<Vec<_>>>().map(drop)
        };
        let operations = 2.0 * (ROWS * n * k * COUNT) as f64;
        Ok(Prepared::new(call).in_parts(COUNT as u64).needs(arithmetic(dtype), operations))
    })
}
