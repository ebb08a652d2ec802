//! What an evaluation asks for: the walk from targets to data and scalars, and the structural key. It runs for
//! every evaluation, also those that find their plan, so it is lean.

use crate::device::Buffer;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::plan_cache::Key;
use crate::tensor::{Expr, State, Tensor};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// One tensor of the walk.
struct Visited {
    tensor: Tensor,
    /// How it is computed; `None` for data and scalars.
    expr: Option<Arc<Expr>>,
    /// Positions of its sources in the walk.
    src: SmallVec<[u32; 3]>,
}

/// What a set of targets needs, sources first.
pub(crate) struct Asked {
    /// Equal for evaluations that the same plan can serve.
    pub key: Key,
    nodes: Vec<Visited>,
    outputs: Vec<u32>,
    /// Memories that are read, in order of appearance, with their position in the walk.
    pub inputs: Vec<(u32, Arc<Buffer>)>,
    /// Launch arguments, in order of appearance.
    pub scalars: Vec<(u32, Scalar)>,
}

/// An [`Asked`] as a graph of its own.
pub(crate) struct AskedGraph {
    pub graph: Graph,
    /// Data nodes in the order of [`Asked::inputs`].
    pub inputs: Vec<NodeId>,
    /// Scalar nodes in the order of [`Asked::scalars`].
    pub scalars: Vec<NodeId>,
}

/// Mixes one word into a running hash (the constants of splitmix64).
fn mix(state: u64, word: u64) -> u64 {
    let x = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (x >> 32)
}

/// A tensor whose sources are being numbered.
struct Open {
    tensor: Tensor,
    expr: Arc<Expr>,
    /// The positions of its sources, the last first.
    src: SmallVec<[u32; 3]>,
}

/// What [`Walk::leaf`] found.
enum Leaf {
    /// Data or a scalar, at that position.
    Numbered(u32),
    /// Something that is computed.
    Not(Arc<Expr>),
}

struct Walk {
    asked: Asked,
    known: FxHashMap<u64, u32>,
    high: u64,
    low: u64,
}

thread_local! {
    /// How many tensors the last walk met: the next one is often the same.
    static LENGTH: Cell<usize> = const { Cell::new(0) };
}

impl Walk {
    fn new(salt: u64) -> Walk {
        let length = LENGTH.get();
        let nodes = Vec::with_capacity(length);
        Walk {
            asked: Asked { key: 0, nodes, outputs: vec![], inputs: vec![], scalars: vec![] },
            known: FxHashMap::with_capacity_and_hasher(length, Default::default()),
            high: 0x243F_6A88_85A3_08D3u64 ^ salt,
            low: 0x1319_8A2E_0370_7344u64,
        }
    }

    fn leaf(&mut self, tensor: &Tensor) -> Result<Leaf> {
        let at = self.asked.nodes.len() as u32;
        let hash = match &*tensor.state() {
            State::Lazy(expr) => return Ok(Leaf::Not(expr.clone())),
            State::Ready(buffer, _) => {
                self.asked.inputs.push((at, buffer.clone()));
                // The hash was made of the op that computed the data; now it is just data.
                tensor.0.data_hash()
            }
            State::Scalar(value) => {
                self.asked.scalars.push((at, *value));
                tensor.0.hash
            }
            State::Moved => return Err(Error::Stale { op: "eval" }),
        };
        Ok(Leaf::Numbered(
            self.push(Visited { tensor: tensor.clone(), expr: None, src: SmallVec::new() }, hash),
        ))
    }

    /// A computed tensor, after all its sources.
    fn number(&mut self, Open { tensor, expr, mut src }: Open) -> u32 {
        src.reverse();
        let hash = src.iter().fold(tensor.0.hash, |hash, &at| mix(hash, at as u64 + 1));
        self.push(Visited { tensor, expr: Some(expr), src }, hash)
    }

    fn push(&mut self, visited: Visited, hash: u64) -> u32 {
        let at = self.asked.nodes.len() as u32;
        self.high = mix(self.high, hash);
        self.low = mix(self.low.rotate_left(17), hash ^ 0x5851_F42D_4C95_7F2D);
        self.known.insert(visited.tensor.id(), at);
        self.asked.nodes.push(visited);
        at
    }

    fn finish(mut self) -> Asked {
        let length = self.asked.nodes.len();
        LENGTH.set(length);
        self.low = mix(self.low, length as u64);
        self.asked.key = (self.high as u128) << 64 | self.low as u128;
        self.asked
    }
}

impl Asked {
    /// Walks from the targets to data and scalars, numbering tensors and hashing their structure. `salt` is
    /// whatever else decides which plan fits.
    pub fn collect(targets: &[&Tensor], salt: u64) -> Result<Asked> {
        let mut walk = Walk::new(salt);
        // Tensors whose sources are being numbered, each a source of the one before it; the last source goes first.
        let mut open: Vec<Open> = vec![];
        for &target in targets {
            let mut next = Some(target.clone());
            loop {
                if let Some(tensor) = next.take() {
                    let at = match walk.known.get(&tensor.id()) {
                        Some(&at) => Some(at),
                        None => match walk.leaf(&tensor)? {
                            Leaf::Numbered(at) => Some(at),
                            Leaf::Not(expr) => {
                                open.push(Open { tensor, expr, src: SmallVec::new() });
                                None
                            }
                        },
                    };
                    if let (Some(at), Some(user)) = (at, open.last_mut()) {
                        user.src.push(at);
                    }
                }
                let Some(user) = open.last() else { break };
                match user.expr.src.len() - user.src.len() {
                    0 => {
                        if let Some(done) = open.pop() {
                            let at = walk.number(done);
                            if let Some(user) = open.last_mut() {
                                user.src.push(at);
                            }
                        }
                    }
                    left => next = Some(user.expr.src[left - 1].clone()),
                }
            }
            let at = walk.known[&target.id()];
            walk.asked.outputs.push(at);
            walk.high = mix(walk.high, at as u64);
        }
        Ok(walk.finish())
    }

    /// The inputs by the id of their tensor.
    pub fn input_ids(&self) -> FxHashMap<u64, usize> {
        let id = |(i, (at, _)): (usize, &(u32, Arc<Buffer>))| (self.nodes[*at as usize].tensor.id(), i);
        self.inputs.iter().enumerate().map(id).collect()
    }

    /// How many handles to each input are held by what was walked: by recorded ops and by this walk.
    pub fn handles(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        for src in self.nodes.iter().flat_map(|n| &n.src) {
            uses[*src as usize] += 1;
        }
        // Each op holds its sources once, and the walk every tensor once.
        self.inputs.iter().map(|(at, _)| uses[*at as usize] + 1).collect()
    }

    /// The same as a graph of its own, in which equal nodes are one.
    pub fn graph(&self) -> AskedGraph {
        let mut graph = Graph::default();
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        let mut scalars = self.scalars.iter().map(|(at, _)| *at).peekable();
        for (at, visited) in self.nodes.iter().enumerate() {
            let op = match &visited.expr {
                Some(expr) => expr.op.clone(),
                None if scalars.next_if_eq(&(at as u32)).is_some() => Op::Scalar,
                None => Op::Input,
            };
            let node = Node {
                op,
                src: visited.src.iter().map(|&s| ids[s as usize]).collect(),
                shape: visited.tensor.0.shape.clone(),
                dtype: visited.tensor.dtype(),
            };
            ids.push(graph.add(node, visited.tensor.0.scope));
        }
        graph.outputs = self.outputs.iter().map(|&o| ids[o as usize]).collect();
        AskedGraph {
            graph,
            inputs: self.inputs.iter().map(|(at, _)| ids[*at as usize]).collect(),
            scalars: self.scalars.iter().map(|(at, _)| ids[*at as usize]).collect(),
        }
    }
}
