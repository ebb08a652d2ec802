//! The first pass over what was asked for: drops what does nothing, answers what has no elements, moves
//! views towards memory, and marks the copies that cannot be avoided. From graph to graph.
//!
//! After it, a `Reshape` to the same shape is a *copy*: its value must lie in memory, row-major.

use super::sums::{Terms, terms};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Graph, Node, NodeId, Op, Reduce, Sources, Unary};
use crate::view::{Dims, numel};
use smallvec::smallvec;

/// The simplified graph, and for each node of the old graph its node in the new one, if it is still needed.
pub(super) fn simplify(old: &Graph) -> (Graph, Vec<Option<NodeId>>) {
    let mut uses = vec![0u32; old.len()];
    let mut needed = vec![false; old.len()];
    for &output in &old.outputs {
        needed[output.index()] = true;
        uses[output.index()] += 1;
    }
    for (id, node) in old.iter().rev() {
        if needed[id.index()] {
            for src in &node.src {
                needed[src.index()] = true;
                uses[src.index()] += 1;
            }
        }
    }
    let mut pass = Pass { old, uses, new: Graph::default(), map: vec![None; old.len()] };
    for (id, node) in old.iter() {
        if needed[id.index()] {
            let new = pass.visit(id, node);
            pass.map[id.index()] = Some(new);
        }
    }
    for &output in &old.outputs {
        let mut new = pass.mapped(output);
        let op = &pass.new.node(new).op;
        if op.is_view() || is_generator(op) || *op == Op::Input {
            new = pass.copy(new);
        }
        pass.new.outputs.push(new);
    }
    (pass.new, pass.map)
}

/// Leaves that a kernel makes for itself instead of loading.
pub(super) fn is_generator(op: &Op) -> bool {
    matches!(op, Op::Literal(_) | Op::Scalar | Op::Iota)
}

struct Pass<'a> {
    old: &'a Graph,
    uses: Vec<u32>,
    new: Graph,
    map: Vec<Option<NodeId>>,
}

impl Pass<'_> {
    fn mapped(&self, old: NodeId) -> NodeId {
        self.map[old.index()].expect("sources are visited before their users")
    }

    fn add(&mut self, op: Op, src: Sources, shape: Dims, dtype: DType, like: NodeId) -> NodeId {
        self.new.add(Node { op, src, shape, dtype }, self.old.scope(like))
    }

    fn visit(&mut self, id: NodeId, node: &Node) -> NodeId {
        let mut src: Sources = node.src.iter().map(|&s| self.mapped(s)).collect();
        let shape_of = |pass: &Self, at: usize| pass.new.node(src[at]).shape.clone();
        let count = numel(&node.shape);
        match &node.op {
            Op::Input | Op::Scalar => {}
            _ if count == 0 => return self.full(0, id, node),
            // Counting to one: a number, which arithmetic on numbers can take in.
            Op::Iota if count == 1 => return self.full(0, id, node),
            Op::Reshape | Op::Expand if shape_of(self, 0) == node.shape => return src[0],
            Op::Cast if self.new.node(src[0]).dtype == node.dtype => return src[0],
            Op::Cast if self.there_and_back(src[0], node.dtype) => return self.new.node(src[0]).src[0],
            Op::Reduce(reduce, axes) => {
                let input = shape_of(self, 0);
                if numel(&input) == 0 {
                    let identity = match reduce {
                        Reduce::Prod => 1,
                        Reduce::Min => (node.dtype == DType::Bool) as i64,
                        _ => 0,
                    };
                    return self.full(identity, id, node);
                }
                if axes.iter().all(|&a| input[a] == 1) {
                    return match reduce {
                        Reduce::ArgMax | Reduce::ArgMin => self.full(0, id, node),
                        _ => src[0],
                    };
                }
            }
            Op::MatMul if shape_of(self, 0).last() == Some(&0) => return self.full(0, id, node),
            Op::Cat(_) => {
                src.retain(|s| self.new.node(*s).numel() > 0);
                if src.len() == 1 {
                    return src[0];
                }
            }
            Op::ScatterAdd(_) if self.new.node(src[2]).numel() == 0 => return src[0],
            Op::Pad(_) if self.new.node(src[0]).numel() == 0 => return self.full(0, id, node),
            Op::Attention(_) | Op::AttentionGrad(..) if self.new.node(src[1]).numel() == 0 => {
                return self.full(0, id, node);
            }
            Op::AttentionLse(_) if self.new.node(src[1]).numel() == 0 => {
                return self.full_bits(Scalar::Float(f64::NEG_INFINITY), id, node);
            }
            _ => {}
        }
        match &node.op {
            Op::Permute(_) | Op::Slice(_) => return self.moved(&node.op, node.src[0], &node.shape, id),
            Op::Reduce(Reduce::Sum, axes) if node.dtype.is_float() => {
                // One sign instead of one for each element; the sum is the same to the bit.
                let below = self.old.node(node.src[0]);
                if below.op == Op::Unary(Unary::Neg) && self.uses[node.src[0].index()] == 1 {
                    let sum = self.sum(axes, below.src[0], id);
                    return self.add(below.op.clone(), smallvec![sum], node.shape.clone(), node.dtype, id);
                }
                return self.sum(axes, node.src[0], id);
            }
            // Zeros around something that is not in memory: the something must be.
            Op::Pad(_) if is_generator(&self.new.node(self.base(src[0]).0).op) => src[0] = self.copy(src[0]),
            // Counting in another integer type is no work.
            Op::Cast if self.new.node(src[0]).op == Op::Iota && node.dtype.is_int() => {
                return self.add(Op::Iota, smallvec![], node.shape.clone(), node.dtype, id);
            }
            Op::Gather(axis) => return self.gather(*axis, src[0], src[1], node.dtype, id),
            Op::ScatterAdd(_) => {
                if !is_zero(&self.new, self.base(src[0]).0) {
                    src[0] = self.in_memory(src[0]);
                }
                src[1] = self.in_memory(src[1]);
                src[2] = self.in_memory(src[2]);
            }
            Op::MatMul => {
                for s in src.iter_mut() {
                    *s = self.in_memory(*s);
                    *s = self.turned_after_cast(*s);
                }
            }
            Op::Cat(_)
            | Op::Cumsum(_)
            | Op::ArgSort { .. }
            | Op::Attention(_)
            | Op::AttentionLse(_)
            | Op::AttentionGrad(..) => {
                for s in src.iter_mut() {
                    *s = self.in_memory(*s);
                }
            }
            _ => {}
        }
        self.add(node.op.clone(), src, node.shape.clone(), node.dtype, id)
    }

    /// The sum of an old node over axes, of as little of it as it takes; in place of the old node `id`.
    fn sum(&mut self, axes: &Dims, of: NodeId, id: NodeId) -> NodeId {
        let (node, shared) = (self.old.node(id), self.uses[of.index()] > 1);
        let Terms { of, factor } = terms(&self.new, self.mapped(of), axes, shared);
        let like =
            |pass: &mut Self, op: Op, src: Sources| pass.add(op, src, node.shape.clone(), node.dtype, id);
        let sum = like(self, Op::Reduce(Reduce::Sum, axes.clone()), smallvec![of]);
        let Some(mut factor) = factor else { return sum };
        if self.new.node(factor).shape != node.shape {
            factor = like(self, Op::Expand, smallvec![factor]);
        }
        like(self, Op::Binary(Binary::Mul), smallvec![sum, factor])
    }

    /// A permutation or slice of an old node. An elementwise result that nobody else wants is computed in that order,
    /// and a transposed product is the product of the transposed operands: (a b)^T = b^T a^T.
    fn moved(&mut self, op: &Op, from: NodeId, shape: &Dims, like: NodeId) -> NodeId {
        let src = self.mapped(from);
        let below = self.new.node(src).clone();
        let alone = self.uses[from.index()] == 1;
        if alone && below.op == Op::MatMul && swaps_last(op) {
            let mut turned = |s: NodeId| {
                let (mut shape, dtype) = (self.new.node(s).shape.clone(), self.new.node(s).dtype);
                let rank = shape.len();
                shape.swap(rank - 1, rank - 2);
                self.add(op.clone(), smallvec![s], shape, dtype, like)
            };
            let (a, b) = (turned(below.src[0]), turned(below.src[1]));
            return self.add(Op::MatMul, smallvec![b, a], shape.clone(), below.dtype, like);
        }
        if alone && below.op.is_elementwise() {
            let old = self.old.node(from);
            // What is cast may move further: a weight's gradient is often a cast product.
            let moved = match old.op == Op::Cast && self.mapped(old.src[0]) == below.src[0] {
                true => smallvec![self.moved(op, old.src[0], shape, like)],
                false => below
                    .src
                    .iter()
                    .map(|&s| {
                        let dtype = self.new.node(s).dtype;
                        self.add(op.clone(), smallvec![s], shape.clone(), dtype, like)
                    })
                    .collect(),
            };
            return self.add(below.op, moved, shape.clone(), below.dtype, like);
        }
        self.add(op.clone(), smallvec![src], shape.clone(), below.dtype, like)
    }

    /// Whether this is a float of `dtype` made wider, which casting back does not change.
    fn there_and_back(&self, id: NodeId, dtype: DType) -> bool {
        let wide = self.new.node(id);
        wide.op == Op::Cast
            && self.new.node(wide.src[0]).dtype == dtype
            && dtype.is_float()
            && wide.dtype.is_float()
            && DType::promote(dtype, wide.dtype) == wide.dtype
    }

    /// A gather moves towards memory, as views do: picking few elements of `x - max` is picking them of `x`. At
    /// least one operand must still be picked from, for an index that is outside must be noticed.
    fn gather(&mut self, axis: usize, from: NodeId, index: NodeId, dtype: DType, id: NodeId) -> NodeId {
        let shape = self.new.node(index).shape.clone();
        let below = self.new.node(from).clone();
        let same_along = |pass: &Self, s: NodeId| {
            let node = pass.new.node(s);
            node.op == Op::Expand && pass.new.node(node.src[0]).shape.get(axis).is_none_or(|&n| n == 1)
        };
        let few = numel(&shape) * 2 <= numel(&below.shape);
        if below.op.is_elementwise() && few && !below.src.iter().all(|&s| same_along(self, s)) {
            let mut picked = Sources::new();
            for &s in &below.src {
                let dtype = self.new.node(s).dtype;
                picked.push(if same_along(self, s) {
                    let src = self.new.node(s).src.clone();
                    self.add(Op::Expand, src, shape.clone(), dtype, id)
                } else {
                    self.gather(axis, s, index, dtype, id)
                });
            }
            return self.add(below.op, picked, shape, dtype, id);
        }
        let from = self.in_memory(from);
        self.add(Op::Gather(axis), smallvec![from, index], shape, dtype, id)
    }

    /// What lies under a chain of views, and whether zeros were padded on the way.
    fn base(&self, mut id: NodeId) -> (NodeId, bool) {
        let mut padded = false;
        loop {
            let node = self.new.node(id);
            let is_copy = node.op == Op::Reshape && self.new.node(node.src[0]).shape == node.shape;
            if !node.op.is_view() || is_copy {
                return (id, padded);
            }
            padded |= matches!(node.op, Op::Pad(_));
            id = node.src[0];
        }
    }

    /// Makes sure that a kernel that cannot compute its operands finds this one in memory.
    fn in_memory(&mut self, id: NodeId) -> NodeId {
        let (base, padded) = self.base(id);
        if padded || is_generator(&self.new.node(base).op) {
            self.copy(id)
        } else if self.is_number(base) {
            self.over_copy(id, base)
        } else {
            id
        }
    }

    /// A cast of a permuted input as the permuted cast of it: then the cast goes along the memory, and is one for all
    /// products however they turn the input.
    fn turned_after_cast(&mut self, id: NodeId) -> NodeId {
        let node = self.new.node(id).clone();
        match node.op {
            Op::Permute(_) => {
                let below = self.turned_after_cast(node.src[0]);
                if below == node.src[0] { id } else { self.like(id, node, below) }
            }
            Op::Cast => {
                let view = self.new.node(node.src[0]).clone();
                let below = view.src.first().map(|&s| self.new.node(s).clone());
                match (&view.op, below) {
                    (Op::Permute(_), Some(below)) if below.op == Op::Input => {
                        let cast = Node { op: Op::Cast, shape: below.shape, ..node };
                        let cast = self.like(id, cast, view.src[0]);
                        self.like(id, Node { dtype: node.dtype, ..view }, cast)
                    }
                    _ => id,
                }
            }
            _ => id,
        }
    }

    /// Adds a node over another source.
    fn like(&mut self, id: NodeId, node: Node, src: NodeId) -> NodeId {
        let scope = self.new.scope(id);
        self.new.add(Node { src: smallvec![src], ..node }, scope)
    }

    /// Arithmetic on nothing but numbers, which kernels do for themselves.
    fn is_number(&self, id: NodeId) -> bool {
        let node = self.new.node(id);
        let source = |&s: &NodeId| matches!(self.base(s), (base, false) if self.is_number(base));
        let leaf = matches!(node.op, Op::Literal(_) | Op::Scalar);
        node.numel() == 1 && (leaf || node.op.is_elementwise() && node.src.iter().all(source))
    }

    /// The same views over a copy of what lies under them.
    fn over_copy(&mut self, id: NodeId, base: NodeId) -> NodeId {
        if id == base {
            return self.copy(id);
        }
        let node = self.new.node(id).clone();
        let below = self.over_copy(node.src[0], base);
        let src = std::iter::once(below).chain(node.src[1..].iter().copied()).collect();
        let scope = self.new.scope(id);
        self.new.add(Node { src, ..node }, scope)
    }

    fn copy(&mut self, id: NodeId) -> NodeId {
        let node = self.new.node(id);
        let copy = Node { op: Op::Reshape, src: smallvec![id], shape: node.shape.clone(), dtype: node.dtype };
        let scope = self.new.scope(id);
        self.new.add(copy, scope)
    }

    fn full(&mut self, value: i64, id: NodeId, node: &Node) -> NodeId {
        self.full_bits(Scalar::Int(value), id, node)
    }

    /// The node's shape filled with a number, as views of a literal.
    fn full_bits(&mut self, value: Scalar, id: NodeId, node: &Node) -> NodeId {
        let literal =
            self.add(Op::Literal(value.to_bits(node.dtype)), smallvec![], Dims::new(), node.dtype, id);
        if node.shape.is_empty() {
            return literal;
        }
        self.add(Op::Expand, smallvec![literal], node.shape.clone(), node.dtype, id)
    }
}

/// Whether a permutation only swaps the last two axes.
fn swaps_last(op: &Op) -> bool {
    let Op::Permute(axes) = op else { return false };
    let rank = axes.len();
    let batch = rank.saturating_sub(2);
    rank >= 2 && axes[..batch].iter().copied().eq(0..batch) && axes[batch..] == [rank - 1, rank - 2]
}

/// Whether a node is the literal zero.
pub(super) fn is_zero(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    matches!(node.op, Op::Literal(bits) if Scalar::from_bits(bits, node.dtype).as_f64() == 0.0)
}
