//! The gradients of attention, recomputing the weights tile by tile from the log-sum-exp. One dispatch sums
//! the gradient against the output for each row; one owns tiles of keys and goes over the queries that see
//! them (dk, dv); one owns tiles of queries and goes over the keys they see (dq). The last two are one text
//! with the roles of queries and keys exchanged. Nothing is added by two workgroups, so results are the same
//! every time.

use super::attention::{Sizes, scale};
use super::lanes::{Team, reduce};
use super::map::coordinates;
use super::module::{Binding, Module, line};
use super::tile::{
    Operand, Panel, ROW_GROUPS, Tile, minus_infinity, products, store_quad, want_quads, weighted_rows,
};
use super::{Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::AttentionGrad;
use crate::view::View;
use std::fmt::Write;

/// Tiles from the best on: own rows, rows that pass by, lanes that share a row.
const TILES: [(usize, usize, usize); 6] =
    [(64, 32, 8), (32, 32, 8), (16, 32, 8), (16, 16, 8), (8, 16, 8), (8, 8, 8)];

#[derive(Clone, Copy, Debug)]
struct Form {
    sizes: Sizes,
    own: usize,
    passing: usize,
    columns: usize,
    staged: bool,
}

impl Form {
    fn new(printer: &Printer<'_>, sizes: Sizes, own_rows: usize) -> Form {
        for (own, passing, columns) in TILES {
            let form = Form { sizes, own, passing, columns, staged: true };
            if own <= own_rows.next_power_of_two().max(8)
                && form.bytes() <= printer.caps.workgroup_bytes as usize
            {
                return form;
            }
        }
        Form { sizes, own: 8, passing: 8, columns: 8, staged: false }
    }

    fn tile(&self, name: &str, rows: usize, width: usize) -> Tile {
        Tile { name: name.into(), rows, quads: width.div_ceil(4) }
    }

    /// The four operands in workgroup memory: own rows for the scores and for the gradient, then passing
    /// rows.
    fn tiles(&self) -> [Tile; 4] {
        let Sizes { d, dv, .. } = self.sizes;
        [
            self.tile("own_a", self.own, d),
            self.tile("own_b", self.own, dv),
            self.tile("pass_a", self.passing, d),
            self.tile("pass_b", self.passing, dv),
        ]
    }

    fn weights(&self) -> Tile {
        self.tile("ps", self.own, self.passing)
    }

    fn bytes(&self) -> usize {
        (self.tiles().iter().map(Tile::len).sum::<usize>() + self.weights().len()) * 16
    }

    fn lanes(&self) -> usize {
        self.columns * ROW_GROUPS
    }
}

/// Which operand's tiles a dispatch owns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Keys,
    Queries,
}

/// `[B, T, H, D]` in the order of the other operands.
fn turned((read, view): &(usize, View)) -> (usize, View) {
    (*read, view.permute(&[0, 2, 1, 3]))
}

pub(super) fn print(printer: &Printer<'_>, body: &AttentionGrad, printed: &mut Printed) -> Result<()> {
    let sizes = Sizes::new(&body.q.1.shape, &body.k.1.shape, &body.v.1.shape)?;
    let scratch = printed.scratch.len();
    if body.dq.is_some() || body.dk.is_some() {
        printed.scratch.push(sizes.batch * sizes.heads * sizes.tq * 4);
        delta(printer, body, sizes, scratch, printed)?;
    }
    if body.dk.is_some() || body.dv.is_some() {
        side(printer, body, sizes, Owner::Keys, scratch, printed)?;
    }
    if body.dq.is_some() {
        side(printer, body, sizes, Owner::Queries, scratch, printed)?;
    }
    Ok(())
}

/// `sum(grad * out)` of each row, `[B, H, Tq]`.
fn delta(
    printer: &Printer<'_>,
    body: &AttentionGrad,
    sizes: Sizes,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let (out, grad) = (Operand::new(&mut m, &turned(&body.out)), Operand::new(&mut m, &turned(&body.grad)));
    m.want(Binding::Scratch(scratch), 1);
    let team = Team { lanes: 128, width: 8 };
    let rows = sizes.batch * sizes.heads * sizes.tq;
    line!(m, "let wanted = group * {}u + lane / {}u;", team.lanes / team.width, team.width);
    line!(m, "let row = min(wanted, {}u);", rows - 1);
    let coords = coordinates(&mut m, "row", &[sizes.batch, sizes.heads, sizes.tq], 1);
    line!(m, "var sum = 0.0;");
    line!(m, "for (var c = lane % {w}u; c < {}u; c += {w}u) {{", out.quads(), w = team.width);
    let (x, y) = (out.quad(&mut m, &coords, "c"), grad.quad(&mut m, &coords, "c"));
    line!(m, "sum += dot({x}, {y});");
    line!(m, "}}");
    let sum = reduce(&mut m, team, Reduce::Sum, DType::F32, "sum");
    line!(m, "if (wanted < {rows}u && lane % {}u == 0u) {{", team.width);
    m.store(Binding::Scratch(scratch), DType::F32, "row", &[sum]);
    line!(m, "}}");
    printed.dispatches.push(m.finish(team.lanes, rows.div_ceil((team.lanes / team.width) as usize))?);
    Ok(())
}

/// The dispatch that owns tiles of keys or of queries.
fn side(
    printer: &Printer<'_>,
    body: &AttentionGrad,
    sizes: Sizes,
    owner: Owner,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    let keys = owner == Owner::Keys;
    let (own_rows, pass_rows) = if keys { (sizes.tk, sizes.tq) } else { (sizes.tq, sizes.tk) };
    let form = Form::new(printer, sizes, own_rows);
    let mut m = printer.module();
    let (q, k) = (Operand::new(&mut m, &body.q), Operand::new(&mut m, &body.k));
    let (v, g) = (Operand::new(&mut m, &body.v), Operand::new(&mut m, &turned(&body.grad)));
    let mask = body.mask.as_ref().map(|mask| Operand::single(&mut m, mask));
    let lse = Operand::single(&mut m, &body.lse);
    // What the weights and what the gradients of the scores are multiplied into; the value needs no delta.
    let (by_scores, by_weights) = if keys { (body.dk, body.dv) } else { (body.dq, None) };
    if by_scores.is_some() {
        m.want(Binding::Scratch(scratch), 1);
    }
    for (write, width) in [(by_scores, sizes.d), (by_weights, sizes.dv)] {
        if let Some(write) = write {
            want_quads(&mut m, write, width);
        }
    }
    let weights = form.weights();
    let _ = writeln!(m.globals, "var<workgroup> ps: array<vec4<f32>, {}>;", weights.len());
    let tiles = form.tiles();
    if form.staged {
        for tile in &tiles {
            let _ = writeln!(m.globals, "var<workgroup> {}: array<vec4<f32>, {}>;", tile.name, tile.len());
        }
    }
    let operands = if keys { [&k, &v, &q, &g] } else { [&q, &g, &k, &v] };
    let mut tiles = tiles.into_iter();
    let panels = operands.map(|operand| Panel { operand, tile: tiles.next().filter(|_| form.staged) });
    let [own_a, own_b, pass_a, pass_b] = &panels;
    let (lanes, rows, columns) = (form.lanes(), form.own / ROW_GROUPS, form.passing / form.columns);
    let (heads, count) = if keys { (sizes.key_heads, sizes.tk) } else { (sizes.heads, sizes.tq) };
    let blocks = count.div_ceil(form.own);
    let groups = sizes.batch * heads * blocks;
    line!(m, "let real = group < {groups}u;");
    line!(m, "let work = min(group, {}u);", groups - 1);
    line!(m, "let rg = lane / {}u;", form.columns);
    line!(m, "let cg = lane % {}u;", form.columns);
    // The first tiles of keys are seen by the most queries, the last tiles of queries see the most keys.
    match keys {
        true => line!(m, "let start = (work % {blocks}u) * {}u;", form.own),
        false => line!(m, "let start = ({}u - work % {blocks}u) * {}u;", blocks - 1, form.own),
    }
    line!(m, "let own_head = (work / {blocks}u) % {heads}u;");
    line!(m, "let batch = work / {}u;", blocks * heads);
    let nothing = minus_infinity(&mut m);
    let (d4, dv4) = (sizes.d.div_ceil(4), sizes.dv.div_ceil(4));
    let (a_vectors, b_vectors) = (d4.div_ceil(form.columns), dv4.div_ceil(form.columns));
    let names = |stem: &str, n: usize| -> Vec<Vec<String>> {
        (0..rows).map(|r| (0..n).map(|g| format!("{stem}{r}_{g}")).collect()).collect()
    };
    let (acc_a, acc_b) = (names("da", a_vectors), names("db", b_vectors));
    let wanted = [by_scores.map(|_| &acc_a), by_weights.map(|_| &acc_b)];
    for acc in wanted.iter().flatten().flat_map(|acc| acc.iter().flatten()) {
        line!(m, "var {acc} = vec4<f32>(0.0);");
    }
    for r in 0..rows {
        line!(m, "let own{r} = min(start + rg + {}u, {}u);", r * ROW_GROUPS, count - 1);
    }
    let own_coords = |t: &str| ["batch".to_string(), "own_head".into(), t.to_string()];
    for panel in [own_a, own_b] {
        if let Some(tile) = &panel.tile {
            tile.fill(&mut m, lanes, panel.operand, None, |m, row| {
                let at = m.bind("r", &format!("start + {row}"));
                let safe = m.bind("r", &format!("min({at}, {}u)", own_rows - 1));
                (own_coords(&safe), format!("{at} < {own_rows}u"))
            });
        }
    }
    // The heads and tiles that pass by.
    let group = sizes.group();
    if keys {
        line!(m, "for (var member = 0u; member < {group}u; member++) {{");
        line!(m, "let head = own_head * {group}u + member;");
        line!(m, "let pass_head = head;");
        let first = if body.spec.causal { format!("start - start % {}u", form.passing) } else { "0u".into() };
        line!(m, "for (var pass_at = {first}; pass_at < {pass_rows}u; pass_at += {}u) {{", form.passing);
    } else {
        line!(m, "let head = own_head;");
        line!(m, "let pass_head = own_head / {group}u;");
        let until = match body.spec.causal {
            true => format!("min({pass_rows}u, start + {}u)", form.own),
            false => format!("{pass_rows}u"),
        };
        line!(m, "for (var pass_at = 0u; pass_at < {until}; pass_at += {}u) {{", form.passing);
    }
    let pass_coords = |t: &str| ["batch".to_string(), "pass_head".into(), t.to_string()];
    line!(m, "workgroupBarrier();");
    for panel in [pass_a, pass_b] {
        if let Some(tile) = &panel.tile {
            tile.fill(&mut m, lanes, panel.operand, None, |m, row| {
                let at = m.bind("r", &format!("pass_at + {row}"));
                let safe = m.bind("r", &format!("min({at}, {}u)", pass_rows - 1));
                (pass_coords(&safe), format!("{at} < {pass_rows}u"))
            });
        }
    }
    line!(m, "workgroupBarrier();");
    for c in 0..columns {
        line!(m, "let at{c} = pass_at + cg + {}u;", c * form.columns);
        line!(m, "let pass{c} = min(at{c}, {}u);", pass_rows - 1);
    }
    let product = |m: &mut Module<'_>, acc: &[Vec<String>], own: &Panel<'_>, pass: &Panel<'_>| {
        acc.iter().flatten().for_each(|s| line!(m, "var {s} = 0.0;"));
        products(
            m,
            own.operand.quads(),
            acc,
            |m, r, c| {
                let local = format!("rg + {}u", r * ROW_GROUPS);
                own.quad(m, &local, "rg", &own_coords(&format!("own{r}")), c)
            },
            |m, j, c| {
                let local = format!("cg + {}u", j * form.columns);
                pass.quad(m, &local, "cg", &pass_coords(&format!("pass{j}")), c)
            },
        );
    };
    // The weights, from the scores and the log-sum-exp of their query.
    let factor = scale(body.spec.scale);
    let s = names("s", columns);
    product(&mut m, &s, own_a, pass_a);
    let position = |r: usize, c: usize| match keys {
        true => (format!("pass{c}"), format!("own{r}")),
        false => (format!("own{r}"), format!("pass{c}")),
    };
    let query_values = |m: &mut Module<'_>, stem: &str, value: &dyn Fn(&mut Module<'_>, &str) -> String| {
        let n = if keys { columns } else { rows };
        for i in 0..n {
            let query = if keys { format!("pass{i}") } else { format!("own{i}") };
            let value = value(m, &query);
            line!(m, "let {stem}{i} = {value};");
        }
    };
    query_values(&mut m, "lse", &|m, query| lse.element(m, &["batch".into(), "head".into(), query.into()]));
    for (r, row) in s.iter().enumerate() {
        for (c, s) in row.iter().enumerate() {
            let (query, key) = position(r, c);
            line!(m, "{s} *= {factor};");
            if let Some(mask) = &mask {
                let value =
                    mask.element(&mut m, &["batch".into(), "head".into(), query.clone(), key.clone()]);
                line!(m, "{s} += {value};");
            }
            let mut hidden = vec![format!("bitcast<u32>({s}) == 0xff800000u")];
            if !pass_rows.is_multiple_of(form.passing) {
                hidden.push(format!("at{c} >= {pass_rows}u"));
            }
            if body.spec.causal {
                hidden.push(format!("{key} > {query}"));
            }
            let lse = format!("lse{}", if keys { c } else { r });
            // Hidden before the exponential: the log-sum-exp of a row that sees nothing is minus infinity.
            line!(m, "let hidden{r}_{c} = {};", hidden.join(" || "));
            line!(m, "{s} = exp(select({s} - {lse}, {nothing}, hidden{r}_{c}));");
        }
    }
    let spread = |m: &mut Module<'_>, s: &[Vec<String>]| {
        for (r, row) in s.iter().enumerate() {
            for (c, s) in row.iter().enumerate() {
                let at = format!("({}u + cg) / 4u", c * form.columns);
                let place = weights.at(&format!("rg + {}u", r * ROW_GROUPS), "rg", &at);
                line!(m, "{place}[cg % 4u] = {s};");
            }
        }
    };
    let accumulate = |m: &mut Module<'_>, acc: &[Vec<String>], pass: &Panel<'_>| {
        weighted_rows(m, form.passing, acc, &weights, |m, row, g| {
            let c = format!("min(cg + {}u, {}u)", g * form.columns, pass.operand.quads() - 1);
            let at = m.bind("j", &format!("min(pass_at + {row}, {}u)", pass_rows - 1));
            pass.quad(m, row, row, &pass_coords(&at), &c)
        });
    };
    if by_weights.is_some() {
        spread(&mut m, &s);
        line!(m, "workgroupBarrier();");
        accumulate(&mut m, &acc_b, pass_b);
        line!(m, "workgroupBarrier();");
    }
    if by_scores.is_some() {
        let p = names("p", columns);
        product(&mut m, &p, own_b, pass_b);
        query_values(&mut m, "delta", &|m, query| {
            let at = format!("(batch * {}u + head) * {}u + {query}", sizes.heads, sizes.tq);
            m.elements(Binding::Scratch(scratch), DType::F32, &at, 1).remove(0)
        });
        for (r, row) in p.iter().enumerate() {
            for (c, p) in row.iter().enumerate() {
                let delta = format!("delta{}", if keys { c } else { r });
                line!(m, "{p} = select(s{r}_{c} * ({p} - {delta}) * {factor}, 0.0, hidden{r}_{c});");
            }
        }
        spread(&mut m, &p);
        line!(m, "workgroupBarrier();");
        accumulate(&mut m, &acc_a, pass_a);
    }
    line!(m, "}}");
    if keys {
        line!(m, "}}");
    }
    for (write, acc, width) in [(by_scores, &acc_a, sizes.d), (by_weights, &acc_b, sizes.dv)] {
        let Some(write) = write else { continue };
        for (r, row) in acc.iter().enumerate() {
            line!(m, "if (real && start + rg + {}u < {count}u) {{", r * ROW_GROUPS);
            for (g, value) in row.iter().enumerate() {
                let c = format!("(cg + {}u)", g * form.columns);
                line!(m, "if ({c} < {}u) {{", width.div_ceil(4));
                let at = format!("(batch * {count}u + own{r}) * {heads}u + own_head");
                store_quad(&mut m, write, width, &at, &c, value);
                line!(m, "}}");
            }
            line!(m, "}}");
        }
    }
    printed.dispatches.push(m.finish(lanes as u32, groups)?);
    Ok(())
}
