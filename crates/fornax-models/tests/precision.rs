//! Mixed precision strays from f32 no further than PyTorch's does (`scripts/amp_gpt2.py`).

#[path = "../../fornax/tests/on/mod.rs"]
mod on;

use fornax::io::safetensors;
use fornax::nn::Module;
use fornax::optim::{AdamW, GradScaler, Optimizer, accumulate, clip_grad_norm};
use fornax::{DType, Device, Result, Tensor, autocast};
use fornax_models::{Gpt2, Gpt2Config};
use std::collections::BTreeMap;

/// The losses of runs on all sets of batches, as PyTorch made them, with each batch in as many parts.
fn train(file: &BTreeMap<String, Tensor>, dtype: DType, parts: usize, device: &Device) -> Result<Vec<f64>> {
    let sets = file["ids"].shape()[0];
    let runs = (0..sets).map(|set| train_on(file, set, dtype, parts, device)).collect::<Result<Vec<_>>>()?;
    Ok(runs.concat())
}

fn train_on(
    file: &BTreeMap<String, Tensor>,
    set: usize,
    dtype: DType,
    parts: usize,
    device: &Device,
) -> Result<Vec<f64>> {
    let &[_, steps, batch, time] = file["ids"].shape() else { panic!("four axes") };
    let model = Gpt2::new(Gpt2Config::new(61, time, 3, 48, 4), device)?;
    let first = file.iter().filter_map(|(name, t)| Some((name.strip_prefix("param.")?.into(), t.clone())));
    safetensors::set_parameters(&model, first.collect())?;
    let rule = AdamW { betas: (0.9, 0.95), eps: 1e-8, weight_decay: 0.1 };
    let mut optimizer = Optimizer::new(rule, 3e-3, model.named_parameters())?;
    let mut scaler = if dtype == DType::F16 { Some(GradScaler::new(device)?) } else { None };
    let mut losses = vec![];
    for step in 0..steps {
        let rows = batch / parts;
        let part = |i: usize| -> Result<[Tensor; 2]> {
            let cut = |name: &str| {
                let whole = file[name].narrow(0, set, 1)?.narrow(1, step, 1)?.narrow(2, i * rows, rows)?;
                whole.reshape(&[rows as isize, time as isize])
            };
            Ok([cut("ids")?, cut("targets")?])
        };
        let parts = (0..parts).map(part).collect::<Result<Vec<_>>>()?;
        let seed = scaler.as_ref().map(|scaler| scaler.current().clone());
        let gradients =
            accumulate(&parts, seed.as_ref(), |[ids, targets]| autocast(dtype, || model.loss(ids, targets)))?;
        let loss = gradients.root().clone();
        match &mut scaler {
            Some(scaler) => {
                let (gradients, overflow) = scaler.unscale(&gradients)?;
                let (gradients, _) = clip_grad_norm(&gradients, &model.parameters(), 1.0)?;
                scaler.step(&mut optimizer, &gradients, &overflow, &[])?;
            }
            None => optimizer.step(&clip_grad_norm(&gradients, &model.parameters(), 1.0)?.0)?,
        }
        losses.push(loss.item::<f32>()? as f64);
    }
    Ok(losses)
}

/// Rounding is luck: PyTorch's own means differ by a factor of two from one set of batches to another.
const LUCK: f64 = 1.25;

/// The largest and the mean relative distance.
fn strays(losses: &[f64], from: &[f64]) -> (f64, f64) {
    let all: Vec<f64> = losses.iter().zip(from).map(|(a, b)| (a - b).abs() / b).collect();
    (all.iter().copied().fold(0.0, f64::max), all.iter().sum::<f64>() / all.len() as f64)
}

#[test]
fn mixed_precision_follows_f32_as_closely_as_pytorch_does() -> Result<()> {
    let device = on::device();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/amp.safetensors");
    let file = safetensors::load(path, &device)?;
    let torch = |name: &str| -> Result<Vec<f64>> {
        file[&format!("losses.{name}")].to_dtype(DType::F64)?.to_vec::<f64>()
    };
    let plain = train(&file, DType::F32, 1, &device)?;
    let (most, _) = strays(&plain, &torch("f32")?);
    println!("f32: {most:.1e} from PyTorch's");
    assert!(most < 5e-5, "f32 strays {most:e} from PyTorch's f32");
    for (name, dtype, parts) in [("bf16", DType::BF16, 1), ("f16", DType::F16, 1), ("f16", DType::F16, 2)] {
        let (theirs_most, theirs_mean) = strays(&torch(name)?, &torch("f32")?);
        let (most, mean) = strays(&train(&file, dtype, parts, &device)?, &plain);
        println!(
            "{name} in {parts}: strays {most:.1e} at most and {mean:.1e} on average, PyTorch {theirs_most:.1e} and \
             {theirs_mean:.1e}"
        );
        assert!(most <= LUCK * theirs_most, "{name} in {parts}: {most:e} at most, PyTorch {theirs_most:e}");
        assert!(
            mean <= LUCK * theirs_mean,
            "{name} in {parts}: {mean:e} on average, PyTorch {theirs_mean:e}"
        );
        assert!(most > 0.0, "{name} is f32");
    }
    Ok(())
}
