//! The dispatch that goes over pairs of tiles: the keys that a workgroup owns, and the queries that pass by. A
//! pair takes five products, all in registers from workgroup memory:
//!
//! ```text
//! scores  = keys . queries        weights = exp(scores - lse)
//! dv     += weights grad          dots    = values . grad
//! dk     += slopes queries        slopes  = weights * (dots - delta) * scale
//! dq      = slopes^T keys
//! ```
//!
//! Queries and the gradient of the output pass through one tile in turns, which leaves room for many keys; the
//! next of them are on their way into registers while the present ones are multiplied.

use super::super::attention::scale;
use super::super::module::{Binding, Module, line};
use super::super::tile::{Grid, Operand, Panel, Stage, Tile, products, turned_rows, weighted_rows};
use super::super::{Dispatch, Printer};
use super::{Form, Goal, Of, Sizes, turned};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::AttentionGrad;
use std::fmt::Write;

/// The operands as texts see them.
struct Pairs<'a> {
    form: &'a Form,
    q: Panel<'a>,
    k: Panel<'a>,
    v: Panel<'a>,
    g: Panel<'a>,
    weights: Tile,
    factor: String,
}

pub(super) fn print(
    printer: &Printer<'_>,
    body: &AttentionGrad,
    form: &Form,
    known: usize,
    goals: &[Goal],
) -> Result<Dispatch> {
    let mut m = printer.module();
    let sizes = form.sizes;
    let (q, k) = (Operand::new(&mut m, &body.q), Operand::new(&mut m, &body.k));
    let (v, g) = (Operand::new(&mut m, &body.v), Operand::new(&mut m, &turned(&body.grad)));
    let mask = body.mask.as_ref().map(|mask| Operand::single(&mut m, mask));
    m.want(Binding::Scratch(known), 4);
    goals.iter().for_each(|goal| goal.declare(&mut m));
    let goal = |of: Of| goals.iter().find(|goal| goal.of == of);
    let (dq, dk, dv) = (goal(Of::Queries), goal(Of::Keys), goal(Of::Values));
    let sloped = dq.is_some() || dk.is_some();
    let [keys, values, queries, grads, weights] = form.tiles();
    if form.staged {
        let passing = queries.len().max(grads.len());
        for (name, len) in [("keys", keys.len()), ("values", values.len()), ("passing", passing)] {
            m.shared(name, "vec4<f32>", len);
        }
    }
    m.shared("weights", "vec4<f32>", weights.len());
    let panel = |operand, tile: Tile| Panel { operand, tile: form.staged.then_some(tile) };
    let pairs = Pairs {
        form,
        q: panel(&q, queries),
        k: panel(&k, keys),
        v: panel(&v, values),
        g: panel(&g, grads),
        weights,
        factor: scale(body.spec.scale),
    };

    let groups = pairs.open(&mut m);
    let q_stage = Stage::new(&mut m, &pairs.q, form.lanes);
    let g_stage = Stage::new(&mut m, &pairs.g, form.lanes);
    let load = |m: &mut Module<'_>, stage: &Stage<'_>, at: &str| {
        stage.load(m, |m, row| pairs.passing_row(m, at, row));
    };
    let put = |m: &mut Module<'_>, stage: &Stage<'_>| {
        stage.put(m, |m, row| pairs.passing_row(m, "at", row));
    };

    pairs.open_round(&mut m, sloped);
    let (dk_sums, dv_sums) = (pairs.sums(&mut m, "dk", dk, sizes.d), pairs.sums(&mut m, "dv", dv, sizes.dv));
    line!(m, "for (var member = 0u; member < {}u; member++) {{", sizes.group());
    line!(m, "let head = key_head * {}u + member;", sizes.group());
    load(&mut m, &q_stage, "first");
    line!(m, "for (var at = first; at < until; at += {}u) {{", form.passing);
    line!(m, "workgroupBarrier();");
    put(&mut m, &q_stage);
    load(&mut m, &g_stage, "at");
    pairs.queries(&mut m, known);
    line!(m, "workgroupBarrier();");
    pairs.products(&mut m, "score", &pairs.k, &pairs.q);
    pairs.weigh(&mut m, mask.as_ref());
    line!(m, "workgroupBarrier();");
    put(&mut m, &g_stage);
    if dv.is_some() {
        pairs.spread(&mut m, "score");
    }
    line!(m, "workgroupBarrier();");
    if dv.is_some() {
        pairs.add(&mut m, &dv_sums, &pairs.g);
    }
    if sloped {
        pairs.products(&mut m, "dots", &pairs.v, &pairs.g);
        let (zero, factor) = ("vec4<f32>(0.0)", &pairs.factor);
        for r in 0..form.score_rows() {
            // What is hidden may be anything, even infinite.
            line!(
                m,
                "dots{r} = select(score{r} * (dots{r} - delta) * {factor}, {zero}, score{r} == {zero});"
            );
        }
        line!(m, "workgroupBarrier();");
        put(&mut m, &q_stage);
        pairs.spread(&mut m, "dots");
    }
    line!(m, "let next = at + {}u;", form.passing);
    line!(m, "if (next < until) {{");
    load(&mut m, &q_stage, "next");
    line!(m, "}}");
    if sloped {
        line!(m, "workgroupBarrier();");
        let dq_sums = dq.map(|goal| pairs.open_queries(&mut m, goal));
        if dk.is_some() {
            pairs.add(&mut m, &dk_sums, &pairs.q);
        }
        if let (Some(goal), Some(sums)) = (dq, &dq_sums) {
            pairs.close_queries(&mut m, goal, sums);
        }
    }
    line!(m, "}}");
    line!(m, "}}");
    for (goal, sums) in [(dk, &dk_sums), (dv, &dv_sums)] {
        if let Some(goal) = goal {
            pairs.close_keys(&mut m, goal, sums);
        }
    }
    line!(m, "}}");
    line!(m, "}}");
    m.finish(form.lanes as u32, groups)
}

impl Pairs<'_> {
    /// Says which workgroup and which lane this is; gives the number of workgroups.
    fn open(&self, m: &mut Module<'_>) -> usize {
        let (form, units) = (self.form, self.form.units());
        let (scores, sums) = (form.scores(), form.sums());
        let groups = units * form.key_parts * form.query_parts;
        line!(m, "let real = group < {groups}u;");
        line!(m, "let work = min(group, {}u);", groups - 1);
        // The first tiles of keys are seen by the most queries; they start first, in all heads.
        line!(m, "let key_head = work % {units}u % {}u;", form.sizes.key_heads);
        line!(m, "let batch = work % {units}u / {}u;", form.sizes.key_heads);
        line!(m, "let key_part = work / {units}u % {}u;", form.key_parts);
        line!(m, "let query_part = work / {}u;", units * form.key_parts);
        line!(m, "let column = lane % {}u;", scores.across);
        line!(m, "let lane_row = lane / {}u;", scores.across);
        line!(m, "let key_row = lane_row % {}u;", form.own);
        line!(m, "let sum_column = lane % {}u;", sums.across);
        line!(m, "let sum_row = lane / {}u;", sums.across);
        groups
    }

    /// Opens the loop over the tiles of keys of this workgroup, in a scope where there is one and it is staged.
    fn open_round(&self, m: &mut Module<'_>, values: bool) {
        let Form { sizes: Sizes { tq, tk, .. }, own, key_parts, rounds, share, .. } = *self.form;
        line!(m, "for (var lap = 0u; lap < {rounds}u; lap++) {{");
        let back = format!("{}u - key_part", key_parts - 1);
        line!(m, "let tile = lap * {key_parts}u + select(key_part, {back}, lap % 2u == 1u);");
        line!(m, "let start = tile * {own}u;");
        let seen = if self.form.causal { "start" } else { "0u" };
        line!(m, "let first = max({seen}, query_part * {share}u);");
        line!(m, "let until = min({tq}u, (query_part + 1u) * {share}u);");
        // A part without queries is not added; the whole must be written, be it zero.
        match self.form.query_parts {
            1 => line!(m, "if (start < {tk}u) {{"),
            _ => line!(m, "if (start < {tk}u && first < until) {{"),
        }
        for r in 0..self.form.score_rows() {
            line!(m, "let key{r} = start + {};", self.form.scores().row(r));
            line!(m, "let safe_key{r} = min(key{r}, {}u);", tk - 1);
        }
        if rounds > 1 {
            line!(m, "workgroupBarrier();");
        }
        for panel in [Some(&self.k), values.then_some(&self.v)].into_iter().flatten() {
            if let Some(tile) = &panel.tile {
                tile.fill(m, self.form.lanes, panel.operand, None, |m, row| {
                    let at = m.bind("r", &format!("start + {row}"));
                    let safe = m.bind("r", &format!("min({at}, {}u)", tk - 1));
                    (self.key(&safe), format!("{at} < {tk}u"))
                });
            }
        }
    }

    fn key(&self, t: &str) -> [String; 3] {
        ["batch".into(), "key_head".into(), t.into()]
    }

    fn query(&self, t: &str) -> [String; 3] {
        ["batch".into(), "head".into(), t.into()]
    }

    /// Coordinates of a row of the queries from `at` on, and whether it exists.
    fn passing_row(&self, m: &mut Module<'_>, at: &str, row: &str) -> ([String; 3], String) {
        let tq = self.form.sizes.tq;
        let t = m.bind("r", &format!("{at} + {row}"));
        let safe = m.bind("r", &format!("min({t}, {}u)", tq - 1));
        (self.query(&safe), format!("{t} < {tq}u"))
    }

    /// Names the four queries of this lane, with what is known of them.
    fn queries(&self, m: &mut Module<'_>, known: usize) {
        let Sizes { batch, heads, tq, .. } = self.form.sizes;
        line!(m, "let query = at + column * 4u;");
        for i in 0..4 {
            line!(m, "let safe_query{i} = min(query + {i}u, {}u);", tq - 1);
        }
        let padded = tq.next_multiple_of(4);
        let at = format!("(batch * {heads}u + head) * {padded}u + min(query, {}u)", padded - 4);
        let at = m.bind("a", &at);
        for (name, plane) in [("lse", 0), ("delta", batch * heads * padded)] {
            let values = m.elements(Binding::Scratch(known), DType::F32, &format!("{at} + {plane}u"), 4);
            line!(m, "let {name} = vec4<f32>({});", values.join(", "));
        }
    }

    /// Prints the products of own rows and passing rows as vectors `{stem}0 ..`, one a row.
    fn products(&self, m: &mut Module<'_>, stem: &str, own: &Panel<'_>, passing: &Panel<'_>) {
        let grid = self.form.scores();
        let names = |r: usize| (0..4).map(|i| format!("{stem}{r}_{i}")).collect::<Vec<_>>();
        let acc: Vec<Vec<String>> = (0..self.form.score_rows()).map(names).collect();
        acc.iter().flatten().for_each(|name| line!(m, "var {name} = 0.0;"));
        products(
            m,
            own.operand.quads(),
            &acc,
            |m, r, c| own.quad(m, &grid.row(r), grid.row, &self.key(&format!("safe_key{r}")), c),
            |m, i, c| {
                let local = format!("(column * 4u + {i}u)");
                passing.quad(m, &local, "column", &self.query(&format!("safe_query{i}")), c)
            },
        );
        for (r, row) in acc.iter().enumerate() {
            line!(m, "var {stem}{r} = vec4<f32>({});", row.join(", "));
        }
    }

    /// Turns scores into weights.
    fn weigh(&self, m: &mut Module<'_>, mask: Option<&Operand>) {
        let Form { sizes: Sizes { tq, tk, .. }, own, passing, causal, .. } = *self.form;
        let rows = self.form.score_rows();
        for r in 0..rows {
            line!(m, "score{r} *= {};", self.factor);
            if let Some(mask) = mask {
                let coords = |i: usize| {
                    ["batch".into(), "head".into(), format!("safe_query{i}"), format!("safe_key{r}")]
                };
                let values: Vec<String> = (0..4).map(|i| mask.element(m, &coords(i))).collect();
                line!(m, "score{r} += vec4<f32>({});", values.join(", "));
            }
        }
        let (mut edges, mut hidden) = (vec![], vec![]);
        if !tq.is_multiple_of(passing) {
            edges.push(format!("at + {passing}u > {tq}u"));
            hidden.push(format!("(queries >= vec4<u32>({tq}u))"));
        }
        if !tk.is_multiple_of(own) {
            edges.push(format!("start + {own}u > {tk}u"));
            hidden.push(format!("vec4<bool>(KEY >= {tk}u)"));
        }
        if causal {
            edges.push(format!("start + {}u > at", own - 1));
            hidden.push("(vec4<u32>(KEY) > queries)".into());
        }
        for r in 0..rows {
            line!(m, "score{r} = exp(score{r} - lse);");
        }
        // Hidden last: queries past the end have no `lse`, so that anything may have come out.
        if !edges.is_empty() {
            line!(m, "if ({}) {{", edges.join(" || "));
            line!(m, "let queries = vec4<u32>(query) + vec4<u32>(0u, 1u, 2u, 3u);");
            for r in 0..rows {
                let hidden = hidden.join(" | ").replace("KEY", &format!("key{r}"));
                line!(m, "score{r} = select(score{r}, vec4<f32>(), {hidden});");
            }
            line!(m, "}}");
        }
    }

    /// Puts vectors of this lane where all lanes read them as weights.
    fn spread(&self, m: &mut Module<'_>, stem: &str) {
        let (grid, own) = (self.form.scores(), self.form.own);
        let repeated = grid.down > own;
        if repeated {
            line!(m, "if (lane_row < {own}u) {{");
        }
        for r in 0..self.form.score_rows() {
            line!(m, "{} = {stem}{r};", self.weights.at(&grid.row(r), grid.row, grid.column));
        }
        if repeated {
            line!(m, "}}");
        }
    }

    /// Declares the sums of a gradient of keys or values, by row and vector of this lane.
    fn sums(&self, m: &mut Module<'_>, stem: &str, goal: Option<&Goal>, width: usize) -> Vec<Vec<String>> {
        let vectors = width.div_ceil(4).div_ceil(self.form.sums().across);
        let names = |r: usize| (0..vectors).map(|g| format!("{stem}{r}_{g}")).collect::<Vec<_>>();
        let sums: Vec<Vec<String>> = (0..self.form.sum_rows()).map(names).collect();
        if goal.is_some() {
            sums.iter().flatten().for_each(|name| line!(m, "var {name} = vec4<f32>(0.0);"));
        }
        sums
    }

    /// Adds the passing rows, weighted, to the sums.
    fn add(&self, m: &mut Module<'_>, sums: &[Vec<String>], passing: &Panel<'_>) {
        let (form, grid) = (self.form, self.form.sums());
        weighted_rows(m, form.passing, sums, &self.weights, grid, |m, row, j, g| {
            // Lanes past the width repeat the last vector and store nothing.
            let c = format!("min({}, {}u)", grid.column(g), passing.operand.quads() - 1);
            let at = m.bind("t", &format!("min(at + {row}, {}u)", form.sizes.tq - 1));
            passing.quad(m, row, j, &self.query(&at), &c)
        });
    }

    /// How lanes share dq of a passing tile: four queries each, those of their scores, and vectors of their own.
    fn query_grid(&self) -> Grid {
        Grid { row: "column", column: "lane_row", down: 0, across: self.form.scores().down }
    }

    /// Declares the sums of dq; in a later round they begin with those of the rounds before.
    fn open_queries(&self, m: &mut Module<'_>, goal: &Goal) -> Vec<Vec<String>> {
        let grid = self.query_grid();
        let vectors = goal.quads().div_ceil(grid.across);
        let names = |i: usize| (0..vectors).map(|g| format!("dq{i}_{g}")).collect::<Vec<_>>();
        let sums: Vec<Vec<String>> = (0..4).map(names).collect();
        sums.iter().flatten().for_each(|name| line!(m, "var {name} = vec4<f32>(0.0);"));
        if let (Some(scratch), true) = (goal.scratch, self.form.rounds > 1) {
            line!(m, "if (lap > 0u) {{");
            for (i, row) in sums.iter().enumerate() {
                for (g, name) in row.iter().enumerate() {
                    let c = format!("min({}, {}u)", grid.column(g), goal.quads() - 1);
                    let at = ["key_part", "head", &format!("safe_query{i}"), &c];
                    let place = m.bind("a", &goal.place(self.form.sizes.batch, at));
                    let values = m.elements(Binding::Scratch(scratch), DType::F32, &place, 4);
                    line!(m, "{name} = vec4<f32>({});", values.join(", "));
                }
            }
            line!(m, "}}");
        }
        sums
    }

    /// Computes dq of the passing tile and stores it.
    fn close_queries(&self, m: &mut Module<'_>, goal: &Goal, sums: &[Vec<String>]) {
        let (form, grid) = (self.form, self.query_grid());
        turned_rows(m, form.own, sums, &self.weights, grid.row, |m, row, g| {
            let c = format!("min({}, {}u)", grid.column(g), goal.quads() - 1);
            let at = m.bind("t", &format!("min(start + {row}, {}u)", form.sizes.tk - 1));
            self.k.quad(m, row, row, &self.key(&at), &c)
        });
        for (i, row) in sums.iter().enumerate() {
            line!(m, "if (real && query + {i}u < {}u) {{", form.sizes.tq);
            for (g, value) in row.iter().enumerate() {
                line!(m, "if ({} < {}u) {{", grid.column(g), goal.quads());
                let at = ["key_part", "head", &format!("(query + {i}u)"), &grid.column(g)];
                goal.store(m, form.sizes.batch, at, value);
                line!(m, "}}");
            }
            line!(m, "}}");
        }
    }

    /// Stores the sums of a gradient of keys or values.
    fn close_keys(&self, m: &mut Module<'_>, goal: &Goal, sums: &[Vec<String>]) {
        let grid = self.form.sums();
        for (r, row) in sums.iter().enumerate() {
            let t = m.bind("t", &format!("start + {}", grid.row(r)));
            line!(m, "if (real && {t} < {}u) {{", goal.count);
            for (g, value) in row.iter().enumerate() {
                line!(m, "if ({} < {}u) {{", grid.column(g), goal.quads());
                let at = ["query_part", "key_head", &t, &grid.column(g)];
                goal.store(m, self.form.sizes.batch, at, value);
                line!(m, "}}");
            }
            line!(m, "}}");
        }
    }
}
