//! Every kernel shape on adapters that have less, and what no adapter can hold.

#[path = "../../../../tests/cases/mod.rs"]
mod table;

use super::super::print::print;
use super::super::print::tests::LARGE;
use super::*;
use crate::optim::{AdamW, Optimizer};
use crate::{AttentionOptions, Error};
use half::f16;

/// A few cases of every kernel shape.
fn every_shape(with: &str, device: &Device) -> Result<()> {
    let named = |what: &str| format!("{with}: {what}");
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::I64, DType::U8] {
        let (x, y) = (wave(&[33, 65], 0.37, dtype, device)?, wave(&[65], 0.71, dtype, device)?);
        check(&named(&format!("map {dtype}")), x.mul(3)?.add(&y)?.maximum(&x))?;
        check(&named(&format!("sliced {dtype}")), x.narrow(1, 1, 31)?.t()?.add(&x.narrow(1, 3, 31)?.t()?))?;
        check(&named(&format!("bools {dtype}")), x.gt(&y)?.logical_or(&x.eq(&y)?))?;
        check(&named(&format!("sums {dtype}")), x.sum(&[0], false))?;
    }
    let x = wave(&[40, 130], 0.13, DType::F32, device)?;
    check(&named("gelu"), x.mul(1.5)?.add(0.25)?.gelu())?;
    check(&named("softmax"), x.softmax(1))?;
    check(&named("layer norm"), wave(&[9, 1030], 0.2, DType::F16, device)?.layer_norm(1, None, None, 1e-5))?;
    check(&named("argmax"), x.argmax(Some(1), false))?;
    check(&named("columns"), wave(&[700, 40], 0.3, DType::F32, device)?.sqr()?.sum(&[0], false))?;
    check(&named("long row"), wave(&[1, 70_001], 0.01, DType::F32, device)?.softmax(1))?;
    check(&named("sort"), x.argsort(1, true))?;
    check(&named("running sums"), x.cumsum(0))?;
    check(&named("random"), Tensor::rand(&[33, 65], DType::F32, device))?;
    for (dtype, m, n, k) in [
        (DType::F32, 17, 33, 9),
        (DType::F32, 130, 70, 800),
        (DType::F16, 128, 128, 64),
        (DType::BF16, 65, 31, 129),
        (DType::F32, 2, 300, 80),
    ] {
        let (a, b) = (wave(&[m, k], 0.17, dtype, device)?, wave(&[k, n], 0.23, dtype, device)?);
        let bias = wave(&[n], 0.9, dtype, device)?;
        check(&named(&format!("product {dtype} {m}x{n}x{k}")), a.matmul(&b)?.add(&bias)?.relu())?;
    }
    for dtype in [DType::F32, DType::F16, DType::I64, DType::U8] {
        let right = operand([70, 64], true, 0.23, dtype, device)?;
        let product = wave(&[3, 70], 0.17, dtype, device)?.matmul(&right)?;
        check(&named(&format!("few rows {dtype}")), product.add(&wave(&[64], 0.9, dtype, device)?))?;
    }
    let (a, b) = (wave(&[3, 20, 16], 0.1, DType::F32, device)?, wave(&[24, 16], 0.7, DType::F32, device)?);
    check(&named("batched transposed product"), a.matmul(&b.t()?))?;
    let q = wave(&[1, 2, 20, 16], 0.7, DType::F32, device)?.variable()?;
    let options = AttentionOptions { causal: true, ..Default::default() };
    let attended = q.scaled_dot_product_attention(&q, &q, &options)?;
    check(&named("attention gradient"), Ok(crate::grad(&attended.sqr()?.sum_all()?, &[&q])?.remove(0)))?;
    check(&named("attention"), Ok(attended))?;
    let table = wave(&[9, 24], 0.2, DType::F32, device)?.variable()?;
    let ids = Tensor::from_slice(&[4i64, 0, 4, 2, 8], &[5], device)?;
    let rows = Tensor::embedding(&table, &ids)?;
    check(&named("scatter"), Ok(crate::grad(&rows.sqr()?.sum_all()?, &[&table])?.remove(0)))?;
    let bad = Tensor::from_slice(&[4i64, 9], &[2], device)?;
    let bad = Tensor::embedding(&table, &bad)?.to_bytes();
    assert!(matches!(bad, Err(Error::Index { .. })), "{with}: {bad:?}");
    Ok(())
}

/// Some cases of the table, other ones for each adapter. Gives how many.
fn some_cases(with: &str, adapter: usize, device: &Device) -> Result<usize> {
    const EVERY: usize = 41;
    let mut cases: Vec<(String, Result<Tensor>)> = vec![];
    let case = &mut |what: &str, tensor: Result<Tensor>| cases.push((what.into(), tensor));
    let mut walk = table::Table { device, tested: device, case };
    table::PARTS.iter().for_each(|(_, part)| part(&mut walk));
    let some: Vec<_> = cases.into_iter().skip(adapter % EVERY).step_by(EVERY).collect();
    let count = some.len();
    for (what, tensor) in some {
        let tensor = tensor?;
        let want = tensor.reference()?;
        if let Some(difference) = table::difference(&tensor.to_bytes()?, &want, &tensor) {
            panic!("{with}: {what}: {difference}");
        }
    }
    Ok(count)
}

/// Steps of an optimizer, whose kernels write over what they read and take numbers that change.
fn train(device: &Device) -> Result<Vec<f32>> {
    let weights = crate::nn::Parameter::new(&wave(&[12, 7], 0.3, DType::F32, device)?)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 0.1, vec![("w".into(), weights.clone())])?;
    let x = wave(&[20, 12], 0.7, DType::F32, device)?;
    for step in 0..3 {
        optimizer.set_lr(0.1 / (1.0 + step as f64))?;
        optimizer.step(&x.matmul(&weights.tensor())?.sqr()?.mean_all()?.backward()?)?;
    }
    weights.tensor().to_vec::<f32>()
}

#[test]
fn every_kernel_shape_without_each_feature() -> Result<()> {
    type Limit = fn(Caps) -> Caps;
    let limits: [(&str, Limit); 11] = [
        ("no f16", |c| Caps { f16: false, cooperative: false, ..c }),
        ("no 64-bit integers", |c| Caps { int64: false, ..c }),
        ("no subgroups", |c| Caps { subgroup: None, cooperative: false, ..c }),
        ("subgroups that may be small", |c| Caps {
            subgroup: c.subgroup.map(|_| 4),
            cooperative: false,
            ..c
        }),
        ("no immediates", |c| Caps { immediates: false, ..c }),
        ("exponentials as they are", |c| Caps { exp_keeps_nan: true, ..c }),
        ("no products of four bytes", |c| Caps { packed: false, ..c }),
        ("no cooperative matrices", |c| Caps { cooperative: false, ..c }),
        ("small workgroups", |c| Caps {
            lanes: 256,
            workgroup: c.workgroup.min(256),
            workgroup_bytes: 8 << 10,
            cooperative: false,
            ..c
        }),
        ("few bindings", |c| Caps { buffers: 8, ..c }),
        ("small grids", |c| Caps { groups: 40, ..c }),
    ];
    let want = train(&Device::cpu())?;
    for (adapter, (name, limit)) in limits.into_iter().enumerate() {
        let Some((_, device)) = limited(limit) else { continue };
        every_shape(name, &device)?;
        let cases = some_cases(name, 2 * adapter, &device)?;
        assert!(cases > 10, "{name}: {cases} cases");
        for (i, (g, w)) in train(&device)?.iter().zip(&want).enumerate() {
            assert!((g - w).abs() < 1e-4, "{name}: weight {i} is {g}, not {w}");
        }
    }
    Ok(())
}

#[test]
fn reductions_of_one_tensor_fit_few_bindings_and_little_memory() -> Result<()> {
    let small = |caps| Caps { buffers: 8, parallel: 512, workgroup_bytes: 16 << 10, ..caps };
    let Some((gpu, device)) = limited(small) else { return Ok(()) };
    let named = |results: Vec<Tensor>| -> Vec<(String, Tensor)> {
        results.into_iter().enumerate().map(|(i, result)| (format!("reduction {i}"), result)).collect()
    };
    // Of a row that workgroups share; of columns and of rows with every type of values, of which workgroups have more lanes
    // than there is memory for.
    let long = positive(&[70_000], 0.37, DType::F32, &device)?;
    let flat = wave(&[3000, 40], 0.37, DType::F32, &device)?;
    let rows = wave(&[3, 20_000], 0.37, DType::F32, &device)?;
    let all_types = |x: &Tensor, axis: isize| -> Result<Vec<Tensor>> {
        let as_int = |dtype| x.mul(10)?.to_dtype(dtype);
        Ok(vec![
            x.max(&[axis], false)?,
            x.gt(1.99)?.any(&[axis], false)?,
            as_int(DType::I64)?.sum(&[axis], false)?,
            as_int(DType::I32)?.max(&[axis], false)?,
            x.gt(1.99)?.argmax(Some(axis), false)?,
        ])
    };
    let of_one = vec![
        long.sum_all()?,
        long.max_all()?,
        long.min_all()?,
        long.sqr()?.sum_all()?,
        long.sqrt()?.sum_all()?,
        long.gt(1.0)?.any(&[0], false)?,
        long.sub(&long.mean_all()?)?.sqr()?.sum_all()?,
    ];
    for all in [of_one, all_types(&flat, 0)?, all_types(&rows, 1)?] {
        let plan = crate::realize::plan(&all.iter().collect::<Vec<_>>())?;
        for step in &plan.steps {
            for dispatch in print(&step.kernel, &[], None, &gpu.caps)?.dispatches {
                assert!(dispatch.bindings.len() <= 8, "{}: {:?}", step.kernel.label, dispatch.bindings);
            }
        }
        check_together(&named(all))?;
    }
    Ok(())
}

#[test]
fn what_is_no_number_stays_none() -> Result<()> {
    let Some((_, device)) = limited(|caps| caps) else { return Ok(()) };
    let x = Tensor::from_slice(&[f32::NAN, 0.5, -f32::NAN], &[3], &device)?;
    let half = |x: &Tensor| x.to_dtype(DType::F16)?.to_dtype(DType::F32);
    let more = [("half", half as table::Op1), ("pow 2.5", |x| x.pow(2.5))];
    for (name, f) in table::FLOAT_FUNCTIONS.into_iter().chain(more) {
        let y = f(&x)?;
        if y.dtype() == DType::Bool {
            continue;
        }
        let y = y.to_vec::<f32>()?;
        assert!(y[0].is_nan() && y[1].is_finite() && y[2].is_nan(), "{name}: {y:?}");
    }
    // Of rows that are kept, that stream and that several workgroups share, whose maximum and sum take one pass or two.
    for n in [3, 300, 20_001, 70_000] {
        let row = Tensor::cat(&[&Tensor::full(&[n - 1], 0.5, DType::F32, &device)?, &x.narrow(0, 0, 1)?], 0)?;
        row.eval()?;
        for (name, y) in [
            ("softmax", row.softmax(0)?),
            ("log_softmax", row.log_softmax(0)?),
            ("logsumexp", row.logsumexp(&[0], false)?),
            ("sum", row.sum_all()?),
            ("max", row.max_all()?),
            ("min", row.min_all()?),
            ("var", row.var(&[0], 0, false)?),
            ("layer_norm", row.layer_norm(1, None, None, 1e-5)?),
        ] {
            let y = y.to_vec::<f32>()?;
            assert!(y.iter().all(|v| v.is_nan()), "{name} of {n}: {:?}", &y[..y.len().min(8)]);
        }
    }
    Ok(())
}

#[test]
fn floats_become_the_nearest_halves() -> Result<()> {
    // Every half, what lies between it and the next one, and what lies beside that; the last of them round to infinity.
    let mut values: Vec<f32> = vec![f32::INFINITY, f32::NAN, 1e20, f32::MAX, 65_536.0, 1e-30, 1e-40];
    for bits in 0..0x7c00u16 {
        let (half, next) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits + 1).to_f32());
        let between = (half + next.min(65_536.0)) / 2.0;
        values.extend([half, between, between.next_up(), between.next_down()]);
    }
    values.extend(values.clone().iter().map(|value| -value));
    for halves in [true, false] {
        let limit = |caps: Caps| Caps { f16: caps.f16 && halves, cooperative: false, ..caps };
        let Some((_, device)) = limited(limit) else { return Ok(()) };
        let x = Tensor::from_slice(&values, &[values.len()], &device)?;
        let (y, wide) = (x.to_dtype(DType::F16)?, x.to_dtype(DType::F16)?.to_dtype(DType::F32)?);
        crate::eval(&[&y, &wide])?;
        for ((&value, y), wide) in values.iter().zip(y.to_vec::<f16>()?).zip(wide.to_vec::<f32>()?) {
            let want = f16::from_f32(value);
            let same = |got: f16| got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            assert!(same(y), "{value:e} as a half is {y:e}, not {want:e}; with halves: {halves}");
            assert!(
                same(f16::from_f32(wide)),
                "{value:e} rounded is {wide:e}, not {want:e}; with halves: {halves}"
            );
        }
    }
    Ok(())
}

#[test]
fn what_passes_a_limit_is_an_error_that_says_so() -> Result<()> {
    let few = |c| Caps { binding_bytes: 1 << 20, groups: 2, ..c };
    let Some((_, device)) = limited(few) else { return Ok(()) };
    let large = Tensor::ones(&[1 << 19], DType::F32, &device)?.add(1.0)?;
    let refused = |says: &str, result: Result<Vec<u8>>| match result {
        Err(Error::Device { detail, .. }) => assert!(detail.contains(says), "{detail}"),
        other => panic!("{says}: {:?}", other.map(|_| ())),
    };
    refused("2097152 bytes of a tensor are more than the 1048576 that can be bound", large.to_bytes());
    // At once, where it is data.
    let data = Tensor::from_bytes(&vec![0; (1 << 20) + 1], &[(1 << 20) + 1], DType::U8, &device);
    refused("1048577 bytes of a tensor are more than the 1048576", data.and_then(|data| data.to_bytes()));
    let wide = Tensor::arange(0, 100_000, 1, DType::F32, &device)?.add(1.0)?;
    refused("2 x 2", wide.to_bytes());
    // What takes no memory can be more than there are numbers of 32 bits.
    let space = Tensor::arange(0, 1i64 << 33, 1, DType::F32, &device)?.max_all()?;
    refused("8589934592 elements to compute are more than the 2147483647", space.to_bytes());
    // Rows are counted apart from what lies in them.
    let few = |n: i64| Tensor::arange(0, n, 1, DType::F32, &Device::cpu());
    let rows =
        few(1 << 20)?.unsqueeze(1)?.expand(&[1 << 20, 1 << 12])?.add(&few(1 << 12)?)?.sum(&[1], false)?;
    let plan = crate::realize::plan(&[&rows])?;
    assert!(plan.steps.iter().all(|step| print(&step.kernel, &[], None, &LARGE).is_ok()), "{plan}");
    let double = Tensor::from_slice(&[1f64], &[1], &device)?.add(1.0)?.to_bytes();
    assert!(matches!(double, Err(Error::DType { .. })), "{double:?}");
    // It goes on.
    check("after", Tensor::arange(0, 100, 1, DType::F32, &device)?.add(1.0))
}

#[test]
fn rows_are_not_longer_than_a_kernel_can_address() -> Result<()> {
    // Enough for what is asked for, not for longer rows.
    let Some((_, device)) = limited(|caps| Caps { binding_bytes: 137_000, cooperative: false, ..caps })
    else {
        return Ok(());
    };
    let sides = (wave(&[33, 24], 0.37, DType::F32, &device)?, wave(&[24, 1031], 0.71, DType::F32, &device)?);
    let sums = sides.0.matmul(&sides.1)?.softmax(-1)?.sum(&[1], false)?;
    let slots = sums.plan()?.slots.clone();
    assert!(!slots.is_empty() && slots.iter().all(|&bytes| bytes <= 137_000), "{slots:?}");
    check("a product that just fits", Ok(sums))
}

#[test]
fn intermediate_values_past_a_limit_are_an_error_too() -> Result<()> {
    let little = |caps| Caps { binding_bytes: 900_000, cooperative: false, parallel: 2112, ..caps };
    let Some((_, device)) = limited(little) else { return Ok(()) };
    let keys = wave(&[1, 1, 65, 64], 0.3, DType::F16, &device)?;
    let gradient = |queries: usize| -> Result<Tensor> {
        let q = wave(&[1, 1, queries, 64], 0.7, DType::F16, &device)?.variable()?;
        let attended = q.scaled_dot_product_attention(&keys, &keys, &AttentionOptions::default())?;
        Ok(crate::grad(&attended.to_dtype(DType::F32)?.sqr()?.sum_all()?, &[&q])?.remove(0))
    };
    match gradient(4000)?.to_bytes() {
        Err(Error::Device { detail, .. }) => {
            assert!(
                detail.contains("1024000 bytes of intermediate values are more than the 900000"),
                "{detail}"
            );
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    // It goes on.
    check("fewer queries", gradient(100))
}

#[test]
fn buffers_are_whole_lines_long() -> Result<()> {
    let Some((gpu, _)) = limited(|caps| caps) else { return Ok(()) };
    for bytes in [1, 16, 256, 300] {
        let size = gpu.memory(bytes)?.buffer.size();
        assert!(size >= bytes as u64 && size.is_multiple_of(128), "{bytes}: {size}");
    }
    // The smallest one, which comes first and would shift all others.
    assert!(gpu.reader.status.size().is_multiple_of(128));
    Ok(())
}
