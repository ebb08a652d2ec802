//! Maps: one lane for every few consecutive elements. Several segments share a dispatch, each with a range of its
//! workgroups.

use super::module::{Binding, line};
use super::program::{Point, Program};
use super::{Dispatch, Module, Printer};
use crate::error::Result;
use crate::kernel::{Inst, Level, Loop, Segment, Source};
use std::fmt::Write;

/// The most memories of the segments that share a dispatch.
pub(super) fn most_memories(printer: &Printer<'_>) -> usize {
    // Drivers compile every segment's code: past a few dozen bindings nothing is gained.
    (printer.caps.buffers as usize).saturating_sub(3).min(64)
}

/// How many of the first segments fit one dispatch.
pub(super) fn together(printer: &Printer<'_>, segments: &[Segment]) -> usize {
    let most = most_memories(printer);
    let mut used = 0;
    let fits = segments.iter().take_while(|s| {
        used += printer.memories(s);
        used <= most
    });
    fits.count().max(1)
}

/// The widest vector with which every store is whole words.
pub(super) fn widest<'a>(
    m: &Module<'_>,
    body: &'a Loop,
    segment: &'a Segment,
    kept_differ: bool,
) -> Program<'a> {
    let inner = segment.dims.len().saturating_sub(1);
    let kernel = m.printer.kernel;
    let reads = segment.loads.iter().filter_map(|l| match l.source {
        Source::Memory(read) => Some(kernel.reads[read].dtype.size()),
        _ => None,
    });
    let widest =
        reads.chain(segment.stores.iter().map(|s| kernel.writes[s.write].dtype.size())).max().unwrap_or(4);
    let mut vector = (16 / widest.min(4)).min(8);
    let mut program =
        Program { body, segment, vector, kept_differ, product: vec![], inner, prefix: String::new() };
    // An index past the end of a row would be a number that nobody wrote.
    let gathers = body.program.iter().any(|i| matches!(i.inst, Inst::Gather { .. }));
    while vector > 1 {
        program.vector = vector;
        let whole = segment.dims.last().is_some_and(|n| !gathers || n.is_multiple_of(vector));
        if whole && program.stores_in_vectors(m) {
            return program;
        }
        vector /= 2;
    }
    program.vector = 1;
    program
}

/// Splits a linear index into coordinates of `dims`, the last axis in steps of `step`.
pub(super) fn coordinates(m: &mut Module<'_>, index: &str, dims: &[usize], step: usize) -> Vec<String> {
    let mut out = vec!["0u".to_string(); dims.len()];
    let mut rest = index.to_string();
    for axis in (0..dims.len()).rev() {
        let last = axis + 1 == dims.len();
        let size = if last { dims[axis].div_ceil(step) } else { dims[axis] };
        let scale = if last && step > 1 { format!(" * {step}u") } else { String::new() };
        if size == 1 {
            continue;
        }
        if dims[..axis].iter().all(|&n| n == 1) {
            out[axis] = if scale.is_empty() { rest } else { m.bind("c", &format!("{rest}{scale}")) };
            return out;
        }
        out[axis] = m.bind("c", &format!("({rest} % {size}u){scale}"));
        rest = m.bind("n", &format!("{rest} / {size}u"));
    }
    out
}

/// Prints the segments as one dispatch.
pub(super) fn print<'a>(printer: &Printer<'a>, body: &'a Loop, segments: &'a [Segment]) -> Result<Dispatch> {
    let mut m = printer.module();
    let lanes = printer.caps.workgroup;
    let mut programs: Vec<Program<'a>> = vec![];
    for (s, segment) in segments.iter().enumerate() {
        let mut program = widest(&m, body, segment, false);
        if segments.len() > 1 {
            program.prefix = format!("s{s}_");
        }
        program.declare(&mut m, &[Level::Uniform, Level::Kept, Level::Element]);
        programs.push(program);
    }
    // A step that met a bad index must not touch what it would overwrite.
    let in_place = printer.aliased.contains(&true);
    if in_place {
        m.want(Binding::Reported, 1);
    }
    let mut first = 0;
    for (s, program) in programs.iter().enumerate() {
        let dims = &program.segment.dims;
        let outer: usize = dims.iter().take(dims.len().saturating_sub(1)).product();
        let total = outer * dims.last().map_or(1, |&n| n.div_ceil(program.vector));
        let groups = total.div_ceil(lanes as usize);
        if programs.len() > 1 {
            let opening = if s == 0 { "" } else { "else " };
            line!(m, "{opening}if (group < {}u) {{", first + groups);
        }
        let index = m.bind("i", &format!("(group - {first}u) * {lanes}u + lane"));
        line!(m, "if ({index} < {total}u) {{");
        let coords = coordinates(&mut m, &index, dims, program.vector);
        let point = Point { coords, inner: program.inner };
        for i in 0..body.program.len() {
            program.instruction(&mut m, i, &point, 0, program.vector);
        }
        let all: Vec<usize> = (0..body.stores.len()).collect();
        if in_place {
            line!(m, "if (reported[0] == 0u) {{");
        }
        program.stores(&mut m, &all, &point, 0, program.vector);
        line!(m, "}}");
        if in_place {
            line!(m, "}}");
        }
        if programs.len() > 1 {
            line!(m, "}}");
        }
        first += groups;
    }
    m.finish(lanes, first)
}
