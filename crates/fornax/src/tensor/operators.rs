//! Rust's operators on tensors: `&a + &b`, `&a * 2.0`, `1.0 - &a`, `-&a`. Each gives a `Result`.

use super::{Operand, Tensor};
use crate::error::Result;
use std::ops;

macro_rules! operators {
    ($($trait:ident $name:ident),*) => {$(
        impl<'a, R: Into<Operand<'a>>> ops::$trait<R> for &Tensor {
            type Output = Result<Tensor>;
            fn $name(self, rhs: R) -> Result<Tensor> {
                Tensor::$name(self, rhs)
            }
        }
        operators!(@left $trait $name f32);
        operators!(@left $trait $name f64);
        operators!(@left $trait $name i64);
    )*};
    (@left $trait:ident $name:ident $number:ty) => {
        impl ops::$trait<&Tensor> for $number {
            type Output = Result<Tensor>;
            fn $name(self, rhs: &Tensor) -> Result<Tensor> {
                Tensor::$name(&rhs.scalar_like(self), rhs)
            }
        }
    };
}
operators!(Add add, Sub sub, Mul mul, Div div, Rem rem);

impl ops::Neg for &Tensor {
    type Output = Result<Tensor>;
    fn neg(self) -> Result<Tensor> {
        Tensor::neg(self)
    }
}
