//! Optimizer and training steps.

use super::{Case, Prepared, case, randint, randn, wall};
use fornax::nn::{Linear, Module, Parameter, Visitor};
use fornax::optim::{AdamW, Optimizer};
use fornax::{Device, Result};
use fornax_models::{Gpt, GptConfig};

pub const DISTILGPT2: GptConfig =
    GptConfig { vocabulary: 50257, context: 128, layers: 6, width: 768, heads: 12 };

pub fn all() -> Vec<Case> {
    vec![
        case("adamw_16M", adamw),
        wall("mlp_train_128", mlp_train),
        Case {
            budget: 6.0,
            ..wall("gpt_train_4x256_B8_T128_V256", |d| {
                let config = GptConfig { vocabulary: 256, context: 128, layers: 4, width: 256, heads: 4 };
                gpt_train(config, 8, d)
            })
        },
        Case { budget: 6.0, ..wall("distilgpt2_train_B1_T128", |d| gpt_train(DISTILGPT2, 1, d)) },
    ]
}

pub fn gpu() -> Vec<Case> {
    let config = GptConfig { context: 512, ..DISTILGPT2 };
    let step =
        |batch: usize| wall(&format!("distilgpt2_train_B{batch}_T512"), move |d| gpt_train(config, batch, d));
    vec![step(1), step(8)]
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

fn gpt_train(config: GptConfig, batch: usize, device: &Device) -> Result<Prepared> {
    let model = Gpt::new(config, device)?;
    let ids = randint(config.vocabulary, &[batch, config.context], device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let call = move || optimizer.step(&model.loss(&ids)?.backward()?);
    // Three products a weight and token; causal attention counts half its square.
    let [vocabulary, time, layers, width] =
        [config.vocabulary, config.context, config.layers, config.width].map(|n| n as f64);
    let tokens = batch as f64 * time;
    let weights = 12.0 * layers * width * width + vocabulary * width;
    Ok(Prepared::new(call).operations(6.0 * tokens * weights + 6.0 * layers * tokens * time * width))
}
