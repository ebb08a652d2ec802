//! GPT-2 here against GPT-2 in transformers: logits, training, generation, file layouts, tokenizers, sampling. The
//! numbers come from scripts/parity_gpt2.py; neither PyTorch nor transformers is needed here.

#[path = "../../fornax/tests/on/mod.rs"]
mod on;

use fornax::io::safetensors;
use fornax::nn::Module;
use fornax::optim::{AdamW, Optimizer};
use fornax::{Result, Tensor};
use fornax_models::{Gpt2, Sampling, Session, Tokenizer};
use std::collections::BTreeMap;

fn path(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> BTreeMap<String, Tensor> {
    safetensors::load(path(&format!("{name}.safetensors")), &on::device()).unwrap()
}

fn model() -> Gpt2 {
    Gpt2::load(path("gpt2"), &on::device()).unwrap()
}

fn ids(tensor: &Tensor) -> Vec<u32> {
    tensor.to_vec::<i64>().unwrap().into_iter().map(|id| id as u32).collect()
}

fn worst(have: &Tensor, want: &Tensor) -> f32 {
    assert_eq!(have.shape(), want.shape());
    let (have, want) = (have.to_vec::<f32>().unwrap(), want.to_vec::<f32>().unwrap());
    have.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn logits_agree() -> Result<()> {
    let fixture = fixture("gpt2");
    let error = worst(&model().forward(&fixture["ids"])?, &fixture["logits"]);
    println!("largest difference of logits: {error:.1e}");
    assert!(error <= 1e-4, "{error}");
    Ok(())
}

#[test]
fn thirty_steps_of_adamw_agree() -> Result<()> {
    let (fixture, model) = (fixture("gpt2"), model());
    let rule = AdamW { betas: (0.9, 0.95), eps: 1e-8, weight_decay: 0.1 };
    let mut optimizer = Optimizer::new(rule, 1e-3, model.named_parameters())?;
    let wanted = fixture["train.losses"].to_vec::<f32>()?;
    let mut largest = 0f32;
    for (step, want) in wanted.iter().enumerate() {
        let part = |name: &str| fixture[name].select(0, step as isize);
        let loss = model.loss(&part("train.ids")?, &part("train.targets")?)?;
        optimizer.step(&loss.backward()?)?;
        let error = (loss.item::<f32>()? / want - 1.0).abs();
        assert!(error <= 1e-5, "step {step}: {error:.1e} from {want}");
        largest = largest.max(error);
    }
    println!("largest relative difference of {} losses: {largest:.1e}", wanted.len());
    assert_eq!(wanted.len(), 30);
    Ok(())
}

/// The most likely tokens after each prompt.
fn greedy(model: &Gpt2, prompts: &[Vec<u32>], count: usize) -> Result<Vec<Vec<u32>>> {
    let mut session = Session::new(model, prompts, count - 1)?;
    let mut tokens = vec![vec![]; prompts.len()];
    for step in 0..count {
        let mut next = vec![];
        for (row, tokens) in tokens.iter_mut().enumerate() {
            next.push(Sampling::greedy().candidates(session.logits(row), &[])?[0].0);
            tokens.push(next[row]);
        }
        if step + 1 < count {
            session.push(&next)?;
        }
    }
    Ok(tokens)
}

#[test]
fn greedy_generation_is_identical_alone_and_in_a_batch() -> Result<()> {
    let (fixture, model) = (fixture("gpt2"), model());
    let get = |what: &str| (0..3).map(|i| ids(&fixture[&format!("{what}.{i}")])).collect::<Vec<_>>();
    let (prompts, wanted) = (get("prompt"), get("greedy"));
    for (prompt, want) in prompts.iter().zip(&wanted) {
        assert_eq!(want.len(), 64);
        assert_eq!(&greedy(&model, std::slice::from_ref(prompt), 64)?[0], want);
    }
    assert_eq!(greedy(&model, &prompts, 64)?, wanted);
    Ok(())
}

#[test]
fn every_layout_of_files_is_read() -> Result<()> {
    let fixture = fixture("layouts/logits");
    for name in ["sharded", "bare", "f16", "bf16", "old"] {
        let model = Gpt2::load(path(&format!("layouts/{name}")), &on::device())?;
        let error = worst(&model.forward(&fixture["ids"])?, &fixture[name]);
        assert!(error <= 1e-4, "{name}: {error}");
    }
    Ok(())
}

#[test]
fn encodings_agree() -> Result<()> {
    let file = std::fs::read(path("tokenizers.json")).unwrap();
    let cases: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let tokenizers = [
        ("gpt2", Tokenizer::gpt2()?),
        ("byte_level", Tokenizer::from_file(path("tokenizer_byte_level.json"))?),
        ("split", Tokenizer::from_file(path("tokenizer_split.json"))?),
    ];
    for (name, tokenizer) in tokenizers {
        for case in cases[name].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let want: Vec<u32> =
                case["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect();
            assert_eq!(tokenizer.encode(text)?, want, "{name}: {text:?}");
            assert_eq!(tokenizer.decode(&want), text, "{name}");
        }
    }
    Ok(())
}

#[test]
fn probabilities_of_sampling_agree() -> Result<()> {
    let fixture = fixture("sampling");
    let (logits, history) = (fixture["logits"].to_vec::<f32>()?, ids(&fixture["history"]));
    for i in 0..5 {
        let [temperature, top_k, top_p, min_p, repetition_penalty] =
            fixture[&format!("settings.{i}")].to_vec::<f64>()?[..]
        else {
            panic!("settings.{i}")
        };
        let sampling = Sampling { temperature, top_k: top_k as usize, top_p, min_p, repetition_penalty };
        let mut have = vec![0f32; logits.len()];
        for (id, p) in sampling.candidates(&logits, &history)? {
            have[id as usize] = p as f32;
        }
        let want = fixture[&format!("probabilities.{i}")].to_vec::<f32>()?;
        for (id, (a, b)) in have.iter().zip(&want).enumerate() {
            assert!((a - b).abs() < 1e-5 && (*a > 0.0) == (*b > 0.0), "{sampling:?}: {id} has {a}, not {b}");
        }
    }
    Ok(())
}
