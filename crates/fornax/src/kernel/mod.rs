//! Stop 5 of the path: the kernel IR, the only thing that the scheduler and the devices share.
//!
//! A [`Kernel`] reads some memories (`reads`), writes others (`writes`), and is one of few shapes ([`Body`]).
//! It says everything about addresses and arithmetic and nothing about who made it or how it will run.
//!
//! # Loop
//!
//! The shape of nearly everything that is not a matrix product. A loop has an iteration space of several
//! axes, each *kept* or *reduced*, and a straight-line program in SSA form:
//!
//! ```text
//!   softmax of [4096, 1024]          axes: 4096 kept, 1024 reduced
//!   v0 = load 0            Element   one value for each point of the space
//!   v1 = reduce max v0     Kept      one value for each point of the kept axes
//!   v2 = sub v0 v1         Element
//!   v3 = exp v2            Element
//!   v4 = reduce sum v3     Kept
//!   v5 = div v3 v4         Element
//!   store 0 <- v5
//! ```
//!
//! A value has a [`Level`]: `Uniform` (one per launch), `Kept` (one per point of the kept axes), `Element`
//! (one per point of the whole space). An instruction is at the highest level of its operands; loads are at the
//! level that their strides and the scheduler say; a `Reduce` takes an `Element` value to `Kept`. A space without
//! reduced axes is a *map* (no `Kept` level there); with the last axis reduced it is a *row* kernel, with the
//! last axis kept a *column* kernel. A device may choose any order of axes and any tiling.
//!
//! A loop has one or more [`Segment`]s: the same program over other sizes and memories, in one launch. An
//! AdamW step over a hundred parameters is one loop with a hundred segments, `cat` one with a segment a part.
//!
//! # The others
//!
//! [`MatMul`] multiplies strided, batched operands and passes the product through an epilogue loop;
//! [`Attention`] and [`AttentionGrad`] are flash kernels; [`ScatterAdd`], [`Sort`] and [`Scan`] are plain.

use crate::dtype::DType;
use crate::graph::{AttentionSpec, Binary, Random, Reduce, Unary};
use crate::scope::Scope;
use crate::view::{Dims, View};
use std::fmt;

/// A value of a loop's program: the index of the instruction that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

impl Val {
    /// The position in the program.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How often a value differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// One value for the whole launch.
    Uniform,
    /// One value for each point of the kept axes.
    Kept,
    /// One value for each point of the space.
    Element,
}

/// What an instruction does. Operands of `Binary` and the branches of `Where` have one dtype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// A constant, as `Scalar::to_bits` of the instruction's dtype.
    Literal(u64),
    /// Launch argument number n of the *kernel* (an index into [`Kernel::args`]).
    Arg(usize),
    /// Element of load number n of the segment.
    Load(usize),
    /// Load number n with `index * stride` added to the address; an index outside `0..len` is an error. The
    /// load's strides are those off the gathered axis.
    Gather {
        /// The load that is displaced.
        load: usize,
        /// An I64 value.
        index: Val,
        /// Elements from one index to the next.
        stride: isize,
        /// The axis' size.
        len: usize,
    },
    /// A function of one value.
    Unary(Unary, Val),
    /// A function of two.
    Binary(Binary, Val, Val),
    /// `condition ? a : b`.
    Where(Val, Val, Val),
    /// Converts to the instruction's dtype (and rounds to it: f32 -> f16 loses bits even if computed in f32).
    Cast(Val),
    /// Random number of element `index` (I64), from a seed and a stream (U32). See [`crate::random`].
    Random {
        /// What is drawn.
        kind: Random,
        /// U32.
        seed: Val,
        /// U32.
        stream: Val,
        /// I64, the linear index.
        index: Val,
    },
    /// Reduces an `Element` value over the reduced axes. ArgMax counts positions row-major over them.
    Reduce(Reduce, Val),
}

impl Inst {
    /// The values it uses.
    pub fn operands(&self) -> smallvec::SmallVec<[Val; 3]> {
        match *self {
            Inst::Literal(_) | Inst::Arg(_) | Inst::Load(_) => smallvec::smallvec![],
            Inst::Gather { index, .. } => smallvec::smallvec![index],
            Inst::Unary(_, a) | Inst::Cast(a) | Inst::Reduce(_, a) => smallvec::smallvec![a],
            Inst::Binary(_, a, b) => smallvec::smallvec![a, b],
            Inst::Where(c, a, b) => smallvec::smallvec![c, a, b],
            Inst::Random { seed, stream, index, .. } => smallvec::smallvec![seed, stream, index],
        }
    }

    /// The same with other operands.
    pub fn with_operands(&self, mut f: impl FnMut(Val) -> Val) -> Inst {
        let mut inst = self.clone();
        match &mut inst {
            Inst::Literal(_) | Inst::Arg(_) | Inst::Load(_) => {}
            Inst::Gather { index, .. } => *index = f(*index),
            Inst::Unary(_, a) | Inst::Cast(a) | Inst::Reduce(_, a) => *a = f(*a),
            Inst::Binary(_, a, b) => (*a, *b) = (f(*a), f(*b)),
            Inst::Where(c, a, b) => (*c, *a, *b) = (f(*c), f(*a), f(*b)),
            Inst::Random { seed, stream, index, .. } => {
                (*seed, *stream, *index) = (f(*seed), f(*stream), f(*index))
            }
        }
        inst
    }
}

/// One instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instr {
    /// What it does.
    pub inst: Inst,
    /// The dtype of the result. f16 and bf16 values are computed in f32 and rounded when cast or stored.
    pub dtype: DType,
    /// How often the result differs.
    pub level: Level,
}

/// Where a load comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// `reads[n]` of the kernel; the view addresses its elements.
    Memory(usize),
    /// The address itself: the load gives `view.at(coord)` as a number (0 where masked).
    Index,
    /// In the epilogue of a MatMul: the product, of the same space `[batch.., m, n]` and f32 (f64, ..).
    Product,
}

/// How a segment reads one operand. The view's shape is the segment's space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// From where.
    pub source: Source,
    /// At which addresses; a masked element is zero.
    pub view: View,
}

/// How a segment writes one result. For a `Kept` value only the kept axes' coordinates count (the others have
/// stride 0). Never masked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// `writes[n]` of the kernel.
    pub write: usize,
    /// At which addresses.
    pub view: View,
    /// So many elements after each run of the view's last axis are nobody's: they may be overwritten.
    pub spare: usize,
}

/// One run of a loop's program over a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Sizes of the axes; none is zero. May be empty (one point).
    pub dims: Dims,
    /// Operands, as the program numbers them.
    pub loads: Vec<Load>,
    /// Where `Loop::stores[i]` goes.
    pub stores: Vec<Store>,
}

/// A fused loop; see the module's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// For each axis whether it is reduced; all segments have this many axes.
    pub reduced: Vec<bool>,
    /// The program.
    pub program: Vec<Instr>,
    /// The values that are stored. Their dtype is that of the memory they go to.
    pub stores: Vec<Val>,
    /// The spaces it runs over.
    pub segments: Vec<Segment>,
}

/// An operand of a matrix product where it lies: element (batch, row, column).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// `reads[n]` of the kernel.
    pub read: usize,
    /// The dtype the elements are rounded to before they are multiplied (the memory may hold another).
    pub dtype: DType,
    /// Addresses; shape `[batch.., rows, columns]`, no mask.
    pub view: View,
}

/// `product[b, i, j] = sum over k of left[b, i, k] * right[b, k, j]`, then the epilogue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatMul {
    /// Sizes of the batch axes.
    pub batch: Dims,
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Inner size, not zero.
    pub k: usize,
    /// `[batch.., m, k]`.
    pub left: Matrix,
    /// `[batch.., k, n]`.
    pub right: Matrix,
    /// A map over `[batch.., m, n]` (one segment, axes as they are, no reduced axis) that loads
    /// [`Source::Product`] and stores what is wanted. The product arrives unrounded in the compute dtype.
    pub epilogue: Loop,
}

/// Flash attention; reads and views as in [`crate::graph::Op::Attention`]. Writes the output `[B, Tq, H, Dv]`
/// and the log-sum-exp `[B, H, Tq]`, both row-major; either may be unwanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attention {
    /// Causal, scale, mask.
    pub spec: AttentionSpec,
    /// Which read and where: `[B, H, Tq, D]`.
    pub q: (usize, View),
    /// `[B, Hk, Tk, D]`.
    pub k: (usize, View),
    /// `[B, Hk, Tk, Dv]`.
    pub v: (usize, View),
    /// `[B, H, Tq, Tk]`, added to the scores.
    pub mask: Option<(usize, View)>,
    /// Which write takes the output.
    pub out: Option<usize>,
    /// Which write takes the log-sum-exp.
    pub lse: Option<usize>,
}

/// The gradients of attention, recomputing the scores tile by tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttentionGrad {
    /// Causal, scale, mask.
    pub spec: AttentionSpec,
    /// As in [`Attention`].
    pub q: (usize, View),
    /// As in [`Attention`].
    pub k: (usize, View),
    /// As in [`Attention`].
    pub v: (usize, View),
    /// The forward output `[B, Tq, H, Dv]`.
    pub out: (usize, View),
    /// The forward log-sum-exp `[B, H, Tq]`.
    pub lse: (usize, View),
    /// The gradient of the output `[B, Tq, H, Dv]`.
    pub grad: (usize, View),
    /// As in [`Attention`].
    pub mask: Option<(usize, View)>,
    /// Write for the gradient of q `[B, Tq, H, D]`, row-major.
    pub dq: Option<usize>,
    /// Write for the gradient of k `[B, Tk, Hk, D]`, row-major.
    pub dk: Option<usize>,
    /// Write for the gradient of v `[B, Tk, Hk, Dv]`, row-major.
    pub dv: Option<usize>,
}

/// `write 0 = base; write 0 [c with c[axis] = index[c]] += value[c]`, in row-major order of c for each target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScatterAdd {
    /// The axis that the index replaces.
    pub axis: usize,
    /// Shape of base and result.
    pub shape: Dims,
    /// Where the base lies; `None` for zeros. If the plan gave base and result one memory, it is in place.
    pub base: Option<(usize, View)>,
    /// I64 indices, shaped like the values.
    pub index: (usize, View),
    /// What is added.
    pub value: (usize, View),
}

impl ScatterAdd {
    /// The read that the result may share memory with: a base that lies as the result will and is no operand too.
    pub fn in_place_base(&self) -> Option<usize> {
        let (read, view) = self.base.as_ref()?;
        (view.is_contiguous() && self.index.0 != *read && self.value.0 != *read).then_some(*read)
    }
}

/// Writes the I64 positions that sort axis `axis` of the operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// The axis to sort along.
    pub axis: usize,
    /// Largest first.
    pub descending: bool,
    /// The operand.
    pub value: (usize, View),
}

/// Writes the running sum along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// The axis to sum along.
    pub axis: usize,
    /// The operand.
    pub value: (usize, View),
}

/// The shapes of kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Body {
    Loop(Loop),
    MatMul(Box<MatMul>),
    Attention(Box<Attention>),
    AttentionGrad(Box<AttentionGrad>),
    ScatterAdd(Box<ScatterAdd>),
    Sort(Sort),
    Scan(Scan),
}

/// A memory that a kernel reads or writes: row-major elements of a dtype. There may be nobody's elements between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The type of the elements.
    pub dtype: DType,
    /// How many.
    pub len: usize,
}

/// What a kernel must at least do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes read from memory, each address once.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Arithmetic operations; a multiply-add counts two, an exp one.
    pub ops: u64,
}

/// A unit of work that a device compiles and launches.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What is inside, for people: `matmul_add_gelu f32 512x3072x768`.
    pub label: String,
    /// The module path that caused it ("h.3/attn"), forward or backward.
    pub scope: Scope,
    /// What it does.
    pub body: Body,
    /// Memories it reads.
    pub reads: Vec<Port>,
    /// Memories it writes. A write may be the same memory as a read only where the plan says so
    /// ([`Kernel::in_place`]).
    pub writes: Vec<Port>,
    /// (write, read) pairs that may be one memory: each element is read before it is written, by the same
    /// point of the space.
    pub in_place: Vec<(usize, usize)>,
    /// Dtypes of the launch arguments it takes.
    pub args: Vec<DType>,
    /// What it must at least do.
    pub work: Work,
    /// Of a product: of how many equal ones it is that run side by side, or may if it is all that an evaluation does; a
    /// power of two. What is best for one alone leaves others no room.
    pub beside: usize,
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (s, segment) in self.segments.iter().enumerate() {
            if s == 3 {
                writeln!(f, "  .. {} more segments", self.segments.len() - s)?;
                break;
            }
            write!(f, "  for")?;
            for (&n, &r) in segment.dims.iter().zip(&self.reduced) {
                write!(f, " {n}{}", if r { "(reduced)" } else { "" })?;
            }
            writeln!(f)?;
            for (i, load) in segment.loads.iter().enumerate() {
                let view = &load.view;
                write!(f, "    load {i}: {:?} strides {:?}", load.source, &view.strides[..])?;
                if view.offset != 0 {
                    write!(f, " offset {}", view.offset)?;
                }
                if let Some(mask) = &view.mask {
                    write!(f, " inside {:?}", &mask[..])?;
                }
                writeln!(f)?;
            }
        }
        for (i, instr) in self.program.iter().enumerate() {
            writeln!(f, "  v{i} = {instr}")?;
        }
        for (i, v) in self.stores.iter().enumerate() {
            writeln!(f, "  store {i} <- v{}", v.0)?;
        }
        Ok(())
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |x: &dyn fmt::Debug| format!("{x:?}").to_lowercase();
        match &self.inst {
            Inst::Literal(bits) => match crate::Scalar::from_bits(*bits, self.dtype) {
                crate::Scalar::Float(v) => write!(f, "{v:?}")?,
                crate::Scalar::Int(v) => write!(f, "{v}")?,
            },
            Inst::Arg(n) => write!(f, "arg {n}")?,
            Inst::Load(n) => write!(f, "load {n}")?,
            Inst::Gather { load, index, stride, len } => {
                write!(f, "gather {load} at v{} * {stride} of {len}", index.0)?
            }
            Inst::Unary(op, a) => write!(f, "{} v{}", name(op), a.0)?,
            Inst::Binary(op, a, b) => write!(f, "{} v{} v{}", name(op), a.0, b.0)?,
            Inst::Where(c, a, b) => write!(f, "where v{} v{} v{}", c.0, a.0, b.0)?,
            Inst::Cast(a) => write!(f, "cast v{}", a.0)?,
            Inst::Random { kind, seed, stream, index } => {
                write!(f, "random_{} v{} v{} v{}", name(kind), seed.0, stream.0, index.0)?
            }
            Inst::Reduce(op, a) => write!(f, "reduce_{} v{}", name(op), a.0)?,
        }
        write!(f, " : {} {}", self.dtype, name(&self.level))
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.label)?;
        match &self.body {
            Body::Loop(body) => write!(f, "{body}"),
            Body::MatMul(body) => {
                writeln!(f, "  left {:?}\n  right {:?}\n  epilogue:", body.left, body.right)?;
                write!(f, "{}", body.epilogue)
            }
            other => writeln!(f, "  {other:?}"),
        }
    }
}
