//! The block program of one segment: which steps run when (once, before, during and after each pass over the
//! reduced axes), and where their operands lie: in memory itself where it can be used in place, else in a
//! scratch register. `compile` makes it, `exec` runs it.

use super::chain::Chain;
use super::space::{Class, Space};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Random, Reduce, Unary};

/// Where a value lies while a tile runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    None,
    /// Byte offset in the thread's scratch.
    Scratch(u32),
    /// In the memory of an access.
    Access(u32),
}

/// A value as an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub place: Place,
    pub class: Class,
    /// Elements from row to row, in memory.
    pub rs: isize,
}

impl Operand {
    pub const NONE: Operand = Operand { place: Place::None, class: Class::One, rs: 0 };

    pub fn scratch(offset: u32, class: Class) -> Operand {
        Operand { place: Place::Scratch(offset), class, rs: 0 }
    }
}

/// What a step does. Dtypes are those of registers unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    /// A constant of that many bytes.
    Literal([u8; 8], u8),
    /// A launch argument in the given dtype.
    Arg(u32, DType),
    /// Copies memory of the dtype to a register: strided, masked or converted.
    Load(u32, DType),
    /// The addresses of an access as numbers.
    Index(u32, DType),
    /// Memory of the dtype at `a * stride` from the access.
    Gather {
        access: u32,
        dtype: DType,
        stride: isize,
        len: usize,
    },
    Unary(DType, Unary),
    Binary(DType, Binary),
    /// The chain of that number.
    Chain(u32),
    Choose(DType),
    /// To any dtype.
    Cast(DType, DType),
    /// As `Copy` of f32, past the caches.
    Stream,
    Copy(DType),
    Random(Random),
    /// Of `a`, if it is not in `dst` already; the number of the running value where the tile is not
    /// everything.
    Reduce {
        op: Reduce,
        dtype: DType,
        running: Option<u32>,
    },
    /// Writes a register to memory of the dtype: strided or converted.
    Store(u32, DType),
}

/// One instruction of a block program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub code: Code,
    /// The extent it runs over.
    pub class: Class,
    pub dst: Operand,
    pub a: Operand,
    pub b: Operand,
    pub c: Operand,
}

/// A reduction that runs across tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulator {
    pub op: Reduce,
    pub dtype: DType,
    pub pass: usize,
    /// Offsets in scratch.
    pub values: u32,
    pub positions: u32,
    pub result: u32,
}

/// A segment's block program.
#[derive(Debug)]
pub(super) struct Program {
    pub space: Space,
    pub tile_rows: usize,
    pub tile_cols: usize,
    /// Run once a task.
    pub uniform: Vec<Step>,
    /// `kept[p]` runs for each kept tile before pass p; the last after all passes.
    pub kept: Vec<Vec<Step>>,
    /// Run for each tile of the reduced axes.
    pub passes: Vec<Vec<Step>>,
    pub chains: Vec<Chain>,
    pub accumulators: Vec<Accumulator>,
    /// Where the accumulators lie in scratch.
    pub running: std::ops::Range<usize>,
    pub scratch: usize,
    /// Bytes of an element, for each access.
    pub sizes: Vec<usize>,
}

impl Program {
    /// Instructions carried out for each element of a tile, and one for each pass.
    pub fn weight(&self) -> usize {
        let step = |s: &Step| match s.code {
            Code::Chain(n) => self.chains[n as usize].links.len(),
            _ => 1,
        };
        self.passes.iter().map(|p| p.iter().map(step).sum::<usize>() + 1).sum()
    }
}

/// The bytes of a literal in a register of the dtype; f16 and bf16 are rounded to themselves.
pub(super) fn constant(value: Scalar, dtype: DType) -> ([u8; 8], u8) {
    fn pad<const N: usize>(bytes: [u8; N]) -> ([u8; 8], u8) {
        let mut out = [0; 8];
        out[..N].copy_from_slice(&bytes);
        (out, N as u8)
    }
    match dtype {
        DType::F32 => pad((value.as_f64() as f32).to_ne_bytes()),
        DType::F16 => pad(half::f16::from_f64(value.as_f64()).to_f32().to_ne_bytes()),
        DType::BF16 => pad(half::bf16::from_f64(value.as_f64()).to_f32().to_ne_bytes()),
        DType::F64 => pad(value.as_f64().to_ne_bytes()),
        DType::I32 => pad((value.as_i64() as i32).to_ne_bytes()),
        DType::I64 => pad(value.as_i64().to_ne_bytes()),
        DType::U32 => pad((value.as_i64() as u32).to_ne_bytes()),
        DType::U8 => pad([value.as_i64() as u8]),
        DType::Bool => pad([(value.as_f64() != 0.0) as u8]),
    }
}
