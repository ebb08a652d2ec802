//! The gradients of attention, recomputing the weights from the log-sum-exp. A workgroup owns a tile of keys with
//! their values; the queries that see them pass by, and each pair of tiles adds to dk and dv, which stay in
//! registers, and to dq, which is another workgroup's with the next tile of keys (`pairs`). So dq comes in parts,
//! and dk and dv too where queries are shared out to keep the device busy; a last dispatch adds the parts up. No
//! two workgroups ever add to one place: results are the same every time. Halves are multiplied by the hardware's matrix
//! units where there are some (`cooperative`).

mod cooperative;
mod pairs;

use super::attention::Sizes;
use super::lanes::{Team, reduce};
use super::map::coordinates;
use super::module::{Binding, Module, line};
use super::tile::{Grid, Operand, PARTS, Tile, store_quad, want_quads};
use super::{Caps, Printed, Printer};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::AttentionGrad;
use crate::view::View;
use std::fmt::Write;

/// Keys that a workgroup owns, queries that pass by at a time, lanes. A lane computes four queries of
/// `own * passing / 4 / lanes` keys.
type Cut = (usize, usize, usize);

/// From the best on; the first that fits is taken.
const CUTS: [Cut; 6] = [(64, 32, 128), (32, 32, 64), (32, 16, 64), (16, 16, 64), (16, 8, 64), (8, 8, 64)];

/// Bytes that the parts of one gradient may take, unless the device would be idle.
const PARTS_BYTES: usize = 64 << 20;

/// So many parts are made whatever they take, if the device would be idle.
const LEAST_PARTS: usize = 4;

/// Tiles of queries that pay for a part of dk and dv.
const LEAST_PASSING: usize = 2;

/// How the work is cut.
#[derive(Clone, Copy, Debug)]
struct Form {
    sizes: Sizes,
    causal: bool,
    own: usize,
    passing: usize,
    lanes: usize,
    /// Whether operands are staged; if not, no tile fits and everything is read where it lies.
    staged: bool,
    /// Workgroups that share the keys of a head, which is how many parts dq has.
    key_parts: usize,
    /// Tiles of keys that a workgroup takes one after the other.
    rounds: usize,
    /// Workgroups that share the queries of a tile of keys, which is how many parts dk and dv have; and the queries of
    /// each.
    query_parts: usize,
    share: usize,
}

impl Form {
    fn new(caps: &Caps, sizes: Sizes, causal: bool) -> Form {
        let fits = |&(own, passing, lanes): &Cut| {
            let form = Form::cut(sizes, causal, (own, passing, lanes));
            own <= sizes.tk.next_power_of_two().max(8)
                && form.bytes() <= caps.workgroup_bytes as usize
                && lanes <= caps.lanes as usize
        };
        let form = match CUTS.iter().find(|cut| fits(cut)) {
            Some(&cut) => Form::cut(sizes, causal, cut),
            None => Form { staged: false, ..Form::cut(sizes, causal, (8, 8, 64)) },
        };
        form.shared_out(caps)
    }

    fn cut(sizes: Sizes, causal: bool, (own, passing, lanes): Cut) -> Form {
        Form {
            sizes,
            causal,
            own,
            passing,
            lanes,
            staged: true,
            key_parts: 1,
            rounds: 1,
            query_parts: 1,
            share: sizes.tq,
        }
    }

    /// Gives the tiles to as many workgroups as keep the device busy.
    fn shared_out(self, caps: &Caps) -> Form {
        let (Sizes { batch, heads, tq, tk, d, dv, .. }, units) = (self.sizes, self.units().max(1));
        let busy = caps.parallel as usize;
        let parts = |bytes: usize, wanted: usize| {
            let most = (PARTS_BYTES / bytes.max(1)).max(wanted.min(LEAST_PARTS));
            most.min(caps.binding_bytes as usize / bytes.max(1)).max(1)
        };
        let tiles = tk.div_ceil(self.own).max(1);
        let most = parts(batch * heads * tq * d.div_ceil(4) * 16, busy / units);
        let mut rounds = tiles.div_ceil(most);
        if self.causal && rounds > 1 {
            // Every other round goes backwards: a tile that many queries see and one that few do.
            rounds = rounds.next_multiple_of(2);
        }
        let key_parts = tiles.div_ceil(rounds);
        // Without rounds, about half of what is shared out under causality is hidden.
        let groups = units * key_parts;
        let real = if self.causal && rounds == 1 { groups.div_ceil(2) } else { groups };
        let wanted = (busy / real).max(1);
        let most = parts(units * tk * d.max(dv).div_ceil(4) * 16, wanted);
        let passing = tq.div_ceil(self.passing).max(1);
        let per = passing.div_ceil(wanted.min(most)).max(LEAST_PASSING);
        Form { key_parts, rounds, query_parts: passing.div_ceil(per), share: per * self.passing, ..self }
    }

    /// What has a sequence of keys.
    fn units(&self) -> usize {
        self.sizes.batch * self.sizes.key_heads
    }

    /// The tiles of keys and values, of what passes by (queries, then the gradient of the output in the same
    /// memory), and of weights.
    fn tiles(&self) -> [Tile; 5] {
        let Sizes { d, dv, .. } = self.sizes;
        // A lane reads four passing rows that are neighbours, lanes that are neighbours every fourth.
        let passing = |width: usize| Tile { alike: 4, ..Tile::new("passing", self.passing, width) };
        [
            Tile::new("keys", self.own, d),
            Tile::new("values", self.own, dv),
            passing(d),
            passing(dv),
            Tile::new("weights", self.own, self.passing),
        ]
    }

    fn bytes(&self) -> usize {
        let [keys, values, q, g, weights] = self.tiles().map(|tile| tile.len());
        (keys + values + q.max(g) + weights) * 16
    }

    /// How lanes share a tile of scores, in vectors of four queries. With more lanes than vectors, some repeat the
    /// work of others.
    fn scores(&self) -> Grid {
        let across = self.passing / 4;
        Grid { row: "key_row", column: "column", down: self.lanes / across, across }
    }

    /// Rows of scores that a lane computes.
    fn score_rows(&self) -> usize {
        (self.own / self.scores().down).max(1)
    }

    /// How lanes share dk and dv of a tile.
    fn sums(&self) -> Grid {
        Grid { row: "sum_row", column: "sum_column", down: self.lanes / 8, across: 8 }
    }

    /// Rows of dk and dv that a lane sums.
    fn sum_rows(&self) -> usize {
        self.own / self.sums().down
    }
}

/// Which gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Queries,
    Keys,
    Values,
}

/// A gradient that is wanted.
#[derive(Clone, Copy, Debug)]
struct Goal {
    of: Of,
    write: usize,
    width: usize,
    /// Heads and positions.
    heads: usize,
    count: usize,
    /// How many parts there are, and the scratch memory in which they lie as `[part, batch, head, position, width]`,
    /// rows padded to vectors; without it the result is written at once.
    parts: usize,
    scratch: Option<usize>,
}

impl Goal {
    fn quads(&self) -> usize {
        self.width.div_ceil(4)
    }

    fn declare(&self, m: &mut Module<'_>) {
        match self.scratch {
            Some(n) => {
                m.want(Binding::Scratch(n), 4);
            }
            None => want_quads(m, self.write, self.width),
        }
    }

    /// The address of vector `c` of a row in a part.
    fn place(&self, batch: usize, [part, head, t, c]: [&str; 4]) -> String {
        let (heads, count, quads) = (self.heads, self.count, self.quads());
        format!(
            "(((({part} * {batch}u + batch) * {heads}u + {head}) * {count}u + {t}) * {quads}u + {c}) * 4u"
        )
    }

    /// Stores vector `c` of a row, as a part if there are parts.
    fn store(&self, m: &mut Module<'_>, batch: usize, at: [&str; 4], value: &str) {
        let [_, head, t, c] = at;
        match self.scratch {
            Some(n) => {
                let place = m.bind("a", &self.place(batch, at));
                let values = PARTS.map(|p| format!("{value}.{p}"));
                m.store(Binding::Scratch(n), DType::F32, &place, &values);
            }
            None => {
                let row = format!("(batch * {}u + {t}) * {}u + {head}", self.count, self.heads);
                store_quad(m, self.write, self.width, &row, c, value);
            }
        }
    }
}

/// `[B, T, H, D]` in the order of the other operands.
fn turned((read, view): &(usize, View)) -> (usize, View) {
    (*read, view.permute(&[0, 2, 1, 3]))
}

pub(super) fn print(printer: &Printer<'_>, body: &AttentionGrad, printed: &mut Printed) -> Result<()> {
    let sizes = Sizes::new(&body.q.1.shape, &body.k.1.shape, &body.v.1.shape)?;
    let form = Form::new(printer.caps, sizes, body.spec.causal);
    let cooperative = cooperative::Form::new(printer, body, sizes);
    let Sizes { batch, heads, key_heads, tq, tk, d, dv } = sizes;
    let known = printed.scratch.len();
    printed.scratch.push(2 * batch * heads * tq.next_multiple_of(4) * 4);
    known_of_queries(printer, body, sizes, known, printed)?;
    let mut goals = vec![];
    for (of, write, width) in [(Of::Values, body.dv, dv), (Of::Keys, body.dk, d), (Of::Queries, body.dq, d)] {
        let Some(write) = write else { continue };
        let (heads, count, parts, whole) = match of {
            Of::Queries => (heads, tq, form.key_parts, tk <= form.own),
            _ => (key_heads, tk, form.query_parts, form.query_parts == 1),
        };
        let mut goal = Goal { of, write, width, heads, count, parts, scratch: None };
        if !whole && cooperative.is_none() {
            goal.scratch = Some(printed.scratch.len());
            printed.scratch.push(parts * batch * heads * count * goal.quads() * 16);
        }
        goals.push(goal);
    }
    // Where few buffers can be bound, gradients are computed one by one.
    let room = (printer.caps.buffers as usize).saturating_sub(5 + body.mask.iter().len()).max(1);
    for some in goals.chunks(room) {
        printed.dispatches.push(match &cooperative {
            Some(form) => cooperative::print(printer, body, form, known, some)?,
            None => pairs::print(printer, body, &form, known, some)?,
        });
    }
    goals.retain(|goal| goal.scratch.is_some());
    if !goals.is_empty() {
        add_parts(printer, &form, &goals, printed)?;
    }
    Ok(())
}

/// What is known of each query before any key is: the log-sum-exp of its scores, and `sum(grad * out)`, both as
/// `[B, H, Tq]` with rows padded to vectors.
fn known_of_queries(
    printer: &Printer<'_>,
    body: &AttentionGrad,
    sizes: Sizes,
    scratch: usize,
    printed: &mut Printed,
) -> Result<()> {
    let mut m = printer.module();
    let (out, grad) = (Operand::new(&mut m, &turned(&body.out)), Operand::new(&mut m, &turned(&body.grad)));
    let lse = Operand::single(&mut m, &body.lse);
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
    let lse = lse.element(&mut m, &coords);
    line!(m, "let lse = {lse};");
    let padded = sizes.tq.next_multiple_of(4);
    line!(m, "let at = row / {tq}u * {padded}u + row % {tq}u;", tq = sizes.tq);
    // All scores of a row that sees nothing are minus infinity; less zero they stay so.
    let finite = "select(lse, 0.0, bitcast<u32>(lse) == 0xff800000u)".to_string();
    m.store(Binding::Scratch(scratch), DType::F32, "at", &[finite]);
    let plane = sizes.batch * sizes.heads * padded;
    m.store(Binding::Scratch(scratch), DType::F32, &format!("(at + {plane}u)"), &[sum]);
    line!(m, "}}");
    printed.dispatches.push(m.finish(team.lanes, rows.div_ceil((team.lanes / team.width) as usize))?);
    Ok(())
}

/// Adds up the parts of all gradients that have some.
fn add_parts(printer: &Printer<'_>, form: &Form, goals: &[Goal], printed: &mut Printed) -> Result<()> {
    const LANES: usize = 128;
    let mut m = printer.module();
    let batch = form.sizes.batch;
    line!(m, "let index = group * {LANES}u + lane;");
    let mut first = 0;
    for goal in goals {
        let Some(scratch) = goal.scratch else { continue };
        m.want(Binding::Scratch(scratch), 4);
        want_quads(&mut m, goal.write, goal.width);
        let after = first + batch * goal.heads * goal.count * goal.quads();
        line!(m, "if (index >= {first}u && index < {after}u) {{");
        line!(m, "let at = index - {first}u;");
        let coords = coordinates(&mut m, "at", &[batch, goal.heads, goal.count, goal.quads()], 1);
        for (name, value) in ["batch", "head", "t", "c"].iter().zip(coords) {
            line!(m, "let {name} = {value};");
        }
        // Under causality some parts were not computed, as nothing is seen there.
        let (from, to) = match (form.causal, goal.of) {
            (false, _) => ("0u".to_string(), format!("{}u", goal.parts)),
            (true, Of::Queries) => ("0u".into(), format!("min({}u, t / {}u + 1u)", goal.parts, form.own)),
            (true, _) => {
                (format!("t / {own}u * {own}u / {}u", form.share, own = form.own), format!("{}u", goal.parts))
            }
        };
        line!(m, "var sum = vec4<f32>(0.0);");
        line!(m, "for (var part = {from}; part < {to}; part++) {{");
        let place = m.bind("a", &goal.place(batch, ["part", "head", "t", "c"]));
        let values = m.elements(Binding::Scratch(scratch), DType::F32, &place, 4);
        line!(m, "sum += vec4<f32>({});", values.join(", "));
        line!(m, "}}");
        let whole = Goal { scratch: None, ..*goal };
        whole.store(&mut m, batch, ["0u", "head", "t", "c"], "sum");
        line!(m, "}}");
        first = after;
    }
    printed.dispatches.push(m.finish(LANES as u32, first.div_ceil(LANES))?);
    Ok(())
}
