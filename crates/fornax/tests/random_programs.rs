//! Random programs: graphs of 5 to 60 random ops, fused against unfused against the reference, forward and
//! gradient. Each program is a list of numbers, so a failing one shrinks to a small one.

mod on;

use fornax::{DType, Device, Result, Tensor, grad};
use proptest::prelude::*;

/// Builds a program over two leaves. Every value stays bounded, so that comparisons are about fusion and not
/// about overflow, and smooth, so that gradients are comparable.
fn build(ops: &[(u8, u8, u8)], x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let mut values = vec![x.clone(), y.clone()];
    for &(op, a, b) in ops {
        let a = values[a as usize % values.len()].clone();
        // A partner of the same shape: an earlier value, or one made from `a` itself.
        let partners: Vec<&Tensor> = values.iter().filter(|v| v.shape() == a.shape()).collect();
        let b_tensor = partners[b as usize % partners.len()].clone();
        let rank = a.rank();
        let axis = if rank == 0 { 0 } else { b as usize % rank };
        let value = match op % 25 {
            0 => a.add(&b_tensor)?.mul(0.5)?,
            1 => a.sub(&b_tensor)?.tanh()?,
            2 => a.mul(&b_tensor)?.tanh()?,
            3 => a.sin()?,
            4 => a.mul(0.7)?.add(0.1)?,
            5 => a.sigmoid()?,
            6 => a.gelu()?.tanh()?,
            7 => a.sqr()?.add(1.0)?.log()?,
            8 if rank > 0 => a.softmax(axis as isize)?,
            9 if rank > 0 => a.mean(&[axis as isize], true)?,
            10 if rank > 0 => a.sum(&[axis as isize], false)?.tanh()?,
            11 if rank > 1 => a.transpose(axis as isize, 0)?,
            12 if rank > 0 => a.flip(&[axis as isize])?,
            13 if rank > 0 && a.shape()[axis] > 2 => a.narrow(axis as isize, 1, a.shape()[axis] - 1)?,
            14 if rank > 0 && a.numel() < 2000 => {
                let mut amounts = vec![(0, 0); rank];
                amounts[axis] = (1, 1);
                a.pad(&amounts, 0.0)?
            }
            15 => a.reshape(&[-1])?,
            16 if rank > 1 => a.layer_norm(1, None, None, 1e-3)?.mul(0.5)?,
            17 if rank == 2 && a.numel() < 2000 => a.matmul(&a.t()?)?.mul(0.1)?.tanh()?,
            18 if rank > 0 && a.numel() < 1000 => Tensor::cat(&[&a, &b_tensor], axis as isize)?,
            19 => a.mean(&[], false)?.mul(2.0)?,
            20 if rank > 0 => a.add(&a.max(&[axis as isize], true)?)?.mul(0.4)?,
            21 if rank > 0 => a.cumsum(axis as isize)?.tanh()?,
            22 if rank > 0 => a.var(&[axis as isize], 0, true)?.add(&a)?.tanh()?,
            23 if rank > 0 && a.numel() < 1000 => a.unsqueeze(0)?.expand(&[&[2], a.shape()].concat())?,
            _ => a.mul(&a.gt(0.0)?.where_(0.5, 0.9)?)?,
        };
        values.push(value);
    }
    // Everything that was made counts, so that nothing is dead.
    let mut total = x.sum_all()?.mul(0.0)?;
    for value in &values {
        total = total.add(&value.sqr()?.mean_all()?)?;
    }
    Ok(total)
}

fn leaves(device: &Device) -> Result<(Tensor, Tensor)> {
    fornax::manual_seed(5);
    let x = Tensor::randn(&[6, 10], DType::F32, device)?;
    let y = Tensor::randn(&[3, 4, 5], DType::F32, device)?;
    fornax::eval(&[&x, &y])?;
    Ok((x.variable()?, y.variable()?))
}

/// Loss and gradients of a program on a device.
fn run(ops: &[(u8, u8, u8)], device: &Device) -> Result<Vec<Vec<f32>>> {
    let (x, y) = leaves(device)?;
    let loss = build(ops, &x, &y)?;
    let grads = grad(&loss, &[&x, &y])?;
    fornax::eval(&[&loss, &grads[0], &grads[1]])?;
    [&loss, &grads[0], &grads[1]].iter().map(|t| t.to_vec::<f32>()).collect()
}

fn reference(ops: &[(u8, u8, u8)], device: &Device) -> Result<Vec<Vec<f32>>> {
    let (x, y) = leaves(device)?;
    let loss = build(ops, &x, &y)?;
    let grads = grad(&loss, &[&x, &y])?;
    let floats = |t: &Tensor| Ok(bytes_to_f32(&t.reference()?));
    [&loss, &grads[0], &grads[1]].into_iter().map(floats).collect()
}

fn bytes_to_f32(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn close(what: &str, a: &[Vec<f32>], b: &[Vec<f32>]) -> std::result::Result<(), TestCaseError> {
    for (a, b) in a.iter().zip(b) {
        let scale = b.iter().fold(1e-3f32, |m, v| m.max(v.abs()));
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            prop_assert!((a - b).abs() <= 2e-3 * scale, "{what}: element {i}: {a} and {b}");
        }
    }
    Ok(())
}

/// Fused, one op at a time, and replayed, a program gives what the reference does.
fn agrees(ops: &[(u8, u8, u8)]) -> std::result::Result<(), TestCaseError> {
    let failed = |e: fornax::Error| TestCaseError::fail(e.to_string());
    let (fused, plain) = (on::fresh(), on::fresh());
    plain.set_fusion(false);
    let want = reference(ops, &plain).map_err(failed)?;
    close("unfused", &run(ops, &plain).map_err(failed)?, &want)?;
    let got = run(ops, &fused).map_err(failed)?;
    close("fused", &got, &want)?;
    prop_assert_eq!(got, run(ops, &fused).map_err(failed)?);
    prop_assert!(fused.stats().launches < plain.stats().launches * 2 + 2);
    Ok(())
}

/// Fewer programs where a driver takes milliseconds for every kernel.
fn config() -> ProptestConfig {
    let cases = if on::name() == "cpu" { 200 } else { 30 };
    ProptestConfig { cases, max_shrink_iters: 400, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn short_programs_agree(ops in proptest::collection::vec(any::<(u8, u8, u8)>(), 5..38)) {
        agrees(&ops)?;
    }

    #[test]
    fn long_programs_agree(ops in proptest::collection::vec(any::<(u8, u8, u8)>(), 27..60)) {
        agrees(&ops)?;
    }
}
