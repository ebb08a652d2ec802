//! The model as such: it learns, and its folders go round. What it computes is compared with transformers in
//! `parity.rs`.

#[path = "../../fornax/tests/on/mod.rs"]
mod on;

use fornax::nn::Module;
use fornax::optim::{AdamW, Optimizer};
use fornax::{Error, Result, Tensor};
use fornax_models::{Gpt2, Gpt2Config};

const SMALL: Gpt2Config = Gpt2Config::new(7, 8, 2, 8, 2);

fn folder(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("fornax-{name}-{}", std::process::id()))
}

#[test]
fn a_small_model_learns_a_sequence() -> Result<()> {
    fornax::manual_seed(0);
    let device = on::device();
    let model = Gpt2::new(SMALL, &device)?;
    let ids = Tensor::from_slice(&[1i64, 2, 3, 4, 5], &[1, 5], &device)?;
    let targets = Tensor::from_slice(&[2i64, 3, 4, 5, 6], &[1, 5], &device)?;
    assert_eq!(model.forward(&ids)?.shape(), [1, 5, 7]);
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, model.named_parameters())?;
    let mut losses = vec![];
    for _ in 0..20 {
        let loss = model.loss(&ids, &targets)?;
        optimizer.step(&loss.backward()?)?;
        losses.push(loss.item::<f32>()?);
    }
    assert!((losses[0] - 7f32.ln()).abs() < 0.05, "an untrained model knows nothing: {}", losses[0]);
    assert!(losses[19] < 0.5 * losses[0], "{losses:?}");
    Ok(())
}

#[test]
fn ids_of_a_wrong_shape_are_errors() -> Result<()> {
    let device = on::device();
    let model = Gpt2::new(SMALL, &device)?;
    for shape in [&[5][..], &[1, 9]] {
        let ids = Tensor::zeros(shape, fornax::DType::I64, &device)?;
        assert!(matches!(model.forward(&ids), Err(Error::Shape { .. })), "{shape:?}");
    }
    assert!(Gpt2::new(Gpt2Config { heads: 3, ..SMALL }, &device).is_err());
    Ok(())
}

#[test]
fn presets_have_the_sizes_of_the_published_models() -> Result<()> {
    let count = |name| -> Result<usize> {
        let c = Gpt2Config::preset(name)?;
        let block = 12 * c.width * c.width + 13 * c.width;
        Ok((c.vocabulary + c.context) * c.width + c.layers * block + 2 * c.width)
    };
    assert_eq!(count("distilgpt2")?, 81_912_576);
    assert_eq!(count("gpt2")?, 124_439_808);
    assert_eq!(count("gpt2-medium")?, 354_823_168);
    assert_eq!(Gpt2::new(Gpt2Config::preset("tiny")?, &on::device())?.parameter_count(), count("tiny")?);
    let error = Gpt2Config::preset("gpt5").unwrap_err().to_string();
    assert!(error.contains("gpt5") && error.contains("gpt2-medium"), "{error}");
    Ok(())
}

#[test]
fn a_saved_model_is_the_same_model() -> Result<()> {
    fornax::manual_seed(1);
    let (device, dir) = (on::device(), folder("saved"));
    let model = Gpt2::new(Gpt2Config { end: Some(6), epsilon: 1e-6, ..SMALL }, &device)?;
    model.save(&dir)?;
    let again = Gpt2::load(&dir, &device)?;
    assert_eq!(again.config, model.config);
    for ((name, a), (_, b)) in model.named_parameters().iter().zip(again.named_parameters()) {
        assert_eq!(a.tensor().to_vec::<f32>()?, b.tensor().to_vec::<f32>()?, "{name}");
    }
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no temporary files stay: {left:?}");
    std::fs::remove_dir_all(&dir).unwrap();
    Ok(())
}

#[test]
fn a_config_that_asks_for_another_model_is_an_error() {
    let (dir, device) = (folder("config"), on::device());
    std::fs::create_dir_all(&dir).unwrap();
    let cases = [
        ("{", "not JSON"),
        (r#"{"model_type": "llama"}"#, "llama"),
        (r#"{"activation_function": "relu"}"#, "gelu_new"),
        (r#"{"n_inner": 5}"#, "n_inner"),
        (r#"{"tie_word_embeddings": false}"#, "tie_word_embeddings"),
        (r#"{"n_layer": -3}"#, "n_layer"),
        (r#"{"n_head": 7}"#, "heads"),
        (r#"{"n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 5}"#, "model.safetensors"),
    ];
    for (text, word) in cases {
        std::fs::write(dir.join("config.json"), text).unwrap();
        let error = Gpt2::load(&dir, &device).err().unwrap().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
