//! Rows of halves in workgroup memory, as the hardware's matrix units take them, and blocks of f32 sums that lanes can
//! only see through workgroup memory, because WGSL shows no elements of a cooperative matrix.

use super::module::{Binding, Module, line};
use super::program::{Access, access, address};
use super::{Caps, Printer};
use crate::dtype::DType;
use crate::view::View;
use std::fmt::Write;
use std::ops::Range;

/// Lanes that own a matrix together.
pub(super) const SUBGROUP: usize = 32;
/// Rows and columns of a matrix.
pub(super) const SIDE: usize = 16;
/// Lanes that share a row of sums where lanes see them, four columns each at a time: a bank's worth.
pub(super) const TEAM: usize = 8;
/// Rows of sums that a subgroup sees at a time, each by a team of lanes.
pub(super) const SEEN: usize = SUBGROUP / TEAM;
/// Elements of padding after each row in workgroup memory, against bank conflicts.
pub(super) const PAD: usize = 8;
/// Halves of a load: four words.
const EIGHT: usize = 8;
/// The widest rows: their matrices stay in registers, with those of their sums.
const WIDEST: usize = 128;

/// An operand `[batch, head, position, width]` of halves that stay halves.
pub(super) struct Operand {
    binding: Binding,
    view: View,
}

impl Operand {
    /// Whether a read can be taken so: whole matrices wide but not too many, in vectors, without padding.
    fn fits(printer: &Printer<'_>, (read, view): &(usize, View)) -> bool {
        let last = view.shape.len() - 1;
        printer.kernel.reads[*read].dtype == DType::F16
            && view.mask.is_none()
            && view.shape[last].is_multiple_of(SIDE)
            && view.shape[last] <= WIDEST
            && access(view, last, EIGHT, 2, false) == Access::Vector
    }

    /// Declares the memory of a read.
    pub fn new(m: &mut Module<'_>, (read, view): &(usize, View)) -> Operand {
        let binding = m.read(*read);
        m.want(binding, EIGHT / 2);
        Operand { binding, view: view.clone() }
    }

    fn width(&self) -> usize {
        self.view.shape[self.view.shape.len() - 1]
    }
}

/// A matrix of halves in workgroup memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub name: &'static str,
    pub rows: usize,
    /// Elements from row to row.
    stride: usize,
}

impl Tile {
    pub fn new(name: &'static str, rows: usize, width: usize) -> Tile {
        Tile { name, rows, stride: width + PAD }
    }

    pub fn bytes(&self) -> usize {
        self.rows * self.stride * 2
    }

    pub fn declare(&self, m: &mut Module<'_>) {
        m.shared(self.name, "vec4<f16>", self.bytes() / 8);
    }

    /// The vector from column `4 * c` of a row on.
    pub fn four(&self, row: &str, c: &str) -> String {
        format!("{}[{row} * {}u + {c}]", self.name, self.stride / 4)
    }

    /// Names the matrix at a row and column, as the left side of a product.
    fn left(&self, m: &mut Module<'_>, name: &str, row: &str, column: usize) {
        self.matrix(m, name, "coopLoadT", "A", &format!("{row} * {}u + {column}u", self.stride));
    }

    /// Names the matrix at a row and column, as the right side of a product.
    pub fn right(&self, m: &mut Module<'_>, name: &str, row: usize, column: usize) {
        self.matrix(m, name, "coopLoadT", "B", &format!("{}u", row * self.stride + column));
    }

    /// The same, turned: the rows of the tile are the columns of the right side.
    pub fn right_turned(&self, m: &mut Module<'_>, name: &str, row: usize, column: usize) {
        self.matrix(m, name, "coopLoad", "B", &format!("{}u", row * self.stride + column));
    }

    /// Names the left sides of a step along the columns, one for each matrix of this subgroup's rows.
    pub fn lefts(
        &self,
        m: &mut Module<'_>,
        rows: usize,
        step: usize,
        name: impl Fn(usize) -> String,
    ) -> Vec<String> {
        let matrix = |i: usize| {
            self.left(m, &name(i), &format!("(block + {}u)", i * SIDE), step * SIDE);
            name(i)
        };
        (0..rows / SIDE).map(matrix).collect()
    }

    fn matrix(&self, m: &mut Module<'_>, name: &str, load: &str, role: &str, at: &str) {
        let (tile, stride) = (self.name, self.stride / 4);
        line!(m, "let {name} = {load}<coop_mat16x16<f16, {role}>>(&{tile}[({at}) / 4u], {stride}u);");
    }
}

/// Rows of an operand on their way into a tile, through registers, where they can arrive while something else is computed.
pub(super) struct Stage<'a> {
    operand: &'a Operand,
    /// The columns that are taken.
    columns: Range<usize>,
    tile: Tile,
    /// How many rows there are in all.
    count: usize,
    lanes: usize,
    names: Vec<String>,
}

impl<'a> Stage<'a> {
    /// Declares the registers for whole rows.
    pub fn new(
        m: &mut Module<'_>,
        operand: &'a Operand,
        tile: Tile,
        count: usize,
        lanes: usize,
    ) -> Stage<'a> {
        Stage::of_columns(m, operand, 0..operand.width(), tile, count, lanes)
    }

    fn of_columns(
        m: &mut Module<'_>,
        operand: &'a Operand,
        columns: Range<usize>,
        tile: Tile,
        count: usize,
        lanes: usize,
    ) -> Stage<'a> {
        let mut stage = Stage { operand, columns, tile, count, lanes, names: vec![] };
        stage.names = (0..stage.total().div_ceil(lanes)).map(|_| m.fresh("held")).collect();
        stage.names.iter().for_each(|name| line!(m, "var {name} = vec4<u32>();"));
        stage
    }

    /// Loads of a row, and of the tile.
    fn per_row(&self) -> usize {
        self.columns.len() / EIGHT
    }

    fn total(&self) -> usize {
        self.tile.rows * self.per_row()
    }

    /// The row of a load in the tile and its place in the row.
    fn place(&self, m: &mut Module<'_>, load: usize) -> (String, String) {
        let i = m.bind("i", &format!("lane + {}u", load * self.lanes));
        let per = self.per_row();
        (m.bind("row", &format!("{i} / {per}u")), m.bind("c", &format!("{i} % {per}u")))
    }

    /// Loads rows from `first` on; `coords` gives the coordinates of a row. Nothing looks at what was loaded yet: that
    /// would wait for it.
    pub fn load(
        &self,
        m: &mut Module<'_>,
        first: &str,
        coords: impl Fn(&mut Module<'_>, &str) -> [String; 3],
    ) {
        for (load, name) in self.names.iter().enumerate() {
            let (row, c) = self.place(m, load);
            let row = m.bind("row", &format!("min({first} + {row}, {}u)", self.count - 1));
            let coords = coords(m, &row);
            let at = self.address(m, coords, &c);
            let eight = m.vector(self.operand.binding, &at);
            line!(m, "{name} = {eight};");
        }
    }

    /// The same for rows that are positions of one head. Where tiles are whole and all lanes load equally much, one address
    /// serves all loads.
    pub fn load_positions(&self, m: &mut Module<'_>, first: &str, [batch, head]: [&str; 2]) {
        let coords = |row: &str| [batch.into(), head.into(), row.into()];
        let whole = self.count.is_multiple_of(self.tile.rows) && self.total().is_multiple_of(self.lanes);
        if !whole || !self.lanes.is_multiple_of(self.per_row()) {
            return self.load(m, first, |_, row| coords(row));
        }
        let (row, c) = self.place(m, 0);
        let row = m.bind("row", &format!("min({first}, {}u) + {row}", self.count - self.tile.rows));
        let at = self.address(m, coords(&row), &c);
        let pitch = (self.lanes / self.per_row()) as isize * self.operand.view.strides[2] / EIGHT as isize;
        for (load, name) in self.names.iter().enumerate() {
            let far = load as isize * pitch;
            let eight = m.vector(self.operand.binding, &format!("{at} + {}u", far as i32 as u32));
            line!(m, "{name} = {eight};");
        }
    }

    fn address(&self, m: &mut Module<'_>, coords: [String; 3], c: &str) -> String {
        let mut coords = coords.to_vec();
        coords.push(m.bind("d", &format!("{c} * {EIGHT}u + {}u", self.columns.start)));
        m.bind("at", &format!("({}) / {EIGHT}u", address(&self.operand.view, &coords)))
    }

    /// Puts the rows that were loaded last, from `first` on, into the tile; those past the last are zeros.
    pub fn put(&self, m: &mut Module<'_>, first: &str) {
        for (load, name) in self.names.iter().enumerate() {
            let (row, c) = self.place(m, load);
            let value = match self.count.is_multiple_of(self.tile.rows) {
                true => name.clone(),
                false => {
                    let inside = format!("{first} + {row} < {}u", self.count);
                    m.bind("v", &format!("select(vec4<u32>(), {name}, {inside})"))
                }
            };
            let past = (load + 1) * self.lanes > self.total();
            if past {
                line!(m, "if ({row} < {}u) {{", self.tile.rows);
            }
            for (z, four) in eight_halves(&value).iter().enumerate() {
                line!(m, "{} = {four};", self.tile.four(&row, &format!("{c} * 2u + {z}u")));
            }
            if past {
                line!(m, "}}");
            }
        }
    }
}

/// Takes the rows of each subgroup, from `start` on, into its registers, through a tile that may be narrower than they are;
/// gives the names of the matrices, by step along the width.
pub(super) fn own_matrices(
    m: &mut Module<'_>,
    stem: &str,
    operand: &Operand,
    tile: Tile,
    (rows, count, lanes): (usize, usize, usize),
    coords: impl Fn(&mut Module<'_>, &str) -> [String; 3],
) -> Vec<Vec<String>> {
    let (width, at_a_time) = (operand.width(), tile.stride - PAD);
    let mut names = vec![];
    for first in (0..width).step_by(at_a_time) {
        let columns = first..width.min(first + at_a_time);
        let steps = columns.len() / SIDE;
        let stage = Stage::of_columns(m, operand, columns, tile, count, lanes);
        stage.load(m, "start", &coords);
        line!(m, "workgroupBarrier();");
        stage.put(m, "start");
        line!(m, "workgroupBarrier();");
        for step in 0..steps {
            let number = first / SIDE + step;
            names.push(tile.lefts(m, rows, step, |i| format!("{stem}{i}_{number}")));
        }
    }
    names
}

/// The eight halves of a vector of words, in vectors of four.
pub(super) fn eight_halves(words: &str) -> [String; 2] {
    [["x", "y"], ["z", "w"]]
        .map(|[low, high]| four_halves(&format!("{words}.{low}"), &format!("{words}.{high}")))
}

/// The four halves of two words. NVIDIA's driver sees that they stay what they are.
pub(super) fn four_halves(low: &str, high: &str) -> String {
    format!("vec4<f16>(vec4<f32>(unpack2x16float({low}), unpack2x16float({high})))")
}

/// Where sums go to be seen: floats in workgroup memory, a row for each row of the workgroup's tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub name: &'static str,
    pub rows: usize,
    pub width: usize,
}

impl Sight {
    fn stride(&self) -> usize {
        self.width + PAD
    }

    pub fn bytes(&self) -> usize {
        self.rows * self.stride() * 4
    }

    pub fn declare(&self, m: &mut Module<'_>) {
        m.shared(self.name, "vec4<f32>", self.bytes() / 16);
    }

    /// The vector from column `4 * c` of a row on.
    pub fn four(&self, row: &str, c: &str) -> String {
        format!("{}[{row} * {}u + {c}]", self.name, self.stride() / 4)
    }

    fn place(&self, row: &str, column: usize) -> String {
        let stride = self.stride();
        format!("&{}[({row} * {stride}u + {column}u) / 4u], {}u", self.name, stride / 4)
    }

    /// Stores a matrix of sums at a row and column.
    pub fn put(&self, m: &mut Module<'_>, sum: &str, row: &str, column: usize) {
        line!(m, "coopStoreT({sum}, {});", self.place(row, column));
    }

    /// Loads it again.
    pub fn take(&self, m: &mut Module<'_>, sum: &str, row: &str, column: usize) {
        line!(m, "{sum} = coopLoadT<coop_mat16x16<f32, C>>({});", self.place(row, column));
    }
}

/// A block of f32 sums of a subgroup: names of matrices, by row and column.
pub(super) struct Sums {
    pub names: Vec<Vec<String>>,
}

impl Sums {
    /// Declares them, all zero.
    pub fn new(m: &mut Module<'_>, stem: &str, rows: usize, columns: usize) -> Sums {
        let name = |i: usize| (0..columns / SIDE).map(|j| format!("{stem}{i}_{j}")).collect::<Vec<_>>();
        let names: Vec<Vec<String>> = (0..rows / SIDE).map(name).collect();
        names.iter().flatten().for_each(|name| line!(m, "var {name} = coop_mat16x16<f32, C>();"));
        Sums { names }
    }

    /// Adds `left * right` over `depth`. `left` names matrices of a row and of a step along the depth (all matrices of a
    /// step at once), `right` the matrix of a step and a column.
    pub fn add(
        &self,
        m: &mut Module<'_>,
        depth: usize,
        left: impl Fn(&mut Module<'_>, usize) -> Vec<String>,
        right: impl Fn(&mut Module<'_>, &str, usize, usize),
    ) {
        for k in 0..depth / SIDE {
            line!(m, "{{");
            let left = left(m, k);
            for j in 0..self.names[0].len() {
                right(m, &format!("b{j}"), k * SIDE, j * SIDE);
                for (row, a) in self.names.iter().zip(&left) {
                    line!(m, "{0} = coopMultiplyAdd({a}, b{j}, {0});", row[j]);
                }
            }
            line!(m, "}}");
        }
    }

    /// Stores the columns from `first` on in the rows of this subgroup, as many as are seen at a time.
    pub fn show(&self, m: &mut Module<'_>, sight: &Sight, first: usize) {
        self.seen(sight, first, |sum, row, column| sight.put(m, sum, row, column));
    }

    /// Loads them again.
    pub fn take_back(&self, m: &mut Module<'_>, sight: &Sight, first: usize) {
        self.seen(sight, first, |sum, row, column| sight.take(m, sum, row, column));
    }

    fn seen(&self, sight: &Sight, first: usize, mut each: impl FnMut(&str, &str, usize)) {
        for (i, row) in self.names.iter().enumerate() {
            for (j, sum) in row.iter().skip(first / SIDE).take(sight.width / SIDE).enumerate() {
                each(sum, &format!("(block + {}u)", i * SIDE), j * SIDE);
            }
        }
    }
}

/// Combines ("max" or "+") one variable of each lane over its team; all lanes get the result.
pub(super) fn across_team(m: &mut Module<'_>, op: &str, value: &str) {
    for step in [4, 2, 1] {
        let other = m.bind("o", &format!("subgroupShuffleXor({value}, {step}u)"));
        match op {
            "max" => line!(m, "{value} = max({value}, {other});"),
            _ => line!(m, "{value} += {other};"),
        }
    }
}

/// Names the rows of each subgroup: the first one of its block, the first one that a lane sees, and the lane's vector there.
pub(super) fn open_blocks(m: &mut Module<'_>, rows: usize) {
    line!(m, "let block = lane / {SUBGROUP}u * {rows}u;");
    line!(m, "let team = block + lane % {SUBGROUP}u / {TEAM}u;");
    line!(m, "let column = lane % {TEAM}u;");
}

/// Vector `g` of a lane in a row.
pub(super) fn vector(g: usize) -> String {
    format!("(column + {}u)", g * TEAM)
}

/// Whether the adapter has what texts with matrices need, and all operands can be taken as halves. Where a mask lies in the
/// memory of one, the plain text serves.
pub(super) fn usable(
    printer: &Printer<'_>,
    operands: &[&(usize, View)],
    mask: Option<&(usize, View)>,
) -> bool {
    let Caps { cooperative, subgroup, .. } = *printer.caps;
    cooperative
        && subgroup.is_some_and(|size| size as usize >= TEAM)
        && operands.iter().all(|operand| Operand::fits(printer, operand))
        && mask.is_none_or(|mask| operands.iter().all(|operand| operand.0 != mask.0))
}
