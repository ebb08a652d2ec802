//! Stable argsort. Every value becomes words whose order as unsigned numbers is the order wanted (NaN last,
//! both zeros equal, inverted if descending), and its position breaks ties. Workgroups sort runs in their
//! memory by a bitonic network; longer lines are merged run by run, where each element finds its place by
//! searching the other run.

use super::functions::Function;
use super::line::Lines;
use super::module::{Binding, Module, line, value_type};
use super::{Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::Sort;
use std::fmt::Write;

const LANES: usize = 256;

pub(super) fn print(printer: &Printer<'_>, body: &Sort, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    let words = key_words(&m, lines.dtype);
    let run = lines.len.next_power_of_two().min(longest(printer, words));
    let (count, len) = (lines.count, lines.len);
    if len <= run {
        return runs(printer, body, run, None, printed);
    }
    // Two copies of keys and positions; each merge goes from one to the other.
    let first = printed.scratch.len();
    for _ in 0..2 {
        printed.scratch.push(count * len * words * 4);
        printed.scratch.push(count * len * 4);
    }
    runs(printer, body, run, Some(first), printed)?;
    let (mut from, mut to, mut run) = (first, first + 2, run);
    while run < len {
        let last = run * 2 >= len;
        merge(printer, body, [run, from, to], last, printed)?;
        (from, to, run) = (to, from, run * 2);
    }
    Ok(())
}

/// The most entries that a workgroup sorts in its memory, a power of two.
fn longest(printer: &Printer<'_>, words: usize) -> usize {
    let fit = printer.caps.workgroup_bytes as usize / (4 * (words + 1));
    let most = if words == 2 { 1024 } else { 2048 };
    most.min(1 << fit.max(1).ilog2())
}

/// Words of a key.
fn key_words(m: &Module<'_>, dtype: DType) -> usize {
    if value_type(dtype, m.printer.caps.int64) == "i64" { 2 } else { 1 }
}

/// The key of a value, most significant word first.
fn key(m: &mut Module<'_>, dtype: DType, x: &str, descending: bool) -> Vec<String> {
    let words = match value_type(dtype, m.printer.caps.int64) {
        "f32" => {
            let nan = m.function(Function::IsNan);
            let bits = m.bind("u", &format!("bitcast<u32>(select({x}, 0.0, {x} == 0.0))"));
            let turned = format!("({bits} ^ select(0x80000000u, 0xffffffffu, {bits} >= 0x80000000u))");
            vec![format!("select({turned}, 0xffffffffu, {nan}({x}))")]
        }
        "i64" => vec![
            format!("(u32(({x} >> 32u) & 0xffffffffli) ^ 0x80000000u)"),
            format!("u32({x} & 0xffffffffli)"),
        ],
        "i32" => vec![format!("(bitcast<u32>({x}) ^ 0x80000000u)")],
        "bool" => vec![format!("select(0u, 1u, {x})")],
        _ => vec![x.to_string()],
    };
    words.into_iter().map(|w| if descending { format!("~({w})") } else { w }).collect()
}

/// Whether the key and position `a` come before `b`; the last of each is the position.
fn precedes(a: &[String], b: &[String]) -> String {
    match a.len() {
        1 => format!("{} < {}", a[0], b[0]),
        _ => format!("(({0} < {1}) | (({0} == {1}) & ({2})))", a[0], b[0], precedes(&a[1..], &b[1..])),
    }
}

/// Writes an entry of the result.
fn put(m: &mut Module<'_>, lines: &Lines<'_>, line: &str, k: &str, position: &str) {
    let at = m.bind("to", &lines.target(line, k));
    let t = value_type(DType::I64, m.printer.caps.int64);
    m.store(Binding::Write(0), DType::I64, &at, &[format!("{t}({position})")]);
}

/// Sorts runs of `run` elements (a power of two) in workgroup memory, into the result or into scratch memory.
fn runs(
    printer: &Printer<'_>,
    body: &Sort,
    run: usize,
    scratch: Option<usize>,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    let words = key_words(&m, lines.dtype);
    match scratch {
        Some(s) => {
            m.want(Binding::Scratch(s), words).want(Binding::Scratch(s + 1), 1);
        }
        None => {
            m.want(Binding::Write(0), 2);
        }
    }
    // Short lines share a workgroup.
    let together = (longest(printer, words).min(512) / run).max(1);
    let size = run * together;
    let per_line = lines.len.div_ceil(run);
    let total = lines.count * per_line;
    let n = lines.len;
    let names: Vec<String> = (0..words).map(|w| format!("key{w}")).chain(["place".into()]).collect();
    for name in &names {
        m.shared(name, "u32", size);
    }
    let entry = |i: &str| -> Vec<String> { names.iter().map(|name| format!("{name}[{i}]")).collect() };
    line!(m, "for (var i = lane; i < {size}u; i += {LANES}u) {{");
    line!(m, "let which = min(group * {together}u + i / {run}u, {}u);", total - 1);
    line!(m, "let k = (which % {per_line}u) * {run}u + i % {run}u;");
    line!(m, "let row = which / {per_line}u;");
    let coords = lines.coords(&mut m, "row");
    let x = lines.element(&mut m, &coords, &format!("min(k, {}u)", n - 1));
    let keys = key(&mut m, lines.dtype, &x, body.descending);
    for (name, key) in names.iter().zip(&keys) {
        // What is past the end of the line comes last.
        line!(m, "{name}[i] = select(0xffffffffu, {key}, k < {n}u);");
    }
    line!(m, "place[i] = k;");
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    line!(m, "for (var block = 2u; block <= {run}u; block <<= 1u) {{");
    line!(m, "for (var apart = block >> 1u; apart > 0u; apart >>= 1u) {{");
    line!(m, "for (var i = lane; i < {}u; i += {LANES}u) {{", size / 2);
    line!(m, "let low = i & (apart - 1u);");
    line!(m, "let a = ((i - low) << 1u) | low;");
    line!(m, "let b = a | apart;");
    let (at_a, at_b) = (entry("a"), entry("b"));
    line!(m, "if (({}) == (((a % {run}u) & block) == 0u)) {{", precedes(&at_b, &at_a));
    for (x, y) in at_a.iter().zip(&at_b) {
        let held = m.bind("held", x);
        line!(m, "{x} = {y}; {y} = {held};");
    }
    line!(m, "}}");
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    line!(m, "}}");
    line!(m, "}}");
    line!(m, "for (var i = lane; i < {size}u; i += {LANES}u) {{");
    line!(m, "let which = group * {together}u + i / {run}u;");
    line!(m, "let k = (which % {per_line}u) * {run}u + i % {run}u;");
    line!(m, "let row = which / {per_line}u;");
    line!(m, "if (which < {total}u && k < {n}u) {{");
    match scratch {
        Some(s) => {
            let at = m.bind("at", &format!("row * {n}u + k"));
            let keys: Vec<String> = (0..words).map(|w| format!("key{w}[i]")).collect();
            m.put_words(Binding::Scratch(s), &format!("({at} * {words}u)"), &keys);
            m.put_words(Binding::Scratch(s + 1), &at, &["place[i]".into()]);
        }
        None => put(&mut m, &lines, "row", "k", "place[i]"),
    }
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, total.div_ceil(together))?);
    Ok(())
}

/// Merges pairs of sorted runs; `[elements of a run, scratch to read, scratch to write]`.
fn merge(
    printer: &Printer<'_>,
    body: &Sort,
    [run, from, to]: [usize; 3],
    last: bool,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let lines = Lines::new(&mut m, &body.value, body.axis);
    let words = key_words(&m, lines.dtype);
    m.want(Binding::Scratch(from), words).want(Binding::Scratch(from + 1), 1);
    if last {
        m.want(Binding::Write(0), 2);
    } else {
        m.want(Binding::Scratch(to), words).want(Binding::Scratch(to + 1), 1);
    }
    let (n, total) = (lines.len, lines.count * lines.len);
    let entry = |m: &mut Module<'_>, at: &str| -> Vec<String> {
        let mut words = m.words(Binding::Scratch(from), &format!("({at} * {words}u)"), words);
        words.extend(m.words(Binding::Scratch(from + 1), at, 1));
        words.iter().map(|w| m.bind("e", w)).collect()
    };
    line!(m, "let index = group * {LANES}u + lane;");
    line!(m, "if (index < {total}u) {{");
    line!(m, "let row = index / {n}u;");
    line!(m, "let k = index % {n}u;");
    let own = entry(&mut m, "index");
    line!(m, "let mine = k / {run}u;");
    line!(m, "let other = (mine ^ 1u) * {run}u;");
    // How many of the other run come before this element.
    line!(m, "var low = 0u;");
    line!(m, "var high = min({run}u, {n}u - min(other, {n}u));");
    line!(m, "while (low < high) {{");
    line!(m, "let middle = (low + high) / 2u;");
    line!(m, "let at = row * {n}u + other + middle;");
    let there = entry(&mut m, "at");
    line!(m, "if ({}) {{ low = middle + 1u; }} else {{ high = middle; }}", precedes(&there, &own));
    line!(m, "}}");
    line!(m, "let rank = (mine & ~1u) * {run}u + k % {run}u + low;");
    let position = &own[words];
    if last {
        put(&mut m, &lines, "row", "rank", position);
    } else {
        let at = m.bind("at", &format!("row * {n}u + rank"));
        m.put_words(Binding::Scratch(to), &format!("({at} * {words}u)"), &own[..words]);
        m.put_words(Binding::Scratch(to + 1), &at, &own[words..]);
    }
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, total.div_ceil(LANES))?);
    Ok(())
}
