//! The main dispatch with the hardware's matrix units. A subgroup owns rows of queries, which stay in its registers as
//! matrices, and so do the sums of their outputs. Scores and weights pass through workgroup memory, because lanes see
//! no elements of a matrix: scores as floats, weights as halves. For a tile of keys:
//!
//! ```text
//! scores  = queries . keys        keys in the tile, values on their way into registers
//! weights = exp(scores - shift)   by lanes; values into the tile, over the keys
//! outputs += weights values       the next keys on their way
//! ```
//!
//! `shift` follows the largest score of a row only where that has risen far: until then weights stay inside a half's range,
//! and the outputs need no correction, which would take them through workgroup memory too.

use super::super::halves::{
    Operand, SEEN, SIDE, Sight, Stage, Sums, TEAM, Tile, across_team, open_blocks, own_matrices, usable,
    vector,
};
use super::super::module::{Module, line};
use super::super::tile::{Operand as Words, PARTS, minus_infinity};
use super::super::{Printed, Printer};
use super::{Form, declare_results, put_lse, put_out, scale};
use crate::error::Result;
use crate::kernel::Attention;
use std::fmt::Write;

/// Rows of a subgroup, subgroups of a workgroup, keys of a tile.
type Cut = (usize, usize, usize);

/// From the best on; the first that fits is taken.
const CUTS: [Cut; 5] = [(16, 2, 64), (16, 4, 32), (16, 2, 32), (16, 1, 64), (16, 1, 32)];

/// How far a score may be above the shift of its row. Weights are then below 3000.
const FAR: &str = "8.0";

/// The form that uses matrix units, if that can be done and there are queries enough.
pub(super) fn form(printer: &Printer<'_>, body: &Attention, form: Form) -> Option<Form> {
    let caps = printer.caps;
    if !usable(printer, &[&body.q, &body.k, &body.v], body.mask.as_ref()) || form.rows() <= SIDE / 2 {
        return None;
    }
    let cut = |&(rows, subgroups, keys): &Cut| Form {
        queries: rows * subgroups,
        keys,
        staged: true,
        cooperative: Some(rows),
        ..form
    };
    CUTS.iter().map(cut).find(|form| {
        let (keys, weights, sight) = tiles_of(form);
        form.queries <= form.rows().next_power_of_two().max(SIDE)
            && keys.bytes() + weights.bytes() + sight.bytes() + 4 <= caps.workgroup_bytes as usize
            && form.lanes() <= caps.lanes as usize
    })
}

/// Keys, then values; queries at first, then weights; scores, and outputs where they must be seen.
fn tiles_of(form: &Form) -> (Tile, Tile, Sight) {
    let (d, dv) = (form.sizes.d, form.sizes.dv);
    (
        Tile::new("keys", form.keys, d.max(dv)),
        Tile::new("weights", form.queries, form.keys),
        Sight { name: "sight", rows: form.queries, width: form.keys },
    )
}

pub(super) fn tiles(
    printer: &Printer<'_>,
    body: &Attention,
    form: &Form,
    own: usize,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let groups = text(&mut m, body, form, own, scratch);
    printed.dispatches.push(m.finish(form.lanes() as u32, groups)?);
    Ok(())
}

/// Prints the dispatch; gives the number of workgroups.
fn text(m: &mut Module<'_>, body: &Attention, form: &Form, own: usize, scratch: usize) -> usize {
    let sizes = form.sizes;
    let [q, k, v] = [&body.q, &body.k, &body.v].map(|operand| Operand::new(m, operand));
    let mask = body.mask.as_ref().map(|mask| Words::single(m, mask));
    declare_results(m, body, form, scratch);
    let (tile, weights, sight) = tiles_of(form);
    tile.declare(m);
    weights.declare(m);
    sight.declare(m);
    m.shared_word("risen", "u32");
    let (rows, parts, lanes) = (form.rows(), form.parts, form.lanes());
    let groups = form.open(m);
    open_blocks(m, own);
    let nothing = minus_infinity(m);
    let mut places = vec![];
    for r in 0..own / SEEN {
        line!(m, "let row{r} = team + {}u;", r * SEEN);
        line!(m, "let query{r} = min(start + row{r}, {}u);", rows - 1);
        places.push(form.place(m, &format!("query{r}")));
        line!(m, "var shift{r} = {nothing};");
        line!(m, "var sum{r} = 0.0;");
    }
    let wanted = body.out.is_some();
    let outputs = Sums::new(m, "o", own, sizes.dv);
    let queries = own_matrices(m, "q", &q, weights, (own, rows, lanes), |m, row| {
        let (head, t) = form.place(m, row);
        ["batch".into(), head, t]
    });
    let head = ["batch", "key_head"];
    let [k, v] = [&k, &v].map(|operand| Stage::new(m, operand, tile, sizes.tk, lanes));
    line!(m, "let first = part * {}u;", form.share);
    k.load_positions(m, "first", head);

    form.open_keys(m, body.spec.causal);
    line!(m, "workgroupBarrier();");
    k.put(m, "keys_at");
    line!(m, "if (lane == 0u) {{ risen = 0u; }}");
    line!(m, "workgroupBarrier();");
    if wanted {
        v.load_positions(m, "keys_at", head);
    }
    line!(m, "{{");
    let scores = Sums::new(m, "s", own, form.keys);
    let left = |_: &mut Module<'_>, step: usize| queries[step].clone();
    scores.add(m, sizes.d, left, |m, name, at, column| tile.right_turned(m, name, column, at));
    scores.show(m, &sight, 0);
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    if wanted {
        v.put(m, "keys_at");
    }
    let fades = weigh(m, body, form, mask.as_ref(), &places);
    if wanted {
        line!(m, "let corrected = workgroupUniformLoad(&risen);");
        line!(m, "if (corrected != 0u) {{");
        for first in (0..sizes.dv).step_by(sight.width) {
            outputs.show(m, &sight, first);
            line!(m, "workgroupBarrier();");
            for (r, fade) in fades.iter().enumerate() {
                for g in 0..sight.width.min(sizes.dv - first).div_ceil(4 * TEAM) {
                    let at = sight.four(&format!("row{r}"), &vector(g));
                    line!(m, "{at} = {at} * {fade};");
                }
            }
            line!(m, "workgroupBarrier();");
            outputs.take_back(m, &sight, first);
        }
        line!(m, "}}");
    }
    line!(m, "let next = keys_at + {}u;", form.keys);
    k.load_positions(m, "next", head);
    if wanted {
        let left = |m: &mut Module<'_>, step: usize| weights.lefts(m, own, step, |i| format!("a{i}"));
        outputs.add(m, form.keys, left, |m, name, at, column| tile.right(m, name, at, column));
    }
    line!(m, "}}");

    for r in 0..places.len() {
        across_team(m, "+", &format!("sum{r}"));
        line!(m, "let seen{r} = sum{r} != 0.0;");
        line!(m, "let share{r} = select(0.0, 1.0 / sum{r}, seen{r});");
        line!(m, "let stored{r} = real & (start + row{r} < {rows}u);");
    }
    let scratch_row = |r: usize| format!("(unit * {rows}u + query{r}) * {parts}u + part");
    for first in (0..if wanted { sizes.dv } else { 0 }).step_by(sight.width) {
        line!(m, "workgroupBarrier();");
        outputs.show(m, &sight, first);
        line!(m, "workgroupBarrier();");
        for (r, (head, t)) in places.iter().enumerate() {
            for g in 0..sight.width / (4 * TEAM) {
                let c = format!("({} + {}u)", vector(g), first / 4);
                line!(m, "if (stored{r} && {c} < {}u) {{", sizes.dv / 4);
                let value =
                    m.bind("x", &format!("{} * share{r}", sight.four(&format!("row{r}"), &vector(g))));
                put_out(m, body, form, scratch, [&scratch_row(r), head, t, &c, &value]);
                line!(m, "}}");
            }
        }
    }
    for (r, (head, t)) in places.iter().enumerate().filter(|_| parts > 1 || body.lse.is_some()) {
        line!(m, "if (stored{r} && column == 0u) {{");
        line!(m, "let lse = select({nothing}, shift{r} + log(sum{r}), seen{r});");
        put_lse(m, body, form, scratch, [&scratch_row(r), head, t]);
        line!(m, "}}");
    }
    groups
}

/// Turns the scores that are seen into weights. Gives what the outputs of each row fade by, as names.
fn weigh(
    m: &mut Module<'_>,
    body: &Attention,
    form: &Form,
    mask: Option<&Words>,
    places: &[(String, String)],
) -> Vec<String> {
    let (_, weights, sight) = tiles_of(form);
    let (sizes, factor, nothing) = (form.sizes, scale(body.spec.scale), minus_infinity(m));
    let vectors = form.keys / (4 * TEAM);
    for g in 0..vectors {
        line!(m, "let key{g} = keys_at + {} * 4u;", vector(g));
        if mask.is_some() {
            (0..4).for_each(|e| line!(m, "let inside{g}_{e} = min(key{g} + {e}u, {}u);", sizes.tk - 1));
        }
    }
    for (r, (head, t)) in places.iter().enumerate() {
        for g in 0..vectors {
            line!(m, "var x{r}_{g} = {} * {factor};", sight.four(&format!("row{r}"), &vector(g)));
            if let Some(mask) = mask {
                let coords = |e: usize| ["batch".into(), head.clone(), t.clone(), format!("inside{g}_{e}")];
                let values: Vec<String> = (0..4).map(|e| mask.element(m, &coords(e))).collect();
                line!(m, "x{r}_{g} += vec4<f32>({});", values.join(", "));
            }
        }
    }
    for g in 0..vectors {
        let each = format!("(vec4<u32>(key{g}) + vec4<u32>(0u, 1u, 2u, 3u))");
        for (r, (_, t)) in places.iter().enumerate() {
            let mut hidden = vec![];
            if !sizes.tk.is_multiple_of(form.keys) {
                hidden.push(format!("({each} >= vec4<u32>({}u))", sizes.tk));
            }
            if body.spec.causal {
                hidden.push(format!("({each} > vec4<u32>({t}))"));
            }
            if !hidden.is_empty() {
                let hidden = hidden.join(" | ");
                line!(m, "x{r}_{g} = select(x{r}_{g}, vec4<f32>({nothing}), {hidden});");
            }
        }
    }
    let each = |g: usize, r: usize| PARTS.map(|part| format!("x{r}_{g}.{part}"));
    let mut fades = vec![];
    for r in 0..places.len() {
        let all: Vec<String> = (0..vectors).flat_map(|g| each(g, r)).collect();
        let largest = all.iter().skip(1).fold(all[0].clone(), |a, b| format!("max({a}, {b})"));
        line!(m, "var top{r} = {largest};");
        across_team(m, "max", &format!("top{r}"));
        line!(m, "let far{r} = top{r} > shift{r} + {FAR};");
        let unseen = |shift: &str| format!("(bitcast<u32>({shift}) == 0xff800000u)");
        // What was not seen yet has no outputs to correct.
        line!(m, "if (far{r} && !{}) {{ risen = 1u; }}", unseen(&format!("shift{r}")));
        line!(m, "let fade{r} = select(1.0, exp(shift{r} - top{r}), far{r});");
        line!(m, "shift{r} = select(shift{r}, top{r}, far{r});");
        // A row that has seen nothing is not shifted: minus infinity less itself is not a number.
        line!(m, "let base{r} = select(shift{r}, 0.0, {});", unseen(&format!("shift{r}")));
        for g in 0..vectors {
            line!(m, "x{r}_{g} = exp(x{r}_{g} - vec4<f32>(base{r}));");
            line!(m, "{} = vec4<f16>(x{r}_{g});", weights.four(&format!("row{r}"), &vector(g)));
        }
        line!(m, "sum{r} = sum{r} * fade{r} + {};", all.join(" + "));
        fades.push(format!("fade{r}"));
    }
    fades
}
