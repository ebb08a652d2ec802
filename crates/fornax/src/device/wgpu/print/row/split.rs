//! Long rows, each shared by many workgroups. Segments that need this are printed together: there are as many gradients
//! as parameters, and a norm wants a sum of each.

use super::super::lanes::{Team, reduce};
use super::super::map::most_memories;
use super::super::module::{Binding, Module, line};
use super::super::parts::{Parts, keep, kept};
use super::super::program::combine;
use super::super::{Printed, Printer};
use super::{LONG, Rows, pass_loop};
use crate::error::Result;
use crate::kernel::{Level, Loop};
use std::fmt::Write;
use std::rc::Rc;

/// So many segments take longer one by one than in the two dispatches of those that are printed together.
const SEVERAL: usize = 4;

/// Prints together the segments that have few rows, if some of those are long or there are many: each by itself would leave
/// most of the device idle. Says which they are.
pub(in super::super) fn print_together<'a>(
    printer: &Printer<'_>,
    body: &'a Loop,
    printed: &mut Printed,
) -> Result<Vec<bool>> {
    let m = printer.module();
    let all: Vec<Rows<'a>> = body.segments.iter().map(|segment| Rows::new(&m, body, segment)).collect();
    let few: Vec<bool> = all.iter().map(|rows| rows.may_be_shared(printer)).collect();
    let long = all.iter().zip(&few).any(|(rows, few)| *few && rows.length >= LONG);
    let many = few.iter().filter(|few| **few).count() > SEVERAL;
    let worth = body.segments.len() > 1 && (long || many);
    if !worth || body.reduced.last() != Some(&true) {
        return Ok(vec![false; few.len()]);
    }
    let own = all.into_iter().zip(&few).filter(|(_, few)| **few).map(|(rows, _)| rows);
    let mut chunks: Vec<Vec<Rows<'a>>> = vec![];
    let mut used = usize::MAX;
    for mut rows in own {
        let most = most_memories(printer).saturating_sub(rows.parts(0).kinds.len());
        used = used.saturating_add(printer.memories(rows.program.segment));
        if used > most {
            used = printer.memories(rows.program.segment);
            chunks.push(vec![]);
        }
        if let Some(chunk) = chunks.last_mut() {
            rows.program.prefix = format!("s{}_", chunk.len());
            chunk.push(rows);
        }
    }
    print(printer, &chunks, printed)?;
    Ok(few)
}

/// How many of the workgroups that keep a device busy a segment gets, at least one.
fn share(parallel: u32, vectors: u64, all: u64) -> usize {
    (4 * parallel as u64 * vectors / all.max(1)).max(1) as usize
}

/// A dispatch for every pass and chunk of segments. Each workgroup reduces a part of a row into scratch memory; the next
/// pass begins by combining those parts, in every workgroup again, which is cheaper than a dispatch of its own. The chunks
/// of a pass do not wait for each other.
pub(super) fn print(printer: &Printer<'_>, chunks: &[Vec<Rows<'_>>], printed: &mut Printed) -> Result<()> {
    let Some(first) = chunks.first().and_then(|chunk| chunk.first()) else { return Ok(()) };
    let lanes = printer.caps.workgroup.min(first.most_lanes(printer.caps));
    // At least four vectors a lane, and not more workgroups than keep the device busy.
    let vectors = |rows: &Rows<'_>| (rows.rows * rows.vectors()) as u64;
    let all: u64 = chunks.iter().flatten().map(vectors).sum();
    let parts = |rows: &Rows<'_>| {
        let wanted = share(printer.caps.parallel, vectors(rows), all).div_ceil(rows.rows);
        wanted.min(rows.vectors().div_ceil(lanes as usize * 4)).clamp(1, 4096)
    };
    let reductions: Vec<usize> = first.all_reductions().collect();
    let mut pieces: Vec<Vec<Piece<'_, '_>>> = vec![];
    for chunk in chunks {
        let places = Rc::new(first.parts(printed.scratch.len()));
        let (mut base, mut own) = (0, vec![]);
        for rows in chunk {
            let parts = parts(rows);
            own.push(Piece { rows, lanes, parts, base, places: places.clone(), reductions: &reductions });
            base += rows.rows * parts;
        }
        pieces.push(own);
        printed.scratch.extend(places.bytes(base));
    }
    for pass in 0..first.passes {
        let last = pass + 1 == first.passes;
        if first.reductions(pass).is_empty() && first.element_stores(pass).is_empty() && !last {
            continue;
        }
        for chunk in &pieces {
            let mut m = printer.module();
            let mut groups = 0;
            for (s, piece) in chunk.iter().enumerate() {
                let own = piece.groups(pass);
                match chunk.len() {
                    1 => piece.print(&mut m, pass, "group"),
                    _ => {
                        line!(m, "{}if (group < {}u) {{", if s == 0 { "" } else { "else " }, groups + own);
                        line!(m, "let own_group = group - {groups}u;");
                        piece.print(&mut m, pass, "own_group");
                        line!(m, "}}");
                    }
                }
                groups += own;
            }
            printed.dispatches.push(m.finish(lanes, groups)?);
        }
    }
    Ok(())
}

/// A segment of a split loop.
struct Piece<'r, 'a> {
    rows: &'r Rows<'a>,
    lanes: u32,
    /// Workgroups that share a row, and how many parts come before theirs.
    parts: usize,
    base: usize,
    /// Where parts of all reductions of the loop lie, and which these are.
    places: Rc<Parts>,
    reductions: &'r [usize],
}

impl Piece<'_, '_> {
    /// Whether a pass only finishes rows.
    fn whole(&self, pass: usize) -> bool {
        self.rows.reductions(pass).is_empty() && self.rows.element_stores(pass).is_empty()
    }

    fn groups(&self, pass: usize) -> usize {
        self.rows.rows * if self.whole(pass) { 1 } else { self.parts }
    }

    /// Where a part of a reduction of some row lies: its memory and its address there.
    fn place(&self, i: usize, part: &str) -> (usize, String) {
        let reduction = self.reductions.iter().position(|&r| r == i).unwrap_or(0);
        let base = if self.base > 0 { format!("{}u + ", self.base) } else { String::new() };
        let number = format!("{base}row * {}u + {part}", self.parts);
        (self.places.memory(reduction), self.places.number(reduction, &number))
    }

    fn print(&self, m: &mut Module<'_>, pass: usize, group: &str) {
        let (rows, parts) = (self.rows, self.parts);
        let (lanes, vectors) = (self.lanes, rows.vectors());
        let team = Team { lanes, width: lanes };
        let share = vectors.div_ceil(parts);
        let reductions = rows.reductions(pass);
        let last = pass + 1 == rows.passes;
        let levels =
            if last { &[Level::Uniform, Level::Kept, Level::Element][..] } else { &[Level::Element] };
        rows.program.declare(m, levels);
        for i in (0..=pass).flat_map(|pass| rows.reductions(pass)) {
            m.want(Binding::Scratch(self.place(i, "").0), 1);
        }
        let per_row = if self.whole(pass) { 1 } else { parts };
        line!(m, "let place = lane;");
        line!(m, "let row = min({group} / {per_row}u, {}u);", rows.rows - 1);
        line!(m, "let part = {group} % {per_row}u;");
        line!(m, "let real = {group} < {}u;", rows.rows * per_row);
        let row = rows.row_point(m, "row");
        for before in 0..pass {
            for i in rows.scalars(before) {
                rows.program.instruction(m, i, &row, 0, 1);
            }
            let known = rows.reductions(before);
            rows.open_accumulators(m, &known);
            line!(m, "for (var piece = place; piece < {parts}u; piece += {lanes}u) {{");
            for &i in &known {
                let (op, _, dtype) = rows.reduction(i);
                let (memory, at) = self.place(i, "piece");
                let value = kept(m, memory, dtype, &at);
                let sum = combine(m, op, dtype, &format!("acc{i}"), &value);
                line!(m, "acc{i} = {sum};");
            }
            line!(m, "}}");
            rows.close_accumulators(m, team, &known);
        }
        for i in rows.scalars(pass) {
            rows.program.instruction(m, i, &row, 0, 1);
        }
        rows.open_accumulators(m, &reductions);
        let from = m.bind("from", &format!("part * {share}u + place"));
        let to = m.bind("to", &format!("min((part + 1u) * {share}u, {vectors}u)"));
        pass_loop(m, rows, &row, pass, [&from, &to, &format!("{lanes}u")], "real");
        for &i in &reductions {
            let (op, _, dtype) = rows.reduction(i);
            let sum = reduce(m, team, op, dtype, &format!("acc{i}"));
            line!(m, "if (real && place == 0u) {{");
            let (memory, at) = self.place(i, "part");
            keep(m, memory, dtype, &at, &sum);
            line!(m, "}}");
        }
        if last {
            line!(m, "if (real && place == 0u && part == 0u) {{");
            rows.program.stores(m, &rows.row_stores(), &row, 0, 1);
            line!(m, "}}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_right_beyond_32_bits() {
        assert_eq!(share(512, 1 << 21, 1 << 21), 2048);
        assert_eq!(share(512, 1, 1 << 21), 1);
        assert_eq!(share(512, 0, 0), 1);
    }
}
