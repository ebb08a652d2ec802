//! Kernel IR -> WGSL. Each kernel shape has a file; all build their text with a [`Module`], which owns the
//! bindings and knows how elements lie in words. Nothing here talks to a GPU, so every text can be validated and
//! snapshot-tested anywhere. Conditions are joined by `&` and `|` where they are values: of `&&` and `||`, naga makes
//! branches.

mod attention;
mod attention_grad;
mod column;
mod functions;
mod halves;
mod lanes;
mod line;
mod map;
mod matmul;
mod module;
mod parts;
mod program;
mod row;
mod scan;
mod scatter;
#[cfg(test)]
mod snapshots;
mod sort;
#[cfg(test)]
pub(super) mod tests;
mod tile;

pub(crate) use matmul::{Form, candidates};
#[cfg(test)]
pub(crate) use matmul::{Shape, Tile};
pub(crate) use module::{Binding, Module};

use crate::error::{Error, Result};
use crate::kernel::{Body, Kernel, Loop, Segment, Source};
use parts::Parts;
use smallvec::SmallVec;

/// What an adapter offers that texts may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caps {
    /// `enable f16`: halves are converted by the hardware.
    pub f16: bool,
    /// 64-bit integers. Without them I64 is computed in 32 bits and stored in 64.
    pub int64: bool,
    /// How many consecutive lanes, from a multiple of that number on, surely share a subgroup; where shuffles exist. A driver
    /// may choose larger subgroups.
    pub subgroup: Option<u32>,
    /// Launch arguments as immediates; otherwise they come in a uniform buffer.
    pub immediates: bool,
    /// 16x16 cooperative matrices of f16 with f32 sums.
    pub cooperative: bool,
    /// Whether an exponential of what is no number is none, which WGSL does not promise: some programs that play a GPU say
    /// that it is infinite.
    pub exp_keeps_nan: bool,
    /// Scalar products of four bytes in a word.
    pub packed: bool,
    /// The most lanes of a workgroup.
    pub lanes: u32,
    /// The lanes of a workgroup where a kernel leaves the choice: maps and long sums.
    pub workgroup: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// The most storage buffers of one dispatch.
    pub buffers: u32,
    /// The most workgroups along one axis of a grid.
    pub groups: u32,
    /// The most bytes of a buffer that one binding can show.
    pub binding_bytes: u64,
    /// How many workgroups keep the whole device busy.
    pub parallel: u32,
}

/// One dispatch: the text, what is bound in which order, and how many workgroups run.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub text: String,
    pub bindings: Vec<Binding>,
    /// Workgroups along x and y; texts compute their number as `x + y * width` and ignore those past the end.
    pub grid: [u32; 2],
}

/// A kernel as WGSL: dispatches in order and the scratch memories that they share, in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printed {
    pub dispatches: Vec<Dispatch>,
    pub scratch: Vec<usize>,
}

/// Prints a kernel. `aliased[i]` says that pair i of `kernel.in_place` is one memory; a product takes the form given, or
/// the one that a rule says.
pub(crate) fn print(kernel: &Kernel, aliased: &[bool], form: Option<Form>, caps: &Caps) -> Result<Printed> {
    check_limits(kernel, caps)?;
    let printer = Printer { kernel, aliased, caps };
    let mut printed = Printed::default();
    let out = &mut printed;
    match &kernel.body {
        Body::Loop(body) => printer.looped(body, out)?,
        Body::MatMul(body) => {
            let form = form.unwrap_or_else(|| matmul::choose(body, kernel.beside, caps));
            matmul::print(&printer, body, form, out)?
        }
        Body::Attention(body) => attention::print(&printer, body, out)?,
        Body::AttentionGrad(body) => attention_grad::print(&printer, body, out)?,
        Body::ScatterAdd(body) => scatter::print(&printer, body, out)?,
        Body::Sort(body) => sort::print(&printer, body, out)?,
        Body::Scan(body) => scan::print(&printer, body, out)?,
    }
    for &bytes in &printed.scratch {
        check_most(kernel, bytes, "bytes of intermediate values", caps.binding_bytes, BOUND)?;
    }
    Ok(printed)
}

/// The most elements that a kernel walks or a memory has: texts count them in 32 bits, and go a little past the end.
const MOST_ELEMENTS: u64 = i32::MAX as u64;

fn check_limits(kernel: &Kernel, caps: &Caps) -> Result<()> {
    for port in kernel.reads.iter().chain(&kernel.writes) {
        if port.dtype == crate::DType::F64 {
            let detail = "this device has no f64; use f32, or the cpu device";
            return Err(Error::DType { op: "kernel", detail: format!("{}: {detail}", kernel.label) });
        }
        let bytes = port.len.saturating_mul(port.dtype.size());
        check_most(kernel, bytes, "bytes of a tensor", caps.binding_bytes, BOUND)?;
        check_most(kernel, port.len, "elements of a tensor", MOST_ELEMENTS, COUNTED)?;
    }
    let counted = |n: usize| check_most(kernel, n, "elements to compute", MOST_ELEMENTS, COUNTED);
    match &kernel.body {
        Body::Loop(body) => check_spaces(body, counted),
        Body::MatMul(body) => {
            [body.m, body.n, body.k].into_iter().try_for_each(counted)?;
            check_spaces(&body.epilogue, counted)
        }
        Body::Attention(body) => [body.q.1.shape[2], body.k.1.shape[2]].into_iter().try_for_each(counted),
        Body::AttentionGrad(body) => [body.q.1.shape[2], body.k.1.shape[2]].into_iter().try_for_each(counted),
        Body::ScatterAdd(body) => counted(body.value.1.numel()),
        Body::Sort(body) => counted(body.value.1.numel()),
        Body::Scan(body) => counted(body.value.1.numel()),
    }
}

/// Checks the spaces of a loop: rows are counted apart from what lies in one.
fn check_spaces(body: &Loop, counted: impl Fn(usize) -> Result<()>) -> Result<()> {
    for segment in &body.segments {
        for reduced in [false, true] {
            let axes = segment.dims.iter().zip(&body.reduced).filter(|(_, r)| **r == reduced);
            counted(axes.fold(1, |points: usize, (&n, _)| points.saturating_mul(n)))?;
        }
        for load in segment.loads.iter().filter(|load| load.source == Source::Index) {
            let ends = load.view.shape.iter().zip(&load.view.strides);
            let last = ends.fold(load.view.offset, |last, (&n, &stride)| {
                last.saturating_add(stride.max(0).saturating_mul(n.saturating_sub(1) as isize))
            });
            counted(last.max(0) as usize)?;
        }
    }
    Ok(())
}

const BOUND: &str = "can be bound at once";
const COUNTED: &str = "can be counted";

fn check_most(kernel: &Kernel, needed: usize, what: &str, most: u64, that: &str) -> Result<()> {
    if needed as u64 <= most {
        return Ok(());
    }
    let detail = format!(
        "{}: {needed} {what} are more than the {most} that {that}; split it along an axis",
        kernel.label
    );
    Err(Error::Device { device: "wgpu".into(), detail })
}

/// What all printers of one kernel share.
#[derive(Clone, Copy)]
pub(crate) struct Printer<'a> {
    pub kernel: &'a Kernel,
    pub aliased: &'a [bool],
    pub caps: &'a Caps,
}

impl<'a> Printer<'a> {
    pub fn module(&self) -> Module<'a> {
        Module::new(*self)
    }

    fn looped(&self, body: &'a Loop, printed: &mut Printed) -> Result<()> {
        if body.reduced.contains(&true) {
            return self.reduced(body, printed);
        }
        // As many segments in a dispatch as its bindings allow.
        let mut start = 0;
        while start < body.segments.len() {
            let end = map::together(self, &body.segments[start..]) + start;
            printed.dispatches.push(map::print(self, body, &body.segments[start..end])?);
            start = end;
        }
        Ok(())
    }

    /// Prints a loop with reductions, each segment in the form that suits it.
    fn reduced(&self, body: &Loop, printed: &mut Printed) -> Result<()> {
        let printed_already = row::print_together(self, body, printed)?;
        for (segment, _) in body.segments.iter().zip(printed_already).filter(|(_, already)| !already) {
            if !column::print(self, body, segment, printed)? {
                row::print(self, body, segment, printed)?;
            }
        }
        Ok(())
    }

    /// The memories that a segment needs, for counting bindings.
    pub fn memories(&self, segment: &Segment) -> usize {
        let reads = segment.loads.iter().filter_map(|load| match load.source {
            Source::Memory(read) => Some(Binding::Read(read)),
            _ => None,
        });
        let writes = segment.stores.iter().map(|store| Binding::Write(store.write));
        let mut known: SmallVec<[Binding; 16]> = SmallVec::new();
        for memory in reads.chain(writes) {
            if !known.contains(&memory) {
                known.push(memory);
            }
        }
        known.len()
    }

    /// Whether a segment can be printed with parts of its sums beside its own memories and the status.
    fn has_room(&self, segment: &Segment, parts: &Parts) -> bool {
        self.memories(segment) + parts.kinds.len() < self.caps.buffers as usize
    }
}

/// A grid of at least `groups` workgroups.
pub(crate) fn grid(groups: usize, caps: &Caps) -> Result<[u32; 2]> {
    let most = caps.groups as usize;
    if groups <= most {
        return Ok([groups.max(1) as u32, 1]);
    }
    let height = groups.div_ceil(most);
    if height > most {
        let detail = format!("{groups} workgroups are more than the {most} x {most} of a grid");
        return Err(Error::Device { device: "wgpu".into(), detail });
    }
    Ok([groups.div_ceil(height) as u32, height as u32])
}
