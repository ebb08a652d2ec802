//! Computes cheap values again in every pass that wants them: a difference to the mean costs less than to be written to a
//! register in memory and read from there, and tiles without such registers can be larger.

use super::numeric::register;
use crate::dtype::DType;
use crate::graph::Binary;
use crate::kernel::{Inst, Instr, Level, Loop, Val};

/// Instructions that are worth computing again.
const CHEAP: usize = 2;

/// The loop with a copy of each cheap value for each later pass that uses it; `None` if there is none.
pub(super) fn compute_again(body: &Loop) -> Option<Loop> {
    let n = body.program.len();
    // The pass in which a value exists, as in `Builder::stage`, and what it costs.
    let (mut stages, mut costs) = (vec![0; n], vec![0; n]);
    for (i, instr) in body.program.iter().enumerate() {
        let operands = instr.inst.operands();
        let reduces = matches!(instr.inst, Inst::Reduce(..));
        stages[i] = operands.iter().map(|v| stages[v.index()]).max().unwrap_or(0) + reduces as usize;
        if instr.level != Level::Element {
            continue;
        }
        costs[i] = match instr.inst {
            Inst::Load(_) if instr.dtype == DType::F32 => 0,
            Inst::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..)
                if register(instr.dtype) == DType::F32 =>
            {
                operands.iter().map(|v| costs[v.index()]).sum::<usize>() + 1
            }
            _ => CHEAP + 1,
        };
    }
    // The first pass that wants each value.
    let pass = |i: usize| stages[i] - matches!(body.program[i].inst, Inst::Reduce(..)) as usize;
    let mut first = vec![usize::MAX; n];
    for i in (0..n).rev() {
        let stored = body.stores.iter().any(|v| v.index() == i);
        let wanted = match body.program[i].inst {
            Inst::Reduce(..) => pass(i),
            _ if stored => stages[i].min(first[i]),
            _ => first[i],
        };
        first[i] = wanted;
        body.program[i].inst.operands().iter().for_each(|v| {
            first[v.index()] = first[v.index()].min(wanted);
        });
    }
    let mut copier = Copier { body, costs, program: vec![], copies: vec![], now: vec![Val(0); n] };
    let mut stores = body.stores.clone();
    for i in 0..n {
        let instr = &body.program[i];
        let element = instr.level == Level::Element;
        let at = first[i];
        let late = |v: &Val| element_of(body, *v) && first[v.index()] < at && at != usize::MAX;
        let mut inst = instr.inst.clone();
        if element || matches!(inst, Inst::Reduce(..)) {
            inst = map(&inst, |v| if late(&v) { copier.copy(v, at) } else { copier.now[v.index()] });
        } else {
            inst = map(&inst, |v| copier.now[v.index()]);
        }
        copier.program.push(Instr { inst, ..instr.clone() });
        copier.now[i] = Val(copier.program.len() as u32 - 1);
    }
    stores.iter_mut().for_each(|v| *v = copier.now[v.index()]);
    let changed = !copier.copies.is_empty();
    changed.then(|| Loop { program: copier.program, stores, ..body.clone() })
}

fn element_of(body: &Loop, v: Val) -> bool {
    body.program[v.index()].level == Level::Element
}

struct Copier<'a> {
    body: &'a Loop,
    costs: Vec<usize>,
    program: Vec<Instr>,
    /// Values that were copied, for which pass, and the copy.
    copies: Vec<(Val, usize, Val)>,
    /// Where the values of the old program are in the new one.
    now: Vec<Val>,
}

impl Copier<'_> {
    /// The value for a pass: a copy of its own if it is cheap.
    fn copy(&mut self, v: Val, pass: usize) -> Val {
        let cost = self.costs[v.index()];
        if !element_of(self.body, v) || cost == 0 || cost > CHEAP {
            return self.now[v.index()];
        }
        if let Some((_, _, copy)) = self.copies.iter().find(|c| (c.0, c.1) == (v, pass)) {
            return *copy;
        }
        let instr = &self.body.program[v.index()];
        let inst = map(&instr.inst.clone(), |o| self.copy(o, pass));
        self.program.push(Instr { inst, ..instr.clone() });
        let copy = Val(self.program.len() as u32 - 1);
        self.copies.push((v, pass, copy));
        copy
    }
}

/// An instruction with other operands.
fn map(inst: &Inst, mut f: impl FnMut(Val) -> Val) -> Inst {
    let mut inst = inst.clone();
    match &mut inst {
        Inst::Literal(_) | Inst::Arg(_) | Inst::Load(_) => {}
        Inst::Gather { index, .. } => *index = f(*index),
        Inst::Unary(_, a) | Inst::Cast(a) | Inst::Reduce(_, a) => *a = f(*a),
        Inst::Binary(_, a, b) => (*a, *b) = (f(*a), f(*b)),
        Inst::Where(c, a, b) => (*c, *a, *b) = (f(*c), f(*a), f(*b)),
        Inst::Random { seed, stream, index, .. } => {
            (*seed, *stream, *index) = (f(*seed), f(*stream), f(*index))
        }
    }
    inst
}
