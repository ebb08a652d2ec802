//! Loops whose reductions run over the outer axes while the last axis is kept: gradients of biases and gains, means
//! over a batch. Lanes lie side by side along the kept axis, so that loads are coalesced; several rows of lanes share
//! the reduced axes, and where the columns are few, several workgroups do.

use super::lanes::{as_before, as_word, shared_as};
use super::map::coordinates;
use super::module::{Binding, line, size_of, value_type};
use super::parts::{Parts, keep, kept};
use super::program::{Point, Program, combine, identity};
use super::{Module, Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::{Inst, Level, Loop, Segment, Source, Val};
use std::fmt::Write;

const LANES: usize = 256;
/// The fewest vectors of columns side by side: what memory gives at a time.
const STRIP: usize = 4;
/// The most rows that are summed in one dispatch whatever the columns.
const SHORT: usize = 1024;

struct Columns<'a> {
    program: Program<'a>,
    kept: Vec<usize>,
    reduced: Vec<usize>,
    reductions: Vec<(usize, Reduce, Val, DType)>,
    /// Vectors of columns.
    total: usize,
    /// Points of the reduced axes.
    length: usize,
}

impl Columns<'_> {
    /// The parts of all sums, in memories from `first` on.
    fn parts(&self, first: usize) -> Parts {
        Parts::of(self.reductions.iter().map(|reduction| reduction.3), first)
    }

    /// Where an element of a part of a reduction's sums lies: its memory and its address there.
    fn place(&self, parts: &Parts, reduction: usize, part: &str, element: usize) -> (usize, String) {
        let part = parts.number(reduction, part);
        let at = format!("({part} * {}u + column) * {}u + {element}u", self.total, self.program.vector);
        (parts.memory(reduction), at)
    }

    /// The workgroup memory through which so many lanes combine their sums: one for each type of values.
    fn shared_bytes(&self, lanes: usize, int64: bool) -> usize {
        let mut types: Vec<&str> = vec![];
        for &(_, op, _, dtype) in &self.reductions {
            let t = value_type(shared_as(op, dtype).1, int64);
            if !types.contains(&t) {
                types.push(t);
            }
        }
        types.iter().map(|t| size_of(t)).sum::<usize>() * lanes * self.program.vector
    }
}

/// Prints the segment if it has this form; says whether it did.
pub(super) fn print<'a>(
    printer: &Printer<'_>,
    body: &'a Loop,
    segment: &'a Segment,
    printed: &mut Printed,
) -> Result<bool> {
    let Some(columns) = recognise(&printer.module(), body, segment) else { return Ok(false) };
    let caps = printer.caps;
    let fits = |lanes: usize| columns.shared_bytes(lanes, caps.int64) <= caps.workgroup_bytes as usize;
    let mut lanes = LANES;
    while lanes > STRIP && !fits(lanes) {
        lanes /= 2;
    }
    let rows_of_lanes = columns.length.next_power_of_two().clamp(1, 8).max(
        // Few columns leave lanes for more rows.
        (lanes / columns.total.next_power_of_two()).clamp(1, columns.length.next_power_of_two()),
    );
    let (y, x) = (rows_of_lanes, lanes / rows_of_lanes);
    let tiles = columns.total.div_ceil(x);
    let places = columns.parts(printed.scratch.len());
    let parts = match printer.has_room(segment, &places) {
        true => (caps.parallel as usize * 2 / tiles).min(columns.length / (y * 4)).clamp(1, 1024),
        false => 1,
    };
    // A short sum over few columns takes less time than a second dispatch waits: narrow strips with a row or a few for
    // every lane.
    let elements = columns.length * columns.total * columns.program.vector;
    let short = columns.length <= SHORT && elements <= 1 << 21;
    let y_of_strip = columns.length.next_power_of_two().min(1024 / STRIP);
    if parts > 1 && short && caps.lanes >= 1024 && fits(STRIP * y_of_strip) {
        pass(printer, &columns, [STRIP, y_of_strip], 1, &places, true, printed)?;
        return Ok(true);
    }
    if parts > 1 {
        printed.scratch.extend(places.bytes(parts * columns.total * columns.program.vector));
        pass(printer, &columns, [x, y], parts, &places, false, printed)?;
    }
    // There are few sums left: as many lanes as possible side by side in the other direction.
    let y = if parts > 1 { parts.next_power_of_two().clamp(y, y.max(lanes / STRIP)) } else { y };
    pass(printer, &columns, [lanes / y, y], parts, &places, true, printed)?;
    Ok(true)
}

fn recognise<'a>(m: &Module<'_>, body: &'a Loop, segment: &'a Segment) -> Option<Columns<'a>> {
    let inner = segment.dims.len().checked_sub(1)?;
    if body.reduced[inner] || segment.dims[inner] == 1 {
        return None;
    }
    let axes = 0..segment.dims.len();
    let (reduced, kept): (Vec<usize>, Vec<usize>) = axes.partition(|&a| body.reduced[a]);
    let mut reductions = vec![];
    let mut after = vec![false; body.program.len()];
    for (i, instr) in body.program.iter().enumerate() {
        after[i] = instr.inst.operands().iter().any(|v| after[v.index()]);
        if let Inst::Reduce(op, a) = instr.inst {
            // A reduction of a reduction, or of positions, is a row's business.
            if after[i] || matches!(op, Reduce::ArgMax | Reduce::ArgMin) {
                return None;
            }
            after[i] = true;
            reductions.push((i, op, a, body.program[a.index()].dtype));
        }
        if after[i] && instr.level == Level::Element {
            return None;
        }
    }
    // Loads that lie along the last reduced axis are better read by rows, unless all columns share them.
    let last_reduced = *reduced.last()?;
    let along = |axis: usize, other: usize| {
        let lies = |l: &&crate::kernel::Load| {
            matches!(l.source, Source::Memory(_))
                && l.view.strides[axis].abs() == 1
                && l.view.strides[other] != 0
        };
        segment.loads.iter().filter(lies).count()
    };
    if along(inner, last_reduced) < along(last_reduced, inner) {
        return None;
    }
    let mut program = Program {
        body,
        segment,
        vector: 1,
        kept_differ: true,
        product: vec![],
        inner,
        prefix: String::new(),
    };
    if (0..body.stores.len()).any(|s| program.store_level(s) == Level::Element) {
        return None;
    }
    let mut vector = 4;
    while vector > 1 {
        program.vector = vector;
        if segment.dims[inner].is_multiple_of(vector) && program.stores_in_vectors(m) {
            break;
        }
        vector /= 2;
    }
    program.vector = vector;
    let size = |axes: &[usize]| axes.iter().map(|&a| segment.dims[a]).product::<usize>();
    let total = size(&kept) / vector;
    Some(Columns { length: size(&reduced), program, kept, reduced, reductions, total })
}

/// One dispatch: sums elements into parts, or (the last one) whatever there is into the results.
fn pass(
    printer: &Printer<'_>,
    columns: &Columns<'_>,
    [x, y]: [usize; 2],
    parts: usize,
    places: &Parts,
    last: bool,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let program = &columns.program;
    let vector = program.vector;
    program.declare(&mut m, &[Level::Uniform, Level::Kept, Level::Element]);
    if parts > 1 {
        for kind in 0..places.kinds.len() {
            m.want(Binding::Scratch(places.first + kind), 1);
        }
    }
    let from_parts = last && parts > 1;
    let shares = if last { 1 } else { parts };
    line!(m, "let tile = group / {shares}u;");
    line!(m, "let part = group % {shares}u;");
    line!(m, "let wanted = tile * {x}u + lane % {x}u;");
    line!(m, "let column = min(wanted, {}u);", columns.total - 1);
    line!(m, "let y = lane / {x}u;");
    let dims: Vec<usize> = columns.kept.iter().map(|&a| program.segment.dims[a]).collect();
    let mut coords = vec!["0u".to_string(); program.segment.dims.len()];
    for (&axis, c) in columns.kept.iter().zip(coordinates(&mut m, "column", &dims, vector)) {
        coords[axis] = c;
    }
    let point = Point { coords, inner: program.inner };
    for &(i, op, _, dtype) in &columns.reductions {
        let start = identity(&mut m, op, dtype);
        for j in 0..vector {
            line!(m, "var acc{i}_{j}: {} = {start};", value_type(dtype, m.printer.caps.int64));
        }
    }
    let scalars = |after: bool| {
        let known = known_after(program.body);
        let fits = move |i: &usize| {
            let instr = &program.body.program[*i];
            known[*i] == after && instr.level != Level::Element && !matches!(instr.inst, Inst::Reduce(..))
        };
        (0..program.body.program.len()).filter(fits).collect::<Vec<_>>()
    };
    for i in scalars(false) {
        program.instruction(&mut m, i, &point, 0, vector);
    }
    let steps = if from_parts { parts } else { columns.length };
    let share = steps.div_ceil(shares);
    let end =
        if shares == 1 { format!("{steps}u") } else { format!("min((part + 1u) * {share}u, {steps}u)") };
    line!(m, "for (var step = part * {share}u + y; step < {end}; step += {y}u) {{");
    if from_parts {
        for (r, &(i, op, _, dtype)) in columns.reductions.iter().enumerate() {
            for j in 0..vector {
                let (memory, at) = columns.place(places, r, "step", j);
                let value = kept(&mut m, memory, dtype, &at);
                let sum = combine(&mut m, op, dtype, &format!("acc{i}_{j}"), &value);
                line!(m, "acc{i}_{j} = {sum};");
            }
        }
    } else {
        let dims: Vec<usize> = columns.reduced.iter().map(|&a| program.segment.dims[a]).collect();
        let mut point = point.clone();
        for (&axis, c) in columns.reduced.iter().zip(coordinates(&mut m, "step", &dims, 1)) {
            point.coords[axis] = c;
        }
        for i in 0..program.body.program.len() {
            if program.body.program[i].level == Level::Element {
                program.instruction(&mut m, i, &point, 0, vector);
            }
        }
        for &(i, op, a, dtype) in &columns.reductions {
            for j in 0..vector {
                let sum = combine(&mut m, op, dtype, &format!("acc{i}_{j}"), &program.name(a, j));
                line!(m, "acc{i}_{j} = {sum};");
            }
        }
    }
    line!(m, "}}");
    across_rows(&mut m, columns, [x, y]);
    line!(m, "if (y == 0u && wanted < {}u) {{", columns.total);
    if last {
        for &(i, ..) in &columns.reductions {
            for j in 0..vector {
                line!(m, "let {} = acc{i}_{j};", program.name(Val(i as u32), j));
            }
        }
        for i in scalars(true) {
            program.instruction(&mut m, i, &point, 0, vector);
        }
        let all: Vec<usize> = (0..program.body.stores.len()).collect();
        program.stores(&mut m, &all, &point, 0, vector);
    } else {
        for (r, &(i, _, _, dtype)) in columns.reductions.iter().enumerate() {
            for j in 0..vector {
                let (memory, at) = columns.place(places, r, "part", j);
                keep(&mut m, memory, dtype, &at, &format!("acc{i}_{j}"));
            }
        }
    }
    line!(m, "}}");
    printed.dispatches.push(m.finish((x * y) as u32, columns.total.div_ceil(x) * shares)?);
    Ok(())
}

/// For each instruction whether it depends on a reduction.
fn known_after(body: &Loop) -> Vec<bool> {
    let mut after = vec![false; body.program.len()];
    for (i, instr) in body.program.iter().enumerate() {
        let reduction = matches!(instr.inst, Inst::Reduce(..));
        after[i] = reduction || instr.inst.operands().iter().any(|v| after[v.index()]);
    }
    after
}

/// Combines the accumulators of the rows of lanes into those of row 0, one reduction and element at a time, so that
/// workgroup memory stays small.
fn across_rows(m: &mut Module<'_>, columns: &Columns<'_>, [x, y]: [usize; 2]) {
    if y == 1 {
        return;
    }
    let lanes = x * y;
    for &(i, op, _, dtype) in &columns.reductions {
        let (op, kept) = shared_as(op, dtype);
        let t = value_type(kept, m.printer.caps.int64);
        let memory = format!("shared_{t}");
        let vector = columns.program.vector;
        m.shared(&memory, t, lanes * vector);
        for j in 0..vector {
            let value = as_word(dtype, &format!("acc{i}_{j}"));
            line!(m, "{memory}[lane + {}u] = {value};", j * lanes);
        }
        line!(m, "workgroupBarrier();");
        let mut step = y / 2;
        while step > 0 {
            line!(m, "if (y < {step}u) {{");
            for j in 0..vector {
                let here = format!("{memory}[lane + {}u]", j * lanes);
                let there = format!("{memory}[lane + {}u]", j * lanes + step * x);
                let sum = combine(m, op, kept, &here, &there);
                line!(m, "{here} = {sum};");
            }
            line!(m, "}}");
            line!(m, "workgroupBarrier();");
            step /= 2;
        }
        for j in 0..vector {
            let sum = as_before(dtype, &format!("{memory}[lane + {}u]", j * lanes));
            line!(m, "acc{i}_{j} = {sum};");
        }
        line!(m, "workgroupBarrier();");
    }
}
