//! What the ops mean: hand-computed values, and the corners (no elements, scalars, negative axes, NaN).

mod on;

use fornax::graph::interpret::{Array, Data};
use fornax::*;

fn cpu() -> Device {
    on::device()
}

fn f(data: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_slice(data, shape, &cpu()).unwrap()
}

fn i(data: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_slice(data, shape, &cpu()).unwrap()
}

fn b(data: &[bool], shape: &[usize]) -> Tensor {
    Tensor::from_slice(data, shape, &cpu()).unwrap()
}

/// Shape and values; floats within a few units in the last place of f32, NaN equal to NaN.
#[track_caller]
fn is(have: Result<Tensor>, shape: &[usize], want: &[f64]) {
    let have = have.unwrap();
    assert_eq!(have.shape(), shape);
    let values = floats(&have);
    assert_eq!(values.len(), want.len());
    let close =
        |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 2e-6 * (1.0 + b.abs());
    assert!(values.iter().zip(want).all(|(&a, &b)| close(a, b)), "{values:?}\nis not\n{want:?}");
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
/// The elements as f64, converted here: a device may lack the type.
fn floats(x: &Tensor) -> Vec<f64> {
    match Array::from_bytes(&x.to_bytes().unwrap(), x.shape(), x.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    }
}

const INF64: f64 = f64::INFINITY;

#[test]
fn creation() -> Result<()> {
    let d = &cpu();
    is(Tensor::zeros(&[2, 2], DType::F32, d), &[2, 2], &[0.0; 4]);
    is(Tensor::ones(&[2], DType::BF16, d), &[2], &[1.0; 2]);
    is(Tensor::ones(&[2], DType::Bool, d), &[2], &[1.0; 2]);
    is(Tensor::full(&[3], 2.5, DType::F32, d), &[3], &[2.5; 3]);
    is(Tensor::full(&[], 7, DType::I32, d), &[], &[7.0]);
    is(Tensor::full(&[2, 0, 3], 1.0, DType::F32, d), &[2, 0, 3], &[]);
    is(Tensor::scalar(-3, DType::I64, d), &[], &[-3.0]);
    is(f(&[5.0; 2], &[2]).zeros_like(), &[2], &[0.0; 2]);
    is(f(&[5.0; 2], &[2]).ones_like(), &[2], &[1.0; 2]);
    is(f(&[5.0; 2], &[2]).full_like(4), &[2], &[4.0; 2]);
    is(Tensor::arange(0, 5, 2, DType::I64, d), &[3], &[0.0, 2.0, 4.0]);
    is(Tensor::arange(5, 0, -2, DType::I32, d), &[3], &[5.0, 3.0, 1.0]);
    is(Tensor::arange(0.0, 1.0, 0.25, DType::F32, d), &[4], &[0.0, 0.25, 0.5, 0.75]);
    is(Tensor::arange(3, 3, 1, DType::F16, d), &[0], &[]);
    is(Tensor::linspace(-1.0, 1.0, 5, DType::F32, d), &[5], &[-1.0, -0.5, 0.0, 0.5, 1.0]);
    is(Tensor::linspace(2.0, 9.0, 1, DType::F32, d), &[1], &[2.0]);
    is(Tensor::linspace(2.0, 9.0, 0, DType::F32, d), &[0], &[]);
    is(Tensor::eye(2, DType::F32, d), &[2, 2], &[1.0, 0.0, 0.0, 1.0]);
    is(i(&[2, 0], &[2]).one_hot(3, DType::F32), &[2, 3], &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    let x = f(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    is(x.tril(0), &[2, 3], &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
    is(x.tril(-1), &[2, 3], &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    is(x.triu(1), &[2, 3], &[0.0, 2.0, 3.0, 0.0, 0.0, 6.0]);
    is(x.triu(isize::MIN), &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    is(x.tril(isize::MAX), &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    Ok(())
}

#[test]
fn random_numbers() -> Result<()> {
    let d = &cpu();
    manual_seed(3);
    let u = Tensor::rand(&[4096], DType::F32, d)?.to_vec::<f32>()?;
    let n = Tensor::randn(&[4096], DType::F32, d)?.to_vec::<f32>()?;
    manual_seed(3);
    assert_eq!(u, Tensor::rand(&[4096], DType::F32, d)?.to_vec::<f32>()?);
    assert!(u.iter().all(|v| (0.0..1.0).contains(v)));
    let mean = |v: &[f32]| v.iter().sum::<f32>() / v.len() as f32;
    assert!((mean(&u) - 0.5).abs() < 0.03);
    assert!(mean(&n).abs() < 0.06 && (mean(&n.iter().map(|v| v * v).collect::<Vec<_>>()) - 1.0).abs() < 0.1);
    let b = Tensor::bernoulli(0.25, &[4096], DType::F32, d)?.to_vec::<f32>()?;
    assert!((mean(&b) - 0.25).abs() < 0.05);
    let r = Tensor::randint(-3, 4, &[4096], DType::I64, d)?.to_vec::<i64>()?;
    assert!(r.iter().all(|v| (-3..4).contains(v)) && (-3..4).all(|v| r.contains(&v)));
    let x = Tensor::ones(&[4096], DType::F32, d)?;
    let dropped = x.dropout(0.5, true)?.to_vec::<f32>()?;
    assert!(dropped.iter().all(|&v| v == 0.0 || v == 2.0) && (mean(&dropped) - 1.0).abs() < 0.1);
    assert_eq!(x.dropout(0.5, false)?.id(), x.id());
    is(f(&[1.0, INF], &[2]).dropout(1.0, true), &[2], &[0.0, 0.0]);
    Ok(())
}

#[test]
fn unary() -> Result<()> {
    let x = f(&[-1.5, 0.0, 2.5, NAN], &[4]);
    is(x.neg(), &[4], &[1.5, 0.0, -2.5, f64::NAN]);
    is(x.abs(), &[4], &[1.5, 0.0, 2.5, f64::NAN]);
    is(x.sign(), &[4], &[-1.0, 0.0, 1.0, f64::NAN]);
    is(x.floor(), &[4], &[-2.0, 0.0, 2.0, f64::NAN]);
    is(x.ceil(), &[4], &[-1.0, 0.0, 3.0, f64::NAN]);
    is(x.round(), &[4], &[-2.0, 0.0, 2.0, f64::NAN]);
    is(x.trunc(), &[4], &[-1.0, 0.0, 2.0, f64::NAN]);
    is(x.relu(), &[4], &[0.0, 0.0, 2.5, f64::NAN]);
    is(x.leaky_relu(0.1), &[4], &[-0.15, 0.0, 2.5, f64::NAN]);
    is(x.elu(2.0), &[4], &[2.0 * (-1.5f64).exp_m1(), 0.0, 2.5, f64::NAN]);
    is(x.recip(), &[4], &[-1.0 / 1.5, INF64, 0.4, f64::NAN]);
    is(x.sqrt(), &[4], &[f64::NAN, 0.0, 2.5f64.sqrt(), f64::NAN]);
    is(x.log(), &[4], &[f64::NAN, -INF64, 2.5f64.ln(), f64::NAN]);
    is(x.isnan(), &[4], &[0.0, 0.0, 0.0, 1.0]);
    is(x.logical_not(), &[4], &[0.0, 1.0, 0.0, 0.0]);
    is(f(&[INF, -INF, 1.0, NAN], &[4]).isinf(), &[4], &[1.0, 1.0, 0.0, 0.0]);
    is(f(&[INF, -INF, 1.0, NAN], &[4]).isfinite(), &[4], &[0.0, 0.0, 1.0, 0.0]);
    is(i(&[1, 2], &[2]).isfinite(), &[2], &[1.0, 1.0]);
    is(i(&[1, 2], &[2]).isinf(), &[2], &[0.0, 0.0]);
    let x = f(&[0.3], &[]);
    type Pair = (fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);
    let pairs: [Pair; 18] = [
        (Tensor::exp, f64::exp),
        (Tensor::exp2, f64::exp2),
        (Tensor::expm1, f64::exp_m1),
        (Tensor::log2, f64::log2),
        (Tensor::log1p, f64::ln_1p),
        (Tensor::sin, f64::sin),
        (Tensor::cos, f64::cos),
        (Tensor::tan, f64::tan),
        (Tensor::asin, f64::asin),
        (Tensor::acos, f64::acos),
        (Tensor::atan, f64::atan),
        (Tensor::sinh, f64::sinh),
        (Tensor::cosh, f64::cosh),
        (Tensor::tanh, f64::tanh),
        (Tensor::rsqrt, |x| 1.0 / x.sqrt()),
        (Tensor::sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Tensor::silu, |x| x / (1.0 + (-x).exp())),
        (Tensor::softplus, |x| x.exp().ln_1p()),
    ];
    for (ours, std) in pairs {
        is(ours(&x), &[], &[std(0.3f32 as f64)]);
    }
    is(f(&[0.5, -1.0, 3.0, 7.0], &[4]).erf(), &[4], &[0.5204998778, -0.8427007929, 0.9999779095, 1.0]);
    is(f(&[-1.0, 0.0, 2.0], &[3]).gelu(), &[3], &[-0.1588080094, 0.0, 1.9545976941]);
    is(f(&[-1.0, 0.0, 2.0], &[3]).gelu_erf(), &[3], &[-0.1586552539, 0.0, 1.9544997361]);
    is(f(&[-1e4, 1e4], &[2]).sigmoid(), &[2], &[0.0, 1.0]);
    is(f(&[-1e4, 1e4], &[2]).softplus(), &[2], &[0.0, 1e4]);
    // Integers: what keeps them and what makes them f32.
    assert_eq!(i(&[-3], &[1]).neg()?.dtype(), DType::I64);
    assert_eq!(i(&[-3], &[1]).floor()?.dtype(), DType::I64);
    assert_eq!(i(&[4], &[1]).sqrt()?.to_vec::<f32>()?, [2.0]);
    is(i(&[3, -2], &[2]).relu(), &[2], &[3.0, 0.0]);
    is(f(&[], &[0, 3]).exp(), &[0, 3], &[]);
    Ok(())
}

#[test]
fn binary() -> Result<()> {
    let (x, y) = (f(&[1.0, 2.0, 3.0], &[3]), f(&[10.0, 20.0], &[2, 1]));
    is(x.add(&y), &[2, 3], &[11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
    is(x.sub(1.0), &[3], &[0.0, 1.0, 2.0]);
    is(&x * 2, &[3], &[2.0, 4.0, 6.0]);
    is(10.0 - &x, &[3], &[9.0, 8.0, 7.0]);
    is(-&x, &[3], &[-1.0, -2.0, -3.0]);
    is(x.div(2), &[3], &[0.5, 1.0, 1.5]);
    is(i(&[7, -7, 1], &[3]).div(&i(&[2, 2, 0], &[3])), &[3], &[3.5, -3.5, INF64]);
    is(
        i(&[7, -7, 7, -7, 3], &[5]).floor_div(&i(&[2, 2, -2, -2, 0], &[5])),
        &[5],
        &[3.0, -4.0, -4.0, 3.0, 0.0],
    );
    is(i(&[7, -7, 7, -7, 3], &[5]).rem(&i(&[2, 2, -2, -2, 0], &[5])), &[5], &[1.0, 1.0, -1.0, -1.0, 0.0]);
    is(f(&[7.0, -7.0], &[2]).rem(3.0), &[2], &[1.0, 2.0]);
    is(f(&[7.5, -7.5], &[2]).floor_div(2.0), &[2], &[3.0, -4.0]);
    is(
        f(&[-2.0, -2.0, 0.0, 4.0], &[4]).pow(&f(&[3.0, 0.5, 0.0, -0.5], &[4])),
        &[4],
        &[-8.0, f64::NAN, 1.0, 0.5],
    );
    is(f(&[-3.0], &[1]).pow(2), &[1], &[9.0]);
    is(f(&[-3.0], &[1]).pow(5.0), &[1], &[-243.0]);
    is(i(&[2, 3], &[2]).pow(3), &[2], &[8.0, 27.0]);
    assert_eq!(i(&[2], &[1]).pow(3)?.dtype(), DType::I64);
    assert_eq!(i(&[2], &[1]).add(0.5)?.dtype(), DType::F32);
    is(f(&[1.0, NAN], &[2]).maximum(&f(&[NAN, 2.0], &[2])), &[2], &[f64::NAN, f64::NAN]);
    is(x.minimum(2.0), &[3], &[1.0, 2.0, 2.0]);
    is(f(&[1.0, -1.0], &[2]).atan2(&f(&[0.0, -1.0], &[2])), &[2], &[1f64.atan2(0.0), (-1f64).atan2(-1.0)]);
    is(x.eq(2.0), &[3], &[0.0, 1.0, 0.0]);
    is(x.ne(2.0), &[3], &[1.0, 0.0, 1.0]);
    is(x.lt(2.0), &[3], &[1.0, 0.0, 0.0]);
    is(x.le(2.0), &[3], &[1.0, 1.0, 0.0]);
    is(x.gt(2.0), &[3], &[0.0, 0.0, 1.0]);
    is(x.ge(2.0), &[3], &[0.0, 1.0, 1.0]);
    is(f(&[NAN], &[1]).ge(0.0), &[1], &[0.0]);
    let (p, q) = (b(&[true, true, false, false], &[4]), b(&[true, false, true, false], &[4]));
    is(p.logical_and(&q), &[4], &[1.0, 0.0, 0.0, 0.0]);
    is(p.logical_or(&q), &[4], &[1.0, 1.0, 1.0, 0.0]);
    is(p.logical_xor(&q), &[4], &[0.0, 1.0, 1.0, 0.0]);
    is(p.add(&q), &[4], &[1.0, 1.0, 1.0, 0.0]);
    is(p.mul(&q), &[4], &[1.0, 0.0, 0.0, 0.0]);
    is(p.add(5), &[4], &[6.0, 6.0, 5.0, 5.0]);
    is(p.mul(&x.narrow(0, 0, 1)?), &[4], &[1.0, 1.0, 0.0, 0.0]);
    is(i(&[250], &[1]).to_dtype(DType::U8)?.add(10), &[1], &[4.0]);
    is(i(&[0], &[1]).to_dtype(DType::U32)?.sub(1), &[1], &[u32::MAX as f64]);
    is(f(&[], &[0]).add(&f(&[1.0], &[1])), &[0], &[]);
    is(f(&[2.0], &[]).mul(&f(&[3.0], &[])), &[], &[6.0]);
    assert_eq!(x.to_dtype(DType::F16)?.add(&x.to_dtype(DType::BF16)?)?.dtype(), DType::F32);
    Ok(())
}

#[test]
fn ternary_and_casts() -> Result<()> {
    let x = f(&[-2.0, 0.5, 3.0, NAN], &[4]);
    is(x.gt(0.0)?.where_(&x, 0.0), &[4], &[0.0, 0.5, 3.0, 0.0]);
    is(x.gt(0.0)?.where_(1, 2), &[4], &[2.0, 1.0, 1.0, 2.0]);
    is(b(&[true, false], &[2, 1]).where_(&i(&[1, 2], &[2]), 9), &[2, 2], &[1.0, 2.0, 9.0, 9.0]);
    is(x.clamp(-1.0, 1.0), &[4], &[-1.0, 0.5, 1.0, f64::NAN]);
    is(x.clamp(2.0, 1.0), &[4], &[1.0, 1.0, 1.0, f64::NAN]);
    let x = f(&[-1.7, 300.0, NAN, 1e20], &[4]);
    is(x.to_dtype(DType::I32), &[4], &[-1.0, 300.0, 0.0, i32::MAX as f64]);
    is(x.to_dtype(DType::U8), &[4], &[0.0, 255.0, 0.0, 255.0]);
    is(x.to_dtype(DType::Bool), &[4], &[1.0, 1.0, 1.0, 1.0]);
    is(i(&[256 + 3], &[1]).to_dtype(DType::U8), &[1], &[3.0]);
    is(f(&[1.0 / 3.0], &[1]).to_dtype(DType::F16), &[1], &[0.333251953125]);
    is(f(&[1.0 / 3.0], &[1]).to_dtype(DType::BF16), &[1], &[0.333984375]);
    is(f(&[1e6], &[1]).to_dtype(DType::F16), &[1], &[INF64]);
    let x = f(&[1.0], &[1]);
    assert_eq!(x.to_dtype(DType::F32)?.id(), x.id());
    let other = on::fresh();
    let moved = x.mul(2.0)?.to_device(&other)?;
    assert_eq!(moved.device(), &other);
    is(Ok(moved), &[1], &[2.0]);
    Ok(())
}

#[test]
fn views() -> Result<()> {
    let x = Tensor::arange(0, 6, 1, DType::F32, &cpu())?.reshape(&[2, 3])?;
    is(x.reshape(&[-1, 2]), &[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    is(f(&[1.0], &[1]).reshape(&[]), &[], &[1.0]);
    is(f(&[], &[0, 3]).reshape(&[3, 0]), &[3, 0], &[]);
    assert_eq!(x.reshape(&[2, 3])?.id(), x.id());
    is(x.permute(&[1, 0]), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(x.transpose(0, -1), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(x.t(), &[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    is(x.narrow(1, 1, 2), &[2, 2], &[1.0, 2.0, 4.0, 5.0]);
    is(x.narrow(1, 3, 0), &[2, 0], &[]);
    is(x.slice(1, 0, 3, 2), &[2, 2], &[0.0, 2.0, 3.0, 5.0]);
    is(x.slice(1, -1, isize::MIN, -1), &[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    is(x.slice(1, -2, isize::MAX, 1), &[2, 2], &[1.0, 2.0, 4.0, 5.0]);
    is(x.slice(1, 2, 1, 1), &[2, 0], &[]);
    is(x.slice(0, 5, -9, isize::MIN), &[1, 3], &[3.0, 4.0, 5.0]);
    is(x.select(0, -1), &[3], &[3.0, 4.0, 5.0]);
    is(x.select(1, 0), &[2], &[0.0, 3.0]);
    is(x.unsqueeze(1)?.expand(&[2, 2, 3])?.select(1, 1), &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    is(f(&[1.0, 2.0], &[2]).broadcast_to(&[2, 2]), &[2, 2], &[1.0, 2.0, 1.0, 2.0]);
    is(f(&[1.0], &[1]).broadcast_to(&[3, 0]), &[3, 0], &[]);
    is(f(&[7.0], &[]).broadcast_to(&[2]), &[2], &[7.0, 7.0]);
    is(x.flip(&[-1]), &[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    is(x.flip(&[]), &[2, 3], &[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    is(x.unsqueeze(-1), &[2, 3, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    is(x.unsqueeze(0)?.squeeze(0), &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    is(x.flatten(0, -1), &[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    is(f(&[7.0], &[]).flatten(0, -1), &[1], &[7.0]);
    let shapes = |parts: Vec<Tensor>| parts.iter().map(|p| p.shape().to_vec()).collect::<Vec<_>>();
    assert_eq!(shapes(x.split(2, 1)?), [[2, 2], [2, 1]]);
    assert_eq!(shapes(x.chunk(2, 1)?), [[2, 2], [2, 1]]);
    assert_eq!(shapes(x.chunk(5, 0)?), [[1, 3], [1, 3]]);
    is(f(&[1.0], &[1]).pad(&[(1, 2)], 0.0), &[4], &[0.0, 1.0, 0.0, 0.0]);
    is(f(&[1.0], &[1]).pad(&[(1, 1)], -5.0), &[3], &[-5.0, 1.0, -5.0]);
    is(f(&[], &[0]).pad(&[(1, 1)], 3.0), &[2], &[3.0, 3.0]);
    is(Tensor::cat(&[&x, &x.narrow(1, 0, 1)?], 1), &[2, 4], &[0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 3.0]);
    is(Tensor::cat(&[&f(&[], &[0]), &i(&[1], &[1])], 0), &[1], &[1.0]);
    is(Tensor::cat(&[&f(&[], &[0]), &f(&[], &[0])], 0), &[0], &[]);
    is(Tensor::stack(&[&f(&[1.0, 2.0], &[2]), &f(&[3.0, 4.0], &[2])], -1), &[2, 2], &[1.0, 3.0, 2.0, 4.0]);
    Ok(())
}

#[test]
fn reductions() -> Result<()> {
    let x = f(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    is(x.sum(&[0], false), &[3], &[5.0, 7.0, 9.0]);
    is(x.sum(&[-1], true), &[2, 1], &[6.0, 15.0]);
    is(x.sum_all(), &[], &[21.0]);
    is(x.mean(&[1], false), &[2], &[2.0, 5.0]);
    is(x.mean_all(), &[], &[3.5]);
    is(x.max(&[0], false), &[3], &[4.0, 5.0, 6.0]);
    is(x.max_all(), &[], &[6.0]);
    is(x.min_all(), &[], &[1.0]);
    is(x.min(&[1], true), &[2, 1], &[1.0, 4.0]);
    is(x.prod(&[1], false), &[2], &[6.0, 120.0]);
    is(x.var(&[1], 1, false), &[2], &[1.0, 1.0]);
    is(x.std(&[1], 0, false), &[2], &[(2f64 / 3.0).sqrt(); 2]);
    is(x.narrow(1, 0, 1)?.var(&[1], 1, false), &[2], &[f64::NAN, f64::NAN]);
    is(x.argmax(Some(1), false), &[2], &[2.0, 2.0]);
    is(x.argmax(None, false), &[], &[5.0]);
    is(x.argmin(None, true), &[1, 1], &[0.0]);
    is(f(&[1.0, 5.0, 5.0], &[3]).argmax(Some(0), true), &[1], &[1.0]);
    is(f(&[1.0, NAN, 5.0], &[3]).argmax(Some(0), false), &[], &[1.0]);
    is(f(&[1.0, NAN, 0.0], &[3]).argmin(Some(0), false), &[], &[1.0]);
    is(f(&[1.0, NAN, 5.0], &[3]).max_all(), &[], &[f64::NAN]);
    is(x.gt(4.0)?.any(&[1], false), &[2], &[0.0, 1.0]);
    is(x.gt(3.0)?.all(&[1], false), &[2], &[0.0, 1.0]);
    is(x.cumsum(1), &[2, 3], &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    is(x.cumsum(0), &[2, 3], &[1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
    is(x.norm(2.0, &[1], false), &[2], &[14f64.sqrt(), 77f64.sqrt()]);
    is(x.norm(1.0, &[], false), &[], &[21.0]);
    is(x.norm(INF64, &[], false), &[], &[6.0]);
    is(x.norm(-INF64, &[], false), &[], &[1.0]);
    is(f(&[0.0, 3.0], &[2]).norm(0.0, &[], false), &[], &[1.0]);
    is(x.norm(3.0, &[1], false), &[2], &[36f64.cbrt(), 405f64.cbrt()]);
    is(x.logsumexp(&[1], false), &[2], &[3.4076059644, 6.4076059644]);
    is(f(&[-INF, -INF], &[2]).logsumexp(&[0], false), &[], &[-INF64]);
    is(f(&[INF, 1.0], &[2]).logsumexp(&[0], false), &[], &[INF64]);
    is(f(&[1e5, 1e5], &[2]).logsumexp(&[], false), &[], &[1e5 + 2f64.ln()]);
    is(
        x.softmax(1),
        &[2, 3],
        &[0.0900305732, 0.2447284711, 0.6652409558, 0.0900305732, 0.2447284711, 0.6652409558],
    );
    is(f(&[1e5, -INF], &[2]).softmax(0), &[2], &[1.0, 0.0]);
    is(
        x.log_softmax(0),
        &[2, 3],
        &[-3.0485873516, -3.0485873516, -3.0485873516, -0.0485873516, -0.0485873516, -0.0485873516],
    );
    // Integers and bool sum to i64.
    assert_eq!(b(&[true, true, false], &[3]).sum_all()?.to_vec::<i64>()?, [2]);
    assert_eq!(i(&[200, 100], &[2]).to_dtype(DType::U8)?.sum_all()?.to_vec::<i64>()?, [300]);
    is(i(&[1, 2], &[2]).mean_all(), &[], &[1.5]);
    // Nothing to reduce.
    let none = f(&[], &[2, 0]);
    is(none.sum(&[1], false), &[2], &[0.0, 0.0]);
    is(none.prod(&[1], false), &[2], &[1.0, 1.0]);
    is(none.mean(&[1], false), &[2], &[f64::NAN, f64::NAN]);
    is(none.any(&[1], false), &[2], &[0.0, 0.0]);
    is(none.all(&[1], false), &[2], &[1.0, 1.0]);
    is(none.max(&[0], false), &[0], &[]);
    is(none.logsumexp(&[1], false), &[2], &[-INF64, -INF64]);
    is(none.softmax(1), &[2, 0], &[]);
    is(none.cumsum(1), &[2, 0], &[]);
    let scalar = f(&[4.0], &[]);
    is(scalar.sum(&[], true), &[], &[4.0]);
    is(scalar.max(&[], false), &[], &[4.0]);
    is(scalar.argmax(None, false), &[], &[0.0]);
    is(scalar.mean_all(), &[], &[4.0]);
    // A sum in f16 is carried wider.
    let halves = Tensor::ones(&[4096], DType::F16, &cpu())?;
    is(halves.sum_all(), &[], &[4096.0]);
    is(halves.mul(60.0)?.mean_all(), &[], &[60.0]);
    Ok(())
}

#[test]
fn products() -> Result<()> {
    let a = f(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let v = f(&[1.0, 10.0], &[2]);
    is(a.matmul(&a), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    is(a.matmul(&v), &[2], &[21.0, 43.0]);
    is(v.matmul(&a), &[2], &[31.0, 42.0]);
    is(v.matmul(&v), &[], &[101.0]);
    is(a.reshape(&[2, 1, 2])?.matmul(&a), &[2, 1, 2], &[7.0, 10.0, 15.0, 22.0]);
    is(a.matmul(&a.reshape(&[2, 2, 1])?), &[2, 2, 1], &[5.0, 11.0, 11.0, 25.0]);
    is(a.reshape(&[2, 1, 1, 2])?.matmul(&a.reshape(&[2, 2, 1])?), &[2, 2, 1, 1], &[5.0, 11.0, 11.0, 25.0]);
    is(f(&[], &[2, 0]).matmul(&f(&[], &[0, 2])), &[2, 2], &[0.0; 4]);
    is(f(&[], &[0, 2]).matmul(&a), &[0, 2], &[]);
    is(i(&[1, 2], &[1, 2]).matmul(&i(&[3, 4], &[2, 1])), &[1, 1], &[11.0]);
    is(Tensor::einsum("ij,jk->ik", &[&a, &a]), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    is(Tensor::einsum("ij,jk", &[&a, &a]), &[2, 2], &[7.0, 10.0, 15.0, 22.0]);
    is(Tensor::einsum("ij->ji", &[&a]), &[2, 2], &[1.0, 3.0, 2.0, 4.0]);
    is(Tensor::einsum("ij->", &[&a]), &[], &[10.0]);
    is(Tensor::einsum("ij,ij->", &[&a, &a]), &[], &[30.0]);
    is(Tensor::einsum("i,j->ji", &[&v, &v]), &[2, 2], &[1.0, 10.0, 10.0, 100.0]);
    is(Tensor::einsum("bi,bj->b", &[&a, &a]), &[2], &[9.0, 49.0]);
    is(Tensor::einsum("i,->i", &[&v, &f(&[2.0], &[])]), &[2], &[2.0, 20.0]);
    Ok(())
}

#[test]
fn indexing_and_sorting() -> Result<()> {
    let x = f(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    is(x.gather(1, &i(&[2, 0, 1, 1], &[2, 2])), &[2, 2], &[3.0, 1.0, 5.0, 5.0]);
    is(x.gather(1, &i(&[2], &[1, 1])), &[1, 1], &[3.0]);
    is(x.gather(0, &i(&[1, 0, 1], &[1, 3]).to_dtype(DType::U32)?), &[1, 3], &[4.0, 2.0, 6.0]);
    is(x.gather(1, &i(&[], &[2, 0])), &[2, 0], &[]);
    is(x.index_select(0, &i(&[1, 1, 0], &[3])), &[3, 3], &[4.0, 5.0, 6.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    is(x.index_select(-1, &i(&[2], &[1])), &[2, 1], &[3.0, 6.0]);
    is(Tensor::embedding(&x, &i(&[1, 0], &[2, 1])), &[2, 1, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    is(Tensor::embedding(&x, &i(&[1], &[])), &[3], &[4.0, 5.0, 6.0]);
    is(
        x.scatter_add(1, &i(&[0, 0, 2, 1], &[2, 2]), &f(&[10.0, 20.0, 30.0, 40.0], &[2, 2])),
        &[2, 3],
        &[31.0, 2.0, 3.0, 4.0, 45.0, 36.0],
    );
    is(x.scatter_add(1, &i(&[2], &[1, 1]), &f(&[10.0], &[1, 1])), &[2, 3], &[1.0, 2.0, 13.0, 4.0, 5.0, 6.0]);
    let x = f(&[3.0, NAN, 1.0, 3.0, -INF], &[5]);
    is(x.argsort(0, false), &[5], &[4.0, 2.0, 0.0, 3.0, 1.0]);
    is(x.argsort(0, true), &[5], &[1.0, 0.0, 3.0, 2.0, 4.0]);
    let (values, order) = x.sort(0, false)?;
    is(Ok(values), &[5], &[-INF64, 1.0, 3.0, 3.0, f64::NAN]);
    is(Ok(order), &[5], &[4.0, 2.0, 0.0, 3.0, 1.0]);
    let (values, order) = f(&[3.0, 9.0, 4.0, 1.0, 5.0, 9.0], &[2, 3]).topk(2, 1, true)?;
    is(Ok(values), &[2, 2], &[9.0, 4.0, 9.0, 5.0]);
    is(Ok(order), &[2, 2], &[1.0, 2.0, 2.0, 1.0]);
    is(Ok(i(&[5, 2, 8], &[3]).topk(1, 0, false)?.0), &[1], &[2.0]);
    is(Ok(f(&[], &[0]).sort(0, false)?.0), &[0], &[]);
    is(Ok(f(&[1.0], &[1]).topk(0, 0, true)?.0), &[0], &[]);
    Ok(())
}

/// Arithmetic on nothing but numbers: kernels do it for themselves, or find it in memory where they cannot.
#[test]
fn numbers_made_of_numbers() -> Result<()> {
    let device = cpu();
    let x = f(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let one = |start: i64| Tensor::arange(start, start + 1, 1, DType::I64, &device);
    is(Tensor::arange(0, 3, 1, DType::I64, &device)?.le(&one(1)?), &[3], &[1.0, 1.0, 0.0]);
    is(one(5)?.mul(&x), &[2, 2], &[5.0, 10.0, 15.0, 20.0]);
    is(x.gather(0, &one(1)?.reshape(&[1, 1])?.expand(&[1, 2])?), &[1, 2], &[3.0, 4.0]);
    let index = one(1)?.reshape(&[1, 1])?.expand(&[1, 2])?;
    is(x.scatter_add(0, &index, &f(&[10.0, 20.0], &[1, 2])), &[2, 2], &[1.0, 2.0, 13.0, 24.0]);
    let three = Tensor::scalar(2.0, DType::F32, &device)?.add(1.0)?;
    is(x.matmul(&three.broadcast_to(&[2, 1])?), &[2, 1], &[9.0, 21.0]);
    is(three.mul(2.0)?.broadcast_to(&[1, 2])?.matmul(&x), &[1, 2], &[24.0, 36.0]);
    is(three.broadcast_to(&[3])?.cumsum(0), &[3], &[3.0, 6.0, 9.0]);
    is(three.broadcast_to(&[2])?.add(&three.broadcast_to(&[2])?.cumsum(0)?), &[2], &[6.0, 9.0]);
    Ok(())
}

#[test]
fn norms_and_losses() -> Result<()> {
    let x = f(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let (w, c) = (f(&[2.0, 3.0], &[2]), f(&[0.5, -0.5], &[2]));
    let r = 0.5 / (0.25f64 + 1e-5).sqrt();
    is(x.layer_norm(1, None, None, 1e-5), &[2, 2], &[-r, r, -r, r]);
    is(
        x.layer_norm(1, Some(&w), Some(&c), 1e-5),
        &[2, 2],
        &[0.5 - 2.0 * r, 3.0 * r - 0.5, 0.5 - 2.0 * r, 3.0 * r - 0.5],
    );
    let s = 1.0 / (1.25f64 + 1e-5).sqrt();
    is(x.layer_norm(2, None, None, 1e-5), &[2, 2], &[-1.5 * s, -0.5 * s, 0.5 * s, 1.5 * s]);
    is(x.group_norm(1, None, None, 1e-5), &[2, 2], &[-r, r, -r, r]);
    let q = |a: f64, b: f64| 1.0 / ((a * a + b * b) / 2.0 + 1e-6).sqrt();
    is(
        x.rms_norm(1, Some(&w), 1e-6),
        &[2, 2],
        &[2.0 * q(1.0, 2.0), 6.0 * q(1.0, 2.0), 6.0 * q(3.0, 4.0), 12.0 * q(3.0, 4.0)],
    );
    assert_eq!(x.to_dtype(DType::F16)?.layer_norm(1, Some(&w), None, 1e-5)?.dtype(), DType::F16);
    let loss = |x: &[f64; 2], t: usize| (x[0].exp() + x[1].exp()).ln() - x[t];
    let (first, second) = (loss(&[1.0, 2.0], 0), loss(&[3.0, 4.0], 1));
    let t = i(&[0, 1], &[2]);
    is(x.cross_entropy(&t), &[], &[(first + second) / 2.0]);
    is(x.cross_entropy(&t.to_dtype(DType::I32)?), &[], &[(first + second) / 2.0]);
    let with = |t: &Tensor, ignore_index, label_smoothing, reduction| {
        x.cross_entropy_with(t, CrossEntropy { ignore_index, label_smoothing, reduction })
    };
    is(with(&t, None, 0.0, Reduction::Sum), &[], &[first + second]);
    is(with(&t, None, 0.0, Reduction::None), &[2], &[first, second]);
    is(with(&i(&[-100, 1], &[2]), Some(-100), 0.0, Reduction::Mean), &[], &[second]);
    is(with(&i(&[-1, -1], &[2]), Some(-1), 0.0, Reduction::Mean), &[], &[f64::NAN]);
    let smooth = |x: &[f64; 2], t| 0.9 * loss(x, t) + 0.1 * (loss(x, 0) + loss(x, 1)) / 2.0;
    is(with(&t, None, 0.1, Reduction::None), &[2], &[smooth(&[1.0, 2.0], 0), smooth(&[3.0, 4.0], 1)]);
    assert_eq!(x.to_dtype(DType::BF16)?.cross_entropy(&t)?.dtype(), DType::F32);
    is(f(&[], &[0, 3]).cross_entropy(&i(&[], &[0])), &[], &[f64::NAN]);
    is(f(&[1.0, 2.0], &[2]).cross_entropy(&i(&[0], &[])), &[], &[first]);
    is(x.mse_loss(&x.add(2.0)?), &[], &[4.0]);
    Ok(())
}

#[test]
fn attention() -> Result<()> {
    let numbers = |shape: &[usize]| {
        let n: usize = shape.iter().product();
        f(&(0..n).map(|i| ((i * 37 + 11) % 23) as f32 / 11.5 - 1.0).collect::<Vec<_>>(), shape)
    };
    let (q, k, v) = (numbers(&[2, 4, 3, 2]), numbers(&[2, 2, 5, 2]), numbers(&[2, 2, 5, 3]));
    // The same by hand, heads repeated.
    let repeat = |x: &Tensor| {
        let s = x.shape().to_vec();
        x.unsqueeze(2)?.expand(&[s[0], 2, 2, s[2], s[3]])?.reshape(&[2, 4, s[2] as isize, s[3] as isize])
    };
    let by_hand = |mask: Option<&Tensor>, scale: f64| -> Result<Tensor> {
        let mut scores = q.matmul(&repeat(&k)?.t()?)?.mul(scale)?;
        if let Some(mask) = mask {
            scores = mask.where_(&scores, f64::NEG_INFINITY)?;
        }
        scores.softmax(-1)?.matmul(&repeat(&v)?)
    };
    let want = |x: Result<Tensor>| floats(&x.unwrap());
    let options = AttentionOptions::default();
    let have = q.scaled_dot_product_attention(&k, &v, &options);
    is(have, &[2, 4, 3, 3], &want(by_hand(None, 1.0 / 2f64.sqrt())));
    let causal = Tensor::ones(&[3, 5], DType::F32, &cpu())?.tril(0)?.ne(0)?;
    let have = q.scaled_dot_product_attention(&k, &v, &AttentionOptions { causal: true, ..options });
    is(have, &[2, 4, 3, 3], &want(by_hand(Some(&causal), 1.0 / 2f64.sqrt())));
    let have = q.scaled_dot_product_attention(
        &k,
        &v,
        &AttentionOptions { mask: Some(&causal), scale: Some(0.3), causal: false },
    );
    is(have, &[2, 4, 3, 3], &want(by_hand(Some(&causal), 0.3)));
    // A query that sees nothing gives zeros.
    let nothing = Tensor::zeros(&[3, 5], DType::Bool, &cpu())?;
    let have = q.scaled_dot_product_attention(&k, &v, &AttentionOptions { mask: Some(&nothing), ..options });
    is(have, &[2, 4, 3, 3], &[0.0; 72]);
    // A query of NaN gives NaN, and so does a key for those that see it.
    let nan = q.mul(f64::NAN)?.scaled_dot_product_attention(&k, &v, &options)?;
    assert!(floats(&nan).iter().all(|x| x.is_nan()));
    let last = Tensor::ones(&[5, 2], DType::F32, &cpu())?.tril(-4)?.ne(0)?.any(&[-1], true)?;
    let broken = last.where_(&k.mul(f64::NAN)?, &k)?;
    let nan = q.scaled_dot_product_attention(&broken, &v, &options)?;
    assert!(floats(&nan).iter().all(|x| x.is_nan()));
    let have = q.scaled_dot_product_attention(&broken, &v, &AttentionOptions { causal: true, ..options });
    is(have, &[2, 4, 3, 3], &want(by_hand(Some(&causal), 1.0 / 2f64.sqrt())));
    // No keys at all, too.
    let (k, v, q) = (k.narrow(2, 0, 0)?, v.narrow(2, 0, 0)?, q.variable()?);
    let have = q.scaled_dot_product_attention(&k, &v, &options)?;
    let grads = have.sum_all()?.backward()?;
    is(Ok(have), &[2, 4, 3, 3], &[0.0; 72]);
    is(Ok(grads.get(&q).unwrap().clone()), &[2, 4, 3, 2], &[0.0; 48]);
    Ok(())
}

#[test]
fn autocast_chooses_dtypes() -> Result<()> {
    let x = Tensor::ones(&[2, 2], DType::F32, &cpu())?;
    autocast(DType::BF16, || -> Result<()> {
        let y = x.matmul(&x)?;
        assert_eq!(y.dtype(), DType::BF16);
        assert_eq!(Tensor::einsum("ij,jk->ik", &[&x, &x])?.dtype(), DType::BF16);
        assert_eq!(y.softmax(1)?.dtype(), DType::F32);
        assert_eq!(y.layer_norm(1, None, None, 1e-5)?.dtype(), DType::F32);
        assert_eq!(y.sum_all()?.dtype(), DType::F32);
        assert_eq!(y.add(1.0)?.dtype(), DType::BF16);
        let q = x.reshape(&[1, 1, 2, 2])?;
        assert_eq!(
            q.scaled_dot_product_attention(&q, &q, &AttentionOptions::default())?.dtype(),
            DType::BF16
        );
        assert_eq!(x.to_dtype(DType::F64)?.matmul(&x.to_dtype(DType::F64)?)?.dtype(), DType::F64);
        autocast(DType::F32, || assert_eq!(x.matmul(&x).unwrap().dtype(), DType::F32));
        Ok(())
    })?;
    assert_eq!(x.matmul(&x)?.dtype(), DType::F32);
    // Gradients come back in the parameter's dtype.
    let w = x.variable()?;
    let loss = autocast(DType::BF16, || x.matmul(&w)?.sum_all())?;
    assert_eq!(loss.backward()?.get(&w).unwrap().dtype(), DType::F32);
    Ok(())
}

#[test]
fn long_chains_neither_recurse_nor_repeat() -> Result<()> {
    let x = Tensor::ones(&[2], DType::F32, &cpu())?.variable()?;
    let mut y = x.clone();
    for _ in 0..20_000 {
        y = y.add(1.0)?;
    }
    let gradients = y.sum_all()?.backward()?;
    is(Ok(y), &[2], &[20_001.0, 20_001.0]);
    is(Ok(gradients.get(&x).unwrap().clone()), &[2], &[1.0, 1.0]);
    Ok(())
}

#[test]
fn the_reference_agrees_with_the_device() -> Result<()> {
    let x = f(&[0.5, 1.5, -2.0, 4.0], &[2, 2]);
    let y = x.matmul(&x)?.gelu()?.softmax(0)?;
    let reference = f32::from_bytes(&y.reference()?);
    let device = y.to_vec::<f32>()?;
    assert!(reference.iter().zip(&device).all(|(a, b)| (a - b).abs() < 1e-5));
    Ok(())
}
