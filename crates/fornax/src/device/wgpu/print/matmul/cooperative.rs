//! Products of halves on the hardware's matrix units: each subgroup owns a block of 16x16 matrices with f32 sums.
//! Where a tile is all that a core has to do, several layers of subgroups own the same blocks and share the sum over k,
//! so that some multiply while others wait. The epilogue goes through workgroup memory, because WGSL shows no elements of
//! a cooperative matrix.

use super::super::halves::{PAD, SUBGROUP};
use super::super::module::{Binding, Module, line};
use super::super::{Dispatch, Printer};
use super::operand::{Along, Operand};
use super::{Place, Record, Target, finish_tile};
use crate::error::Result;
use crate::kernel::MatMul;
use std::fmt::Write;

/// Sizes of a tile, and how many subgroups share it down, across and along k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub down: usize,
    pub across: usize,
    pub layers: usize,
}

impl Shape {
    fn subgroups(&self) -> usize {
        self.down * self.across * self.layers
    }

    pub fn lanes(&self) -> usize {
        self.subgroups() * SUBGROUP
    }

    /// The same tile with its sums shared by layers.
    const fn layers(self, layers: usize) -> Shape {
        Shape { layers, ..self }
    }

    /// Steps along k in a slice, of matrices.
    fn steps(&self) -> usize {
        self.depth / (16 * self.layers)
    }

    /// Workgroup memory, whichever way the operands lie; and two steps, of which one is multiplied while the other comes.
    pub fn fits(&self, caps: &super::super::Caps) -> bool {
        let rows = (self.rows * (self.depth + PAD)).max(self.depth * (self.rows + PAD));
        let columns = (self.columns * (self.depth + PAD)).max(self.depth * (self.columns + PAD));
        let bytes = (rows + columns) * 2 + self.subgroups() * 16 * ROW_C * 4;
        bytes <= caps.workgroup_bytes as usize && self.lanes() <= caps.lanes as usize && self.steps() > 1
    }
}

/// Those that were the fastest for some product, and a few for sizes that these do not fit. The last ones are for outputs so
/// small that a core has one tile or two: deep slices, layers to hide the waiting, and sides of which as many fit GPT-2's
/// outputs as there are cores.
pub(super) const SHAPES: [(Shape, Record); 16] = [
    (shape(128, 256, 32, 2, 4), Record { rate: 1.0, resident: 1.0 }),
    (shape(128, 128, 32, 2, 2), Record { rate: 0.99, resident: 2.0 }),
    (shape(256, 128, 32, 4, 2), Record { rate: 0.99, resident: 1.0 }),
    (shape(128, 192, 32, 2, 4), Record { rate: 0.95, resident: 1.0 }),
    (shape(192, 96, 32, 4, 2), Record { rate: 0.85, resident: 1.0 }),
    (shape(128, 96, 32, 2, 2), Record { rate: 0.85, resident: 2.0 }),
    (shape(128, 96, 64, 2, 2), Record { rate: 0.85, resident: 2.0 }),
    (shape(128, 96, 64, 4, 2), Record { rate: 0.8, resident: 1.0 }),
    (shape(64, 96, 64, 2, 2), Record { rate: 0.62, resident: 2.0 }),
    (shape(64, 96, 64, 2, 2).layers(2), Record { rate: 0.6, resident: 1.0 }),
    (shape(64, 64, 128, 2, 2), Record { rate: 0.65, resident: 2.0 }),
    (shape(64, 64, 128, 2, 2).layers(2), Record { rate: 0.55, resident: 2.0 }),
    (shape(64, 48, 128, 2, 1).layers(2), Record { rate: 0.5, resident: 2.0 }),
    (shape(64, 64, 64, 2, 2), Record { rate: 0.55, resident: 4.0 }),
    (shape(64, 64, 32, 2, 2), Record { rate: 0.6, resident: 4.0 }),
    (shape(32, 64, 64, 1, 2), Record { rate: 0.4, resident: 6.0 }),
];

const fn shape(rows: usize, columns: usize, depth: usize, down: usize, across: usize) -> Shape {
    Shape { rows, columns, depth, down, across, layers: 1 }
}

/// Floats from row to row of the matrix that the epilogue works on: lanes read two rows side by side.
const ROW_C: usize = 16;

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
    let a = Operand::new(&mut m, &body.left, true, s.rows, s.depth, lanes, "f16", false);
    let b = Operand::new(&mut m, &body.right, false, s.columns, s.depth, lanes, "f16", false);
    let row_halves = |o: &Operand| PAD + if o.along == Along::Inner { o.depth } else { o.tile };
    let size = |o: &Operand| row_halves(o) * if o.along == Along::Inner { o.tile } else { o.depth } / 4;
    let (row_a, row_b) = (row_halves(&a), row_halves(&b));
    let (block_rows, block_columns) = (s.rows / s.down, s.columns / s.across);
    let (mats_m, mats_n) = (block_rows / 16, block_columns / 16);
    // The epilogue takes a matrix of each block at a time: more were no faster, and two in turns, which need one barrier
    // instead of two, made large products half as fast. Sums that are not finished yet need none, if the tiles cover the
    // product exactly.
    let exact = body.m.is_multiple_of(s.rows) && body.n.is_multiple_of(s.columns);
    let direct = match target {
        Target::Scratch(n) if exact && s.layers == 1 => Some(m.want_floats(Binding::Scratch(n))),
        _ => None,
    };
    if direct.is_none() {
        target.declare(&mut m, body, 4);
    }
    m.shared("tile_a", "vec4<f16>", size(&a));
    m.shared("tile_b", "vec4<f16>", size(&b));
    if direct.is_none() {
        m.shared("tile_c", "f32", s.subgroups() * 16 * ROW_C);
    }
    let place = Place::print(&mut m, body, s.rows, s.columns, s.depth, parts);
    let blocks = s.down * s.across;
    if s.layers == 1 {
        line!(m, "let subgroup = lane / {SUBGROUP}u;");
    } else {
        line!(m, "let layer = lane / {}u;", blocks * SUBGROUP);
        line!(m, "let subgroup = lane / {SUBGROUP}u % {blocks}u;");
    }
    line!(m, "let block_row = (subgroup / {}u) * {block_rows}u;", s.across);
    line!(m, "let block_column = (subgroup % {}u) * {block_columns}u;", s.across);
    for i in 0..mats_m {
        for j in 0..mats_n {
            line!(m, "var c{i}_{j} = coop_mat16x16<f32, C>();");
        }
    }
    let ends_inside = place.ends_inside;
    let steady = a.is_steady(ends_inside) && b.is_steady(ends_inside);
    let [slice_a, slice_b] = place.slices_of(steady);
    let first = place.open(&mut m, [(&a, &slice_a), (&b, &slice_b)]);
    let put = |m: &mut Module<'_>, k0: &'static str| {
        a.put_as_loaded(m, "tile_a", row_a / 4, &slice_a(k0));
        b.put_as_loaded(m, "tile_b", row_b / 4, &slice_b(k0));
        line!(m, "workgroupBarrier();");
    };
    // Takes the matrices of a step along k from workgroup memory. Layers take turns, so that what they load lies together.
    let take = |m: &mut Module<'_>, step: usize| {
        for (o, row, block, count) in [(&a, row_a, "block_row", mats_m), (&b, row_b, "block_column", mats_n)]
        {
            let (name, along, k) = (o.name, o.along, step * 16 * s.layers);
            let apart = if along == Along::Inner { 16 } else { 16 * row };
            let layer = if s.layers > 1 { format!(" + layer * {apart}u") } else { String::new() };
            let way = if (name == "a") == (along == Along::Inner) { "coopLoadT" } else { "coopLoad" };
            let role = name.to_uppercase();
            let new = if step == 0 { "" } else { "let " };
            for i in 0..count {
                let first = format!("({block} + {}u)", i * 16);
                let at = match along {
                    Along::Inner => format!("{first} * {row}u + {k}u"),
                    Along::Outer => format!("{}u + {first}", k * row),
                };
                let place = format!("&tile_{name}[({at}{layer}) / 4u], {}u", row / 4);
                line!(m, "{new}{name}{step}_{i} = {way}<coop_mat16x16<f16, {role}>>({place});");
            }
        }
    };
    let multiply = |m: &mut Module<'_>, step: usize| {
        for i in 0..mats_m {
            for j in 0..mats_n {
                line!(m, "c{i}_{j} = coopMultiplyAdd(a{step}_{i}, b{step}_{j}, c{i}_{j});");
            }
        }
    };
    // The matrices of a step are taken before those of the step before are multiplied, and the first ones of a slice before
    // the last ones of the slice before: all subgroups leave a barrier together, and would all wait for theirs.
    for (name, role, count) in [("a", "A", mats_m), ("b", "B", mats_n)] {
        for i in 0..count {
            line!(m, "var {name}0_{i} = coop_mat16x16<f16, {role}>();");
        }
    }
    let last = s.steps() - 1;
    let all_but_last = |m: &mut Module<'_>| {
        for step in 0..last {
            take(m, step + 1);
            multiply(m, step);
        }
    };
    put(&mut m, first);
    take(&mut m, 0);
    line!(m, "for (var slice = 1u; slice < {}; slice++) {{", place.slices);
    let before = if place.last_first { "(slice - 1u)" } else { "slice" };
    line!(m, "let next = k_from + {before} * {}u;", s.depth);
    a.load_next(&mut m, &slice_a("next"), None);
    b.load_next(&mut m, &slice_b("next"), None);
    all_but_last(&mut m);
    line!(m, "workgroupBarrier();");
    put(&mut m, "next");
    take(&mut m, 0);
    multiply(&mut m, last);
    line!(m, "}}");
    all_but_last(&mut m);
    multiply(&mut m, last);
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
    // The lanes of all layers finish a matrix of their block together.
    let (matrix, together) = (16 * ROW_C, s.layers * SUBGROUP);
    let (first_lane, stored) = match s.layers {
        1 => (format!("lane % {SUBGROUP}u"), "own_c".to_string()),
        _ => (
            format!("lane % {SUBGROUP}u + layer * {SUBGROUP}u"),
            format!("own_c + layer * {}u", blocks * matrix),
        ),
    };
    line!(m, "let own_c = subgroup * {matrix}u;");
    // Four columns a lane; where rows begin anywhere, as many as are stored at a time, so that lanes still write side by side.
    let each = target.together(&m, body);
    let per = 16 / each;
    for i in 0..mats_m {
        for j in 0..mats_n {
            line!(m, "workgroupBarrier();");
            line!(m, "coopStoreT(c{i}_{j}, &tile_c[{stored}], {ROW_C}u);");
            line!(m, "workgroupBarrier();");
            line!(m, "for (var q = {first_lane}; q < {}u; q += {together}u) {{", 256 / each);
            line!(m, "let row = row0 + block_row + {}u + q / {per}u;", i * 16);
            line!(m, "let column = column0 + block_column + {}u + (q % {per}u) * {each}u;", j * 16);
            line!(m, "let first = own_c + (q / {per}u) * {ROW_C}u + (q % {per}u) * {each}u;");
            let sum = |z: usize| match s.layers {
                1 => format!("tile_c[first + {z}u]"),
                layers => {
                    let of = |layer: usize| format!("tile_c[first + {}u]", layer * blocks * matrix + z);
                    format!("({})", (0..layers).map(of).collect::<Vec<_>>().join(" + "))
                }
            };
            let product = (0..each).map(sum).collect();
            finish_tile(&mut m, body, &target, &place, "row", "column", product);
            line!(m, "}}");
        }
    }
    m.finish(lanes as u32, place.groups)
}
