//! Stop 4 of the path: nodes are fused into kernels, put in order, and every value gets a place in memory. The
//! passes, in order: `simplify` (with `sums`), `edges`, `fuse` (with `recompute`), `lower`, `batch`, `order`, `lines`, `memory`.
//! Nothing here knows how a device runs a kernel.

mod batch;
mod edges;
mod fuse;
mod lines;
mod lower;
mod memory;
mod order;
mod plan;
mod recompute;
mod simplify;
mod space;
mod sums;

pub(crate) use plan::Output;
pub use plan::{Place, Plan, Step};

use crate::error::Result;
use crate::graph::{Graph, NodeId};

/// What the scheduler is asked for.
pub(crate) struct Request<'a> {
    /// The values wanted, as the user recorded them.
    pub graph: &'a Graph,
    /// Data nodes, in the order in which memories will be given at launch.
    pub inputs: &'a [NodeId],
    /// Scalar nodes, in the order in which numbers will be given at launch.
    pub scalars: &'a [NodeId],
    /// (output number, input number): the output may overwrite the input.
    pub donations: &'a [(usize, usize)],
    /// Whether to fuse.
    pub fusion: bool,
    /// The most memories that one kernel may read and write.
    pub memories: usize,
    /// Bytes of a line of memory, at whose beginning rows are read and written faster; 1 if they are the same anywhere.
    pub line: usize,
    /// Whether launches run side by side unless one reads or overwrites what another uses.
    pub side_by_side: bool,
    /// The most bytes of a memory that a kernel can address.
    pub largest: usize,
}

/// Builds a plan; pipelines are still to be compiled.
pub(crate) fn schedule(request: &Request<'_>) -> Result<Plan> {
    let (graph, map) = simplify::simplify(request.graph);
    let edges = edges::Edges::new(&graph);
    let groups = fuse::fuse(&graph, &edges, request.fusion, request.memories)?;
    let mut kernels = vec![];
    for group in groups.iter().filter(|g| g.space.numel() > 0) {
        kernels.push(lower::lower(&graph, &edges, group)?);
    }
    let inputs: Vec<Option<NodeId>> = request.inputs.iter().map(|i| map[i.index()]).collect();
    let donated = batch::donate(&graph, &inputs, request.donations, &mut kernels);
    let kernels = if request.fusion { batch::batch(&graph, kernels, &donated) } else { kernels };
    let mut kernels = order::arrange(&graph, kernels, &donated, request.side_by_side);
    let scalars: Vec<Option<NodeId>> = request.scalars.iter().map(|s| map[s.index()]).collect();
    if request.line > 1 {
        lines::lengthen(&graph, &mut kernels, request.line, request.largest);
    }
    let mut plan =
        memory::place(graph, kernels, &inputs, &scalars, &donated, request.side_by_side, request.largest)?;
    if request.side_by_side {
        order::tell_products(&mut plan);
    }
    Ok(plan)
}
