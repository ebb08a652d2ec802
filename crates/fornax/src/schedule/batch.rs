//! Kernels that can share a launch, and outputs that can overwrite an input: an optimizer step over a hundred
//! parameters becomes one kernel with a hundred segments that works in place.

use super::lower::Lowered;
use super::order::{Order, may_report};
use crate::graph::{Graph, NodeId, Op};
use crate::kernel::{Body, Inst, Instr, Loop, Source};
use rustc_hash::{FxHashMap, FxHashSet};

/// An output that takes over the memory of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Donation {
    pub output: NodeId,
    pub input: NodeId,
}

/// Finds the outputs that can overwrite the input offered to them, and tells their kernels.
pub(super) fn donate(
    graph: &Graph,
    inputs: &[Option<NodeId>],
    offers: &[(usize, usize)],
    kernels: &mut [Lowered],
) -> Vec<Donation> {
    let mut donated = vec![];
    let mut taken: FxHashSet<NodeId> = FxHashSet::default();
    let writer: FxHashMap<NodeId, (usize, usize)> = kernels
        .iter()
        .enumerate()
        .flat_map(|(i, k)| k.writes.iter().enumerate().map(move |(w, &n)| (n, (i, w))))
        .collect();
    let mut readers: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (i, k) in kernels.iter().enumerate() {
        k.reads.iter().for_each(|&n| readers.entry(n).or_default().push(i));
    }
    let Some(order) = Order::new(kernels, &[]) else { return donated };
    for &(output, input) in offers {
        let (output, Some(input)) = (graph.outputs[output], inputs[input]) else { continue };
        let Some(&(at, write)) = writer.get(&output) else { continue };
        let Some(read) = kernels[at].reads.iter().position(|&n| n == input) else { continue };
        let kernel = &kernels[at].kernel;
        let safe = match &kernel.body {
            // What finds a bad index must leave everything as it was, and so must not overwrite anything itself.
            Body::Loop(body) => point_by_point(body, write, read) && !may_report(kernel),
            Body::ScatterAdd(body) => body.in_place_base() == Some(read),
            _ => false,
        };
        let fits = safe && kernel.reads[read] == kernel.writes[write];
        let last = readers[&input].iter().all(|&r| r == at || !order.precedes(at, r));
        if fits && last && taken.insert(input) && taken.insert(output) {
            kernels[at].kernel.in_place.push((write, read));
            donated.push(Donation { output, input });
        }
    }
    // Readers of one parameter may wait for the writer of another: then nothing is overwritten.
    if Order::new(kernels, &donated).is_none() {
        kernels.iter_mut().for_each(|k| k.kernel.in_place.clear());
        donated.clear();
    }
    donated
}

/// Whether each point of the space reads from `read` only the address that it writes to `write`.
fn point_by_point(body: &Loop, write: usize, read: usize) -> bool {
    body.segments.iter().all(|segment| {
        let store = segment.stores.iter().find(|s| s.write == write);
        segment.loads.iter().all(|load| {
            load.source != Source::Memory(read)
                || store.is_some_and(|s| s.view == load.view && s.view.is_contiguous())
        })
    }) && !body.reduced.contains(&true)
}

/// Joins independent kernels with equal programs into launches with several segments. Joined are kernels whose results
/// all leave the plan (parameter updates), reductions of what those read (gradient norms) or of inputs, and casts of inputs
/// (weights under autocast, which the backward pass reads again): joining others would keep temporaries alive.
pub(super) fn batch(graph: &Graph, mut kernels: Vec<Lowered>, donated: &[Donation]) -> Vec<Lowered> {
    let outputs: FxHashSet<NodeId> = graph.outputs.iter().copied().collect();
    let casts_input = |k: &Lowered, body: &Loop| {
        k.reads.len() == 1
            && graph.node(k.reads[0]).op == Op::Input
            && matches!(
                body.program[..],
                [Instr { inst: Inst::Load(_), .. }, Instr { inst: Inst::Cast(_), .. }]
            )
    };
    let is_update = |k: &Lowered| k.writes.iter().all(|w| outputs.contains(w));
    let read_by_updates: FxHashSet<NodeId> =
        kernels.iter().filter(|k| is_update(k)).flat_map(|k| k.reads.iter().copied()).collect();
    let lasts = |&n: &NodeId| {
        let node = graph.node(n);
        read_by_updates.contains(&n) || node.op == Op::Input || node.numel() == 1
    };
    let mut buckets: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    let mut keys = vec![];
    for (at, k) in kernels.iter().enumerate() {
        let Body::Loop(body) = &k.kernel.body else { continue };
        let reduces = body.reduced.contains(&true)
            && k.kernel.work.bytes_written * 16 < k.kernel.work.bytes_read
            && k.reads.iter().all(lasts);
        let updates = is_update(k) && !body.reduced.contains(&true);
        if body.segments.len() == 1 && (updates || reduces || casts_input(k, body)) {
            let key = program_key(k, body);
            let bucket = buckets.entry(key.clone()).or_default();
            if bucket.is_empty() {
                keys.push(key);
            }
            bucket.push(at);
        }
    }
    let mut gone = vec![false; kernels.len()];
    for key in keys {
        let bucket = &buckets[&key];
        if bucket.len() < 2 {
            continue;
        }
        // Joining one bucket can order the members of another, so look anew each time.
        let alive: Vec<usize> = (0..kernels.len()).filter(|&i| !gone[i]).collect();
        let position: FxHashMap<usize, usize> = alive.iter().enumerate().map(|(p, &i)| (i, p)).collect();
        let present: Vec<Lowered> = alive.iter().map(|&i| kernels[i].clone()).collect();
        let Some(order) = Order::new(&present, donated) else { break };
        let mut joined: Vec<usize> = vec![bucket[0]];
        for &next in &bucket[1..] {
            let independent = |&other: &usize| {
                let (a, b) = (position[&other], position[&next]);
                !order.precedes(a, b) && !order.precedes(b, a)
            };
            if joined.iter().all(independent) {
                joined.push(next);
            }
        }
        for &other in &joined[1..] {
            let from = kernels[other].clone();
            append(&mut kernels[joined[0]], from);
            gone[other] = true;
        }
    }
    kernels.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(k, _)| k).collect()
}

/// What must be equal for two loops to be segments of one: everything but sizes and addresses.
fn program_key(k: &Lowered, body: &Loop) -> impl Clone + std::hash::Hash + Eq + use<> {
    let sources: Vec<Source> = body.segments[0].loads.iter().map(|l| l.source).collect();
    let stores: Vec<usize> = body.segments[0].stores.iter().map(|s| s.write).collect();
    let dtypes: Vec<_> = k.kernel.reads.iter().chain(&k.kernel.writes).map(|p| p.dtype).collect();
    let program = (body.program.clone(), body.stores.clone(), body.segments[0].dims.len());
    (program, body.reduced.clone(), sources, stores, dtypes, k.kernel.in_place.clone(), k.args.clone())
}

/// Adds the segment of `from` to `into`.
fn append(into: &mut Lowered, from: Lowered) {
    let (reads, writes) = (into.kernel.reads.len(), into.kernel.writes.len());
    let (Body::Loop(to), Body::Loop(body)) = (&mut into.kernel.body, from.kernel.body) else { return };
    for mut segment in body.segments {
        for load in &mut segment.loads {
            if let Source::Memory(read) = &mut load.source {
                *read += reads;
            }
        }
        segment.stores.iter_mut().for_each(|s| s.write += writes);
        to.segments.push(segment);
    }
    into.kernel.in_place.extend(from.kernel.in_place.iter().map(|&(w, r)| (w + writes, r + reads)));
    into.kernel.reads.extend(from.kernel.reads);
    into.kernel.writes.extend(from.kernel.writes);
    into.kernel.work.bytes_read += from.kernel.work.bytes_read;
    into.kernel.work.bytes_written += from.kernel.work.bytes_written;
    into.kernel.work.ops += from.kernel.work.ops;
    let name = into.kernel.label.split(' ').next().unwrap_or_default().to_string();
    let dtype = into.kernel.writes[0].dtype;
    let segments = to.segments.len();
    into.kernel.label = format!("{name} {dtype} {segments} segments");
    into.reads.extend(from.reads);
    into.writes.extend(from.writes);
    into.after.extend(from.after);
}
