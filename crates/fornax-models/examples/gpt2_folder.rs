//! The Fornax half of scripts/transformers_both_ways.py: makes a model's folder, and computes logits of a folder.
//!
//! usage: gpt2_folder new DIR | gpt2_folder logits DIR IDS.safetensors LOGITS.safetensors

use fornax::io::safetensors;
use fornax::nn::Module;
use fornax::optim::{AdamW, Optimizer};
use fornax::{Device, Error, Result, Tensor};
use fornax_models::{Gpt2, Gpt2Config, Tokenizer};

const USAGE: &str = "usage: gpt2_folder new DIR | gpt2_folder logits DIR IDS.safetensors LOGITS.safetensors";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["new", dir] => new(dir),
        ["logits", dir, ids, out] => logits(dir, ids, out),
        _ => Err(Error::Argument { op: "gpt2_folder", detail: USAGE.into() }),
    }
}

/// A small model of bytes after a few steps of training, with its tokenizer.
fn new(dir: &str) -> Result<()> {
    let device = Device::best()?;
    let tokenizer = Tokenizer::bytes()?;
    let model = Gpt2::new(Gpt2Config::new(tokenizer.vocabulary(), 64, 2, 64, 4), &device)?;
    let text = tokenizer.encode(include_str!("gpt2_folder.rs"))?;
    let text: Vec<i64> = text.into_iter().map(|id| id as i64).collect();
    let mut optimizer = Optimizer::new(AdamW::default(), 3e-3, model.named_parameters())?;
    for part in text.windows(65).step_by(64).take(20) {
        let part = Tensor::from_slice(part, &[1, 65], &device)?;
        let loss = model.loss(&part.narrow(1, 0, 64)?, &part.narrow(1, 1, 64)?)?;
        optimizer.step(&loss.backward()?)?;
    }
    model.save(dir)?;
    tokenizer.save(std::path::Path::new(dir).join("tokenizer.json"))
}

fn logits(dir: &str, ids: &str, out: &str) -> Result<()> {
    let device = Device::best()?;
    let model = Gpt2::load(dir, &device)?;
    let file = safetensors::load(ids, &device)?;
    let missing = || Error::Format { path: ids.into(), detail: "it has no tensor \"ids\"".into() };
    let ids = file.get("ids").ok_or_else(missing)?;
    safetensors::save(out, &[("logits".into(), model.forward(ids)?)])
}
