//! Fusion, counted: how many kernels a plan has. Counts hold on every machine, timings do not.

mod on;

use fornax::kernel::{Body, Inst};
use fornax::nn::{Linear, Module, Parameter};
use fornax::optim::{Adam, AdamW, GradScaler, Lion, Optimizer, Rule, Sgd, clip_grad_norm};
use fornax::profile::count;
use fornax::schedule::Plan;
use fornax::{AttentionOptions, DType, Device, Gradients, Result, Tensor, autocast, realize};

fn device() -> Device {
    on::fresh()
}

fn randn(shape: &[usize], device: &Device) -> Tensor {
    let x = Tensor::randn(shape, DType::F32, device).unwrap();
    x.eval().unwrap();
    x
}

fn assert_kernels(what: &str, targets: &[&Tensor], most: usize) {
    let plan: &Plan = &realize::plan(targets).unwrap();
    assert!(plan.launches() <= most, "{what}: {} kernels, at most {most} expected\n{plan}", plan.launches());
}

#[test]
fn a_chain_of_elementwise_ops_is_one_kernel() -> Result<()> {
    let device = device();
    let (x, y) = (randn(&[64, 33], &device), randn(&[64, 33], &device));
    let mut z = x.add(&y)?;
    for _ in 0..3 {
        z = z.mul(1.5)?.tanh()?.sub(&y)?;
    }
    assert_kernels("chain of 10", &[&z], 1);
    assert_kernels("gelu chain", &[&x.mul(1.5)?.add(&y)?.gelu()?.mul(&y)?.add(&x)?], 1);
    Ok(())
}

#[test]
fn reshapes_between_elementwise_ops_do_not_split_a_kernel() -> Result<()> {
    let device = device();
    let (x, bias) = (randn(&[4, 6, 8], &device), randn(&[8], &device));
    let y = x.exp()?.reshape(&[24, 8])?.add(&bias)?.reshape(&[4, 6, 8])?.mul(&x)?;
    assert_kernels("reshape", &[&y], 1);
    Ok(())
}

#[test]
fn softmax_is_one_kernel_along_any_axis() -> Result<()> {
    let device = device();
    let x = randn(&[8, 5, 16], &device);
    for axis in [0, 1, 2, -1] {
        assert_kernels("softmax", &[&x.softmax(axis)?], 1);
        assert_kernels("log_softmax", &[&x.log_softmax(axis)?], 1);
    }
    Ok(())
}

#[test]
fn layer_norm_is_one_kernel_and_its_backward_at_most_three() -> Result<()> {
    let device = device();
    let x = randn(&[32, 48], &device).variable()?;
    let (w, b) = (randn(&[48], &device).variable()?, randn(&[48], &device).variable()?);
    let y = x.layer_norm(1, Some(&w), Some(&b), 1e-5)?;
    assert_kernels("layer_norm", &[&y], 1);
    assert_kernels("rms_norm", &[&x.rms_norm(1, Some(&w), 1e-6)?], 1);
    let grads = y.backward_with(&randn(&[32, 48], &device))?;
    let all = [grads.get(&x).unwrap(), grads.get(&w).unwrap(), grads.get(&b).unwrap()];
    y.eval()?;
    assert_kernels("layer_norm backward", &all, 3);
    Ok(())
}

#[test]
fn cross_entropy_forward_and_backward_are_two_kernels() -> Result<()> {
    let device = device();
    let logits = randn(&[16, 101], &device).variable()?;
    let targets = Tensor::randint(0, 101, &[16], DType::I64, &device)?;
    targets.eval()?;
    let loss = logits.cross_entropy(&targets)?;
    let grads = loss.backward()?;
    assert_kernels("cross_entropy", &[&loss, grads.get(&logits).unwrap()], 2);
    Ok(())
}

#[test]
fn bias_and_activation_are_the_epilogue_of_the_product() -> Result<()> {
    let device = device();
    let (x, w, b) = (randn(&[2, 8, 16], &device), randn(&[24, 16], &device), randn(&[24], &device));
    let y = x.matmul(&w.t()?)?.add(&b)?.gelu()?;
    assert_kernels("matmul+bias+gelu", &[&y], 1);
    assert!(y.plan()?.labels()[0].starts_with("matmul"));
    assert_kernels("matmul+residual", &[&x.matmul(&randn(&[16, 16], &device))?.add(&x)?], 1);
    Ok(())
}

#[test]
fn transposed_operands_are_not_copied() -> Result<()> {
    let device = device();
    let (a, b) = (randn(&[5, 7, 9], &device), randn(&[5, 9, 6], &device));
    assert_kernels("transposed matmul", &[&b.t()?.matmul(&a.t()?)?], 1);
    let heads = randn(&[2, 10, 3 * 4 * 8], &device).reshape(&[2, 10, 3, 4, 8])?.permute(&[2, 0, 3, 1, 4])?;
    let (q, k, v) = (heads.select(0, 0)?, heads.select(0, 1)?, heads.select(0, 2)?);
    let options = AttentionOptions { causal: true, ..Default::default() };
    let out = q.scaled_dot_product_attention(&k, &v, &options)?.transpose(1, 2)?.reshape(&[2, 10, 32])?;
    assert_kernels("attention before a product", &[&out.matmul(&randn(&[32, 32], &device))?], 2);
    Ok(())
}

#[test]
fn adamw_over_a_hundred_parameters_is_one_launch() -> Result<()> {
    let device = device();
    let parameters: Vec<Parameter> = (0..100)
        .map(|i| Parameter::new(&randn(if i % 2 == 0 { &[3, 5] } else { &[7] }, &device)))
        .collect::<Result<_>>()?;
    let named = parameters.iter().enumerate().map(|(i, p)| (i.to_string(), p.clone())).collect();
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, named)?;
    for step in 0..4 {
        let mut loss = Tensor::zeros(&[], DType::F32, &device)?;
        for p in &parameters {
            loss = loss.add(&p.tensor().sqr()?.sum_all()?)?;
        }
        let grads = loss.backward()?;
        // Gradients as data, so that nothing but the update is counted.
        let all: Vec<Tensor> =
            parameters.iter().filter_map(|p| grads.get(&p.tensor()).cloned()).chain([loss]).collect();
        assert_eq!(all.len(), 101);
        fornax::eval(&all.iter().collect::<Vec<_>>())?;
        device.reset_stats();
        optimizer.step(&grads)?;
        assert_eq!(device.stats().launches, 1, "step {step}");
    }
    Ok(())
}

/// Launches of a step of these parameters with given gradients, once the plan is made.
fn update(rule: impl Rule, sizes: [usize; 4], clip: bool, scale: bool) -> Result<u64> {
    let device = device();
    let parameters: Vec<Parameter> =
        sizes.iter().map(|&n| Parameter::new(&randn(&[n], &device))).collect::<Result<_>>()?;
    let named = parameters.iter().enumerate().map(|(i, p)| (i.to_string(), p.clone())).collect();
    let mut optimizer = Optimizer::new(rule, 1e-3, named)?;
    let mut scaler = GradScaler::new(&device)?;
    for _ in 0..3 {
        let sums = parameters.iter().map(|p| p.tensor().sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
        let loss = Tensor::stack(&sums.iter().collect::<Vec<_>>(), 0)?.sum_all()?;
        let mut gradients = loss.backward()?;
        let all: Vec<Tensor> =
            parameters.iter().filter_map(|p| gradients.get(&p.tensor()).cloned()).chain([loss]).collect();
        assert_eq!(all.len(), 5);
        fornax::eval(&all.iter().collect::<Vec<_>>())?;
        device.reset_stats();
        let (unscaled, overflow) = scaler.unscale(&gradients)?;
        if scale {
            gradients = unscaled;
        }
        if clip {
            gradients = clip_grad_norm(&gradients, &parameters, 1.0)?.0;
        }
        match scale {
            true => scaler.step(&mut optimizer, &gradients, &overflow, &[])?,
            false => optimizer.step(&gradients)?,
        }
    }
    Ok(device.stats().launches)
}

#[test]
fn what_is_recorded_once_for_a_shape_costs_no_launch_of_its_own() -> Result<()> {
    fn check(rule: impl Rule + Copy + std::fmt::Debug) -> Result<()> {
        for (clip, scale) in [(false, false), (true, false), (false, true), (true, true)] {
            let launches = |sizes| update(rule, sizes, clip, scale);
            let (equal, different) = (launches([64; 4])?, launches([64, 65, 66, 67])?);
            assert_eq!(equal, different, "{rule:?}, clipped: {clip}, scaled: {scale}");
        }
        Ok(())
    }
    check(Adam { weight_decay: 0.1, ..Adam::default() })?;
    check(AdamW::default())?;
    check(Lion::default())?;
    check(Sgd { momentum: 0.9, nesterov: true, weight_decay: 0.1, ..Sgd::default() })
}

/// The reductions of each kernel that is a loop.
fn reductions(plan: &Plan) -> Vec<usize> {
    let of = |body: &Body| match body {
        Body::Loop(body) => body.program.iter().filter(|i| matches!(i.inst, Inst::Reduce(..))).count(),
        _ => 0,
    };
    plan.steps.iter().map(|step| of(&step.kernel.body)).collect()
}

#[test]
fn norms_of_many_short_tensors_run_at_the_same_time() -> Result<()> {
    let device = device();
    device.set_verify(true);
    let gradients: Vec<Tensor> = (0..40).map(|_| randn(&[128], &device)).collect();
    let scale = Tensor::full(&[], 8.0, DType::F32, &device)?;
    scale.eval()?;
    // As a scaled step clips: what all norms have in common is a number.
    let unscaled = scale.recip()?;
    let squares = gradients.iter().map(|g| g.mul(&unscaled)?.sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
    let norm = Tensor::stack(&squares.iter().collect::<Vec<_>>(), 0)?.sum_all()?.sqrt()?;
    let plan = realize::plan(&[&norm])?;
    let most = reductions(&plan).into_iter().max().unwrap_or_default();
    assert!(most <= 8 && plan.launches() <= 4, "{most} reductions one after another\n{plan}");
    let all = gradients.iter().map(|g| g.to_vec::<f32>()).collect::<Result<Vec<_>>>()?.concat();
    let want = all.iter().map(|&g| (g as f64 / 8.0).powi(2)).sum::<f64>().sqrt();
    let got = norm.item::<f32>()? as f64;
    assert!((got - want).abs() < 1e-5 * want, "{got} instead of {want}");
    Ok(())
}

#[test]
fn dropout_needs_no_stored_mask() -> Result<()> {
    let device = device();
    let x = randn(&[64, 64], &device).variable()?;
    let y = x.sqr()?.dropout(0.5, true)?;
    assert_kernels("dropout", &[&y], 1);
    let grads = y.backward_with(&randn(&[64, 64], &device))?;
    y.eval()?;
    assert_kernels("dropout backward", &[grads.get(&x).unwrap()], 1);
    Ok(())
}

/// Launches of a step of two layers with biases, once the plan is made.
fn mlp_step(dtype: DType, scaled: bool, rows: usize, device: &Device) -> Result<u64> {
    let layers = [Linear::new(24, 32, device)?, Linear::new(32, 24, device)?];
    let named: Vec<(String, Parameter)> = layers
        .iter()
        .enumerate()
        .flat_map(|(i, layer)| {
            layer.named_parameters().into_iter().map(move |(n, p)| (format!("{i}.{n}"), p))
        })
        .collect();
    let parameters: Vec<Parameter> = named.iter().map(|(_, p)| p.clone()).collect();
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, named)?;
    let mut scaler = if scaled { Some(GradScaler::new(device)?) } else { None };
    let x = randn(&[rows, 24], device);
    for _ in 0..3 {
        device.reset_stats();
        let loss = autocast(dtype, || layers[1].forward(&layers[0].forward(&x)?.gelu()?)?.sqr()?.mean_all())?;
        match &mut scaler {
            Some(scaler) => {
                let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
                let (gradients, _) = clip_grad_norm(&gradients, &parameters, 1.0)?;
                scaler.step(&mut optimizer, &gradients, &overflow, &[&loss])?;
            }
            None => optimizer.step(&clip_grad_norm(&loss.backward()?, &parameters, 1.0)?.0)?,
        }
    }
    Ok(device.stats().launches)
}

#[test]
fn mixed_precision_costs_a_few_launches_however_many_parameters() -> Result<()> {
    let device = device();
    let wide = mlp_step(DType::F32, false, 512, &device)?;
    // All weights are cast in one launch, the data in another; biases and gradients need none.
    let narrow = mlp_step(DType::BF16, false, 512, &device)?;
    assert!(narrow <= wide + 2, "bf16 takes {narrow} launches, f32 {wide}");
    // With few rows the products convert the weights themselves.
    let few = mlp_step(DType::BF16, false, 64, &device)?;
    assert!(few <= wide + 1, "bf16 of few rows takes {few} launches, f32 {wide}");
    // The numbers of the next step, and the verdict of all parameters and its consequences.
    let scaled = mlp_step(DType::F16, true, 512, &device)?;
    assert!(scaled <= narrow + 6, "f16 with a scaler takes {scaled} launches, bf16 {narrow}");
    Ok(())
}

#[test]
fn scaling_and_clipping_read_each_gradient_once_more() -> Result<()> {
    let device = device();
    const N: usize = 256;
    let bytes = |scale: bool, clip: bool| -> Result<u64> {
        // Several, so that a verdict is one of all.
        let weights = [(); 3].map(|()| Parameter::new(&randn(&[N, N], &device)));
        let weights = weights.into_iter().collect::<Result<Vec<_>>>()?;
        let named = weights.iter().enumerate().map(|(i, weight)| (i.to_string(), weight.clone()));
        let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, named.collect())?;
        let mut scaler = GradScaler::new(&device)?;
        let x = randn(&[32, N], &device);
        let clipped = |gradients: Gradients| match clip {
            true => clip_grad_norm(&gradients, &weights, 1.0).map(|(clipped, _)| clipped),
            false => Ok(gradients),
        };
        let mut step = || {
            let y = weights.iter().try_fold(x.clone(), |x, weight| x.matmul(&weight.tensor()))?;
            let loss = y.sqr()?.mean_all()?;
            if !scale {
                return optimizer.step(&clipped(loss.backward()?)?);
            }
            let (gradients, overflow) = scaler.unscale(&scaler.scale(&loss)?.backward()?)?;
            scaler.step(&mut optimizer, &clipped(gradients)?, &overflow, &[&loss])
        };
        (0..3).try_for_each(|_| step())?;
        let counts = count(&device, step)?;
        Ok(counts.bytes_read + counts.bytes_written)
    };
    let plain = bytes(false, false)?;
    for (scale, clip) in [(true, false), (false, true), (true, true)] {
        let (bytes, most) = (bytes(scale, clip)?, plain + (3 * N * N * 4) as u64 + 1000);
        assert!(bytes <= most, "scaled {scale}, clipped {clip}: {bytes} bytes, at most {most} expected");
    }
    Ok(())
}

#[test]
fn numbers_made_of_numbers_many_times_over_are_planned_at_once() -> Result<()> {
    let device = device();
    let (x, mut number) = (randn(&[1000], &device), Tensor::from_slice(&[0.5f32], &[], &device)?);
    for _ in 0..60 {
        // Each from the one before twice: as many paths as 2 to the 60.
        number = number.mul(&number)?.sqrt()?;
    }
    assert_kernels("numbers", &[&x.sum_all()?.mul(&number)?, &x.mul(&number)?], 3);
    Ok(())
}
