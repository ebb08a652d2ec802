//! Computes cheap values again in every pass that wants them: a difference to the mean costs less than to be written to a
//! register in memory and read from there, and tiles without such registers can be larger.

use super::numeric::register;
use crate::dtype::DType;
use crate::graph::Binary;
use crate::kernel::{Inst, Instr, Level, Loop, Val};
use rustc_hash::FxHashMap;

/// Instructions that are worth computing again.
const CHEAP: usize = 2;

/// The loop with a copy of each cheap value for each later pass that uses it; `None` if there is none.
pub(super) fn compute_again(body: &Loop) -> Option<Loop> {
    let wanted = passes(body);
    let mut copier =
        Copier { body, costs: costs(body), program: vec![], copies: FxHashMap::default(), now: vec![] };
    for (i, instr) in body.program.iter().enumerate() {
        let inst = instr.inst.with_operands(|v| match wanted[i] {
            Some(pass) if wanted[v.index()] < Some(pass) => copier.copy(v, pass),
            _ => copier.now[v.index()],
        });
        let new = copier.push(Instr { inst, ..instr.clone() });
        copier.now.push(new);
    }
    let stores = body.stores.iter().map(|v| copier.now[v.index()]).collect();
    (!copier.copies.is_empty()).then(|| Loop { program: copier.program, stores, ..body.clone() })
}

/// The first pass that wants each value, if any does: a pass ends with the reductions of values that need no later one.
fn passes(body: &Loop) -> Vec<Option<usize>> {
    let mut stages: Vec<usize> = vec![];
    for instr in &body.program {
        let stage = instr.inst.operands().iter().map(|v| stages[v.index()]).max().unwrap_or(0);
        stages.push(stage + matches!(instr.inst, Inst::Reduce(..)) as usize);
    }
    let mut wanted = vec![None; stages.len()];
    body.stores.iter().for_each(|v| wanted[v.index()] = Some(stages[v.index()]));
    let earlier = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).min();
    for (i, instr) in body.program.iter().enumerate().rev() {
        if matches!(instr.inst, Inst::Reduce(..)) {
            wanted[i] = Some(stages[i] - 1);
        }
        for v in instr.inst.operands() {
            wanted[v.index()] = earlier(wanted[v.index()], wanted[i]);
        }
    }
    wanted
}

/// The instructions that each element value takes, down to what is in memory or the same for a row.
fn costs(body: &Loop) -> Vec<usize> {
    let mut costs: Vec<usize> = vec![];
    for instr in &body.program {
        costs.push(match instr.inst {
            _ if instr.level != Level::Element => 0,
            Inst::Load(_) if instr.dtype == DType::F32 => 0,
            Inst::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b)
                if register(instr.dtype) == DType::F32 =>
            {
                costs[a.index()] + costs[b.index()] + 1
            }
            _ => CHEAP + 1,
        });
    }
    costs
}

struct Copier<'a> {
    body: &'a Loop,
    costs: Vec<usize>,
    program: Vec<Instr>,
    /// The copies of values for a pass.
    copies: FxHashMap<(Val, usize), Val>,
    /// Where the values of the old program are in the new one.
    now: Vec<Val>,
}

impl Copier<'_> {
    fn push(&mut self, instr: Instr) -> Val {
        self.program.push(instr);
        Val(self.program.len() as u32 - 1)
    }

    /// The value for a pass: a copy of its own if it is cheap.
    fn copy(&mut self, v: Val, pass: usize) -> Val {
        if !(1..=CHEAP).contains(&self.costs[v.index()]) {
            return self.now[v.index()];
        }
        if let Some(copy) = self.copies.get(&(v, pass)) {
            return *copy;
        }
        let instr = &self.body.program[v.index()];
        let inst = instr.inst.with_operands(|o| self.copy(o, pass));
        let copy = self.push(Instr { inst, ..instr.clone() });
        self.copies.insert((v, pass), copy);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::evaluate;
    use super::super::tests::{Dice, leaves, norm, numbers};
    use super::*;
    use crate::Result;
    use crate::kernel::Body;

    #[test]
    fn differences_to_the_mean_are_computed_in_each_pass() -> Result<()> {
        let wanted = norm(&leaves(7, 20)?)?;
        let kernel = crate::realize::plan(&[&wanted[0], &wanted[1]])?.steps[0].kernel.clone();
        let Body::Loop(body) = &kernel.body else { panic!("{kernel}") };
        let again = compute_again(body).expect("there is something to compute again");
        let differences = |body: &Loop| {
            let is =
                |i: &&Instr| matches!(i.inst, Inst::Binary(Binary::Sub, ..)) && i.level == Level::Element;
            body.program.iter().filter(is).count()
        };
        assert!(differences(&again) > differences(body), "{body}{again}");
        assert!(compute_again(&again).is_none(), "{again}");
        // The same function as before.
        let mut dice = Dice(5);
        let reads: Vec<Vec<u8>> = kernel.reads.iter().map(|p| numbers(p.dtype, p.len, &mut dice)).collect();
        let run = |body: &Loop| {
            let mut writes: Vec<Vec<u8>> = kernel.writes.iter().map(|p| vec![0; 4 * p.len]).collect();
            evaluate(&kernel, body, &reads, &mut writes, &[]);
            writes
        };
        assert_eq!(run(body), run(&again));
        Ok(())
    }
}
