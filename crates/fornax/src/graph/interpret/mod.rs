//! The reference interpreter: the living definition of every [`Op`]. Floats are held as f64, everything
//! else as i64; each node's values are rounded to its dtype when it is done, and sums are carried
//! unrounded. It is meant to be read and believed, not to be fast; devices are checked against it.

mod array;
mod attention;

pub use array::{Array, Data};

use super::{Binary, Graph, Node, NodeId, Op, Random, Reduce, Unary};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::random::{threefry, unit};
use crate::view::{Dims, View, each_coord, numel, row_major};
use attention::Attention;
use smallvec::SmallVec;
use std::cmp::Ordering;

fn wrong(what: &str) -> Error {
    Error::Internal(format!("the interpreter met {what}"))
}

/// Computes the outputs of a graph, as row-major bytes.
pub fn interpret(
    graph: &Graph,
    inputs: &[(NodeId, Vec<u8>)],
    scalars: &[(NodeId, Scalar)],
) -> Result<Vec<Vec<u8>>> {
    let mut uses = vec![0usize; graph.len()];
    let sources = graph.iter().flat_map(|(_, node)| node.src.iter());
    sources.chain(&graph.outputs).for_each(|s| uses[s.index()] += 1);
    let mut values: Vec<Option<Array>> = vec![None; graph.len()];
    for (id, n) in graph.iter() {
        let value = if n.op == Op::Input {
            let found = inputs.iter().find(|(input, _)| *input == id);
            let (_, bytes) = found.ok_or_else(|| wrong("an input without data"))?;
            Array::from_bytes(bytes, &n.shape, n.dtype)
        } else {
            let scalar = scalars.iter().find(|(s, _)| *s == id).map(|(_, v)| *v);
            let src: Option<SmallVec<[&Array; 3]>> =
                n.src.iter().map(|s| values[s.index()].as_ref()).collect();
            node(n, &src.ok_or_else(|| wrong("a source that is gone"))?, scalar)?
        };
        values[id.index()] = Some(value);
        for s in &n.src {
            uses[s.index()] -= 1;
            if uses[s.index()] == 0 {
                values[s.index()] = None;
            }
        }
    }
    let output = |id: &NodeId| values[id.index()].as_ref().map(Array::to_bytes);
    graph.outputs.iter().map(|id| output(id).ok_or_else(|| wrong("an output that is gone"))).collect()
}

/// Computes one node from its sources' values; `scalar` is the value of an [`Op::Scalar`].
pub fn node(node: &Node, src: &[&Array], scalar: Option<Scalar>) -> Result<Array> {
    let (shape, dtype, n) = (&node.shape[..], node.dtype, node.numel());
    let constant = |value: Scalar| match dtype.is_float() {
        true => Array::floats(shape, dtype, vec![value.as_f64(); n]),
        false => Array::ints(shape, dtype, vec![value.as_i64(); n]),
    };
    Ok(match &node.op {
        Op::Input => return Err(wrong("an input without data")),
        Op::Scalar => {
            let value = scalar.ok_or_else(|| wrong("a scalar without a value"))?;
            constant(Scalar::from_bits(value.to_bits(dtype), dtype))
        }
        Op::Literal(bits) => constant(Scalar::from_bits(*bits, dtype)),
        Op::Iota if dtype.is_float() => Array::floats(shape, dtype, (0..n).map(|i| i as f64).collect()),
        Op::Iota => Array::ints(shape, dtype, (0..n as i64).collect()),
        Op::Random(kind) => {
            let (seed, stream) = (src[0].int()?[0] as u32, src[1].int()?[0] as u32);
            let words = (0..n as u64).map(|i| threefry(seed, stream, i));
            match kind {
                Random::Bits => Array::ints(shape, dtype, words.map(|w| w.0 as i64).collect()),
                Random::Uniform => Array::floats(shape, dtype, words.map(|w| unit(w.0) as f64).collect()),
                // 1 - unit is never 0, so the logarithm is finite.
                Random::Normal => {
                    let normal = |(a, b): (u32, u32)| {
                        let radius = (-2.0 * (1.0 - unit(a) as f64).ln()).sqrt();
                        radius * (std::f64::consts::TAU * unit(b) as f64).cos()
                    };
                    Array::floats(shape, dtype, words.map(normal).collect())
                }
            }
        }
        Op::Unary(op) => match &src[0].data {
            Data::Float(x) => Array::floats(shape, dtype, x.iter().map(|&x| unary(*op, x)).collect()),
            Data::Int(x) => Array::ints(shape, dtype, x.iter().map(|&x| unary_int(*op, x)).collect()),
        },
        Op::Binary(op) => match (&src[0].data, &src[1].data) {
            (Data::Float(a), Data::Float(b)) if op.is_comparison() => {
                let compare = |(&a, &b): (&f64, &f64)| match op {
                    Binary::Eq => a == b,
                    Binary::Ne => a != b,
                    Binary::Lt => a < b,
                    _ => a <= b,
                };
                Array::ints(shape, dtype, a.iter().zip(b).map(|p| compare(p) as i64).collect())
            }
            (Data::Float(a), Data::Float(b)) => {
                Array::floats(shape, dtype, a.iter().zip(b).map(|(&a, &b)| binary(*op, a, b)).collect())
            }
            (Data::Int(a), Data::Int(b)) => {
                Array::ints(shape, dtype, a.iter().zip(b).map(|(&a, &b)| binary_int(*op, a, b)).collect())
            }
            _ => return Err(wrong("operands of two kinds")),
        },
        Op::Where => {
            let condition = src[0].int()?;
            match (&src[1].data, &src[2].data) {
                (Data::Float(a), Data::Float(b)) => {
                    let pick = |i: usize| if condition[i] != 0 { a[i] } else { b[i] };
                    Array::floats(shape, dtype, (0..n).map(pick).collect())
                }
                (Data::Int(a), Data::Int(b)) => {
                    let pick = |i: usize| if condition[i] != 0 { a[i] } else { b[i] };
                    Array::ints(shape, dtype, (0..n).map(pick).collect())
                }
                _ => return Err(wrong("branches of two kinds")),
            }
        }
        Op::Cast => cast(src[0], dtype),
        Op::Reshape | Op::After => Array { shape: node.shape.clone(), dtype, data: src[0].data.clone() },
        Op::Permute(axes) => src[0].viewed(&View::contiguous(&src[0].shape).permute(axes)),
        Op::Expand => src[0].viewed(&View::contiguous(&src[0].shape).expand(shape)),
        Op::Slice(ranges) => src[0].viewed(&View::contiguous(&src[0].shape).slice(ranges)),
        Op::Pad(amounts) => src[0].viewed(&View::contiguous(&src[0].shape).pad(amounts)),
        Op::Reduce(op, axes) => reduce(*op, axes, src[0], shape, dtype),
        Op::Cumsum(axis) => {
            let mut out = src[0].clone();
            for_lanes(shape, *axis, |lane| match &mut out.data {
                Data::Float(v) => (1..lane.len()).for_each(|i| v[lane[i]] += v[lane[i - 1]]),
                Data::Int(v) => {
                    (1..lane.len()).for_each(|i| v[lane[i]] = v[lane[i]].wrapping_add(v[lane[i - 1]]))
                }
            });
            match out.data {
                Data::Float(v) => Array::floats(shape, dtype, v),
                Data::Int(v) => Array::ints(shape, dtype, v),
            }
        }
        Op::ArgSort { axis, descending } => {
            let mut out = vec![0i64; n];
            for_lanes(shape, *axis, |lane| {
                let compare = |&a: &usize, &b: &usize| match &src[0].data {
                    Data::Float(v) => order(v[lane[a]], v[lane[b]]),
                    Data::Int(v) => v[lane[a]].cmp(&v[lane[b]]),
                };
                let mut positions: Vec<usize> = (0..lane.len()).collect();
                match descending {
                    true => positions.sort_by(|a, b| compare(b, a)),
                    false => positions.sort_by(compare),
                }
                positions.iter().zip(lane).for_each(|(&p, &at)| out[at] = p as i64);
            });
            Array::ints(shape, dtype, out)
        }
        Op::MatMul => matmul(src[0], src[1], shape, dtype)?,
        Op::Gather(axis) => {
            let from = View::contiguous(&src[0].shape);
            let at = indexed(&from, *axis, src[1], "gather")?;
            match &src[0].data {
                Data::Float(v) => Array::floats(shape, dtype, at.iter().map(|&i| v[i]).collect()),
                Data::Int(v) => Array::ints(shape, dtype, at.iter().map(|&i| v[i]).collect()),
            }
        }
        Op::ScatterAdd(axis) => {
            let at = indexed(&View::contiguous(shape), *axis, src[1], "scatter_add")?;
            match (&src[0].data, &src[2].data) {
                (Data::Float(base), Data::Float(value)) => {
                    let mut out = base.clone();
                    at.iter().zip(value).for_each(|(&at, v)| out[at] += v);
                    Array::floats(shape, dtype, out)
                }
                (Data::Int(base), Data::Int(value)) => {
                    let mut out = base.clone();
                    at.iter().zip(value).for_each(|(&at, v)| out[at] = out[at].wrapping_add(*v));
                    Array::ints(shape, dtype, out)
                }
                _ => return Err(wrong("a base and a value of two kinds")),
            }
        }
        Op::Cat(axis) => {
            let mut out = constant(Scalar::Int(0));
            let mut view = View::contiguous(shape);
            for part in src {
                view.shape = part.shape.clone();
                let mut i = 0;
                each_coord(&part.shape, |c| {
                    let at = view.at(c).unwrap_or(0);
                    match (&mut out.data, &part.data) {
                        (Data::Float(to), Data::Float(from)) => to[at] = from[i],
                        (Data::Int(to), Data::Int(from)) => to[at] = from[i],
                        _ => {}
                    }
                    i += 1;
                });
                view.offset += view.strides[*axis] * part.shape[*axis] as isize;
            }
            out
        }
        Op::Attention(spec) => {
            let a = Attention::new(src[0], src[1], src[2], src.get(3).copied(), spec)?;
            let mut out = vec![0.0; n];
            a.rows(|h, i, scores, lse| {
                for (j, s) in scores.iter().enumerate().filter(|(_, s)| **s > f64::NEG_INFINITY || s.is_nan())
                {
                    for d in 0..a.dv {
                        out[a.out_at(h, i, d)] += (s - lse).exp() * a.v[a.v_at(h, j, d)];
                    }
                }
            });
            Array::floats(shape, dtype, out)
        }
        Op::AttentionLse(spec) => {
            let a = Attention::new(src[0], src[1], src[2], src.get(3).copied(), spec)?;
            let mut out = vec![0.0; n];
            a.rows(|h, i, _, lse| out[h * a.tq + i] = lse);
            Array::floats(shape, dtype, out)
        }
        Op::AttentionGrad(spec, side) => {
            let a = Attention::new(src[0], src[1], src[2], src.get(6).copied(), spec)?;
            let gradient = a.gradient(*side, src[3].float()?, src[4].float()?, src[5].float()?, n);
            Array::floats(shape, dtype, gradient)
        }
    })
}

fn unary(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sign if x == 0.0 || x.is_nan() => x,
        Unary::Sign => x.signum(),
        Unary::Recip => 1.0 / x,
        Unary::Sqrt => x.sqrt(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Exp2 => x.exp2(),
        Unary::Expm1 => x.exp_m1(),
        Unary::Log => x.ln(),
        Unary::Log2 => x.log2(),
        Unary::Log1p => x.ln_1p(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Sinh => x.sinh(),
        Unary::Cosh => x.cosh(),
        Unary::Tanh => x.tanh(),
        Unary::Erf => erf(x),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round_ties_even(),
        Unary::Trunc => x.trunc(),
        Unary::Not => (x == 0.0) as i64 as f64,
    }
}

/// `2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!`: all terms have one sign, so nothing cancels.
fn erf(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 6.0 {
        return if x.is_nan() { x } else { x.signum() };
    }
    let (mut sum, mut term, mut n) = (0.0, x, 0.0);
    while sum + term != sum {
        sum += term;
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

fn unary_int(op: Unary, x: i64) -> i64 {
    match op {
        Unary::Neg => x.wrapping_neg(),
        Unary::Abs => x.wrapping_abs(),
        Unary::Sign => x.signum(),
        Unary::Not => (x == 0) as i64,
        _ => x,
    }
}

fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => a - b * (a / b).floor(),
        Binary::Pow => a.powf(b),
        Binary::Max if a.is_nan() || b.is_nan() => f64::NAN,
        Binary::Max => a.max(b),
        Binary::Min if a.is_nan() || b.is_nan() => f64::NAN,
        Binary::Min => a.min(b),
        Binary::Atan2 => a.atan2(b),
        // Comparisons give bool and the rest is for integers; neither gets here.
        _ => f64::NAN,
    }
}

fn binary_int(op: Binary, a: i64, b: i64) -> i64 {
    match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Rem if b == 0 => 0,
        Binary::Div => {
            let towards_zero = a.wrapping_div(b);
            if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { towards_zero - 1 } else { towards_zero }
        }
        Binary::Rem => {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
        Binary::Pow => power(a, b),
        Binary::Max => a.max(b),
        Binary::Min => a.min(b),
        Binary::Atan2 => 0,
        Binary::Eq => (a == b) as i64,
        Binary::Ne => (a != b) as i64,
        Binary::Lt => (a < b) as i64,
        Binary::Le => (a <= b) as i64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
    }
}

/// Integer power modulo 2^64; with a negative exponent the true value truncated (0 but for bases 1 and -1).
fn power(base: i64, exponent: i64) -> i64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut left) = (1i64, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    result
}

fn cast(x: &Array, dtype: DType) -> Array {
    let saturate = |v: f64| match dtype {
        DType::Bool => (v != 0.0) as i64,
        DType::I32 => v as i32 as i64,
        DType::U32 => v as u32 as i64,
        DType::U8 => v as u8 as i64,
        _ => v as i64,
    };
    let widen = |v: i64| if dtype == DType::F32 { v as f32 as f64 } else { v as f64 };
    match (&x.data, dtype.is_float()) {
        (Data::Float(v), true) => Array::floats(&x.shape, dtype, v.clone()),
        (Data::Float(v), false) => Array::ints(&x.shape, dtype, v.iter().map(|&v| saturate(v)).collect()),
        (Data::Int(v), true) => Array::floats(&x.shape, dtype, v.iter().map(|&v| widen(v)).collect()),
        (Data::Int(v), false) => Array::ints(&x.shape, dtype, v.clone()),
    }
}

/// Total order in which NaN is largest.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Calls `f` with the addresses of each line of elements along an axis.
fn for_lanes(shape: &[usize], axis: usize, mut f: impl FnMut(&[usize])) {
    let stride = row_major(shape)[axis] as usize;
    let mut starts: Dims = shape.into();
    starts[axis] = shape[axis].min(1);
    let view = View { shape: starts.clone(), ..View::contiguous(shape) };
    each_coord(&starts, |c| {
        let start = view.at(c).unwrap_or(0);
        let lane: Vec<usize> = (0..shape[axis]).map(|i| start + i * stride).collect();
        f(&lane);
    });
}

fn reduce(op: Reduce, axes: &[usize], x: &Array, shape: &[usize], dtype: DType) -> Array {
    let n = numel(shape);
    // Where an element goes, and its position among those that go there.
    let to = View::contiguous(shape).expand(&x.shape);
    let mut position = View { strides: SmallVec::from_elem(0, x.shape.len()), ..View::contiguous(&x.shape) };
    let reduced: Dims = axes.iter().map(|&a| x.shape[a]).collect();
    axes.iter().zip(row_major(&reduced)).for_each(|(&a, s)| position.strides[a] = s);
    if matches!(op, Reduce::ArgMax | Reduce::ArgMin) {
        let mut best: Vec<Option<(usize, i64)>> = vec![None; n];
        let mut i = 0;
        each_coord(&x.shape, |c| {
            let (at, p) = (to.at(c).unwrap_or(0), position.at(c).unwrap_or(0));
            let better = best[at].is_none_or(|(other, _)| {
                let sides = match &x.data {
                    Data::Float(v) if op == Reduce::ArgMin && (v[i].is_nan() || v[other].is_nan()) => {
                        v[other].is_nan().cmp(&v[i].is_nan())
                    }
                    Data::Float(v) => order(v[i], v[other]),
                    Data::Int(v) => v[i].cmp(&v[other]),
                };
                sides == if op == Reduce::ArgMax { Ordering::Greater } else { Ordering::Less }
            });
            if better {
                best[at] = Some((i, p as i64));
            }
            i += 1;
        });
        return Array::ints(shape, dtype, best.iter().map(|b| b.map_or(0, |(_, p)| p)).collect());
    }
    let mut i = 0;
    match &x.data {
        Data::Float(v) => {
            let (start, f): (f64, fn(f64, f64) -> f64) = match op {
                Reduce::Sum => (0.0, |a, b| a + b),
                Reduce::Prod => (1.0, |a, b| a * b),
                Reduce::Max => (f64::NEG_INFINITY, |a, b| binary(Binary::Max, a, b)),
                _ => (f64::INFINITY, |a, b| binary(Binary::Min, a, b)),
            };
            let mut out = vec![start; n];
            each_coord(&x.shape, |c| {
                let at = to.at(c).unwrap_or(0);
                out[at] = f(out[at], v[i]);
                i += 1;
            });
            Array::floats(shape, dtype, out)
        }
        Data::Int(v) => {
            let is_bool = dtype == DType::Bool;
            let (start, f): (i64, fn(i64, i64) -> i64) = match op {
                Reduce::Sum => (0, i64::wrapping_add),
                Reduce::Prod => (1, i64::wrapping_mul),
                Reduce::Max => (if is_bool { 0 } else { i64::MIN }, i64::max),
                _ => (if is_bool { 1 } else { i64::MAX }, i64::min),
            };
            let mut out = vec![start; n];
            each_coord(&x.shape, |c| {
                let at = to.at(c).unwrap_or(0);
                out[at] = f(out[at], v[i]);
                i += 1;
            });
            Array::ints(shape, dtype, out)
        }
    }
}

fn matmul(a: &Array, b: &Array, shape: &[usize], dtype: DType) -> Result<Array> {
    let rank = shape.len();
    let (m, n, k) = (shape[rank - 2], shape[rank - 1], a.shape[rank - 1]);
    let batches = numel(&shape[..rank - 2]);
    // The element of the product at (batch, row, column) is the sum of these pairs.
    let pairs = |at: usize| {
        let (batch, i, j) = (at / (m * n), at / n % m, at % n);
        (0..k).map(move |l| ((batch * m + i) * k + l, (batch * k + l) * n + j))
    };
    let all = 0..batches * m * n;
    Ok(match (&a.data, &b.data) {
        (Data::Float(a), Data::Float(b)) => {
            let sum = |at| pairs(at).map(|(i, j)| a[i] * b[j]).sum();
            Array::floats(shape, dtype, all.map(sum).collect())
        }
        (Data::Int(a), Data::Int(b)) => {
            let sum = |at| pairs(at).fold(0i64, |s, (i, j)| s.wrapping_add(a[i].wrapping_mul(b[j])));
            Array::ints(shape, dtype, all.map(sum).collect())
        }
        _ => return Err(wrong("factors of two kinds")),
    })
}

/// For every element of `index` the address in `view` of its coordinate with the index put in at `axis`.
fn indexed(view: &View, axis: usize, index: &Array, op: &'static str) -> Result<Vec<usize>> {
    let (mut out, mut bad, size) = (vec![], None, view.shape[axis]);
    let values = index.int()?;
    each_coord(&index.shape, |c| {
        let value = values[out.len()];
        let mut coord: Dims = c.into();
        coord[axis] = value as usize;
        if value < 0 || value as usize >= size {
            bad = bad.or(Some(value));
            coord[axis] = 0;
        }
        out.push(view.at(&coord).unwrap_or(0));
    });
    match bad {
        Some(bad) => {
            Err(Error::Index { op, detail: format!("index {bad} is outside 0..{size} of axis {axis}") })
        }
        None => Ok(out),
    }
}
