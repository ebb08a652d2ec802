//! Optimizers, written in tensor ops. A [`Rule`] says how one parameter changes; [`Optimizer`] applies it to all
//! of them and evaluates the whole training step (loss, gradients, new parameters, new state) in one plan.
//!
//! Numbers that change from step to step are one shared launch argument a group, so the plan is replayed and the
//! updates of all parameters, being the same program, become one launch.
//!
//! ```
//! use fornax::nn::{Linear, Module};
//! use fornax::optim::{AdamW, Optimizer};
//! use fornax::{DType, Device, Tensor};
//!
//! let device = Device::cpu();
//! let model = Linear::new(3, 1, &device)?;
//! let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, model.named_parameters())?;
//! let x = Tensor::randn(&[8, 3], DType::F32, &device)?;
//! let loss = model.forward(&x)?.sqr()?.mean_all()?;
//! optimizer.step(&loss.backward()?)?;                  // everything runs here
//! assert!(loss.item::<f32>()? >= 0.0);
//! # Ok::<(), fornax::Error>(())
//! ```

mod accumulate;
mod adam;
mod clip;
mod lion;
mod optimizer;
mod rule;
mod scaler;
mod schedule;
mod sgd;

pub use accumulate::accumulate;
pub use adam::{Adam, AdamW};
pub use clip::{clip_grad_norm, clip_grad_value};
pub use lion::Lion;
pub use optimizer::{Group, Optimizer};
pub use rule::{Moment, Rule};
pub use scaler::GradScaler;
pub use schedule::{Constant, Cosine, Schedule, StepDecay, Warmup};
pub use sgd::Sgd;
