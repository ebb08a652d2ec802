//! Compiles one segment of a loop to a block program: which instructions run when (once, before, during and
//! after each pass over the reduced axes), where every value lies (in memory itself where it can be used in
//! place, else in a scratch register), and how large a tile is.

use super::numeric::register;
use super::reduce::running;
use super::space::{Base, Class, Space};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::{Binary, Random, Reduce, Unary};
use crate::kernel::{Inst, Kernel, Level, Loop, Segment, Source, Val};
use rustc_hash::FxHashMap;

/// Where a value lies while a tile runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    None,
    /// Byte offset in the thread's scratch.
    Scratch(u32),
    /// In the memory of an access.
    Access(u32),
}

/// A value as an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub place: Place,
    pub class: Class,
    /// Elements from row to row, in memory.
    pub rs: isize,
}

impl Operand {
    pub const NONE: Operand = Operand { place: Place::None, class: Class::One, rs: 0 };

    fn scratch(offset: u32, class: Class) -> Operand {
        Operand { place: Place::Scratch(offset), class, rs: 0 }
    }
}

/// What a step does. Dtypes are those of registers unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    /// A constant of that many bytes.
    Literal([u8; 8], u8),
    /// A launch argument in the given dtype.
    Arg(u32, DType),
    /// Copies memory of the dtype to a register: strided, masked or converted.
    Load(u32, DType),
    /// The addresses of an access as numbers.
    Index(u32, DType),
    /// Memory of the dtype at `a * stride` from the access.
    Gather { access: u32, dtype: DType, stride: isize, len: usize },
    Unary(DType, Unary),
    Binary(DType, Binary),
    /// a * b + c of f32.
    Fma,
    Choose(DType),
    /// To any dtype.
    Cast(DType, DType),
    Copy(DType),
    Random(Random),
    /// Of `a`, or of `a * b`; the number of the running value where the tile is not everything.
    Reduce { op: Reduce, dtype: DType, running: Option<u32> },
    /// Writes a register to memory of the dtype: strided or converted.
    Store(u32, DType),
}

/// One instruction of a block program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub code: Code,
    /// The extent it runs over.
    pub class: Class,
    pub dst: Operand,
    pub a: Operand,
    pub b: Operand,
    pub c: Operand,
}

/// A reduction that runs across tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulator {
    pub op: Reduce,
    pub dtype: DType,
    pub pass: usize,
    /// Offsets in scratch.
    pub values: u32,
    pub positions: u32,
    pub result: u32,
}

/// A segment's block program.
#[derive(Debug)]
pub(super) struct Program {
    pub space: Space,
    pub tile_rows: usize,
    pub tile_cols: usize,
    /// Run once a task.
    pub uniform: Vec<Step>,
    /// `kept[p]` runs for each kept tile before pass p; the last after all passes.
    pub kept: Vec<Vec<Step>>,
    /// Run for each tile of the reduced axes.
    pub passes: Vec<Vec<Step>>,
    pub accumulators: Vec<Accumulator>,
    /// Where the accumulators lie in scratch.
    pub running: std::ops::Range<usize>,
    pub scratch: usize,
    /// Bytes of an element, for each access.
    pub sizes: Vec<usize>,
}

/// Elements of a tile, where nothing else decides.
const TILE: usize = 2048;
/// The longest reduced extent that is kept in one tile.
const RESIDENT: usize = 8192;
/// Scratch beyond this no longer stays in the first-level cache beside the operands.
const SCRATCH_GOAL: usize = 40 * 1024;

/// How the epilogue of a matrix product differs from other loops: its last two axes are the tile's, and the
/// product may lie in the memory of a store.
#[derive(Clone, Copy)]
pub(super) struct Epilogue {
    pub product_in: Option<usize>,
}

/// Compiles a segment.
pub(super) fn compile(
    kernel: &Kernel,
    body: &Loop,
    segment: &Segment,
    epilogue: Option<Epilogue>,
) -> Result<Program> {
    let mut goal = TILE;
    loop {
        let program = Builder::new(kernel, body, segment, epilogue, goal)?.build()?;
        if program.scratch <= SCRATCH_GOAL || goal <= 512 {
            return Ok(program);
        }
        goal /= 2;
    }
}

/// The bytes of a literal in a register of the dtype; f16 and bf16 are rounded to themselves.
pub(super) fn constant(value: Scalar, dtype: DType) -> ([u8; 8], u8) {
    fn pad<const N: usize>(bytes: [u8; N]) -> ([u8; 8], u8) {
        let mut out = [0; 8];
        out[..N].copy_from_slice(&bytes);
        (out, N as u8)
    }
    match dtype {
        DType::F32 => pad((value.as_f64() as f32).to_ne_bytes()),
        DType::F16 => pad(half::f16::from_f64(value.as_f64()).to_f32().to_ne_bytes()),
        DType::BF16 => pad(half::bf16::from_f64(value.as_f64()).to_f32().to_ne_bytes()),
        DType::F64 => pad(value.as_f64().to_ne_bytes()),
        DType::I32 => pad((value.as_i64() as i32).to_ne_bytes()),
        DType::I64 => pad(value.as_i64().to_ne_bytes()),
        DType::U32 => pad((value.as_i64() as u32).to_ne_bytes()),
        DType::U8 => pad([value.as_i64() as u8]),
        DType::Bool => pad([(value.as_f64() != 0.0) as u8]),
    }
}

/// What a pass does, in order.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    Run(usize),
    Store(usize),
}

struct Builder<'a> {
    kernel: &'a Kernel,
    body: &'a Loop,
    segment: &'a Segment,
    product_in: Option<usize>,
    space: Space,
    rows: usize,
    cols: usize,
    /// Everything that is reduced fits one tile.
    resident: bool,
    levels: Vec<Level>,
    /// The pass in which an element value exists, or before which a kept value does.
    stages: Vec<usize>,
    passes: usize,
    /// The class of each value.
    classes: Vec<Class>,
    /// Products that are computed inside their only user.
    fused: Vec<bool>,
    values: Vec<Operand>,
    accumulators: Vec<Accumulator>,
    scratch: usize,
    free: FxHashMap<usize, Vec<u32>>,
}

fn internal(what: impl std::fmt::Display) -> Error {
    Error::Internal(format!("cpu: {what}"))
}

impl<'a> Builder<'a> {
    fn new(
        kernel: &'a Kernel,
        body: &'a Loop,
        segment: &'a Segment,
        epilogue: Option<Epilogue>,
        goal: usize,
    ) -> Result<Builder<'a>> {
        let space = Space::new(body, segment, epilogue.is_some());
        let n = body.program.len();
        let mut this = Builder {
            kernel,
            body,
            segment,
            product_in: epilogue.and_then(|e| e.product_in),
            rows: 1,
            cols: 1,
            resident: false,
            levels: vec![Level::Uniform; n],
            stages: vec![0; n],
            passes: 1,
            classes: vec![Class::One; n],
            fused: vec![false; n],
            values: vec![Operand::NONE; n],
            accumulators: vec![],
            scratch: 0,
            free: FxHashMap::default(),
            space,
        };
        this.check()?;
        this.stage();
        this.size(goal);
        this.classify();
        this.fuse();
        Ok(this)
    }

    fn dtype(&self, v: Val) -> DType {
        self.body.program[v.index()].dtype
    }

    /// Refuses what the loops do not understand, so that they need not look again.
    fn check(&self) -> Result<()> {
        let stores = self.body.stores.iter().zip(&self.segment.stores).all(|(v, s)| {
            self.body.program.get(v.index()).is_some_and(|i| {
                self.kernel.writes.get(s.write).is_some_and(|p| p.dtype == i.dtype) && s.view.mask.is_none()
            })
        });
        if !stores || self.segment.dims.contains(&0) || self.segment.stores.len() != self.body.stores.len() {
            return Err(internal(format!("{}: an empty space or a store that does not fit", self.kernel.label)));
        }
        for (i, instr) in self.body.program.iter().enumerate() {
            let operands = instr.inst.operands();
            let same = |vals: &[Val]| vals.iter().all(|&v| register(self.dtype(v)) == register(instr.dtype));
            let fine = operands.iter().all(|v| v.index() < i)
                && match &instr.inst {
                    Inst::Literal(_) => true,
                    Inst::Arg(n) => *n < self.kernel.args.len(),
                    Inst::Load(n) | Inst::Gather { load: n, .. } => match self.segment.loads.get(*n) {
                        Some(load) => match load.source {
                            Source::Memory(r) => {
                                self.kernel.reads.get(r).is_some_and(|p| p.dtype == instr.dtype)
                            }
                            _ => true,
                        },
                        None => false,
                    },
                    Inst::Unary(Unary::Not, a) => register(self.dtype(*a)) == register(instr.dtype),
                    Inst::Unary(_, a) => same(&[*a]),
                    Inst::Binary(op, a, b) => {
                        let bits = matches!(op, Binary::And | Binary::Or | Binary::Xor);
                        register(self.dtype(*a)) == register(self.dtype(*b))
                            && (op.is_comparison() || same(&[*a]))
                            && !(bits && self.dtype(*a).is_float())
                    }
                    Inst::Where(c, a, b) => register(self.dtype(*c)) == DType::U8 && same(&[*a, *b]),
                    Inst::Cast(_) => true,
                    Inst::Random { index, .. } => self.dtype(*index) == DType::I64,
                    Inst::Reduce(Reduce::ArgMax | Reduce::ArgMin, _) => instr.dtype == DType::I64,
                    Inst::Reduce(_, a) => same(&[*a]),
                };
            if !fine {
                return Err(internal(format!("{}: v{i} = {instr} is not well formed", self.kernel.label)));
            }
        }
        Ok(())
    }

    /// Levels and stages of all values, and how many passes there are.
    fn stage(&mut self) {
        let reduces = self.space.reduces();
        for (i, instr) in self.body.program.iter().enumerate() {
            let operands = instr.inst.operands();
            let stage = operands.iter().map(|v| self.stages[v.index()]).max().unwrap_or(0);
            self.levels[i] = match instr.level {
                Level::Kept if !reduces => Level::Element,
                level => level,
            };
            self.stages[i] = stage;
            if let Inst::Reduce(_, a) = instr.inst {
                self.levels[i] = Level::Kept;
                self.passes = self.passes.max(self.stages[a.index()] + 1);
                self.stages[i] = stage + 1;
            }
        }
        for v in &self.body.stores {
            if self.levels[v.index()] == Level::Element {
                self.passes = self.passes.max(self.stages[v.index()] + 1);
            }
        }
    }

    /// Chooses the tile.
    fn size(&mut self, goal: usize) {
        let s = &self.space;
        let outside = s.outer.len() > s.outer_kept;
        if !s.reduces() {
            if s.transposed {
                let side = if goal >= 2048 { 64 } else { 32 };
                self.cols = s.cols.min(side);
                self.rows = s.rows.min((goal * 2 / self.cols).max(1));
            } else {
                self.cols = s.cols.min(goal);
                self.rows = s.rows.min((goal / self.cols).max(1));
            }
        } else if s.col_reduced {
            self.resident = !outside && s.cols <= RESIDENT;
            self.cols = if self.resident { s.cols } else { s.cols.min(goal * 2) };
            self.rows = s.rows.min((goal / self.cols).max(1));
        } else {
            let several = self.passes > 1;
            self.resident = !outside && s.row_reduced && (s.rows <= 8 || (several && s.rows <= 512));
            if self.resident {
                self.rows = s.rows;
                self.cols = s.cols.min((goal / s.rows).max(16));
            } else {
                self.cols = s.cols.min(goal / 4);
                self.rows = if s.row_reduced { s.rows.min((goal * 2 / self.cols).max(1)) } else { 1 };
            }
        }
    }

    /// How every value differs inside a tile.
    fn classify(&mut self) {
        for (i, instr) in self.body.program.iter().enumerate() {
            let operands = instr.inst.operands();
            let class = operands.iter().fold(Class::One, |c, v| c.join(self.classes[v.index()]));
            self.classes[i] = match instr.inst {
                Inst::Load(n) => self.space.class(n),
                Inst::Gather { load, .. } => class.join(self.space.class(load)),
                Inst::Reduce(..) => self.kept_class(),
                _ => class,
            };
        }
    }

    /// The class of a value of the kept axes.
    fn kept_class(&self) -> Class {
        match (self.space.row_reduced, self.space.col_reduced) {
            (false, true) => Class::Row,
            (true, false) => Class::Col,
            (true, true) => Class::One,
            (false, false) => Class::Full,
        }
    }

    /// Finds products of f32 that are used once, by an addition or a sum.
    fn fuse(&mut self) {
        let mut uses = vec![0; self.values.len()];
        for instr in &self.body.program {
            instr.inst.operands().iter().for_each(|v| uses[v.index()] += 1);
        }
        self.body.stores.iter().for_each(|v| uses[v.index()] += 1);
        for (i, instr) in self.body.program.iter().enumerate() {
            if register(instr.dtype) != DType::F32 {
                continue;
            }
            let product = |v: Val, this: &Self| {
                let mul = &this.body.program[v.index()];
                matches!(mul.inst, Inst::Binary(Binary::Mul, ..))
                    && uses[v.index()] == 1
                    && this.levels[v.index()] == Level::Element
            };
            match instr.inst {
                Inst::Binary(Binary::Add, a, b) if self.levels[i] == Level::Element => {
                    // The product must come in the same pass and at the same extent.
                    for v in [a, b] {
                        let j = v.index();
                        let same = self.classes[j] == self.classes[i] && self.stages[j] == self.stages[i];
                        if product(v, self) && same {
                            self.fused[j] = true;
                            break;
                        }
                    }
                }
                Inst::Reduce(Reduce::Sum, a) if product(a, self) && self.classes[a.index()] == Class::Full => {
                    self.fused[a.index()] = true;
                }
                _ => {}
            }
        }
    }

    /// The values an instruction reads, those of a fused product in its place.
    fn operands(&self, i: usize) -> Vec<usize> {
        let mut out = vec![];
        for v in self.body.program[i].inst.operands() {
            if self.fused[v.index()] {
                out.extend(self.body.program[v.index()].inst.operands().iter().map(|v| v.index()));
            } else {
                out.push(v.index());
            }
        }
        out
    }

    fn extent(&self, class: Class) -> usize {
        match class {
            Class::One => 1,
            Class::Row => self.rows,
            Class::Col => self.cols,
            Class::Full => self.rows * self.cols,
        }
    }

    fn allocate(&mut self, bytes: usize) -> u32 {
        let bytes = bytes.next_multiple_of(64);
        if let Some(offset) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return offset;
        }
        let offset = self.scratch;
        self.scratch += bytes;
        offset as u32
    }

    fn release(&mut self, offset: u32, bytes: usize) {
        self.free.entry(bytes.next_multiple_of(64)).or_default().push(offset);
    }

    fn bytes(&self, v: usize) -> usize {
        self.extent(self.classes[v]) * register(self.body.program[v].dtype).size()
    }

    fn new_register(&mut self, v: usize) -> Operand {
        let bytes = self.bytes(v);
        Operand::scratch(self.allocate(bytes), self.classes[v])
    }

    /// Bytes of an element of an access' memory.
    fn element_size(&self, access: usize) -> usize {
        match self.space.accesses[access].base {
            Base::Read(n) => self.kernel.reads[n].dtype.size(),
            Base::Write(n) => self.kernel.writes[n].dtype.size(),
            Base::Product => {
                let is_load = |i: &&crate::kernel::Instr| matches!(i.inst, Inst::Load(n) if n == access);
                self.body.program.iter().find(is_load).map_or(0, |i| register(i.dtype).size())
            }
            Base::Index => 0,
        }
    }

    /// The operand that reads an access where it lies, if the loops can.
    fn in_place(&self, access: usize, dtype: DType, class: Class) -> Option<Operand> {
        let a = &self.space.accesses[access];
        let straight = match class {
            Class::One => true,
            Class::Row => a.row_stride() == 1,
            Class::Col | Class::Full => a.col_stride() == 1,
        };
        let plain = a.base != Base::Index && a.mask.is_none() && !a.empty && dtype.compute() == dtype;
        let place = Place::Access(access as u32);
        (straight && plain).then(|| Operand { place, class, rs: a.row_stride() })
    }

    /// Emits instruction `i`; `into` says where its result must lie, if that is decided.
    fn emit(&mut self, i: usize, into: Option<Operand>, steps: &mut Vec<Step>) -> Result<()> {
        let instr = &self.body.program[i];
        let class = self.classes[i];
        let dtype = register(instr.dtype);
        if let (Inst::Load(n), None) = (&instr.inst, into) {
            if let Some(operand) = self.in_place(*n, instr.dtype, class) {
                self.values[i] = operand;
                return Ok(());
            }
        }
        let value = |this: &Self, v: Val| this.values[v.index()];
        let mut step = Step {
            code: Code::Fma,
            class,
            dst: Operand::NONE,
            a: Operand::NONE,
            b: Operand::NONE,
            c: Operand::NONE,
        };
        match instr.inst {
            Inst::Literal(bits) => {
                let (bytes, n) = constant(Scalar::from_bits(bits, instr.dtype), instr.dtype);
                step.code = Code::Literal(bytes, n);
            }
            Inst::Arg(n) => step.code = Code::Arg(n as u32, instr.dtype),
            Inst::Load(n) if self.space.accesses[n].base == Base::Index => {
                step.code = Code::Index(n as u32, dtype)
            }
            Inst::Load(n) => step.code = Code::Load(n as u32, instr.dtype),
            Inst::Gather { load, index, stride, len } => {
                step.code = Code::Gather { access: load as u32, dtype: instr.dtype, stride, len };
                step.a = value(self, index);
            }
            Inst::Unary(op, a) => {
                step.code = Code::Unary(dtype, op);
                step.a = value(self, a);
            }
            Inst::Binary(Binary::Add, a, b) if self.fused[a.index()] || self.fused[b.index()] => {
                let (product, other) = if self.fused[a.index()] { (a, b) } else { (b, a) };
                let Inst::Binary(_, x, y) = self.body.program[product.index()].inst else {
                    return Err(internal("a fused value is not a product"));
                };
                (step.a, step.b, step.c) = (value(self, x), value(self, y), value(self, other));
            }
            Inst::Binary(op, a, b) => {
                step.code = Code::Binary(register(self.dtype(a)), op);
                (step.a, step.b) = (value(self, a), value(self, b));
            }
            Inst::Where(c, a, b) => {
                step.code = Code::Choose(dtype);
                (step.a, step.b, step.c) = (value(self, c), value(self, a), value(self, b));
            }
            Inst::Cast(a) => {
                step.code = Code::Cast(register(self.dtype(a)), instr.dtype);
                step.a = value(self, a);
            }
            Inst::Random { kind, seed, stream, index } => {
                step.code = Code::Random(kind);
                (step.a, step.b, step.c) = (value(self, seed), value(self, stream), value(self, index));
            }
            Inst::Reduce(..) => return Err(internal("a reduction is emitted with its pass")),
        }
        step.dst = match into {
            Some(operand) => operand,
            None => self.new_register(i),
        };
        self.values[i] = step.dst;
        steps.push(step);
        Ok(())
    }

    /// Emits a reduction's step of each tile. The result's register is there already.
    fn emit_reduce(&mut self, i: usize, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(op, a) = self.body.program[i].inst else {
            return Err(internal("not a reduction"));
        };
        let (mut left, mut right) = (self.values[a.index()], Operand::NONE);
        if self.fused[a.index()] {
            let operands = self.body.program[a.index()].inst.operands();
            (left, right) = (self.values[operands[0].index()], self.values[operands[1].index()]);
        }
        let dtype = register(self.dtype(a));
        let arg = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
        let class = self.kept_class();
        let n = self.extent(class);
        let (result, accumulator) = match self.values[i].place {
            Place::Scratch(offset) => {
                (offset, self.accumulators.iter().position(|a| a.result == offset).map(|k| k as u32))
            }
            _ => return Err(internal("a reduction without a register")),
        };
        // What a tile gives: the result itself if the tile is everything, else something to be taken in.
        let (dst, positions) = match (accumulator, arg) {
            (None, false) => (result, 0),
            (None, true) => (self.allocate(n * dtype.size()), result),
            (Some(_), _) => (self.allocate(n * dtype.size()), if arg { self.allocate(n * 8) } else { 0 }),
        };
        steps.push(Step {
            code: Code::Reduce { op, dtype, running: accumulator },
            class: Class::Full,
            dst: Operand::scratch(dst, class),
            a: left,
            b: right,
            c: if arg { Operand::scratch(positions, class) } else { Operand::NONE },
        });
        Ok(())
    }

    /// Whether the memory of a store may also be that of a load.
    fn aliases(&self, store: usize, load: Base) -> bool {
        let write = self.segment.stores[store].write;
        match load {
            Base::Read(r) => self.kernel.in_place.contains(&(write, r)),
            Base::Product => self.product_in == Some(write),
            _ => false,
        }
    }

    fn may_alias(&self, store: usize) -> bool {
        self.space.accesses.iter().any(|a| self.aliases(store, a.base))
    }

    /// Emits store `s` of a value that lies somewhere.
    fn emit_store(&mut self, s: usize, steps: &mut Vec<Step>) {
        let v = self.body.stores[s].index();
        let access = self.segment.loads.len() + s;
        let dtype = self.body.program[v].dtype;
        let level = self.levels[v];
        let class = match level {
            Level::Element => Class::Full,
            Level::Kept => self.kept_class(),
            Level::Uniform if self.space.reduces() => self.kept_class(),
            Level::Uniform => Class::Full,
        };
        let (code, dst) = match self.in_place(access, dtype, class) {
            Some(dst) => (Code::Copy(register(dtype)), dst),
            None => (Code::Store(access as u32, dtype), Operand::NONE),
        };
        let none = Operand::NONE;
        steps.push(Step { code, class, dst, a: self.values[v], b: none, c: none });
    }

    /// The order of events of one pass, or of all if the tile is everything.
    fn order(&self, pass: usize) -> Vec<Event> {
        let n = self.values.len();
        let mut wanted = vec![false; n];
        let mut stores = vec![];
        let last = self.passes - 1;
        for (s, v) in self.body.stores.iter().enumerate() {
            if self.levels[v.index()] != Level::Element {
                continue;
            }
            // What is written over an operand waits until nobody reads that any more.
            let when = if self.may_alias(s) { last } else { self.stages[v.index()] };
            if when == pass {
                stores.push(s);
                wanted[v.index()] = true;
            }
        }
        for (i, instr) in self.body.program.iter().enumerate() {
            if let Inst::Reduce(_, a) = instr.inst {
                if self.stages[a.index()] == pass {
                    wanted[i] = true;
                }
            }
        }
        for i in (0..n).rev() {
            let reduce = matches!(self.body.program[i].inst, Inst::Reduce(..));
            if wanted[i] && (self.levels[i] == Level::Element || reduce) {
                for o in self.operands(i) {
                    // Reductions of earlier passes are there.
                    if self.levels[o] == Level::Element {
                        wanted[o] = true;
                    }
                }
            }
        }
        let mut events = vec![];
        for i in 0..n {
            let reduce = matches!(self.body.program[i].inst, Inst::Reduce(..));
            if !wanted[i] || self.fused[i] || !(reduce || self.levels[i] == Level::Element) {
                continue;
            }
            // A resident tile still holds what earlier passes computed.
            let now = if reduce { self.stages[i] - 1 == pass } else { true };
            if now {
                events.push(Event::Run(i));
            }
            for &s in &stores {
                if self.body.stores[s].index() == i && !self.may_alias(s) {
                    events.push(Event::Store(s));
                }
            }
        }
        events.extend(stores.iter().filter(|&&s| self.may_alias(s)).map(|&s| Event::Store(s)));
        // A value of a lower level may be stored everywhere.
        events
    }

    fn build(mut self) -> Result<Program> {
        let n = self.values.len();
        // Once: constants and what is computed from them.
        let mut uniform = vec![];
        for i in 0..n {
            if self.levels[i] == Level::Uniform {
                self.emit(i, None, &mut uniform)?;
            }
        }
        // The registers of reductions, which live as long as the kept tile.
        let start = self.scratch;
        for i in 0..n {
            if let Inst::Reduce(op, a) = self.body.program[i].inst {
                self.values[i] = self.new_register(i);
                if !self.resident {
                    let count = self.extent(self.kept_class());
                    let dtype = register(self.dtype(a));
                    let Place::Scratch(result) = self.values[i].place else { continue };
                    let pass = self.stages[a.index()];
                    let blank = Accumulator { op, dtype, pass, values: 0, positions: 0, result };
                    self.accumulators.push(blank);
                    let k = self.accumulators.len() - 1;
                    self.accumulators[k].values = self.allocate(count * running(op, dtype).size());
                    if matches!(op, Reduce::ArgMax | Reduce::ArgMin) {
                        self.accumulators[k].positions = self.allocate(count * 8);
                    }
                }
            }
        }
        let running = start..self.scratch;
        // Kept values, stage by stage, then their stores.
        let mut kept = vec![vec![]; self.passes + 1];
        for (stage, steps) in kept.iter_mut().enumerate() {
            for i in 0..n {
                let reduce = matches!(self.body.program[i].inst, Inst::Reduce(..));
                if self.levels[i] == Level::Kept && self.stages[i].min(self.passes) == stage && !reduce {
                    self.emit(i, None, steps)?;
                }
            }
        }
        let mut passes = vec![];
        if self.resident {
            let mut all: Vec<(usize, Event)> = vec![];
            let mut done = vec![false; n];
            for pass in 0..self.passes {
                for event in self.order(pass) {
                    if let Event::Run(i) = event {
                        if std::mem::replace(&mut done[i], true) {
                            continue;
                        }
                    }
                    all.push((pass, event));
                }
            }
            passes = vec![vec![]; self.passes];
            self.emit_events(&all, &mut passes)?;
        } else {
            for pass in 0..self.passes {
                let events: Vec<_> = self.order(pass).into_iter().map(|e| (0, e)).collect();
                let mut steps = vec![vec![]];
                self.emit_events(&events, &mut steps)?;
                passes.append(&mut steps);
            }
        }
        let last = kept.len() - 1;
        for s in 0..self.body.stores.len() {
            let v = self.body.stores[s].index();
            let level = self.levels[v];
            if level == Level::Kept || (level == Level::Uniform && self.space.reduces()) {
                self.emit_store(s, &mut kept[last]);
            } else if level == Level::Uniform {
                let mut steps = vec![];
                self.emit_store(s, &mut steps);
                passes[0].append(&mut steps);
            }
        }
        let sizes = (0..self.space.accesses.len()).map(|a| self.element_size(a)).collect();
        Ok(Program {
            tile_rows: self.rows,
            tile_cols: self.cols,
            uniform,
            kept,
            passes,
            accumulators: self.accumulators,
            running,
            scratch: self.scratch,
            sizes,
            space: self.space,
        })
    }

    /// Emits events in order into the lists of their passes; registers are free after their last use.
    fn emit_events(&mut self, events: &[(usize, Event)], lists: &mut [Vec<Step>]) -> Result<()> {
        let n = self.values.len();
        let mut last_use = vec![0; n];
        for (at, (_, event)) in events.iter().enumerate() {
            match *event {
                Event::Run(i) => self.operands(i).iter().for_each(|&o| last_use[o] = at),
                Event::Store(s) => last_use[self.body.stores[s].index()] = at,
            }
        }
        // Values that can be computed where they are stored.
        let mut direct: FxHashMap<usize, usize> = FxHashMap::default();
        for (_, event) in events {
            if let Event::Store(s) = *event {
                let v = self.body.stores[s].index();
                if !direct.contains_key(&v) && self.can_go_direct(s, events, &last_use) {
                    direct.insert(v, s);
                }
            }
        }
        let mut dying: Vec<Vec<usize>> = vec![vec![]; events.len()];
        for (at, (_, event)) in events.iter().enumerate() {
            if let Event::Run(i) = *event {
                if self.levels[i] == Level::Element {
                    dying[last_use[i].max(at)].push(i);
                }
            }
        }
        for (at, (pass, event)) in events.iter().enumerate() {
            let steps = &mut lists[*pass];
            match *event {
                Event::Run(i) if matches!(self.body.program[i].inst, Inst::Reduce(..)) => {
                    self.emit_reduce(i, steps)?
                }
                Event::Run(i) => {
                    let into = direct.get(&i).and_then(|&s| {
                        let access = self.segment.loads.len() + s;
                        self.in_place(access, self.body.program[i].dtype, Class::Full)
                    });
                    self.emit(i, into, steps)?;
                }
                Event::Store(s) if direct.get(&self.body.stores[s].index()) == Some(&s) => {}
                Event::Store(s) => self.emit_store(s, steps),
            }
            for &i in &dying[at] {
                if let Place::Scratch(offset) = self.values[i].place {
                    let bytes = self.bytes(i);
                    self.release(offset, bytes);
                }
            }
        }
        Ok(())
    }

    /// Whether a stored value may be computed straight into its memory: the loops can write there, and nothing
    /// that is still needed is overwritten.
    fn can_go_direct(&self, s: usize, events: &[(usize, Event)], last_use: &[usize]) -> bool {
        let v = self.body.stores[s].index();
        let instr = &self.body.program[v];
        let access = self.segment.loads.len() + s;
        let Some(made) = events.iter().position(|(_, e)| *e == Event::Run(v)) else { return false };
        let reachable = self.classes[v] == Class::Full
            && self.in_place(access, instr.dtype, Class::Full).is_some()
            && !matches!(instr.inst, Inst::Reduce(..))
            && !self.is_in_place_load(v);
        reachable
            && events.iter().enumerate().all(|(at, (_, event))| {
                let Event::Run(i) = *event else { return true };
                let load = match self.body.program[i].inst {
                    Inst::Load(n) | Inst::Gather { load: n, .. } => n,
                    _ => return true,
                };
                if !self.aliases(s, self.space.accesses[load].base) {
                    return true;
                }
                if self.is_in_place_load(i) { last_use[i] <= made } else { at <= made }
            })
    }

    fn is_in_place_load(&self, i: usize) -> bool {
        let instr = &self.body.program[i];
        match instr.inst {
            Inst::Load(n) => self.in_place(n, instr.dtype, self.classes[i]).is_some(),
            _ => false,
        }
    }
}
