//! The device with less than its adapter has: every feature forced off in turn, small limits, and a device that goes away.
//! Where there is no adapter, not even a software one, nothing is tested and the run says so.

use super::print::tests::printed;
use super::print::{Dispatch, Form, Shape, Tile, print};
use super::{Caps, Wgpu, lock};
use crate::graph::interpret::{Array, Data};
use crate::kernel::Body;
use crate::optim::{AdamW, Optimizer};
use crate::{AttentionOptions, DType, Device, Error, Result, Tensor};
use rayon::prelude::*;
use std::sync::Arc;

pub(super) fn limited(limit: impl FnOnce(Caps) -> Caps) -> Option<(Arc<Wgpu>, Device)> {
    let Ok(gpu) = Wgpu::open_with("wgpu", limit) else {
        println!("no wgpu adapter: nothing was tested");
        return None;
    };
    let gpu = Arc::new(gpu);
    Some((gpu.clone(), Device::with_backend(gpu)))
}

fn wave(shape: &[usize], pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| (i as f32 * pace).sin() as f64 * 2.0);
    let data = match dtype.is_float() {
        true => Data::Float(values.collect()),
        false => Data::Int(values.map(|v| (v * 5.0).abs() as i64).collect()),
    };
    Tensor::from_bytes(&Array { shape: shape.into(), dtype, data }.to_bytes(), shape, dtype, device)
}

/// As [`wave`], of one sign: in a sum terms do not cancel, so its error is small beside it.
fn positive(shape: &[usize], pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let x = wave(shape, pace, dtype, device)?.abs()?.add(0.5)?;
    x.eval()?;
    Ok(x.detach())
}

/// An operand of a product, as it is or turned.
fn operand(shape: [usize; 2], turned: bool, pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let [rows, columns] = shape;
    match turned {
        false => wave(&[rows, columns], pace, dtype, device),
        true => wave(&[columns, rows], pace, dtype, device)?.t(),
    }
}

fn values(bytes: &[u8], tensor: &Tensor) -> Vec<f64> {
    match Array::from_bytes(bytes, tensor.shape(), tensor.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    }
}

fn check(what: &str, tensor: Result<Tensor>) -> Result<()> {
    check_together(&[(what.to_string(), tensor?)])
}

/// Checks results of one evaluation.
fn check_together(results: &[(String, Tensor)]) -> Result<()> {
    let wanted = results.iter().map(|(_, tensor)| tensor.reference()).collect::<Result<Vec<_>>>()?;
    crate::eval(&results.iter().map(|(_, tensor)| tensor).collect::<Vec<_>>())?;
    results.iter().zip(wanted).try_for_each(|((what, tensor), want)| compare(what, tensor, &want))
}

fn compare(what: &str, tensor: &Tensor, want: &[u8]) -> Result<()> {
    let (want, got) = (values(want, tensor), values(&tensor.to_bytes()?, tensor));
    let tolerance = match tensor.dtype() {
        DType::F16 => 5e-3,
        DType::BF16 => 3e-2,
        dtype if dtype.is_float() => 2e-5,
        _ => 0.0,
    };
    let scale = (want.iter().map(|w| w * w).sum::<f64>() / want.len().max(1) as f64).sqrt();
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        assert!((g - w).abs() <= tolerance * w.abs().max(scale), "{what}: element {i} is {g}, not {w}");
    }
    Ok(())
}

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
    let limits: [(&str, Limit); 10] = [
        ("no f16", |c| Caps { f16: false, cooperative: false, ..c }),
        ("no 64-bit integers", |c| Caps { int64: false, ..c }),
        ("no subgroups", |c| Caps { subgroup: None, cooperative: false, ..c }),
        ("subgroups that may be small", |c| Caps {
            subgroup: c.subgroup.map(|_| 4),
            cooperative: false,
            ..c
        }),
        ("no immediates", |c| Caps { immediates: false, ..c }),
        ("no products of four bytes", |c| Caps { packed: false, ..c }),
        ("no cooperative matrices", |c| Caps { cooperative: false, ..c }),
        ("small workgroups", |c| Caps { lanes: 256, workgroup_bytes: 8 << 10, cooperative: false, ..c }),
        ("few bindings", |c| Caps { buffers: 8, ..c }),
        ("small grids", |c| Caps { groups: 40, ..c }),
    ];
    let want = train(&Device::cpu())?;
    for (name, limit) in limits {
        let Some((_, device)) = limited(limit) else { return Ok(()) };
        every_shape(name, &device)?;
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
fn what_passes_a_limit_is_an_error_that_says_so() -> Result<()> {
    let few = |c| Caps { binding_bytes: 1 << 20, groups: 2, ..c };
    let Some((_, device)) = limited(few) else { return Ok(()) };
    let large = Tensor::ones(&[1 << 19], DType::F32, &device)?.add(1.0)?;
    match large.to_bytes() {
        Err(Error::Device { detail, .. }) => assert!(detail.contains("1048576 bytes"), "{detail}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    let wide = Tensor::arange(0, 100_000, 1, DType::F32, &device)?.add(1.0)?;
    match wide.to_bytes() {
        Err(Error::Device { detail, .. }) => assert!(detail.contains("2 x 2"), "{detail}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    let double = Tensor::from_slice(&[1f64], &[1], &device)?.add(1.0)?.to_bytes();
    assert!(matches!(double, Err(Error::DType { .. })), "{double:?}");
    // It goes on.
    check("after", Tensor::arange(0, 100, 1, DType::F32, &device)?.add(1.0))
}

#[test]
fn a_refused_text_is_an_error_and_the_device_goes_on() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    for _ in 0..2 {
        let source = wgpu::ShaderSource::Wgsl("fn main() { nothing(); }".into());
        let text = wgpu::ShaderModuleDescriptor { label: None, source };
        assert!(super::checked(&gpu.device, || gpu.device.create_shader_module(text)).is_err());
        gpu.reader.check()?;
    }
    assert!(super::checked(&gpu.device, || 1).is_ok());
    check("after", wave(&[40, 40], 0.3, DType::F32, &device)?.exp())
}

#[test]
fn a_lost_device_is_an_error_and_another_goes_on() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    let x = wave(&[40, 40], 0.3, DType::F32, &device)?;
    let y = x.matmul(&x)?;
    y.eval()?;
    let (mut pending, awaited) = (y.to_vec_later::<f32>()?, y.to_vec_later::<f32>()?);
    assert!(!y.to_vec::<f32>()?.is_empty());
    gpu.device.destroy();
    // What had arrived may be had; the rest must fail, and nothing may hang.
    while !pending.ready() {}
    for early in [pending.wait(), pollster::block_on(awaited)] {
        assert!(matches!(early, Ok(_) | Err(Error::Device { .. })), "{early:?}");
    }
    let lost = |what: &str, result: Result<()>| match result {
        Err(Error::Device { device, detail }) => {
            assert!(device.starts_with("wgpu") && !detail.is_empty(), "{what}: {detail}");
        }
        other => panic!("{what}: {other:?}"),
    };
    lost("read", y.to_vec::<f32>().map(|_| ()));
    lost("launch", x.add(1.0)?.eval());
    lost("compile", x.softmax(0)?.exp()?.eval());
    lost("upload", wave(&[7], 0.1, DType::F32, &device).map(|_| ()));
    lost("wait", device.synchronize());
    lost("await", pollster::block_on(y.to_vec_async::<f32>()).map(|_| ()));
    drop((x, y, gpu, device));
    // Bytes that are the first to meet the loss, by belts that were used before and by new ones.
    for (before, used) in [(1000, true), (1 << 20, true), (1000, false), (1 << 20, false)] {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let upload = || Tensor::from_slice(&vec![1u8; before], &[before], &device);
        if used {
            upload()?.to_bytes()?;
        }
        gpu.device.destroy();
        let uploads = (0..300).map(|_| upload()).collect::<Result<Vec<_>>>();
        lost("uploads, then a read", uploads.and_then(|all| all[7].to_bytes()).map(|_| ()));
        lost("upload", upload().map(|_| ()));
    }
    let again = Device::open("wgpu")?;
    for device in [Device::cpu(), again] {
        let x = wave(&[40, 40], 0.3, DType::F32, &device)?;
        check("another device", x.matmul(&x))?;
    }
    Ok(())
}

#[test]
fn a_long_batch_is_submitted_in_pieces_and_runs_in_order() -> Result<()> {
    let chain = |x: &Tensor| -> Result<Tensor> {
        let mut u = x.clone();
        for step in 0..300 {
            u = if step % 3 == 0 { u.mul(0.5)?.fence() } else { u.add(1.0)?.fence() };
        }
        u.eval()?;
        Ok(u)
    };
    let right = (0..300).fold(0.0f32, |v, step| if step % 3 == 0 { v * 0.5 } else { v + 1.0 });
    for immediates in [true, false] {
        let limit = |caps: Caps| Caps { immediates: caps.immediates && immediates, ..caps };
        let Some((_, device)) = limited(limit) else { return Ok(()) };
        let x = Tensor::zeros(&[64], DType::F32, &device)?;
        x.eval()?;
        for _ in 0..2 {
            device.synchronize()?;
            device.reset_stats();
            let u = chain(&x)?;
            assert!(device.stats().launches >= 300 && device.stats().submits == 2, "{:?}", device.stats());
            assert_eq!(u.to_vec::<f32>()?, vec![right; 64]);
        }
        // In the threads that write commands, too: who waits there may launch what another one wants.
        let all = (0..8).into_par_iter().map(|_| chain(&x)?.to_vec::<f32>()).collect::<Result<Vec<_>>>()?;
        assert!(all.iter().flatten().all(|&v| v == right));
    }
    Ok(())
}

/// Makes an adapter without cooperative matrices compute with them. Each lane of a subgroup keeps eight elements of a sum,
/// two rows apart, and of the sides the rows and the column that it needs for them.
pub(super) fn without_cooperative(gpu: &Wgpu, mut dispatch: Dispatch) -> Dispatch {
    let real = gpu.device.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    if real || !dispatch.text.contains("coop_mat16x16") {
        return dispatch;
    }
    let between = |line: &str, from: &str, to: &str| -> String {
        let rest = line.split_once(from).map_or("", |(_, rest)| rest);
        rest.split_once(to).map_or("", |(part, _)| part).into()
    };
    // Memory, address of the first element and elements from row to row, of single elements or vectors.
    let place = |line: &str| {
        let (memory, at) = (between(line, "&", "["), between(line, "[", "], "));
        let stride = between(line, "], ", ")");
        match at.strip_suffix(" / 4u") {
            Some(at) => (memory, at.to_string(), format!("4u * {stride}"), true),
            None => (memory, at, stride, false),
        }
    };
    // How many elements a lane keeps of each kind of matrix.
    const KEPT: [(&str, usize); 3] =
        [("coop_mat16x16<f32, C>()", 8), ("coop_mat16x16<f16, A>()", 128), ("coop_mat16x16<f16, B>()", 16)];
    // The number is nothing, but compilers do not know it and unroll no loop.
    let each = |i: &str, n: usize| format!("for (var {i} = 0u; {i} < {n}u + (lane >> 16u); {i}++)");
    let plain = |line: &str| -> String {
        if line.starts_with("enable wgpu_cooperative_matrix") {
            String::new()
        } else if let Some((zeros, n)) = KEPT.iter().find(|(zeros, _)| line.contains(zeros)) {
            line.replace(zeros, &format!("array<f32, {n}>()"))
        } else if line.contains("coopStoreT") || line.contains("<f32, C>>(") {
            let (memory, at, stride, vectors) = place(line);
            let at = format!("{at} + (e / 16u) * {stride} + e % 16u");
            let element = if vectors { format!("[({at}) / 4u][({at}) % 4u]") } else { format!("[{at}]") };
            let moved = match line.split_once(" = ") {
                Some((sum, _)) => format!("{sum}[i] = {memory}{element};"),
                None => format!("{memory}{element} = {}[i];", between(line, "(", ", &")),
            };
            format!("{} {{ let e = lane % 32u + 32u * i; {moved} }}", each("i", 8))
        } else if line.contains("coopLoad") {
            let (side, (memory, at, stride, _)) = (between(line, "", " ="), place(line));
            let (down, across) =
                if line.contains("coopLoadT") { (stride, "1u".into()) } else { ("1u".into(), stride) };
            let (count, row, column) = match line.contains("<f16, A>") {
                true => (128, "(lane % 32u / 16u + e / 16u * 2u)", "e % 16u"),
                false => (16, "e", "lane % 16u"),
            };
            let name = side.trim_start_matches("let ");
            let declared =
                if name == side { String::new() } else { format!("var {name}: array<f32, {count}>;") };
            let x = format!("let x = {at} + {row} * ({down}) + {column} * ({across});");
            let taken = format!("{x} {name}[e] = f32({memory}[x / 4u][x % 4u]);");
            format!("{declared} {} {{ {taken} }}", each("e", count))
        } else if line.contains("coopMultiplyAdd") {
            let (sum, a, b) = (between(line, "", " ="), between(line, "(", ","), between(line, ", ", ", "));
            let added = format!("{sum}[i] += {a}[i * 16u + k] * {b}[k];");
            format!("{} {{ {} {{ {added} }} }}", each("i", 8), each("k", 16))
        } else {
            line.into()
        }
    };
    dispatch.text = dispatch.text.lines().map(plain).collect::<Vec<_>>().join("\n");
    dispatch
}

/// A product of rows that are whole vectors and of which it takes only a part; what follows there is no number.
fn ends_inside_a_vector(dtype: DType, device: &Device) -> Result<Tensor> {
    let part = |rows: usize, pace: f32| -> Result<Tensor> {
        let nothing = Tensor::full(&[rows, 29], f64::NAN, dtype, device)?;
        let whole = Tensor::cat(&[&wave(&[rows, 131], pace, dtype, device)?, &nothing], 1)?;
        whole.eval()?;
        whole.narrow(1, 0, 131)
    };
    part(40, 0.37)?.matmul(&part(56, 0.71)?.t()?)
}

#[test]
fn cooperative_products_compute_the_same() -> Result<()> {
    let Some((gpu, _)) = limited(|caps| Caps { cooperative: caps.f16, ..caps }) else { return Ok(()) };
    if !gpu.caps.cooperative {
        println!("no halves: matrices of them can be neither had nor played");
        return Ok(());
    }
    // Small sizes: software has little workgroup memory, and takes seconds to compile a text. Those of depth 128 load four
    // halves at a time, the last one four of the right side and eight of the left, others eight.
    let shape = |[rows, columns, depth]: [usize; 3], [down, across, layers]: [usize; 3]| Shape {
        rows,
        columns,
        depth,
        down,
        across,
        layers,
    };
    let forms = [
        (shape([64, 64, 32], [1, 2, 1]), 1),
        (shape([64, 64, 32], [1, 2, 1]), 2),
        (shape([32, 32, 128], [1, 1, 4]), 1),
        (shape([64, 32, 64], [4, 1, 2]), 2),
    ]
    .map(|(shape, parts)| Form::Cooperative(shape, parts));
    // Whole tiles, and parts of a sum, of three slices and more in every form; rows that begin anywhere, at every fourth or
    // every eighth half; sums that end inside a slice.
    for [m, n, k] in [[64, 128, 512], [40, 51, 131], [33, 66, 140], [40, 72, 136], [3, 72, 136]] {
        for turned in [false, true] {
            let product = |device: &Device| {
                let operand = |shape, pace| operand(shape, turned, pace, DType::F16, device);
                let bias = wave(&[n], 0.3, DType::F16, device)?;
                let rest = wave(&[m, n], 0.23, DType::F16, device)?;
                operand([m, k], 0.37)?.matmul(&operand([k, n], 0.71)?)?.add(&bias)?.mul(&rest)
            };
            for form in forms {
                *lock(&gpu.tuner.forced) = Some(form);
                let fresh = Device::with_backend(gpu.clone());
                check(&format!("{m}x{n}x{k}, turned: {turned}, {form}"), product(&fresh))?;
            }
        }
    }
    for form in forms {
        *lock(&gpu.tuner.forced) = Some(form);
        let fresh = Device::with_backend(gpu.clone());
        check(&format!("a sum that ends inside a vector, {form}"), ends_inside_a_vector(DType::F16, &fresh))?;
    }
    // Both operands and the epilogue read one memory, by eights, fours and words.
    *lock(&gpu.tuner.forced) = Some(forms[0]);
    let x = wave(&[72, 72], 0.37, DType::F16, &Device::with_backend(gpu.clone()))?;
    check("of itself", x.matmul(&x.t()?)?.add(&x))?;
    check("of a part of itself", x.narrow(1, 4, 64)?.matmul(&x.narrow(0, 8, 64)?)?.add(&x))?;
    Ok(())
}

#[test]
fn rows_are_not_longer_than_a_kernel_can_address() -> Result<()> {
    // Enough for what is asked for, not for longer rows.
    let Some((_, device)) = limited(|caps| Caps { binding_bytes: 137_000, cooperative: false, ..caps })
    else {
        return Ok(());
    };
    let sides = (wave(&[33, 24], 0.37, DType::F32, &device)?, wave(&[24, 1031], 0.71, DType::F32, &device)?);
    check("a product that just fits", sides.0.matmul(&sides.1)?.softmax(-1)?.sum(&[1], false))
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

#[test]
fn lanes_of_sixteen_rows_compute_the_same() -> Result<()> {
    let Some((gpu, _)) = limited(|caps| caps) else { return Ok(()) };
    let tile = Tile { rows: 32, columns: 32, depth: 8, lane_rows: 16, lane_columns: 8 };
    // Whole tiles, whose loads share an address, and others; three slices and more of each part, or fewer in the last one.
    for ([m, n, k], turned, parts, dtype) in [
        ([64, 96, 64], false, 2, DType::F32),
        ([64, 96, 64], true, 1, DType::F16),
        ([64, 96, 64], false, 3, DType::F32),
        ([32, 32, 72], false, 3, DType::BF16),
        ([33, 51, 70], true, 1, DType::F32),
    ] {
        *lock(&gpu.tuner.forced) = Some(Form::Tile(tile, parts));
        let fresh = Device::with_backend(gpu.clone());
        let operand = |shape, pace| operand(shape, turned, pace, dtype, &fresh);
        let product = operand([m, k], 0.37)?.matmul(&operand([k, n], 0.71)?)?.gelu();
        check(&format!("{m}x{n}x{k}, turned: {turned}, parts: {parts}, {dtype}"), product)?;
        check("a sum that ends inside a vector", ends_inside_a_vector(dtype, &fresh))?;
    }
    Ok(())
}

#[test]
fn what_keeps_a_gpu_awake_is_valid_and_not_counted() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    // What was written when the device was opened goes.
    gpu.drain()?;
    device.reset_stats();
    let work = super::tune::Busy::new(&gpu)?;
    // Software would take seconds to run it.
    if !gpu.software {
        work.run(&gpu)?;
    }
    assert_eq!(device.stats().submits, 0);
    Ok(())
}

#[test]
fn products_of_bytes() -> Result<()> {
    let rule = |tensor: &Tensor, caps: &Caps| -> Result<bool> {
        Ok(printed(&[tensor], caps)?.iter().any(|(_, dispatch)| dispatch.text.contains("dot4U8Packed")))
    };
    let tile = |depth: usize| Tile { rows: 32, columns: 32, depth, lane_rows: 4, lane_columns: 4 };
    for packed in [true, false] {
        let Some((gpu, device)) = limited(|caps| Caps { packed, ..caps }) else { return Ok(()) };
        let bytes = |shape: &[usize]| {
            let n: usize = shape.iter().product();
            let data: Vec<u8> = (0..n).map(|i| (i * 89 + i / 7) as u8).collect();
            Tensor::from_slice(&data, shape, &device)
        };
        // Batch, m, n, k; whether four steps of k are in one word of both operands; how many workgroups share a sum; the
        // depth of a slice: in those of eight, one address serves all loads of whole tiles.
        for ([b, m, n, k], whole, parts, depth) in [
            ([1, 70, 50, 64], true, 1, 16),
            ([1, 33, 130, 1000], true, 1, 16),
            ([1, 33, 70, 1000], true, 3, 16),
            ([1, 300, 270, 64], true, 1, 16),
            ([3, 20, 20, 36], true, 1, 16),
            ([2, 64, 96, 128], true, 1, 8),
            ([1, 64, 64, 30], false, 1, 16),
        ] {
            *lock(&gpu.tuner.forced) = Some(Form::Tile(tile(depth), parts));
            let (x, y) = (bytes(&[b, m, k])?, bytes(&[b, n, k])?.transpose(1, 2)?);
            for dtype in [DType::U8, DType::U32, DType::I32] {
                let product = x.to_dtype(dtype)?.matmul(&y.to_dtype(dtype)?)?;
                let what = format!("{b}x{m}x{n}x{k} in {parts}, {dtype}, packed: {packed}");
                assert_eq!(rule(&product, &gpu.caps)?, whole && packed, "{what}");
                check(&what, Ok(product))?;
            }
            // The steps of k are rows of the right operand: they lie in different words.
            let product = x.matmul(&bytes(&[b, k, n])?)?;
            assert!(!rule(&product, &gpu.caps)?);
            check("rows", Ok(product))?;
        }
        // From the second element on, words hold other four bytes than those that are multiplied.
        *lock(&gpu.tuner.forced) = None;
        let product = bytes(&[40, 65])?.narrow(1, 1, 64)?.matmul(&bytes(&[40, 64])?.t()?)?;
        assert!(!rule(&product, &gpu.caps)?);
        check("not aligned", Ok(product))?;
    }
    Ok(())
}

/// Computes attention with its gradients on matrices, played ones where there are none, and compares it. Batch, heads, key
/// heads, queries, keys and widths.
fn attention_on_matrices(
    (gpu, device): (&Wgpu, &Device),
    [b, h, hk, tq, tk, d, dv]: [usize; 7],
    causal: bool,
    masked: bool,
) -> Result<()> {
    device.set_verify(true);
    let able = gpu.caps.subgroup.is_some_and(|size| size >= 8);
    // Rows lie between those of other heads, as a fused projection leaves them.
    let rows = |t: usize, heads: usize, width: usize, pace: f32| {
        wave(&[b, t, heads, width], pace, DType::F16, device)?.transpose(1, 2)
    };
    // Later keys score much higher, so that what was summed before must be corrected.
    let rising = wave(&[1, 1, tk, 1], 1.5 / tk as f32, DType::F16, device)?;
    // Values go with keys and do not cancel: what is left of their rounding would be all there is.
    let (q, v) = (rows(tq, h, d, 0.37)?, rows(tk, hk, dv, 0.37)?.add(1.0)?);
    let k = rows(tk, hk, d, 0.37)?;
    let rising = k.mul(&rising)?.mul(4.0)?;
    crate::eval(&[&rising, &v])?;
    let mask = wave(&[tq, tk], 0.9, DType::F16, device)?;
    let options = AttentionOptions { causal, mask: masked.then_some(&mask), ..Default::default() };
    let risen = q.scaled_dot_product_attention(&rising, &v, &options)?;
    let (q, k, v) = (q.variable()?, k.variable()?, v.variable()?);
    let out = q.scaled_dot_product_attention(&k, &v, &options)?;
    let what = format!("{:?}, causal: {causal}, mask: {masked}", [b, h, hk, tq, tk, d, dv]);
    let seed = wave(&[b, h, tq, dv], 0.23, DType::F16, device)?;
    let (one, all) = (out.backward_with(&seed)?, out.backward_with(&seed)?);
    let gradient = |of: &Tensor| all.get(of).cloned().ok_or(Error::Internal(what.clone()));
    let all = [gradient(&q)?, gradient(&k)?, gradient(&v)?];
    for plan in [risen.plan()?, crate::realize::plan(&[&all[0], &all[1], &all[2]])?] {
        for step in plan.steps.iter().filter(|_| able) {
            if matches!(step.kernel.body, Body::Attention(_) | Body::AttentionGrad(_)) {
                let printed = super::print::print(&step.kernel, &[], None, &gpu.caps)?;
                let cooperative = printed.dispatches.iter().any(|d| d.text.contains("coopMultiplyAdd"));
                assert!(cooperative, "{what}: {}", step.kernel);
            }
        }
    }
    check(&format!("{what}: rising"), Ok(risen))?;
    check(&format!("{what}: out"), Ok(out))?;
    check(&format!("{what}: dv"), one.get(&v).cloned().ok_or(Error::Internal(what.clone())))?;
    // The others follow the output, of which two roundings may differ in the last bit. What verifies their kernel on
    // its own inputs says more of it than a comparison from end to end.
    crate::eval(&[&all[0], &all[1], &all[2]])?;
    Ok(())
}

#[test]
fn cooperative_attention_computes_the_same() -> Result<()> {
    let real = std::cell::Cell::new(false);
    let able = |caps: Caps| {
        real.set(caps.cooperative);
        Caps { cooperative: caps.f16, ..caps }
    };
    let Some((gpu, device)) = limited(able) else { return Ok(()) };
    // Whole tiles and parts of them; heads that share keys, packed and not; keys in parts; rows that pass through workgroup
    // memory in pieces. Software gives up on a text after 65535 rounds of its loops, which more keys would take.
    let cases = [
        ([1, 1, 1, 128, 128, 16, 16], true, false),
        ([1, 4, 2, 17, 65, 32, 16], false, true),
        ([1, 1, 1, 130, 130, 16, 16], true, false),
        ([2, 2, 1, 64, 128, 64, 48], false, false),
        ([1, 2, 2, 192, 192, 64, 64], true, false),
        ([1, 1, 1, 33, 300, 16, 32], false, false),
        ([2, 2, 1, 65, 65, 64, 64], true, true),
        ([1, 4, 2, 17, 65, 80, 16], false, true),
        ([1, 1, 1, 17, 1, 16, 128], false, false),
        ([1, 1, 1, 130, 130, 128, 128], true, false),
    ];
    // Software takes a minute to compile the texts of a case.
    let cases = &cases[..if real.get() { cases.len() } else { 2 }];
    cases.iter().try_for_each(|&(sizes, causal, masked)| {
        attention_on_matrices((&gpu, &device), sizes, causal, masked)
    })
}

#[test]
fn cooperative_attention_computes_the_same_in_little_memory() -> Result<()> {
    let little = |caps: Caps| Caps { cooperative: caps.f16, workgroup_bytes: 8 << 10, ..caps };
    let Some((gpu, device)) = limited(little) else { return Ok(()) };
    // Fewer own rows than pass by at a time.
    attention_on_matrices((&gpu, &device), [1, 1, 1, 64, 64, 16, 16], true, false)
}

#[test]
fn sums_of_many_tensors_share_dispatches() -> Result<()> {
    // Long, short and odd ones; bindings for all, and for a few at a time.
    let lengths = [70_000, 300, 40_001, 1 << 16, 33_000, 57, 90_112, 768];
    for buffers in [32, 12] {
        let Some((gpu, device)) = limited(|caps| Caps { buffers, ..caps }) else { return Ok(()) };
        let tensors = lengths.map(|n| wave(&[n], 0.1 + n as f32 * 1e-5, DType::F32, &device));
        let tensors = tensors.into_iter().collect::<Result<Vec<_>>>()?;
        let squares = tensors.iter().map(|x| x.sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
        let norm = Tensor::stack(&squares.iter().collect::<Vec<_>>(), 0)?.sum_all()?.sqrt()?;
        // As a step clips its gradients: what is summed is scaled afterwards.
        let mut results = tensors.iter().map(|x| x.mul(&norm)).collect::<Result<Vec<_>>>()?;
        let limit = Tensor::scalar(1.999, DType::F32, &device)?;
        for x in &tensors {
            results.push(x.abs()?.lt(&limit)?.min_all()?);
        }
        let wanted: Vec<&Tensor> = results.iter().collect();
        let plan = crate::realize::plan(&wanted)?;
        let kernel = &plan.steps[0].kernel;
        assert_eq!(kernel.label, "mul_sum_abs_lt_min f32 8 segments", "{plan}");
        let dispatches = print(kernel, &[], None, &gpu.caps)?.dispatches.len();
        assert!(dispatches <= if buffers > 12 { 2 } else { 8 }, "{buffers} buffers: {dispatches} dispatches");
        let named = |(i, result)| (format!("{buffers} buffers, result {i}"), result);
        check_together(&results.into_iter().enumerate().map(named).collect::<Vec<_>>())?;
    }
    Ok(())
}

#[test]
fn many_short_sums_share_dispatches() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| Caps { parallel: 512, buffers: 32, ..caps }) else {
        return Ok(());
    };
    let sums = (1..20).map(|n| wave(&[n * 37], 0.1 + n as f32 * 1e-3, DType::F32, &device)?.sqr()?.sum_all());
    let sums = sums.collect::<Result<Vec<_>>>()?;
    let wanted: Vec<&Tensor> = sums.iter().collect();
    let plan = crate::realize::plan(&wanted)?;
    assert_eq!(plan.launches(), 1, "{plan}");
    let dispatches = print(&plan.steps[0].kernel, &[], None, &gpu.caps)?.dispatches.len();
    // Two for all of them, or for half of them where there are no more bindings.
    assert!(dispatches <= 4, "{dispatches} dispatches");
    let named = |(i, sum)| (format!("sum {i}"), sum);
    check_together(&sums.into_iter().enumerate().map(named).collect::<Vec<_>>())
}

#[test]
fn products_of_few_rows_are_right_in_every_geometry() -> Result<()> {
    // One column at a time, or up to eight, as a device has much or little to keep busy; sums shared by workgroups.
    for parallel in [8, 512] {
        let Some((_, device)) = limited(|caps| Caps { parallel, ..caps }) else { return Ok(()) };
        for [m, k, n] in [[8, 300, 1024], [5, 75, 514], [3, 64, 516], [7, 40, 24], [4, 33_000, 6]] {
            for turned in [false, true] {
                let right = match turned {
                    false => positive(&[k, n], 0.23, DType::F32, &device)?,
                    true => positive(&[n, k], 0.23, DType::F32, &device)?.t()?,
                };
                let product = positive(&[m, k], 0.17, DType::F32, &device)?.matmul(&right)?;
                let places = wave(&[m, n], 0.9, DType::F32, &device)?;
                let name = |what: &str| format!("{what} {m}x{n}x{k}, turned: {turned}, for {parallel}");
                let both = [("product", product.clone()), ("and more", product.mul(&places)?.add(1.0)?)];
                check_together(&both.map(|(what, result)| (name(what), result)))?;
            }
        }
        // A right side of one column that is repeated, rows of results behind a mask, and a long epilogue.
        let x = wave(&[8, 96], 0.17, DType::F32, &device)?;
        let repeated = wave(&[96, 1], 0.23, DType::F32, &device)?.expand(&[96, 512])?;
        check(&format!("repeated, for {parallel}"), x.matmul(&repeated))?;
        let product = x.matmul(&operand([96, 512], true, 0.23, DType::F32, &device)?)?;
        let rest = wave(&[7, 512], 0.9, DType::F32, &device)?.pad(&[(1, 0), (0, 0)], 0.0)?;
        check(&format!("masked, for {parallel}"), product.add(&rest))?;
        // Rows of which a part is taken, behind which there is no number.
        let part = |rows: usize, pace: f32| -> Result<Tensor> {
            let nothing = Tensor::full(&[rows, 29], f64::NAN, DType::F32, &device)?;
            let whole = Tensor::cat(&[&wave(&[rows, 131], pace, DType::F32, &device)?, &nothing], 1)?;
            whole.eval()?;
            whole.narrow(1, 0, 131)
        };
        check(&format!("a part of rows, for {parallel}"), part(5, 0.37)?.matmul(&part(56, 0.71)?.t()?))?;
        let long =
            (0..200).try_fold(product, |x, i| x.mul(0.9)?.add(&x.sin()?.mul(0.1 + i as f64 * 1e-3)?))?;
        check(&format!("long, for {parallel}"), Ok(long))?;
    }
    Ok(())
}

#[test]
fn sums_of_columns_are_right_in_every_geometry() -> Result<()> {
    // As many workgroups as a large device wants: strips in one dispatch, and sums of parts of long columns.
    let Some((_, device)) = limited(|caps| Caps { parallel: 512, ..caps }) else { return Ok(()) };
    for [rows, columns] in [[512, 768], [70, 12], [1000, 51], [1024, 64], [1025, 64], [5000, 96], [3000, 7]] {
        for dtype in [DType::F32, DType::F16] {
            let x = positive(&[rows, columns], 0.37, dtype, &device)?;
            let wide = x.to_dtype(DType::F32)?;
            let (sum, least) = (wide.sum(&[0], false)?, wide.min(&[0], false)?);
            let large = wide.gt(0.502)?.all(&[0], false)?;
            let named = |(name, result)| (format!("{name} of {rows}x{columns} {dtype}"), result);
            check_together(&[("sum", sum), ("min", least), ("all", large)].map(named))?;
        }
    }
    Ok(())
}
