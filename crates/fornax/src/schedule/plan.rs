//! A finished plan: kernels in order, a place for every value, and what it will cost, before it runs.

use crate::device::Pipeline;
use crate::graph::{Graph, NodeId};
use crate::kernel::{Kernel, Work};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Where a value lies during a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Memory of a tensor that was computed before.
    Input(usize),
    /// Memory of a tensor that was asked for.
    Output(usize),
    /// Shared memory for temporaries.
    Slot(usize),
}

/// One kernel of a plan and the places it works on.
pub struct Step {
    /// What it does.
    pub kernel: Kernel,
    /// One place for each of `kernel.reads`.
    pub reads: Vec<Place>,
    /// One place for each of `kernel.writes`.
    pub writes: Vec<Place>,
    /// Which launch argument of the plan each of `kernel.args` is.
    pub args: Vec<usize>,
    pub(crate) read_nodes: Vec<NodeId>,
    pub(crate) write_nodes: Vec<NodeId>,
}

/// A value that was asked for.
pub(crate) struct Output {
    pub bytes: usize,
    /// The input whose memory it takes over, if the launch offers it.
    pub takes: Option<usize>,
    pub node: NodeId,
}

/// Kernels in order with their memory: everything about an evaluation but the data and the scalars.
pub struct Plan {
    /// The kernels, in the order in which they run.
    pub steps: Vec<Step>,
    /// Bytes of the buffers that temporaries share.
    pub slots: Vec<usize>,
    pub(crate) outputs: Vec<Output>,
    /// Which output each asked value is.
    pub(crate) answers: Vec<usize>,
    pub(crate) inputs: Vec<Option<NodeId>>,
    pub(crate) scalars: Vec<Option<NodeId>>,
    pub(crate) input_bytes: usize,
    /// Temporaries alive when most bytes of them are.
    pub(crate) at_peak: Vec<NodeId>,
    pub(crate) graph: Graph,
    /// The number of the device that it was made for.
    pub(crate) device: u64,
    /// A compiled form for each step, from the first launch or [`crate::Device::prewarm`] on.
    pub(crate) pipelines: OnceLock<Vec<Arc<dyn Pipeline>>>,
}

impl Plan {
    /// How many kernels it launches.
    pub fn launches(&self) -> usize {
        self.steps.len()
    }

    /// How many launches wait for those before them, where others run side by side: they read or overwrite what one of those
    /// has used. What a device adds for itself, such as memory for unfinished sums, is not counted.
    pub fn waits(&self) -> usize {
        super::order::waits(self).into_iter().filter(|waits| *waits).count()
    }

    /// Bytes for temporaries.
    pub fn temporary_bytes(&self) -> usize {
        self.slots.iter().sum()
    }

    /// Bytes of results that do not overwrite an input.
    pub fn output_bytes(&self) -> usize {
        self.outputs.iter().filter(|o| o.takes.is_none()).map(|o| o.bytes).sum()
    }

    /// Bytes of the data it reads.
    pub fn input_bytes(&self) -> usize {
        self.input_bytes
    }

    /// The most memory in use while it runs: inputs, outputs and temporaries.
    pub fn peak_bytes(&self) -> usize {
        self.input_bytes + self.output_bytes() + self.temporary_bytes()
    }

    /// What all kernels together must at least do.
    pub fn work(&self) -> Work {
        self.steps.iter().fold(Work::default(), |sum, step| Work {
            bytes_read: sum.bytes_read + step.kernel.work.bytes_read,
            bytes_written: sum.bytes_written + step.kernel.work.bytes_written,
            ops: sum.ops + step.kernel.work.ops,
        })
    }

    /// The labels of the kernels, in order.
    pub fn labels(&self) -> Vec<&str> {
        self.steps.iter().map(|s| s.kernel.label.as_str()).collect()
    }

    /// The largest values alive at the peak, for a message.
    pub(crate) fn largest(&self) -> String {
        let describe = |id: NodeId, what: &str| {
            let node = self.graph.node(id);
            let size = node.numel() * node.dtype.size();
            let scope = self.graph.scope(id).path();
            let place = if scope.is_empty() { String::new() } else { format!(" in {scope}") };
            let text = format!(
                "{what} {} {:?} {}{place} ({size} bytes)",
                node.op.name(),
                &node.shape[..],
                node.dtype
            );
            (size, text)
        };
        let mut all: Vec<(usize, String)> = self
            .at_peak
            .iter()
            .map(|&id| describe(id, "temporary"))
            .chain(self.outputs.iter().map(|o| describe(o.node, "output")))
            .chain(self.inputs.iter().flatten().map(|&id| describe(id, "input")))
            .collect();
        all.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        all.into_iter().take(5).map(|(_, text)| text).collect::<Vec<_>>().join("; ")
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Input(i) => write!(f, "in{i}"),
            Place::Output(i) => write!(f, "out{i}"),
            Place::Slot(i) => write!(f, "slot{i}"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = self.work();
        writeln!(
            f,
            "plan: {} kernels, reads {}, writes {}, {:.3} GFLOP, memory: inputs {}, outputs {}, {} slots of {}",
            self.steps.len(),
            size(work.bytes_read),
            size(work.bytes_written),
            work.ops as f64 / 1e9,
            size(self.input_bytes as u64),
            size(self.output_bytes() as u64),
            self.slots.len(),
            size(self.temporary_bytes() as u64),
        )?;
        let names = |places: &[Place]| {
            let shown: Vec<String> = places.iter().take(6).map(Place::to_string).collect();
            let more = if places.len() > 6 { format!(" +{}", places.len() - 6) } else { String::new() };
            shown.join(" ") + &more
        };
        for (i, step) in self.steps.iter().enumerate() {
            let work = step.kernel.work;
            let moved = work.bytes_read + work.bytes_written;
            let scope = step.kernel.scope;
            writeln!(
                f,
                "{i:4}  {:<56} {:>10} {:>10.3} MFLOP  {scope}  {} <- {}",
                step.kernel.label,
                size(moved),
                work.ops as f64 / 1e6,
                names(&step.writes),
                names(&step.reads),
            )?;
        }
        Ok(())
    }
}
