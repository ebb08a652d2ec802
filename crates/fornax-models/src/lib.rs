//! Models written with `fornax`: each is the paper on one page, in plain layers and tensor ops.

pub mod gpt;

pub use gpt::{Gpt, GptConfig};
