//! Products in plain arithmetic: a workgroup computes a tile, each lane a block of it in registers; the next slices
//! of the operands are under way while the present ones are multiplied.

use super::super::module::{Module, line};
use super::super::{Dispatch, Printer};
use super::operand::Operand;
use super::{Place, Target, finish_tile};
use crate::error::Result;
use crate::kernel::MatMul;
use std::fmt::Write;

/// Sizes of a tile and of the block of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    pub rows: usize,
    pub columns: usize,
    pub depth: usize,
    pub lane_rows: usize,
    pub lane_columns: usize,
}

impl Tile {
    pub fn lanes(&self) -> usize {
        (self.rows / self.lane_rows) * (self.columns / self.lane_columns)
    }

    /// Workgroup memory of two slices, for operands that take so many bytes an element there.
    fn bytes(&self, element: usize) -> usize {
        2 * self.depth * (self.rows + 4 + self.columns + 4) * element
    }

    pub fn fits(&self, element: usize, caps: &super::super::Caps) -> bool {
        self.bytes(element) <= caps.workgroup_bytes as usize && self.lanes() <= caps.lanes as usize
    }
}

/// Prints the product with a tile; `parts` workgroups share the sum over k.
pub(super) fn print(
    printer: &Printer<'_>,
    body: &MatMul,
    tile: Tile,
    parts: usize,
    target: Target,
) -> Result<Dispatch> {
    let mut m = printer.module();
    let packed = super::in_words(body, printer);
    let (body, bytes) = (packed.as_ref().unwrap_or(body), packed.is_some());
    let t = if bytes { "u32" } else { super::sum_type(body, printer.caps) };
    let (lanes, depth) = (tile.lanes(), tile.depth);
    let a = Operand::new(&mut m, &body.left, true, tile.rows, depth, lanes, t, bytes);
    let b = Operand::new(&mut m, &body.right, false, tile.columns, depth, lanes, t, bytes);
    target.declare(&mut m, body, 4);
    let (stride_a, stride_b) = ((tile.rows + 4) / 4, (tile.columns + 4) / 4);
    let (size_a, size_b) = (depth * stride_a, depth * stride_b);
    m.shared("tile_a", &format!("vec4<{t}>"), 2 * size_a);
    m.shared("tile_b", &format!("vec4<{t}>"), 2 * size_b);
    let place = Place::print(&mut m, body, tile.rows, tile.columns, depth, parts);
    let (quads_m, quads_n) = (tile.lane_rows / 4, tile.lane_columns / 4);
    let (across, down) = (tile.columns / tile.lane_columns, tile.rows / tile.lane_rows);
    line!(m, "let tx = lane % {across}u;");
    line!(m, "let ty = lane / {across}u;");
    for i in 0..tile.lane_rows {
        for j in 0..quads_n {
            line!(m, "var c{i}_{j} = vec4<{t}>();");
        }
    }
    let ends_inside = place.ends_inside;
    // Deeper slices need so many registers that this makes them slower (measured on an NVIDIA H200).
    let steady = depth <= 8 && a.is_steady(ends_inside) && b.is_steady(ends_inside);
    let [slice_a, slice_b] = place.slices_of(steady);
    let first = place.open(&mut m, [(&a, &slice_a), (&b, &slice_b)]);
    a.put_inner_major(&mut m, "tile_a", "0u", stride_a, &slice_a(first));
    b.put_inner_major(&mut m, "tile_b", "0u", stride_b, &slice_b(first));
    line!(m, "workgroupBarrier();");
    // Where one address serves all loads, the last turn loads the slice of the turn before again, which costs less than
    // registers that are loaded now and then.
    let where_more = |m: &mut Module<'_>, print: &dyn Fn(&mut Module<'_>)| match steady {
        true => print(m),
        false => {
            line!(m, "if (more) {{");
            print(m);
            line!(m, "}}");
        }
    };
    line!(m, "var turn = 0u;");
    // The driver must not see how often this runs: it would unroll until registers spill.
    match place.last_first {
        true => {
            line!(m, "for (var k0 = k_from; k0 <= k_last; k0 += {depth}u) {{");
            line!(m, "let more = k0 < k_last;");
        }
        false => {
            line!(m, "for (var k0 = k_from + {depth}u; k0 < k_to + {depth}u; k0 += {depth}u) {{");
            line!(m, "let more = k0 < k_to;");
        }
    }
    where_more(&mut m, &|m| {
        a.load_next(m, &slice_a("k0"), Some("more"));
        b.load_next(m, &slice_b("k0"), Some("more"));
    });
    line!(m, "let from_a = turn * {size_a}u + ty;");
    line!(m, "let from_b = turn * {size_b}u + tx;");
    for k in 0..depth {
        line!(m, "{{");
        for q in 0..quads_m {
            line!(m, "let a{q} = tile_a[from_a + {}u];", k * stride_a + q * down);
        }
        for q in 0..quads_n {
            line!(m, "let b{q} = tile_b[from_b + {}u];", k * stride_b + q * across);
        }
        for i in 0..tile.lane_rows {
            let part = ["x", "y", "z", "w"][i % 4];
            for j in 0..quads_n {
                let (c, left) = (format!("c{i}_{j}"), format!("vec4<{t}>(a{}.{part})", i / 4));
                match t {
                    _ if bytes => {
                        let dot = |p: &&str| format!("dot4U8Packed(a{}.{part}, b{j}.{p})", i / 4);
                        let dots: Vec<String> = ["x", "y", "z", "w"].iter().map(dot).collect();
                        line!(m, "{c} += vec4<u32>({});", dots.join(", "));
                    }
                    "f32" => line!(m, "{c} = fma({left}, b{j}, {c});"),
                    _ => line!(m, "{c} = {left} * b{j} + {c};"),
                }
            }
        }
        line!(m, "}}");
    }
    line!(m, "turn = 1u - turn;");
    where_more(&mut m, &|m| {
        a.put_inner_major(m, "tile_a", &format!("turn * {size_a}u"), stride_a, &slice_a("k0"));
        b.put_inner_major(m, "tile_b", &format!("turn * {size_b}u"), stride_b, &slice_b("k0"));
    });
    line!(m, "workgroupBarrier();");
    line!(m, "}}");
    // Lane rows and columns lie in groups of four, a whole tile apart, so that neighbours read neighbours.
    for i in 0..tile.lane_rows {
        line!(m, "let row_{i} = row0 + (ty + {}u) * 4u + {}u;", (i / 4) * down, i % 4);
    }
    for j in 0..quads_n {
        line!(m, "let column_{j} = column0 + (tx + {}u) * 4u;", j * across);
    }
    for i in 0..tile.lane_rows {
        for j in 0..quads_n {
            let sum = |p: &&str| match super::sum_type(body, printer.caps) {
                "i32" if bytes => format!("bitcast<i32>(c{i}_{j}.{p})"),
                _ => format!("c{i}_{j}.{p}"),
            };
            let product: Vec<String> = ["x", "y", "z", "w"].iter().map(sum).collect();
            finish_tile(&mut m, body, &target, &place, &format!("row_{i}"), &format!("column_{j}"), product);
        }
    }
    m.finish(lanes as u32, place.groups)
}
