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

use super::{format_error, read_file, reorder, write_file};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn::Module;
use crate::tensor::Tensor;
use ::safetensors::tensor::TensorView;
use ::safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes tensors under their names. They are evaluated first, together.
pub fn save(path: impl AsRef<Path>, tensors: &[(String, Tensor)]) -> Result<()> {
    let path = path.as_ref();
    crate::realize::eval(&tensors.iter().map(|(_, tensor)| tensor).collect::<Vec<_>>())?;
    let mut data: BTreeMap<&str, (&Tensor, Vec<u8>)> = BTreeMap::new();
    for (name, tensor) in tensors {
        let mut bytes = tensor.to_bytes()?;
        reorder(&mut bytes, tensor.dtype().size(), true);
        if data.insert(name, (tensor, bytes)).is_some() {
            return Err(Error::Parameter { name: name.clone(), detail: "two tensors have this name".into() });
        }
    }
    let mut views = vec![];
    for (name, (tensor, bytes)) in &data {
        let view = TensorView::new(to_file(tensor.dtype()), tensor.shape().to_vec(), bytes)
            .map_err(|error| format_error(path, format!("{name}: {error}")))?;
        views.push((*name, view));
    }
    // Libraries around PyTorch refuse files that do not say this; it stands for row-major tensors.
    let metadata = [("format".to_string(), "pt".to_string())].into_iter().collect();
    let file = ::safetensors::serialize(views, Some(metadata))
        .map_err(|error| format_error(path, error.to_string()))?;
    write_file(path, &[&file])
}

/// Reads all tensors of a file.
pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<BTreeMap<String, Tensor>> {
    let path = path.as_ref();
    let file = read_file(path)?;
    let tensors = SafeTensors::deserialize(&file)
        .map_err(|error| format_error(path, format!("not a whole safetensors file: {error}")))?;
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
    Ok(all)
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
pub fn set_parameters(module: &dyn Module, mut file: BTreeMap<String, Tensor>) -> Result<()> {
    let parameters = module.named_parameters();
    let mut values = vec![];
    for (name, parameter) in &parameters {
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
    for ((_, parameter), value) in parameters.iter().zip(&values) {
        parameter.set(value)?;
    }
    Ok(())
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
