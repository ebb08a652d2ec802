//! The training step: everything from token ids to new parameters is recorded and queued as one plan, and nothing
//! waits for the device.

use super::arguments::Settings;
use fornax::io::checkpoint::Training;
use fornax::nn::Module;
use fornax::optim::{AdamW, GradScaler, Group, Optimizer, accumulate, clip_grad_norm};
use fornax::{DType, Device, Result, Tensor, autocast, no_grad};
use fornax_models::{Batches, Gpt2};

pub struct Trainer {
    pub model: Gpt2,
    optimizer: Optimizer<AdamW>,
    scaler: Option<GradScaler>,
    precision: DType,
    clip: f64,
}

const WEIGHT_DECAY: f64 = 0.1;

impl Trainer {
    pub fn new(model: Gpt2, settings: &Settings, device: &Device) -> Result<Trainer> {
        // Matrices decay; biases and norms do not.
        let (matrices, vectors) =
            model.named_parameters().into_iter().partition(|(_, p)| p.shape().len() > 1);
        let groups =
            vec![Group::new(matrices).weight_decay(WEIGHT_DECAY), Group::new(vectors).weight_decay(0.0)];
        let rule = AdamW { betas: (0.9, 0.95), ..AdamW::default() };
        let precision = settings.dtype();
        Ok(Trainer {
            optimizer: Optimizer::with_groups(rule, settings.lr, groups)?,
            scaler: if precision == DType::F16 { Some(GradScaler::new(device)?) } else { None },
            precision,
            clip: settings.clip,
            model,
        })
    }

    /// Queues one step on the mean loss of the parts, and gives that loss, which is there when the device has come
    /// so far.
    pub fn step(&mut self, parts: &[[Tensor; 2]], lr: f64) -> Result<Tensor> {
        let Trainer { model, optimizer, scaler, precision, clip } = self;
        let seed = scaler.as_ref().map(|scaler| scaler.current().clone());
        let mut gradients = accumulate(parts, seed.as_ref(), |[ids, targets]| {
            autocast(*precision, || model.loss(ids, targets))
        })?;
        let loss = gradients.root().clone();
        let mut overflow = None;
        if let Some(scaler) = scaler {
            let unscaled = scaler.unscale(&gradients)?;
            (gradients, overflow) = (unscaled.0, Some(unscaled.1));
        }
        if *clip > 0.0 {
            gradients = clip_grad_norm(&gradients, &model.parameters(), *clip)?.0;
        }
        optimizer.set_lr(lr)?;
        match (scaler, &overflow) {
            (Some(scaler), Some(overflow)) => scaler.step(optimizer, &gradients, overflow, &[])?,
            _ => optimizer.step(&gradients)?,
        }
        Ok(loss)
    }

    /// The mean loss of `count` batches from the beginning on.
    pub fn evaluate(&self, batches: &mut Batches, count: usize, device: &Device) -> Result<f64> {
        batches.set_position(0);
        let mut losses = vec![];
        for _ in 0..count {
            let [ids, targets] = batches.next(device)?;
            let loss = no_grad(|| autocast(self.precision, || self.model.loss(&ids, &targets)))?;
            loss.eval()?;
            losses.push(loss);
        }
        let losses = losses.iter().map(|loss| loss.item::<f32>()).collect::<Result<Vec<f32>>>()?;
        Ok(losses.iter().map(|&loss| loss as f64).sum::<f64>() / count.max(1) as f64)
    }

    /// What a checkpoint holds of it.
    pub fn training(&mut self) -> Training<'_, AdamW> {
        let Trainer { model, optimizer, scaler, .. } = self;
        Training { module: model, optimizer, scaler: scaler.as_mut() }
    }
}
