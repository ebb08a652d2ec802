//! Rows of a strided operand as vectors of four, for kernels that hold some rows against others: staged in
//! workgroup memory, where rows are turned so that they spread over the banks, or read where they lie.

use super::functions::Function;
use super::module::{Binding, Module, line};
use super::program::{Access, access, address, inside};
use crate::dtype::DType;
use crate::view::View;
use std::fmt::Write;

/// Row groups of a workgroup. Lanes own the rows `group, group + 8, ..`, which all have the same turn.
pub(super) const ROW_GROUPS: usize = 8;

/// The parts of a vec4.
pub(super) const PARTS: [&str; 4] = ["x", "y", "z", "w"];

/// An operand `[batch, head, position, width]`.
pub(super) struct Operand {
    binding: Binding,
    dtype: DType,
    pub view: View,
    vector: bool,
}

impl Operand {
    /// Declares the memory of a read.
    pub fn new(m: &mut Module<'_>, (read, view): &(usize, View)) -> Operand {
        let (binding, dtype) = (m.read(*read), m.printer.kernel.reads[*read].dtype);
        let last = view.shape.len() - 1;
        let vector = access(view, last, 4, dtype.size(), false) == Access::Vector;
        m.want(binding, if vector { dtype.size() } else { 1 });
        Operand { binding, dtype, view: view.clone(), vector }
    }

    /// An operand whose elements are read one by one.
    pub fn single(m: &mut Module<'_>, (read, view): &(usize, View)) -> Operand {
        let (binding, dtype) = (m.read(*read), m.printer.kernel.reads[*read].dtype);
        m.want(binding, 1);
        Operand { binding, dtype, view: view.clone(), vector: false }
    }

    /// The size of the last axis.
    pub fn width(&self) -> usize {
        self.view.shape.last().map_or(1, |&n| n)
    }

    /// Vectors of four that hold a row.
    pub fn quads(&self) -> usize {
        self.width().div_ceil(4)
    }

    /// One element; the coordinates must be inside the shape.
    pub fn element(&self, m: &mut Module<'_>, coords: &[String]) -> String {
        let at = m.bind("a", &address(&self.view, coords));
        match inside(&self.view, coords) {
            None => m.elements(self.binding, self.dtype, &at, 1).remove(0),
            Some(guard) => {
                let guard = m.bind("g", &guard);
                let safe = m.bind("a", &format!("select(0u, {at}, {guard})"));
                let value = m.elements(self.binding, self.dtype, &safe, 1).remove(0);
                format!("select(0.0, {value}, {guard})")
            }
        }
    }

    /// Elements `4 * c ..` of a row as a vec4, zeros past the width.
    pub fn quad(&self, m: &mut Module<'_>, row: &[String], c: &str) -> String {
        let first = m.bind("d", &format!("({c}) * 4u"));
        let mut coords = row.to_vec();
        coords.push(first.clone());
        let width = self.width();
        let values = if self.vector {
            let at = m.bind("a", &address(&self.view, &coords));
            match inside(&self.view, &coords) {
                None => m.elements(self.binding, self.dtype, &at, 4),
                Some(guard) => {
                    let guard = m.bind("g", &guard);
                    let safe = m.bind("a", &format!("select(0u, {at}, {guard})"));
                    let values = m.elements(self.binding, self.dtype, &safe, 4);
                    values.iter().map(|v| format!("select(0.0, {v}, {guard})")).collect()
                }
            }
        } else {
            let mut values = vec![];
            for e in 0..4 {
                let column = format!("({first} + {e}u)");
                let last = coords.len() - 1;
                if width.is_multiple_of(4) {
                    coords[last] = column;
                    values.push(self.element(m, &coords));
                } else {
                    coords[last] = m.bind("d", &format!("min({column}, {}u)", width - 1));
                    let value = self.element(m, &coords);
                    values.push(format!("select(0.0, {value}, {column} < {width}u)"));
                }
            }
            values
        };
        m.bind("x", &format!("vec4<f32>({})", values.join(", ")))
    }
}

/// How lanes share a matrix: lane `row * across + column` has the rows `row, row + down, ..` and the vectors
/// `column, column + across, ..`. Rows of one lane have the same turn, as `down` is a multiple of eight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// The names of the lane's first row and first vector in the text.
    pub row: &'static str,
    pub column: &'static str,
    pub down: usize,
    pub across: usize,
}

impl Grid {
    /// Row `r` of the lane.
    pub fn row(&self, r: usize) -> String {
        format!("({} + {}u)", self.row, r * self.down)
    }

    /// Vector `g` of the lane.
    pub fn column(&self, g: usize) -> String {
        format!("({} + {}u)", self.column, g * self.across)
    }
}

/// A matrix of vec4 in workgroup memory.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub name: String,
    pub rows: usize,
    pub quads: usize,
    /// How many rows, one after the other, are turned alike: where neighbouring lanes read every fourth row, 4.
    pub alike: usize,
}

impl Tile {
    pub fn new(name: &str, rows: usize, width: usize) -> Tile {
        Tile { name: name.into(), rows, quads: width.div_ceil(4), alike: 1 }
    }

    /// How far rows are turned, as a mask; without it they are padded.
    fn turns(&self) -> Option<usize> {
        let even = 1usize << self.quads.trailing_zeros().min(3);
        (even >= 4).then_some(even - 1)
    }

    fn stride(&self) -> usize {
        if self.turns().is_some() { self.quads } else { self.quads | 1 }
    }

    /// How many vec4 it takes.
    pub fn len(&self) -> usize {
        self.rows * self.stride()
    }

    /// Vector `c` of a row; `turn` is the row (divided by `alike`) or equal to that modulo 8.
    pub fn at(&self, row: &str, turn: &str, c: &str) -> String {
        let (name, stride) = (&self.name, self.stride());
        match self.turns() {
            Some(mask) => format!("{name}[({row}) * {stride}u + (({c}) ^ (({turn}) & {mask}u))]"),
            None => format!("{name}[({row}) * {stride}u + {c}]"),
        }
    }

    /// Fills the tile with rows of an operand, times a factor. `coords` gives coordinates inside the operand for
    /// row `row` of the tile and the condition under which it exists; other rows are zeros.
    pub fn fill(
        &self,
        m: &mut Module<'_>,
        lanes: usize,
        operand: &Operand,
        factor: Option<&str>,
        coords: impl Fn(&mut Module<'_>, &str) -> ([String; 3], String),
    ) {
        let total = self.rows * self.quads;
        let load = |m: &mut Module<'_>, i: &str| {
            let [row, c] = self.place(m, i);
            let (coords, exists) = coords(m, &row);
            let value = operand.quad(m, &coords, &c);
            let value = factor.map_or(value.clone(), |factor| format!("{value} * {factor}"));
            let x = m.bind("x", &format!("select(vec4<f32>(0.0), {value}, {exists})"));
            (self.filled(&row, &c), x)
        };
        // All loads of a lane are on their way before the first is stored.
        if total.is_multiple_of(lanes) && total / lanes <= 8 {
            let mut loaded = vec![];
            for part in 0..total / lanes {
                let i = m.bind("i", &format!("lane + {}u", part * lanes));
                loaded.push(load(m, &i));
            }
            loaded.iter().for_each(|(at, x)| line!(m, "{at} = {x};"));
            return;
        }
        let i = m.fresh("i");
        line!(m, "for (var {i} = lane; {i} < {total}u; {i} += {lanes}u) {{");
        let (at, x) = load(m, &i);
        line!(m, "{at} = {x};");
        line!(m, "}}");
    }

    /// The row and the vector that are number `i` of the tile.
    fn place(&self, m: &mut Module<'_>, i: &str) -> [String; 2] {
        [m.bind("row", &format!("{i} / {}u", self.quads)), m.bind("c", &format!("{i} % {}u", self.quads))]
    }

    fn filled(&self, row: &str, c: &str) -> String {
        match self.alike {
            1 => self.at(row, row, c),
            n => self.at(row, &format!("{row} / {n}u"), c),
        }
    }
}

/// An operand and the tile in which it is staged, if it is.
pub(super) struct Panel<'a> {
    pub operand: &'a Operand,
    pub tile: Option<Tile>,
}

impl Panel<'_> {
    /// Vector `c` of a row: `local` in the tile with its `turn`, `coords` in memory.
    pub fn quad(&self, m: &mut Module<'_>, local: &str, turn: &str, coords: &[String], c: &str) -> String {
        match &self.tile {
            Some(tile) => m.bind("y", &tile.at(local, turn, c)),
            None => self.operand.quad(m, coords, c),
        }
    }
}

/// Rows on their way into the tile of a panel: each lane loads its vectors into registers, where they can arrive
/// while something else is computed, and puts them into the tile later, as often as it likes.
pub(super) struct Stage<'a> {
    panel: &'a Panel<'a>,
    lanes: usize,
    names: Vec<String>,
}

impl<'a> Stage<'a> {
    /// Vectors that a lane may hold. A larger tile is filled where it is put.
    const MOST: usize = 4;

    /// Declares the registers.
    pub fn new(m: &mut Module<'_>, panel: &'a Panel<'a>, lanes: usize) -> Stage<'a> {
        let count = panel.tile.as_ref().map_or(0, |tile| (tile.rows * tile.quads).div_ceil(lanes));
        let count = if count <= Self::MOST { count } else { 0 };
        let names: Vec<String> = (0..count).map(|_| m.fresh("held")).collect();
        names.iter().for_each(|name| line!(m, "var {name} = vec4<f32>(0.0);"));
        Stage { panel, lanes, names }
    }

    /// Loads rows; `coords` as in [`Tile::fill`].
    pub fn load(&self, m: &mut Module<'_>, coords: impl Fn(&mut Module<'_>, &str) -> ([String; 3], String)) {
        let Some(tile) = &self.panel.tile else { return };
        let total = tile.rows * tile.quads;
        for (part, name) in self.names.iter().enumerate() {
            let i = m.bind("i", &format!("min(lane + {}u, {}u)", part * self.lanes, total - 1));
            let [row, c] = tile.place(m, &i);
            let (coords, exists) = coords(m, &row);
            let value = self.panel.operand.quad(m, &coords, &c);
            line!(m, "{name} = select(vec4<f32>(0.0), {value}, {exists});");
        }
    }

    /// Puts the rows that were loaded last, from `coords`, into the tile.
    pub fn put(&self, m: &mut Module<'_>, coords: impl Fn(&mut Module<'_>, &str) -> ([String; 3], String)) {
        let Some(tile) = &self.panel.tile else { return };
        if self.names.is_empty() {
            return tile.fill(m, self.lanes, self.panel.operand, None, coords);
        }
        let total = tile.rows * tile.quads;
        for (part, name) in self.names.iter().enumerate() {
            let i = m.bind("i", &format!("lane + {}u", part * self.lanes));
            let [row, c] = tile.place(m, &i);
            let at = tile.filled(&row, &c);
            match (part + 1) * self.lanes > total {
                true => line!(m, "if ({i} < {total}u) {{ {at} = {name}; }}"),
                false => line!(m, "{at} = {name};"),
            }
        }
    }
}

/// Prints `acc[r][c] += left[r] . right[c]` for all rows of a lane and all columns, over the whole width.
pub(super) fn products(
    m: &mut Module<'_>,
    quads: usize,
    acc: &[Vec<String>],
    left: impl Fn(&mut Module<'_>, usize, &str) -> String,
    right: impl Fn(&mut Module<'_>, usize, &str) -> String,
) {
    let c = m.fresh("c");
    line!(m, "for (var {c} = 0u; {c} < {quads}u; {c}++) {{");
    let columns: Vec<String> = (0..acc[0].len()).map(|j| right(m, j, &c)).collect();
    for (r, row) in acc.iter().enumerate() {
        let x = left(m, r, &c);
        for (s, y) in row.iter().zip(&columns) {
            line!(
                m,
                "{s} = fma({x}.w, {y}.w, fma({x}.z, {y}.z, fma({x}.y, {y}.y, fma({x}.x, {y}.x, {s}))));"
            );
        }
    }
    line!(m, "}}");
}

/// Prints `acc[r][g] += weights[r] . rows` for the rows and vectors that a lane has of the grid; `weights` holds
/// `count` weights for each row. `rows` gives vector `g` of row `4 * j + k`, named by that, `j` and `g`.
pub(super) fn weighted_rows(
    m: &mut Module<'_>,
    count: usize,
    acc: &[Vec<String>],
    weights: &Tile,
    grid: Grid,
    rows: impl Fn(&mut Module<'_>, &str, &str, usize) -> String,
) {
    let j = m.fresh("j");
    line!(m, "for (var {j} = 0u; {j} < {}u; {j}++) {{", count / 4);
    let ps: Vec<String> =
        (0..acc.len()).map(|r| m.bind("p", &weights.at(&grid.row(r), grid.row, &j))).collect();
    for (k, part) in PARTS.iter().enumerate() {
        let at = m.bind("k", &format!("{j} * 4u + {k}u"));
        for g in 0..acc[0].len() {
            let v = rows(m, &at, &j, g);
            for (row, p) in acc.iter().zip(&ps) {
                let o = &row[g];
                line!(m, "{o} = fma(vec4<f32>({p}.{part}), {v}, {o});");
            }
        }
    }
    line!(m, "}}");
}

/// Prints `acc[i][g] += weights[k][4 * column + i] * rows[k]` over all `k < count`: the product with the weights
/// turned, where a lane has four columns of the weights, those of its `column`.
pub(super) fn turned_rows(
    m: &mut Module<'_>,
    count: usize,
    acc: &[Vec<String>],
    weights: &Tile,
    column: &str,
    rows: impl Fn(&mut Module<'_>, &str, usize) -> String,
) {
    let k = m.fresh("k");
    line!(m, "for (var {k} = 0u; {k} < {count}u; {k}++) {{");
    let p = m.bind("p", &weights.at(&k, &k, column));
    for g in 0..acc[0].len() {
        let v = rows(m, &k, g);
        for (row, part) in acc.iter().zip(PARTS) {
            let o = &row[g];
            line!(m, "{o} = fma(vec4<f32>({p}.{part}), {v}, {o});");
        }
    }
    line!(m, "}}");
}

/// Prints a reduction ("max" or "+") of one value a row over the `columns` lanes of a row group; all of them
/// get it. `spare` is a tile that is free and has `columns` places a row.
pub(super) fn across_columns(m: &mut Module<'_>, columns: usize, op: &str, values: &[String], spare: &Tile) {
    let combine = |a: &str, b: &str| match op {
        "max" => format!("max({a}, {b})"),
        _ => format!("({a} + {b})"),
    };
    if m.printer.caps.subgroup.is_some_and(|size| size as usize >= columns) {
        let mut step = columns / 2;
        while step > 0 {
            for v in values {
                let other = m.bind("o", &format!("subgroupShuffleXor({v}, {step}u)"));
                line!(m, "{v} = {};", combine(v, &other));
            }
            step /= 2;
        }
        return;
    }
    let row = |r: usize| format!("rg + {}u", r * ROW_GROUPS);
    for (r, v) in values.iter().enumerate() {
        line!(m, "{}[cg % 4u] = {v};", spare.at(&row(r), "rg", "cg / 4u"));
    }
    line!(m, "workgroupBarrier();");
    for (r, v) in values.iter().enumerate() {
        for c in 0..columns / 4 {
            let x = m.bind("x", &spare.at(&row(r), "rg", &format!("{c}u")));
            let pairs = [
                combine(&format!("{x}.x"), &format!("{x}.y")),
                combine(&format!("{x}.z"), &format!("{x}.w")),
            ];
            let four = combine(&pairs[0], &pairs[1]);
            line!(m, "{v} = {};", if c == 0 { four } else { combine(v, &four) });
        }
    }
    line!(m, "workgroupBarrier();");
}

/// The constant minus infinity as an expression.
pub(super) fn minus_infinity(m: &mut Module<'_>) -> String {
    format!("(-{}())", m.function(Function::Infinity))
}

/// Stores a vec4 at elements `row * width + 4 * c ..` of a row-major write, leaving out what is past the
/// width.
pub(super) fn store_quad(m: &mut Module<'_>, write: usize, width: usize, row: &str, c: &str, value: &str) {
    let dtype = m.printer.kernel.writes[write].dtype;
    let at = m.bind("a", &format!("({row}) * {width}u + ({c}) * 4u"));
    let parts = PARTS.map(|p| format!("{value}.{p}"));
    if width.is_multiple_of(4) {
        m.store(Binding::Write(write), dtype, &at, &parts);
        return;
    }
    for (e, part) in parts.iter().enumerate() {
        line!(m, "if (({c}) * 4u + {e}u < {width}u) {{");
        m.store(Binding::Write(write), dtype, &format!("({at} + {e}u)"), std::slice::from_ref(part));
        line!(m, "}}");
    }
}

/// Declares a write for [`store_quad`].
pub(super) fn want_quads(m: &mut Module<'_>, write: usize, width: usize) {
    let size = m.printer.kernel.writes[write].dtype.size();
    match (width.is_multiple_of(4), size) {
        (true, _) => {
            m.want(Binding::Write(write), size);
        }
        (false, 4) => {
            m.want(Binding::Write(write), 1);
        }
        _ => m.want_atomic(Binding::Write(write)),
    }
}
