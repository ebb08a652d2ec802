//! Safetensors files: named tensors, parameters of a module, state of an optimizer.
//!
//! ```
//! use fornax::io::safetensors;
//! use fornax::nn::Linear;
//! use fornax::Device;
//!
//! let path = std::env::temp_dir().join(format!("fornax-doc-{}.safetensors", std::process::id()));
//! let (a, b) = (Linear::new(2, 2, &Device::cpu())?, Linear::new(2, 2, &Device::cpu())?);
//! safetensors::save_parameters(&path, &a)?;
//! safetensors::load_parameters(&path, &b)?;
//! assert_eq!(a.weight.tensor().to_vec::<f32>()?, b.weight.tensor().to_vec::<f32>()?);
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), fornax::Error>(())
//! ```

use super::{format_error, read_file, reorder, write_whole};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn::{Module, Parameter};
use crate::tensor::Tensor;
use ::safetensors::tensor::{Metadata, TensorInfo};
use ::safetensors::{Dtype, SafeTensors};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::Path;

/// Words that travel with the tensors of a file.
pub type Notes = BTreeMap<String, String>;

/// Writes tensors under their names. They are evaluated first, together.
pub fn save(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    save_with(path, tensors, &Notes::new())
}

/// As [`save`], with notes (the file's `__metadata__`). Tensors are read back one at a time.
pub fn save_with(path: impl AsRef<Path>, tensors: &[(String, Tensor)], notes: &Notes) -> Result<()> {
    let path = path.as_ref();
    crate::realize::eval(&tensors.iter().map(|(_, tensor)| tensor).collect::<Vec<_>>())?;
    // The format wants the widest elements first.
    let mut tensors: Vec<&(String, Tensor)> = tensors.iter().collect();
    tensors.sort_by(|(a, x), (b, y)| y.dtype().size().cmp(&x.dtype().size()).then_with(|| a.cmp(b)));
    let mut names = FxHashSet::default();
    let (mut entries, mut end) = (vec![], 0);
    for (name, tensor) in &tensors {
        if !names.insert(name) {
            return Err(Error::Parameter { name: name.clone(), detail: "two tensors have this name".into() });
        }
        let begin = end;
        end += tensor.numel() * tensor.dtype().size();
        let (dtype, shape) = (to_file(tensor.dtype()), tensor.shape().to_vec());
        entries.push((name.clone(), TensorInfo { dtype, shape, data_offsets: (begin, end) }));
    }
    // Libraries around PyTorch refuse files that do not say this; it stands for row-major tensors.
    let format = ("format".to_string(), "pt".to_string());
    let words = notes.clone().into_iter().chain([format]).collect();
    let header =
        Metadata::new(Some(words), entries).map_err(|error| format_error(path, error.to_string()))?;
    let mut header = serde_json::to_vec(&header).map_err(|error| format_error(path, error.to_string()))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let io = |source| super::io_error(path, source);
    write_whole(path, |file| {
        file.write_all(&(header.len() as u64).to_le_bytes())
            .and_then(|()| file.write_all(&header))
            .map_err(io)?;
        for (_, tensor) in tensors {
            let mut bytes = tensor.to_bytes()?;
            reorder(&mut bytes, tensor.dtype().size(), true);
            file.write_all(&bytes).map_err(io)?;
        }
        Ok(())
    })
}

/// Reads all tensors of a file.
pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    Ok(load_with(path, device)?.0)
}

/// Reads all tensors of a file, and its notes.
pub fn load_with(path: impl AsRef<Path>, device: &Device) -> Result<(BTreeMap<String, Tensor>, Notes)> {
    let path = path.as_ref();
    let file = read_file(path)?;
    let broken = |error| format_error(path, format!("not a whole safetensors file: {error}"));
    let tensors = SafeTensors::deserialize(&file).map_err(broken)?;
    let mut all = BTreeMap::new();
    for (name, view) in tensors.iter() {
        let dtype = from_file(view.dtype()).ok_or_else(|| {
            let detail = format!("{name} is of type {:?}, which Fornax has not", view.dtype());
            format_error(path, detail)
        })?;
        let mut bytes = std::borrow::Cow::Borrowed(view.data());
        if cfg!(target_endian = "big") {
            reorder(bytes.to_mut(), dtype.size(), true);
        }
        all.insert(name.to_string(), Tensor::from_bytes(&bytes, view.shape(), dtype, device)?);
    }
    let notes = SafeTensors::read_metadata(&file).map_err(broken)?.1.metadata().clone();
    Ok((all, notes.into_iter().flatten().collect()))
}

/// Writes a module's parameters under their paths.
pub fn save_parameters(path: impl AsRef<Path>, module: &dyn Module) -> Result<()> {
    let named: Vec<(String, Tensor)> =
        module.named_parameters().into_iter().map(|(name, parameter)| (name, parameter.tensor())).collect();
    save(path, &named)
}

/// Sets a module's parameters from a file that has exactly these, in these shapes. Other float types are cast.
/// On an error nothing has changed.
pub fn load_parameters(path: impl AsRef<Path>, module: &dyn Module) -> Result<()> {
    match module.parameters().first() {
        Some(first) => set_parameters(module, load(path, &first.device())?),
        None => Ok(()),
    }
}

/// The same from tensors that were read already.
pub fn set_parameters(module: &dyn Module, file: BTreeMap<String, Tensor>) -> Result<()> {
    let parameters = module.named_parameters();
    let values = fitting(&parameters, file)?;
    replace(&parameters, &values)
}

/// Sets parameters in the order of their leaves, which gradients go by: a step records the same before and after.
pub(super) fn replace(parameters: &[(String, Parameter)], values: &[Tensor]) -> Result<()> {
    let mut pairs: Vec<_> = parameters.iter().map(|(_, parameter)| parameter).zip(values).collect();
    pairs.sort_by_key(|(parameter, _)| parameter.tensor().id());
    pairs.into_iter().try_for_each(|(parameter, value)| parameter.set(value))
}

/// The tensors that parameters are set to: exactly theirs, in their shapes and dtypes.
pub(super) fn fitting(
    parameters: &[(String, Parameter)],
    mut file: BTreeMap<String, Tensor>,
) -> Result<Vec<Tensor>> {
    let mut values = vec![];
    for (name, parameter) in parameters {
        let wrong = |detail: String| Error::Parameter { name: name.clone(), detail };
        let value = file.remove(name).ok_or_else(|| wrong("the file does not have it".into()))?;
        if value.shape() != parameter.shape() {
            let (have, want) = (value.shape(), parameter.shape());
            return Err(wrong(format!("the file has {have:?}, the module {want:?}")));
        }
        if !value.dtype().is_float() {
            return Err(wrong(format!("the file has it as {}, a parameter is a float", value.dtype())));
        }
        values.push(value.to_dtype(parameter.dtype())?);
    }
    if let Some(name) = file.into_keys().next() {
        return Err(Error::Parameter { name, detail: "the module has no such parameter".into() });
    }
    crate::realize::eval(&values.iter().collect::<Vec<_>>())?;
    Ok(values)
}

fn to_file(dtype: DType) -> Dtype {
    match dtype {
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::F64 => Dtype::F64,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U32 => Dtype::U32,
        DType::U8 => Dtype::U8,
        DType::Bool => Dtype::BOOL,
    }
}

fn from_file(dtype: Dtype) -> Option<DType> {
    crate::dtype::ALL_DTYPES.into_iter().find(|&known| to_file(known) == dtype)
}
