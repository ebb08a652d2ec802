//! Flash attention: a workgroup holds a tile of queries and goes over tiles of keys and values, keeping the
//! softmax up to date, so that the scores are never in memory. Where there are too few tiles of queries for
//! the device (decoding), the keys are split over workgroups too, and a second dispatch combines their parts.

use super::module::{Binding, Module, line};
use super::tile::{
    Grid, Operand, PARTS, Panel, ROW_GROUPS, Tile, across_columns, minus_infinity, products, store_quad,
    want_quads, weighted_rows,
};
use super::{Printed, Printer};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::Attention;
use std::fmt::Write;

/// Sizes of an attention kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub batch: usize,
    pub heads: usize,
    pub key_heads: usize,
    pub tq: usize,
    pub tk: usize,
    pub d: usize,
    pub dv: usize,
}

impl Sizes {
    pub fn new(q: &[usize], k: &[usize], v: &[usize]) -> Result<Sizes> {
        let (&[batch, heads, tq, d], &[_, key_heads, tk, _], &[_, _, _, dv]) = (q, k, v) else {
            return Err(Error::Internal(format!("attention of {q:?}, {k:?}, {v:?}")));
        };
        Ok(Sizes { batch, heads, key_heads, tq, tk, d, dv })
    }

    /// Query heads that share a key head.
    pub fn group(&self) -> usize {
        self.heads / self.key_heads.max(1)
    }
}

/// How the work is cut.
#[derive(Clone, Copy, Debug)]
struct Form {
    sizes: Sizes,
    /// Whether the queries of all heads that share a key head are rows of one tile.
    packed: bool,
    /// Rows of queries and of keys in a tile, and lanes that share a row.
    queries: usize,
    keys: usize,
    columns: usize,
    /// Whether tiles are staged; if not, no tile fits and everything is read where it lies.
    staged: bool,
    /// Workgroups that share the keys of a tile of queries, and the keys of each.
    parts: usize,
    share: usize,
}

/// Tiles from the best on: queries, keys, lanes that share a row.
const TILES: [(usize, usize, usize); 11] = [
    (64, 64, 16),
    (64, 32, 8),
    (32, 64, 16),
    (32, 32, 8),
    (16, 64, 16),
    (16, 32, 8),
    (16, 16, 8),
    (8, 64, 16),
    (8, 32, 8),
    (8, 16, 8),
    (8, 8, 8),
];

impl Form {
    fn new(printer: &Printer<'_>, sizes: Sizes) -> Form {
        let packed = sizes.group() > 1 && sizes.tq < 64;
        let rows = if packed { sizes.tq * sizes.group() } else { sizes.tq };
        let mut form =
            Form { sizes, packed, queries: 8, keys: 8, columns: 8, staged: false, parts: 1, share: 0 };
        for (queries, keys, columns) in TILES {
            let try_form = Form { queries, keys, columns, staged: true, ..form };
            let needed = rows.next_power_of_two().max(8);
            if queries <= needed && try_form.bytes() <= printer.caps.workgroup_bytes as usize {
                form = try_form;
                break;
            }
        }
        let (groups, tiles) = (form.units() * form.tiles(), sizes.tk.div_ceil(form.keys));
        let wanted = printer.caps.parallel as usize / groups.max(1);
        // A part has work enough to pay for its share of the combining.
        let least = if form.queries <= 16 { 1 } else { 2 };
        let per = tiles.div_ceil(wanted.max(1)).max(least);
        form.parts = tiles.div_ceil(per);
        form.share = per * form.keys;
        form
    }

    fn weights(&self) -> Tile {
        Tile::new("ps", self.queries, self.keys)
    }

    fn grid(&self) -> Grid {
        Grid { row: "rg", column: "cg", down: ROW_GROUPS, across: self.columns }
    }

    fn key_words(&self) -> usize {
        let (k, v) = (Tile::new("kv", self.keys, self.sizes.d), Tile::new("kv", self.keys, self.sizes.dv));
        k.len().max(v.len())
    }

    fn bytes(&self) -> usize {
        let q = Tile::new("qs", self.queries, self.sizes.d);
        (q.len() + self.key_words() + self.weights().len()) * 16
    }

    fn lanes(&self) -> usize {
        self.columns * ROW_GROUPS
    }

    /// What has a sequence of rows: heads, or key heads if packed.
    fn units(&self) -> usize {
        self.sizes.batch * if self.packed { self.sizes.key_heads } else { self.sizes.heads }
    }

    /// Rows of a unit.
    fn rows(&self) -> usize {
        self.sizes.tq * if self.packed { self.sizes.group() } else { 1 }
    }

    fn tiles(&self) -> usize {
        self.rows().div_ceil(self.queries)
    }

    /// Names the batch and the key head of `unit`.
    fn open_unit(&self, m: &mut Module<'_>) {
        let per = self.units() / self.sizes.batch.max(1);
        line!(m, "let batch = unit / {per}u;");
        line!(m, "let head0 = unit % {per}u;");
        match self.packed {
            true => line!(m, "let key_head = head0;"),
            false => line!(m, "let key_head = head0 / {}u;", self.sizes.group()),
        }
    }

    /// The head and the position of a row of the unit.
    fn place(&self, m: &mut Module<'_>, row: &str) -> (String, String) {
        if !self.packed {
            return ("head0".into(), row.into());
        }
        let (tq, group) = (self.sizes.tq, self.sizes.group());
        let head = m.bind("h", &format!("head0 * {group}u + {row} / {tq}u"));
        (head, m.bind("t", &format!("{row} % {tq}u")))
    }
}

/// The factor on the scores, in WGSL.
pub(super) fn scale(bits: u64) -> String {
    format!("({:e}f)", f64::from_bits(bits) as f32)
}

pub(super) fn print(printer: &Printer<'_>, body: &Attention, printed: &mut Printed) -> Result<()> {
    let sizes = Sizes::new(&body.q.1.shape, &body.k.1.shape, &body.v.1.shape)?;
    let form = Form::new(printer, sizes);
    let scratch = printed.scratch.len();
    if form.parts > 1 {
        let rows = form.units() * form.rows() * form.parts;
        printed.scratch.push(rows * sizes.dv.div_ceil(4) * 16);
        printed.scratch.push(rows * 4);
    }
    tiles(printer, body, &form, scratch, printed)?;
    if form.parts > 1 {
        combine(printer, body, &form, scratch, printed)?;
    }
    Ok(())
}

/// The main dispatch.
fn tiles(
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
    let _ = writeln!(m.globals, "var<workgroup> ps: array<vec4<f32>, {}>;", weights.len());
    if let Some(tile) = &q.tile {
        let _ = writeln!(m.globals, "var<workgroup> qs: array<vec4<f32>, {}>;", tile.len());
        let _ = writeln!(m.globals, "var<workgroup> kv: array<vec4<f32>, {}>;", form.key_words());
    }
    let (rows, parts, lanes) = (form.rows(), form.parts, form.lanes());
    let (own, columns) = (form.queries / ROW_GROUPS, form.keys / form.columns);
    let vectors = sizes.dv.div_ceil(4).div_ceil(form.columns);
    let groups = form.units() * form.tiles() * parts;
    line!(m, "let real = group < {groups}u;");
    line!(m, "let work = min(group, {}u);", groups - 1);
    line!(m, "let rg = lane / {}u;", form.columns);
    line!(m, "let cg = lane % {}u;", form.columns);
    line!(m, "let part = work % {parts}u;");
    // The last tiles of queries see the most keys; they start first.
    line!(
        m,
        "let start = ({}u - (work / {parts}u) % {}u) * {}u;",
        form.tiles() - 1,
        form.tiles(),
        form.queries
    );
    line!(m, "let unit = work / {}u;", parts * form.tiles());
    form.open_unit(&mut m);
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
    let seen = match (body.spec.causal, form.packed) {
        (false, _) => format!("{}u", sizes.tk),
        (true, true) => format!("{}u", sizes.tk.min(sizes.tq)),
        (true, false) => format!("min({}u, start + {}u)", sizes.tk, form.queries),
    };
    line!(m, "let until = min({seen}, (part + 1u) * {}u);", form.share);
    line!(m, "for (var keys_at = part * {}u; keys_at < until; keys_at += {}u) {{", form.share, form.keys);
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
        if parts > 1 {
            m.store(Binding::Scratch(scratch + 1), DType::F32, &row, &["lse".into()]);
        } else {
            put_lse(&mut m, body, form, head, t);
        }
        line!(m, "}}");
        line!(m, "}}");
    }
    printed.dispatches.push(m.finish(lanes as u32, groups)?);
    Ok(())
}

fn declare_results(m: &mut Module<'_>, body: &Attention, form: &Form, scratch: usize) {
    if form.parts > 1 {
        m.want(Binding::Scratch(scratch), 4).want(Binding::Scratch(scratch + 1), 1);
        return;
    }
    if let Some(out) = body.out {
        want_quads(m, out, form.sizes.dv);
    }
    if let Some(lse) = body.lse {
        m.want(Binding::Write(lse), 1);
    }
}

/// Stores a vector of the result, or of the part; `[row of scratch, head, position, vector, value]`.
fn put_out(m: &mut Module<'_>, body: &Attention, form: &Form, scratch: usize, what: [&str; 5]) {
    let [row, head, t, c, value] = what;
    let sizes = form.sizes;
    if form.parts > 1 {
        let at = format!("(({row}) * {}u + {c}) * 4u", sizes.dv.div_ceil(4));
        let values = PARTS.map(|p| format!("{value}.{p}"));
        m.store(Binding::Scratch(scratch), DType::F32, &at, &values);
    } else if let Some(out) = body.out {
        let row = format!("(batch * {}u + {t}) * {}u + {head}", sizes.tq, sizes.heads);
        store_quad(m, out, sizes.dv, &row, c, value);
    }
}

fn put_lse(m: &mut Module<'_>, body: &Attention, form: &Form, head: &str, t: &str) {
    if let Some(lse) = body.lse {
        let at = format!("(batch * {}u + {head}) * {}u + {t}", form.sizes.heads, form.sizes.tq);
        m.store(Binding::Write(lse), DType::F32, &at, &["lse".into()]);
    }
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
            let mut hidden = vec![format!("key{c} >= {}u", sizes.tk)];
            if causal {
                hidden.push(format!("key{c} > {}", places[r].1));
            }
            line!(m, "{s} = select({s}, {nothing}, {});", hidden.join(" || "));
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

/// Combines the parts of each row: their outputs weighted by the exponentials of their log-sum-exps.
fn combine(
    printer: &Printer<'_>,
    body: &Attention,
    form: &Form,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    const LANES: usize = 128;
    let mut m = printer.module();
    let whole = Form { parts: 1, ..*form };
    let sizes = form.sizes;
    m.want(Binding::Scratch(scratch), 4).want(Binding::Scratch(scratch + 1), 1);
    declare_results(&mut m, body, &whole, scratch);
    let (rows, parts) = (form.rows(), form.parts);
    let quads = if body.out.is_some() { sizes.dv.div_ceil(4) } else { 1 };
    let total = form.units() * rows * quads;
    let nothing = minus_infinity(&mut m);
    line!(m, "let index = group * {LANES}u + lane;");
    line!(m, "if (index < {total}u) {{");
    line!(m, "let c = index % {quads}u;");
    line!(m, "let all = index / {quads}u;");
    line!(m, "let row = all % {rows}u;");
    line!(m, "let unit = all / {rows}u;");
    form.open_unit(&mut m);
    let (head, t) = form.place(&mut m, "row");
    line!(m, "var largest = {nothing};");
    line!(m, "for (var p = 0u; p < {parts}u; p++) {{");
    let part =
        m.elements(Binding::Scratch(scratch + 1), DType::F32, &format!("all * {parts}u + p"), 1).remove(0);
    line!(m, "largest = max(largest, {part});");
    line!(m, "}}");
    line!(m, "let shift = select(largest, 0.0, bitcast<u32>(largest) == 0xff800000u);");
    line!(m, "var sum = 0.0;");
    line!(m, "var o = vec4<f32>(0.0);");
    line!(m, "for (var p = 0u; p < {parts}u; p++) {{");
    let part =
        m.elements(Binding::Scratch(scratch + 1), DType::F32, &format!("all * {parts}u + p"), 1).remove(0);
    line!(m, "let weight = exp({part} - shift);");
    line!(m, "sum += weight;");
    if body.out.is_some() {
        let at = format!("((all * {parts}u + p) * {quads}u + c) * 4u");
        let values = m.elements(Binding::Scratch(scratch), DType::F32, &at, 4);
        line!(m, "o += weight * vec4<f32>({});", values.join(", "));
    }
    line!(m, "}}");
    line!(m, "let seen = sum != 0.0;");
    line!(m, "let lse = select({nothing}, shift + log(sum), seen);");
    line!(m, "let value = o * select(0.0, 1.0 / sum, seen);");
    put_out(&mut m, body, &whole, scratch, ["0u", &head, &t, "c", "value"]);
    line!(m, "if (c == 0u) {{");
    put_lse(&mut m, body, &whole, &head, &t);
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, total.div_ceil(LANES))?);
    Ok(())
}
