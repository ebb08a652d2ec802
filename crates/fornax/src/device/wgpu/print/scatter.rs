//! Scatter-add, always in the order of the values, so that sums come out the same every time. A first
//! dispatch puts the base where the result goes. Then either a workgroup for each row of values whose index
//! is met for the first time adds all rows with that index (gradients of tables), or each lane goes along the
//! axis and adds what falls into the range of targets that it owns.

use super::map::coordinates;
use super::module::{Binding, Module, line, value_type};
use super::program::{Access, access, address, inside, zero};
use super::{Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::ScatterAdd;
use crate::view::{View, numel, row_major};
use std::fmt::Write;

const LANES: usize = 128;
/// Positions that a workgroup looks at before it adds what it found, unless its memory is too small.
const BLOCK: usize = 1024;
/// Rows of values that are loaded together.
const TOGETHER: usize = 8;

pub(super) fn print(printer: &Printer<'_>, body: &ScatterAdd, printed: &mut Printed) -> Result<()> {
    let m = printer.module();
    let in_place = body.base.as_ref().is_some_and(|(read, _)| m.read(*read) == Binding::Write(0));
    if !in_place {
        fill(printer, body, printed)?;
    }
    let shape = &body.value.1.shape;
    if numel(shape) == 0 {
        return Ok(());
    }
    let index = &body.index.1;
    let same =
        (body.axis + 1..shape.len()).all(|a| shape[a] == 1 || index.strides[a] == 0) && index.mask.is_none();
    let inner = numel(&shape[body.axis + 1..]);
    if same && inner >= 16 { rows(printer, body, printed) } else { lines(printer, body, printed) }
}

/// Reads one element of a view, zero where its mask hides it.
fn element(m: &mut Module<'_>, read: usize, view: &View, coords: &[String]) -> String {
    let (binding, dtype) = (m.read(read), m.printer.kernel.reads[read].dtype);
    let at = m.bind("a", &address(view, coords));
    match inside(view, coords) {
        None => m.elements(binding, dtype, &at, 1).remove(0),
        Some(guard) => {
            let guard = m.bind("g", &guard);
            let safe = m.bind("a", &format!("select(0u, {at}, {guard})"));
            let value = m.elements(binding, dtype, &safe, 1).remove(0);
            format!("select({}, {value}, {guard})", zero(dtype, m.printer.caps.int64))
        }
    }
}

/// The base, or zeros, some elements a lane.
fn fill(printer: &Printer<'_>, body: &ScatterAdd, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let port = printer.kernel.writes[0];
    let total = numel(&body.shape);
    let size = port.dtype.size();
    // Past the end of a memory, up to 16 bytes, nobody looks.
    let per = if size == 8 { 2 } else { 4 };
    m.want(Binding::Write(0), size.min(4));
    if let Some((read, _)) = &body.base {
        let binding = m.read(*read);
        m.want(binding, 1);
    }
    let quads = total.div_ceil(per);
    line!(m, "let index = group * {LANES}u + lane;");
    line!(m, "if (index < {quads}u) {{");
    let mut values = vec![];
    for e in 0..per {
        values.push(match &body.base {
            None => zero(port.dtype, printer.caps.int64).to_string(),
            Some((read, view)) => {
                let at = m.bind("i", &format!("min(index * {per}u + {e}u, {}u)", total - 1));
                let coords = coordinates(&mut m, &at, &body.shape, 1);
                let value = element(&mut m, *read, view, &coords);
                m.bind("x", &value)
            }
        });
    }
    m.store(Binding::Write(0), port.dtype, &format!("index * {per}u"), &values);
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, quads.div_ceil(LANES))?);
    Ok(())
}

/// Reports an index outside the axis.
fn report(m: &mut Module<'_>, index: &str, len: usize) {
    line!(
        m,
        "atomicStore(&status[1], u32({index})); atomicStore(&status[2], {len}u); atomicStore(&status[0], 1u);"
    );
}

/// The condition that an index is inside the axis.
fn fits(m: &Module<'_>, index: &str, len: usize) -> String {
    let suffix = if m.printer.caps.int64 { "li" } else { "" };
    format!("(({index} >= 0{suffix}) & ({index} < {len}{suffix}))")
}

/// A workgroup for each position along the axis before which no other has the same index, and some columns.
fn rows(printer: &Printer<'_>, body: &ScatterAdd, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let (axis, shape) = (body.axis, &body.value.1.shape);
    let (count, len) = (shape[axis], body.shape[axis]);
    let outer = numel(&shape[..axis]);
    let inner = numel(&shape[axis + 1..]);
    let dtype = printer.kernel.writes[0].dtype;
    let last = shape.len() - 1;
    let target = View::contiguous(&body.shape);
    let aligned = |view: &View, d: DType| access(view, last, 4, d.size(), false) == Access::Vector;
    let mut result = target.clone();
    result.shape = shape.clone();
    let wide = shape[last].is_multiple_of(4) && aligned(&result, dtype);
    let vector = if wide { 4 } else { 1 };
    let loads = wide && aligned(&body.value.1, dtype);
    let (index, value) = (m.read(body.index.0), m.read(body.value.0));
    m.want(index, 2);
    m.want(value, if loads { dtype.size() } else { 1 });
    m.want_atomic(Binding::Status);
    match (wide, dtype.size()) {
        (true, size) => {
            m.want(Binding::Write(0), size.min(4));
        }
        (false, 1 | 2) => m.want_atomic(Binding::Write(0)),
        _ => {
            m.want(Binding::Write(0), 1);
        }
    }
    m.shared_word("earlier", "atomic<u32>");
    m.shared_word("repeated", "u32");
    let is_small = 4 * (BLOCK + BLOCK / 32 + 3) > printer.caps.workgroup_bytes as usize;
    let block = if is_small { BLOCK / 2 } else { BLOCK };
    // With a bit for each position of a block.
    let bits = block / 32;
    m.shared("same", "atomic<u32>", bits);
    m.shared("list", "u32", block);
    m.shared_word("found", "u32");
    let vectors = inner / vector;
    let lanes = vectors.next_multiple_of(32).clamp(64, 256);
    let chunks = vectors.div_ceil(lanes);
    let groups = outer * count * chunks;
    line!(m, "let real = group < {groups}u;");
    line!(m, "let work = min(group, {}u);", groups - 1);
    line!(m, "let column = (work % {chunks}u) * {lanes}u + lane;");
    line!(m, "let mine = (work / {chunks}u) % {count}u;");
    line!(m, "let before = work / {}u;", chunks * count);
    let head = coordinates(&mut m, "before", &shape[..axis], 1);
    let at_index = |m: &mut Module<'_>, k: &str| {
        let mut coords = head.clone();
        coords.push(k.into());
        coords.resize(shape.len(), "0u".into());
        let value = element(m, body.index.0, &body.index.1, &coords);
        m.bind("n", &value)
    };
    let own = at_index(&mut m, "mine");
    let fits = fits(&m, &own, len);
    line!(m, "let good = {fits};");
    line!(m, "if (!good && real && column == 0u) {{");
    report(&mut m, &own, len);
    line!(m, "}}");
    line!(m, "if (lane == 0u) {{ atomicStore(&earlier, select(0u, 1u, !good | !real)); }}");
    line!(m, "workgroupBarrier();");
    line!(m, "for (var k = lane; k < mine; k += {lanes}u) {{");
    let other = at_index(&mut m, "k");
    line!(m, "if ({other} == {own}) {{ atomicStore(&earlier, 1u); break; }}");
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    line!(m, "if (lane == 0u) {{ repeated = atomicLoad(&earlier); }}");
    line!(m, "if (workgroupUniformLoad(&repeated) == 0u) {{");
    // The lane's columns of the target row.
    line!(m, "let inside = column < {vectors}u;");
    line!(m, "let safe = min(column, {}u);", vectors - 1);
    let mut tail_shape = shape[axis + 1..].to_vec();
    if let Some(n) = tail_shape.last_mut() {
        *n /= vector;
    }
    let mut tail = coordinates(&mut m, "safe", &tail_shape, 1);
    if let Some(c) = tail.last_mut()
        && vector > 1
    {
        *c = format!("({c} * {vector}u)");
    }
    let place = |k: &str| -> Vec<String> {
        head.iter().cloned().chain([k.to_string()]).chain(tail.iter().cloned()).collect()
    };
    let to = m.bind("to", &address(&target, &place(&format!("u32({own})"))));
    let start = m.elements(Binding::Write(0), dtype, &to, vector);
    let t = value_type(dtype, printer.caps.int64);
    for (e, x) in start.iter().enumerate() {
        line!(m, "var sum{e}: {t} = {x};");
    }
    // One bit for each position of a block that has the index, then a list of those, which all lanes follow in order.
    line!(m, "for (var base = mine - mine % {block}u; base < {count}u; base += {block}u) {{");
    line!(m, "if (lane < {bits}u) {{ atomicStore(&same[lane], 0u); }}");
    line!(m, "workgroupBarrier();");
    line!(m, "let end = min({block}u, {count}u - base);");
    line!(m, "for (var i = lane; i < end; i += {lanes}u) {{");
    let other = at_index(&mut m, "(base + i)");
    line!(m, "if (base + i >= mine && {other} == {own}) {{ atomicOr(&same[i / 32u], 1u << (i % 32u)); }}");
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    line!(m, "if (lane < {bits}u) {{");
    line!(m, "var at = 0u;");
    line!(m, "for (var word = 0u; word < lane; word++) {{ at += countOneBits(atomicLoad(&same[word])); }}");
    line!(m, "var left = atomicLoad(&same[lane]);");
    line!(m, "while (left != 0u) {{");
    line!(m, "list[at] = base + lane * 32u + firstTrailingBit(left);");
    line!(m, "at++;");
    line!(m, "left &= left - 1u;");
    line!(m, "}}");
    line!(m, "if (lane == {}u) {{ found = at; }}", bits - 1);
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    // Rows are on their way together; those past the last one are the last one again, and not added.
    line!(m, "for (var n = 0u; n < found; n += {TOGETHER}u) {{");
    let view = &body.value.1;
    let mut rows = vec![];
    for j in 0..TOGETHER {
        let k = m.bind("k", &format!("list[min(n + {j}u, found - 1u)]"));
        let coords = place(&k);
        let values = if loads {
            let at = m.bind("a", &address(view, &coords));
            match inside(view, &coords) {
                None => m.elements(value, dtype, &at, 4),
                Some(guard) => {
                    let guard = m.bind("g", &guard);
                    let at = m.bind("a", &format!("select(0u, {at}, {guard})"));
                    let nothing = zero(dtype, printer.caps.int64);
                    let values = m.elements(value, dtype, &at, 4);
                    values.iter().map(|v| format!("select({nothing}, {v}, {guard})")).collect()
                }
            }
        } else {
            let mut values = vec![];
            for e in 0..vector {
                let mut coords = coords.clone();
                if e > 0 {
                    coords[last] = format!("({} + {e}u)", coords[last]);
                }
                values.push(element(&mut m, body.value.0, view, &coords));
            }
            values
        };
        rows.push(values.iter().map(|x| m.bind("x", x)).collect::<Vec<String>>());
    }
    for (j, row) in rows.iter().enumerate() {
        for (e, x) in row.iter().enumerate() {
            match j {
                0 => line!(m, "sum{e} += {x};"),
                _ => line!(m, "sum{e} = select(sum{e}, sum{e} + {x}, n + {j}u < found);"),
            }
        }
    }
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    line!(m, "}}");
    line!(m, "if (inside) {{");
    let sums: Vec<String> = (0..vector).map(|e| format!("sum{e}")).collect();
    m.store(Binding::Write(0), dtype, &to, &sums);
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(lanes as u32, groups)?);
    Ok(())
}

/// A lane for each position off the axis and range of targets.
fn lines(printer: &Printer<'_>, body: &ScatterAdd, printed: &mut Printed) -> Result<()> {
    let mut m = printer.module();
    let (axis, shape) = (body.axis, &body.value.1.shape);
    let (count, len) = (shape[axis], body.shape[axis]);
    let dtype = printer.kernel.writes[0].dtype;
    let positions = numel(shape) / count;
    let wanted = printer.caps.parallel as usize * LANES;
    // Every range reads all indices, so a range is worth it only while there are lanes to spare.
    let pieces = (wanted / positions.max(1)).clamp(1, len).min(4096);
    let share = len.div_ceil(pieces);
    let pieces = len.div_ceil(share);
    let (index, value) = (m.read(body.index.0), m.read(body.value.0));
    m.want(index, 2);
    m.want(value, 1);
    m.want_atomic(Binding::Status);
    match dtype.size() {
        1 | 2 => m.want_atomic(Binding::Write(0)),
        _ => {
            m.want(Binding::Write(0), 1);
        }
    }
    line!(m, "let work = group * {LANES}u + lane;");
    line!(m, "if (work < {}u) {{", positions * pieces);
    line!(m, "let position = work / {pieces}u;");
    line!(m, "let first = (work % {pieces}u) * {share}u;");
    let mut off = shape.clone();
    off[axis] = 1;
    let coords = coordinates(&mut m, "position", &off, 1);
    line!(m, "for (var k = 0u; k < {count}u; k++) {{");
    let at = |k: &str| {
        let mut coords = coords.clone();
        coords[axis] = k.into();
        coords
    };
    let read = element(&mut m, body.index.0, &body.index.1, &at("k"));
    let n = m.bind("n", &read);
    let fits = fits(&m, &n, len);
    line!(m, "if ({fits}) {{");
    line!(m, "if (u32({n}) >= first && u32({n}) < first + {share}u) {{");
    let mut target = View::contiguous(&body.shape);
    target.strides = row_major(&body.shape);
    let to = m.bind("to", &address(&target, &at(&format!("u32({n})"))));
    let before = m.elements(Binding::Write(0), dtype, &to, 1).remove(0);
    let added = element(&mut m, body.value.0, &body.value.1, &at("k"));
    let sum = m.bind("sum", &format!("{before} + {added}"));
    m.store(Binding::Write(0), dtype, &to, &[sum]);
    line!(m, "}}");
    line!(m, "}} else if (first == 0u) {{");
    report(&mut m, &n, len);
    line!(m, "}}");
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, (positions * pieces).div_ceil(LANES))?);
    Ok(())
}
