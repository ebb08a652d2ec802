//! Flash attention: a workgroup holds a tile of queries and goes over tiles of keys and values, keeping the
//! softmax up to date, so that the scores are never in memory. Where there are too few tiles of queries for
//! the device (decoding), the keys are split over workgroups too, and a second dispatch combines their parts.
//! Halves are multiplied by the hardware's matrix units where there are some (`cooperative`).

mod cooperative;
mod plain;

use super::halves::SUBGROUP;
use super::module::{Binding, Module, line};
use super::tile::{Grid, PARTS, ROW_GROUPS, Tile, minus_infinity, store_quad, want_quads};
use super::{Caps, Printed, Printer};
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
    /// Rows of queries of a subgroup, where matrix units multiply.
    cooperative: Option<usize>,
    /// Workgroups that share the keys of a tile of queries, and the keys of each.
    parts: usize,
    share: usize,
}

/// Tiles from the best on: queries, keys, lanes that share a row. On NVIDIA's GPUs the workgroups of a core share 48 KiB
/// (measured on an H200); the first tile leaves room for a second workgroup there, if rows are not wider than 80.
const TILES: [(usize, usize, usize); 8] =
    [(32, 32, 16), (16, 64, 16), (16, 32, 8), (16, 16, 8), (8, 64, 16), (8, 32, 8), (8, 16, 8), (8, 8, 8)];

impl Form {
    fn new(printer: &Printer<'_>, body: &Attention, sizes: Sizes) -> Form {
        let packed = sizes.group() > 1 && sizes.tq < 64;
        let mut form = Form {
            sizes,
            packed,
            queries: 8,
            keys: 8,
            columns: 8,
            staged: false,
            cooperative: None,
            parts: 1,
            share: 0,
        };
        if let Some(form) = cooperative::form(printer, body, form) {
            // Parts must be combined; that pays only where most of the device would be idle.
            return form.shared_out(printer.caps, printer.caps.parallel as usize / 4, 4);
        }
        let rows = form.rows();
        for (queries, keys, columns) in TILES {
            let try_form = Form { queries, keys, columns, staged: true, ..form };
            let needed = rows.next_power_of_two().max(8);
            if queries <= needed && try_form.bytes() <= printer.caps.workgroup_bytes as usize {
                form = try_form;
                break;
            }
        }
        // A part has work enough to pay for its share of the combining.
        let least = if form.queries <= 16 { 1 } else { 2 };
        form.shared_out(printer.caps, printer.caps.parallel as usize, least)
    }

    /// Splits the keys until so many workgroups are busy, but no part has fewer than the `least` tiles, and what all parts
    /// give can be bound.
    fn shared_out(self, caps: &Caps, busy: usize, least: usize) -> Form {
        let (groups, tiles) = (self.units() * self.tiles(), self.sizes.tk.div_ceil(self.keys));
        let most = caps.binding_bytes as usize / self.part_bytes().max(1);
        let wanted = (busy / groups.max(1)).min(most);
        let per = tiles.div_ceil(wanted.max(1)).max(least);
        Form { parts: tiles.div_ceil(per), share: per * self.keys, ..self }
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
        match self.cooperative {
            Some(rows) => self.queries / rows * SUBGROUP,
            None => self.columns * ROW_GROUPS,
        }
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

    /// Bytes of what one part of the keys gives.
    fn part_bytes(&self) -> usize {
        self.units() * self.rows() * self.sizes.dv.div_ceil(4) * 16
    }

    /// Says which tile of queries and which part of the keys a workgroup has; gives the number of workgroups.
    fn open(&self, m: &mut Module<'_>) -> usize {
        let (parts, tiles) = (self.parts, self.tiles());
        let groups = self.units() * tiles * parts;
        line!(m, "let real = group < {groups}u;");
        line!(m, "let work = min(group, {}u);", groups - 1);
        line!(m, "let part = work % {parts}u;");
        // The last tiles of queries see the most keys; they start first.
        line!(m, "let start = ({}u - (work / {parts}u) % {tiles}u) * {}u;", tiles - 1, self.queries);
        line!(m, "let unit = work / {}u;", parts * tiles);
        self.open_unit(m);
        groups
    }

    /// Opens the loop over the keys that the queries see, a tile at a time.
    fn open_keys(&self, m: &mut Module<'_>, causal: bool) {
        let Sizes { tq, tk, .. } = self.sizes;
        let seen = match (causal, self.packed) {
            (false, _) => format!("{tk}u"),
            (true, true) => format!("{}u", tk.min(tq)),
            (true, false) => format!("min({tk}u, start + {}u)", self.queries),
        };
        let (share, keys) = (self.share, self.keys);
        line!(m, "let until = min({seen}, (part + 1u) * {share}u);");
        line!(m, "for (var keys_at = part * {share}u; keys_at < until; keys_at += {keys}u) {{");
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
    let form = Form::new(printer, body, sizes);
    let scratch = printed.scratch.len();
    if form.parts > 1 {
        printed.scratch.push(form.part_bytes() * form.parts);
        printed.scratch.push(form.units() * form.rows() * form.parts * 4);
    }
    match form.cooperative {
        Some(rows) => cooperative::tiles(printer, body, &form, rows, scratch, printed)?,
        None => plain::tiles(printer, body, &form, scratch, printed)?,
    }
    if form.parts > 1 {
        combine(printer, body, &form, scratch, printed)?;
    }
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

/// Stores `lse` of the row, or of the part; `[row of scratch, head, position]`.
fn put_lse(m: &mut Module<'_>, body: &Attention, form: &Form, scratch: usize, [row, head, t]: [&str; 3]) {
    if form.parts > 1 {
        m.store(Binding::Scratch(scratch + 1), DType::F32, row, &["lse".into()]);
    } else if let Some(lse) = body.lse {
        let at = format!("(batch * {}u + {head}) * {}u + {t}", form.sizes.heads, form.sizes.tq);
        m.store(Binding::Write(lse), DType::F32, &at, &["lse".into()]);
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
    put_lse(&mut m, body, &whole, scratch, ["0u", &head, &t]);
    line!(m, "}}");
    line!(m, "}}");
    printed.dispatches.push(m.finish(LANES as u32, total.div_ceil(LANES))?);
    Ok(())
}
