//! Compiles one segment of a loop: levels, passes, the tile's size and how values differ inside it. `emit`
//! then writes the steps.

use super::again::compute_again;
use super::chain::Chain;
use super::native::Native;
use super::numeric::register;
use super::space::{Class, Space};
use super::tile::{Accumulator, Operand, Program};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Binary, Reduce, Unary};
use crate::kernel::{Inst, Kernel, Level, Loop, Segment, Source, Val};
use rustc_hash::FxHashMap;

/// Elements of a tile, where nothing else decides.
const TILE: usize = 4096;
/// The longest reduced extent that is kept in one tile.
const RESIDENT: usize = 8192;
/// Scratch beyond this no longer stays in the first-level cache beside the operands.
const SCRATCH_GOAL: usize = 40 * 1024;

/// How the epilogue of a matrix product differs from other loops: its last two axes are the tile's, and the
/// product may lie in the memory of a store.
#[derive(Clone, Copy)]
pub(super) struct Epilogue {
    pub product_in: Option<usize>,
    /// Columns of the blocks it runs over; a tile that is wider would be cut off.
    pub cols: usize,
}

/// Compiles a segment.
pub(super) fn compile(
    kernel: &Kernel,
    body: &Loop,
    segment: &Segment,
    epilogue: Option<Epilogue>,
) -> Result<Program> {
    let again = compute_again(body);
    let body = again.as_ref().unwrap_or(body);
    let mut goal = TILE;
    loop {
        let mut program = Builder::new(kernel, body, segment, epilogue, goal)?.build()?;
        if program.scratch <= SCRATCH_GOAL || goal <= 512 {
            program.chains.iter_mut().for_each(|chain| chain.native = Native::of(chain));
            return Ok(program);
        }
        goal /= 2;
    }
}

/// A value that one pass computes and later ones find in the memory of a store.
#[derive(Clone, Copy)]
pub(super) struct Parked {
    pub value: usize,
    pub store: usize,
    pub pass: usize,
}

/// A segment on its way to a program.
pub(super) struct Builder<'a> {
    pub kernel: &'a Kernel,
    pub body: &'a Loop,
    pub segment: &'a Segment,
    pub product_in: Option<usize>,
    pub widest: usize,
    pub space: Space,
    pub rows: usize,
    pub cols: usize,
    /// Everything that is reduced fits one tile.
    pub resident: bool,
    pub levels: Vec<Level>,
    /// The pass in which an element value exists, or before which a kept value does.
    pub stages: Vec<usize>,
    pub passes: usize,
    /// The class of each value.
    pub classes: Vec<Class>,
    pub values: Vec<Operand>,
    pub accumulators: Vec<Accumulator>,
    pub chains: Vec<Chain>,
    pub parked: Option<Parked>,
    pub scratch: usize,
    pub free: FxHashMap<usize, Vec<u32>>,
}

pub(super) fn internal(what: impl std::fmt::Display) -> Error {
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
            widest: epilogue.map_or(usize::MAX, |e| e.cols),
            rows: 1,
            cols: 1,
            resident: false,
            levels: vec![Level::Uniform; n],
            stages: vec![0; n],
            passes: 1,
            classes: vec![Class::One; n],
            values: vec![Operand::NONE; n],
            accumulators: vec![],
            chains: vec![],
            parked: None,
            scratch: 0,
            free: FxHashMap::default(),
            space,
        };
        this.check()?;
        this.stage();
        this.size(goal);
        this.classify();
        Ok(this)
    }

    pub fn dtype(&self, v: Val) -> DType {
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
            return Err(internal(format!(
                "{}: an empty space or a store that does not fit",
                self.kernel.label
            )));
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
                self.cols = s.cols.min(goal).min(self.widest);
                self.rows = s.rows.min((goal / self.cols).max(1));
            }
        } else if s.col_reduced {
            self.resident = !outside && s.cols <= RESIDENT;
            self.cols = if self.resident { s.cols } else { s.cols.min(goal * 2) };
            // Many rows, so that what is done for a whole tile costs little beside them.
            self.rows = s.rows.min((goal * 4 / self.cols).max(1));
        } else {
            let several = self.passes > 1;
            self.resident = !outside && s.row_reduced && (s.rows <= 8 || (several && s.rows <= 512));
            if self.resident {
                self.rows = s.rows;
                self.cols = s.cols.min((goal / s.rows).max(16));
            } else {
                self.cols = s.cols.min(goal / 4);
                // Many rows, so that taking in their sums costs little beside making them.
                self.rows = if s.row_reduced { s.rows.min((goal * 8 / self.cols).max(1)) } else { 1 };
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
    pub fn kept_class(&self) -> Class {
        match (self.space.row_reduced, self.space.col_reduced) {
            (false, true) => Class::Row,
            (true, false) => Class::Col,
            (true, true) => Class::One,
            (false, false) => Class::Full,
        }
    }
}
