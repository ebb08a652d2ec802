//! Models written with `fornax`: each is the paper on one page, in plain layers and tensor ops. Beside them: their
//! folders in Hugging Face's layout, and the tokenizers they read with.

mod bpe;
pub mod data;
mod folder;
pub mod gpt2;
pub mod tokenizer;
mod tokenizer_json;

pub use data::{Batches, Tokens};
pub use gpt2::{Gpt2, Gpt2Config};
pub use tokenizer::{Decoder, Tokenizer};
