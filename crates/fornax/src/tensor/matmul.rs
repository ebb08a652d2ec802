//! The matrix product, by NumPy's rules.

use super::axes::{broadcast_shape, same_device};
use super::{Tensor, autocast, checked_numel, raw};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::view::Dims;

/// Both factors of a product: cast by autocast, on one device, of one dtype that can be multiplied.
pub(super) fn factors(op: &'static str, a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
    same_device(op, a, b)?;
    let (a, b) = (autocast::factor(a), autocast::factor(b));
    let dtype = DType::promote(a.dtype(), b.dtype());
    if dtype == DType::Bool {
        let detail = "bool operands have no product; cast them with .to_dtype(..)".into();
        return Err(Error::DType { op, detail });
    }
    Ok((raw::cast(&a, dtype), raw::cast(&b, dtype)))
}

impl Tensor {
    /// The matrix product `[.., M, K] x [.., K, N] -> [.., M, N]`. Leading axes broadcast; a vector on the
    /// left is a row, on the right a column, and its axis goes away.
    pub fn matmul(&self, rhs: &Tensor) -> Result<Tensor> {
        let op = "matmul";
        let (a, b) = factors(op, self, rhs)?;
        let bad = |why: String| {
            Err(Error::Shape { op, detail: format!("{:?} x {:?}: {why}", self.shape(), rhs.shape()) })
        };
        if a.rank() == 0 || b.rank() == 0 {
            return bad("a product needs at least one axis on each side (mul(..) scales)".into());
        }
        let (row, column) = (a.rank() == 1, b.rank() == 1);
        let a = if row { raw::reshape(&a, &[1, a.shape()[0]]) } else { a };
        let b = if column { raw::reshape(&b, &[b.shape()[0], 1]) } else { b };
        let (m, k) = (a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]);
        let (inner, n) = (b.shape()[b.rank() - 2], b.shape()[b.rank() - 1]);
        if k != inner {
            let hint = if k == n && !column { " (did you mean b.t()?)" } else { "" };
            return bad(format!("inner sizes {k} and {inner} differ{hint}"));
        }
        let batch = broadcast_shape(op, &a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2])?;
        let mut shape = batch.clone();
        shape.extend_from_slice(&[m, n]);
        checked_numel(op, &shape)?;
        let product = if b.rank() == 2 && a.rank() > 2 {
            // One matrix for all batches: they are rows of one product, and so is the gradient of the matrix.
            let rows = a.shape()[..a.rank() - 1].iter().product();
            raw::reshape(&raw::matmul(&raw::reshape(&a, &[rows, k]), &b), &shape)
        } else {
            let batched = |x: &Tensor| {
                let mut shape = batch.clone();
                shape.extend_from_slice(&x.shape()[x.rank() - 2..]);
                raw::broadcast(x, &shape)
            };
            raw::matmul(&batched(&a), &batched(&b))
        };
        if !row && !column {
            return Ok(product);
        }
        let mut shape: Dims = batch;
        if !row {
            shape.push(m);
        }
        if !column {
            shape.push(n);
        }
        Ok(raw::reshape(&product, &shape))
    }

    /// The matrix product with a bias added to every row, in the dtype of the product. The sum is rounded once: an f16
    /// or bf16 product meets the bias in f32, whatever the bias is stored in.
    pub fn matmul_add(&self, rhs: &Tensor, bias: &Tensor) -> Result<Tensor> {
        let product = self.matmul(rhs)?;
        let sum = raw::cast_product(&product, product.dtype().compute()).add(bias)?;
        Ok(raw::cast(&sum, product.dtype()))
    }
}
