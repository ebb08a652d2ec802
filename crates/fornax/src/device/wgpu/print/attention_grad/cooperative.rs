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
    Operand, SEEN, SIDE, SUBGROUP, Sight, Stage, Sums, TEAM, Tile, open_blocks, own_matrices, usable, vector,
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

/// From the best on; the first that fits is taken. On NVIDIA's GPUs the workgroups of a core share 48 KiB (measured on an
/// H200), so one of 24 leaves room for a second, which computes while the first waits.
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

    /// The two tiles that pass by; own rows at first, then weights and slopes in turns.
    fn tiles(&self) -> [Tile; 3] {
        let Sizes { d, dv, .. } = self.sizes;
        [
            Tile::new("passing0", self.passing, d),
            Tile::new("passing1", self.passing, dv),
            Tile::new("weights", self.own, self.passing),
        ]
    }

    /// Where scores are seen, then dots, and results at last.
    fn sight(&self) -> Sight {
        Sight { name: "sight", rows: self.own, width: self.passing }
    }

    fn bytes(&self) -> usize {
        let tiles: usize = self.tiles().iter().map(Tile::bytes).sum();
        tiles + self.sight().bytes()
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
    form.sight().declare(m);
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

    /// Batch and head of own rows, and of those that pass by.
    fn place(&self, own: bool) -> [&'static str; 2] {
        ["batch", if own == self.keys { "key_head" } else { "head" }]
    }

    fn print(&self, m: &mut Module<'_>) {
        let (form, [count, others]) = (self.form, self.counts());
        let [passing0, passing1, weights] = form.tiles();
        let sight = form.sight();
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
            stage0.load_positions(m, at, self.place(false));
            stage1.load_positions(m, at, self.place(false));
        };
        let put = |m: &mut Module<'_>, at: &str| {
            line!(m, "workgroupBarrier();");
            stage0.put(m, at);
            stage1.put(m, at);
            line!(m, "workgroupBarrier();");
        };
        let (first, until) = match (self.causal, self.keys) {
            (false, _) => ("0u".into(), format!("{others}u")),
            // A tile that begins where own rows do would reach past the end of whole ones.
            (true, true) => (format!("start / {0}u * {0}u", form.passing), format!("{others}u")),
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
        put(m, "first");
        line!(m, "for (var at = first; at < until; at += {}u) {{", form.passing);
        line!(m, "let next = at + {}u;", form.passing);
        load(m, "next");
        self.open_passing(m);
        line!(m, "{{");
        let scores = Sums::new(m, "s", form.rows, form.passing);
        let left = |_: &mut Module<'_>, step: usize| own0[step].clone();
        scores.add(m, d, left, |m, name, at, column| passing0.right_turned(m, name, column, at));
        scores.show(m, &sight, 0);
        let dots = sloped.then(|| {
            let dots = Sums::new(m, "t", form.rows, form.passing);
            let left = |_: &mut Module<'_>, step: usize| own1[step].clone();
            dots.add(m, dv, left, |m, name, at, column| passing1.right_turned(m, name, column, at));
            dots
        });
        line!(m, "workgroupBarrier();");
        self.weigh(m);
        let add = |m: &mut Module<'_>, sums: &Option<(&Goal, Sums)>, right: &Tile| {
            let Some((_, sums)) = sums else { return };
            let lefts =
                |m: &mut Module<'_>, step: usize| weights.lefts(m, form.rows, step, |i| format!("a{i}"));
            sums.add(m, form.passing, lefts, |m, name, at, column| right.right(m, name, at, column));
        };
        line!(m, "workgroupBarrier();");
        if let Some(dots) = dots {
            dots.show(m, &sight, 0);
        }
        add(m, &weight_sums, &passing1);
        if sloped {
            line!(m, "workgroupBarrier();");
            self.slope(m);
            line!(m, "workgroupBarrier();");
            add(m, &slope_sums, &passing0);
        }
        line!(m, "}}");
        put(m, "next");
        line!(m, "}}");
        if self.keys {
            line!(m, "}}");
        }
        for (result, factor) in [(&weight_sums, None), (&slope_sums, Some(&self.factor))] {
            let Some((goal, sums)) = result else { continue };
            for first in (0..goal.width).step_by(sight.width) {
                line!(m, "workgroupBarrier();");
                sums.show(m, &sight, first);
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

    /// What is known of the queries of row `r`, or of vector `g` that passes by.
    fn of_query(&self, name: &str, r: usize, g: usize) -> String {
        if self.keys { format!("{name}_{g}") } else { format!("{name}{r}") }
    }

    /// Names the vectors that pass by, with what is known of them: it arrives while scores are computed.
    fn open_passing(&self, m: &mut Module<'_>) {
        let last = self.counts()[1].next_multiple_of(4) - 4;
        for g in 0..self.form.passing / (4 * TEAM) {
            line!(m, "let other_{g} = at + {} * 4u;", vector(g));
            if self.keys {
                for (name, values) in self.known(m, &format!("min(other_{g}, {last}u)"), 4) {
                    line!(m, "let {name}_{g} = vec4<f32>({});", values.join(", "));
                }
            }
        }
    }

    /// Takes own rows of an operand into registers; gives the names of the matrices, by step along the width.
    fn own_matrices(&self, m: &mut Module<'_>, stem: &str, which: usize) -> Vec<Vec<String>> {
        let (form, [batch, head]) = (self.form, self.place(true));
        let sizes = (form.rows, self.counts()[0], form.lanes());
        own_matrices(m, stem, self.own[which], form.tiles()[2], sizes, |_, row| {
            [batch.into(), head.into(), row.into()]
        })
    }

    /// Vectors of rows that a lane sees, as (row, vector).
    fn seen(&self) -> impl Iterator<Item = (usize, usize)> {
        let (rows, vectors) = (self.form.rows / SEEN, self.form.passing / (4 * TEAM));
        (0..vectors).flat_map(move |g| (0..rows).map(move |r| (r, g)))
    }

    /// Turns the scores that are seen into weights.
    fn weigh(&self, m: &mut Module<'_>) {
        let (form, others) = (self.form, self.counts()[1]);
        let (weights, sight) = (form.tiles()[2], form.sight());
        for (r, g) in self.seen() {
            let row = format!("row{r}");
            line!(m, "var p{r}_{g} = {} * {};", sight.four(&row, &vector(g)), self.factor);
            if let Some(mask) = self.mask {
                let values: Vec<String> = (0..4)
                    .map(|e| {
                        let other = m.bind("o", &format!("min(other_{g} + {e}u, {}u)", others - 1));
                        let own = format!("safe{r}");
                        let (query, key) = if self.keys { (other, own) } else { (own, other) };
                        mask.element(m, &["batch".into(), "head".into(), query, key])
                    })
                    .collect();
                line!(m, "p{r}_{g} += vec4<f32>({});", values.join(", "));
            }
            line!(m, "p{r}_{g} = exp(p{r}_{g} - {});", self.of_query("lse", r, g));
            self.hide(m, r, g);
            if self.weighted.is_some() {
                line!(m, "{} = vec4<f16>(p{r}_{g});", weights.four(&row, &vector(g)));
            }
        }
    }

    /// Turns the dots that are seen into slopes.
    fn slope(&self, m: &mut Module<'_>) {
        let (slopes, sight) = (self.form.tiles()[2], self.form.sight());
        for (r, g) in self.seen() {
            let (row, p) = (format!("row{r}"), format!("p{r}_{g}"));
            let dots = sight.four(&row, &vector(g));
            // What is hidden may be anything, even infinite.
            let slope = format!("{p} * ({dots} - {})", self.of_query("delta", r, g));
            let slope = format!("select({slope}, vec4<f32>(), {p} == vec4<f32>())");
            line!(m, "{} = vec4<f16>({slope});", slopes.four(&row, &vector(g)));
        }
    }

    /// Leaves no weight to what is not seen; own rows past the last are never stored. No branch asks whether a tile has
    /// something to hide: NVIDIA's driver moves the loads of the next tile past it, to where they are waited for.
    fn hide(&self, m: &mut Module<'_>, r: usize, g: usize) {
        let others = self.counts()[1];
        let each = format!("(vec4<u32>(other_{g}) + vec4<u32>(0u, 1u, 2u, 3u))");
        let mut hidden = vec![];
        if !others.is_multiple_of(self.form.passing) {
            hidden.push(format!("({each} >= vec4<u32>({others}u))"));
        }
        match (self.causal, self.keys) {
            (false, _) => {}
            (true, true) => hidden.push(format!("(vec4<u32>(start + row{r}) > {each})")),
            (true, false) => hidden.push(format!("({each} > vec4<u32>(start + row{r}))")),
        }
        if !hidden.is_empty() {
            line!(m, "p{r}_{g} = select(p{r}_{g}, vec4<f32>(), {});", hidden.join(" | "));
        }
    }

    /// Stores the columns of a result that are seen, from `first` on.
    fn store(&self, m: &mut Module<'_>, goal: &Goal, first: usize, factor: Option<&String>, count: usize) {
        let form = self.form;
        let sight = form.sight();
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
