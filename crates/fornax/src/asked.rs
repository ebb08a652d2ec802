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
use std::sync::Arc;

/// One tensor of the walk.
struct Visited {
    tensor: Tensor,
    /// How it is computed; `None` for data and scalars.
    expr: Option<Expr>,
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

impl Asked {
    /// Walks from the targets to data and scalars, numbering tensors and hashing their structure. `salt` is
    /// whatever else decides which plan fits.
    pub fn collect(targets: &[&Tensor], salt: u64) -> Result<Asked> {
        let mut asked = Asked { key: 0, nodes: vec![], outputs: vec![], inputs: vec![], scalars: vec![] };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        let (mut high, mut low) = (0x243F_6A88_85A3_08D3u64 ^ salt, 0x1319_8A2E_0370_7344u64);
        // A tensor is pushed once to be expanded and, if it has sources, stays until they are numbered.
        let mut stack: Vec<(Tensor, Option<Expr>)> = vec![];
        for &target in targets {
            stack.push((target.clone(), None));
            while let Some((tensor, expr)) = stack.pop() {
                if known.contains_key(&tensor.id()) {
                    continue;
                }
                let at = asked.nodes.len() as u32;
                let mut hash = tensor.0.hash;
                let expr = match expr {
                    Some(expr) => Some(expr),
                    None => match &*tensor.state() {
                        State::Lazy(expr) => Some(expr.clone()),
                        State::Ready(buffer, _) => {
                            asked.inputs.push((at, buffer.clone()));
                            // The hash was made of the op that computed the data; now it is just data.
                            hash = tensor.0.data_hash();
                            None
                        }
                        State::Scalar(value) => {
                            asked.scalars.push((at, *value));
                            None
                        }
                        State::Moved => return Err(Error::Stale { op: "eval" }),
                    },
                };
                let mut src = SmallVec::new();
                if let Some(expr) = &expr {
                    let waiting = stack.len();
                    for source in &expr.src {
                        match known.get(&source.id()) {
                            Some(&at) => {
                                src.push(at);
                                hash = mix(hash, at as u64 + 1);
                            }
                            None => stack.push((source.clone(), None)),
                        }
                    }
                    if stack.len() > waiting {
                        stack.insert(waiting, (tensor.clone(), Some(expr.clone())));
                        continue;
                    }
                }
                high = mix(high, hash);
                low = mix(low.rotate_left(17), hash ^ 0x5851_F42D_4C95_7F2D);
                known.insert(tensor.id(), at);
                asked.nodes.push(Visited { tensor, expr, src });
            }
            let at = known[&target.id()];
            asked.outputs.push(at);
            high = mix(high, at as u64);
        }
        low = mix(low, asked.nodes.len() as u64);
        asked.key = (high as u128) << 64 | low as u128;
        Ok(asked)
    }

    /// Which input a tensor is, if it is one.
    pub fn input_of(&self, tensor: &Tensor) -> Option<usize> {
        self.inputs.iter().position(|(at, _)| self.nodes[*at as usize].tensor.id() == tensor.id())
    }

    /// How many handles to each input are held by what was walked: by recorded ops and by this walk.
    pub fn handles(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        for src in self.nodes.iter().flat_map(|n| &n.src) {
            uses[*src as usize] += 1;
        }
        // Each op holds its sources once, the walk's copy of it once more, and the walk every tensor once.
        self.inputs.iter().map(|(at, _)| 2 * uses[*at as usize] + 1).collect()
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
