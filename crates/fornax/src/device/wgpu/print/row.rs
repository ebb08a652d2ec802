//! Loops with reductions, a team of lanes for every point of the kept axes ("row"). Three forms: *resident* keeps
//! the whole row in registers, *streaming* passes over it once for every reduction that depends on another, *split*
//! gives a long row to many workgroups, a dispatch for every pass.

mod exponentials;
mod split;

use super::lanes::{Team, as_word, precedes, reduce, reduce_arg, shared_as};
use super::map::coordinates;
use super::module::{line, size_of, value_type};
use super::parts::Parts;
use super::program::{Point, Program, combine, identity};
use super::{Caps, Module, Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::{Inst, Level, Loop, Segment, Source, Val};
use exponentials::Exponentials;
pub(super) use split::print_together;
use std::fmt::Write;

/// The most elements of a row that one lane keeps.
const RESIDENT: usize = 16;
/// Rows of so many elements are worth several workgroups, if there are few of them.
pub(super) const LONG: usize = 1 << 15;

/// What the forms share: the program, the sizes, and after how many passes a value is known.
struct Rows<'a> {
    program: Program<'a>,
    kept: Vec<usize>,
    reduced: Vec<usize>,
    /// Points of the kept and of the reduced axes.
    rows: usize,
    length: usize,
    pass: Vec<usize>,
    passes: usize,
}

impl<'a> Rows<'a> {
    fn new(m: &Module<'_>, body: &'a Loop, segment: &'a Segment) -> Rows<'a> {
        let axes = 0..segment.dims.len();
        let (reduced, kept): (Vec<usize>, Vec<usize>) = axes.partition(|&a| body.reduced[a]);
        let size = |axes: &[usize]| axes.iter().map(|&a| segment.dims[a]).product::<usize>();
        let mut pass = vec![0; body.program.len()];
        for (i, instr) in body.program.iter().enumerate() {
            let known = instr.inst.operands().iter().map(|v| pass[v.index()]).max().unwrap_or(0);
            pass[i] = known + matches!(instr.inst, Inst::Reduce(..)) as usize;
        }
        let inner = *reduced.last().unwrap_or(&0);
        let mut program = Program {
            body,
            segment,
            vector: 1,
            kept_differ: false,
            product: vec![],
            inner,
            prefix: String::new(),
        };
        // Vectors lie inside a row, or the last one ends in what lies between rows.
        let kernel = m.printer.kernel;
        let loads = segment.loads.iter().filter_map(|l| match l.source {
            Source::Memory(read) => Some(kernel.reads[read].dtype.size()),
            _ => None,
        });
        let mut vector = 16 / loads.max().unwrap_or(4).clamp(2, 4);
        while vector > 1 {
            program.vector = vector;
            let whole = segment.dims[inner].is_multiple_of(vector);
            let ends_between = || reduced.len() == 1 && program.loads_in_vectors(m);
            if (whole || ends_between()) && program.stores_in_vectors(m) {
                break;
            }
            vector /= 2;
        }
        program.vector = vector.max(1);
        let passes = 1 + pass.iter().copied().max().unwrap_or(0);
        Rows { rows: size(&kept), length: size(&reduced), program, kept, reduced, pass, passes }
    }

    /// Whether a workgroup for each row would leave most of the device idle, and several may share one: parts of positions
    /// are not combined, and those of other reductions need memories to be in.
    fn may_be_shared(&self, printer: &Printer<'_>) -> bool {
        let few = self.rows * 4 < printer.caps.parallel as usize;
        let positions = self.all_reductions().any(|i| is_arg(self.reduction(i).0));
        few && !positions && printer.has_room(self.program.segment, &self.parts(0))
    }

    fn all_reductions(&self) -> impl Iterator<Item = usize> {
        (0..self.passes).flat_map(|pass| self.reductions(pass))
    }

    /// The parts of all reductions, in memories from `first` on.
    fn parts(&self, first: usize) -> Parts {
        Parts::of(self.all_reductions().map(|i| self.reduction(i).2), first)
    }

    /// The most lanes of a workgroup, as a power of two, that have the workgroup memory to reduce what they found.
    fn most_lanes(&self, caps: &Caps) -> u32 {
        let mut types: Vec<&str> = vec![];
        for i in self.all_reductions() {
            let (op, _, dtype) = self.reduction(i);
            let position = is_arg(op).then_some("position");
            for t in position.into_iter().chain([value_type(shared_as(op, dtype).1, caps.int64)]) {
                if !types.contains(&t) {
                    types.push(t);
                }
            }
        }
        let bytes = types.iter().map(|t| size_of(t)).sum::<usize>().max(1);
        let lanes = (caps.workgroup_bytes as usize / bytes).max(1).ilog2();
        caps.lanes.min(1024).min(1 << lanes)
    }

    fn dims(&self, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|&a| self.program.segment.dims[a]).collect()
    }

    fn body(&self) -> &'a Loop {
        self.program.body
    }

    /// The point of row `row` with the reduced coordinates still at zero.
    fn row_point(&self, m: &mut Module<'_>, row: &str) -> Point {
        let found = coordinates(m, row, &self.dims(&self.kept), 1);
        let mut coords = vec!["0u".to_string(); self.program.segment.dims.len()];
        for (&axis, c) in self.kept.iter().zip(found) {
            coords[axis] = c;
        }
        Point { coords, inner: self.program.inner }
    }

    /// Moves a row's point to vector number `index` of the row.
    fn element_point(&self, m: &mut Module<'_>, row: &Point, index: &str) -> Point {
        let mut point = row.clone();
        let found = coordinates(m, index, &self.dims(&self.reduced), self.program.vector);
        for (&axis, c) in self.reduced.iter().zip(found) {
            point.coords[axis] = c;
        }
        point
    }

    /// Vectors of a row.
    fn vectors(&self) -> usize {
        self.length / self.program.segment.dims[self.program.inner].max(1)
            * self.program.segment.dims[self.program.inner].div_ceil(self.program.vector)
    }

    /// Values that are not of an element and known at pass `pass` (and not before), reductions left out.
    fn scalars(&self, pass: usize) -> Vec<usize> {
        let program = &self.body().program;
        let fits = |i: &usize| {
            program[*i].level != Level::Element
                && self.pass[*i] == pass
                && !matches!(program[*i].inst, Inst::Reduce(..))
        };
        (0..program.len()).filter(fits).collect()
    }

    /// The reductions whose operands are known in a pass.
    fn reductions(&self, pass: usize) -> Vec<usize> {
        let program = &self.body().program;
        let fits = |i: &usize| matches!(program[*i].inst, Inst::Reduce(..)) && self.pass[*i] == pass + 1;
        (0..program.len()).filter(fits).collect()
    }

    /// The most reductions that a team closes after one pass: the more, the more elements are worth a lane.
    fn closed(&self) -> usize {
        (0..self.passes).map(|pass| self.reductions(pass).len()).max().unwrap_or(0)
    }

    /// The stores of single elements whose values are known in a pass; with `last`, all from there on.
    fn element_stores(&self, pass: usize) -> Vec<usize> {
        let fits = |&s: &usize| {
            self.program.store_level(s) == Level::Element && self.pass[self.body().stores[s].index()] == pass
        };
        (0..self.body().stores.len()).filter(fits).collect()
    }

    fn row_stores(&self) -> Vec<usize> {
        (0..self.body().stores.len()).filter(|&s| self.program.store_level(s) != Level::Element).collect()
    }

    /// The element instructions that some values need, in order.
    fn needed(&self, of: impl Iterator<Item = Val>) -> Vec<usize> {
        let program = &self.body().program;
        let mut wanted = vec![false; program.len()];
        let mut open: Vec<usize> = of.map(Val::index).collect();
        while let Some(i) = open.pop() {
            if program[i].level == Level::Element && !wanted[i] {
                wanted[i] = true;
                open.extend(program[i].inst.operands().iter().map(|v| v.index()));
            }
        }
        (0..program.len()).filter(|&i| wanted[i]).collect()
    }

    fn reduction(&self, i: usize) -> (Reduce, Val, DType) {
        match self.body().program[i].inst {
            Inst::Reduce(op, a) => (op, a, self.body().program[a.index()].dtype),
            _ => unreachable!("reductions() gives reductions only"),
        }
    }

    /// Prints accumulators for reductions: `acc{i}`, and for positions `at{i}`.
    fn open_accumulators(&self, m: &mut Module<'_>, which: &[usize]) {
        for &i in which {
            let (op, _, dtype) = self.reduction(i);
            let kept = if is_arg(op) { shared_as(op, dtype).1 } else { dtype };
            let start = identity(m, op, kept);
            line!(m, "var acc{i}: {} = {start};", value_type(kept, m.printer.caps.int64));
            if is_arg(op) {
                line!(m, "var at{i} = 0xffffffffu;");
            }
        }
    }

    /// Adds element `e`, whose position in the row is `position`, to the accumulators.
    fn accumulate(&self, m: &mut Module<'_>, which: &[usize], e: usize, position: &str) {
        for &i in which {
            let (op, a, dtype) = self.reduction(i);
            let value = self.program.name(a, e);
            let acc = format!("acc{i}");
            if is_arg(op) {
                let (at, value) = (format!("at{i}"), as_word(dtype, &value));
                let better = precedes(m, op, dtype, [&value, position], [&acc, &at]);
                // The first candidate always wins: the empty place has the largest position and an extreme value.
                line!(m, "if ({at} == 0xffffffffu || {better}) {{ {acc} = {value}; {at} = {position}; }}");
            } else {
                let sum = combine(m, op, dtype, &acc, &value);
                line!(m, "{acc} = {sum};");
            }
        }
    }

    /// Adds vector `index` of the row, whose elements have the names from `first` on. The last one may end past the row.
    fn accumulate_vector(&self, m: &mut Module<'_>, which: &[usize], first: usize, index: &str) {
        let vector = self.program.vector;
        let add = |m: &mut Module<'_>, count: usize| {
            for e in 0..count {
                self.accumulate(m, which, first + e, &self.position(index, e));
            }
        };
        let len = self.program.segment.dims[self.program.inner];
        if len.is_multiple_of(vector) {
            return add(m, vector);
        }
        line!(m, "if ({index} < {}u) {{", len / vector);
        add(m, vector);
        line!(m, "}} else {{");
        add(m, len % vector);
        line!(m, "}}");
    }

    /// Combines the accumulators of a team and names the results.
    fn close_accumulators(&self, m: &mut Module<'_>, team: Team, which: &[usize]) {
        for &i in which {
            let (op, _, dtype) = self.reduction(i);
            let name = self.program.name(Val(i as u32), 0);
            if is_arg(op) {
                let at = reduce_arg(m, team, op, dtype, [&format!("acc{i}"), &format!("at{i}")]);
                let t = value_type(DType::I64, m.printer.caps.int64);
                line!(m, "let {name} = {t}({at});");
            } else {
                let result = reduce(m, team, op, dtype, &format!("acc{i}"));
                line!(m, "let {name} = {result};");
            }
        }
    }

    /// The row-major position of element `e` of vector `index` in its row.
    fn position(&self, index: &str, e: usize) -> String {
        format!("({index} * {}u + {e}u)", self.program.vector)
    }
}

fn is_arg(op: Reduce) -> bool {
    matches!(op, Reduce::ArgMax | Reduce::ArgMin)
}

/// Prints one segment; adds to the dispatches.
pub(super) fn print<'a>(
    printer: &Printer<'_>,
    body: &'a Loop,
    segment: &'a Segment,
    printed: &mut Printed,
) -> Result<()> {
    let rows = Rows::new(&printer.module(), body, segment);
    let vectors = rows.vectors();
    if rows.length >= LONG && rows.may_be_shared(printer) {
        return split::print(printer, &[vec![rows]], printed);
    }
    // Enough lanes that each keeps a handful of elements; few enough that short rows share a workgroup.
    let per_lane = (8 / rows.program.vector).max(rows.closed() / 2).max(1);
    let most = rows.most_lanes(printer.caps) as usize;
    let width = vectors.div_ceil(per_lane).next_power_of_two().clamp(1, most);
    if vectors.div_ceil(width) * rows.program.vector <= RESIDENT {
        resident(printer, &rows, width as u32, printed)
    } else {
        streaming(printer, &rows, printed)
    }
}

/// Opens the text: which row a team works on. Teams past the last row repeat it, and store nothing.
fn open_rows(m: &mut Module<'_>, rows: &Rows<'_>, team: Team) -> Point {
    rows.program.declare(m, &[Level::Uniform, Level::Kept, Level::Element]);
    let per = team.lanes / team.width;
    line!(m, "let place = lane % {}u;", team.width);
    line!(m, "let wanted = group * {per}u + lane / {}u;", team.width);
    line!(m, "let row = min(wanted, {}u);", rows.rows - 1);
    rows.row_point(m, "row")
}

fn team(width: u32) -> Team {
    Team { lanes: width.max(128), width }
}

fn resident(printer: &Printer<'_>, rows: &Rows<'_>, width: u32, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let team = team(width);
    let row = open_rows(&mut m, rows, team);
    let (vector, vectors) = (rows.program.vector, rows.vectors());
    let parts = vectors.div_ceil(width as usize);
    let whole = vectors.is_multiple_of(width as usize);
    let mut points = vec![];
    for p in 0..parts {
        let index = m.bind("i", &format!("place + {}u", p * width as usize));
        if whole {
            points.push((rows.element_point(&mut m, &row, &index), index, None));
            continue;
        }
        let valid = m.bind("ok", &format!("{index} < {vectors}u"));
        let safe = m.bind("i", &format!("select(0u, {index}, {valid})"));
        points.push((rows.element_point(&mut m, &row, &safe), safe, Some(valid)));
    }
    for i in 0..rows.body().program.len() {
        let instr = &rows.body().program[i];
        if matches!(instr.inst, Inst::Reduce(..)) {
            rows.open_accumulators(&mut m, &[i]);
            for (p, (_, index, valid)) in points.iter().enumerate() {
                if let Some(valid) = valid {
                    line!(m, "if ({valid}) {{");
                }
                rows.accumulate_vector(&mut m, &[i], p * vector, index);
                if valid.is_some() {
                    line!(m, "}}");
                }
            }
            rows.close_accumulators(&mut m, team, &[i]);
        } else if instr.level == Level::Element {
            for (p, (point, ..)) in points.iter().enumerate() {
                rows.program.instruction(&mut m, i, point, p * vector, vector);
            }
        } else {
            rows.program.instruction(&mut m, i, &row, 0, 1);
        }
    }
    let elements: Vec<usize> =
        (0..rows.body().stores.len()).filter(|&s| rows.program.store_level(s) == Level::Element).collect();
    for (p, (point, _, valid)) in points.iter().enumerate() {
        if elements.is_empty() {
            break;
        }
        match valid {
            Some(valid) => line!(m, "if (wanted < {}u && {valid}) {{", rows.rows),
            None => line!(m, "if (wanted < {}u) {{", rows.rows),
        }
        rows.program.stores(&mut m, &elements, point, p * vector, vector);
        line!(m, "}}");
    }
    line!(m, "if (wanted < {}u && place == 0u) {{", rows.rows);
    rows.program.stores(&mut m, &rows.row_stores(), &row, 0, 1);
    line!(m, "}}");
    let per = (team.lanes / team.width) as usize;
    printed.dispatches.push(m.finish(team.lanes, rows.rows.div_ceil(per))?);
    Ok(())
}

/// Prints the loop of one pass over the vectors `from, from + step, .. < to` of a row.
fn pass_loop(
    m: &mut Module<'_>,
    rows: &Rows<'_>,
    row: &Point,
    pass: usize,
    bounds: [&str; 3],
    store_if: &str,
) {
    let (reductions, stores) = (rows.reductions(pass), rows.element_stores(pass));
    let operands = reductions.iter().map(|&i| rows.reduction(i).1);
    let needed = rows.needed(operands.chain(stores.iter().map(|&s| rows.body().stores[s])));
    if reductions.is_empty() && stores.is_empty() {
        return;
    }
    let [from, to, step] = bounds;
    line!(m, "for (var at_vector = {from}; at_vector < {to}; at_vector += {step}) {{");
    let point = rows.element_point(m, row, "at_vector");
    for i in needed {
        rows.program.instruction(m, i, &point, 0, rows.program.vector);
    }
    rows.accumulate_vector(m, &reductions, 0, "at_vector");
    if !stores.is_empty() {
        line!(m, "if ({store_if}) {{");
        rows.program.stores(m, &stores, &point, 0, rows.program.vector);
        line!(m, "}}");
    }
    line!(m, "}}");
}

fn streaming(printer: &Printer<'_>, rows: &Rows<'_>, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let width = rows
        .vectors()
        .div_ceil(8.max(2 * rows.closed()))
        .next_power_of_two()
        .clamp(32, rows.most_lanes(printer.caps) as usize);
    let team = team(width as u32);
    let row = open_rows(&mut m, rows, team);
    let vectors = format!("{}u", rows.vectors());
    let step = format!("{width}u");
    let exponentials = Exponentials::of(rows);
    for pass in 0..rows.passes {
        for i in rows.scalars(pass) {
            rows.program.instruction(&mut m, i, &row, 0, 1);
        }
        match (pass, &exponentials) {
            (0, Some(both)) => both.print_maximum(&mut m, rows, &row, team),
            (1, Some(both)) => both.print_sum(&mut m, rows, team),
            _ => {
                let (reductions, exists) = (rows.reductions(pass), format!("wanted < {}u", rows.rows));
                rows.open_accumulators(&mut m, &reductions);
                pass_loop(&mut m, rows, &row, pass, ["place", &vectors, &step], &exists);
                rows.close_accumulators(&mut m, team, &reductions);
            }
        }
    }
    line!(m, "if (wanted < {}u && place == 0u) {{", rows.rows);
    rows.program.stores(&mut m, &rows.row_stores(), &row, 0, 1);
    line!(m, "}}");
    let per = (team.lanes / team.width) as usize;
    printed.dispatches.push(m.finish(team.lanes, rows.rows.div_ceil(per))?);
    Ok(())
}
