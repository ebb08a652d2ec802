//! Optimizer and training steps.

use super::{Case, Prepared, case, randint, randn, wall};
use crate::timing::Clock;
use fornax::nn::{Linear, Module, Parameter, Visitor};
use fornax::optim::{AdamW, Optimizer};
use fornax::{Device, Pending, Result};
use fornax_models::{Gpt2, Gpt2Config};

pub const DISTILGPT2: Gpt2Config = Gpt2Config::new(50257, 128, 6, 768, 12);

pub fn all() -> Vec<Case> {
    vec![
        case("adamw_16M", adamw),
        wall("mlp_train_128", mlp_train),
        Case {
            budget: 6.0,
            ..wall("gpt_train_4x256_B8_T128_V256", |d| gpt_train(Gpt2Config::new(256, 128, 4, 256, 4), 8, d))
        },
        Case { budget: 6.0, ..wall("distilgpt2_train_B1_T128", |d| gpt_train(DISTILGPT2, 1, d)) },
        // As many layers of next to nothing: what a step costs the host.
        Case {
            clock: Clock::Host,
            ..wall("gpt_train_6x32_B1_T16_host", |d| gpt_train(Gpt2Config::new(64, 16, 6, 32, 2), 1, d))
        },
    ]
}

pub fn gpu() -> Vec<Case> {
    let config = Gpt2Config { context: 512, ..DISTILGPT2 };
    let step =
        |batch: usize| wall(&format!("distilgpt2_train_B{batch}_T512"), move |d| gpt_train(config, batch, d));
    vec![
        wall("loss_read_a_step_behind", |d| losses(true, d)),
        wall("loss_read_at_once", |d| losses(false, d)),
        step(1),
        step(8),
    ]
}

/// The update alone: the gradient is there already.
fn adamw(device: &Device) -> Result<Prepared> {
    const N: usize = 1 << 24;
    let parameter = Parameter::new(&randn(&[N], device)?)?;
    let gradient = randn(&[N], device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-4, vec![("weight".into(), parameter.clone())])?;
    let call = move || {
        let loss = parameter.tensor().narrow(0, 0, 1)?.sum_all()?;
        optimizer.step(&loss.backward()?.map(|_, _| Ok(gradient.clone()))?)
    };
    // Reads weight, gradient and two moments, writes all but the gradient.
    Ok(Prepared::new(call).floats(7 * N))
}

struct Classifier([Linear; 3]);

impl Module for Classifier {
    fn visit(&self, v: &mut Visitor) {
        v.modules("layers", &self.0);
    }
}

fn mlp_train(device: &Device) -> Result<Prepared> {
    let layer = |inputs, outputs| Linear::new(inputs, outputs, device);
    let model = Classifier([layer(784, 512)?, layer(512, 512)?, layer(512, 10)?]);
    let (x, targets) = (randn(&[128, 784], device)?, randint(10, &[128], device)?);
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let call = move || {
        let [first, second, last] = &model.0;
        let hidden = second.forward(&first.forward(&x)?.relu()?)?.relu()?;
        optimizer.step(&last.forward(&hidden)?.cross_entropy(&targets)?.backward()?)
    };
    // Forward, the weights' gradients, and the inputs' gradients of all layers but the first.
    let (all, first) = ((784 * 512 + 512 * 512 + 512 * 10) as f64, (784 * 512) as f64);
    Ok(Prepared::new(call).operations(2.0 * 128.0 * (3.0 * all - first)))
}

/// Steps of a small model whose loss is printed every time: read when the next step is on its way, or at once. Per
/// step.
fn losses(behind: bool, device: &Device) -> Result<Prepared> {
    let model = Linear::new(256, 256, device)?;
    let x = randn(&[64, 256], device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let mut last: Option<Pending<f32>> = None;
    let call = move || {
        for _ in 0..20 {
            let loss = model.forward(&x)?.sqr()?.mean_all()?;
            optimizer.step(&loss.backward()?)?;
            if !behind {
                loss.item::<f32>()?;
            } else if let Some(last) = last.replace(loss.item_later()?) {
                last.wait()?;
            }
        }
        Ok(())
    };
    Ok(Prepared::new(call).in_parts(20))
}

fn gpt_train(config: Gpt2Config, batch: usize, device: &Device) -> Result<Prepared> {
    let model = Gpt2::new(config, device)?;
    let drawn = || randint(config.vocabulary, &[batch, config.context], device);
    let (ids, targets) = (drawn()?, drawn()?);
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let call = move || optimizer.step(&model.loss(&ids, &targets)?.backward()?);
    // Three products a weight and token; causal attention counts half its square.
    let [vocabulary, time, layers, width] =
        [config.vocabulary, config.context, config.layers, config.width].map(|n| n as f64);
    let tokens = batch as f64 * time;
    let weights = 12.0 * layers * width * width + vocabulary * width;
    Ok(Prepared::new(call).operations(6.0 * tokens * weights + 6.0 * layers * tokens * time * width))
}
