//! NumPy's array files, version 1.0 (2.0 and 3.0 are read too).

use super::{format_error, read_file, reorder, write_file};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Writes a tensor. NumPy has no bf16; cast such a tensor to f32 first.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let Some(code) = code(tensor.dtype()) else {
        let detail = format!("NumPy has no {}; cast it with .to_dtype(DType::F32)", tensor.dtype());
        return Err(Error::DType { op: "npy::write", detail });
    };
    let order = if tensor.dtype().size() == 1 { '|' } else { '<' };
    let sizes: Vec<String> = tensor.shape().iter().map(|n| n.to_string()).collect();
    // A tuple of one needs its comma.
    let comma = if sizes.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        sizes.join(", ")
    );
    let whole = (10 + header.len() + 1).next_multiple_of(64);
    header.push_str(&" ".repeat(whole - 10 - header.len() - 1));
    header.push('\n');
    let Ok(length) = u16::try_from(header.len()) else {
        let detail = format!("a header for {} axes does not fit version 1.0", tensor.rank());
        return Err(Error::Argument { op: "npy::write", detail });
    };
    let mut data = tensor.to_bytes()?;
    reorder(&mut data, tensor.dtype().size(), true);
    write_file(path.as_ref(), &[MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes(), &data])
}

/// Reads an array, of either byte order, in C or Fortran order.
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Tensor> {
    let path = path.as_ref();
    let file = read_file(path)?;
    let broken = |detail: &str| format_error(path, detail);
    let version =
        file.strip_prefix(MAGIC).ok_or_else(|| broken("not an npy file: the magic bytes are missing"))?;
    let (length, rest) = match version {
        [1, _, a, b, rest @ ..] => (u16::from_le_bytes([*a, *b]) as usize, rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [_, _, ..] => return Err(broken("an npy version other than 1, 2 or 3")),
        _ => return Err(broken("the file ends inside its header")),
    };
    let (header, data) =
        rest.split_at_checked(length).ok_or_else(|| broken("the file ends inside its header"))?;
    let header = std::str::from_utf8(header).map_err(|_| broken("the header is not text"))?;
    let header = Header::parse(header)
        .ok_or_else(|| broken(&format!("a header not understood: {}", header.trim())))?;
    let dtype = crate::dtype::ALL_DTYPES.into_iter().find(|&dtype| code(dtype) == Some(header.code));
    let dtype =
        dtype.ok_or_else(|| broken(&format!("elements of type {:?}, which Fornax has not", header.code)))?;
    let count = header.shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d));
    if count != Some(data.len()) {
        let detail = format!("{} bytes of data do not fill {:?} of {dtype}", data.len(), header.shape);
        return Err(broken(&detail));
    }
    let mut data = data.to_vec();
    reorder(&mut data, dtype.size(), header.little);
    if !header.fortran {
        return Tensor::from_bytes(&data, &header.shape, dtype, device);
    }
    // Fortran order is C order of the reversed axes.
    let reversed: Vec<usize> = header.shape.iter().rev().copied().collect();
    let axes: Vec<usize> = (0..reversed.len()).rev().collect();
    Tensor::from_bytes(&data, &reversed, dtype, device)?.permute(&axes)
}

/// Kind and size, as NumPy writes them.
fn code(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F32 => "f4",
        DType::F16 => "f2",
        DType::F64 => "f8",
        DType::I32 => "i4",
        DType::I64 => "i8",
        DType::U32 => "u4",
        DType::U8 => "u1",
        DType::Bool => "b1",
        DType::BF16 => return None,
    })
}

/// What the header's dictionary says.
struct Header<'a> {
    little: bool,
    code: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

impl<'a> Header<'a> {
    /// Reads a Python dictionary of exactly the three keys, in any order.
    fn parse(text: &'a str) -> Option<Header<'a>> {
        let value = |key: &str| {
            let after = text.split_once(&format!("'{key}'"))?.1;
            Some(after.trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = value("descr")?.strip_prefix('\'')?.split_once('\'')?.0;
        let little = match descr.chars().next()? {
            '<' | '|' => true,
            '>' => false,
            '=' => cfg!(target_endian = "little"),
            _ => return None,
        };
        let order = value("fortran_order")?;
        let fortran = order.starts_with("True");
        if !fortran && !order.starts_with("False") {
            return None;
        }
        let sizes = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?;
        Some(Header { little, code: &descr[1..], fortran, shape })
    }
}
