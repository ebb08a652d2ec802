//! stub
use crate::tensor::Tensor;
/// stub
pub struct Gradients {}
/// stub
pub fn grad(_: &Tensor) {}
