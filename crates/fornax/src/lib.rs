//! Fornax is a tensor engine that trains and runs neural networks. Ops record; the whole step is known
//! before it runs, is fused into few kernels, gets its memory planned, and is replayed from a plan cache.
//!
//! The rooms in the order in which an expression meets them: [`tensor`], [`graph`], [`realize`],
//! [`schedule`], [`kernel`], [`device`].

/// The name by which the table of cases calls the engine, wherever it is walked.
#[cfg(test)]
extern crate self as fornax;

mod asked;
pub mod device;
pub mod dtype;
pub mod error;
pub mod graph;
pub mod io;
pub mod kernel;
pub mod nn;
pub mod optim;
pub mod peaks;
mod plan_cache;
pub mod profile;
pub mod random;
pub mod realize;
pub mod schedule;
pub mod scope;
mod span;
mod store;
pub mod tensor;
mod verify;
pub mod view;

pub use device::{Clock, Device, Sample, Stats, Timing, TimingMode};
pub use dtype::{DType, Element, Scalar};
pub use error::{Error, Result};
pub use graph::autograd::{Gradients, grad};
pub use peaks::{Measured, Peaks};
pub use random::manual_seed;
pub use realize::{eval, eval_replacing};
pub use scope::scope;
pub use store::{cache_dir, set_cache_dir};
pub use tensor::{
    AttentionOptions, CrossEntropy, Operand, Pending, Reduction, Tensor, autocast, checkpoint, no_grad,
};

/// Runs the README's code as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
