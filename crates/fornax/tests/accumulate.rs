//! Whole training steps in one plan: gradients of a batch in parts, clipped, in f32, f16 and bf16.

mod on;

use fornax::nn::{Embedding, Module, TransformerBlock, Visitor};
use fornax::optim::{AdamW, GradScaler, Optimizer, accumulate, clip_grad_norm};
use fornax::{DType, Device, Error, Result, Stats, Tensor, autocast, manual_seed};

struct Model {
    wte: Embedding,
    h: Vec<TransformerBlock>,
}

impl Module for Model {
    fn visit(&self, v: &mut Visitor) {
        v.module("wte", &self.wte);
        v.modules("h", &self.h);
    }
}

const WORDS: usize = 19;

impl Model {
    fn new(layers: usize, width: usize, device: &Device) -> Result<Model> {
        let h = (0..layers).map(|_| TransformerBlock::new(width, 2, true, device)).collect::<Result<_>>()?;
        Ok(Model { wte: Embedding::new(WORDS, width, device)?, h })
    }

    fn loss(&self, ids: &Tensor, targets: &Tensor) -> Result<Tensor> {
        let mut x = self.wte.forward(ids)?;
        for block in &self.h {
            x = block.forward(&x)?;
        }
        x.matmul(&self.wte.weight.tensor().t()?)?.mul(0.1)?.cross_entropy(targets)
    }
}

fn part(number: u32, batch: usize, device: &Device) -> Result<[Tensor; 2]> {
    let word = |i: usize| ((i as u32 * 7 + number * 5 + i as u32 / 3) % WORDS as u32) as i64;
    let row = |shift: usize| (0..batch * 6).map(|i| word(i + shift)).collect::<Vec<_>>();
    Ok([Tensor::from_slice(&row(0), &[batch, 6], device)?, Tensor::from_slice(&row(1), &[batch, 6], device)?])
}

/// Trains as the command does: the loss is read one step late. Gives losses and each step's counts.
fn train(precision: DType, parts: u32, steps: u32, device: &Device) -> Result<(Vec<f32>, Vec<Stats>)> {
    manual_seed(1);
    let model = Model::new(2, 16, device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, model.named_parameters())?;
    let mut scaler = if precision == DType::F16 { Some(GradScaler::new(device)?) } else { None };
    let (mut losses, mut stats, mut last) = (vec![], vec![], None);
    for step in 0..steps {
        device.reset_stats();
        let batch = (0..parts).map(|i| part(step * parts + i, 2, device)).collect::<Result<Vec<_>>>()?;
        let seed = scaler.as_ref().map(|scaler| scaler.current().clone());
        let gradients = accumulate(&batch, seed.as_ref(), |[ids, targets]| {
            autocast(precision, || model.loss(ids, targets))
        })?;
        let loss = gradients.root().clone();
        optimizer.set_lr(1e-2 / (1.0 + step as f64))?;
        match &mut scaler {
            Some(scaler) => {
                let (gradients, overflow) = scaler.unscale(&gradients)?;
                let (gradients, _) = clip_grad_norm(&gradients, &model.parameters(), 1.0)?;
                scaler.step(&mut optimizer, &gradients, &overflow, &[])?;
            }
            None => optimizer.step(&clip_grad_norm(&gradients, &model.parameters(), 1.0)?.0)?,
        }
        if let Some(loss) = last.replace(loss) {
            losses.push(loss.item::<f32>()?);
        }
        stats.push(device.stats());
    }
    Ok((losses, stats))
}

#[test]
fn from_the_third_step_on_nothing_is_built_compiled_or_allocated() -> Result<()> {
    for precision in [DType::F32, DType::F16, DType::BF16] {
        for parts in if precision == DType::F32 { vec![1, 3, 18] } else { vec![1, 3] } {
            let (losses, stats) = train(precision, parts, 6, &on::fresh())?;
            for (step, stats) in stats.iter().enumerate().skip(2) {
                let at = format!("{precision}, {parts} parts, step {step}: {stats:?}");
                assert_eq!((stats.plans_built, stats.kernels_compiled, stats.pool.fresh), (0, 0, 0), "{at}");
                let plans = parts.div_ceil(8) as u64;
                assert_eq!(stats.plans_reused, plans, "one plan a step, or one for eight parts: {at}");
            }
            assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
        }
    }
    Ok(())
}

#[test]
fn parts_give_the_gradients_of_the_whole() -> Result<()> {
    let device = on::device();
    manual_seed(2);
    let model = Model::new(1, 8, &device)?;
    let parts = (0..3).map(|i| part(i, 2, &device)).collect::<Result<Vec<_>>>()?;
    let whole = [0, 1].map(|at| Tensor::cat(&parts.iter().map(|p| &p[at]).collect::<Vec<_>>(), 0));
    let [ids, targets] = whole;
    let whole = model.loss(&ids?, &targets?)?.backward()?;
    let seed = Tensor::from_slice(&[8f32], &[], &device)?;
    let summed = accumulate(&parts, None, |[ids, targets]| model.loss(ids, targets))?;
    let seeded = accumulate(&parts, Some(&seed), |[ids, targets]| model.loss(ids, targets))?;
    let close = |a: &Tensor, b: &Tensor, factor: f32| -> Result<()> {
        for (a, b) in a.to_vec::<f32>()?.into_iter().zip(b.to_vec::<f32>()?) {
            assert!((factor * a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{a} * {factor} and {b}");
        }
        Ok(())
    };
    close(whole.root(), summed.root(), 1.0)?;
    close(whole.root(), seeded.root(), 1.0)?;
    for parameter in model.parameters() {
        let of = |gradients: &fornax::Gradients| gradients.get(&parameter.tensor()).unwrap().clone();
        close(&of(&whole), &of(&summed), 1.0)?;
        close(&of(&whole), &of(&seeded), 8.0)?;
    }
    let none: [[Tensor; 2]; 0] = [];
    assert!(matches!(accumulate(&none, None, |[ids, _]| Ok(ids.clone())), Err(Error::Argument { .. })));
    Ok(())
}

#[test]
fn parts_share_the_memory_of_their_activations() -> Result<()> {
    let device = on::fresh();
    let model = Model::new(4, 16, &device)?;
    let bytes = |parts: u32| -> Result<usize> {
        let parts = (0..parts).map(|i| part(i, 16, &device)).collect::<Result<Vec<_>>>()?;
        let gradients = accumulate(&parts, None, |[ids, targets]| model.loss(ids, targets))?;
        let mut wanted = vec![gradients.root()];
        wanted.extend(gradients.iter().map(|(_, gradient)| gradient));
        Ok(fornax::realize::plan(&wanted)?.temporary_bytes())
    };
    let (one, four) = (bytes(1)?, bytes(4)?);
    assert!(four < one * 3 / 2, "{four} bytes for four parts, {one} for one");
    Ok(())
}
