//! Element types of tensors, the Rust types that hold them, and the scalars that travel as launch arguments.

use half::{bf16, f16};
use std::convert::Infallible;
use std::fmt;

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// 32-bit float, the default.
    F32,
    /// 16-bit float with 5 exponent bits; computed in f32.
    F16,
    /// 16-bit float with 8 exponent bits; computed in f32.
    BF16,
    /// 64-bit float, mostly for gradient checks.
    F64,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 32-bit unsigned integer.
    U32,
    /// 8-bit unsigned integer.
    U8,
    /// Truth value, one byte, 0 or 1.
    Bool,
}

/// Every element type, in declaration order.
pub const ALL_DTYPES: [DType; 9] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::F64,
    DType::I32,
    DType::I64,
    DType::U32,
    DType::U8,
    DType::Bool,
];

impl DType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 => 2,
            DType::U8 | DType::Bool => 1,
        }
    }

    /// The short name used in labels, errors and files.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F64 => "f64",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U32 => "u32",
            DType::U8 => "u8",
            DType::Bool => "bool",
        }
    }

    /// f16, bf16, f32 or f64.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16 | DType::F64)
    }

    /// An integer type; bool is not one.
    pub const fn is_int(self) -> bool {
        matches!(self, DType::I32 | DType::I64 | DType::U32 | DType::U8)
    }

    /// The type in which sums and fused arithmetic of this type are carried out.
    pub const fn compute(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }

    /// The type of `a op b` for operands of two types: floats win over integers, integers over bool, wider over
    /// narrower; f16 with bf16 gives f32, u32 with i32 gives i64, as in PyTorch.
    pub fn promote(a: DType, b: DType) -> DType {
        use DType::*;
        if a == b {
            return a;
        }
        let (hi, lo) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
        match (hi, lo) {
            (BF16, F16) | (F16, BF16) => F32,
            (U32, I32) | (I32, U32) => I64,
            _ => hi,
        }
    }

    const fn rank(self) -> u8 {
        match self {
            DType::Bool => 0,
            DType::U8 => 1,
            DType::I32 => 2,
            DType::U32 => 3,
            DType::I64 => 4,
            DType::F16 => 5,
            DType::BF16 => 6,
            DType::F32 => 7,
            DType::F64 => 8,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A number without a tensor: a literal of a formula or a launch argument. It takes the dtype of its context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A real number.
    Float(f64),
    /// An integer.
    Int(i64),
}

impl Scalar {
    /// The value as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Float(v) => v,
            Scalar::Int(v) => v as f64,
        }
    }

    /// The value as an integer; floats are truncated.
    pub fn as_i64(self) -> i64 {
        match self {
            Scalar::Float(v) => v as i64,
            Scalar::Int(v) => v,
        }
    }

    /// The 64 bits that stand for this value in a literal of `dtype`: f64 bits for floats, i64 for the rest.
    pub fn to_bits(self, dtype: DType) -> u64 {
        if dtype.is_float() {
            self.as_f64().to_bits()
        } else if dtype == DType::Bool {
            (self.as_f64() != 0.0) as u64
        } else {
            self.as_i64() as u64
        }
    }

    /// The inverse of [`Scalar::to_bits`].
    pub fn from_bits(bits: u64, dtype: DType) -> Scalar {
        if dtype.is_float() { Scalar::Float(f64::from_bits(bits)) } else { Scalar::Int(bits as i64) }
    }
}

macro_rules! scalar_from {
    ($($t:ty => $v:ident as $w:ty),*) => {$(
        impl From<$t> for Scalar {
            fn from(v: $t) -> Scalar { Scalar::$v(v as $w) }
        }
    )*};
}
scalar_from!(f32 => Float as f64, f64 => Float as f64, i32 => Int as i64, i64 => Int as i64, u32 => Int as i64,
    u8 => Int as i64, usize => Int as i64, bool => Int as i64);

/// A Rust type that can be an element of a tensor.
pub trait Element: Copy + Send + Sync + PartialEq + fmt::Debug + 'static {
    /// The matching dtype.
    const DTYPE: DType;
    /// The bytes of a slice, native endian.
    fn to_bytes(data: &[Self]) -> Vec<u8>;
    /// So many elements, whose bytes `fill` writes.
    fn filled<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E>;
    /// The inverse of `to_bytes`; a trailing incomplete element is ignored.
    fn from_bytes(bytes: &[u8]) -> Vec<Self> {
        let copy = |whole: &mut [u8]| -> Result<(), Infallible> {
            whole.copy_from_slice(&bytes[..whole.len()]);
            Ok(())
        };
        let Ok(data) = Self::filled(bytes.len() / size_of::<Self>(), copy);
        data
    }
}

macro_rules! element {
    ($($t:ty => $d:ident),*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            fn to_bytes(data: &[Self]) -> Vec<u8> { bytemuck::cast_slice(data).to_vec() }
            fn filled<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E> {
                let mut data = vec![<$t as bytemuck::Zeroable>::zeroed(); count];
                fill(bytemuck::cast_slice_mut(&mut data))?;
                Ok(data)
            }
        }
    )*};
}
element!(f32 => F32, f16 => F16, bf16 => BF16, f64 => F64, i32 => I32, i64 => I64, u32 => U32, u8 => U8);

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn to_bytes(data: &[Self]) -> Vec<u8> {
        data.iter().map(|&b| b as u8).collect()
    }
    fn filled<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E> {
        Ok(u8::filled(count, fill)?.into_iter().map(|b| b != 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_commutative_and_keeps_floats() {
        for a in ALL_DTYPES {
            for b in ALL_DTYPES {
                let p = DType::promote(a, b);
                assert_eq!(p, DType::promote(b, a), "{a} {b}");
                assert_eq!(p.is_float(), a.is_float() || b.is_float(), "{a} {b}");
            }
        }
        assert_eq!(DType::promote(DType::F16, DType::BF16), DType::F32);
        assert_eq!(DType::promote(DType::U32, DType::I32), DType::I64);
    }

    #[test]
    fn elements_are_made_of_their_bytes() {
        let halves = [1.5, -2.0].map(f16::from_f32);
        assert_eq!(f16::from_bytes(&f16::to_bytes(&halves)), halves);
        assert_eq!(bool::from_bytes(&[0, 1, 7]), [false, true, true]);
        assert_eq!(u32::from_bytes(&[1; 7]), [0x0101_0101], "what is no whole element is ignored");
        assert_eq!(u32::filled(3, |_| Err("nothing comes")), Err("nothing comes"));
    }
}
