//! What an evaluation asks for: the walk from targets to data and scalars, and the structural key. It runs for
//! every evaluation, also those that find their plan, so it is lean.

use crate::device::Buffer;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::plan_cache::Key;
use crate::scope::Scope;
use crate::tensor::formula::Part;
use crate::tensor::{Inner, State, Tensor};
use crate::view::Dims;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::cell::Cell;
use std::sync::Arc;

/// One tensor of the walk.
struct Visited {
    tensor: Tensor,
    /// Where the positions of its sources end; they begin where those of the one before end.
    edges: u32,
}

/// What a set of targets needs, sources first.
pub(crate) struct Asked {
    /// Equal for evaluations that the same plan can serve.
    pub key: Key,
    nodes: Vec<Visited>,
    /// The positions of all sources.
    edges: Vec<u32>,
    outputs: Vec<u32>,
    /// Memories that are read, in order of appearance, with their position in the walk.
    pub inputs: Vec<(u32, Arc<Buffer>)>,
    /// Launch arguments, in order of appearance.
    pub scalars: Vec<(u32, Scalar)>,
    /// Which of them are part of a use of a formula, in order of appearance.
    parts: Vec<(u32, Part)>,
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
pub(crate) fn mix(state: u64, word: u64) -> u64 {
    let x = (state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (x >> 32)
}

struct Walk {
    asked: Asked,
    /// Positions of tensors that may be met again, by id.
    known: FxHashMap<u64, u32>,
    /// What is to be done, the last first: meet a tensor, or (none) number the last open one.
    next: Vec<Option<Tensor>>,
    /// Tensors whose sources are being numbered, with the number of those, and which part of a use they are.
    open: Vec<(Tensor, usize, Option<Part>)>,
    /// Positions of sources whose users have no number yet.
    sources: Vec<u32>,
    high: u64,
    low: u64,
}

thread_local! {
    /// How many tensors the last walk met: the next one is often the same.
    static LENGTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether a tensor may be met twice: not if one op and the walk are all that holds it.
fn is_shared(tensor: &Tensor) -> bool {
    Arc::strong_count(&tensor.0) > 2
}

impl Walk {
    fn new(salt: u64) -> Walk {
        let length = LENGTH.get();
        let (nodes, edges) = (Vec::with_capacity(length), Vec::with_capacity(2 * length));
        Walk {
            asked: Asked {
                key: 0,
                nodes,
                edges,
                outputs: vec![],
                inputs: vec![],
                scalars: vec![],
                parts: vec![],
            },
            known: FxHashMap::with_capacity_and_hasher(length / 2, Default::default()),
            next: vec![],
            open: vec![],
            sources: vec![],
            high: 0x243F_6A88_85A3_08D3u64 ^ salt,
            low: 0x1319_8A2E_0370_7344u64,
        }
    }

    /// Numbers a target after everything that it needs.
    fn target(&mut self, target: &Tensor) -> Result<u32> {
        if let Some(&at) = self.known.get(&target.id()) {
            return Ok(at);
        }
        self.next.push(Some(target.clone()));
        while let Some(next) = self.next.pop() {
            match next {
                Some(tensor) => self.meet(tensor)?,
                None => self.number(),
            }
        }
        // Others may need it too, or name it again.
        let at = self.asked.nodes.len() as u32 - 1;
        self.known.insert(target.id(), at);
        self.sources.clear();
        Ok(at)
    }

    fn meet(&mut self, tensor: Tensor) -> Result<()> {
        if is_shared(&tensor)
            && let Some(&at) = self.known.get(&tensor.id())
        {
            self.sources.push(at);
            return Ok(());
        }
        let at = self.asked.nodes.len() as u32;
        let state = tensor.state();
        let lazy = match &*state {
            State::Lazy(src) => Ok((src, None)),
            State::Part(part, src) => Ok((src, Some(part.clone()))),
            State::Ready(buffer, _) => {
                self.asked.inputs.push((at, buffer.clone()));
                // The hash was made of the op that computed the data; now it is just data.
                Err(tensor.0.data_hash())
            }
            State::Scalar(value) => {
                self.asked.scalars.push((at, *value));
                Err(tensor.0.hash)
            }
            State::Moved => return Err(Error::Stale { op: "eval" }),
        };
        match lazy {
            Ok((src, part)) => {
                let sources = src.len();
                self.next.push(None);
                self.next.extend(src.iter().cloned().map(Some));
                drop(state);
                self.open.push((tensor, sources, part));
            }
            Err(hash) => {
                drop(state);
                self.push(tensor, hash);
            }
        }
        Ok(())
    }

    /// Numbers the last open tensor: all its sources have their positions, the last first.
    fn number(&mut self) {
        if let Some((tensor, sources, part)) = self.open.pop() {
            let mut hash = tensor.0.hash;
            if let Some(part) = part {
                hash = mix(hash, part.hash());
                self.asked.parts.push((self.asked.nodes.len() as u32, part));
            }
            for at in self.sources.drain(self.sources.len() - sources..).rev() {
                hash = mix(hash, at as u64 + 1);
                self.asked.edges.push(at);
            }
            self.push(tensor, hash);
        }
    }

    fn push(&mut self, tensor: Tensor, hash: u64) {
        let at = self.asked.nodes.len() as u32;
        self.high = mix(self.high, hash);
        self.low = mix(self.low.rotate_left(17), hash ^ 0x5851_F42D_4C95_7F2D);
        if is_shared(&tensor) {
            self.known.insert(tensor.id(), at);
        }
        self.asked.nodes.push(Visited { tensor, edges: self.asked.edges.len() as u32 });
        self.sources.push(at);
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
        for &target in targets {
            let at = walk.target(target)?;
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
        for &src in &self.edges {
            uses[src as usize] += 1;
        }
        // Each op holds its sources once, and the walk every tensor once.
        self.inputs.iter().map(|(at, _)| uses[*at as usize] + 1).collect()
    }

    /// The same as a graph of its own, in which equal nodes are one and formulas are their nodes.
    pub fn graph(&self) -> AskedGraph {
        let mut asked = AskedGraph { graph: Graph::default(), inputs: vec![], scalars: vec![] };
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        // The results of uses, by their position.
        let mut results: FxHashMap<u32, Vec<NodeId>> = FxHashMap::default();
        let mut inputs = self.inputs.iter().map(|(at, _)| *at).peekable();
        let mut parts = self.parts.iter().peekable();
        let mut first = 0;
        for (at, visited) in self.nodes.iter().enumerate() {
            let (at, edges) = (at as u32, &self.edges[first..visited.edges as usize]);
            first = visited.edges as usize;
            let sources = edges.iter().map(|&edge| ids[edge as usize]);
            let Inner { op, shape, dtype, scope, .. } = &*visited.tensor.0;
            ids.push(match parts.next_if(|part| part.0 == at) {
                Some((_, Part::Use(formula))) => {
                    let made = formula.expand(sources, |node, scope| asked.add(node, scope));
                    // Only the results have it for a source, and they ask which of them they are.
                    let any = made[0];
                    results.insert(at, made);
                    any
                }
                Some((_, Part::Result(number))) => results[&edges[0]][*number as usize],
                None => {
                    let op = inputs.next_if_eq(&at).map_or(op, |_| &Op::Input);
                    let (op, src, shape) = (op.clone(), sources.collect(), shape.clone());
                    asked.add(Node { op, src, shape, dtype: *dtype }, *scope)
                }
            });
        }
        asked.graph.outputs = self.outputs.iter().map(|&o| ids[o as usize]).collect();
        asked.inputs = self.inputs.iter().map(|(at, _)| ids[*at as usize]).collect();
        asked
    }
}

impl AskedGraph {
    /// Adds a node. Tensors hold numbers in the shape in which they are used, which is one less to record for each; here they
    /// have the shape `[]`.
    fn add(&mut self, node: Node, scope: Scope) -> NodeId {
        if !matches!(node.op, Op::Scalar | Op::Literal(_)) {
            return self.graph.add(node, scope);
        }
        let (is_scalar, dtype) = (node.op == Op::Scalar, node.dtype);
        let number = self.graph.add(Node { shape: Dims::new(), ..node.clone() }, scope);
        if is_scalar {
            self.scalars.push(number);
        }
        if node.shape.is_empty() {
            return number;
        }
        self.graph.add(Node { op: Op::Expand, src: smallvec![number], shape: node.shape, dtype }, scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Device};

    #[test]
    fn every_tensor_is_numbered_once_whoever_holds_it() -> Result<()> {
        let x = Tensor::ones(&[2], DType::F32, &Device::cpu())?;
        x.eval()?;
        let a = x.exp()?;
        let b = a.add(&a)?.sin()?.mul(&x)?;
        let asked = Asked::collect(&[&b, &a, &b], 0)?;
        assert_eq!((asked.nodes.len(), &asked.outputs[..]), (5, &[4, 1, 4][..]));
        assert_eq!(asked.edges, [0, 1, 1, 2, 3, 0]);
        assert_eq!((asked.inputs.len(), asked.handles()), (1, vec![3]));
        // Handles that nobody walks to are no part of the structure.
        let held: Vec<Tensor> = asked.nodes.iter().map(|visited| visited.tensor.clone()).collect();
        assert_eq!(Asked::collect(&[&b, &a, &b], 0)?.key, asked.key);
        drop(held);
        assert_ne!(Asked::collect(&[&b, &a], 0)?.key, asked.key);
        Ok(())
    }

    #[test]
    fn a_number_is_one_tensor_and_in_the_graph_repeated() -> Result<()> {
        let x = Tensor::ones(&[2, 3], DType::F32, &Device::cpu())?;
        x.eval()?;
        let y = x.add(1.0)?.mul(2.0)?;
        let asked = Asked::collect(&[&y], 0)?;
        assert_eq!((asked.nodes.len(), asked.scalars.len()), (5, 2));
        let AskedGraph { graph, scalars, .. } = asked.graph();
        assert_eq!(graph.len(), 7);
        for number in scalars {
            assert_eq!((&graph.node(number).op, graph.node(number).shape.len()), (&Op::Scalar, 0));
        }
        assert_eq!(graph.iter().filter(|(_, node)| node.op == Op::Expand).count(), 2);
        assert_eq!(y.to_vec::<f32>()?, [4.0; 6]);
        // Other numbers are served by the same plan, other shapes are not.
        assert_eq!(Asked::collect(&[&x.add(3.0)?.mul(4.0)?], 0)?.key, asked.key);
        let wide = Tensor::full(&[2, 3, 1], 5.0, DType::F32, &Device::cpu())?;
        assert_ne!(Asked::collect(&[&wide], 0)?.key, Asked::collect(&[&wide.squeeze(2)?], 0)?.key);
        assert_eq!(wide.to_vec::<f32>()?, [5.0; 6]);
        // On the left it is one too.
        assert_eq!(Asked::collect(&[&(2.0 - &x)?], 0)?.nodes.len(), 3);
        Ok(())
    }
}
