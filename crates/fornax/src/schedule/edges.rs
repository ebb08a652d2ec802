//! How nodes see each other through views: every source of a computed node becomes an [`Edge`] to the memory
//! or computation below, with one view. Where views do not compose into one, a copy is made.

use super::simplify::is_generator;
use crate::dtype::DType;
use crate::graph::{Graph, Node, NodeId, Op};
use crate::view::View;
use smallvec::SmallVec;

/// With so many rows a tile of a product or two still cover all of them, so every weight is read once or twice.
const FEW_USES: usize = 256;

/// What a node is to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// In memory already.
    Input,
    /// Made by each kernel for itself: literals, scalars, indices, and arithmetic on nothing but scalars.
    Free,
    /// No computation.
    View,
    /// One result element from one element of each source; copies and gathers too.
    Element,
    /// A reduction.
    Reduce,
    /// A matrix product.
    MatMul,
    /// A kernel of its own.
    Opaque,
}

/// A source of a computed node: the elements of `base` in the order of `view`.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub base: NodeId,
    pub view: View,
    /// Nodes that must be computed before this edge is read.
    pub after: SmallVec<[NodeId; 1]>,
    /// Whether fusion stops here.
    pub fence: bool,
}

impl Edge {
    /// The source of a gather as a view over the result's shape: along the axis the index decides, so the view
    /// stands still there.
    pub fn gathered(&self, axis: usize, shape: &[usize]) -> View {
        let mut view = self.view.clone();
        view.shape = shape.into();
        view.strides[axis] = 0;
        view
    }
}

/// The graph as the scheduler sees it.
pub(super) struct Edges {
    pub class: Vec<Class>,
    /// Per node its sources; empty for views and leaves.
    pub src: Vec<SmallVec<[Edge; 3]>>,
    /// Per node the computed nodes that read it.
    pub users: Vec<Vec<NodeId>>,
    /// Per node whether others wait for it without reading it.
    pub awaited: Vec<bool>,
}

impl Edges {
    pub fn new(graph: &Graph) -> Edges {
        let mut edges = Edges {
            class: vec![Class::View; graph.len()],
            src: vec![SmallVec::new(); graph.len()],
            users: vec![vec![]; graph.len()],
            awaited: vec![false; graph.len()],
        };
        // How users see each node.
        let mut seen: Vec<Edge> = Vec::with_capacity(graph.len());
        let mut is_output = vec![false; graph.len()];
        graph.outputs.iter().for_each(|o| is_output[o.index()] = true);
        for (id, node) in graph.iter() {
            let own =
                Edge { base: id, view: View::contiguous(&node.shape), after: SmallVec::new(), fence: false };
            let class = classify(graph, node);
            if class != Class::View {
                let mut sources: SmallVec<[Edge; 3]> =
                    node.src.iter().map(|s| seen[s.index()].clone()).collect();
                if class == Class::MatMul {
                    // An element of the left operand is used for every column, one of the right for every row.
                    for (edge, times) in sources.iter_mut().zip(node.shape.iter().rev()) {
                        edges.fold_cast(graph, edge, *times);
                    }
                }
                let scalars_only = class == Class::Element
                    && node.numel() == 1
                    && !is_output[id.index()]
                    && node.op.is_elementwise()
                    && sources.iter().all(|e| {
                        edges.class[e.base.index()] == Class::Free && !e.fence && e.view.mask.is_none()
                    });
                edges.class[id.index()] = if scalars_only { Class::Free } else { class };
                edges.src[id.index()] = sources;
                seen.push(own);
                continue;
            }
            let below = seen[node.src[0].index()].clone();
            let mut edge = match apply(&node.op, &node.shape, &below.view) {
                Some(view) => Edge { view, ..below },
                None => {
                    // The views below do not compose with this one: their result is copied into memory.
                    let copied = node.src[0];
                    let at = copied.index();
                    let own = Edge {
                        base: copied,
                        view: View::contiguous(&graph.node(copied).shape),
                        after: SmallVec::new(),
                        fence: false,
                    };
                    edges.class[at] = Class::Element;
                    edges.src[at] = smallvec::smallvec![std::mem::replace(&mut seen[at], own.clone())];
                    let view = apply(&node.op, &node.shape, &own.view);
                    Edge { view: view.unwrap_or_else(|| View::contiguous(&node.shape)), ..own }
                }
            };
            if node.op == Op::After {
                let token = seen[node.src[1].index()].base;
                edge.after.push(token);
                edges.awaited[token.index()] = true;
                edge.fence = true;
            }
            // A padded number must be in memory; simplification has seen to the leaves, not to arithmetic on them.
            if edge.view.mask.is_some() && edges.class[edge.base.index()] == Class::Free {
                edges.class[edge.base.index()] = Class::Element;
            }
            seen.push(edge);
        }
        for id in 0..graph.len() {
            for at in 0..edges.src[id].len() {
                let base = edges.src[id][at].base;
                edges.users[base.index()].push(NodeId(id as u32));
            }
        }
        edges
    }
}

impl Edges {
    /// A matrix product that uses each element of an operand few times converts it itself: a cast of data in memory (weights
    /// under autocast) is read as it is. Others would convert every element again and again, from wider memory: for
    /// them all casts of weights are one launch (see `batch`). Bytes that become other integers are always read as they are: a
    /// device may multiply four at a time.
    fn fold_cast(&self, graph: &Graph, edge: &mut Edge, times: usize) {
        let cast = graph.node(edge.base);
        if cast.op != Op::Cast {
            return;
        }
        let below = &self.src[edge.base.index()][0];
        let bytes = graph.node(below.base).dtype == DType::U8 && cast.dtype.is_int();
        let wanted = times <= FEW_USES || bytes;
        if wanted
            && self.class[below.base.index()] == Class::Input
            && below.view.is_contiguous()
            && !below.fence
        {
            edge.base = below.base;
        }
    }
}

fn classify(graph: &Graph, node: &Node) -> Class {
    match &node.op {
        Op::Input => Class::Input,
        op if is_generator(op) => Class::Free,
        Op::Reshape if graph.node(node.src[0]).shape == node.shape => Class::Element,
        op if op.is_view() => Class::View,
        op if op.is_elementwise() => Class::Element,
        Op::Random(_) | Op::Gather(_) => Class::Element,
        Op::Reduce(..) => Class::Reduce,
        Op::MatMul => Class::MatMul,
        _ => Class::Opaque,
    }
}

fn apply(op: &Op, shape: &[usize], view: &View) -> Option<View> {
    match op {
        Op::Reshape => view.reshape(shape),
        Op::Permute(axes) => Some(view.permute(axes)),
        Op::Expand => Some(view.expand(shape)),
        Op::Slice(ranges) => Some(view.slice(ranges)),
        Op::Pad(amounts) => Some(view.pad(amounts)),
        _ => Some(view.clone()),
    }
}
