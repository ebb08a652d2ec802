//! Stop 3 of the path, the conductor: what is asked for -> structural key -> plan (found or built) -> launch.

use crate::device::{Buffer, Device};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::plan_cache::Key;
use crate::schedule::Plan;
use crate::tensor::{Expr, State, Tensor};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Computes tensors together, in one plan. Those that are computed already cost nothing.
pub fn eval(targets: &[&Tensor]) -> Result<()> {
    let targets: Vec<&Tensor> = targets.iter().copied().filter(|t| !t.is_ready()).collect();
    let Some(first) = targets.first() else { return Ok(()) };
    let device = first.device().clone();
    let outputs = interpret(&Asked::collect(&targets)?, &device)?;
    for (target, bytes) in targets.iter().zip(outputs) {
        let buffer = device.allocate(bytes.len())?;
        device.0.backend.upload(buffer.memory(), &bytes)?;
        target.set_ready(buffer);
    }
    Ok(())
}

/// What the reference interpreter makes of it, as row-major bytes.
fn interpret(asked: &Asked, device: &Device) -> Result<Vec<Vec<u8>>> {
    let graph = asked.graph();
    let positions = |op: Op| graph.iter().filter(move |(_, n)| n.op == op);
    let mut inputs = vec![];
    for ((id, node), (_, buffer)) in positions(Op::Input).zip(&asked.inputs) {
        let mut bytes = vec![0u8; node.numel() * node.dtype.size()];
        device.0.backend.download(buffer.memory(), &mut bytes)?;
        inputs.push((id, bytes));
    }
    let scalars: Vec<_> = positions(Op::Scalar).zip(&asked.scalars).map(|((id, _), s)| (id, s.1)).collect();
    crate::graph::interpret::interpret(&graph, &inputs, &scalars)
}

impl Tensor {
    /// The value by the reference interpreter, whatever the device would do, as row-major bytes.
    pub fn reference(&self) -> Result<Vec<u8>> {
        let mut outputs = interpret(&Asked::collect(&[self])?, self.device())?;
        outputs.pop().ok_or_else(|| Error::Internal("the interpreter gave nothing".into()))
    }
}

/// The plan that would compute these tensors together.
pub fn plan(_targets: &[&Tensor]) -> Result<Arc<Plan>> {
    Err(Error::Internal("no plans yet".into()))
}

/// What a set of targets needs, in topological order; made anew for every evaluation, so it is lean.
pub(crate) struct Asked {
    pub key: Key,
    /// Every tensor reached, sources first, with its sources' positions.
    nodes: Vec<(Tensor, Option<Expr>, smallvec::SmallVec<[u32; 3]>)>,
    outputs: Vec<u32>,
    /// Memories that are read, in order of appearance.
    pub inputs: Vec<(NodeId, Arc<Buffer>)>,
    /// Launch arguments, in order of appearance.
    pub scalars: Vec<(NodeId, Scalar)>,
}

/// Mixes one word into a running hash (the constants of splitmix64 and murmur3).
fn mix(state: u64, word: u64) -> u64 {
    let x = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (x >> 32)
}

impl Asked {
    /// Walks from the targets to data and scalars, numbering tensors and hashing their structure.
    pub fn collect(targets: &[&Tensor]) -> Result<Asked> {
        let mut asked = Asked { key: 0, nodes: vec![], outputs: vec![], inputs: vec![], scalars: vec![] };
        let mut known: FxHashMap<u64, u32> = FxHashMap::default();
        let (mut high, mut low) = (0x243F_6A88_85A3_08D3u64, 0x1319_8A2E_0370_7344u64);
        // A tensor is pushed once to be expanded and, if it has sources, stays until they are numbered.
        let mut stack: Vec<(Tensor, Option<Expr>)> = vec![];
        for &target in targets {
            stack.push((target.clone(), None));
            while let Some((tensor, expr)) = stack.pop() {
                if known.contains_key(&tensor.id()) {
                    continue;
                }
                let id = NodeId(asked.nodes.len() as u32);
                let expr = match expr {
                    Some(expr) => Some(expr),
                    None => match &*tensor.state() {
                        State::Lazy(expr) => Some(expr.clone()),
                        State::Ready(buffer, _) => {
                            asked.inputs.push((id, buffer.clone()));
                            None
                        }
                        State::Scalar(value) => {
                            asked.scalars.push((id, *value));
                            None
                        }
                        State::Moved => return Err(Error::Stale { op: "eval" }),
                    },
                };
                let mut src = smallvec::SmallVec::new();
                let mut hash = tensor.0.hash;
                if let Some(expr) = &expr {
                    let mut waiting = false;
                    for source in &expr.src {
                        match known.get(&source.id()) {
                            Some(&at) => {
                                src.push(at);
                                hash = mix(hash, at as u64 + 1);
                            }
                            None if waiting => stack.push((source.clone(), None)),
                            None => {
                                waiting = true;
                                stack.push((tensor.clone(), Some(expr.clone())));
                                stack.push((source.clone(), None));
                            }
                        }
                    }
                    if waiting {
                        continue;
                    }
                } else if tensor.is_ready() {
                    hash = mix(hash, u64::MAX);
                }
                high = mix(high, hash);
                low = mix(low.rotate_left(17), hash ^ 0x5851_F42D_4C95_7F2D);
                known.insert(tensor.id(), id.0);
                asked.nodes.push((tensor, expr, src));
            }
            let at = known[&target.id()];
            asked.outputs.push(at);
            high = mix(high, at as u64);
        }
        low = mix(low, asked.nodes.len() as u64);
        asked.key = (high as u128) << 64 | low as u128;
        Ok(asked)
    }

    /// The same as a graph of its own, for the scheduler. Node i of `nodes` need not be node i of the graph:
    /// equal nodes are one there. Inputs and scalars keep their order of appearance.
    pub fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for (tensor, expr, src) in &self.nodes {
            let op = match expr {
                Some(expr) => expr.op.clone(),
                None if tensor.is_ready() => Op::Input,
                None => Op::Scalar,
            };
            let node = Node {
                op,
                src: src.iter().map(|&s| ids[s as usize]).collect(),
                shape: tensor.0.shape.clone(),
                dtype: tensor.dtype(),
            };
            ids.push(graph.add(node, tensor.0.scope));
        }
        graph.outputs = self.outputs.iter().map(|&o| ids[o as usize]).collect();
        graph
    }
}
