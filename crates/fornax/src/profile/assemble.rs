//! From what was seen of calls to a [`Profile`]: launches on one clock, kernels by label, modules by path, phases.

use super::advice::{self, Evidence};
use super::observe::{Observed, middle};
use super::sample::Sampled;
use super::{
    Counts, KernelTime, LaunchTime, ModuleTime, PartTime, PhaseTime, Profile, Roof, SpanTime, Spread,
};
use super::{Phase, Timeline, memory};
use crate::device::Device;
use crate::graph::NodeId;
use crate::kernel::{Body, Work};
use crate::profile::Arithmetic;
use crate::schedule::{Place, Plan};
use crate::scope::Scope;
use rustc_hash::FxHashMap;

/// How many spans and launches a timeline keeps.
const KEPT: usize = 20_000;

/// One launch of a call.
#[derive(Clone, Debug)]
pub(super) struct Launched {
    /// Its kernel among the profile's.
    pub kernel: usize,
    pub label: String,
    pub scope: Scope,
    /// Which evaluation of the call it belongs to.
    pub plan: usize,
    pub begin: f64,
    pub end: f64,
    pub work: Work,
    pub arithmetic: Arithmetic,
    pub form: Form,
    /// Bytes of its first result.
    pub result: u64,
    /// What it reads that another launch of its plan wrote.
    pub sources: Vec<Source>,
}

impl Launched {
    pub fn seconds(&self) -> f64 {
        (self.end - self.begin).max(0.0)
    }
}

/// The shape of a kernel, as far as advice asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A loop over one space without reductions.
    Map,
    /// A matrix product.
    Product,
    Other,
}

/// A value that one launch wrote and another reads.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Who wrote it, among all launches.
    pub launch: usize,
    pub bytes: u64,
    /// Whether nobody else reads it, and nobody asked for it.
    pub only: bool,
}

/// `free` are calls that nobody timed.
pub(super) fn assemble(
    device: &Device,
    name: &str,
    roof: Option<Roof>,
    free: Option<&[Observed]>,
    sampled: Sampled,
) -> Profile {
    let Sampled { shown, times, busy, overhead, cost } = sampled;
    let undisturbed = free.is_some();
    let calls = free.unwrap_or(std::slice::from_ref(&shown));
    let wall = Spread::of(&calls.iter().map(Observed::wall).collect::<Vec<_>>());
    let typical = &calls[middle(calls, Observed::wall)];
    let mut launches = launches(&shown, &times);
    let kernels = kernels(&mut launches, &times, roof.as_ref());
    let (modules, module_of) = modules(&launches);
    // Timing submits in another way, unless the host runs the kernels itself.
    let counts = Counts::of(typical, undisturbed || device.clock() == crate::device::Clock::Host);
    let mut profile = Profile {
        format: super::json::FORMAT.into(),
        name: name.into(),
        device: device.name(),
        clock: device.clock(),
        roof,
        wall,
        undisturbed,
        busy,
        remainder: busy - launches.iter().map(Launched::seconds).sum::<f64>(),
        overhead,
        timing: cost,
        phases: phases(typical),
        counts,
        kernels,
        modules,
        memory: memory::memory_use(&shown),
        timeline: timeline(&shown, &launches, &module_of),
        advice: vec![],
    };
    profile.advice = advice::advise(&Evidence { profile: &profile, launches: &launches });
    profile
}

/// All launches on the host's clock, each as long as its median. Their `kernel` is still to be found.
fn launches(seen: &Observed, times: &[Vec<(f64, f64)>]) -> Vec<Launched> {
    let mut all: Vec<Launched> = vec![];
    // The device's clock is laid over the host's as late as possible, so that every plan ends before the host knew.
    let mut offset = f64::INFINITY;
    let mut until = f64::NEG_INFINITY;
    for (number, ran) in seen.ran.iter().enumerate() {
        let (first, begun) = (all.len(), ran.times.whole().map_or(0.0, |whole| whole.0));
        for (step, sources) in ran.plan.steps.iter().zip(sources(&ran.plan)) {
            let (after, seconds) = typical(&times[all.len()]);
            // Neighbours may have been timed in different calls; they ran one after the other all the same.
            let begin = until.max(begun + after);
            until = begin + seconds;
            let kernel = &step.kernel;
            all.push(Launched {
                kernel: 0,
                label: kernel.label.clone(),
                scope: kernel.scope,
                plan: number,
                begin,
                end: until,
                work: kernel.work,
                arithmetic: Arithmetic::of(kernel),
                form: form(&kernel.body),
                result: kernel.writes.first().map_or(0, |p| (p.len * p.dtype.size()) as u64),
                sources: sources.into_iter().map(|s| Source { launch: first + s.launch, ..s }).collect(),
            });
        }
        if all.len() > first {
            offset = offset.min(ran.done.saturating_duration_since(seen.start).as_secs_f64() - until);
        }
    }
    for launch in &mut all {
        (launch.begin, launch.end) = (launch.begin + offset, launch.end + offset);
    }
    all
}

/// The measurement of a launch with the median time.
fn typical(times: &[(f64, f64)]) -> (f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    sorted.get(sorted.len() / 2).copied().unwrap_or((0.0, 0.0))
}

fn form(body: &Body) -> Form {
    match body {
        Body::Loop(l) if l.segments.len() == 1 && !l.reduced.contains(&true) => Form::Map,
        Body::MatMul(_) => Form::Product,
        _ => Form::Other,
    }
}

/// For every step of a plan, what it reads that an earlier one wrote.
fn sources(plan: &Plan) -> Vec<Vec<Source>> {
    let mut writer: FxHashMap<NodeId, (usize, bool)> = FxHashMap::default();
    let mut readers: FxHashMap<NodeId, usize> = FxHashMap::default();
    for (i, step) in plan.steps.iter().enumerate() {
        for (id, place) in step.write_nodes.iter().zip(&step.writes) {
            writer.insert(*id, (i, matches!(place, Place::Slot(_))));
        }
        for id in &step.read_nodes {
            *readers.entry(*id).or_default() += 1;
        }
    }
    let of = |id: &NodeId| {
        let &(launch, temporary) = writer.get(id)?;
        let node = plan.graph.node(*id);
        let bytes = (node.numel() * node.dtype.size()) as u64;
        Some(Source { launch, bytes, only: temporary && readers.get(id) == Some(&1) })
    };
    plan.steps.iter().map(|step| step.read_nodes.iter().filter_map(of).collect()).collect()
}

/// Launches by label, the slowest first; tells every launch its kernel.
fn kernels(launches: &mut [Launched], times: &[Vec<(f64, f64)>], roof: Option<&Roof>) -> Vec<KernelTime> {
    let mut index: FxHashMap<String, usize> = FxHashMap::default();
    let mut rows: Vec<(KernelTime, f64)> = vec![];
    for launch in launches.iter_mut() {
        launch.kernel = *index.entry(launch.label.clone()).or_insert_with(|| {
            rows.push((empty(&launch.label, launch.arithmetic), 0.0));
            rows.len() - 1
        });
        let (row, least) = &mut rows[launch.kernel];
        row.count += 1;
        row.seconds += launch.seconds();
        row.bytes_read += launch.work.bytes_read;
        row.bytes_written += launch.work.bytes_written;
        row.ops += launch.work.ops;
        if let Some(roof) = roof {
            let (seconds, bound) = roof.least(&launch.work, launch.arithmetic);
            *least += seconds;
            row.bound = Some(bound);
        }
    }
    for ((row, _), totals) in rows.iter_mut().zip(totals(launches, times)) {
        if totals.len() > 1 {
            let spread = Spread::of(&totals);
            row.spread = Some((spread.low.min(row.seconds), spread.high.max(row.seconds)));
        }
    }
    for (row, least) in &mut rows {
        // A clock too coarse for a kernel says that it took no time: then nothing is known of its speed.
        let per_second = |amount: u64| (row.seconds > 0.0 && amount > 0).then(|| amount as f64 / row.seconds);
        row.bandwidth = per_second(row.bytes_read + row.bytes_written);
        row.rate = per_second(row.ops);
        row.of_roof = roof.and((row.seconds > 0.0).then(|| *least / row.seconds));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[b].0.seconds.total_cmp(&rows[a].0.seconds));
    let mut place = vec![0; rows.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    launches.iter_mut().for_each(|launch| launch.kernel = place[launch.kernel]);
    order.into_iter().map(|i| rows[i].0.clone()).collect()
}

fn empty(label: &str, arithmetic: Arithmetic) -> KernelTime {
    KernelTime {
        label: label.into(),
        count: 0,
        seconds: 0.0,
        spread: None,
        bytes_read: 0,
        bytes_written: 0,
        ops: 0,
        bandwidth: None,
        rate: None,
        arithmetic,
        bound: None,
        of_roof: None,
    }
}

/// Seconds of every kernel, for each time that all its launches were timed.
fn totals(launches: &[Launched], times: &[Vec<(f64, f64)>]) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = vec![];
    for (launch, times) in launches.iter().zip(times) {
        all.resize_with(all.len().max(launch.kernel + 1), Vec::new);
        let row = &mut all[launch.kernel];
        row.resize(times.len(), 0.0);
        row.iter_mut().zip(times).for_each(|(sum, (_, seconds))| *sum += seconds);
    }
    all
}

/// Every path with what is inside it, in the order in which paths were met; and which one each launch belongs to.
fn modules(launches: &[Launched]) -> (Vec<ModuleTime>, Vec<usize>) {
    let mut rows: Vec<ModuleTime> = vec![];
    let mut index: FxHashMap<String, usize> = FxHashMap::default();
    let mut own = vec![];
    for launch in launches {
        let path = launch.scope.path();
        let ends = path.match_indices('/').map(|(i, _)| i).chain([path.len()]);
        for (depth, end) in ends.enumerate() {
            let row = *index.entry(path[..end].to_string()).or_insert_with(|| {
                let (forward, backward) = (PartTime::default(), PartTime::default());
                rows.push(ModuleTime { path: path[..end].into(), depth, forward, backward });
                rows.len() - 1
            });
            let part = match launch.scope.is_backward() {
                true => &mut rows[row].backward,
                false => &mut rows[row].forward,
            };
            part.launches += 1;
            part.seconds += launch.seconds();
            if end == path.len() {
                own.push(row);
            }
        }
    }
    let order = nested(&rows);
    let mut place = vec![0; rows.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    (order.iter().map(|&i| rows[i].clone()).collect(), own.into_iter().map(|row| place[row]).collect())
}

/// The rows in an order in which each is followed by those inside it.
fn nested(rows: &[ModuleTime]) -> Vec<usize> {
    let mut inside: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut stack = vec![];
    for (i, row) in rows.iter().enumerate().rev() {
        match row.path.rsplit_once('/') {
            Some((parent, _)) => inside.entry(parent).or_default().push(i),
            None => stack.push(i),
        }
    }
    let mut order = vec![];
    while let Some(i) = stack.pop() {
        order.push(i);
        stack.extend(inside.get(rows[i].path.as_str()).into_iter().flatten());
    }
    order
}

/// The calling thread's spans in order, with their depth.
fn spans(seen: &Observed) -> Vec<SpanTime> {
    let seconds = |at: web_time::Instant| at.saturating_duration_since(seen.start).as_secs_f64();
    let mut spans: Vec<SpanTime> = seen
        .spans
        .iter()
        .map(|s| SpanTime { phase: s.phase, begin: seconds(s.begin), end: seconds(s.end), depth: 0 })
        .collect();
    // Stable, and inner spans were recorded first: reversed, equal beginnings have the outer one first.
    spans.reverse();
    spans.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    let mut open: Vec<f64> = vec![];
    for span in &mut spans {
        while open.last().is_some_and(|&end| end < span.end || end <= span.begin) {
            open.pop();
        }
        span.depth = open.len();
        open.push(span.end);
    }
    spans
}

/// Seconds of every phase without those inside it; what is left of the wall's time is the graph's.
fn phases(seen: &Observed) -> Vec<PhaseTime> {
    let mut times = Phase::ALL.map(|phase| PhaseTime { phase, seconds: 0.0, count: 0, bytes: 0 });
    times[0].seconds = seen.wall();
    let mut open: Vec<Phase> = vec![Phase::Graph];
    for span in spans(seen) {
        open.truncate(span.depth + 1);
        let length = span.end - span.begin;
        times[open[span.depth] as usize].seconds -= length;
        times[span.phase as usize].seconds += length;
        open.push(span.phase);
    }
    for span in &seen.spans {
        times[span.phase as usize].count += 1;
        times[span.phase as usize].bytes += span.bytes;
    }
    times[0].count = 1;
    times.into_iter().filter(|t| t.count > 0).collect()
}

fn timeline(seen: &Observed, launches: &[Launched], module_of: &[usize]) -> Timeline {
    let mut spans = spans(seen);
    let cut = spans.len() > KEPT || launches.len() > KEPT;
    spans.truncate(KEPT);
    let launches = launches.iter().zip(module_of).take(KEPT).map(|(launch, &module)| LaunchTime {
        kernel: launch.kernel,
        module,
        backward: launch.scope.is_backward(),
        begin: launch.begin,
        end: launch.end,
    });
    Timeline { length: seen.wall(), spans, launches: launches.collect(), cut }
}
