//! Links instructions to chains: finds runs of f32 instructions that can be carried out together, keeps in hand
//! what the next one uses, and remembers what a later one does.

use super::chain::{Chain, Do, FOLDS, Link, OUTSIDE, REMEMBERED};
use super::compile::{Builder, internal};
use super::emit::Event;
use super::numeric::register;
use super::space::{Base, Class};
use super::tile::{Code, Operand, Place, Step};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Reduce;
use crate::kernel::{Inst, Level};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which chain each event of a list belongs to, if any.
pub(super) struct Chains {
    of: Vec<Option<usize>>,
    /// The first and last event of each chain.
    spans: Vec<(usize, usize)>,
}

impl Chains {
    /// Whether the event is part of a chain.
    pub fn has(&self, at: usize) -> bool {
        self.of[at].is_some()
    }

    /// Whether a chain has begun with the event or before, and not ended before it.
    pub fn open(&self, at: usize) -> bool {
        self.spans.iter().any(|&(first, last)| (first..=last).contains(&at))
    }

    /// Whether a chain ends with the event.
    pub fn ends(&self, at: usize) -> bool {
        self.spans.iter().any(|&(_, last)| last == at)
    }
}

/// A chain on its way.
#[derive(Default)]
pub(super) struct Linker {
    chain: Chain,
    /// The value at hand.
    hand: Option<usize>,
    /// Values and where they are remembered.
    remembered: FxHashMap<usize, u8>,
    free: Vec<u8>,
    /// Steps that follow the chain.
    after: Vec<Step>,
}

impl Builder<'_> {
    /// Whether the value has a number of its own at every element of the tile.
    pub(super) fn everywhere(&self, v: usize) -> bool {
        self.classes[v] == Class::Full || (self.classes[v] == Class::Col && self.space.rows == 1)
    }

    /// Whether a chain can do an event, when it has made the given values.
    fn links(&self, event: Event, made: &FxHashSet<usize>) -> bool {
        let float = |v: usize| register(self.body.program[v].dtype) == DType::F32;
        match event {
            Event::Run(i) => {
                let instr = &self.body.program[i];
                let operands = instr.inst.operands();
                match instr.inst {
                    Inst::Reduce(op, a) => {
                        let fits = match (self.space.row_reduced, self.space.col_reduced) {
                            (false, true) => matches!(op, Reduce::Sum | Reduce::Max | Reduce::Min),
                            (true, false) => op == Reduce::Sum,
                            _ => false,
                        };
                        // Rows that are summed anyway are summed on the way; alone their sum has a better loop.
                        let on_the_way = self.resident || self.space.row_reduced && !made.is_empty();
                        let there =
                            made.contains(&a.index()) || on_the_way && self.is_in_place_load(a.index());
                        let full = self.everywhere(a.index());
                        return fits && float(a.index()) && full && there;
                    }
                    Inst::Binary(op, ..) if Do::binary(op).is_none() => return false,
                    Inst::Unary(..) | Inst::Binary(..) | Inst::Cast(_) => {
                        if !operands.iter().all(|v| float(v.index())) {
                            return false;
                        }
                    }
                    Inst::Where(..) => {}
                    _ => return false,
                }
                self.levels[i] == Level::Element && float(i) && self.everywhere(i)
            }
            Event::Store(s, v) => {
                let access = self.segment.loads.len() + s;
                let dtype = self.body.program[v].dtype;
                made.contains(&v) && self.in_place(access, dtype, Class::Full).is_some()
            }
        }
    }

    /// Finds the chains of a list of events with their passes. Between the events of a chain there may be others
    /// that need nothing of it: those run before it.
    pub(super) fn find_chains(&self, events: &[(usize, Event)]) -> Chains {
        let mut chains = Chains { of: vec![None; events.len()], spans: vec![] };
        let (mut made, mut outside) = (FxHashSet::default(), FxHashSet::default());
        let (mut pass, mut folds, mut open) = (0, 0, false);
        for (at, &(this, event)) in events.iter().enumerate() {
            // An event has at most three operands and a result.
            let full = made.len() >= REMEMBERED || outside.len() + 4 > OUTSIDE || folds >= FOLDS;
            if this != pass || full {
                (pass, open) = (this, false);
            }
            if !open {
                (made, outside, folds) = (FxHashSet::default(), FxHashSet::default(), 0);
            }
            let linked = self.links(event, &made);
            let operands = match event {
                Event::Run(i) => self.operands(i),
                Event::Store(_, v) => vec![v],
            };
            if !linked {
                let store = matches!(event, Event::Store(..));
                open &= !store && !operands.iter().any(|o| made.contains(o));
                continue;
            }
            if !open {
                chains.spans.push((at, at));
                open = true;
            }
            let n = chains.spans.len() - 1;
            (chains.of[at], chains.spans[n].1) = (Some(n), at);
            outside.extend(operands.iter().filter(|o| !made.contains(o)).copied());
            match event {
                Event::Run(i) if self.levels[i] == Level::Element => {
                    made.insert(i);
                    // It may have to be written outside, too.
                    outside.insert(i);
                }
                Event::Run(i) => {
                    folds += 1;
                    outside.insert(i);
                }
                Event::Store(s, _) => {
                    outside.insert(self.values.len() + s);
                }
            }
        }
        chains
    }

    /// How often an event reads a value.
    fn reads(&self, event: Event, v: usize) -> usize {
        match event {
            Event::Run(i) => self.operands(i).iter().filter(|&&o| o == v).count(),
            Event::Store(_, stored) => (stored == v) as usize,
        }
    }

    /// Adds event `at` to its chain.
    pub(super) fn link(
        &mut self,
        at: usize,
        events: &[(usize, Event)],
        chains: &Chains,
        linker: &mut Linker,
    ) -> Result<()> {
        let event = events[at].1;
        match event {
            Event::Store(s, v) => {
                linker.take(self, v)?;
                let access = self.segment.loads.len() + s;
                let to = self.in_place(access, self.body.program[v].dtype, Class::Full);
                let to = to.ok_or_else(|| internal("a store that is not in place"))?;
                let y = linker.outside(to)?;
                if self.streams(s) {
                    linker.chain.streamed.get_or_insert(y);
                    linker.push(Do::Stream, y, false);
                } else {
                    linker.push(Do::Store, y, false);
                }
            }
            Event::Run(i) => match self.body.program[i].inst {
                Inst::Reduce(op, a) => {
                    linker.take(self, a.index())?;
                    let (dst, step) = self.fold_target(i)?;
                    linker.after.extend(step);
                    if self.space.col_reduced {
                        linker.chain.folds.push((op, dst));
                        linker.push(Do::Fold, (linker.chain.folds.len() - 1) as u8, false);
                    } else {
                        let y = linker.outside(dst)?;
                        linker.push(Do::SumRows, y, false);
                    }
                }
                _ => {
                    self.link_element(i, linker)?;
                    self.keep(i, at, events, chains, linker)?;
                }
            },
        }
        // What nobody in the chain reads again is forgotten.
        let gone: Vec<usize> = linker.remembered.keys().copied().collect();
        for v in gone {
            let later = |k: usize| chains.of[k] == chains.of[at] && self.reads(events[k].1, v) > 0;
            if !(at + 1..events.len()).any(later)
                && let Some(y) = linker.remembered.remove(&v)
            {
                linker.free.push(y);
            }
        }
        Ok(())
    }

    /// Computes an element value into the hand.
    fn link_element(&self, i: usize, linker: &mut Linker) -> Result<()> {
        let instr = &self.body.program[i];
        match instr.inst {
            Inst::Unary(op, a) => {
                linker.take(self, a.index())?;
                linker.push(Do::Unary(op), 0, false);
            }
            Inst::Binary(op, a, b) => {
                let (a, b) = (a.index(), b.index());
                let (first, second) = Do::binary(op).ok_or_else(|| internal("a function no chain has"))?;
                let (what, other) = if linker.hand == Some(b) && a != b { (second, a) } else { (first, b) };
                linker.take(self, if other == b { a } else { b })?;
                let (y, one) = linker.operand(self, other)?;
                linker.push(what, y, one);
            }
            Inst::Where(c, a, b) => {
                let (a, b) = (a.index(), b.index());
                let (what, other) =
                    if linker.hand == Some(b) && a != b { (Do::Replace, a) } else { (Do::Keep, b) };
                linker.take(self, if other == b { a } else { b })?;
                let (y, one) = linker.operand(self, other)?;
                let (mask, _) = linker.operand(self, c.index())?;
                linker.chain.masks |= 1 << mask;
                linker.chain.links.push(Link { what, y, mask, one });
            }
            Inst::Cast(a) => {
                linker.take(self, a.index())?;
                if matches!(instr.dtype, DType::F16 | DType::BF16) {
                    linker.push(Do::Round(instr.dtype), 0, false);
                }
            }
            _ => return Err(internal("an instruction no chain has")),
        }
        linker.hand = Some(i);
        Ok(())
    }

    /// Decides where the value at hand, just computed, is found later: in memory if anything outside the chain
    /// reads it, remembered if more than the next instruction does.
    fn keep(
        &mut self,
        i: usize,
        at: usize,
        events: &[(usize, Event)],
        chains: &Chains,
        linker: &mut Linker,
    ) -> Result<()> {
        let chain = chains.of[at];
        let outside = (0..events.len()).any(|k| chains.of[k] != chain && self.reads(events[k].1, i) > 0);
        if outside {
            let register = self.new_register(i);
            self.values[i] = register;
            let y = linker.outside(register)?;
            linker.push(Do::Store, y, false);
            return Ok(());
        }
        self.values[i] = Operand::NONE;
        let mut readers = 0;
        let mut next = None;
        for k in (at + 1..events.len()).filter(|&k| chains.of[k] == chain) {
            let element = matches!(events[k].1, Event::Run(j) if self.levels[j] == Level::Element);
            if element || self.reads(events[k].1, i) == 0 {
                next.get_or_insert(k);
            }
            if next.is_some() {
                readers += self.reads(events[k].1, i);
            }
        }
        let in_hand = readers == 0 || (readers == 1 && next.is_some_and(|k| self.takes(events[k].1, i)));
        if !in_hand {
            let y = linker.free.pop().unwrap_or_else(|| {
                linker.chain.remembered += 1;
                linker.chain.remembered as u8 - 1
            });
            linker.remembered.insert(i, y);
            // The number among all operands is known when those outside are.
            linker.chain.links.push(Link { what: Do::Store, y: REMEMBER + y, mask: 0, one: false });
        }
        Ok(())
    }

    /// Whether an event that reads the value can have it from the hand.
    fn takes(&self, event: Event, v: usize) -> bool {
        let Event::Run(i) = event else { return self.reads(event, v) > 0 };
        match self.body.program[i].inst {
            // The truth values are read from memory.
            Inst::Where(_, a, b) => a.index() == v || b.index() == v,
            _ => self.reads(event, v) > 0,
        }
    }

    /// Ends a chain.
    pub(super) fn finish_chain(&mut self, linker: Linker, steps: &mut Vec<Step>) {
        let mut chain = linker.chain;
        let outside = chain.outside.len() as u8;
        for link in &mut chain.links {
            if link.y >= REMEMBER {
                link.y = link.y - REMEMBER + outside;
            }
        }
        let none = Operand::NONE;
        let code = Code::Chain(self.chains.len() as u32);
        steps.push(Step { code, class: Class::Full, dst: none, a: none, b: none, c: none });
        steps.extend(linker.after);
        self.chains.push(chain);
    }

    /// Says which chains ask for memory ahead. The last to read a row of memory asks for that of the tile below: it is
    /// the one that writes, so that reading and writing overlap.
    pub(super) fn look_ahead(&mut self) {
        let mut asked = FxHashSet::default();
        for chain in self.chains.iter_mut().rev() {
            for (y, operand) in chain.outside.iter().enumerate() {
                let Place::Access(access) = operand.place else { continue };
                let bytes = operand.rs * 4 * self.rows as isize;
                let read = matches!(self.space.accesses[access as usize].base, Base::Read(_));
                if let Ok(bytes) = i32::try_from(bytes)
                    && self.resident
                    && self.space.col_reduced
                    && (operand.class, read) == (Class::Full, true)
                    && chain.masks & (1 << y) == 0
                    && asked.insert(access)
                {
                    chain.ahead.push((y as u8, bytes));
                }
            }
        }
    }
}

/// Operands from this number on are remembered ones, while a chain is made.
const REMEMBER: u8 = 128;

impl Linker {
    fn push(&mut self, what: Do, y: u8, one: bool) {
        self.chain.links.push(Link { what, y, mask: 0, one });
    }

    /// The number of an operand outside.
    fn outside(&mut self, operand: Operand) -> Result<u8> {
        let same = |o: &Operand| match (o.place, operand.place) {
            (Place::Scratch(a), Place::Scratch(b)) | (Place::Access(a), Place::Access(b)) => {
                a == b && o.class == operand.class
            }
            _ => false,
        };
        if let Some(at) = self.chain.outside.iter().position(same) {
            return Ok(at as u8);
        }
        if self.chain.outside.len() == OUTSIDE {
            return Err(internal("a chain with too many operands"));
        }
        self.chain.outside.push(operand);
        Ok(self.chain.outside.len() as u8 - 1)
    }

    /// The number of a value, and whether it is one for the whole row.
    fn operand(&mut self, builder: &Builder, v: usize) -> Result<(u8, bool)> {
        if let Some(y) = self.remembered.get(&v) {
            return Ok((REMEMBER + y, false));
        }
        let operand = builder.values[v];
        if matches!(operand.place, Place::None) {
            return Err(internal("a value that is nowhere"));
        }
        Ok((self.outside(operand)?, matches!(operand.class, Class::One | Class::Row)))
    }

    /// Takes a value in hand.
    fn take(&mut self, builder: &Builder, v: usize) -> Result<()> {
        if self.hand != Some(v) {
            let (y, one) = self.operand(builder, v)?;
            self.push(Do::Load, y, one);
            self.hand = Some(v);
        }
        Ok(())
    }
}
