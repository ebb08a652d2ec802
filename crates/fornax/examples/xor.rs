//! The smallest network that needs a hidden layer.

use fornax::nn::{Linear, Module, Visitor};
use fornax::optim::{AdamW, Optimizer};
use fornax::{Device, Result, Tensor, manual_seed};

struct Xor {
    hidden: Linear,
    out: Linear,
}

impl Xor {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.out.forward(&self.hidden.forward(x)?.tanh()?)?.sigmoid()
    }
}

impl Module for Xor {
    fn visit(&self, v: &mut Visitor) {
        v.module("hidden", &self.hidden);
        v.module("out", &self.out);
    }
}

fn main() -> Result<()> {
    manual_seed(7);
    let device = Device::best()?;
    let model = Xor { hidden: Linear::new(2, 8, &device)?, out: Linear::new(8, 1, &device)? };
    let x = Tensor::from_slice(&[0f32, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[4, 2], &device)?;
    let y = Tensor::from_slice(&[0f32, 1.0, 1.0, 0.0], &[4, 1], &device)?;

    let mut optimizer = Optimizer::new(AdamW::default(), 0.05, model.named_parameters())?;
    for step in 0..=200 {
        let loss = model.forward(&x)?.mse_loss(&y)?;
        optimizer.step(&loss.backward()?)?;
        if step % 50 == 0 {
            println!("step {step:3}  loss {:.5}", loss.item::<f32>()?);
        }
    }
    let answers = model.forward(&x)?.to_vec::<f32>()?;
    for (input, answer) in x.to_vec::<f32>()?.chunks(2).zip(answers) {
        println!("{} xor {} = {answer:.3}", input[0], input[1]);
    }
    Ok(())
}
