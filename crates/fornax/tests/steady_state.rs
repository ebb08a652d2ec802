//! The steady state of training: from the third identical step on nothing is built, compiled or freshly
//! allocated, and scalars that change every step are never frozen into a plan.

mod on;

use fornax::nn::{Linear, Module, Parameter};
use fornax::optim::{AdamW, Optimizer, Sgd};
use fornax::{DType, Device, Error, Result, Stats, Tensor, TimingMode, eval_replacing, manual_seed};

fn named(parameters: &[Parameter]) -> Vec<(String, Parameter)> {
    parameters.iter().enumerate().map(|(i, p)| (i.to_string(), p.clone())).collect()
}

fn batch(step: u64, device: &Device) -> Result<(Tensor, Tensor)> {
    let x: Vec<f32> = (0..16 * 8).map(|i| ((i * 37 + step * 101) % 19) as f32 / 10.0 - 0.9).collect();
    let y: Vec<i64> = (0..16).map(|i| (i + step as i64) % 4).collect();
    Ok((Tensor::from_slice(&x, &[16, 8], device)?, Tensor::from_slice(&y, &[16], device)?))
}

/// Trains with a learning rate that changes every step; returns losses, final weights and each step's counts.
fn train(device: &Device, steps: u64) -> Result<(Vec<f32>, Vec<f32>, Vec<Stats>)> {
    manual_seed(3);
    let (up, down) = (Linear::new(8, 32, device)?, Linear::new(32, 4, device)?);
    let parameters = [up.parameters(), down.parameters()].concat();
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, named(&parameters))?;
    let (mut losses, mut stats) = (vec![], vec![]);
    for step in 0..steps {
        device.reset_stats();
        let (x, y) = batch(step, device)?;
        let hidden = up.forward(&x)?.gelu()?.dropout(0.1, true)?;
        let loss = down.forward(&hidden)?.cross_entropy(&y)?;
        let grads = loss.backward()?;
        optimizer.set_lr(1e-2 / (1.0 + step as f64))?;
        optimizer.step(&grads)?;
        losses.push(loss.item::<f32>()?);
        stats.push(device.stats());
    }
    let mut weights = vec![];
    for p in parameters {
        weights.extend(p.tensor().to_vec::<f32>()?);
    }
    Ok((losses, weights, stats))
}

#[test]
fn from_the_third_step_on_nothing_is_built_compiled_or_allocated() -> Result<()> {
    let (_, _, stats) = train(&on::fresh(), 6)?;
    for (step, stats) in stats.iter().enumerate().skip(2) {
        assert_eq!(stats.plans_built, 0, "step {step}");
        assert_eq!(stats.kernels_compiled, 0, "step {step}");
        assert_eq!(stats.pool.fresh, 0, "step {step}: {stats:?}");
        assert_eq!(stats.plans_reused, 1, "step {step}: one plan a step");
        assert!(stats.launches > 0);
        assert!(stats.submits <= 4, "step {step}: {stats:?}");
        assert_eq!(stats.staging, 0, "step {step}");
        assert_eq!(stats.bind_groups, 0, "step {step}");
        assert!(stats.passes <= 3, "step {step}: {stats:?}");
    }
    Ok(())
}

#[test]
fn a_schedule_replays_its_plan_and_trains_as_without_plan_reuse() -> Result<()> {
    let (with, without) = (on::fresh(), on::fresh());
    without.set_plan_reuse(false);
    let (losses, weights, _) = train(&with, 12)?;
    let (plain_losses, plain_weights, stats) = train(&without, 12)?;
    assert_eq!(losses, plain_losses);
    assert_eq!(weights, plain_weights);
    assert!(stats.iter().all(|s| s.plans_built > 0 && s.plans_reused == 0));
    assert!(losses.windows(2).all(|pair| pair[0] != pair[1]), "{losses:?}");
    Ok(())
}

#[test]
fn a_changed_scalar_reaches_a_replayed_plan() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::from_slice(&[1f32, 2.0], &[2], &device)?;
    for factor in [2.0f32, 3.0, 5.0] {
        assert_eq!(x.mul(factor)?.to_vec::<f32>()?, [factor, 2.0 * factor]);
    }
    assert_eq!(device.stats().plans_built, 1);
    Ok(())
}

#[test]
fn parameters_are_updated_in_place_unless_somebody_holds_them() -> Result<()> {
    let device = on::fresh();
    let p = Parameter::new(&Tensor::from_slice(&[1f32, 2.0], &[2], &device)?)?;
    let mut optimizer = Optimizer::new(Sgd::default(), 0.25, named(std::slice::from_ref(&p)))?;
    let held = p.tensor();
    let loss = p.tensor().sqr()?.sum_all()?;
    optimizer.step(&loss.backward()?)?; // p - 0.25 * 2p = p / 2
    assert_eq!(loss.item::<f32>()?, 5.0, "the loss is evaluated with the step");
    assert_eq!(p.tensor().to_vec::<f32>()?, [0.5, 1.0]);
    assert_eq!(held.to_vec::<f32>()?, [1.0, 2.0], "a held tensor keeps its value");
    drop((held, loss));

    // The gradient's own chain is held but not evaluated: after the step its input is gone.
    let inner = p.tensor().sqr()?;
    let loss = inner.sum_all()?;
    optimizer.step(&loss.backward()?)?;
    assert!(matches!(inner.to_vec::<f32>(), Err(Error::Stale { .. })));
    assert_eq!(p.tensor().to_vec::<f32>()?, [0.25, 0.5]);

    // Named in the step, it is computed with it.
    let inner = p.tensor().sqr()?;
    let loss = inner.sum_all()?;
    optimizer.step_with(&loss.backward()?, &[&inner])?;
    assert_eq!(inner.to_vec::<f32>()?, [0.0625, 0.25]);

    // What hangs on the parameter outside the step keeps it alive.
    let other = p.tensor().add(1.0)?;
    let loss = p.tensor().sqr()?.sum_all()?;
    optimizer.step(&loss.backward()?)?;
    assert_eq!(other.to_vec::<f32>()?, [1.125, 1.25]);
    assert_eq!(p.tensor().to_vec::<f32>()?, [0.0625, 0.125]);
    Ok(())
}

#[test]
fn a_step_that_fails_leaves_the_parameters_as_they_were() -> Result<()> {
    let device = on::fresh();
    let p = Parameter::new(&Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0], &[2, 2], &device)?)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 0.1, named(std::slice::from_ref(&p)))?;
    let ids = Tensor::from_slice(&[0i64, 7], &[2], &device)?;
    let loss = Tensor::embedding(&p.tensor(), &ids)?.sum_all()?;
    // A GPU tells when it is waited for.
    let step = optimizer.step(&loss.backward()?).and_then(|_| device.synchronize());
    assert!(matches!(step, Err(Error::Index { .. })), "{step:?}");
    assert_eq!(p.tensor().to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn the_plan_cache_is_bounded() -> Result<()> {
    let device = on::fresh();
    device.set_plan_capacity(4);
    for n in 1..20usize {
        Tensor::ones(&[n], DType::F32, &device)?.add(1.0)?.eval()?;
        assert!(device.plans_kept() <= 4);
    }
    device.reset_stats();
    Tensor::ones(&[19], DType::F32, &device)?.add(1.0)?.eval()?;
    assert_eq!(device.stats().plans_built, 0, "the newest plan is kept");
    Tensor::ones(&[1], DType::F32, &device)?.add(1.0)?.eval()?;
    assert_eq!(device.stats().plans_built, 1, "the oldest is gone");
    Ok(())
}

#[test]
fn a_budget_refuses_a_plan_before_it_runs_and_names_the_largest() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::ones(&[1024, 256], DType::F32, &device)?;
    x.eval()?;
    device.set_memory_budget(Some(3 << 20));
    let y = x.matmul(&x.t()?)?.softmax(-1)?;
    device.reset_stats();
    match y.eval() {
        Err(Error::Budget { peak, budget, largest }) => {
            assert!(peak > budget && budget == 3 << 20);
            assert!(largest.contains("[1024, 1024]"), "{largest}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(device.stats().launches, 0);
    device.set_memory_budget(None);
    y.eval()
}

/// A table whose rows are written one after the other stays where it is.
#[test]
fn a_scatter_into_a_replaced_tensor_works_in_place() -> Result<()> {
    let device = on::fresh();
    let mut table = Tensor::from_slice(&[0f32; 64 * 32], &[64, 32], &device)?;
    let mut want = vec![0f32; 64 * 32];
    for row in [3usize, 0, 63, 7] {
        let values: Vec<f32> = (0..32).map(|i| (row * 100 + i) as f32).collect();
        want[row * 32..][..32].copy_from_slice(&values);
        let values = Tensor::from_slice(&values, &[1, 32], &device)?;
        let index =
            Tensor::arange(row, row + 1, 1, DType::I64, &device)?.reshape(&[1, 1])?.expand(&[1, 32])?;
        let new = table.scatter_add(0, &index, &values)?;
        let sum = new.sum_all()?;
        device.reset_stats();
        let live = device.stats().pool.live_bytes;
        eval_replacing(&[&sum], &[(&new, &table)])?;
        assert!(device.stats().pool.peak_bytes - live < 64 * 32 * 4, "{:?}", device.stats());
        assert!(matches!(table.to_vec::<f32>(), Err(Error::Stale { .. })));
        assert_eq!(sum.item::<f32>()?, want.iter().sum::<f32>());
        table = new;
    }
    assert_eq!(table.to_vec::<f32>()?, want);
    // One that another tensor shares its memory with keeps its value.
    let other = table.detach();
    let new =
        table.scatter_add(0, &Tensor::zeros(&[1, 32], DType::I64, &device)?, &table.narrow(0, 3, 1)?)?;
    eval_replacing(&[], &[(&new, &table)])?;
    assert_eq!((other.to_vec::<f32>()?, table.to_vec::<f32>()?), (want.clone(), want.clone()));
    assert_eq!(
        new.to_vec::<f32>()?[..32],
        want[96..128].iter().zip(&want).map(|(a, b)| a + b).collect::<Vec<_>>()
    );
    Ok(())
}

#[test]
fn temporaries_share_memory() -> Result<()> {
    let device = on::fresh();
    let w = Tensor::randn(&[64, 64], DType::F32, &device)?;
    let mut x = Tensor::randn(&[64, 64], DType::F32, &device)?;
    fornax::eval(&[&w, &x])?;
    for _ in 0..10 {
        x = x.matmul(&w)?.softmax(-1)?;
    }
    let plan = x.plan()?;
    assert_eq!(plan.launches(), 20, "{plan}");
    assert!(plan.slots.len() <= 3, "{plan}");
    Ok(())
}

#[test]
fn out_of_memory_is_an_error_and_the_device_goes_on() -> Result<()> {
    let device = on::fresh();
    let huge = Tensor::zeros(&[1 << 46], DType::F32, &device)?;
    // A GPU has a limit for one tensor beside its memory.
    assert!(matches!(huge.eval(), Err(Error::OutOfMemory { .. } | Error::Device { .. })));
    assert_eq!(device.stats().pool.live_bytes, 0);
    assert_eq!(Tensor::ones(&[2], DType::F32, &device)?.to_vec::<f32>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn recomputation_needs_less_memory_and_gives_the_same_gradients() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::randn(&[64, 32], DType::F32, &device)?;
    let weights: Vec<Tensor> =
        (0..8).map(|_| Tensor::randn(&[32, 32], DType::F32, &device)?.variable()).collect::<Result<_>>()?;
    let mut inputs: Vec<&Tensor> = weights.iter().collect();
    inputs.push(&x);
    fornax::eval(&inputs)?;
    let run = |recompute: bool| -> Result<(usize, Vec<Vec<f32>>)> {
        let mut y = x.clone();
        for pair in weights.chunks(2) {
            let block = || -> Result<Tensor> {
                let mut y = y.clone();
                for w in pair {
                    y = y.matmul(w)?.softmax(-1)?.matmul(&w.t()?)?.tanh()?;
                }
                Ok(y)
            };
            y = if recompute { fornax::checkpoint(block)? } else { block()? };
        }
        let loss = y.sqr()?.mean_all()?;
        let grads = fornax::grad(&loss, &weights.iter().collect::<Vec<_>>())?;
        let all: Vec<&Tensor> = grads.iter().collect();
        let bytes = fornax::realize::plan(&all)?.temporary_bytes();
        fornax::eval(&all)?;
        Ok((bytes, grads.iter().map(|g| g.to_vec::<f32>()).collect::<Result<_>>()?))
    };
    let (kept, again) = (run(false)?, run(true)?);
    assert_eq!(kept.1, again.1);
    assert!(again.0 < kept.0, "{} bytes with recomputation, {} without", again.0, kept.0);
    Ok(())
}

#[test]
fn a_burst_computes_the_same_and_tells_the_time_of_one() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::arange(0, 1 << 16, 1, DType::F32, &device)?;
    x.eval()?;
    let call = || x.mul(2.0)?.fence().add(1.0)?.to_vec::<f32>();
    let (right, before) = (call()?, device.stats());
    device.set_timing(TimingMode::Bursts(50));
    let values = call()?;
    device.set_timing(TimingMode::Off);
    assert_eq!(values, right);
    let (timings, after) = (device.take_timings(), device.stats());
    assert_eq!(timings.len(), 2, "one timing for every launch of the plan");
    assert!(
        timings.iter().all(|t| t.end > t.begin && (t.begin, t.end) == (timings[0].begin, timings[0].end))
    );
    assert_eq!(after.launches - before.launches, 2);
    // Results stay, as long as they are few bytes; the next burst finds memory for them.
    let fresh = after.pool.fresh_bytes - before.pool.fresh_bytes;
    assert!((1 << 20..16 << 20).contains(&fresh), "{fresh} bytes");
    device.set_timing(TimingMode::Bursts(2000));
    assert_eq!(call()?, right);
    let fresh = device.stats().pool.fresh_bytes - before.pool.fresh_bytes;
    assert!((128 << 20..=256 << 20).contains(&fresh), "{fresh} bytes");
    // Results that would overwrite what somebody holds have memory of their own.
    let (new, held) = (x.add(1.0)?, x.detach());
    fornax::eval_replacing(&[], &[(&new, &x)])?;
    assert_eq!(held.to_vec::<f32>()?[..2], [0.0, 1.0]);
    let fresh = device.stats().pool.fresh_bytes - before.pool.fresh_bytes;
    assert!(fresh <= 257 << 20, "{fresh} bytes");
    // Together they are not more than a budget leaves, as the pool counts.
    let one = new.narrow(0, 0, 1)?.add(1.0)?;
    device.set_timing(TimingMode::Off);
    device.trim();
    let most = device.stats().pool.live_bytes + (16 << 10);
    device.set_memory_budget(Some(most as usize));
    device.reset_stats();
    device.set_timing(TimingMode::Bursts(2000));
    one.eval()?;
    device.set_timing(TimingMode::Off);
    let peak = device.stats().pool.peak_bytes;
    assert!(peak <= most, "{peak} bytes, {most} at most");
    device.set_memory_budget(None);
    Ok(())
}
