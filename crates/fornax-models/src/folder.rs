//! A model's folder in Hugging Face's layout: JSON files, and weights in one safetensors file or in shards with an
//! index. Knows nothing of any model but its parameters' names.

use fornax::io::{read_file, safetensors, write_file};
use fornax::nn::Module;
use fornax::{Device, Error, Result, Tensor};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const WHOLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

pub(crate) fn format_error(path: &Path, detail: impl Into<String>) -> Error {
    Error::Format { path: path.display().to_string(), detail: detail.into() }
}

/// Makes the folder and those above it, if they are not there.
pub(crate) fn create(dir: &Path) -> Result<()> {
    let path = || dir.display().to_string();
    std::fs::create_dir_all(dir).map_err(|source| Error::Io { path: path(), source })
}

pub(crate) fn read_json(path: &Path) -> Result<Value> {
    let bytes = read_file(path)?;
    serde_json::from_slice(&bytes).map_err(|error| format_error(path, format!("not JSON: {error}")))
}

pub(crate) fn write_json(path: &Path, value: &Value) -> Result<()> {
    let text = serde_json::to_vec_pretty(value).map_err(|error| format_error(path, error.to_string()))?;
    write_file(path, &[&text, b"\n"])
}

/// Sets a module's parameters from the folder's weights. `ours` gives the parameter that a name of the file means,
/// or `None` for what the model does not keep.
pub(crate) fn load_weights(
    dir: &Path,
    module: &dyn Module,
    ours: impl Fn(&str) -> Option<String>,
) -> Result<()> {
    let parameters = module.named_parameters();
    let Some((_, first)) = parameters.first() else { return Ok(()) };
    let mut weights = BTreeMap::new();
    for (name, tensor) in read_weights(dir, &first.device())? {
        let Some(name) = ours(&name) else { continue };
        if weights.contains_key(&name) {
            return Err(Error::Parameter { name, detail: "the folder has it twice".into() });
        }
        weights.insert(name, tensor);
    }
    safetensors::set_parameters(module, weights)
}

fn read_weights(dir: &Path, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let (whole, index) = (dir.join(WHOLE), dir.join(INDEX));
    if whole.exists() || !index.exists() {
        return safetensors::load(&whole, device);
    }
    let file = read_json(&index)?;
    let map = file["weight_map"].as_object().ok_or_else(|| format_error(&index, "it has no weight_map"))?;
    let mut shards = BTreeSet::new();
    for shard in map.values() {
        // A name with a folder in it could point anywhere on the disk.
        match shard.as_str().filter(|name| Path::new(name).file_name().is_some_and(|last| last == *name)) {
            Some(name) => shards.insert(name),
            None => return Err(format_error(&index, format!("{shard} is not the name of a file beside it"))),
        };
    }
    let mut all = BTreeMap::new();
    for shard in shards {
        all.extend(safetensors::load(dir.join(shard), device)?);
    }
    if let Some(name) = map.keys().find(|name| !all.contains_key(*name)) {
        return Err(format_error(&index, format!("it names {name}, which no shard holds")));
    }
    Ok(all)
}

/// Writes a module's parameters to one file, with `prefix` before their names.
pub(crate) fn save_weights(dir: &Path, module: &dyn Module, prefix: &str) -> Result<()> {
    let parameters = module.named_parameters().into_iter();
    let named: Vec<_> = parameters.map(|(name, p)| (format!("{prefix}{name}"), p.tensor())).collect();
    safetensors::save(dir.join(WHOLE), &named)
}
