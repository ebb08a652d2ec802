//! Models written with `fornax`: each is the paper on one page, in plain layers and tensor ops. Beside them: their
//! folders in Hugging Face's layout, the tokenizers they read with, and generation.

mod bpe;
pub mod cache;
pub mod data;
mod folder;
pub mod generate;
pub mod gpt2;
pub mod sample;
pub mod tokenizer;
mod tokenizer_json;

pub use data::{Batches, Tokens};
pub use generate::{Completion, Generation, Reason, Request, Session, Speed, generate};
pub use gpt2::{Gpt2, Gpt2Config};
pub use sample::{Sampler, Sampling};
pub use tokenizer::{Decoder, Tokenizer};
