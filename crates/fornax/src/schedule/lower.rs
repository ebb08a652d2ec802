//! From a group of nodes to a kernel: the program in SSA form, the views of its loads and stores, a label
//! that says what is inside, and the least work it must do.

use super::edges::{Class, Edge, Edges};
use super::fuse::{Group, Kind};
use super::simplify::is_zero;
use super::space::{Role, Space};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op, Side};
use crate::kernel::*;
use crate::view::View;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A kernel with the graph's values it works on.
#[derive(Clone, Debug)]
pub(super) struct Lowered {
    pub kernel: Kernel,
    pub reads: Vec<NodeId>,
    pub writes: Vec<NodeId>,
    /// Scalar nodes, one for each launch argument.
    pub args: Vec<NodeId>,
    /// Nodes that must have been computed although they are not read.
    pub after: Vec<NodeId>,
}

pub(super) fn lower(graph: &Graph, edges: &Edges, group: &Group) -> Result<Lowered> {
    let mut lowering = Lowering {
        graph,
        edges,
        group,
        space: group.space.clone(),
        ports: Ports::default(),
        args: vec![],
        program: vec![],
        loads: vec![],
        known: FxHashMap::default(),
        generated: FxHashMap::default(),
        product: None,
    };
    let body = match group.kind {
        Kind::Loop => Body::Loop(coalesce(lowering.fused()?)),
        Kind::MatMul => lowering.matmul()?,
        Kind::Opaque => lowering.opaque()?,
    };
    let port = |&n: &NodeId| Port { dtype: graph.node(n).dtype, len: graph.node(n).numel() };
    let reads: Vec<Port> = lowering.ports.reads.iter().map(port).collect();
    let writes: Vec<Port> = group.stored.iter().map(port).collect();
    let bytes = |ports: &[Port]| ports.iter().map(|p| (p.len * p.dtype.size()) as u64).sum();
    let members = group.nodes.iter().chain(&group.clones);
    let mut after: Vec<NodeId> =
        members.flat_map(|n| &edges.src[n.index()]).flat_map(|e| e.after.iter().copied()).collect();
    after.sort_unstable();
    after.dedup();
    let kernel = Kernel {
        label: label(graph, group, &body),
        scope: graph.scope(group.nodes[0]),
        work: Work { bytes_read: bytes(&reads), bytes_written: bytes(&writes), ops: operations(&body) },
        body,
        reads,
        writes,
        in_place: vec![],
        args: lowering.args.iter().map(|&n| graph.node(n).dtype).collect(),
        beside: 1,
    };
    Ok(Lowered {
        kernel,
        reads: lowering.ports.reads,
        writes: group.stored.clone(),
        args: lowering.args,
        after,
    })
}

/// The memories a kernel reads, each once.
#[derive(Default)]
struct Ports {
    reads: Vec<NodeId>,
    known: FxHashMap<NodeId, usize>,
}

impl Ports {
    fn read(&mut self, id: NodeId) -> usize {
        *self.known.entry(id).or_insert_with(|| {
            self.reads.push(id);
            self.reads.len() - 1
        })
    }
}

struct Lowering<'a> {
    graph: &'a Graph,
    edges: &'a Edges,
    group: &'a Group,
    space: Space,
    ports: Ports,
    args: Vec<NodeId>,
    program: Vec<Instr>,
    loads: Vec<Load>,
    /// Values of nodes that were computed.
    known: FxHashMap<NodeId, Val>,
    /// Values of instructions that depend on nothing else, and of loads.
    generated: FxHashMap<(Inst, DType), Val>,
    /// The matrix product, in its kernel.
    product: Option<NodeId>,
}

fn internal(what: &str) -> Error {
    Error::Internal(format!("schedule: {what}"))
}

impl Lowering<'_> {
    /// The loop that computes and stores what the group must.
    fn fused(&mut self) -> Result<Loop> {
        let mut stores = vec![];
        let mut targets = vec![];
        // Recursion would overflow on long chains: members are computed in their order, each finding its sources.
        let mut members: Vec<NodeId> = self.group.nodes.iter().chain(&self.group.clones).copied().collect();
        members.sort_unstable();
        for id in members {
            self.value(id)?;
        }
        for (write, &id) in self.group.stored.iter().enumerate() {
            let value = *self.known.get(&id).ok_or_else(|| internal("a stored value was not computed"))?;
            let role = self.space.role(self.graph.node(id).numel()).ok_or_else(|| internal("no role"))?;
            let level = match role {
                Role::Element => Level::Element,
                Role::Kept => Level::Kept,
            };
            stores.push(self.raise(value, level));
            targets.push(Store { write, view: self.space.own(role), spare: 0 });
        }
        let segment = Segment {
            dims: self.space.dims.clone(),
            loads: std::mem::take(&mut self.loads),
            stores: targets,
        };
        Ok(Loop {
            reduced: self.space.reduced.to_vec(),
            program: std::mem::take(&mut self.program),
            stores,
            segments: vec![segment],
        })
    }

    fn push(&mut self, inst: Inst, dtype: DType, level: Level) -> Val {
        self.program.push(Instr { inst, dtype, level });
        Val(self.program.len() as u32 - 1)
    }

    /// The same value at a higher level, so that it can be stored or reduced there.
    fn raise(&mut self, value: Val, level: Level) -> Val {
        let Instr { dtype, level: have, .. } = self.program[value.index()];
        if have >= level { value } else { self.push(Inst::Cast(value), dtype, level) }
    }

    /// Computes a member (or arithmetic on scalars) once.
    fn value(&mut self, id: NodeId) -> Result<Val> {
        if let Some(&value) = self.known.get(&id) {
            return Ok(value);
        }
        let node = self.graph.node(id);
        let class = self.edges.class[id.index()];
        let role = match class {
            Class::Reduce => Role::Element,
            Class::Free => Role::Element,
            _ => self.space.role(node.numel()).ok_or_else(|| internal("a member without a role"))?,
        };
        let src = &self.edges.src[id.index()];
        let operands: SmallVec<[Val; 3]> = src
            .iter()
            .enumerate()
            .filter(|(i, _)| !(matches!(node.op, Op::Gather(_)) && *i == 0))
            .map(|(_, edge)| self.operand(edge, role))
            .collect::<Result<_>>()?;
        let level = operands.iter().map(|v| self.program[v.index()].level).max().unwrap_or(Level::Uniform);
        let value = match &node.op {
            Op::Unary(op) => self.push(Inst::Unary(*op, operands[0]), node.dtype, level),
            Op::Binary(op) => self.push(Inst::Binary(*op, operands[0], operands[1]), node.dtype, level),
            Op::Where => self.push(Inst::Where(operands[0], operands[1], operands[2]), node.dtype, level),
            Op::Cast => self.push(Inst::Cast(operands[0]), node.dtype, level),
            // A copy.
            op if op.is_view() => operands[0],
            Op::Random(kind) => {
                let own = View::contiguous(&node.shape);
                let view = self.space.fit(&own, role).ok_or_else(|| internal("a random view"))?;
                let index = self.load(Source::Index, view, DType::I64);
                let level = level.max(self.program[index.index()].level);
                let (seed, stream) = (operands[0], operands[1]);
                self.push(Inst::Random { kind: *kind, seed, stream, index }, node.dtype, level)
            }
            Op::Gather(axis) => self.gather(&src[0], *axis, operands[0], role, node)?,
            Op::Reduce(op, _) => {
                let element = self.raise(operands[0], Level::Element);
                self.push(Inst::Reduce(*op, element), node.dtype, Level::Kept)
            }
            Op::Literal(_) | Op::Scalar | Op::Iota => {
                let own = Edge {
                    base: id,
                    view: View::contiguous(&node.shape),
                    after: SmallVec::new(),
                    fence: false,
                };
                self.operand(&own, role)?
            }
            op => return Err(internal(&format!("{} inside a loop", op.name()))),
        };
        self.known.insert(id, value);
        Ok(value)
    }

    /// A source: computed here, generated, or loaded.
    fn operand(&mut self, edge: &Edge, role: Role) -> Result<Val> {
        let base = edge.base;
        let node = self.graph.node(base);
        if self.product == Some(base) {
            return self.known.get(&base).copied().ok_or_else(|| internal("no product"));
        }
        if self.group.computes(base) {
            return self.value(base);
        }
        match (&node.op, self.edges.class[base.index()]) {
            (Op::Literal(bits), _) => Ok(self.generate(Inst::Literal(*bits), node.dtype, Level::Uniform)),
            (Op::Scalar, _) => {
                let at = match self.args.iter().position(|&a| a == base) {
                    Some(at) => at,
                    None => {
                        self.args.push(base);
                        self.args.len() - 1
                    }
                };
                Ok(self.generate(Inst::Arg(at), node.dtype, Level::Uniform))
            }
            (Op::Iota, _) => {
                let view = self.fit(edge, role)?;
                Ok(self.load(Source::Index, view, node.dtype))
            }
            (_, Class::Free) => self.value(base),
            _ => {
                let view = self.fit(edge, role)?;
                let read = self.ports.read(base);
                Ok(self.load(Source::Memory(read), view, node.dtype))
            }
        }
    }

    fn fit(&self, edge: &Edge, role: Role) -> Result<View> {
        self.space.fit(&edge.view, role).ok_or_else(|| internal("a view that does not fit its kernel"))
    }

    fn generate(&mut self, inst: Inst, dtype: DType, level: Level) -> Val {
        if let Some(&value) = self.generated.get(&(inst.clone(), dtype)) {
            return value;
        }
        let value = self.push(inst.clone(), dtype, level);
        self.generated.insert((inst, dtype), value);
        value
    }

    /// The number of a load, each distinct one once.
    fn load_number(&mut self, load: Load) -> usize {
        match self.loads.iter().position(|l| *l == load) {
            Some(at) => at,
            None => {
                self.loads.push(load);
                self.loads.len() - 1
            }
        }
    }

    fn load(&mut self, source: Source, view: View, dtype: DType) -> Val {
        let level = self.level(&view);
        let at = self.load_number(Load { source, view });
        self.generate(Inst::Load(at), dtype, level)
    }

    /// How often a load differs, by its strides.
    fn level(&self, view: &View) -> Level {
        let varies = |reduced: bool| {
            (0..view.shape.len()).any(|i| {
                self.space.reduced[i] == reduced
                    && view.shape[i] > 1
                    && (view.strides[i] != 0
                        || view.mask.as_ref().is_some_and(|m| m[i] != (0, view.shape[i])))
            })
        };
        if view.mask.is_some() || varies(true) || (varies(false) && !self.space.has_reduced()) {
            Level::Element
        } else if varies(false) {
            Level::Kept
        } else {
            Level::Uniform
        }
    }

    fn gather(&mut self, edge: &Edge, axis: usize, index: Val, role: Role, node: &Node) -> Result<Val> {
        let (stride, len) = (edge.view.strides[axis], edge.view.shape[axis]);
        let view = self
            .space
            .fit(&edge.gathered(axis, &node.shape), role)
            .ok_or_else(|| internal("a gather that does not fit its kernel"))?;
        let level = self.level(&view).max(self.program[index.index()].level);
        let read = self.ports.read(edge.base);
        let load = self.load_number(Load { source: Source::Memory(read), view });
        Ok(self.push(Inst::Gather { load, index, stride, len }, node.dtype, level))
    }

    fn matmul(&mut self) -> Result<Body> {
        let id = *self.group.nodes.first().ok_or_else(|| internal("an empty group"))?;
        let id =
            self.group.nodes.iter().copied().find(|n| self.graph.node(*n).op == Op::MatMul).unwrap_or(id);
        let node = self.graph.node(id);
        let src = &self.edges.src[id.index()];
        let mut matrix = |side: usize| Matrix {
            read: self.ports.read(src[side].base),
            dtype: self.graph.node(node.src[side]).dtype,
            view: src[side].view.clone(),
        };
        let (left, right) = (matrix(0), matrix(1));
        let rank = node.shape.len();
        let view = View::contiguous(&node.shape);
        self.product = Some(id);
        // The product arrives in the compute dtype; the node's value is rounded to its own.
        let at = self.load_number(Load { source: Source::Product, view });
        let mut value = self.push(Inst::Load(at), node.dtype.compute(), Level::Element);
        if node.dtype.compute() != node.dtype {
            value = self.push(Inst::Cast(value), node.dtype, Level::Element);
        }
        self.known.insert(id, value);
        let epilogue = self.fused()?;
        Ok(Body::MatMul(Box::new(MatMul {
            batch: node.shape[..rank - 2].into(),
            m: node.shape[rank - 2],
            n: node.shape[rank - 1],
            k: left.view.shape[rank - 1],
            left,
            right,
            epilogue,
        })))
    }

    /// Kernels of their own.
    fn opaque(&mut self) -> Result<Body> {
        let id = *self.group.nodes.first().ok_or_else(|| internal("an empty group"))?;
        let node = self.graph.node(id);
        let src = &self.edges.src[id.index()];
        let mut at = |i: usize| (self.ports.read(src[i].base), src[i].view.clone());
        let written = |wanted: &dyn Fn(&Op) -> bool| {
            self.group.stored.iter().position(|&n| wanted(&self.graph.node(n).op))
        };
        Ok(match &node.op {
            Op::Cat(axis) => {
                let mut start = 0;
                let mut segments = vec![];
                for i in 0..src.len() {
                    let (read, view) = at(i);
                    let dims = view.shape.clone();
                    let mut target = View::contiguous(&node.shape);
                    target.offset = start * target.strides[*axis];
                    target.shape = dims.clone();
                    start += dims[*axis] as isize;
                    segments.push(Segment {
                        dims,
                        loads: vec![Load { source: Source::Memory(read), view }],
                        stores: vec![Store { write: 0, view: target, spare: 0 }],
                    });
                }
                let load = Instr { inst: Inst::Load(0), dtype: node.dtype, level: Level::Element };
                Body::Loop(Loop {
                    reduced: vec![false; node.shape.len()],
                    program: vec![load],
                    stores: vec![Val(0)],
                    segments,
                })
            }
            Op::Attention(spec) | Op::AttentionLse(spec) => Body::Attention(Box::new(Attention {
                spec: *spec,
                q: at(0),
                k: at(1),
                v: at(2),
                mask: spec.mask.then(|| at(3)),
                out: written(&|op| matches!(op, Op::Attention(_))),
                lse: written(&|op| matches!(op, Op::AttentionLse(_))),
            })),
            Op::AttentionGrad(spec, _) => {
                let side = |side| written(&|op: &Op| matches!(op, Op::AttentionGrad(_, s) if *s == side));
                Body::AttentionGrad(Box::new(AttentionGrad {
                    spec: *spec,
                    q: at(0),
                    k: at(1),
                    v: at(2),
                    out: at(3),
                    lse: at(4),
                    grad: at(5),
                    mask: spec.mask.then(|| at(6)),
                    dq: side(Side::Q),
                    dk: side(Side::K),
                    dv: side(Side::V),
                }))
            }
            Op::ScatterAdd(axis) => {
                let base = if is_zero(self.graph, src[0].base) { None } else { Some(at(0)) };
                let shape = node.shape.clone();
                let body = ScatterAdd { axis: *axis, shape, base, index: at(1), value: at(2) };
                Body::ScatterAdd(Box::new(body))
            }
            Op::ArgSort { axis, descending } => {
                Body::Sort(Sort { axis: *axis, descending: *descending, value: at(0) })
            }
            Op::Cumsum(axis) => Body::Scan(Scan { axis: *axis, value: at(0) }),
            op => return Err(internal(&format!("{} has no kernel", op.name()))),
        })
    }
}

/// Joins neighbouring axes of one kind that every view walks as one. Loops over contiguous memory have one axis
/// then, whatever the shapes were, and can share a launch.
fn coalesce(mut body: Loop) -> Loop {
    let [segment] = &mut body.segments[..] else { return body };
    let mut axis = 1;
    while axis < segment.dims.len() {
        let mut dims = segment.dims.clone();
        dims[axis - 1] *= dims.remove(axis);
        let views = || segment.loads.iter().map(|l| &l.view).chain(segment.stores.iter().map(|s| &s.view));
        let joined: Option<Vec<View>> = match body.reduced[axis - 1] == body.reduced[axis] {
            true => views().map(|view| view.reshape(&dims)).collect(),
            false => None,
        };
        let Some(joined) = joined else {
            axis += 1;
            continue;
        };
        let mut joined = joined.into_iter();
        let targets = segment.loads.iter_mut().map(|l| &mut l.view);
        for view in targets.chain(segment.stores.iter_mut().map(|s| &mut s.view)) {
            if let Some(new) = joined.next() {
                *view = new;
            }
        }
        segment.dims = dims;
        body.reduced.remove(axis);
    }
    body
}

/// What is inside, in words: `matmul_add_tanh f32 512x3072x768`.
fn label(graph: &Graph, group: &Group, body: &Body) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = vec![];
    let members = group.nodes.iter().map(|&n| graph.node(n));
    for node in members.filter(|n| !n.op.is_view()) {
        let name = node.op.name();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    if let Some(at) = names.iter().position(|n| n == "matmul") {
        names[..=at].rotate_right(1);
    }
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let mut text = if names.is_empty() { "copy".into() } else { names.join("_") };
    if more > 0 {
        text += &format!("_and_{more}_more");
    }
    let dtype = graph.node(*group.stored.first().unwrap_or(&group.nodes[0])).dtype;
    let join = |dims: &[usize]| dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let dims = match body {
        Body::MatMul(m) => join(&m.batch.iter().copied().chain([m.m, m.n, m.k]).collect::<Vec<_>>()),
        Body::Loop(l) if l.segments.len() == 1 => join(&l.segments[0].dims),
        _ => join(&graph.node(group.nodes[0]).shape),
    };
    format!("{text} {dtype} {}", if dims.is_empty() { "1" } else { &dims })
}

/// How many points a space has; as many as can be counted, if it has more.
fn product<'a>(dims: impl Iterator<Item = &'a usize>) -> u64 {
    dims.fold(1, |product: u64, &n| product.saturating_mul(n as u64))
}

/// Arithmetic operations of a kernel.
fn operations(body: &Body) -> u64 {
    let of_loop = |body: &Loop| -> u64 {
        let per_point = |level| {
            let counted =
                |i: &&Instr| i.level == level && !matches!(i.inst, Inst::Load(_) | Inst::Gather { .. });
            body.program.iter().filter(counted).count() as u64
        };
        let points = |kept_only: bool| -> u64 {
            let size = |s: &Segment| -> u64 {
                let axes = s.dims.iter().zip(&body.reduced).filter(|(_, r)| !(kept_only && **r));
                product(axes.map(|(n, _)| n))
            };
            body.segments.iter().map(size).fold(0, u64::saturating_add)
        };
        let all = |level, kept_only| per_point(level).saturating_mul(points(kept_only));
        all(Level::Element, false).saturating_add(all(Level::Kept, true))
    };
    let scores = |q: &View, k: &View, causal: bool| {
        let n = product(q.shape[..3].iter().chain([&k.shape[2]]));
        if causal { n / 2 } else { n }
    };
    match body {
        Body::Loop(body) => of_loop(body),
        Body::MatMul(m) => {
            let terms = product(m.batch.iter().chain([&m.m, &m.n, &m.k]));
            terms.saturating_mul(2).saturating_add(of_loop(&m.epilogue))
        }
        Body::Attention(a) => {
            let widths = 2 * (a.q.1.shape[3] + a.v.1.shape[3]) as u64;
            scores(&a.q.1, &a.k.1, a.spec.causal).saturating_mul(widths)
        }
        Body::AttentionGrad(a) => {
            let widths = 2 * (3 * a.q.1.shape[3] + 2 * a.v.1.shape[3]) as u64;
            scores(&a.q.1, &a.k.1, a.spec.causal).saturating_mul(widths)
        }
        Body::ScatterAdd(s) => s.value.1.numel() as u64,
        Body::Scan(s) => s.value.1.numel() as u64,
        Body::Sort(s) => {
            let n = s.value.1.shape[s.axis].max(2) as u64;
            (s.value.1.numel() as u64).saturating_mul(n.ilog2() as u64)
        }
    }
}
