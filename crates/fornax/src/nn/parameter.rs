//! Parameters: the tensors of a model that an optimizer replaces.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use std::sync::{Arc, RwLock};

/// A tensor with a gradient that an optimizer may replace. Clones are the same parameter, which is how two
/// layers share a weight.
#[derive(Clone)]
pub struct Parameter(Arc<RwLock<Tensor>>);

impl Parameter {
    /// A parameter that starts with this value, which is computed now: the first training step then has the same
    /// structure as all later ones.
    pub fn new(value: &Tensor) -> Result<Parameter> {
        value.eval()?;
        Ok(Parameter(Arc::new(RwLock::new(value.variable()?))))
    }

    /// The value now: a leaf whose gradient `backward` reports. The same tensor until [`Parameter::set`].
    pub fn tensor(&self) -> Tensor {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Replaces the value. Shape, dtype and device stay what they are.
    pub fn set(&self, value: &Tensor) -> Result<()> {
        let mut slot = self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if value.shape() != slot.shape() {
            let detail = format!("the parameter is {:?}, the new value {:?}", slot.shape(), value.shape());
            return Err(Error::Shape { op: "Parameter::set", detail });
        }
        if value.dtype() != slot.dtype() {
            let detail = format!("the parameter is {}, the new value {}", slot.dtype(), value.dtype());
            return Err(Error::DType { op: "Parameter::set", detail });
        }
        if value.device() != slot.device() {
            let (left, right) = (slot.device().to_string(), value.device().to_string());
            return Err(Error::DeviceMismatch { op: "Parameter::set", left, right });
        }
        *slot = value.variable()?;
        Ok(())
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> Vec<usize> {
        self.tensor().shape().to_vec()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.tensor().dtype()
    }

    /// Where it lives.
    pub fn device(&self) -> Device {
        self.tensor().device().clone()
    }

    /// Whether two handles are one parameter.
    pub fn is(&self, other: &Parameter) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What all handles to this parameter have in common and no other has.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as *const () as usize
    }
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parameter({:?} {})", self.shape(), self.dtype())
    }
}
