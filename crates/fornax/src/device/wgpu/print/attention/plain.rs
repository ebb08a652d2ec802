//! The main dispatch in plain arithmetic: each lane computes a block of scores and of outputs in registers.

use super::super::module::{Module, line};
use super::super::tile::{
    Operand, Panel, ROW_GROUPS, Tile, across_columns, minus_infinity, products, weighted_rows,
};
use super::super::{Printed, Printer};
use super::{Form, declare_results, put_lse, put_out, scale};
use crate::error::Result;
use crate::kernel::Attention;
use std::fmt::Write;

pub(super) fn tiles(
    printer: &Printer<'_>,
    body: &Attention,
    form: &Form,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let sizes = form.sizes;
    let (q, k, v) =
        (Operand::new(&mut m, &body.q), Operand::new(&mut m, &body.k), Operand::new(&mut m, &body.v));
    let mask = body.mask.as_ref().map(|mask| Operand::single(&mut m, mask));
    declare_results(&mut m, body, form, scratch);
    let weights = form.weights();
    let staged = |name: &str, rows: usize, width: usize| form.staged.then(|| Tile::new(name, rows, width));
    let q = Panel { operand: &q, tile: staged("qs", form.queries, sizes.d) };
    let k = Panel { operand: &k, tile: staged("kv", form.keys, sizes.d) };
    let v = Panel { operand: &v, tile: staged("kv", form.keys, sizes.dv) };
    m.shared("ps", "vec4<f32>", weights.len());
    if let Some(tile) = &q.tile {
        m.shared("qs", "vec4<f32>", tile.len());
        m.shared("kv", "vec4<f32>", form.key_words());
    }
    let (rows, parts, lanes) = (form.rows(), form.parts, form.lanes());
    let (own, columns) = (form.queries / ROW_GROUPS, form.keys / form.columns);
    let vectors = sizes.dv.div_ceil(4).div_ceil(form.columns);
    line!(m, "let rg = lane / {}u;", form.columns);
    line!(m, "let cg = lane % {}u;", form.columns);
    let groups = form.open(&mut m);
    let nothing = minus_infinity(&mut m);
    let mut places = vec![];
    for r in 0..own {
        line!(m, "let query{r} = min(start + rg + {}u, {}u);", r * ROW_GROUPS, rows - 1);
        places.push(form.place(&mut m, &format!("query{r}")));
        line!(m, "var largest{r} = {nothing};");
        line!(m, "var sum{r} = 0.0;");
        for g in 0..vectors {
            line!(m, "var o{r}_{g} = vec4<f32>(0.0);");
        }
    }
    let factor = scale(body.spec.scale);
    if let Some(tile) = &q.tile {
        tile.fill(&mut m, lanes, q.operand, Some(&factor), |m, row| {
            let at = m.bind("r", &format!("start + {row}"));
            let safe = m.bind("r", &format!("min({at}, {}u)", rows - 1));
            let (head, t) = form.place(m, &safe);
            (["batch".into(), head, t], format!("{at} < {rows}u"))
        });
    }
    form.open_keys(&mut m, body.spec.causal);
    let key_coords = |j: &str| ["batch".to_string(), "key_head".into(), j.to_string()];
    let fill_keys = |m: &mut Module<'_>, panel: &Panel<'_>| {
        if let Some(tile) = &panel.tile {
            tile.fill(m, lanes, panel.operand, None, |m, row| {
                let at = m.bind("j", &format!("keys_at + {row}"));
                let safe = m.bind("j", &format!("min({at}, {}u)", sizes.tk - 1));
                (key_coords(&safe), format!("{at} < {}u", sizes.tk))
            });
        }
    };
    line!(m, "workgroupBarrier();");
    fill_keys(&mut m, &k);
    line!(m, "workgroupBarrier();");
    // Scores of the tile.
    let s: Vec<Vec<String>> = (0..own).map(|r| (0..columns).map(|c| format!("s{r}_{c}")).collect()).collect();
    s.iter().flatten().for_each(|s| line!(m, "var {s} = 0.0;"));
    for c in 0..columns {
        line!(m, "let key{c} = keys_at + cg + {}u;", c * form.columns);
        line!(m, "let inside{c} = min(key{c}, {}u);", sizes.tk - 1);
    }
    products(
        &mut m,
        sizes.d.div_ceil(4),
        &s,
        |m, r, c| {
            let (head, t) = places[r].clone();
            q.quad(m, &format!("rg + {}u", r * ROW_GROUPS), "rg", &["batch".into(), head, t], c)
        },
        |m, j, c| {
            let local = format!("cg + {}u", j * form.columns);
            k.quad(m, &local, "cg", &key_coords(&format!("inside{j}")), c)
        },
    );
    if q.tile.is_none() {
        s.iter().flatten().for_each(|s| line!(m, "{s} *= {factor};"));
    }
    if let Some(mask) = &mask {
        for (r, row) in s.iter().enumerate() {
            for (c, s) in row.iter().enumerate() {
                let (head, t) = places[r].clone();
                let value = mask.element(&mut m, &["batch".into(), head, t, format!("inside{c}")]);
                line!(m, "{s} += {value};");
            }
        }
    }
    hide(&mut m, body.spec.causal, form, &s, &places, &nothing);
    online_softmax(&mut m, form, &s, vectors, &weights);
    line!(m, "workgroupBarrier();");
    if body.out.is_some() {
        fill_keys(&mut m, &v);
        line!(m, "workgroupBarrier();");
        let acc: Vec<Vec<String>> =
            (0..own).map(|r| (0..vectors).map(|g| format!("o{r}_{g}")).collect()).collect();
        weighted_rows(&mut m, form.keys, &acc, &weights, form.grid(), |m, row, _, g| {
            // Lanes past the width repeat the last vector and store nothing.
            let c = format!("min({}, {}u)", form.grid().column(g), v.operand.quads() - 1);
            let at = m.bind("j", &format!("min(keys_at + {row}, {}u)", sizes.tk - 1));
            v.quad(m, row, row, &key_coords(&at), &c)
        });
    }
    line!(m, "}}");
    line!(m, "workgroupBarrier();");
    let sums: Vec<String> = (0..own).map(|r| format!("sum{r}")).collect();
    across_columns(&mut m, form.columns, "+", &sums, &weights);
    for (r, (head, t)) in places.iter().enumerate() {
        line!(m, "if (real && start + rg + {}u < {rows}u) {{", r * ROW_GROUPS);
        line!(m, "let seen = sum{r} != 0.0;");
        line!(m, "let share = select(0.0, 1.0 / sum{r}, seen);");
        line!(m, "let lse = select({nothing}, largest{r} + log(sum{r}), seen);");
        let row = format!("(unit * {rows}u + query{r}) * {parts}u + part");
        if body.out.is_some() {
            for g in 0..vectors {
                let c = format!("(cg + {}u)", g * form.columns);
                line!(m, "if ({c} < {}u) {{", sizes.dv.div_ceil(4));
                let value = m.bind("x", &format!("o{r}_{g} * share"));
                put_out(&mut m, body, form, scratch, [&row, head, t, &c, &value]);
                line!(m, "}}");
            }
        }
        line!(m, "if (cg == 0u) {{");
        put_lse(&mut m, body, form, scratch, [&row, head, t]);
        line!(m, "}}");
        line!(m, "}}");
    }
    printed.dispatches.push(m.finish(lanes as u32, groups)?);
    Ok(())
}

/// Sets the scores that a query does not see to minus infinity, in the tiles where there are any.
fn hide(
    m: &mut Module<'_>,
    causal: bool,
    form: &Form,
    s: &[Vec<String>],
    places: &[(String, String)],
    nothing: &str,
) {
    let sizes = form.sizes;
    let mut edges = vec![];
    if !sizes.tk.is_multiple_of(form.keys) {
        edges.push(format!("keys_at + {}u > {}u", form.keys, sizes.tk));
    }
    if causal {
        let first = if form.packed { "0u" } else { "start" };
        edges.push(format!("keys_at + {}u > {first}", form.keys - 1));
    }
    if edges.is_empty() {
        return;
    }
    line!(m, "if ({}) {{", edges.join(" || "));
    for (r, row) in s.iter().enumerate() {
        for (c, s) in row.iter().enumerate() {
            // Not `||`, which is a branch: some compilers take minutes for so many of them.
            let mut hidden = format!("(key{c} >= {}u)", sizes.tk);
            if causal {
                hidden += &format!(" | (key{c} > {})", places[r].1);
            }
            line!(m, "{s} = select({s}, {nothing}, {hidden});");
        }
    }
    line!(m, "}}");
}

/// Takes a tile of scores into the running maximum and sum of each row; leaves the weights in `weights`.
fn online_softmax(m: &mut Module<'_>, form: &Form, s: &[Vec<String>], vectors: usize, weights: &Tile) {
    let tops: Vec<String> = (0..s.len()).map(|r| format!("top{r}")).collect();
    for (top, row) in tops.iter().zip(s) {
        let all = row.iter().skip(1).fold(row[0].clone(), |a, b| format!("max({a}, {b})"));
        line!(m, "var {top} = {all};");
    }
    across_columns(m, form.columns, "max", &tops, weights);
    for (r, row) in s.iter().enumerate() {
        line!(m, "top{r} = max(top{r}, largest{r});");
        // A row that has seen nothing is not shifted: minus infinity less itself is not a number.
        line!(m, "let shift{r} = select(top{r}, 0.0, bitcast<u32>(top{r}) == 0xff800000u);");
        line!(m, "let fade{r} = exp(largest{r} - shift{r});");
        line!(m, "largest{r} = top{r};");
        for (c, s) in row.iter().enumerate() {
            line!(m, "{s} = exp({s} - shift{r});");
            let at = weights.at(
                &format!("rg + {}u", r * ROW_GROUPS),
                "rg",
                &format!("({}u + cg) / 4u", c * form.columns),
            );
            line!(m, "{at}[cg % 4u] = {s};");
        }
        line!(m, "sum{r} = sum{r} * fade{r} + {};", row.join(" + "));
        for g in 0..vectors {
            line!(m, "o{r}_{g} *= fade{r};");
        }
    }
}
