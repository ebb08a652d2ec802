//! Memory of a call: bytes in use over time, and what was alive when most were.

use super::observe::Observed;
use crate::device::{PoolEvent, Ran, Recorded, size_class};
use crate::graph::NodeId;
use crate::schedule::{Place, Plan};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How many of the largest memories are named.
const NAMED: usize = 24;
/// How many points of the curve are kept.
const POINTS: usize = 4000;

/// Memory of the device during a call, as size classes of the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Bytes in use before the call.
    pub before: u64,
    /// The most bytes in use.
    pub peak: u64,
    /// When that was, in seconds since the call began.
    pub peak_at: f64,
    /// Seconds since the call began, and bytes in use from then on.
    pub over_time: Vec<(f64, u64)>,
    /// The largest memories in use at the peak.
    pub alive: Vec<Alive>,
    /// Bytes in use at the peak by all others.
    pub others: u64,
}

/// A memory in use at the peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alive {
    /// "input", "output" or "temporary", and the op that made it; the largest value of a memory that several
    /// temporaries share.
    pub what: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub dtype: String,
    /// The module that made it, or for an input the first that reads it.
    pub module: String,
    /// Its size class.
    pub bytes: u64,
}

/// The most bytes in use, and after which event.
pub(super) fn peak(recorded: &Recorded) -> (u64, Option<usize>) {
    let (mut live, mut most) = (recorded.before, (recorded.before, None));
    for (i, event) in recorded.events.iter().enumerate() {
        live = after(live, event);
        if live > most.0 {
            most = (live, Some(i));
        }
    }
    most
}

fn after(live: u64, event: &PoolEvent) -> u64 {
    if event.taken { live + event.bytes as u64 } else { live.saturating_sub(event.bytes as u64) }
}

/// A memory from when it left the pool to when it came back, in numbers of events.
struct Life {
    bytes: u64,
    /// `None` for before the call.
    from: Option<usize>,
    to: Option<usize>,
    name: Option<Alive>,
}

pub(super) fn memory_use(seen: &Observed) -> MemoryUse {
    let Recorded { before, events } = &seen.recorded;
    let (peak, peak_event) = peak(&seen.recorded);
    let seconds = |event: &PoolEvent| event.at.saturating_duration_since(seen.start).as_secs_f64();
    let mut over_time = vec![(0.0, *before)];
    let mut live = *before;
    for event in events {
        live = after(live, event);
        over_time.push((seconds(event), live));
    }
    let alive_then = |life: &&Life| match peak_event {
        Some(peak) => life.from.is_none_or(|from| from <= peak) && life.to.is_none_or(|to| to > peak),
        None => life.from.is_none(),
    };
    let lives = lives(seen);
    let mut alive: Vec<Alive> =
        lives.iter().filter(alive_then).filter_map(|life| life.name.clone()).collect();
    alive.sort_by_key(|a| std::cmp::Reverse(a.bytes));
    alive.truncate(NAMED);
    let named: u64 = alive.iter().map(|a| a.bytes).sum();
    MemoryUse {
        before: *before,
        peak,
        peak_at: peak_event.map_or(0.0, |i| seconds(&events[i])),
        over_time: thinned(over_time),
        alive,
        others: peak.saturating_sub(named),
    }
}

/// Fewer points of a curve: of those that fall together, the highest.
fn thinned(points: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    let group = points.len().div_ceil(POINTS);
    if group <= 1 {
        return points;
    }
    points.chunks(group).filter_map(|chunk| chunk.iter().max_by_key(|p| p.1).copied()).collect()
}

/// All memories that were in use, those from before as far as a plan used them or they were given back.
fn lives(seen: &Observed) -> Vec<Life> {
    let mut lives: Vec<Life> = vec![];
    let mut now: FxHashMap<usize, usize> = FxHashMap::default();
    let mut events = seen.recorded.events.iter().enumerate().peekable();
    let mut play = |lives: &mut Vec<Life>, now: &mut FxHashMap<usize, usize>, until: Option<&Ran>| {
        let due = |event: &PoolEvent| until.is_none_or(|ran| event.at <= ran.done);
        while let Some((i, event)) = events.next_if(|(_, event)| due(event)) {
            let bytes = event.bytes as u64;
            if event.taken {
                now.insert(event.id, lives.len());
                lives.push(Life { bytes, from: Some(i), to: None, name: None });
            } else {
                match now.remove(&event.id) {
                    Some(life) => lives[life].to = Some(i),
                    None => lives.push(Life { bytes, from: None, to: Some(i), name: None }),
                }
            }
        }
    };
    for ran in &seen.ran {
        play(&mut lives, &mut now, Some(ran));
        for (id, name) in ran.memories.iter().zip(names(&ran.plan)) {
            let Some(name) = name else { continue };
            let life = *now.entry(*id).or_insert_with(|| {
                lives.push(Life { bytes: name.bytes, from: None, to: None, name: None });
                lives.len() - 1
            });
            let bytes = lives[life].bytes;
            lives[life].name.get_or_insert(Alive { bytes, ..name });
        }
    }
    play(&mut lives, &mut now, None);
    lives
}

/// What the inputs, outputs and slots of a plan hold.
fn names(plan: &Plan) -> Vec<Option<Alive>> {
    let name = |what: &str, id: NodeId, module: String| {
        let node = plan.graph.node(id);
        Alive {
            what: what.into(),
            shape: node.shape.to_vec(),
            dtype: node.dtype.to_string(),
            module,
            bytes: size_class(node.numel() * node.dtype.size()) as u64,
        }
    };
    let made_by = |what: &str, id: NodeId| {
        let what = format!("{what} {}", plan.graph.node(id).op.name());
        name(&what, id, plan.graph.scope(id).path())
    };
    let mut reader: FxHashMap<NodeId, String> = FxHashMap::default();
    let mut largest: Vec<Option<(usize, NodeId)>> = vec![None; plan.slots.len()];
    for step in &plan.steps {
        for id in &step.read_nodes {
            reader.entry(*id).or_insert_with(|| step.kernel.scope.path());
        }
        for (place, id) in step.writes.iter().zip(&step.write_nodes) {
            let node = plan.graph.node(*id);
            let bytes = node.numel() * node.dtype.size();
            if let Place::Slot(slot) = *place
                && largest[slot].is_none_or(|(most, _)| bytes > most)
            {
                largest[slot] = Some((bytes, *id));
            }
        }
    }
    let inputs = plan
        .inputs
        .iter()
        .map(|id| id.map(|id| name("input", id, reader.get(&id).cloned().unwrap_or_default())));
    let outputs = plan.outputs.iter().map(|output| Some(made_by("output", output.node)));
    let slots = largest.iter().map(|slot| slot.map(|(_, id)| made_by("temporary", id)));
    inputs.chain(outputs).chain(slots).collect()
}
