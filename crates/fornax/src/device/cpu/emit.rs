//! Writes the steps of a segment's program: the order of each pass, registers by linear scan, values computed
//! straight into the memory they are stored to, and nothing overwritten that is still read.

use super::compile::{Builder, Parked, internal};
use super::link::Linker;
use super::numeric::register;
use super::reduce::running;
use super::space::{Base, Class};
use super::tile::{Accumulator, Code, Operand, Place, Program, Step, constant};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::graph::{Reduce, Unary};
use crate::kernel::{Inst, Level, Val};
use rustc_hash::FxHashMap;

/// Bytes from which on a result is written past the caches.
const STREAMED: usize = 8 << 20;

/// What a pass does, in order.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Event {
    Run(usize),
    /// To the memory of a store, a value: the store's, or one that is parked there.
    Store(usize, usize),
}

impl Builder<'_> {
    /// The values an instruction reads.
    pub fn operands(&self, i: usize) -> Vec<usize> {
        self.body.program[i].inst.operands().iter().map(|v| v.index()).collect()
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

    pub fn new_register(&mut self, v: usize) -> Operand {
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
    pub fn in_place(&self, access: usize, dtype: DType, class: Class) -> Option<Operand> {
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
        if let (Inst::Load(n), None) = (&instr.inst, into)
            && let Some(operand) = self.in_place(*n, instr.dtype, class)
        {
            self.values[i] = operand;
            return Ok(());
        }
        let value = |this: &Self, v: Val| this.values[v.index()];
        let mut step = Step {
            code: Code::Copy(dtype),
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

    /// Where a reduction puts the result of a tile, its register being there already, and the number of its
    /// running value where the tile is not everything.
    fn result(&self, i: usize) -> Result<(u32, Option<u32>)> {
        let Place::Scratch(offset) = self.values[i].place else {
            return Err(internal("a reduction without a register"));
        };
        Ok((offset, self.accumulators.iter().position(|a| a.result == offset).map(|k| k as u32)))
    }

    /// Where a chain puts what a tile gives to a reduction, and the step that takes it in, if one is needed.
    pub fn fold_target(&mut self, i: usize) -> Result<(Operand, Option<Step>)> {
        let Inst::Reduce(op, _) = self.body.program[i].inst else {
            return Err(internal("not a reduction"));
        };
        let (result, running) = self.result(i)?;
        let (class, none) = (self.kept_class(), Operand::NONE);
        if running.is_none() {
            return Ok((Operand::scratch(result, class), None));
        }
        let dst = Operand::scratch(self.allocate(self.extent(class) * 4), class);
        let code = Code::Reduce { op, dtype: DType::F32, running };
        Ok((dst, Some(Step { code, class: Class::Full, dst, a: none, b: none, c: none })))
    }

    /// Emits a reduction's step of each tile.
    fn emit_reduce(&mut self, i: usize, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(op, a) = self.body.program[i].inst else {
            return Err(internal("not a reduction"));
        };
        let dtype = register(self.dtype(a));
        let arg = matches!(op, Reduce::ArgMax | Reduce::ArgMin);
        let class = self.kept_class();
        let n = self.extent(class);
        let (result, running) = self.result(i)?;
        // What a tile gives: the result itself if the tile is everything, else something to be taken in.
        let (dst, positions) = match (running, arg) {
            (None, false) => (result, 0),
            (None, true) => (self.allocate(n * dtype.size()), result),
            (Some(_), _) => (self.allocate(n * dtype.size()), if arg { self.allocate(n * 8) } else { 0 }),
        };
        steps.push(Step {
            code: Code::Reduce { op, dtype, running },
            class: Class::Full,
            dst: Operand::scratch(dst, class),
            a: self.values[a.index()],
            b: Operand::NONE,
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

    /// Whether a store waits for the end of the last pass, because its memory is read before.
    fn comes_last(&self, store: usize) -> bool {
        self.may_alias(store) || self.parked.is_some_and(|p| p.store == store)
    }

    /// Finds a value that is costly to compute, is needed in two passes, and could be parked between them in memory
    /// that the last pass writes.
    fn park(&self) -> Option<Parked> {
        let last = self.passes - 1;
        let runs = |pass: usize, v: usize| self.order(pass).contains(&Event::Run(v));
        let free = (0..self.body.stores.len()).find(|&s| {
            let v = self.body.stores[s].index();
            let writes =
                self.segment.stores.iter().filter(|o| o.write == self.segment.stores[s].write).count();
            let access = self.segment.loads.len() + s;
            self.levels[v] == Level::Element
                && self.stages[v] == last
                && self.body.program[v].dtype == DType::F32
                && writes == 1
                && !self.may_alias(s)
                && self.in_place(access, DType::F32, Class::Full).is_some()
        })?;
        (0..self.values.len()).find_map(|v| {
            let instr = &self.body.program[v];
            let costly =
                matches!(instr.inst, Inst::Unary(Unary::Exp | Unary::Log | Unary::Tanh | Unary::Erf, _));
            let fits = instr.dtype == DType::F32 && self.levels[v] == Level::Element && self.everywhere(v);
            let pass = self.stages[v];
            (costly && fits && pass < last && runs(pass, v) && runs(last, v)).then_some(Parked {
                value: v,
                store: free,
                pass,
            })
        })
    }

    /// Whether a store is so large that nobody will find it in a cache later.
    pub fn streams(&self, s: usize) -> bool {
        let port = self.kernel.writes[self.segment.stores[s].write];
        let plain = matches!(self.kernel.body, crate::kernel::Body::Loop(_)) && !self.comes_last(s);
        plain && port.dtype == DType::F32 && port.len * 4 >= STREAMED
    }

    /// Emits the store of a value that lies somewhere to the memory of store `s`.
    fn emit_store(&mut self, s: usize, v: usize, steps: &mut Vec<Step>) {
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
            Some(dst) if class == Class::Full && self.streams(s) => (Code::Stream, dst),
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
            let when = if self.comes_last(s) { last } else { self.stages[v.index()] };
            if when == pass {
                stores.push(s);
                wanted[v.index()] = true;
            }
        }
        for (i, instr) in self.body.program.iter().enumerate() {
            if let Inst::Reduce(_, a) = instr.inst
                && self.stages[a.index()] == pass
            {
                wanted[i] = true;
            }
        }
        let parked = |i: usize| self.parked.is_some_and(|p| p.value == i && p.pass < pass);
        for i in (0..n).rev() {
            let reduce = matches!(self.body.program[i].inst, Inst::Reduce(..));
            if wanted[i] && !parked(i) && (self.levels[i] == Level::Element || reduce) {
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
            if !wanted[i] || parked(i) || !(reduce || self.levels[i] == Level::Element) {
                continue;
            }
            // A resident tile still holds what earlier passes computed.
            let now = if reduce { self.stages[i] - 1 == pass } else { true };
            if now {
                events.push(Event::Run(i));
            }
            if let Some(p) = self.parked
                && (p.value, p.pass) == (i, pass)
            {
                events.push(Event::Store(p.store, i));
            }
            for &s in &stores {
                if self.body.stores[s].index() == i && !self.comes_last(s) {
                    events.push(Event::Store(s, i));
                }
            }
        }
        let last = stores.iter().filter(|&&s| self.comes_last(s));
        events.extend(last.map(|&s| Event::Store(s, self.body.stores[s].index())));
        // A value of a lower level may be stored everywhere.
        events
    }

    pub fn build(mut self) -> Result<Program> {
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
                    if let Event::Run(i) = event
                        && std::mem::replace(&mut done[i], true)
                    {
                        continue;
                    }
                    all.push((pass, event));
                }
            }
            passes = vec![vec![]; self.passes];
            self.emit_events(&all, &mut passes)?;
        } else {
            self.parked = if self.passes > 1 { self.park() } else { None };
            for pass in 0..self.passes {
                if let Some(p) = self.parked
                    && let Some(operand) =
                        self.in_place(self.segment.loads.len() + p.store, DType::F32, Class::Full)
                    && pass > p.pass
                {
                    self.values[p.value] = operand;
                }
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
                self.emit_store(s, v, &mut kept[last]);
            } else if level == Level::Uniform {
                let mut steps = vec![];
                self.emit_store(s, v, &mut steps);
                passes[0].append(&mut steps);
            }
        }
        self.look_ahead();
        let sizes = (0..self.space.accesses.len()).map(|a| self.element_size(a)).collect();
        Ok(Program {
            tile_rows: self.rows,
            tile_cols: self.cols,
            uniform,
            kept,
            passes,
            chains: self.chains,
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
                Event::Store(_, v) => last_use[v] = at,
            }
        }
        let chains = self.find_chains(events);
        // Values that can be computed where they are stored. A chain runs after what lies between its events.
        let mut direct: FxHashMap<usize, usize> = FxHashMap::default();
        for (_, event) in events {
            if let Event::Store(s, v) = *event {
                let made = events.iter().position(|(_, e)| *e == Event::Run(v));
                let alone = made.is_some_and(|at| !chains.open(at));
                if alone && !direct.contains_key(&v) && self.can_go_direct(s, events, &last_use) {
                    direct.insert(v, s);
                }
            }
        }
        let mut dying: Vec<Vec<usize>> = vec![vec![]; events.len()];
        for (at, (_, event)) in events.iter().enumerate() {
            if let Event::Run(i) = *event
                && self.levels[i] == Level::Element
            {
                dying[last_use[i].max(at)].push(i);
            }
        }
        let mut linker = Linker::default();
        let mut dead = vec![];
        for (at, (pass, event)) in events.iter().enumerate() {
            let steps = &mut lists[*pass];
            match *event {
                _ if chains.has(at) => {
                    self.link(at, events, &chains, &mut linker)?;
                    if chains.ends(at) {
                        self.finish_chain(std::mem::take(&mut linker), steps);
                    }
                }
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
                Event::Store(s, v) if direct.get(&v) == Some(&s) => {}
                Event::Store(s, v) => self.emit_store(s, v, steps),
            }
            dead.append(&mut dying[at]);
            // What an open chain reads must not be overwritten by what runs before it.
            if !chains.open(at) || chains.ends(at) {
                for i in std::mem::take(&mut dead) {
                    if let Place::Scratch(offset) = self.values[i].place {
                        let bytes = self.bytes(i);
                        self.release(offset, bytes);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a stored value may be computed straight into its memory: the loops can write there, and
    /// nothing that is still needed is overwritten.
    fn can_go_direct(&self, s: usize, events: &[(usize, Event)], last_use: &[usize]) -> bool {
        let v = self.body.stores[s].index();
        let instr = &self.body.program[v];
        let access = self.segment.loads.len() + s;
        let Some(made) = events.iter().position(|(_, e)| *e == Event::Run(v)) else { return false };
        let reachable = self.classes[v] == Class::Full
            && !self.streams(s)
            && self.parked.is_none_or(|p| p.store != s)
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

    pub fn is_in_place_load(&self, i: usize) -> bool {
        let instr = &self.body.program[i];
        match instr.inst {
            Inst::Load(n) => self.in_place(n, instr.dtype, self.classes[i]).is_some(),
            _ => false,
        }
    }
}
