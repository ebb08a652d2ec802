//! The engine's own tests, where nobody can wait: its table of cases and some training steps on the browser's GPU,
//! against the CPU device and the reference in the same module.

#[path = "../../fornax/tests/cases/mod.rs"]
mod table;

use crate::thrown;
use fornax::nn::Module;
use fornax::optim::{AdamW, Optimizer};
use fornax::{DType, Device, Error, Result, Tensor};
use fornax_models::{Gpt2, Gpt2Config};
use table::{PARTS, Table, difference};
use wasm_bindgen::prelude::*;

/// The parts of the table.
#[wasm_bindgen]
pub fn parts() -> Vec<String> {
    PARTS.map(|(name, _)| name.to_string()).to_vec()
}

/// Walks a part of the table, or one in `every` of its cases, and calls `begins` with the name of each. The first line is
/// the number of cases, then comes what went wrong, a case a line.
#[wasm_bindgen]
pub async fn part(
    name: String,
    every: usize,
    begins: js_sys::Function,
) -> std::result::Result<Vec<String>, JsError> {
    let walk = PARTS.iter().find(|(part, _)| *part == name).map(|(_, walk)| *walk);
    let walk = walk.ok_or_else(|| JsError::new(&format!("there is no part {name}")))?;
    let (cpu, gpu) = (Device::cpu(), Device::open_async("wgpu").await.map_err(thrown)?);
    let cases = |device: &Device| {
        let mut cases: Vec<(String, Result<Tensor>)> = vec![];
        fornax::manual_seed(3);
        let case = &mut |what: &str, tensor| cases.push((what.to_string(), tensor));
        walk(&mut Table { device, tested: &gpu, case });
        cases
    };
    let pairs: Vec<_> = cases(&cpu).into_iter().zip(cases(&gpu)).step_by(every.max(1)).collect();
    let mut lines = vec![pairs.len().to_string()];
    for ((what, wanted), (_, got)) in pairs {
        // What a page's script throws here is its own affair.
        let _ = begins.call1(&JsValue::NULL, &what.as_str().into());
        match wrong(wanted, got).await {
            Ok(None) => (),
            Ok(Some(difference)) => lines.push(format!("{what}: {difference}")),
            Err(e) => lines.push(format!("{what}: {e}")),
        }
    }
    Ok(lines)
}

async fn wrong(wanted: Result<Tensor>, got: Result<Tensor>) -> Result<Option<String>> {
    let (wanted, got) = (wanted?, got?);
    Ok(difference(&got.to_bytes_async().await?, &wanted.reference()?, &got))
}

/// Losses of a small GPT-2 in training, on a device.
async fn losses(device: &Device) -> Result<Vec<f32>> {
    fornax::manual_seed(7);
    let model = Gpt2::new(Gpt2Config::new(97, 32, 2, 48, 4), device)?;
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    let ids: Vec<i64> = (0..4 * 33).map(|i| (i * i * 7 + i * 3) % 97).collect();
    let ids = Tensor::from_slice(&ids, &[4, 33], device)?;
    let mut losses = vec![];
    for _ in 0..6 {
        let loss = model.loss(&ids.narrow(1, 0, 32)?, &ids.narrow(1, 1, 32)?)?;
        optimizer.step(&loss.backward()?)?;
        losses.push(loss.item_async().await?);
    }
    Ok(losses)
}

/// Trains on the CPU and on the browser's GPU: the losses of the one, then of the other.
#[wasm_bindgen]
pub async fn training() -> std::result::Result<Vec<f32>, JsError> {
    let both = async {
        let gpu = Device::open_async("wgpu").await?;
        let (cpu, losses) = (losses(&Device::cpu()).await?, losses(&gpu).await?);
        Ok([cpu, losses].concat())
    };
    both.await.map_err(thrown)
}

/// What a browser cannot do, as an error of its own: opening a GPU and reading from it without awaiting, a bad index. Then
/// what can be read after that, and the best device.
#[wasm_bindgen]
pub async fn refusals() -> std::result::Result<Vec<String>, JsError> {
    let all = async {
        let gpu = Device::open_async("wgpu").await?;
        let x = Tensor::ones(&[3], DType::F32, &gpu)?.add(1.0)?;
        let index = Tensor::from_slice(&[7i64], &[1], &gpu)?;
        let errors = [
            Device::open("wgpu").err(),
            x.to_vec::<f32>().err(),
            gpu.synchronize().err(),
            x.index_select(0, &index)?.to_bytes_async().await.err(),
            Device::open_async("wgpu:5").await.err(),
        ];
        gpu.synchronize_async().await?;
        let after = x.to_vec_async::<f32>().await?;
        let best = Device::best_async().await?;
        let said = |e: Option<Error>| e.map_or("nothing".to_string(), |e| e.to_string());
        Ok(errors.into_iter().map(said).chain([format!("{after:?}"), best.name()]).collect())
    };
    all.await.map_err(thrown)
}
