//! Every form of the kernels that are not loops, printed for adapters with much and with little, must be WGSL
//! that such an adapter takes; and an adapter that uses little of what it has must compute the same.

use super::{Caps, Dispatch, print};
use crate::device::wgpu::tests::limited;
use crate::dtype::DType;
use crate::graph::AttentionSpec;
use crate::kernel::{Attention, AttentionGrad, Body, Kernel, Port, Scan, ScatterAdd, Sort, Work};
use crate::view::View;
use crate::{AttentionOptions, Device, Result, Tensor, grad};
use wgpu::naga;

pub(crate) const LARGE: Caps = Caps {
    f16: true,
    int64: true,
    subgroup: Some(32),
    immediates: true,
    cooperative: false,
    exp_keeps_nan: true,
    packed: true,
    lanes: 1024,
    workgroup: 256,
    workgroup_bytes: 48 << 10,
    buffers: 16,
    groups: 65_535,
    binding_bytes: 1 << 31,
    parallel: 512,
};

/// Adapters that lack something.
fn adapters() -> Vec<Caps> {
    vec![
        LARGE,
        Caps { cooperative: true, ..LARGE },
        Caps { f16: false, ..LARGE },
        Caps { int64: false, ..LARGE },
        Caps { subgroup: None, ..LARGE },
        Caps { subgroup: Some(8), workgroup_bytes: 32 << 10, parallel: 8, ..LARGE },
        Caps {
            f16: false,
            int64: false,
            subgroup: None,
            immediates: false,
            exp_keeps_nan: false,
            packed: false,
            lanes: 256,
            workgroup_bytes: 16 << 10,
            buffers: 8,
            ..LARGE
        },
    ]
}

/// Checks that a text is WGSL, and that an adapter with such capabilities takes it.
pub(super) fn validate(what: &str, text: &str, caps: &Caps) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|e| panic!("{what}: {}\n{text}", e.emit_to_string(text)));
    let mut able = Capabilities::all();
    able.set(Capabilities::SHADER_FLOAT16, caps.f16);
    able.set(Capabilities::SHADER_INT64, caps.int64);
    able.set(Capabilities::SUBGROUP, caps.subgroup.is_some());
    let info = Validator::new(ValidationFlags::all(), able)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{what}: {}\n{text}", e.emit_to_string(text)));
    let sizes = module.to_ctx();
    let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
    let bytes: u32 = shared.map(|(_, v)| module.types[v.ty].inner.size(sizes)).sum();
    assert!(bytes <= caps.workgroup_bytes, "{what}: {bytes} bytes of workgroup memory");
    translate(what, &module, &info, caps);
}

/// Checks that a text can be had in the languages of Metal and DX12, with what wgpu asks for there. Neither has matrices of
/// 16x16, so wgpu offers none to texts there.
fn translate(what: &str, module: &naga::Module, info: &naga::valid::ModuleInfo, caps: &Caps) {
    use naga::back::{hlsl, msl};
    if caps.cooperative {
        return;
    }
    let entry_point = Some((naga::ShaderStage::Compute, "main".to_string()));
    let options = msl::Options {
        lang_version: (2, 4),
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..Default::default()
    };
    let pipeline = msl::PipelineOptions { entry_point: entry_point.clone(), ..Default::default() };
    let (_, names) = msl::write_string(module, info, &options, &pipeline)
        .unwrap_or_else(|e| panic!("{what}: Metal does not take it: {e}"));
    assert!(names.entry_point_names[0].is_ok(), "{what}: {:?}", names.entry_point_names);
    // What the older compiler knows, which every Windows has, is all that such an adapter offers.
    let older = !caps.f16 && !caps.int64 && caps.subgroup.is_none();
    let options = hlsl::Options {
        shader_model: if older { hlsl::ShaderModel::V5_1 } else { hlsl::ShaderModel::V6_2 },
        immediates_target: Some(Default::default()),
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..Default::default()
    };
    let (mut text, pipeline) = (String::new(), hlsl::PipelineOptions { entry_point });
    let names = hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .unwrap_or_else(|e| panic!("{what}: DX12 does not take it: {e}"));
    assert!(names.entry_point_names[0].is_ok(), "{what}: {:?}", names.entry_point_names);
}

fn check(what: &str, body: Body, reads: &[(DType, usize)], writes: &[(DType, usize)], in_place: bool) {
    let ports =
        |of: &[(DType, usize)]| of.iter().map(|&(dtype, len)| Port { dtype, len }).collect::<Vec<_>>();
    let kernel = Kernel {
        label: what.into(),
        scope: Default::default(),
        body,
        reads: ports(reads),
        writes: ports(writes),
        in_place: if in_place { vec![(0, 0)] } else { vec![] },
        args: vec![],
        work: Work::default(),
        beside: 1,
    };
    for caps in adapters() {
        let printed = print(&kernel, &vec![true; kernel.in_place.len()], None, &caps).unwrap();
        assert!(!printed.dispatches.is_empty(), "{what}");
        for dispatch in &printed.dispatches {
            validate(what, &dispatch.text, &caps);
            assert!(dispatch.bindings.len() <= caps.buffers as usize, "{what}: {:?}", dispatch.bindings);
        }
    }
}

/// The sizes B, H, Hk, Tq, Tk, D, Dv of attention kernels.
const SIZES: [[usize; 7]; 8] = [
    [2, 12, 12, 256, 256, 64, 64],
    // Gradients in parts of the queries, and in rounds over the keys.
    [1, 12, 12, 512, 512, 64, 64],
    [8, 12, 12, 512, 512, 64, 64],
    [1, 4, 2, 1, 900, 64, 64],
    [1, 2, 1, 70, 65, 128, 32],
    [1, 1, 1, 20, 20, 256, 256],
    [1, 1, 1, 9, 9, 5, 3],
    [1, 1, 1, 40, 40, 80, 96],
];

/// Attention keeps parts of results, as many as keep a device busy, and never a score for every pair.
#[test]
fn attention_never_holds_all_scores() -> Result<()> {
    let (heads, length, d) = (4, 32_768, 64);
    let device = Device::cpu();
    for dtype in [DType::F32, DType::F16] {
        let x = Tensor::zeros(&[1, heads, length, d], dtype, &device)?.variable()?;
        x.eval()?;
        let options = AttentionOptions { causal: true, ..Default::default() };
        let attended = x.scaled_dot_product_attention(&x, &x, &options)?;
        let gradient = grad(&attended.to_dtype(DType::F32)?.sum_all()?, &[&x])?.remove(0);
        let plan = crate::realize::plan(&[&attended, &gradient])?;
        let scores = heads * length * length * dtype.size();
        assert!(plan.temporary_bytes() + plan.output_bytes() < scores / 16, "{plan}");
        let attention = |step: &&crate::schedule::Step| {
            matches!(step.kernel.body, Body::Attention(_) | Body::AttentionGrad(_))
        };
        let kernels: Vec<_> = plan.steps.iter().filter(attention).collect();
        assert_eq!(kernels.len(), 2, "{plan}");
        for caps in adapters() {
            for step in &kernels {
                let scratch: usize = print(&step.kernel, &[], None, &caps)?.scratch.iter().sum();
                assert!(scratch < scores / 16, "{}: {scratch} bytes", step.kernel.label);
            }
        }
    }
    Ok(())
}

#[test]
fn attention_is_valid_everywhere() {
    for [b, h, hk, tq, tk, d, dv] in SIZES {
        // Other dtypes differ in how rows are read: with whole vectors and without.
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            if dtype != DType::F32 && ![64, 5].contains(&d) {
                continue;
            }
            for (causal, mask) in [(false, false), (true, true)] {
                let spec = AttentionSpec { causal, scale: 0.125f64.to_bits(), mask };
                let q = (0, View::contiguous(&[b, h, tq, d]));
                let k = (1, View::contiguous(&[b, hk, tk, d]));
                let v = (2, View::contiguous(&[b, hk, tk, dv]));
                let mask = mask.then(|| (3, View::contiguous(&[b, 1, 1, tk]).expand(&[b, h, tq, tk])));
                let operands = [(dtype, b * h * tq * d), (dtype, b * hk * tk * d), (dtype, b * hk * tk * dv)];
                let mut reads = operands.to_vec();
                reads.push((dtype, b * tk));
                let result = (dtype, b * h * tq * dv);
                let lse = (DType::F32, b * h * tq);
                let what = format!("{dtype} {:?}", [b, h, hk, tq, tk, d, dv]);
                for (out, sums) in [(Some(0), Some(1)), (Some(0), None), (None, Some(1))] {
                    let (q, k, v, mask) = (q.clone(), k.clone(), v.clone(), mask.clone());
                    let body = Attention { spec, q, k, v, mask, out, lse: sums };
                    check(&what, Body::Attention(Box::new(body)), &reads, &[result, lse], false);
                }
                let turned = View::contiguous(&[b, tq, h, dv]);
                let (out, grad) = ((4, turned.clone()), (6, turned));
                reads.extend([result, lse, result]);
                let at_lse = (5, View::contiguous(&[b, h, tq]));
                for (dq, dk, dv) in
                    [(Some(0), Some(1), Some(2)), (Some(0), None, None), (None, None, Some(2))]
                {
                    let (q, k, v, mask) = (q.clone(), k.clone(), v.clone(), mask.clone());
                    let (out, lse, grad) = (out.clone(), at_lse.clone(), grad.clone());
                    let body = AttentionGrad { spec, q, k, v, out, lse, grad, mask, dq, dk, dv };
                    check(&what, Body::AttentionGrad(Box::new(body)), &reads, &operands, false);
                }
            }
        }
    }
}

const ALL: [DType; 8] =
    [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U32, DType::U8, DType::Bool];

#[test]
fn scatter_add_is_valid_everywhere() {
    for dtype in ALL.into_iter().filter(|&d| d != DType::Bool) {
        for (shape, axis, count) in
            [([100, 64], 0, 300), ([100, 17], 0, 30), ([7, 40], 1, 9), ([100_000, 1], 0, 5)]
        {
            let mut from = shape;
            from[axis] = count;
            let (len, n) = (shape[0] * shape[1], from[0] * from[1]);
            let value = (2, View::contiguous(&from));
            for rows in [false, true] {
                let mut thin = from;
                thin[axis + 1..].fill(1);
                let index =
                    if rows { View::contiguous(&thin).expand(&from) } else { View::contiguous(&from) };
                for (base, in_place) in [(false, false), (true, false), (true, true)] {
                    let base = base.then(|| (0, View::contiguous(&shape)));
                    let (index, value) = ((1, index.clone()), value.clone());
                    let body = ScatterAdd { axis, shape: shape[..].into(), base, index, value };
                    let reads = [(dtype, len), (DType::I64, n), (dtype, n)];
                    check(
                        &format!("{dtype} {shape:?} {count} {rows}"),
                        Body::ScatterAdd(Box::new(body)),
                        &reads,
                        &[(dtype, len)],
                        in_place,
                    );
                }
            }
        }
    }
}

#[test]
fn sorts_and_running_sums_are_valid_everywhere() {
    for dtype in ALL {
        for (shape, axis) in [([5, 7], 1), ([3, 1500], 1), ([1, 300_000], 1), ([5000, 64], 0)] {
            let n = shape[0] * shape[1];
            let value = (0, View::contiguous(&shape).pad(&[(0, 0), (0, 0)]));
            let what = format!("{dtype} {shape:?}");
            for descending in [false, true] {
                let body = Sort { axis, descending, value: value.clone() };
                check(&what, Body::Sort(body), &[(dtype, n)], &[(DType::I64, n)], false);
            }
            // Truth values are summed as integers.
            if dtype != DType::Bool {
                check(&what, Body::Scan(Scan { axis, value }), &[(dtype, n)], &[(dtype, n)], false);
            }
        }
    }
}

#[test]
fn functions_of_every_dtype_are_valid_everywhere() -> Result<()> {
    type Op1 = fn(&Tensor) -> Result<Tensor>;
    type Op2 = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let of_floats: [Op1; 21] = [
        |x| x.exp(),
        |x| x.exp2(),
        |x| x.expm1(),
        |x| x.log(),
        |x| x.log2(),
        |x| x.log1p(),
        |x| x.sin(),
        |x| x.cos(),
        |x| x.tan(),
        |x| x.asin(),
        |x| x.acos(),
        |x| x.atan(),
        |x| x.sinh(),
        |x| x.cosh(),
        |x| x.tanh(),
        |x| x.erf(),
        |x| x.floor(),
        |x| x.round(),
        |x| x.rsqrt(),
        |x| x.softmax(1),
        |x| x.layer_norm(1, None, None, 1e-5),
    ];
    let of_numbers: [Op2; 12] = [
        |x, y| x.add(y),
        |x, y| x.sub(y),
        |x, y| x.div(y),
        |x, y| x.rem(y),
        |x, y| x.pow(y),
        |x, y| x.maximum(y),
        |x, y| x.minimum(y),
        |x, y| x.lt(y)?.where_(x, y),
        |x, _| x.sign(),
        |x, _| x.sum(&[1], false),
        |x, _| x.prod(&[0], false),
        |x, _| x.cumsum(1),
    ];
    let of_all: [Op2; 5] = [
        |x, y| x.eq(y),
        |x, y| Tensor::cat(&[x, y], 0),
        |x, _| x.max(&[1], false),
        |x, _| x.argmax(Some(1), false),
        |x, _| x.argmax(Some(0), false),
    ];
    let cpu = Device::cpu();
    let mut every = adapters();
    every.push(Caps { subgroup: Some(4), ..LARGE });
    for dtype in ALL {
        let made = |shape: &[usize]| Tensor::zeros(shape, dtype, &cpu).and_then(|x| x.eval().map(|()| x));
        // Rows that one lane, one workgroup of few lanes and one of all lanes reduces.
        for shape in [[33, 5], [33, 64], [3, 20_000]] {
            let (x, y) = (made(&shape)?, made(&shape)?);
            let mut targets = of_all.iter().map(|op| op(&x, &y)).collect::<Result<Vec<_>>>()?;
            if dtype != DType::Bool {
                targets.extend(of_numbers.iter().map(|op| op(&x, &y)).collect::<Result<Vec<_>>>()?);
            }
            if dtype.is_float() {
                targets.extend(of_floats.iter().map(|op| op(&x)).collect::<Result<Vec<_>>>()?);
                targets.push(x.atan2(&y)?);
                targets.push(Tensor::randn(&shape, dtype, &cpu)?.add(&x)?);
            }
            targets.extend(ALL.iter().map(|&to| x.to_dtype(to)).collect::<Result<Vec<_>>>()?);
            for (target, caps) in
                targets.iter().flat_map(|target| every.iter().map(move |caps| (target, caps)))
            {
                printed(&[target], caps)?;
            }
        }
    }
    Ok(())
}

/// Compares a float tensor, or one of integers, with the reference.
fn compare(what: &str, tensor: &Tensor) -> Result<()> {
    use crate::graph::interpret::{Array, Data};
    let read = |bytes: &[u8]| match Array::from_bytes(bytes, tensor.shape(), tensor.dtype()).data {
        Data::Float(v) => v,
        Data::Int(v) => v.iter().map(|&i| i as f64).collect(),
    };
    let (want, got) = (read(&tensor.reference()?), read(&tensor.to_bytes()?));
    let tolerance = if tensor.dtype() == DType::F16 { 5e-3 } else { 2e-5 };
    for (i, (g, w)) in got.iter().zip(&want).enumerate() {
        assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "{what}: element {i} is {g}, not {w}");
    }
    Ok(())
}

fn wave(shape: &[usize], pace: f32, dtype: DType, device: &Device) -> Result<Tensor> {
    let n: usize = shape.iter().product();
    let data: Vec<f32> = (0..n).map(|i| (i as f32 * pace).sin()).collect();
    Tensor::from_slice(&data, shape, device)?.to_dtype(dtype)
}

#[test]
fn an_adapter_with_little_computes_the_same() -> Result<()> {
    for bytes in [4 << 10, 16 << 10] {
        let little = |caps: Caps| Caps {
            f16: false,
            int64: false,
            subgroup: None,
            immediates: false,
            packed: false,
            workgroup_bytes: bytes,
            ..caps
        };
        let Some((_, device)) = limited(little) else { return Ok(()) };
        for (dtype, d) in [(DType::F32, 128), (DType::F16, 12), (DType::F32, 6)] {
            let q = wave(&[1, 2, 20, d], 0.7, dtype, &device)?.variable()?;
            let k = wave(&[1, 1, 33, d], 0.3, dtype, &device)?.variable()?;
            let v = wave(&[1, 1, 33, d], 1.1, dtype, &device)?.variable()?;
            let options = AttentionOptions { causal: true, ..Default::default() };
            let out = q.scaled_dot_product_attention(&k, &v, &options)?;
            compare("attention", &out)?;
            let loss = out.to_dtype(DType::F32)?.sqr()?.sum_all()?;
            for gradient in grad(&loss, &[&q, &k, &v])? {
                compare("attention_grad", &gradient)?;
            }
        }
        let x = wave(&[3, 2500], 0.37, DType::F32, &device)?;
        compare("argsort", &x.argsort(1, true)?)?;
        compare("argsort of short rows", &x.reshape(&[300, 25])?.argsort(1, true)?)?;
        compare("cumsum", &x.cumsum(1)?)?;
        // Also more of them than a workgroup looks at together.
        let many: Vec<i64> = (0..1300).map(|i| i * i % 5).collect();
        for (ids, dtype) in [(&[4i64, 0, 4, 2, 4][..], DType::F16), (&many, DType::F32)] {
            let ids = Tensor::from_slice(ids, &[ids.len()], &device)?;
            let table = wave(&[6, 40], 0.2, dtype, &device)?.variable()?;
            let loss = Tensor::embedding(&table, &ids)?.to_dtype(DType::F32)?.sqr()?.sum_all()?;
            compare("scatter_add", &grad(&loss, &[&table])?[0])?;
        }
    }
    Ok(())
}

#[test]
fn workgroups_of_any_size_compute_the_same() -> Result<()> {
    // Subgroups may have as many lanes as they can be relied upon to have, or more; small ones combine in several rounds.
    for (workgroup, least) in [(32, 32), (64, 4), (512, 32), (1024, 32), (1024, 4)] {
        let limit = |caps: Caps| Caps {
            workgroup,
            subgroup: caps.subgroup.map(|lanes| lanes.min(least)),
            cooperative: false,
            ..caps
        };
        let Some((_, device)) = limited(limit) else { return Ok(()) };
        let x = wave(&[70_001], 0.37, DType::F32, &device)?;
        compare("map", &x.gelu()?.mul(&x)?)?;
        compare("long sum", &x.sqr()?.sum_all()?)?;
        compare("largest", &x.max_all()?)?;
        compare("rows", &wave(&[3, 5000], 0.37, DType::F32, &device)?.softmax(1)?)?;
        compare("half map", &x.to_dtype(DType::F16)?.add(1.0)?)?;
    }
    Ok(())
}

#[test]
fn gradients_of_attention_in_rounds() -> Result<()> {
    // Two parts of dq are all that can be bound, and not all gradients with the mask at once.
    let (b, h, hk, t, d) = (1, 4, 2, 150, 16);
    let binding_bytes = (2 * b * h * t * d * 4) as u64;
    let few = |caps: Caps| Caps { binding_bytes, buffers: 8, parallel: 2112, ..caps };
    let Some((_, device)) = limited(few) else { return Ok(()) };
    for (causal, masked) in [(true, false), (false, true)] {
        let q = wave(&[b, h, t, d], 0.7, DType::F32, &device)?.variable()?;
        let k = wave(&[b, hk, t, d], 0.3, DType::F32, &device)?.variable()?;
        let v = wave(&[b, hk, t, d], 1.1, DType::F32, &device)?.variable()?;
        let added = wave(&[1, t], 0.9, DType::F32, &device)?;
        let options = AttentionOptions { causal, mask: masked.then_some(&added), ..Default::default() };
        let out = q.scaled_dot_product_attention(&k, &v, &options)?;
        let loss = out.mul(&wave(&[b, h, t, d], 0.13, DType::F32, &device)?)?.sum_all()?;
        let gradients = grad(&loss, &[&q, &k, &v])?;
        let flat = gradients.iter().map(|g| g.flatten(0, -1)).collect::<Result<Vec<_>>>()?;
        for (what, gradient) in ["dq", "dk", "dv"].iter().zip(&flat) {
            compare(what, gradient)?;
        }
    }
    Ok(())
}

/// The kernels that compute some tensors, printed and valid: labels and dispatches.
pub(in crate::device::wgpu) fn printed(targets: &[&Tensor], caps: &Caps) -> Result<Vec<(String, Dispatch)>> {
    let mut all = vec![];
    for step in &crate::realize::plan(targets)?.steps {
        let label = &step.kernel.label;
        for dispatch in print(&step.kernel, &vec![true; step.kernel.in_place.len()], None, caps)?.dispatches {
            validate(label, &dispatch.text, caps);
            all.push((label.to_string(), dispatch));
        }
    }
    Ok(all)
}

/// A product writes its rows to one memory, however many stores that takes.
#[test]
fn few_rows_are_split_though_bindings_are_few() -> Result<()> {
    let device = Device::cpu();
    let operand =
        |shape: &[usize]| Tensor::zeros(shape, DType::F32, &device).and_then(|x| x.eval().map(|()| x));
    let product = operand(&[8, 4096])?.matmul(&operand(&[4096, 256])?)?;
    let plan = crate::realize::plan(&[&product])?;
    let dispatches = print(&plan.steps[0].kernel, &[], None, &Caps { buffers: 8, ..LARGE })?.dispatches;
    assert_eq!(dispatches.len(), 2);
    assert!(dispatches[0].grid[0] > 100, "{:?}", dispatches[0].grid);
    assert!(dispatches.iter().all(|dispatch| dispatch.bindings.len() <= 8));
    Ok(())
}
