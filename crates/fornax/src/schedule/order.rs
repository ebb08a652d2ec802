//! The order of a plan's launches, and which of them run side by side: on some devices a launch waits for all before it if it
//! reads or overwrites what one of them has used, and begins beside them if not.

use super::batch::Donation;
use super::lower::Lowered;
use super::plan::{Place, Plan};
use crate::graph::{Graph, NodeId};
use crate::kernel::{Body, Inst, Kernel, Loop};
use rustc_hash::{FxHashMap, FxHashSet};

/// How far a launch may move ahead of others, the best first.
const AHEAD: [usize; 4] = [16, 8, 4, 2];
/// Moving launches ahead keeps what they write for longer: at most one part in so many more memory for temporaries.
const LONGER: usize = 16;

/// Puts launches in order: every one after what it needs, close to the order in which they came. Where launches run side by
/// side, those that need not wait come first, and among those that must the one that waits for most: then others that
/// would wait for some of the same need not any more.
pub(super) fn arrange(
    graph: &Graph,
    kernels: Vec<Lowered>,
    donated: &[Donation],
    side_by_side: bool,
) -> Vec<Lowered> {
    let Some(order) = Order::new(&kernels, donated) else { return kernels };
    let Some(mut sequence) = order.sequence() else { return kernels };
    if side_by_side {
        let most = peak(graph, &kernels, &sequence);
        let most = most + most / LONGER;
        let mut arranged = AHEAD.iter().map(|&ahead| few_waits(&order, &kernels, &sequence, ahead));
        let fitting = arranged.find(|arranged| peak(graph, &kernels, arranged) <= most);
        sequence = fitting.unwrap_or(sequence);
    }
    let mut kernels: Vec<Option<Lowered>> = kernels.into_iter().map(Some).collect();
    sequence.into_iter().filter_map(|at| kernels[at].take()).collect()
}

/// An order in which few launches must wait for others, from one that is possible.
fn few_waits(order: &Order, kernels: &[Lowered], possible: &[usize], ahead: usize) -> Vec<usize> {
    let mut unsettled = Unsettled::default();
    let mut left = possible.to_vec();
    let mut launched = vec![false; left.len()];
    let mut sequence = Vec::with_capacity(left.len());
    while !left.is_empty() {
        // Nothing is overwritten before all have looked at their indices that did so before: a step that fails must leave
        // everything as it was.
        let mut reports = false;
        let near = left.iter().enumerate().take(ahead);
        let ready = near.filter(|(_, at)| {
            let kernel = &kernels[**at].kernel;
            let waits = reports && !kernel.in_place.is_empty();
            reports |= may_report(kernel);
            !waits && order.before[**at].iter().all(|&b| launched[b])
        });
        let waits = ready.map(|(i, &at)| (i, unsettled.waits(&kernels[at])));
        // The first of the best; the first launch that is left is always ready.
        let best = waits.min_by_key(|&(_, waits)| if waits == 0 { 0 } else { usize::MAX - waits });
        let at = left.remove(best.map_or(0, |(i, _)| i));
        unsettled.launch(&kernels[at]);
        launched[at] = true;
        sequence.push(at);
    }
    sequence
}

/// Whether a kernel may find an index that is out of range.
pub(super) fn may_report(kernel: &Kernel) -> bool {
    let gathers = |body: &Loop| body.program.iter().any(|i| matches!(i.inst, Inst::Gather { .. }));
    match &kernel.body {
        Body::Loop(body) => gathers(body),
        Body::MatMul(body) => gathers(&body.epilogue),
        Body::ScatterAdd(_) => true,
        _ => false,
    }
}

/// The most bytes of temporaries at a time, in an order of launches.
fn peak(graph: &Graph, kernels: &[Lowered], sequence: &[usize]) -> usize {
    let outputs: FxHashSet<NodeId> = graph.outputs.iter().copied().collect();
    let mut last: FxHashMap<NodeId, usize> = FxHashMap::default();
    for (i, &at) in sequence.iter().enumerate() {
        kernels[at].reads.iter().chain(&kernels[at].writes).for_each(|&n| {
            last.insert(n, i);
        });
    }
    let mut sizes: FxHashMap<NodeId, usize> = FxHashMap::default();
    let (mut live, mut most) = (0, 0);
    for (i, &at) in sequence.iter().enumerate() {
        let launch = &kernels[at];
        for (&n, port) in
            launch.writes.iter().zip(&launch.kernel.writes).filter(|(n, _)| !outputs.contains(n))
        {
            let size = port.len * port.dtype.size();
            live += size;
            sizes.insert(n, size);
        }
        most = most.max(live);
        for n in launch.reads.iter().chain(&launch.writes).filter(|n| last[*n] == i) {
            live -= sizes.remove(n).unwrap_or(0);
        }
    }
    most
}

/// Tells the products of a finished plan how many equal ones run beside them. One that is a plan by itself is evaluated
/// again and again, and what the evaluations do with each other's results is not known: mostly nothing.
pub(super) fn tell_products(plan: &mut Plan) {
    if let [step] = &mut plan.steps[..]
        && matches!(step.kernel.body, Body::MatMul(_))
    {
        step.kernel.beside = 1 << MOST_BESIDE;
        return;
    }
    let waits = waits(plan);
    let mut rest = &mut plan.steps[..];
    let mut from = 0;
    while !rest.is_empty() {
        let beside = waits[from + 1..].iter().take_while(|waits| !**waits).count();
        let (group, others) = rest.split_at_mut(1 + beside);
        let mut equal: FxHashMap<Body, usize> = FxHashMap::default();
        for step in group.iter().filter(|step| matches!(step.kernel.body, Body::MatMul(_))) {
            *equal.entry(step.kernel.body.clone()).or_default() += 1;
        }
        for step in group {
            let count = equal.get(&step.kernel.body).copied().unwrap_or(1);
            step.kernel.beside = 1 << count.ilog2().min(MOST_BESIDE);
        }
        (rest, from) = (others, from + 1 + beside);
    }
}

/// Among more than so many, as a power of two, a product runs as it does among so many.
const MOST_BESIDE: u32 = 3;

/// For each launch of a plan whether it waits for those before it.
pub(super) fn waits(plan: &Plan) -> Vec<bool> {
    // An output that takes over an input's memory is that memory.
    let memory = |place: &Place| match *place {
        Place::Output(at) => plan.outputs[at].takes.map_or(*place, Place::Input),
        _ => *place,
    };
    // Memories that were used, and whether the last use wrote them.
    let mut written: FxHashMap<Place, bool> = FxHashMap::default();
    let mut waits = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let writes: Vec<Place> = step.writes.iter().map(memory).collect();
        let mut wait = false;
        for read in step.reads.iter().map(memory).filter(|read| !writes.contains(read)) {
            wait |= written.insert(read, false) == Some(true);
        }
        for write in writes {
            wait |= written.insert(write, true).is_some();
        }
        waits.push(wait);
    }
    waits
}

/// What launches have written and none has waited for yet. A launch that reads some of it waits for all launches before it.
#[derive(Default)]
pub(super) struct Unsettled(FxHashSet<NodeId>);

impl Unsettled {
    /// For how many of its reads a launch must wait.
    pub fn waits(&self, launch: &Lowered) -> usize {
        launch.reads.iter().filter(|n| self.0.contains(n)).count()
    }

    pub fn launch(&mut self, launch: &Lowered) {
        launch.reads.iter().for_each(|n| {
            self.0.remove(n);
        });
        self.0.extend(&launch.writes);
    }
}

/// Who must run before whom: producers before users, and readers of an overwritten input before its writer.
pub(super) struct Order {
    before: Vec<Vec<usize>>,
    /// Per kernel a bit for every kernel that must run before it, directly or not.
    ancestors: Vec<Vec<u64>>,
}

impl Order {
    /// `None` if the kernels wait for each other in a circle.
    pub fn new(kernels: &[Lowered], donated: &[Donation]) -> Option<Order> {
        let writer: FxHashMap<NodeId, usize> =
            kernels.iter().enumerate().flat_map(|(i, k)| k.writes.iter().map(move |&n| (n, i))).collect();
        let mut before: Vec<Vec<usize>> = kernels
            .iter()
            .enumerate()
            .map(|(i, k)| {
                let needs = k.reads.iter().chain(&k.after).filter_map(|n| writer.get(n)).copied();
                needs.filter(|&w| w != i).collect()
            })
            .collect();
        for donation in donated {
            let Some(&last) = writer.get(&donation.output) else { continue };
            for (i, k) in kernels.iter().enumerate() {
                if i != last && k.reads.contains(&donation.input) {
                    before[last].push(i);
                }
            }
        }
        for list in &mut before {
            list.sort_unstable();
            list.dedup();
        }
        let words = kernels.len().div_ceil(64);
        let mut order = Order { before, ancestors: vec![vec![0; words]; kernels.len()] };
        let sequence = order.sequence()?;
        for at in sequence {
            let mut bits = vec![0u64; words];
            for &b in &order.before[at] {
                bits[b / 64] |= 1 << (b % 64);
                bits.iter_mut().zip(&order.ancestors[b]).for_each(|(x, y)| *x |= y);
            }
            order.ancestors[at] = bits;
        }
        Some(order)
    }

    /// An order that keeps close to the kernels' numbers, or `None` if there is none.
    fn sequence(&self) -> Option<Vec<usize>> {
        let mut waiting: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut users: Vec<Vec<usize>> = vec![vec![]; self.before.len()];
        for (at, list) in self.before.iter().enumerate() {
            list.iter().for_each(|&b| users[b].push(at));
        }
        let mut ready: std::collections::BinaryHeap<_> =
            (0..waiting.len()).filter(|&i| waiting[i] == 0).map(std::cmp::Reverse).collect();
        let mut sequence = Vec::with_capacity(waiting.len());
        while let Some(std::cmp::Reverse(at)) = ready.pop() {
            sequence.push(at);
            for &user in &users[at] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    ready.push(std::cmp::Reverse(user));
                }
            }
        }
        (sequence.len() == waiting.len()).then_some(sequence)
    }

    pub fn precedes(&self, a: usize, b: usize) -> bool {
        self.ancestors[b][a / 64] >> (a % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asked;
    use crate::error::Result;
    use crate::schedule::memory::APART;
    use crate::schedule::{Request, schedule};
    use crate::{DType, Device, Tensor};

    /// The plan of some tensors where launches run one after another, and where they run side by side.
    fn plans(targets: &[&Tensor]) -> Result<[Plan; 2]> {
        let asked = Asked::collect(targets, 0)?;
        let plan = |side_by_side| {
            let form = asked.graph();
            schedule(&Request {
                graph: &form.graph,
                inputs: &form.inputs,
                scalars: &form.scalars,
                donations: &[],
                fusion: true,
                memories: usize::MAX,
                side_by_side,
                line: 1,
                largest: usize::MAX,
            })
        };
        Ok([plan(false)?, plan(true)?])
    }

    fn data(shape: &[usize]) -> Result<Tensor> {
        let x = Tensor::ones(shape, DType::F32, &Device::cpu())?;
        x.eval().map(|()| x)
    }

    #[test]
    fn who_waits_for_most_comes_first() -> Result<()> {
        let w = data(&[32, 32])?;
        let (p, q) = (data(&[8, 32])?.matmul(&w)?, data(&[8, 32])?.matmul(&w)?);
        // One launch that reads the first only, then one that reads both.
        let (one, both) = (p.matmul(&w)?, p.matmul(&q.t()?)?);
        let [plain, arranged] = plans(&[&one, &both])?;
        assert_eq!([plain.launches(), arranged.launches()], [4, 4]);
        assert_eq!([plain.waits(), arranged.waits()], [2, 1], "{plain}{arranged}");
        Ok(())
    }

    #[test]
    fn a_chain_waits_at_every_link() -> Result<()> {
        let (w, mut chain) = (data(&[64, 64])?, data(&[128, 64])?);
        for _ in 0..12 {
            chain = chain.matmul(&w)?;
        }
        let [plain, arranged] = plans(&[&chain])?;
        assert_eq!([plain.waits(), arranged.waits()], [11, 11]);
        assert_eq!(plain.temporary_bytes(), arranged.temporary_bytes());
        Ok(())
    }

    #[test]
    fn memory_of_its_own_saves_a_launch_from_waiting() -> Result<()> {
        let (x, w) = (data(&[1024, 64])?, data(&[64, 64])?);
        let mut chain = x.matmul(&data(&[64, 2048])?)?.matmul(&data(&[2048, 64])?)?;
        for _ in 0..2 * AHEAD[0] {
            chain = chain.matmul(&w)?;
        }
        // So late that memory of the chain's is free, and waits for nothing else.
        let late = data(&[1024, 64])?.matmul(&w)?;
        let [plain, arranged] = plans(&[&chain, &chain.matmul(&late.t()?)?])?;
        assert_eq!(plain.launches(), arranged.launches());
        assert_eq!(plain.waits(), plain.launches() - 1, "{plain}");
        assert_eq!(arranged.waits(), arranged.launches() - 2, "{arranged}");
        let (most, bytes) = (plain.temporary_bytes() * (APART + 1) / APART, arranged.temporary_bytes());
        assert!(bytes > plain.temporary_bytes() && bytes <= most, "{bytes}");
        Ok(())
    }

    #[test]
    fn parts_that_share_memory_one_after_another_still_do() -> Result<()> {
        let w = data(&[64, 4096])?;
        let parts = (0..32).map(|_| {
            let scores = data(&[32, 64])?.matmul(&w)?;
            scores.softmax(-1)?.matmul(&w.t()?)
        });
        let parts = parts.collect::<Result<Vec<Tensor>>>()?;
        let [plain, arranged] = plans(&[&Tensor::cat(&parts.iter().collect::<Vec<_>>(), 0)?])?;
        let (bytes, most) = (arranged.temporary_bytes(), plain.temporary_bytes() * 5 / 4);
        assert!(bytes <= most, "{bytes} bytes where {} were enough", plain.temporary_bytes());
        Ok(())
    }

    #[test]
    fn nothing_is_overwritten_before_indices_were_looked_at() -> Result<()> {
        let device = Device::cpu();
        let (table, x) = (data(&[100, 64])?, data(&[64, 64])?);
        let ids = Tensor::zeros(&[300], DType::I64, &device)?;
        ids.eval()?;
        let (p, q) = (x.matmul(&x)?.fence(), x.t()?.matmul(&x)?.fence());
        // Waits for one, and may report; what overwrites an input waits for two.
        let found = Tensor::embedding(&table.mul(&p.narrow(0, 0, 1)?.sum_all()?)?, &ids)?.matmul(&x)?;
        let old = data(&[64, 64])?;
        let new = old.add(&p)?.add(&q)?;
        let asked = Asked::collect(&[&found, &new], 0)?;
        let form = asked.graph();
        let input = asked
            .inputs
            .iter()
            .position(|(_, buffer)| old.buffer().is_some_and(|own| own.id() == buffer.id()));
        let plan = schedule(&Request {
            graph: &form.graph,
            inputs: &form.inputs,
            scalars: &form.scalars,
            donations: &[(1, input.unwrap_or(0))],
            fusion: true,
            memories: usize::MAX,
            side_by_side: true,
            line: 1,
            largest: usize::MAX,
        })?;
        let at = |fits: &dyn Fn(&Kernel) -> bool| plan.steps.iter().position(|step| fits(&step.kernel));
        let (reports, overwrites) = (at(&may_report), at(&|kernel| !kernel.in_place.is_empty()));
        assert!(reports.is_some() && overwrites > reports, "{plan}");
        Ok(())
    }

    #[test]
    fn products_know_how_many_equal_ones_run_beside_them() -> Result<()> {
        let products = |shapes: &[[usize; 3]]| -> Result<Vec<Tensor>> {
            shapes.iter().map(|&[m, n, k]| data(&[m, k])?.matmul(&data(&[k, n])?)).collect()
        };
        let beside = |targets: &[Tensor]| -> Result<Vec<usize>> {
            let [plain, arranged] = plans(&targets.iter().collect::<Vec<_>>())?;
            assert!(plain.steps.iter().all(|step| step.kernel.beside == 1));
            Ok(arranged.steps.iter().map(|step| step.kernel.beside).collect())
        };
        let same = [32, 48, 64];
        assert_eq!(beside(&products(&[same; 1])?)?, [8]);
        assert_eq!(beside(&products(&[same; 3])?)?, [2; 3]);
        assert_eq!(beside(&products(&[same; 20])?)?, [8; 20]);
        assert_eq!(beside(&products(&[same, same, [32, 48, 96]])?)?, [2, 2, 1]);
        // One after another.
        let (x, w) = (data(&[32, 32])?, data(&[32, 32])?);
        assert_eq!(beside(&[x.matmul(&w)?.matmul(&w)?.matmul(&w)?])?, [1; 3]);
        Ok(())
    }
}
