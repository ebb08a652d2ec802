//! Tokenizers: text to ids and back. All of them are byte-level byte-pair encodings; GPT-2's is built in, others come
//! from a `tokenizer.json` of Hugging Face, and plain bytes are the one without merges.

use crate::bpe::{Bpe, GPT2_PATTERN};
use crate::tokenizer_json;
use fornax::{Error, Result};
use std::path::Path;

/// Text to ids and back.
///
/// ```
/// # use fornax_models::Tokenizer;
/// let tokenizer = Tokenizer::gpt2()?;
/// let ids = tokenizer.encode("Hello, world!<|endoftext|>")?;
/// assert_eq!(ids, [15496, 11, 995, 0, 50256]);
/// assert_eq!(tokenizer.decode(&ids), "Hello, world!<|endoftext|>");
/// # Ok::<(), fornax::Error>(())
/// ```
pub struct Tokenizer {
    name: String,
    bpe: Bpe,
}

impl Tokenizer {
    /// GPT-2's: 50257 tokens, the last of which is `<|endoftext|>`.
    pub fn gpt2() -> Result<Tokenizer> {
        let missing = |error: String| Error::Internal(format!("the vocabulary of GPT-2: {error}"));
        let vocabulary = tiktoken_rs::r50k_base().map_err(|error| missing(error.to_string()))?;
        let tokens = (0..50256).map(|id| vocabulary.decode_bytes(&[id]));
        let tokens =
            tokens.collect::<std::result::Result<_, _>>().map_err(|error| missing(error.to_string()))?;
        let bpe = Bpe::learned(tokens, &[GPT2_PATTERN])?.with_special(&["<|endoftext|>"])?;
        Ok(Tokenizer { name: "gpt2".into(), bpe })
    }

    /// Every byte is a token: 256 of them.
    pub fn bytes() -> Result<Tokenizer> {
        let tokens = (0..=255).map(|byte| vec![byte]).collect();
        Ok(Tokenizer { name: "bytes".into(), bpe: Bpe::new(tokens, &[], &[], vec![])? })
    }

    /// Reads a `tokenizer.json`. Kinds other than byte-level byte-pair encodings are an error that says which.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Tokenizer> {
        let path = path.as_ref();
        Ok(Tokenizer { name: path.display().to_string(), bpe: tokenizer_json::read(path)? })
    }

    /// Writes a `tokenizer.json` that [`Tokenizer::from_file`] and Hugging Face's libraries read.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        tokenizer_json::write(path.as_ref(), &self.bpe)
    }

    /// The tokenizer of a model's folder: its `tokenizer.json`, or if there is none the built-in one with as many
    /// tokens as the model.
    pub fn of_folder(dir: impl AsRef<Path>, vocabulary: usize) -> Result<Tokenizer> {
        let path = dir.as_ref().join("tokenizer.json");
        match vocabulary {
            _ if path.exists() => Tokenizer::from_file(path),
            50257 => Tokenizer::gpt2(),
            256 => Tokenizer::bytes(),
            other => {
                let detail =
                    format!("it is missing, and no built-in tokenizer has the model's {other} tokens");
                Err(Error::Format { path: path.display().to_string(), detail })
            }
        }
    }

    /// The ids of a text. Special tokens are recognised.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        self.bpe.encode(text)
    }

    /// The text of ids. Bytes that are no UTF-8, and ids that do not exist, become U+FFFD.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut decoder = self.decoder();
        let mut text: String = ids.iter().map(|&id| decoder.push(id)).collect();
        text.push_str(&decoder.finish());
        text
    }

    /// A decoder for ids that come one by one.
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder { bpe: &self.bpe, pending: vec![] }
    }

    /// The id of a text that is one token wherever it stands, such as `<|endoftext|>`.
    pub fn special(&self, text: &str) -> Option<u32> {
        self.bpe.special.iter().find(|(known, _)| known == text).map(|(_, id)| *id)
    }

    /// One more than the largest id.
    pub fn vocabulary(&self) -> usize {
        self.bpe.tokens.len()
    }

    /// "gpt2", "bytes", or the file it came from.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Turns ids into text as they come: a character whose bytes are spread over several tokens appears with the last.
pub struct Decoder<'a> {
    bpe: &'a Bpe,
    /// The beginning of a character.
    pending: Vec<u8>,
}

impl Decoder<'_> {
    /// The text that is certain now.
    pub fn push(&mut self, id: u32) -> String {
        let unknown = "\u{FFFD}".as_bytes();
        self.pending.extend_from_slice(self.bpe.tokens.get(id as usize).map_or(unknown, |token| token));
        let mut text = String::new();
        let mut rest = &self.pending[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = after;
                    let Some(invalid) = error.error_len() else { break };
                    text.push('\u{FFFD}');
                    rest = &rest[invalid..];
                }
            }
        }
        self.pending = rest.to_vec();
        text
    }

    /// What is left: U+FFFD if a character was not finished.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}
