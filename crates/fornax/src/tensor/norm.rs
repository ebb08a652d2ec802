//! Normalisation layers in plain ops: the scheduler finds the row. f16 and bf16 are computed in f32.

use super::axes::same_device;
use super::reduce::{mean, wide};
use super::{Tensor, raw};
use crate::error::{Error, Result};
use crate::graph::Unary;
use crate::view::Dims;
use smallvec::SmallVec;

/// `(x - mean) / sqrt(var + eps)` over axes.
fn standardise(x: &Tensor, axes: &[usize], eps: f64) -> Tensor {
    let centred = raw::sub(x, &raw::expand(&mean(x, axes), x.shape()));
    let var = mean(&raw::mul(&centred, &centred), axes);
    let factor = raw::unary(Unary::Rsqrt, &raw::offset(&var, eps));
    raw::mul(&centred, &raw::expand(&factor, x.shape()))
}

/// A gain or bias of the expected shape, as a tensor like `x` once reshaped to `line`.
fn parameter(op: &'static str, p: &Tensor, want: &[usize], line: &[usize], x: &Tensor) -> Result<Tensor> {
    same_device(op, x, p)?;
    if p.shape() != want {
        let detail = format!("a weight or bias of {:?} where {want:?} belongs", p.shape());
        return Err(Error::Shape { op, detail });
    }
    Ok(raw::broadcast(&raw::reshape(&raw::cast(p, x.dtype()), line), x.shape()))
}

fn scaled(
    op: &'static str,
    x: Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    want: &[usize],
    line: &[usize],
) -> Result<Tensor> {
    let x = match weight {
        Some(weight) => raw::mul(&x, &parameter(op, weight, want, line, &x)?),
        None => x,
    };
    Ok(match bias {
        Some(bias) => raw::add(&x, &parameter(op, bias, want, line, &x)?),
        None => x,
    })
}

impl Tensor {
    /// The trailing axes that are normalised.
    fn trailing(&self, op: &'static str, normalized: usize) -> Result<Dims> {
        if normalized == 0 || normalized > self.rank() {
            let detail =
                format!("{normalized} trailing axes of {:?}; 1 to {} exist", self.shape(), self.rank());
            return Err(Error::Argument { op, detail });
        }
        Ok((self.rank() - normalized..self.rank()).collect())
    }

    /// Normalises the trailing `normalized` axes to mean 0 and variance 1, then scales and shifts. `weight`
    /// and `bias` have the shape of those axes.
    pub fn layer_norm(
        &self,
        normalized: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        let op = "layer_norm";
        let axes = self.trailing(op, normalized)?;
        let (x, dtype) = wide(self);
        let want = &self.shape()[axes[0]..];
        let out = scaled(op, standardise(&x, &axes, eps), weight, bias, want, want)?;
        Ok(raw::cast(&out, dtype))
    }

    /// Divides the trailing `normalized` axes by their root mean square, then scales.
    pub fn rms_norm(&self, normalized: usize, weight: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let op = "rms_norm";
        let axes = self.trailing(op, normalized)?;
        let (x, dtype) = wide(self);
        let square = mean(&raw::mul(&x, &x), &axes);
        let factor = raw::unary(Unary::Rsqrt, &raw::offset(&square, eps));
        let out = raw::mul(&x, &raw::expand(&factor, x.shape()));
        let want = &self.shape()[axes[0]..];
        Ok(raw::cast(&scaled(op, out, weight, None, want, want)?, dtype))
    }

    /// Normalises groups of channels of `[N, C, ..]`, then scales and shifts each channel.
    pub fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        let op = "group_norm";
        if self.rank() < 2 {
            let detail = format!("{:?} is not [N, C, ..]", self.shape());
            return Err(Error::Shape { op, detail });
        }
        let (n, channels) = (self.shape()[0], self.shape()[1]);
        if groups == 0 || channels % groups != 0 {
            let detail = format!("{groups} groups of the {channels} channels of {:?}", self.shape());
            return Err(Error::Argument { op, detail });
        }
        let (x, dtype) = wide(self);
        let size = channels / groups * self.shape()[2..].iter().product::<usize>();
        let grouped = standardise(&raw::reshape(&x, &[n, groups, size]), &[2], eps);
        let mut line: Dims = SmallVec::from_elem(1, self.rank());
        line[1] = channels;
        let out = raw::reshape(&grouped, self.shape());
        Ok(raw::cast(&scaled(op, out, weight, bias, &[channels], &line)?, dtype))
    }
}
