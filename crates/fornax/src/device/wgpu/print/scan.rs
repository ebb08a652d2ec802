//! Running sums. Where lines are short or plenty, a lane goes along each; otherwise a workgroup sums a line
//! chunk by chunk and carries the total on. A few very long lines are cut into parts, whose sums a first
//! dispatch finds.

use super::lanes::{Team, reduce};
use super::line::Lines;
use super::module::{Binding, Module, line};
use super::parts::{bytes_kept, keep, kept};
use super::program::{combine, identity};
use super::{Printed, Printer};
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::Scan;
use std::fmt::Write;

const LANES: usize = 256;
/// Elements that a lane takes of a chunk.
const EACH: usize = 4;
const CHUNK: usize = LANES * EACH;

pub(super) fn print(printer: &Printer<'_>, body: &Scan, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    if lines.len <= 32 || (lines.count >= 4096 && lines.inner >= 32) {
        return sequential(printer, body, printed);
    }
    let chunks = lines.len.div_ceil(CHUNK);
    let wanted = (printer.caps.parallel as usize / lines.count.max(1)).max(1);
    // A part of a few chunks pays for the second reading.
    let per = chunks.div_ceil(wanted).max(4);
    let parts = chunks.div_ceil(per);
    let scratch = printed.scratch.len();
    if parts > 1 {
        printed.scratch.push(lines.count * parts * bytes_kept(lines.dtype));
        part_sums(printer, body, [parts, per * CHUNK, scratch], printed)?;
    }
    chunked(printer, body, [parts, per * CHUNK, scratch], printed)
}

fn want_result(m: &mut Module<'_>) {
    match m.printer.kernel.writes[0].dtype.size() {
        1 | 2 => m.want_atomic(Binding::Write(0)),
        _ => {
            m.want(Binding::Write(0), 1);
        }
    }
}

fn put(m: &mut Module<'_>, lines: &Lines<'_>, line: &str, k: &str, value: &str) {
    let dtype = m.printer.kernel.writes[0].dtype;
    let at = m.bind("to", &lines.target(line, k));
    m.store(Binding::Write(0), dtype, &at, &[value.to_string()]);
}

/// One lane a line.
fn sequential(printer: &Printer<'_>, body: &Scan, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    want_result(&mut m);
    line!(m, "let index = group * {LANES}u + lane;");
    line!(m, "if (index < {}u) {{", lines.count);
    let coords = lines.coords(&mut m, "index");
    let start = identity(&mut m, Reduce::Sum, lines.dtype);
    line!(m, "var sum: {} = {start};", lines.value_type(&m));
    line!(m, "for (var k = 0u; k < {}u; k++) {{", lines.len);
    let x = lines.element(&mut m, &coords, "k");
    let sum = combine(&mut m, Reduce::Sum, lines.dtype, "sum", &x);
    line!(m, "sum = {sum};");
    put(&mut m, &lines, "index", "k", "sum");
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, lines.count.div_ceil(LANES))?);
    Ok(())
}

/// The sums of the parts of each line; `[parts, elements of a part, scratch]`.
fn part_sums(
    printer: &Printer<'_>,
    body: &Scan,
    [parts, share, scratch]: [usize; 3],
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    m.want(Binding::Scratch(scratch), 1);
    let groups = lines.count * parts;
    line!(m, "let work = min(group, {}u);", groups - 1);
    line!(m, "let row = work / {parts}u;");
    line!(m, "let part = work % {parts}u;");
    let coords = lines.coords(&mut m, "row");
    let start = identity(&mut m, Reduce::Sum, lines.dtype);
    line!(m, "var sum: {} = {start};", lines.value_type(&m));
    line!(m, "let until = min({}u, (part + 1u) * {share}u);", lines.len);
    line!(m, "for (var k = part * {share}u + lane; k < until; k += {LANES}u) {{");
    let x = lines.element(&mut m, &coords, "k");
    let sum = combine(&mut m, Reduce::Sum, lines.dtype, "sum", &x);
    line!(m, "sum = {sum};");
    line!(m, "}}");
    let team = Team { lanes: LANES as u32, width: LANES as u32 };
    let total = reduce(&mut m, team, Reduce::Sum, lines.dtype, "sum");
    line!(m, "if (lane == 0u && group < {groups}u) {{");
    keep(&mut m, scratch, lines.dtype, "work", &total);
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, groups)?);
    Ok(())
}

/// A workgroup for each part of a line.
fn chunked(
    printer: &Printer<'_>,
    body: &Scan,
    [parts, share, scratch]: [usize; 3],
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    want_result(&mut m);
    let groups = lines.count * parts;
    let t = lines.value_type(&m);
    line!(m, "let real = group < {groups}u;");
    line!(m, "let work = min(group, {}u);", groups - 1);
    line!(m, "let row = work / {parts}u;");
    line!(m, "let part = work % {parts}u;");
    let coords = lines.coords(&mut m, "row");
    let nothing = identity(&mut m, Reduce::Sum, lines.dtype);
    let add = |m: &mut Module<'_>, a: &str, b: &str| combine(m, Reduce::Sum, lines.dtype, a, b);
    line!(m, "var carry: {t} = {nothing};");
    if parts > 1 {
        m.want(Binding::Scratch(scratch), 1);
        line!(m, "for (var p = 0u; p < part; p++) {{");
        let x = kept(&mut m, scratch, lines.dtype, &format!("row * {parts}u + p"));
        let sum = add(&mut m, "carry", &x);
        line!(m, "carry = {sum};");
        line!(m, "}}");
    }
    m.shared("totals", t, LANES);
    line!(m, "let until = min({}u, (part + 1u) * {share}u);", lines.len);
    line!(m, "for (var chunk = part * {share}u; chunk < until; chunk += {CHUNK}u) {{");
    line!(m, "let first = chunk + lane * {EACH}u;");
    for e in 0..EACH {
        line!(m, "var upto{e}: {t} = {nothing};");
        line!(m, "if (first + {e}u < until) {{");
        let x = lines.element(&mut m, &coords, &format!("(first + {e}u)"));
        line!(m, "upto{e} = {x};");
        line!(m, "}}");
        if e > 0 {
            let sum = add(&mut m, &format!("upto{}", e - 1), &format!("upto{e}"));
            line!(m, "upto{e} = {sum};");
        }
    }
    // The sums of the lanes before this one, by doubling.
    let last = format!("upto{}", EACH - 1);
    line!(m, "var total = {last};");
    line!(m, "totals[lane] = total;");
    line!(m, "workgroupBarrier();");
    let mut step = 1;
    while step < LANES {
        line!(m, "if (lane >= {step}u) {{");
        let sum = add(&mut m, &format!("totals[lane - {step}u]"), "total");
        line!(m, "total = {sum};");
        line!(m, "}}");
        line!(m, "workgroupBarrier();");
        line!(m, "totals[lane] = total;");
        line!(m, "workgroupBarrier();");
        step *= 2;
    }
    line!(m, "var before = carry;");
    line!(m, "if (lane > 0u) {{");
    let sum = add(&mut m, "carry", "totals[lane - 1u]");
    line!(m, "before = {sum};");
    line!(m, "}}");
    for e in 0..EACH {
        line!(m, "if (real && first + {e}u < until) {{");
        let sum = add(&mut m, "before", &format!("upto{e}"));
        let value = m.bind("y", &sum);
        put(&mut m, &lines, "row", &format!("(first + {e}u)"), &value);
        line!(m, "}}");
    }
    let sum = add(&mut m, "carry", &format!("totals[{}u]", LANES - 1));
    line!(m, "carry = {sum};");
    line!(m, "workgroupBarrier();");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, groups)?);
    Ok(())
}
