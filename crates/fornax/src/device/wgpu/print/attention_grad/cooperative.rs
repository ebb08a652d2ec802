//! The dispatch over pairs of tiles with the hardware's matrix units. Products cost so little there that nothing comes in
//! parts: one set of workgroups owns keys and computes dk and dv, another one owns queries and computes dq, and
//! both compute the scores again. Each subgroup owns rows, which stay in its registers as matrices with the sums of
//! their gradients; tiles of the other side pass by. What lanes compute goes through workgroup memory: scores and dots as
//! floats, weights and slopes as halves.
//!
//! ```text
//! scores  = own0 . passing0       weights = exp(scores * scale - lse)
//! dots    = own1 . passing1       slopes  = weights * (dots - delta)
//! dv     += weights grad          dk += slopes queries, dq += slopes keys; times scale in the end
//! ```

use super::super::attention::scale;
use super::super::halves::{
    Operand, SEEN, SIDE, SUBGROUP, Sight, Stage, Sums, TEAM, Tile, open_blocks, usable, vector,
};
use super::super::module::{Binding, Module, line};
use super::super::tile::Operand as Words;
use super::super::{Dispatch, Printer};
use super::{Goal, Of, Sizes, turned};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::AttentionGrad;
use std::fmt::Write;

/// Rows of a subgroup, subgroups of a workgroup, rows that pass by at a time.
type Cut = (usize, usize, usize);

/// From the best on; the first that fits is taken.
const CUTS: [Cut; 3] = [(16, 4, 32), (16, 2, 32), (16, 1, 32)];

/// How the work is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    sizes: Sizes,
    /// Rows of a subgroup and of a workgroup.
    rows: usize,
    own: usize,
    passing: usize,
}

impl Form {
    /// The form, if matrix units can be used and there are rows enough.
    pub fn new(printer: &Printer<'_>, body: &AttentionGrad, sizes: Sizes) -> Option<Form> {
        let grad = turned(&body.grad);
        let operands = [&body.q, &body.k, &body.v, &grad];
        if !usable(printer, &operands, body.mask.as_ref()) || sizes.tq <= SIDE / 2 {
            return None;
        }
        let most = sizes.tq.max(sizes.tk);
        let cut = |&(rows, subgroups, passing): &Cut| Form { sizes, rows, own: rows * subgroups, passing };
        CUTS.iter().map(cut).find(|form| {
            form.own <= most.next_power_of_two().max(SIDE)
                && form.bytes() <= printer.caps.workgroup_bytes as usize
                && form.lanes() <= printer.caps.lanes as usize
        })
    }

    fn lanes(&self) -> usize {
        self.own / self.rows * SUBGROUP
    }

    /// The two tiles that pass by, weights (own rows before them), and slopes.
    fn tiles(&self) -> [Tile; 4] {
        let Sizes { d, dv, .. } = self.sizes;
        [
            Tile::new("passing0", self.passing, d),
            Tile::new("passing1", self.passing, dv),
            Tile::new("weights", self.own, self.passing.max(d).max(dv)),
            Tile::new("slopes", self.own, self.passing),
        ]
    }

    /// Where scores (and results) are seen, and dots.
    fn sights(&self) -> [Sight; 2] {
        ["scores", "dots"].map(|name| Sight { name, rows: self.own, width: self.passing })
    }

    fn bytes(&self) -> usize {
        let tiles: usize = self.tiles().iter().map(Tile::bytes).sum();
        tiles + self.sights().iter().map(Sight::bytes).sum::<usize>()
    }
}

/// What workgroups of one kind do.
struct Side<'a> {
    form: &'a Form,
    causal: bool,
    factor: String,
    mask: Option<&'a Words>,
    known: usize,
    /// Whether they own keys.
    keys: bool,
    /// Keys and values, queries and gradients: those owned and those passing by.
    own: [&'a Operand; 2],
    passing: [&'a Operand; 2],
    /// dk or dq; dv.
    sloped: Option<&'a Goal>,
    weighted: Option<&'a Goal>,
}

pub(super) fn print(
    printer: &Printer<'_>,
    body: &AttentionGrad,
    form: &Form,
    known: usize,
    goals: &[Goal],
) -> Result<Dispatch> {
    let mut m = printer.module();
    let groups = text(&mut m, body, form, known, goals);
    m.finish(form.lanes() as u32, groups)
}

/// Prints the dispatch; gives the number of workgroups.
fn text(m: &mut Module<'_>, body: &AttentionGrad, form: &Form, known: usize, goals: &[Goal]) -> usize {
    let grad = turned(&body.grad);
    let [q, k, v, g] = [&body.q, &body.k, &body.v, &grad].map(|operand| Operand::new(m, operand));
    let mask = body.mask.as_ref().map(|mask| Words::single(m, mask));
    m.want(Binding::Scratch(known), 4);
    goals.iter().for_each(|goal| goal.declare(m));
    form.tiles().iter().for_each(|tile| tile.declare(m));
    form.sights().iter().for_each(|sight| sight.declare(m));
    let goal = |of: Of| goals.iter().find(|goal| goal.of == of);
    let side = |keys: bool| Side {
        form,
        causal: body.spec.causal,
        factor: scale(body.spec.scale),
        mask: mask.as_ref(),
        known,
        keys,
        own: if keys { [&k, &v] } else { [&q, &g] },
        passing: if keys { [&q, &g] } else { [&k, &v] },
        sloped: goal(if keys { Of::Keys } else { Of::Queries }),
        weighted: if keys { goal(Of::Values) } else { None },
    };
    open_blocks(m, form.rows);
    let sides = [side(true), side(false)].into_iter();
    let sides: Vec<Side<'_>> = sides.filter(|s| s.sloped.is_some() || s.weighted.is_some()).collect();
    let groups: usize = sides.iter().map(Side::groups).sum();
    // A workgroup past the end repeats the last one's work; it writes the same values.
    line!(m, "let at_work = min(group, {}u);", groups - 1);
    let mut first = 0;
    for (i, side) in sides.iter().enumerate() {
        match sides.len() - i {
            2 => line!(m, "if (at_work < {}u) {{", side.groups()),
            _ if i == 1 => line!(m, "else {{"),
            _ => line!(m, "{{"),
        }
        line!(m, "let work = at_work - {first}u;");
        side.print(m);
        line!(m, "}}");
        first += side.groups();
    }
    groups
}

impl Side<'_> {
    /// How many rows there are to own, and to pass by.
    fn counts(&self) -> [usize; 2] {
        let Sizes { tq, tk, .. } = self.form.sizes;
        if self.keys { [tk, tq] } else { [tq, tk] }
    }

    fn units(&self) -> usize {
        let Sizes { batch, heads, key_heads, .. } = self.form.sizes;
        batch * if self.keys { key_heads } else { heads }
    }

    fn groups(&self) -> usize {
        self.units() * self.counts()[0].div_ceil(self.form.own)
    }

    /// Coordinates of an own row, and of one that passes by.
    fn coords(&self, own: bool, row: &str) -> [String; 3] {
        ["batch".into(), if own == self.keys { "key_head" } else { "head" }.into(), row.into()]
    }

    fn print(&self, m: &mut Module<'_>) {
        let (form, [count, others]) = (self.form, self.counts());
        let [passing0, passing1, weights, slopes] = form.tiles();
        let [scores, dots] = form.sights();
        self.open(m);
        let sloped = self.sloped.is_some();
        let own0 = self.own_matrices(m, "x", 0);
        let own1 = if sloped { self.own_matrices(m, "y", 1) } else { vec![] };
        let [d, dv] = [form.sizes.d, form.sizes.dv];
        let slope_sums = self.sloped.map(|goal| (goal, Sums::new(m, "ds", form.rows, d)));
        let weight_sums = self.weighted.map(|goal| (goal, Sums::new(m, "dw", form.rows, dv)));
        let stage0 = Stage::new(m, self.passing[0], passing0, others, form.lanes());
        let stage1 = Stage::new(m, self.passing[1], passing1, others, form.lanes());
        let load = |m: &mut Module<'_>, at: &str| {
            stage0.load(m, at, |_, row| self.coords(false, row));
            stage1.load(m, at, |_, row| self.coords(false, row));
        };
        let (first, until) = match (self.causal, self.keys) {
            (false, _) => ("0u".into(), format!("{others}u")),
            (true, true) => ("start".into(), format!("{others}u")),
            (true, false) => ("0u".to_string(), format!("min({others}u, start + {}u)", form.own)),
        };
        line!(m, "let first = {first};");
        line!(m, "let until = {until};");
        if self.keys {
            let group = form.sizes.group();
            line!(m, "for (var member = 0u; member < {group}u; member++) {{");
            line!(m, "let head = key_head * {group}u + member;");
        }
        load(m, "first");
        line!(m, "for (var at = first; at < until; at += {}u) {{", form.passing);
        line!(m, "workgroupBarrier();");
        stage0.put(m, "at");
        stage1.put(m, "at");
        line!(m, "workgroupBarrier();");
        line!(m, "let next = at + {}u;", form.passing);
        load(m, "next");
        let mut products = vec![("s", &own0, d, passing0, scores)];
        if sloped {
            products.push(("t", &own1, dv, passing1, dots));
        }
        line!(m, "{{");
        for (stem, own, width, tile, sight) in products {
            let sums = Sums::new(m, stem, form.rows, form.passing);
            let left = |_: &mut Module<'_>, step: usize| own[step].clone();
            sums.add(m, width, left, |m, name, at, column| tile.right_turned(m, name, column, at));
            sums.show(m, &sight, 0);
        }
        line!(m, "}}");
        line!(m, "workgroupBarrier();");
        self.weigh(m);
        line!(m, "workgroupBarrier();");
        for (sums, left, right) in [(&weight_sums, weights, passing1), (&slope_sums, slopes, passing0)] {
            let Some((_, sums)) = sums else { continue };
            let lefts = |m: &mut Module<'_>, step: usize| left.lefts(m, form.rows, step, |i| format!("a{i}"));
            sums.add(m, form.passing, lefts, |m, name, at, column| right.right(m, name, at, column));
        }
        line!(m, "}}");
        if self.keys {
            line!(m, "}}");
        }
        for (result, factor) in [(&weight_sums, None), (&slope_sums, Some(&self.factor))] {
            let Some((goal, sums)) = result else { continue };
            for first in (0..goal.width).step_by(scores.width) {
                line!(m, "workgroupBarrier();");
                sums.show(m, &scores, first);
                line!(m, "workgroupBarrier();");
                self.store(m, goal, first, factor, count);
            }
        }
    }

    /// Says which rows a workgroup owns.
    fn open(&self, m: &mut Module<'_>) {
        let (Sizes { heads, key_heads, .. }, units) = (self.form.sizes, self.units());
        let tiles = self.counts()[0].div_ceil(self.form.own);
        line!(m, "let unit = work % {units}u;");
        // Under causality the first tiles of keys and the last ones of queries have the most to do; they start first.
        match self.keys {
            true => line!(m, "let start = work / {units}u * {}u;", self.form.own),
            false => line!(m, "let start = ({}u - work / {units}u) * {}u;", tiles - 1, self.form.own),
        }
        let per = if self.keys { key_heads } else { heads };
        line!(m, "let batch = unit / {per}u;");
        match self.keys {
            true => line!(m, "let key_head = unit % {per}u;"),
            false => {
                line!(m, "let head = unit % {per}u;");
                line!(m, "let key_head = head / {}u;", self.form.sizes.group());
            }
        }
        for r in 0..self.form.rows / SEEN {
            line!(m, "let row{r} = team + {}u;", r * SEEN);
            line!(m, "let safe{r} = min(start + row{r}, {}u);", self.counts()[0] - 1);
            if !self.keys {
                for (name, value) in self.known(m, &format!("safe{r}"), 1) {
                    line!(m, "let {name}{r} = vec4<f32>({});", value[0]);
                }
            }
        }
    }

    /// The log-sum-exps of queries, and their deltas.
    fn known(&self, m: &mut Module<'_>, query: &str, count: usize) -> [(&'static str, Vec<String>); 2] {
        let Sizes { batch, heads, tq, .. } = self.form.sizes;
        let padded = tq.next_multiple_of(4);
        let at = m.bind("a", &format!("(batch * {heads}u + head) * {padded}u + {query}"));
        [("lse", 0), ("delta", batch * heads * padded)].map(|(name, plane)| {
            (name, m.elements(Binding::Scratch(self.known), DType::F32, &format!("({at} + {plane}u)"), count))
        })
    }

    /// What is known of the queries of row `r`: own ones, or those that pass by.
    fn of_query(&self, name: &str, r: usize) -> String {
        if self.keys { name.to_string() } else { format!("{name}{r}") }
    }

    /// Takes own rows of an operand into registers; gives the names of the matrices, by step along the width.
    fn own_matrices(&self, m: &mut Module<'_>, stem: &str, which: usize) -> Vec<Vec<String>> {
        let Form { sizes: Sizes { d, dv, .. }, .. } = *self.form;
        let tile = self.form.tiles()[2];
        let stage = Stage::new(m, self.own[which], tile, self.counts()[0], self.form.lanes());
        stage.load(m, "start", |_, row| self.coords(true, row));
        line!(m, "workgroupBarrier();");
        stage.put(m, "start");
        line!(m, "workgroupBarrier();");
        let steps = [d, dv][which] / SIDE;
        let rows = self.form.rows;
        (0..steps).map(|step| tile.lefts(m, rows, step, |i| format!("{stem}{i}_{step}"))).collect()
    }

    /// Turns what is seen into weights and slopes.
    fn weigh(&self, m: &mut Module<'_>) {
        let (form, [_, others]) = (self.form, self.counts());
        let [_, _, weights, slopes] = form.tiles();
        let [scores, dots] = form.sights();
        for g in 0..form.passing / (4 * TEAM) {
            line!(m, "{{");
            line!(m, "let other = at + {} * 4u;", vector(g));
            line!(m, "let each = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);");
            if self.keys {
                let last = others.next_multiple_of(4) - 4;
                for (name, values) in self.known(m, &format!("min(other, {last}u)"), 4) {
                    line!(m, "let {name} = vec4<f32>({});", values.join(", "));
                }
            }
            if self.mask.is_some() {
                (0..4).for_each(|e| line!(m, "let other{e} = min(other + {e}u, {}u);", others - 1));
            }
            for r in 0..form.rows / SEEN {
                let row = format!("row{r}");
                line!(m, "var p{r} = {} * {};", scores.four(&row, &vector(g)), self.factor);
                if let Some(mask) = self.mask {
                    let values: Vec<String> = (0..4)
                        .map(|e| {
                            let (own, other) = (format!("safe{r}"), format!("other{e}"));
                            let (query, key) = if self.keys { (other, own) } else { (own, other) };
                            mask.element(m, &["batch".into(), "head".into(), query, key])
                        })
                        .collect();
                    line!(m, "p{r} += vec4<f32>({});", values.join(", "));
                }
                line!(m, "p{r} = exp(p{r} - {});", self.of_query("lse", r));
            }
            self.hide(m);
            for r in 0..form.rows / SEEN {
                let row = format!("row{r}");
                if self.weighted.is_some() {
                    line!(m, "{} = vec4<f16>(p{r});", weights.four(&row, &vector(g)));
                }
                if self.sloped.is_some() {
                    // What is hidden may be anything, even infinite.
                    let slope =
                        format!("p{r} * ({} - {})", dots.four(&row, &vector(g)), self.of_query("delta", r));
                    let slope = format!("select({slope}, vec4<f32>(), p{r} == vec4<f32>())");
                    line!(m, "{} = vec4<f16>({slope});", slopes.four(&row, &vector(g)));
                }
            }
            line!(m, "}}");
        }
    }

    /// Leaves no weight to what is not seen, in the tiles where there is some; own rows past the last are never stored.
    fn hide(&self, m: &mut Module<'_>) {
        let (form, [_, others]) = (self.form, self.counts());
        let (mut edges, mut hidden) = (vec![], vec![]);
        if !others.is_multiple_of(form.passing) {
            edges.push(format!("at + {}u > {others}u", form.passing));
            hidden.push(format!("(each >= vec4<u32>({others}u))"));
        }
        match (self.causal, self.keys) {
            (false, _) => {}
            (true, true) => {
                edges.push(format!("start + {}u > at", form.own - 1));
                hidden.push("(vec4<u32>(start + ROW) > each)".to_string());
            }
            (true, false) => {
                edges.push(format!("at + {}u > start", form.passing - 1));
                hidden.push("(each > vec4<u32>(start + ROW))".to_string());
            }
        }
        if edges.is_empty() {
            return;
        }
        line!(m, "if ({}) {{", edges.join(" || "));
        for r in 0..form.rows / SEEN {
            let hidden = hidden.join(" | ").replace("ROW", &format!("row{r}"));
            line!(m, "p{r} = select(p{r}, vec4<f32>(), {hidden});");
        }
        line!(m, "}}");
    }

    /// Stores the columns of a result that are seen, from `first` on.
    fn store(&self, m: &mut Module<'_>, goal: &Goal, first: usize, factor: Option<&String>, count: usize) {
        let form = self.form;
        let sight = form.sights()[0];
        for r in 0..form.rows / SEEN {
            for g in 0..sight.width / (4 * TEAM) {
                let c = format!("({} + {}u)", vector(g), first / 4);
                line!(m, "if (start + row{r} < {count}u && {c} < {}u) {{", goal.quads());
                let seen = sight.four(&format!("row{r}"), &vector(g));
                let value = factor.map_or(seen.clone(), |factor| format!("{seen} * {factor}"));
                let value = m.bind("x", &value);
                let head = if self.keys { "key_head" } else { "head" };
                goal.store(m, form.sizes.batch, ["0u", head, &format!("safe{r}"), &c], &value);
                line!(m, "}}");
            }
        }
    }
}
