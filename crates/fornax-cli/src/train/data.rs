//! What `--data` names, as tokens to train on and tokens to evaluate with.

use super::text;
use crate::Failure;
use fornax::{Error, Result};
use fornax_models::{Tokenizer, Tokens};
use std::path::{Path, PathBuf};

pub struct Data {
    pub train: Tokens,
    pub eval: Tokens,
    /// What it is, in words.
    pub name: String,
}

/// The share of the tokens that is kept for evaluation: the last tenth.
const KEPT: u64 = 10;

/// Opens the data and sees that there is enough of it.
pub fn open(
    path: Option<&Path>,
    tokenizer: &Tokenizer,
    end: Option<u32>,
    context: usize,
) -> std::result::Result<Data, Failure> {
    let data = read(path, tokenizer, end).map_err(|error| Failure::Usage(format!("--data: {error}")))?;
    let need = context as u64 + 1;
    for (part, tokens) in [("to train on", &data.train), ("to evaluate with", &data.eval)] {
        if tokens.len() < need {
            let (name, have) = (&data.name, tokens.len());
            return Err(Failure::Usage(format!(
                "--data: too little: {name} has {have} tokens {part}, and a context of {context} needs {need}; \
                 give more data, or a shorter --context"
            )));
        }
    }
    Ok(data)
}

fn read(path: Option<&Path>, tokenizer: &Tokenizer, end: Option<u32>) -> Result<Data> {
    let Some(path) = path else {
        let ids = tokenizer.encode(&text::own_sources())?;
        return Ok(split(Tokens::new(ids), "Fornax's own sources".into()));
    };
    let name = path.display().to_string();
    let (train, val) = (path.join("train.bin"), path.join("val.bin"));
    if train.exists() {
        let train = Tokens::open(train)?;
        return Ok(match val.exists() {
            true => Data { train, eval: Tokens::open(val)?, name },
            false => split(train, name),
        });
    }
    if path.extension().is_some_and(|extension| extension == "bin") {
        return Ok(split(Tokens::open(path)?, name));
    }
    if !path.is_dir() {
        let text = as_text(path)?.ok_or_else(|| Error::Format {
            path: name.clone(),
            detail: "it is not UTF-8 text; tokens are expected in a .bin".into(),
        })?;
        return Ok(split(Tokens::new(tokenizer.encode(&text)?), name));
    }
    let mut files = vec![];
    walk(path, &mut files)?;
    let (mut ids, mut texts) = (vec![], 0);
    for file in &files {
        let Some(text) = as_text(file)? else { continue };
        texts += 1;
        ids.extend(tokenizer.encode(&text)?);
        match end {
            Some(end) => ids.push(end),
            None => ids.extend(tokenizer.encode("\n")?),
        }
    }
    if texts == 0 {
        return Err(Error::Format { path: name, detail: "there is no text file in this folder".into() });
    }
    Ok(split(Tokens::new(ids), format!("{name} ({texts} of {} files)", files.len())))
}

fn split(tokens: Tokens, name: String) -> Data {
    let (train, eval) = tokens.split_at(tokens.len() - tokens.len() / KEPT);
    Data { train, eval, name }
}

/// The file's text; `None` if it is not text.
fn as_text(path: &Path) -> Result<Option<String>> {
    Ok(String::from_utf8(fornax::io::read_file(path)?).ok())
}

/// All files below a folder but hidden ones, in an order that depends on their names only.
fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let io = |source| Error::Io { path: dir.display().to_string(), source };
    let entries = std::fs::read_dir(dir).map_err(io)?.collect::<std::io::Result<Vec<_>>>().map_err(io)?;
    let mut entries: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        // A link to a folder above would be walked for ever.
        let is_link = path.is_symlink() && path.is_dir();
        match path.is_dir() {
            _ if hidden || is_link => {}
            true => walk(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
