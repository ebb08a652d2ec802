//! Reductions across lanes: every `width` consecutive lanes of a workgroup combine their values, and all of them
//! get the result. By shuffles inside a subgroup where they exist, through workgroup memory beyond; always in one
//! fixed order.

use super::module::{Module, line, value_type};
use super::program::combine;
use crate::dtype::DType;
use crate::graph::Reduce;
use std::fmt::Write;

/// Lanes of a workgroup and how many of them work on one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Team {
    pub lanes: u32,
    pub width: u32,
}

/// Values that every lane adds up by itself, rather than in another round.
const FEW: u32 = 32;

/// How sums and candidates pass through workgroup memory: truth values as words.
pub(super) fn shared_as(op: Reduce, dtype: DType) -> (Reduce, DType) {
    let op = match (dtype, op) {
        (DType::Bool, Reduce::Sum) => Reduce::Max,
        (DType::Bool, Reduce::Prod) => Reduce::Min,
        _ => op,
    };
    (op, if dtype == DType::Bool { DType::U32 } else { dtype })
}

/// A value as other lanes can read it from memory: truth values as words.
pub(super) fn as_word(dtype: DType, value: &str) -> String {
    if dtype == DType::Bool { format!("select(0u, 1u, {value})") } else { value.into() }
}

/// What [`as_word`] made of a value, as it was.
pub(super) fn as_before(dtype: DType, value: &str) -> String {
    if dtype == DType::Bool { format!("({value} != 0u)") } else { value.into() }
}

/// Prints the reduction of `value` over each team of lanes; gives the name of the result. The text must be in
/// uniform control flow.
pub(super) fn reduce(m: &mut Module<'_>, team: Team, op: Reduce, dtype: DType, value: &str) -> String {
    if dtype == DType::Bool {
        let (op, word) = shared_as(op, dtype);
        let word = reduce(m, team, op, word, &as_word(dtype, value));
        return as_before(dtype, &word);
    }
    let t = value_type(dtype, m.printer.caps.int64);
    let out = m.fresh("x");
    line!(m, "var {out} = {value};");
    if team.width == 1 {
        return out;
    }
    match (m.printer.caps.subgroup, t) {
        (Some(size), "f32" | "i32" | "u32") => by_shuffles(m, team, (op, dtype), &out, size),
        _ => by_halves(m, team, (op, dtype), &out),
    }
    out
}

/// Declares workgroup memory with a place for every lane, and gives its name.
fn shared(m: &mut Module<'_>, team: Team, t: &str) -> String {
    let name = format!("shared_{t}");
    m.shared(&name, t, team.lanes as usize);
    name
}

/// Combines in rounds: inside subgroups of at least `size` lanes, then one value of each, until one is left.
fn by_shuffles(m: &mut Module<'_>, team: Team, (op, dtype): (Reduce, DType), out: &str, size: u32) {
    let Team { width, .. } = team;
    // How many values of a team are left; as many consecutive lanes hold them.
    let mut left = width;
    loop {
        let shuffles = size.min(left);
        let mut step = shuffles / 2;
        while step > 0 {
            let other = m.bind("o", &format!("subgroupShuffleXor({out}, {step}u)"));
            let combined = combine(m, op, dtype, out, &other);
            line!(m, "{out} = {combined};");
            step /= 2;
        }
        if shuffles == left {
            return;
        }
        let memory = shared(m, team, value_type(dtype, m.printer.caps.int64));
        let parts = left / shuffles;
        let start = format!("(lane / {width}u) * {parts}u");
        // The first round's text is the shorter one, and the only one where subgroups are large.
        if left == width {
            line!(m, "if (lane % {shuffles}u == 0u) {{ {memory}[lane / {shuffles}u] = {out}; }}");
        } else {
            line!(m, "if (lane % {width}u < {left}u && lane % {shuffles}u == 0u) {{");
            line!(m, "{memory}[{start} + (lane % {width}u) / {shuffles}u] = {out}; }}");
        }
        line!(m, "workgroupBarrier();");
        if parts <= FEW {
            let start = m.bind("b", &start);
            line!(m, "{out} = {memory}[{start}];");
            for i in 1..parts {
                let combined = combine(m, op, dtype, out, &format!("{memory}[{start} + {i}u]"));
                line!(m, "{out} = {combined};");
            }
            line!(m, "workgroupBarrier();");
            return;
        }
        line!(m, "{out} = {memory}[{start} + lane % {parts}u];");
        line!(m, "workgroupBarrier();");
        left = parts;
    }
}

/// Combines through workgroup memory, half of the lanes with the other half each time.
fn by_halves(m: &mut Module<'_>, team: Team, (op, dtype): (Reduce, DType), out: &str) {
    let memory = shared(m, team, value_type(dtype, m.printer.caps.int64));
    line!(m, "{memory}[lane] = {out};");
    line!(m, "workgroupBarrier();");
    let mut step = team.width / 2;
    while step > 0 {
        let combined =
            combine(m, op, dtype, &format!("{memory}[lane]"), &format!("{memory}[lane + {step}u]"));
        line!(m, "if (lane % {}u < {step}u) {{ {memory}[lane] = {combined}; }}", team.width);
        line!(m, "workgroupBarrier();");
        step /= 2;
    }
    line!(m, "{out} = {memory}[lane - lane % {}u];", team.width);
    line!(m, "workgroupBarrier();");
}

/// Whether the candidate `(a, i)` comes before `(b, j)` for an arg reduction: larger (smaller), NaN first, then the
/// smaller position.
pub(super) fn precedes(m: &mut Module<'_>, op: Reduce, dtype: DType, a: [&str; 2], b: [&str; 2]) -> String {
    let sign = if op == Reduce::ArgMax { ">" } else { "<" };
    let (value, other, i, j) = (a[0], b[0], a[1], b[1]);
    match value_type(dtype, m.printer.caps.int64) {
        "f32" => {
            let nan = m.function(super::functions::Function::IsNan);
            format!(
                "select(select(({value} {sign} {other}) | (({value} == {other}) & ({i} < {j})), false, {nan}({other})), \
                 !{nan}({other}) | ({i} < {j}), {nan}({value}))"
            )
        }
        _ => format!("(({value} {sign} {other}) | (({value} == {other}) & ({i} < {j})))"),
    }
}

/// The position that an arg reduction finds over each team, as u32. `best` is (value, position) of each lane.
pub(super) fn reduce_arg(
    m: &mut Module<'_>,
    team: Team,
    op: Reduce,
    dtype: DType,
    best: [&str; 2],
) -> String {
    let t = value_type(shared_as(op, dtype).1, m.printer.caps.int64);
    if team.width == 1 {
        return best[1].into();
    }
    shared(m, team, t);
    m.shared("shared_position", "u32", team.lanes as usize);
    line!(m, "shared_{t}[lane] = {}; shared_position[lane] = {};", best[0], best[1]);
    line!(m, "workgroupBarrier();");
    let mut step = team.width / 2;
    while step > 0 {
        let here = [format!("shared_{t}[lane]"), "shared_position[lane]".to_string()];
        let there = [format!("shared_{t}[lane + {step}u]"), format!("shared_position[lane + {step}u]")];
        let better = precedes(m, op, dtype, [&there[0], &there[1]], [&here[0], &here[1]]);
        line!(m, "if (lane % {}u < {step}u && {better}) {{", team.width);
        line!(m, "{} = {}; {} = {}; }}", here[0], there[0], here[1], there[1]);
        line!(m, "workgroupBarrier();");
        step /= 2;
    }
    let out = m.bind("p", &format!("shared_position[lane - lane % {}u]", team.width));
    line!(m, "workgroupBarrier();");
    out
}
