//! Products of halves on the hardware's matrix units: each subgroup owns a block of 16x16 matrices with f32 sums.
//! The epilogue goes through workgroup memory, because WGSL shows no elements of a cooperative matrix.

use super::super::module::{Binding, line};
use super::super::{Dispatch, Printer};
use super::operand::{Along, Operand, Slice};
use super::{Place, Record, Target, finish_tile};
use crate::error::Result;
use crate::kernel::MatMul;
use std::fmt::Write;

/// Sizes of a tile, and how many subgroups share it down and across.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub down: usize,
    pub across: usize,
}

impl Shape {
    pub fn lanes(&self) -> usize {
        self.down * self.across * SUBGROUP
    }

    /// Workgroup memory, whichever way the operands lie.
    pub fn fits(&self, caps: &super::super::Caps) -> bool {
        let rows = (self.rows * (self.depth + PAD)).max(self.depth * (self.rows + PAD));
        let columns = (self.columns * (self.depth + PAD)).max(self.depth * (self.columns + PAD));
        let bytes = (rows + columns) * 2 + self.down * self.across * 16 * ROW_C * 4;
        bytes <= caps.workgroup_bytes as usize && self.lanes() <= caps.lanes as usize
    }
}

pub(super) const SHAPES: [(Shape, Record); 9] = [
    (shape(128, 256, 32, 2, 4), Record { rate: 1.0, resident: 1.0 }),
    (shape(128, 128, 32, 2, 2), Record { rate: 1.0, resident: 2.0 }),
    (shape(128, 96, 32, 2, 2), Record { rate: 0.9, resident: 2.0 }),
    (shape(64, 128, 32, 2, 2), Record { rate: 0.75, resident: 3.0 }),
    (shape(64, 96, 64, 2, 2), Record { rate: 0.75, resident: 3.0 }),
    (shape(64, 64, 128, 2, 2), Record { rate: 0.6, resident: 4.0 }),
    (shape(64, 64, 64, 2, 2), Record { rate: 0.6, resident: 4.0 }),
    (shape(64, 64, 32, 1, 2), Record { rate: 0.6, resident: 4.0 }),
    (shape(32, 64, 64, 1, 2), Record { rate: 0.45, resident: 6.0 }),
];

const fn shape(rows: usize, columns: usize, depth: usize, down: usize, across: usize) -> Shape {
    Shape { rows, columns, depth, down, across }
}

/// Halves of padding after each row in workgroup memory, against bank conflicts.
const PAD: usize = 8;
const SUBGROUP: usize = 32;
/// Floats from row to row of the matrix that the epilogue works on, padded for the same reason.
const ROW_C: usize = 16 + 4;

/// Prints the product; `parts` workgroups share the sum over k.
pub(super) fn print(
    printer: &Printer<'_>,
    body: &MatMul,
    s: Shape,
    parts: usize,
    target: Target,
) -> Result<Dispatch> {
    let mut m = printer.module();
    let lanes = s.lanes();
    let a = Operand::new(&mut m, &body.left, true, s.rows, s.depth, lanes, "f16");
    let b = Operand::new(&mut m, &body.right, false, s.columns, s.depth, lanes, "f16");
    let row_halves = |o: &Operand| PAD + if o.along == Along::Inner { o.depth } else { o.tile };
    let size = |o: &Operand| row_halves(o) * if o.along == Along::Inner { o.tile } else { o.depth } / 4;
    let (row_a, row_b) = (row_halves(&a), row_halves(&b));
    let (block_rows, block_columns) = (s.rows / s.down, s.columns / s.across);
    let (mats_m, mats_n) = (block_rows / 16, block_columns / 16);
    // The epilogue takes a matrix of each block at a time: more were no faster. Sums that are not finished yet need none,
    // if the tiles cover the product exactly.
    let exact = body.m.is_multiple_of(s.rows) && body.n.is_multiple_of(s.columns);
    let direct = match target {
        Target::Scratch(n) if exact => Some(m.want_floats(Binding::Scratch(n))),
        _ => None,
    };
    if direct.is_none() {
        target.declare(&mut m, body, 4);
    }
    let _ = writeln!(m.globals, "var<workgroup> tile_a: array<vec4<f16>, {}>;", size(&a));
    let _ = writeln!(m.globals, "var<workgroup> tile_b: array<vec4<f16>, {}>;", size(&b));
    if direct.is_none() {
        let _ = writeln!(m.globals, "var<workgroup> tile_c: array<f32, {}>;", s.down * s.across * 16 * ROW_C);
    }
    let place = Place::print(&mut m, body, s.rows, s.columns, s.depth, parts);
    line!(m, "let subgroup = lane / {SUBGROUP}u;");
    line!(m, "let block_row = (subgroup / {}u) * {block_rows}u;", s.across);
    line!(m, "let block_column = (subgroup % {}u) * {block_columns}u;", s.across);
    for i in 0..mats_m {
        for j in 0..mats_n {
            line!(m, "var c{i}_{j} = coop_mat16x16<f32, C>();");
        }
    }
    a.declare(&mut m);
    b.declare(&mut m);
    let inside = place.ends_inside;
    let [slice_a, slice_b] = [("base_a", "row0"), ("base_b", "column0")].map(|(base, first)| {
        move |k0: &'static str| Slice { base, first, k0, end: "k_to", ends_inside: inside }
    });
    a.load(&mut m, &slice_a("k_from"));
    b.load(&mut m, &slice_b("k_from"));
    line!(m, "for (var slice = 1u; slice <= {}u; slice++) {{", place.slices);
    line!(m, "let present = k_from + (slice - 1u) * {}u;", s.depth);
    line!(m, "workgroupBarrier();");
    a.put_as_loaded(&mut m, "tile_a", row_a / 4, &slice_a("present"));
    b.put_as_loaded(&mut m, "tile_b", row_b / 4, &slice_b("present"));
    line!(m, "workgroupBarrier();");
    // The last turn loads its own slice again rather than one past the end.
    line!(m, "let next = k_from + min(slice, {}u) * {}u;", place.slices - 1, s.depth);
    a.load(&mut m, &slice_a("next"));
    b.load(&mut m, &slice_b("next"));
    for k in (0..s.depth).step_by(16) {
        line!(m, "{{");
        for i in 0..mats_m {
            let (row, role) = (format!("(block_row + {}u)", i * 16), "coop_mat16x16<f16, A>");
            match a.along {
                Along::Inner => line!(
                    m,
                    "let a{i} = coopLoadT<{role}>(&tile_a[({row} * {row_a}u + {k}u) / 4u], {}u);",
                    row_a / 4
                ),
                Along::Outer => line!(
                    m,
                    "let a{i} = coopLoad<{role}>(&tile_a[({}u + {row}) / 4u], {}u);",
                    k * row_a,
                    row_a / 4
                ),
            }
        }
        for j in 0..mats_n {
            let (column, role) = (format!("(block_column + {}u)", j * 16), "coop_mat16x16<f16, B>");
            match b.along {
                Along::Outer => line!(
                    m,
                    "let b{j} = coopLoadT<{role}>(&tile_b[({}u + {column}) / 4u], {}u);",
                    k * row_b,
                    row_b / 4
                ),
                Along::Inner => line!(
                    m,
                    "let b{j} = coopLoad<{role}>(&tile_b[({column} * {row_b}u + {k}u) / 4u], {}u);",
                    row_b / 4
                ),
            }
        }
        for i in 0..mats_m {
            for j in 0..mats_n {
                line!(m, "c{i}_{j} = coopMultiplyAdd(a{i}, b{j}, c{i}_{j});");
            }
        }
        line!(m, "}}");
    }
    line!(m, "}}");
    if let Some(name) = direct {
        let index = if place.batch.is_empty() { "0u".into() } else { format!("at / {}u", place.tiles) };
        let batches: usize = body.batch.iter().product();
        line!(m, "let row = (part * {batches}u + {index}) * {}u + row0 + block_row;", body.m);
        line!(m, "let first = row * {0}u + column0 + block_column;", body.n);
        for i in 0..mats_m {
            for j in 0..mats_n {
                let at = i * 16 * body.n + j * 16;
                line!(m, "coopStoreT(c{i}_{j}, &{name}[first + {at}u], {}u);", body.n);
            }
        }
        return m.finish(lanes as u32, place.groups);
    }
    line!(m, "let own_c = subgroup * {}u;", 16 * ROW_C);
    for i in 0..mats_m {
        for j in 0..mats_n {
            line!(m, "workgroupBarrier();");
            line!(m, "coopStoreT(c{i}_{j}, &tile_c[own_c], {ROW_C}u);");
            line!(m, "workgroupBarrier();");
            line!(m, "for (var q = lane % {SUBGROUP}u; q < 64u; q += {SUBGROUP}u) {{");
            line!(m, "let row = row0 + block_row + {}u + q / 4u;", i * 16);
            line!(m, "let column = column0 + block_column + {}u + (q % 4u) * 4u;", j * 16);
            line!(m, "let first = own_c + (q / 4u) * {ROW_C}u + (q % 4u) * 4u;");
            let product = (0..4).map(|z| format!("tile_c[first + {z}u]")).collect();
            finish_tile(&mut m, body, &target, &place, "row", "column", product);
            line!(m, "}}");
        }
    }
    m.finish(lanes as u32, place.groups)
}
