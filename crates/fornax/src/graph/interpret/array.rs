//! The values of the interpreter.

use super::wrong;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::view::{Dims, View, each_coord};
use half::{bf16, f16};

/// The elements of an [`Array`], row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Of f16, bf16, f32 and f64.
    Float(Vec<f64>),
    /// Of integers and bool.
    Int(Vec<i64>),
}

/// A computed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The sizes of its axes.
    pub shape: Dims,
    /// Its element type; the data are rounded to it.
    pub dtype: DType,
    /// Its elements.
    pub data: Data,
}

/// The nearest value that `dtype` can hold.
fn round(v: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => v as f32 as f64,
        DType::F16 => f16::from_f64(v).to_f64(),
        DType::BF16 => bf16::from_f64(v).to_f64(),
        _ => v,
    }
}

/// The value modulo the size of `dtype`.
fn wrap(v: i64, dtype: DType) -> i64 {
    match dtype {
        DType::I32 => v as i32 as i64,
        DType::U32 => v as u32 as i64,
        DType::U8 => v as u8 as i64,
        DType::Bool => (v != 0) as i64,
        _ => v,
    }
}

impl Array {
    pub(super) fn floats(shape: &[usize], dtype: DType, mut data: Vec<f64>) -> Array {
        if dtype != DType::F64 {
            data.iter_mut().for_each(|v| *v = round(*v, dtype));
        }
        Array { shape: shape.into(), dtype, data: Data::Float(data) }
    }

    pub(super) fn ints(shape: &[usize], dtype: DType, mut data: Vec<i64>) -> Array {
        data.iter_mut().for_each(|v| *v = wrap(*v, dtype));
        Array { shape: shape.into(), dtype, data: Data::Int(data) }
    }

    /// The array that these bytes (row-major, native endian) hold.
    pub fn from_bytes(bytes: &[u8], shape: &[usize], dtype: DType) -> Array {
        fn list<T: Element, U>(bytes: &[u8], f: impl Fn(T) -> U) -> Vec<U> {
            T::from_bytes(bytes).into_iter().map(f).collect()
        }
        let data = match dtype {
            DType::F32 => Data::Float(list(bytes, |v: f32| v as f64)),
            DType::F16 => Data::Float(list(bytes, |v: f16| v.to_f64())),
            DType::BF16 => Data::Float(list(bytes, |v: bf16| v.to_f64())),
            DType::F64 => Data::Float(f64::from_bytes(bytes)),
            DType::I32 => Data::Int(list(bytes, |v: i32| v as i64)),
            DType::I64 => Data::Int(i64::from_bytes(bytes)),
            DType::U32 => Data::Int(list(bytes, |v: u32| v as i64)),
            DType::U8 => Data::Int(list(bytes, |v: u8| v as i64)),
            DType::Bool => Data::Int(list(bytes, |v: bool| v as i64)),
        };
        Array { shape: shape.into(), dtype, data }
    }

    /// The bytes of the elements, row-major, native endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        fn bytes<V: Copy, T: Element>(data: &[V], f: impl Fn(V) -> T) -> Vec<u8> {
            T::to_bytes(&data.iter().map(|&v| f(v)).collect::<Vec<_>>())
        }
        match (&self.data, self.dtype) {
            (Data::Float(v), DType::F32) => bytes(v, |v| v as f32),
            (Data::Float(v), DType::F16) => bytes(v, f16::from_f64),
            (Data::Float(v), DType::BF16) => bytes(v, bf16::from_f64),
            (Data::Float(v), _) => bytes(v, |v| v),
            (Data::Int(v), DType::I32) => bytes(v, |v| v as i32),
            (Data::Int(v), DType::U32) => bytes(v, |v| v as u32),
            (Data::Int(v), DType::U8) => bytes(v, |v| v as u8),
            (Data::Int(v), DType::Bool) => bytes(v, |v| v != 0),
            (Data::Int(v), _) => bytes(v, |v| v),
        }
    }

    pub(super) fn float(&self) -> Result<&[f64]> {
        match &self.data {
            Data::Float(v) => Ok(v),
            Data::Int(_) => Err(wrong("integers where floats belong")),
        }
    }

    pub(super) fn int(&self) -> Result<&[i64]> {
        match &self.data {
            Data::Int(v) => Ok(v),
            Data::Float(_) => Err(wrong("floats where integers belong")),
        }
    }

    /// The elements that a view of this array shows; zeros where its mask hides them.
    pub(super) fn viewed(&self, view: &View) -> Array {
        fn pick<T: Copy + Default>(data: &[T], view: &View) -> Vec<T> {
            let mut out = Vec::with_capacity(view.numel());
            each_coord(&view.shape, |c| out.push(view.at(c).map_or(T::default(), |at| data[at])));
            out
        }
        let data = match &self.data {
            Data::Float(v) => Data::Float(pick(v, view)),
            Data::Int(v) => Data::Int(pick(v, view)),
        };
        Array { shape: view.shape.clone(), dtype: self.dtype, data }
    }
}
