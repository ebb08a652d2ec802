//! Stop 2 of the path: the graph. An [`Op`] says what a node computes; [`Graph`] is an arena of hash-consed
//! nodes in topological order. What every op means is defined by `interpret`; how it differentiates by
//! `autograd`. Nothing here knows devices or kernels.
//!
//! The ops are few on purpose. Composites (softmax, layer_norm, gelu) are written in these in `tensor/`.
//! Conventions: operands of elementwise ops have equal shapes and dtypes (`tensor/` inserts expands and
//! casts); reductions keep their axes with size 1.

pub mod autograd;
pub mod interpret;
mod recompute;

use crate::dtype::DType;
use crate::view::{Dims, Range};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Elementwise functions of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sign,
    Recip,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Floor,
    Ceil,
    /// To the nearest integer, ties to even.
    Round,
    Trunc,
    /// Logical not; bool to bool.
    Not,
}

/// Elementwise functions of two operands of one dtype. Comparisons give bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// Integers divide towards minus infinity (floor); by zero gives 0.
    Div,
    /// The remainder that goes with floor division, `a - b * floor(a / b)`; of integers by zero 0.
    Rem,
    Pow,
    /// NaN if either is NaN.
    Max,
    /// NaN if either is NaN.
    Min,
    Atan2,
    Eq,
    Ne,
    Lt,
    Le,
    /// Logical on bool, bitwise on integers.
    And,
    /// Logical on bool, bitwise on integers.
    Or,
    /// Logical on bool, bitwise on integers.
    Xor,
}

impl Binary {
    /// Whether the result is bool whatever the operands are.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le)
    }
}

/// Reductions. `Any` and `All` are Max and Min on bool. Sums of f16 and bf16 are carried in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reduce {
    Sum,
    Prod,
    /// NaN if any element is NaN.
    Max,
    /// NaN if any element is NaN.
    Min,
    /// I64 position, counted row-major over the reduced axes, of the first largest element (NaN is largest).
    ArgMax,
    /// I64 position of the first smallest element (NaN is smallest).
    ArgMin,
}

/// What a random node draws. Element i is a function of (seed, stream, i) alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Random {
    /// Uniform u32.
    Bits,
    /// Uniform float in [0, 1): the upper 24 bits of `Bits`.
    Uniform,
    /// Standard normal by Box-Muller of the two words of `Bits`.
    Normal,
}

/// Which operand's gradient an [`Op::AttentionGrad`] node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Side {
    Q,
    K,
    V,
}

/// What attention needs to know beside its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttentionSpec {
    /// Query i sees keys 0..=i only.
    pub causal: bool,
    /// The bits of the f64 factor on `q k^T`.
    pub scale: u64,
    /// Whether a mask operand follows `v`: added to the scores, expanded to `[B, H, Tq, Tk]`.
    pub mask: bool,
}

/// What a node computes from its sources. Sources are named in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // Leaves.
    /// Data in memory, row-major.
    Input,
    /// A number given at launch; its value is not part of the graph. A tensor's has any shape, a graph's the shape `[]`.
    Scalar,
    /// A constant of a formula, as [`crate::Scalar::to_bits`]; shaped like a scalar.
    Literal(u64),
    /// The row-major linear index of each element; any integer dtype or f32/f64.
    Iota,
    /// Random numbers; sources: seed, stream (scalars of u32). dtype u32 for Bits, else f32.
    Random(Random),

    // Elementwise: sources and result have one shape.
    /// Functions of one operand.
    Unary(Unary),
    /// Functions of two operands.
    Binary(Binary),
    /// `condition ? a : b`; sources: condition (bool), a, b.
    Where,
    /// To the node's dtype: floats to integers truncate and saturate, anything to bool is `!= 0`.
    Cast,

    // Views: no arithmetic, only other addresses.
    /// The same row-major sequence under another shape.
    Reshape,
    /// Axis i of the result is axis `axes[i]` of the source.
    Permute(Dims),
    /// Repeats axes of size 1; same rank, or from the shape `[]`.
    Expand,
    /// A range of every axis. In a box, because every recorded op would be as large as the largest.
    Slice(Box<[Range]>),
    /// Zeros before and after every axis.
    Pad(Box<[(usize, usize)]>),
    /// The first source, evaluated only after the second: recomputation waits for the gradient with it. Fusion
    /// stops here, so `After(x, x)` is a fence.
    After,

    // The rest.
    /// Reduces the axes (sorted), which stay with size 1.
    Reduce(Reduce, Dims),
    /// Running sum along an axis.
    Cumsum(usize),
    /// I64 positions that sort an axis, stable; NaN counts as largest.
    ArgSort {
        /// The axis to sort along.
        axis: usize,
        /// Largest first.
        descending: bool,
    },
    /// `[B.., M, K] x [B.., K, N] -> [B.., M, N]`; batch axes are equal (expanded). f16/bf16 accumulate in f32; the
    /// result has the operands' dtype, or is handed on in f32 as it was summed.
    MatMul,
    /// `out[c] = src[c with c[axis] = index[c]]`; sources: source, index (I64). Off the axis the source's
    /// sizes equal the index's. An index outside the axis is an error at evaluation.
    Gather(usize),
    /// `out = base; out[c with c[axis] = index[c]] += value[c]` in row-major order of c; sources: base, index
    /// (I64), value.
    ScatterAdd(usize),
    /// Joins any number of sources along an axis.
    Cat(usize),
    /// Softmax(scale q k^T + mask) v; sources: q `[B, H, Tq, D]`, k `[B, Hk, Tk, D]`, v `[B, Hk, Tk, Dv]`,
    /// and mask if the spec says so; H is a multiple of Hk. Result `[B, Tq, H, Dv]` (note the order). A row
    /// that sees nothing gives zeros.
    Attention(AttentionSpec),
    /// The log-sum-exp of the scaled, masked scores of the same sources, f32 (f64 for f64) `[B, H, Tq]`;
    /// -inf for a row that sees nothing.
    AttentionLse(AttentionSpec),
    /// The gradient of attention for one operand; sources: q, k, v, out, lse, the gradient of out (shaped
    /// like out), then mask. Results `[B, Tq, H, D]`, `[B, Tk, Hk, D]`, `[B, Tk, Hk, Dv]`.
    AttentionGrad(AttentionSpec, Side),
}

impl Op {
    /// Elementwise ops can be computed at any index on their own.
    pub fn is_elementwise(&self) -> bool {
        matches!(self, Op::Unary(_) | Op::Binary(_) | Op::Where | Op::Cast)
    }

    /// Views only say where elements lie.
    pub fn is_view(&self) -> bool {
        matches!(self, Op::Reshape | Op::Permute(_) | Op::Expand | Op::Slice(_) | Op::Pad(_) | Op::After)
    }

    /// The name in labels, plans and errors.
    pub fn name(&self) -> String {
        match self {
            Op::Unary(u) => format!("{u:?}").to_lowercase(),
            Op::Binary(b) => format!("{b:?}").to_lowercase(),
            Op::Reduce(r, _) => format!("{r:?}").to_lowercase(),
            Op::Random(r) => format!("random_{r:?}").to_lowercase(),
            Op::Literal(_) => "literal".into(),
            Op::Permute(_) => "permute".into(),
            Op::Slice(_) => "slice".into(),
            Op::Pad(_) => "pad".into(),
            Op::Cumsum(_) => "cumsum".into(),
            Op::ArgSort { .. } => "argsort".into(),
            Op::Gather(_) => "gather".into(),
            Op::ScatterAdd(_) => "scatter_add".into(),
            Op::Cat(_) => "cat".into(),
            Op::Attention(_) => "attention".into(),
            Op::AttentionLse(_) => "attention_lse".into(),
            Op::AttentionGrad(_, side) => format!("attention_grad_{side:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// A handle to a node of one [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The sources of a node.
pub type Sources = SmallVec<[NodeId; 3]>;

/// One value of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// From what; always earlier nodes.
    pub src: Sources,
    /// The sizes of its axes.
    pub shape: Dims,
    /// Its element type.
    pub dtype: DType,
}

impl Node {
    /// How many elements the value has.
    pub fn numel(&self) -> usize {
        crate::view::numel(&self.shape)
    }
}

/// An arena of nodes in topological order: sources come before their users.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    scopes: Vec<crate::scope::Scope>,
    known: FxHashMap<Node, NodeId>,
    /// The values that were asked for.
    pub outputs: Vec<NodeId>,
}

impl Graph {
    /// Adds a node, or finds the equal one that is there. Inputs and scalars are never equal to others.
    pub fn add(&mut self, node: Node, scope: crate::scope::Scope) -> NodeId {
        debug_assert!(node.src.iter().all(|s| s.index() < self.nodes.len()));
        let unique = matches!(node.op, Op::Input | Op::Scalar);
        if !unique && let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        if !unique {
            self.known.insert(node.clone(), id);
        }
        self.nodes.push(node);
        self.scopes.push(scope);
        id
    }

    /// The node behind a handle.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The module path under which a node was made.
    pub fn scope(&self, id: NodeId) -> crate::scope::Scope {
        self.scopes[id.index()]
    }

    /// All nodes with their handles, sources first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
