//! A place for every value: inputs and outputs are given at launch, temporaries share slots by liveness. A
//! slot is a buffer of its own, so that devices see which launches are independent.

use super::batch::Donation;
use super::lower::Lowered;
use super::order::Unsettled;
use super::plan::{Output, Place, Plan, Step};
use crate::device::size_class_within;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::kernel::Body;
use rustc_hash::FxHashMap;

/// Slots that keep launches from waiting take at most one part in so many of all.
pub(super) const APART: usize = 8;

pub(super) fn place(
    graph: Graph,
    mut kernels: Vec<Lowered>,
    inputs: &[Option<NodeId>],
    scalars: &[Option<NodeId>],
    donated: &[Donation],
    side_by_side: bool,
    largest: usize,
) -> Result<Plan> {
    // A kernel says how many elements its results take, with what lies between rows.
    let written =
        kernels.iter().flat_map(|k| k.writes.iter().copied().zip(k.kernel.writes.iter().map(|p| p.len)));
    let written: FxHashMap<NodeId, usize> = written.collect();
    let bytes = |id: NodeId| {
        let node = graph.node(id);
        written.get(&id).copied().unwrap_or(node.numel()) * node.dtype.size()
    };
    let mut places: FxHashMap<NodeId, Place> = FxHashMap::default();
    for (i, input) in inputs.iter().enumerate() {
        if let Some(id) = input {
            places.insert(*id, Place::Input(i));
        }
    }
    let mut outputs: Vec<Output> = vec![];
    let mut answers = vec![];
    for &id in &graph.outputs {
        let at = match places.get(&id) {
            Some(Place::Output(at)) => *at,
            _ => {
                let input =
                    donated.iter().find(|d| d.output == id).and_then(|d| match places.get(&d.input) {
                        Some(Place::Input(i)) => Some(*i),
                        _ => None,
                    });
                places.insert(id, Place::Output(outputs.len()));
                outputs.push(Output { bytes: bytes(id), takes: input, node: id });
                outputs.len() - 1
            }
        };
        answers.push(at);
    }
    let mut last_use: FxHashMap<NodeId, usize> = FxHashMap::default();
    for (at, k) in kernels.iter().enumerate() {
        k.reads.iter().chain(&k.writes).for_each(|&n| {
            last_use.insert(n, at);
        });
    }
    let mut slots: Vec<usize> = vec![];
    let (mut unsettled, mut apart) = (Unsettled::default(), 0);
    let mut free: Vec<usize> = vec![];
    let mut peak = 0;
    let mut live: Vec<NodeId> = vec![];
    let mut at_peak: Vec<NodeId> = vec![];
    for (at, k) in kernels.iter_mut().enumerate() {
        if let Body::ScatterAdd(body) = &k.kernel.body
            && let Some(base) = body.in_place_base()
            && let (Some(&Place::Slot(slot)), None) = (places.get(&k.reads[base]), places.get(&k.writes[0]))
            && last_use[&k.reads[base]] == at
        {
            // A scatter-add into a temporary that dies here works on it directly.
            let (from, to) = (k.reads[base], k.writes[0]);
            places.insert(to, Place::Slot(slot));
            live.retain(|&n| n != from);
            live.push(to);
            last_use.remove(&from);
            k.kernel.in_place.push((0, base));
        }
        let waits = !side_by_side || unsettled.waits(k) > 0;
        unsettled.launch(k);
        for &id in &k.writes {
            if places.contains_key(&id) {
                continue;
            }
            let size = size_class_within(bytes(id), largest);
            // A launch that need not wait would have to for a slot that was used before.
            let own = !waits && apart + size <= slots.iter().sum::<usize>() / APART;
            apart += if own { size } else { 0 };
            // The smallest free slot that is large enough and not much too large; otherwise a new one.
            let fits = |slot: usize| !own && slots[slot] >= size && slots[slot] <= 2 * size;
            let best = free.iter().enumerate().filter(|(_, s)| fits(**s));
            let slot = match best.min_by_key(|(_, s)| slots[**s]).map(|(i, _)| i) {
                Some(i) => free.swap_remove(i),
                None => {
                    slots.push(size);
                    slots.len() - 1
                }
            };
            places.insert(id, Place::Slot(slot));
            live.push(id);
        }
        let used: usize = live.iter().map(|&n| bytes(n)).sum();
        if used > peak {
            peak = used;
            at_peak.clone_from(&live);
        }
        live.retain(|n| {
            let dead = last_use.get(n) == Some(&at);
            if let (true, Some(Place::Slot(slot))) = (dead, places.get(n)) {
                free.push(*slot);
            }
            !dead
        });
    }
    let arg_of: FxHashMap<NodeId, usize> =
        scalars.iter().enumerate().filter_map(|(i, s)| s.map(|id| (id, i))).collect();
    let lookup = |id: &NodeId| {
        places.get(id).copied().ok_or_else(|| Error::Internal(format!("node {} has no place", id.0)))
    };
    let mut steps = vec![];
    for k in kernels {
        steps.push(Step {
            reads: k.reads.iter().map(lookup).collect::<Result<_>>()?,
            writes: k.writes.iter().map(lookup).collect::<Result<_>>()?,
            args: k
                .args
                .iter()
                .map(|a| arg_of.get(a).copied().ok_or_else(|| Error::Internal("a lost scalar".into())))
                .collect::<Result<_>>()?,
            kernel: k.kernel,
            read_nodes: k.reads,
            write_nodes: k.writes,
        });
    }
    let input_bytes = inputs.iter().flatten().map(|&id| bytes(id)).sum();
    Ok(Plan {
        steps,
        slots,
        outputs,
        answers,
        inputs: inputs.to_vec(),
        scalars: scalars.to_vec(),
        input_bytes,
        at_peak,
        graph,
        device: 0,
        pipelines: Default::default(),
    })
}
