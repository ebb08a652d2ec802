//! The affine layer.

use super::{Module, Parameter, Visitor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// `y = x w^T + b`, with PyTorch's layout of the weight: `[outputs, inputs]`.
#[derive(Clone, Debug)]
pub struct Linear {
    /// `[outputs, inputs]`.
    pub weight: Parameter,
    /// `[outputs]`.
    pub bias: Option<Parameter>,
}

impl Linear {
    /// A layer with PyTorch's initial values: weight and bias uniform in ±1/sqrt(inputs).
    pub fn new(inputs: usize, outputs: usize, device: &Device) -> Result<Linear> {
        let mut layer = Linear::without_bias(inputs, outputs, device)?;
        layer.bias = Some(Parameter::new(&uniform(&[outputs], inputs, device)?)?);
        Ok(layer)
    }

    /// The same without a bias.
    pub fn without_bias(inputs: usize, outputs: usize, device: &Device) -> Result<Linear> {
        Ok(Linear { weight: Parameter::new(&uniform(&[outputs, inputs], inputs, device)?)?, bias: None })
    }

    /// `[.., inputs] -> [.., outputs]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let weight = self.weight.tensor();
        let (inputs, outputs) = (weight.shape()[1], weight.shape()[0]);
        if x.shape().last() != Some(&inputs) {
            let detail = format!("the last axis of {:?} is not the layer's {inputs} inputs", x.shape());
            return Err(Error::Shape { op: "Linear", detail });
        }
        // All leading axes are rows of one product; a batched product would sum the weight's gradient over the batch.
        let rows = x.reshape(&[(x.numel() / inputs.max(1)) as isize, inputs as isize])?;
        let y = match &self.bias {
            Some(bias) => rows.matmul_add(&weight.t()?, &bias.tensor())?,
            None => rows.matmul(&weight.t()?)?,
        };
        let mut shape: Vec<isize> = x.shape().iter().map(|&n| n as isize).collect();
        shape[x.rank() - 1] = outputs as isize;
        y.reshape(&shape)
    }
}

/// PyTorch's `kaiming_uniform_(a=sqrt(5))`, which comes to ±1/sqrt(inputs).
fn uniform(shape: &[usize], inputs: usize, device: &Device) -> Result<Tensor> {
    let bound = 1.0 / (inputs.max(1) as f64).sqrt();
    Tensor::rand(shape, DType::F32, device)?.mul(2.0 * bound)?.sub(bound)
}

impl Module for Linear {
    fn visit(&self, v: &mut Visitor) {
        v.parameter("weight", &self.weight);
        v.optional("bias", self.bias.as_ref());
    }
}
