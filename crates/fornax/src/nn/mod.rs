//! Neural network layers, written in tensor ops: nothing here knows graphs, kernels or devices' insides.
//! A layer owns [`Parameter`]s, names them in [`Module::visit`], and has a `forward` that only records.
//!
//! ```
//! use fornax::nn::{Linear, Module};
//! use fornax::{DType, Device, Tensor};
//!
//! let device = Device::cpu();
//! let layer = Linear::new(3, 2, &device)?;
//! let x = Tensor::ones(&[4, 3], DType::F32, &device)?;
//! assert_eq!(layer.forward(&x)?.shape(), [4, 2]);
//! let names: Vec<String> = layer.named_parameters().into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["weight", "bias"]);
//! # Ok::<(), fornax::Error>(())
//! ```

mod attention;
mod dropout;
mod embedding;
mod layer_norm;
mod linear;
mod mlp;
mod module;
mod parameter;
mod rms_norm;
mod transformer;

pub use attention::MultiHeadAttention;
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use mlp::Mlp;
pub use module::{Module, Visitor};
pub use parameter::Parameter;
pub use rms_norm::RmsNorm;
pub use transformer::TransformerBlock;
