//! A row's maximum and the sum of `exp(x - shift)`, whose shift is made of the maximum, in one pass instead of two: where a
//! larger element turns up, the sum so far is scaled down. Softmax, log-sum-exp and cross-entropy of rows that no team of lanes
//! can keep are read once less.

use super::super::functions::Function;
use super::super::lanes::{Team, reduce};
use super::super::module::{Module, line};
use super::super::program::{Point, combine};
use super::super::tile::minus_infinity;
use super::Rows;
use crate::dtype::DType;
use crate::graph::{Binary, Reduce, Unary};
use crate::kernel::{Inst, Level, Val};
use std::fmt::Write;

/// Elements whose loads are on their way together.
const TOGETHER: usize = 8;

/// The two reductions, and the values that they are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponentials {
    maximum: usize,
    sum: usize,
    x: Val,
    shift: Val,
}

impl Exponentials {
    /// Those of a loop whose first pass finds the maximum and whose second does nothing but sum.
    pub fn of(rows: &Rows<'_>) -> Option<Exponentials> {
        let program = &rows.body().program;
        let inst = |v: Val| &program[v.index()].inst;
        let &[maximum] = &rows.reductions(0)[..] else { return None };
        let &[sum] = &rows.reductions(1)[..] else { return None };
        let (Inst::Reduce(Reduce::Max, x), Inst::Reduce(Reduce::Sum, e)) =
            (&program[maximum].inst, &program[sum].inst)
        else {
            return None;
        };
        let &Inst::Unary(Unary::Exp, shifted) = inst(*e) else { return None };
        let &Inst::Binary(Binary::Sub, from, shift) = inst(shifted) else { return None };
        let floats = [*x, *e, shifted, shift].iter().all(|v| program[v.index()].dtype == DType::F32);
        let alone = rows.element_stores(0).is_empty() && rows.element_stores(1).is_empty();
        let fits = from == *x && program[shift.index()].level != Level::Element && floats && alone;
        fits.then_some(Exponentials { maximum, sum, x: *x, shift })
    }

    /// Prints the pass over a row, of which lane `place` of a team has every so many vectors, and names the maximum.
    pub fn print_maximum(&self, m: &mut Module<'_>, rows: &Rows<'_>, row: &Point, team: Team) {
        let (vector, vectors, step) = (rows.program.vector, rows.vectors(), team.width);
        let needed = rows.needed(std::iter::once(self.x));
        let least = minus_infinity(m);
        line!(m, "var top = {least};");
        line!(m, "var total = 0.0;");
        line!(m, "var at_vector = place;");
        let ahead = |n: usize| match n {
            0 => "at_vector".to_string(),
            _ => format!("at_vector + {}u", n * step as usize),
        };
        // Several at a time, then those that are left.
        let most = (TOGETHER / vector).max(1);
        for together in [most, 1].into_iter().take(if most > 1 { 2 } else { 1 }) {
            let stride = together * step as usize;
            line!(m, "for (; {} < {vectors}u; at_vector += {stride}u) {{", ahead(together - 1));
            let at: Vec<String> = (0..together).map(|n| m.bind("at", &ahead(n))).collect();
            let points: Vec<Point> = at.iter().map(|at| rows.element_point(m, row, at)).collect();
            for &i in &needed {
                for (n, point) in points.iter().enumerate() {
                    rows.program.instruction(m, i, point, n * vector, vector);
                }
            }
            let mut values = vec![];
            for (n, at) in at.iter().enumerate() {
                for e in 0..vector {
                    let value = rows.program.name(self.x, n * vector + e);
                    values.push(match rows.ends_before(e) {
                        None => value,
                        Some(whole) => {
                            let least = minus_infinity(m);
                            m.bind("x", &format!("select({least}, {value}, {at} < {whole}u)"))
                        }
                    });
                }
            }
            let largest = values.iter().fold("top".to_string(), |top, value| {
                let larger = combine(m, Reduce::Max, DType::F32, &top, value);
                m.bind("t", &larger)
            });
            // Infinities are not subtracted from each other here: what comes of them depends on the shift.
            let infinite = format!("abs({largest}) == {}()", m.function(Function::Infinity));
            let shift = m.bind("s", &format!("select({largest}, 0.0, {infinite})"));
            let fade = m.exp(&format!("top - {shift}"));
            line!(m, "total *= {fade};");
            for value in &values {
                let term = m.exp(&format!("{value} - {shift}"));
                line!(m, "total += {term};");
            }
            line!(m, "top = {largest};");
            line!(m, "}}");
        }
        let maximum = rows.program.name(Val(self.maximum as u32), 0);
        let found = reduce(m, team, Reduce::Max, DType::F32, "top");
        line!(m, "let {maximum} = {found};");
    }

    /// Names the sum, when the shift has its name.
    pub fn print_sum(&self, m: &mut Module<'_>, rows: &Rows<'_>, team: Team) {
        let name = |v: Val| rows.program.name(v, 0);
        let fade = m.exp(&format!("top - {}", name(self.shift)));
        let own = format!("(total * {fade})");
        let found = reduce(m, team, Reduce::Sum, DType::F32, &own);
        line!(m, "let {} = {found};", name(Val(self.sum as u32)));
    }
}

impl Rows<'_> {
    /// If element `e` of a row's last vector may lie past its end: how many vectors are whole.
    fn ends_before(&self, e: usize) -> Option<usize> {
        let (len, vector) = (self.program.segment.dims[self.program.inner], self.program.vector);
        (!len.is_multiple_of(vector) && e >= len % vector).then_some(len / vector)
    }
}
