//! Matrix products. Large ones in tiles (`tile`, or `cooperative` where the hardware multiplies 16x16 matrices of
//! halves), those of few rows as a loop with a reduction; small outputs with a long sum are split along k, with a
//! second dispatch that adds the parts up and runs the epilogue.

mod cooperative;
mod operand;
mod tile;

use super::map::coordinates;
use super::module::{Binding, Module, line, value_type};
use super::program::{Point, Program};
use super::row::LONG;
use super::{Caps, Dispatch, Printed, Printer};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Binary, Reduce};
use crate::kernel::{Inst, Instr, Level, Load, Loop, MatMul, Matrix, Port, Segment, Source, Store, Val};
use crate::view::View;
#[cfg(test)]
pub(crate) use cooperative::Shape;
use operand::{Operand, Slice};
use std::fmt::{self, Write};
pub(crate) use tile::Tile;

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// As a loop that reduces k.
    Loop,
    /// In tiles; the number says how many workgroups share a sum over k.
    Tile(Tile, usize),
    /// In tiles of cooperative matrices.
    Cooperative(cooperative::Shape, usize),
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Loop => write!(f, "loop"),
            Form::Tile(t, parts) => {
                let Tile { rows, columns, depth, lane_rows, lane_columns } = t;
                write!(f, "tile {rows}x{columns}x{depth} lane {lane_rows}x{lane_columns} parts {parts}")
            }
            Form::Cooperative(s, parts) => {
                let cooperative::Shape { rows, columns, depth, down, across, layers } = s;
                write!(f, "cooperative {rows}x{columns}x{depth} subgroups {down}x{across}")?;
                if *layers > 1 {
                    write!(f, "x{layers}")?;
                }
                write!(f, " parts {parts}")
            }
        }
    }
}

/// How a tile does on a full device: numbers with which the estimate ranks forms as an NVIDIA H200 does, for squares and
/// GPT-2's products.
#[derive(Clone, Copy)]
struct Record {
    /// The share of the best tile's rate.
    rate: f64,
    /// How many of its workgroups a core holds at a time.
    resident: f64,
}

const TILES: [(Tile, Record); 6] = [
    (tile(128, 128, 8, 16, 8), Record { rate: 1.0, resident: 2.0 }),
    (tile(128, 128, 16, 8, 8), Record { rate: 0.96, resident: 2.0 }),
    (tile(64, 128, 16, 8, 8), Record { rate: 0.95, resident: 4.0 }),
    (tile(64, 64, 8, 8, 4), Record { rate: 0.9, resident: 5.0 }),
    (tile(32, 64, 16, 4, 4), Record { rate: 0.65, resident: 6.0 }),
    (tile(32, 32, 16, 4, 4), Record { rate: 0.5, resident: 8.0 }),
];

const fn tile(rows: usize, columns: usize, depth: usize, lane_rows: usize, lane_columns: usize) -> Tile {
    Tile { rows, columns, depth, lane_rows, lane_columns }
}

/// The form that a product takes without measurements.
pub(crate) fn choose(body: &MatMul, beside: usize, caps: &Caps) -> Form {
    candidates(body, beside, caps)[0]
}

/// The forms that a product can take among so many of its size, the most promising one first.
pub(crate) fn candidates(body: &MatMul, beside: usize, caps: &Caps) -> Vec<Form> {
    let cooperative = caps.cooperative && body.left.dtype == DType::F16 && body.right.dtype == DType::F16;
    // A loop reads the weights once if it sums all rows together, and as often as there are rows if it cannot.
    let once = body.m <= FEW && summed_together(body, caps)[0] == body.m;
    if body.n <= 4 || body.k <= 4 || once && !cooperative {
        return vec![Form::Loop];
    }
    let mut found: Vec<(f64, Form)> = vec![];
    for parts in [1, 2, 3, 4, 5, 6, 8, 12, 16] {
        if cooperative {
            for (shape, record) in cooperative::SHAPES.into_iter().filter(|(s, _)| s.fits(caps)) {
                // Parts of different lengths take as long as the longest.
                if body.k.is_multiple_of(shape.depth) && !body.k.is_multiple_of(shape.depth * parts) {
                    continue;
                }
                let sizes = [shape.rows, shape.columns, shape.depth];
                let time = estimate(body, beside, caps, sizes, record, parts, COOPERATIVE);
                found.extend(time.map(|time| (time, Form::Cooperative(shape, parts))));
            }
        } else {
            let element = if sum_dtype(body) == DType::I64 && caps.int64 { 8 } else { 4 };
            for (tile, record) in TILES.into_iter().filter(|(t, _)| t.fits(element, caps)) {
                let sizes = [tile.rows, tile.columns, tile.depth];
                let time = estimate(body, beside, caps, sizes, record, parts, PLAIN);
                found.extend(time.map(|time| (time, Form::Tile(tile, parts))));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = (once || body.m <= FEW / 2 || found.is_empty()).then_some(Form::Loop);
    first.into_iter().chain(found.into_iter().map(|(_, form)| form)).collect()
}

/// What a device of some kind of tile can do at most, in operations a second.
const PLAIN: f64 = 40e12;
const COOPERATIVE: f64 = 280e12;

/// How long a product would take as tiles of some sizes whose sums are shared by some workgroups, in seconds of a device
/// that does so many operations a second when it never waits; of so many side by side, its share of their time. `None` if that
/// makes no sense.
fn estimate(
    body: &MatMul,
    beside: usize,
    caps: &Caps,
    [rows, columns, depth]: [usize; 3],
    record: Record,
    parts: usize,
    operations: f64,
) -> Option<f64> {
    /// Unfinished sums are written and read again at this rate, in bytes a second.
    const SUMS: f64 = 3e12;
    /// The dispatch that adds them up waits for the one before, in seconds.
    const DISPATCH: f64 = 2e-6;
    let batch: usize = body.batch.iter().product();
    let (down, across) = (body.m.div_ceil(rows), body.n.div_ceil(columns));
    // Unfinished sums must fit one binding, and are not worth more than a large operand.
    let sums =
        [parts, batch, body.m, body.n, sum_dtype(body).size()].iter().map(|&n| n as u64).product::<u64>();
    if parts > 1 && (body.k < parts * depth * 4 || sums > caps.binding_bytes.min(1 << 28)) {
        return None;
    }
    // Equal products that split their sums share the memory of those, and so wait for each other.
    let beside = if parts > 1 { 1 } else { beside };
    // The cores go through their workgroups in turns; one that holds few waits for memory.
    let cores = (caps.parallel / 4).max(1) as f64;
    let groups = (beside * parts * batch * down * across) as f64;
    let turns = (groups / cores).ceil();
    let hidden = 0.55 + 0.45 * (turns / record.resident).min(1.0);
    let padded = 2.0 * (batch * down * rows * across * columns) as f64 * body.k as f64;
    let busy = groups / (turns * cores) * hidden * record.rate;
    let split = if parts > 1 { 2.0 * sums as f64 / SUMS + DISPATCH } else { 0.0 };
    Some(padded / busy / operations + split)
}

/// Prints a product in a form.
pub(super) fn print(printer: &Printer<'_>, body: &MatMul, form: Form, printed: &mut Printed) -> Result<()> {
    let dispatch = |target: Target| match form {
        Form::Tile(tile, parts) => tile::print(printer, body, tile, parts, target),
        Form::Cooperative(shape, parts) => cooperative::print(printer, body, shape, parts, target),
        Form::Loop => Err(Error::Internal("a loop has no tiles".into())),
    };
    let parts = match form {
        Form::Loop => return printer.reduced(&as_loop(body, &printer.kernel.reads, printer.caps), printed),
        Form::Tile(_, parts) | Form::Cooperative(_, parts) => parts,
    };
    if parts == 1 {
        printed.dispatches.push(dispatch(Target::Epilogue)?);
        return Ok(());
    }
    let scratch = printed.scratch.len();
    let total = body.batch.iter().product::<usize>() * body.m * body.n;
    printed.scratch.push(parts * total * sum_dtype(body).size());
    printed.dispatches.push(dispatch(Target::Scratch(scratch))?);
    printed.dispatches.push(add_parts(printer, body, parts, scratch)?);
    Ok(())
}

/// A product of bytes as one of words, where four steps of k lie in a word of both operands: the hardware multiplies
/// and adds them in one instruction.
fn in_words(body: &MatMul, printer: &Printer<'_>) -> Option<MatMul> {
    const PER: usize = 4;
    let words = |matrix: &Matrix, k: usize| {
        let mut view = matrix.view.clone();
        let whole = |n: isize| n % PER as isize == 0;
        let others = (0..view.shape.len()).filter(|&a| a != k && view.shape[a] > 1);
        let aligned = others.map(|a| view.strides[a]).chain([view.offset]).all(whole);
        let bytes = printer.kernel.reads[matrix.read].dtype == DType::U8
            && matches!(matrix.dtype, DType::U8 | DType::U32 | DType::I32);
        if !(bytes && aligned && view.strides[k] == 1 && body.k.is_multiple_of(PER)) {
            return None;
        }
        view.offset /= PER as isize;
        view.shape[k] /= PER;
        (0..view.shape.len()).filter(|&a| a != k).for_each(|a| view.strides[a] /= PER as isize);
        Some(Matrix { view, ..matrix.clone() })
    };
    let rank = body.left.view.shape.len();
    let (left, right) = (words(&body.left, rank - 1)?, words(&body.right, rank - 2)?);
    printer.caps.packed.then(|| MatMul { left, right, k: body.k / PER, ..body.clone() })
}

/// The dtype in which products are summed.
fn sum_dtype(body: &MatMul) -> DType {
    match body.left.dtype.compute() {
        DType::U8 | DType::Bool => DType::U32,
        other => other,
    }
}

fn sum_type(body: &MatMul, caps: &Caps) -> &'static str {
    value_type(sum_dtype(body), caps.int64)
}

/// Where the product of a tile goes.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// Through the epilogue to the kernel's writes.
    Epilogue,
    /// As it is to a scratch memory, one array for each part of the sum.
    Scratch(usize),
}

/// The epilogue as a program over vectors of columns.
fn epilogue<'a>(m: &Module<'_>, body: &'a MatMul, widest: usize) -> Program<'a> {
    let mut program = super::map::widest(m, &body.epilogue, &body.epilogue.segments[0], false);
    program.vector = program.vector.min(widest);
    program
}

impl Target {
    /// How many products of a row, at most four, are stored at a time.
    fn together(&self, m: &Module<'_>, body: &MatMul) -> usize {
        match self {
            Target::Epilogue => epilogue(m, body, 4).vector,
            Target::Scratch(_) if body.n.is_multiple_of(4) => 4,
            Target::Scratch(_) => 1,
        }
    }

    fn declare(&self, m: &mut Module<'_>, body: &MatMul, widest: usize) {
        match self {
            Target::Epilogue => epilogue(m, body, widest).declare(m, &[Level::Uniform, Level::Element]),
            Target::Scratch(n) => {
                let words = if body.n.is_multiple_of(4) { 4 } else { 1 };
                m.want(Binding::Scratch(*n), words);
            }
        }
    }
}

/// Which tile a workgroup computes; prints `row0`, `column0`, `k_from`, `k_to`, `base_a`, `base_b`.
struct Place {
    batch: Vec<String>,
    /// Whether any slice can reach past the end of the sum, so that all look where it ends.
    ends_inside: bool,
    /// Whether only the last slice of a part can, which begins at `k_last`: it is multiplied first, outside of the loop over
    /// the others, which need not look.
    last_first: bool,
    /// Slices of a part: a constant if all have as many, so that drivers can unroll and overlap.
    slices: String,
    /// Tiles of one batch.
    tiles: usize,
    groups: usize,
}

impl Place {
    fn print(
        m: &mut Module<'_>,
        body: &MatMul,
        rows: usize,
        columns: usize,
        depth: usize,
        parts: usize,
    ) -> Place {
        let (down, across) = (body.m.div_ceil(rows), body.n.div_ceil(columns));
        let batches: usize = body.batch.iter().product();
        let groups = parts * batches * down * across;
        // A workgroup past the end repeats the last one's work; it writes the same values.
        line!(m, "let at_tile = min(group, {}u);", groups - 1);
        line!(m, "let part = at_tile % {parts}u;");
        line!(m, "let at = at_tile / {parts}u;");
        // Neighbouring workgroups share columns of eight tiles, so that both operands stay in the cache.
        let band = 8.min(down);
        let inside = m.bind("n", &format!("at % {}u", down * across));
        let band_at = m.bind("n", &format!("{inside} / {}u", band * across));
        let height = m.bind("n", &format!("min({band}u, {down}u - {band_at} * {band}u)"));
        let rest = m.bind("n", &format!("{inside} % {}u", band * across));
        line!(m, "let row0 = ({band_at} * {band}u + {rest} % {height}) * {rows}u;");
        line!(m, "let column0 = ({rest} / {height}) * {columns}u;");
        let index = m.bind("n", &format!("at / {}u", down * across));
        let batch = coordinates(m, &index, &body.batch, 1);
        for (name, matrix) in [("base_a", &body.left), ("base_b", &body.right)] {
            let mut coords = batch.clone();
            coords.extend(["0u".to_string(), "0u".to_string()]);
            let at = super::program::address(&matrix.view, &coords);
            line!(m, "let {name} = {at};");
        }
        // Every part but the last has whole slices.
        let share = body.k.div_ceil(parts).next_multiple_of(depth);
        line!(m, "let k_from = part * {share}u;");
        line!(m, "let k_to = min(k_from + {share}u, {}u);", body.k);
        // The last part can have fewer slices, but not none: then all parts look where the sum ends.
        let (most, missing) = (share / depth, (share * parts - body.k) / depth);
        let empty = share * (parts - 1) >= body.k;
        let slices = match missing == 0 || empty {
            true => format!("{most}u"),
            false => {
                m.bind("slices", &format!("select({most}u, {}u, part == {}u)", most - missing, parts - 1))
            }
        };
        let inside = !body.k.is_multiple_of(depth);
        let last_first = inside && !empty && most > 1;
        if last_first {
            line!(m, "let k_last = k_from + ({slices} - 1u) * {depth}u;");
        }
        let ends_inside = empty || (inside && !last_first);
        Place { batch, ends_inside, last_first, slices, tiles: down * across, groups }
    }

    /// Slices of the left and of the right operand, by where they begin. Only the last one, if it comes first, looks where
    /// the sum ends.
    fn slices_of(&self, steady: bool) -> [impl Fn(&'static str) -> Slice<'static>; 2] {
        let everywhere = self.ends_inside;
        [("base_a", "row0"), ("base_b", "column0")].map(|(base, first)| {
            move |k0: &'static str| {
                let (ends_inside, steady) = if k0 == LAST { (true, false) } else { (everywhere, steady) };
                Slice { base, first, k0, end: "k_to", ends_inside, steady }
            }
        })
    }

    /// Declares what the operands need and loads the first slices; says where those begin.
    fn open(
        &self,
        m: &mut Module<'_>,
        operands: [(&Operand, &dyn Fn(&'static str) -> Slice<'static>); 2],
    ) -> &'static str {
        let first = if self.last_first { LAST } else { "k_from" };
        for (operand, slice) in operands {
            operand.declare(m, &slice("k_from"));
        }
        for (operand, slice) in operands {
            if self.last_first {
                operand.step_back(m, &slice("k_from"));
            }
            operand.load(m, &slice(first));
        }
        first
    }
}

/// Where the last slice begins, in the text.
const LAST: &str = "k_last";

/// Stores products of one row, at `row` and `column`: four (at a multiple of four) or as many as are stored at a time.
fn finish_tile(
    m: &mut Module<'_>,
    body: &MatMul,
    target: &Target,
    place: &Place,
    row: &str,
    column: &str,
    product: Vec<String>,
) {
    let (rows, columns) = (body.m, body.n);
    match *target {
        Target::Scratch(n) => {
            let batches: usize = body.batch.iter().product();
            let dtype = sum_dtype(body);
            line!(m, "if ({row} < {rows}u && {column} < {columns}u) {{");
            let index = if batches == 1 { "0u".into() } else { format!("at / {}u", place.tiles) };
            let at = format!("(((part * {batches}u + {index}) * {rows}u + {row}) * {columns}u + {column})");
            let at = m.bind("at", &at);
            if columns.is_multiple_of(4) {
                m.store(Binding::Scratch(n), dtype, &at, &product);
            } else {
                for (j, value) in product.iter().enumerate() {
                    line!(m, "if ({column} + {j}u < {columns}u) {{");
                    m.store(
                        Binding::Scratch(n),
                        dtype,
                        &format!("({at} + {j}u)"),
                        std::slice::from_ref(value),
                    );
                    line!(m, "}}");
                }
            }
            line!(m, "}}");
        }
        Target::Epilogue => {
            let mut program = epilogue(m, body, 4);
            let vector = program.vector;
            for first in (0..product.len()).step_by(vector) {
                let column = if first == 0 { column.to_string() } else { format!("({column} + {first}u)") };
                line!(m, "if ({row} < {rows}u && {column} < {columns}u) {{");
                program.product = product[first..first + vector].to_vec();
                let mut coords = place.batch.clone();
                coords.extend([row.to_string(), column]);
                run(m, &program, &Point { coords, inner: program.inner });
                line!(m, "}}");
            }
        }
    }
}

/// Prints a whole program with its stores at a point.
fn run(m: &mut Module<'_>, program: &Program<'_>, point: &Point) {
    for i in 0..program.body.program.len() {
        program.instruction(m, i, point, 0, program.vector);
    }
    let all: Vec<usize> = (0..program.body.stores.len()).collect();
    program.stores(m, &all, point, 0, program.vector);
}

/// The second dispatch of a split product: a map that begins with the sum of the parts.
fn add_parts(printer: &Printer<'_>, body: &MatMul, parts: usize, scratch: usize) -> Result<Dispatch> {
    const LANES: usize = 256;
    let mut m = printer.module();
    // The sums lie one after another, also where rows of the results do not.
    let widest = if body.n.is_multiple_of(4) { 4 } else { 1 };
    let mut program = epilogue(&m, body, widest);
    let vector = program.vector;
    program.declare(&mut m, &[Level::Uniform, Level::Element]);
    m.want(Binding::Scratch(scratch), vector);
    let dims = &body.epilogue.segments[0].dims;
    let total: usize = dims.iter().product();
    line!(m, "let index = group * {LANES}u + lane;");
    line!(m, "if (index < {}u) {{", total / vector);
    let t = sum_type(body, printer.caps);
    for j in 0..vector {
        line!(m, "var sum{j} = {t}(0);");
    }
    line!(m, "for (var part = 0u; part < {parts}u; part++) {{");
    let at = format!("part * {total}u + index * {vector}u");
    let values = m.elements(Binding::Scratch(scratch), sum_dtype(body), &at, vector);
    for (j, value) in values.iter().enumerate() {
        line!(m, "sum{j} += {value};");
    }
    line!(m, "}}");
    program.product = (0..vector).map(|j| format!("sum{j}")).collect();
    let coords = coordinates(&mut m, "index", dims, vector);
    let point = Point { coords, inner: program.inner };
    run(&mut m, &program, &point);
    line!(m, "}}");
    m.finish(LANES as u32, (total / vector).div_ceil(LANES))
}

/// The most rows of a product that are summed at a time.
const FEW: usize = 8;
/// The most instructions that the epilogues of products summed together may have.
const EPILOGUES: usize = 1024;

/// Rows and columns of the output that are summed together, so that an element of one operand is loaded once for all of
/// them: every row if they are few, and then columns, too, where the sum runs along the right operand's memory.
fn summed_together(body: &MatMul, caps: &Caps) -> [usize; 2] {
    let (rank, segment) = (body.batch.len(), &body.epilogue.segments[0]);
    let mut views = segment.loads.iter().map(|l| &l.view).chain(segment.stores.iter().map(|s| &s.view));
    let whole = |view: &View| match &view.mask {
        Some(mask) => mask[rank] == (0, body.m) && mask[rank + 1] == (0, body.n),
        None => true,
    };
    let strides = &body.right.view.strides[rank..];
    let batch: usize = body.batch.iter().product();
    let are_few = |columns: usize| batch * body.n / columns * 4 < caps.parallel as usize;
    // Very long sums are shared by workgroups if they are few; those along memory have a memory for each then. And what rows
    // share is little where there are fewer columns.
    let by_columns = body.n > 1 && strides[1].abs() == 1 && strides[0].abs() != 1;
    let apart = are_few(1) && (body.n < body.m || body.k >= LONG && !by_columns);
    let is_short = |columns: usize| body.m * columns * body.epilogue.program.len() <= EPILOGUES;
    if body.m > FEW || apart || !is_short(1) || !views.all(whole) {
        return [1, 1];
    }
    let worth = |&columns: &usize| body.n.is_multiple_of(columns) && !are_few(columns) && is_short(columns);
    let columns = [8, 4, 2].into_iter().filter(|_| strides[0] == 1 && strides[1] != 0).find(worth);
    [body.m, columns.unwrap_or(1)]
}

/// The product as a loop over `[batch.., m, k, n]` that reduces k, the epilogue on what is kept. Where rows and columns
/// are summed together, a point stands for all of them.
fn as_loop(body: &MatMul, reads: &[Port], caps: &Caps) -> Loop {
    let rank = body.batch.len();
    let (axis_k, segment) = (rank + 1, &body.epilogue.segments[0]);
    let [rows, columns] = summed_together(body, caps);
    let mut dims = body.batch.clone();
    dims.extend([body.m / rows, body.k, body.n / columns]);
    let reduced: Vec<bool> = (0..rank + 3).map(|a| a == axis_k).collect();
    // A view of [batch.., m, k] (or [batch.., k, n]) repeated along the axis it lacks.
    let operand = |matrix: &Matrix, left: bool, part: usize| {
        let axis = if left { rank } else { rank + 1 };
        let mut view = one_of(&matrix.view, axis, part, if left { rows } else { columns });
        let at = if left { rank + 2 } else { rank };
        view.shape.insert(at, if left { body.n / columns } else { body.m / rows });
        view.strides.insert(at, 0);
        Load { source: Source::Memory(matrix.read), view }
    };
    let kept = |view: &View, [row, column]: [usize; 2]| {
        let mut view = one_of(&one_of(view, rank, row, rows), rank + 1, column, columns);
        view.shape.insert(axis_k, body.k);
        view.strides.insert(axis_k, 0);
        if let Some(mask) = &mut view.mask {
            mask.insert(axis_k, (0, body.k));
        }
        view
    };
    let sum = sum_dtype(body);
    let (mut loads, mut stores): (Vec<Load>, Vec<Store>) = (vec![], vec![]);
    let (mut program, mut stored): (Vec<Instr>, Vec<Val>) = (vec![], vec![]);
    let push = |program: &mut Vec<Instr>, inst: Inst, dtype: DType, level: Level| {
        program.push(Instr { inst, dtype, level });
        Val(program.len() as u32 - 1)
    };
    let mut factors = |matrix: &Matrix, left: bool, parts: usize| -> Vec<Val> {
        let factor = |part: usize| {
            loads.push(operand(matrix, left, part));
            let inst = Inst::Load(loads.len() - 1);
            let loaded = push(&mut program, inst, reads[matrix.read].dtype, Level::Element);
            let rounded = push(&mut program, Inst::Cast(loaded), matrix.dtype, Level::Element);
            push(&mut program, Inst::Cast(rounded), sum, Level::Element)
        };
        (0..parts).map(factor).collect()
    };
    let (left, right) = (factors(&body.left, true, rows), factors(&body.right, false, columns));
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let both = Inst::Binary(Binary::Mul, left[row], right[column]);
        let both = push(&mut program, both, sum, Level::Element);
        let product = push(&mut program, Inst::Reduce(Reduce::Sum, both), sum, Level::Kept);
        let byte = |program: &mut _| push(program, Inst::Cast(product), DType::U8, Level::Kept);
        let first_load = loads.len();
        let mut new: Vec<Val> = vec![];
        for instr in &body.epilogue.program {
            let level = if instr.level == Level::Element { Level::Kept } else { instr.level };
            let inst = match instr.inst.with_operands(|v| new[v.index()]) {
                Inst::Load(n) if segment.loads[n].source == Source::Product => {
                    // Bytes are summed as words.
                    new.push(if instr.dtype == DType::U8 { byte(&mut program) } else { product });
                    continue;
                }
                Inst::Load(n) => Inst::Load(n + first_load),
                Inst::Gather { load, index, stride, len } => {
                    Inst::Gather { load: load + first_load, index, stride, len }
                }
                other => other,
            };
            new.push(push(&mut program, inst, instr.dtype, level));
        }
        let at = [row, column];
        loads.extend(segment.loads.iter().map(|l| Load { source: l.source, view: kept(&l.view, at) }));
        stores.extend(segment.stores.iter().map(|s| Store { view: kept(&s.view, at), ..s.clone() }));
        stored.extend(body.epilogue.stores.iter().map(|v| new[v.index()]));
    }
    Loop { reduced, program, stores: stored, segments: vec![Segment { dims, loads, stores }] }
}

/// Of every so many places along an axis of a view the one with a number.
fn one_of(view: &View, axis: usize, number: usize, of: usize) -> View {
    let mut view = view.clone();
    view.offset += number as isize * view.strides[axis];
    view.strides[axis] *= of as isize;
    view.shape[axis] /= of;
    if let Some(mask) = view.mask.as_mut().filter(|_| of > 1) {
        mask[axis] = (0, view.shape[axis]);
    }
    view
}
