//! Gives the instructions of a chain registers and writes them as a loop over the vectors of a row. Values that are the
//! same for the whole row are computed before the loop; what does not fit the registers waits on the stack.

use super::Call;
use super::trace::{Id, Node, One, Two};
use super::x86::*;
use crate::graph::Reduce;
use rustc_hash::FxHashMap;

/// General registers that hold addresses of operands; further ones are fetched when they are needed.
const POINTERS: [u8; 9] = [8, 9, 10, 11, 3, 12, 13, 14, 15];
/// Those among them that belong to the caller.
const SAVED: [u8; 5] = [3, 12, 13, 14, 15];
/// Vector registers.
const VECTORS: usize = 16;
/// The most registers that hold reductions.
const SUMS: usize = 8;
/// Lanes of a vector.
const W: usize = 8;

/// The code of a loop over a row, and where it begins.
pub(super) fn assemble(nodes: &[Node], folds: &[Reduce]) -> (Vec<u8>, usize) {
    let mut live = vec![false; nodes.len()];
    for (id, node) in nodes.iter().enumerate().rev() {
        if live[id] || node.acts() {
            live[id] = true;
            node.operands().iter().for_each(|&o| live[o] = true);
        }
    }
    let mut invariant = vec![false; nodes.len()];
    for (id, node) in nodes.iter().enumerate() {
        invariant[id] = match node {
            Node::Constant(_) | Node::Spread(_) | Node::SpreadBytes(_) => true,
            Node::Load(_) | Node::Bytes(_) => false,
            _ => !node.acts() && node.operands().iter().all(|&o| invariant[o]),
        };
    }
    let computed = |id: &Id| live[*id] && !matches!(nodes[*id], Node::Constant(_) | Node::Load(_));
    let (before, body): (Vec<Id>, Vec<Id>) = (0..nodes.len()).filter(computed).partition(|&id| invariant[id]);
    // Vectors of one turn: short bodies take several, so that counting costs little and sums do not wait.
    let turns = [(4, 24), (2, 64), (1, usize::MAX)];
    let fits = |&&(copies, most): &&(usize, usize)| body.len() <= most && copies * folds.len() <= SUMS;
    let copies = turns.iter().find(fits).map_or(1, |t| t.0);
    let new = |pinned| {
        let mut writer = Writer::new(nodes, folds, copies, pinned);
        writer.write(&before, &body);
        writer
    };
    let first = new(vec![]);
    // Registers that nobody needs hold what the loop reads most.
    let mut shared: Vec<(usize, Id)> = (0..nodes.len())
        .filter(|&id| invariant[id] && live[id])
        .map(|id| (body.iter().flat_map(|&b| nodes[b].operands()).filter(|&o| o == id).count(), id))
        .filter(|(uses, _)| *uses > 0)
        .collect();
    shared.sort_by_key(|&(uses, id)| (std::cmp::Reverse(uses), id));
    let spare = first.highest + 1..first.sums_from();
    let pinned = shared.iter().map(|&(_, id)| id).zip(spare.rev().map(|r| r as u8)).collect();
    let last = new(pinned);
    (last.code.bytes, last.entry)
}

/// Where a value lies that is in no register.
#[derive(Clone, Copy)]
enum Home {
    Pool(usize),
    Stack(i32),
    Operand(u8),
}

struct Writer<'a> {
    nodes: &'a [Node],
    folds: &'a [Reduce],
    copies: usize,
    pinned: Vec<(Id, u8)>,
    code: Code,
    entry: usize,
    pool: FxHashMap<u32, usize>,
    /// The registers of operands' addresses.
    pointers: FxHashMap<u8, u8>,
    /// The operands.
    operands: Vec<u8>,
    /// For each value where the instructions stand that use it.
    uses: Vec<Vec<usize>>,
    home: Vec<Option<Home>>,
    register: Vec<Option<u8>>,
    holds: [Option<Id>; VECTORS],
    /// Registers of the instruction that is being written.
    locked: u16,
    /// The highest register that was taken for a while.
    highest: usize,
    /// Bytes of the stack.
    frame: i32,
    /// The place in the list of instructions, and the number of the vector in a turn.
    at: usize,
    copy: usize,
}

impl<'a> Writer<'a> {
    fn new(nodes: &'a [Node], folds: &'a [Reduce], copies: usize, pinned: Vec<(Id, u8)>) -> Writer<'a> {
        Writer {
            nodes,
            folds,
            copies,
            pinned,
            code: Code::default(),
            entry: 0,
            pool: FxHashMap::default(),
            pointers: FxHashMap::default(),
            operands: vec![],
            uses: vec![vec![]; nodes.len()],
            home: vec![None; nodes.len()],
            register: vec![None; nodes.len()],
            holds: [None; VECTORS],
            locked: 0,
            highest: 0,
            frame: 0,
            at: 0,
            copy: 0,
        }
    }

    /// The first register that holds a reduction.
    fn sums_from(&self) -> usize {
        VECTORS - self.copies * self.folds.len()
    }

    /// The register of a reduction in the vector at hand.
    fn sum(&self, fold: usize, copy: usize) -> u8 {
        (self.sums_from() + fold * self.copies + copy) as u8
    }

    /// Puts numbers that instructions read before the code.
    fn write_pool(&mut self) {
        let constants = self.nodes.iter().enumerate().filter_map(|(id, node)| match node {
            Node::Constant(bits) => Some((Some(id), *bits)),
            _ => None,
        });
        let units = self.folds.iter().map(|op| (None, super::super::chain::unit(*op).to_bits()));
        for (id, bits) in constants.chain(units).collect::<Vec<_>>() {
            let bytes = &mut self.code.bytes;
            let offset = *self.pool.entry(bits).or_insert_with(|| {
                let offset = bytes.len();
                (0..W).for_each(|_| bytes.extend(bits.to_le_bytes()));
                offset
            });
            if let Some(id) = id {
                self.home[id] = Some(Home::Pool(offset));
            }
        }
    }

    /// Writes all: `before` runs once, `body` for every vector.
    fn write(&mut self, before: &[Id], body: &[Id]) {
        self.write_pool();
        self.entry = self.code.bytes.len();
        self.code.push(RBP);
        self.code.general(0x8B, RBP, Rm::Reg(RSP));
        SAVED.iter().for_each(|&r| self.code.push(r));
        // sub rsp, frame; and rsp, -32
        self.code.bytes.extend([0x48, 0x81, 0xEC, 0, 0, 0, 0]);
        let frame_at = self.code.bytes.len();
        self.code.bytes.extend([0x48, 0x83, 0xE4, 0xE0]);
        for (id, node) in self.nodes.iter().enumerate() {
            let Some(y) = node.memory() else { continue };
            if let Node::Load(y) = *node {
                self.home[id] = Some(Home::Operand(y));
            }
            let along = !matches!(node, Node::Spread(_) | Node::SpreadBytes(_));
            if let Some(&pointer) = POINTERS.get(self.pointers.len())
                && along
            {
                self.pointers.entry(y).or_insert(pointer);
            }
            if !self.operands.contains(&y) {
                self.operands.push(y);
            }
        }
        let row = self.code.bytes.len();
        for y in self.operands.clone() {
            if let Some(&pointer) = self.pointers.get(&y) {
                self.code.load(pointer, Call::at(y));
            }
        }
        self.code.load(RCX, Call::START);
        self.code.load(RSI, Call::END);
        self.before(before);
        for fold in 0..self.folds.len() {
            let unit = self.pool[&super::super::chain::unit(self.folds[fold]).to_bits()];
            for copy in 0..self.copies {
                let sum = self.sum(fold, copy);
                self.code.vector(LOAD, sum, 0, Rm::Mem(Mem::Pool(unit)));
            }
        }
        self.count_uses(body);
        self.turns(body, self.copies);
        if self.copies > 1 {
            self.turns(body, 1);
        }
        self.finish_row();
        // sub rows, 1
        self.code.general(0x83, 5, Rm::Mem(Call::ROWS));
        self.code.bytes.push(1);
        let back = self.code.jump(NOT_ZERO);
        self.code.land(back, row);
        self.leave();
        let frame = self.frame.to_le_bytes();
        self.code.bytes[frame_at - 4..frame_at].copy_from_slice(&frame);
    }

    /// Computes what is the same for the whole row and puts it where the loop finds it.
    fn before(&mut self, list: &[Id]) {
        self.count_uses(list);
        for (at, &id) in list.iter().enumerate() {
            self.at = at;
            self.instruction(id);
            if let Some(r) = self.register[id] {
                let slot = self.slot();
                self.code.vector(STORE, r, 0, Rm::Mem(Mem::Base(RSP, slot)));
                self.home[id] = Some(Home::Stack(slot));
            }
        }
        self.register.fill(None);
        self.holds = [None; VECTORS];
        for (id, r) in self.pinned.clone() {
            if let Some(home) = self.home[id] {
                let from = self.memory(home);
                self.code.vector(LOAD, r, 0, Rm::Mem(from));
                self.register[id] = Some(r);
                self.holds[r as usize] = Some(id);
            }
        }
    }

    /// A loop of turns of some vectors.
    fn turns(&mut self, body: &[Id], copies: usize) {
        let step = (copies * W) as i32;
        // lea rax, [rcx + step]; cmp rax, rsi
        let compare = |code: &mut Code| {
            code.general(0x8D, RAX, Rm::Mem(Mem::Base(RCX, step)));
            code.general(0x3B, RAX, Rm::Reg(RSI));
        };
        compare(&mut self.code);
        let skip = self.code.jump(ABOVE);
        let top = self.code.bytes.len();
        for copy in 0..copies {
            self.copy = copy;
            for id in body {
                // What was put on the stack belongs to the vector before.
                self.home[*id] = None;
            }
            for (at, &id) in body.iter().enumerate() {
                self.at = at;
                self.instruction(id);
            }
        }
        // add rcx, step
        self.code.bytes.extend([0x48, 0x83, 0xC1, step as u8]);
        compare(&mut self.code);
        let back = self.code.jump(NOT_ABOVE);
        self.code.land(back, top);
        let end = self.code.bytes.len();
        self.code.land(skip, end);
    }

    /// Writes the reductions of a row, and goes to the next.
    fn finish_row(&mut self) {
        for fold in 0..self.folds.len() {
            let sum = self.sum(fold, 0);
            for copy in 1..self.copies {
                self.locked = 0;
                self.fold(fold, sum, self.sum(fold, copy));
            }
            // The upper half on the lower, then half of that, then one lane on the other.
            for step in 0..3 {
                self.locked = 0;
                let other = self.free();
                match step {
                    0 => self.code.vector(UPPER, sum, 0, Rm::Reg(other)),
                    1 => self.code.vector(PERMUTE.with(0x4E), other, 0, Rm::Reg(sum)),
                    _ => self.code.vector(PERMUTE.with(0xB1), other, 0, Rm::Reg(sum)),
                }
                self.fold(fold, sum, other);
            }
            self.code.load(RAX, Call::result(fold));
            self.code.vector(STORE_ONE, sum, 0, Rm::Mem(Mem::Base(RAX, 0)));
            self.code.add(Call::result(fold), 4);
        }
        for y in self.operands.clone() {
            self.code.load(RAX, Call::step(y));
            self.code.general(0x01, RAX, Rm::Mem(Call::at(y)));
        }
    }

    /// Says how far the rows went, and returns.
    fn leave(&mut self) {
        self.code.general(0x89, RCX, Rm::Mem(Call::DONE));
        // vzeroupper; lea rsp, [rbp - 40]
        self.code.bytes.extend([0xC5, 0xF8, 0x77]);
        self.code.general(0x8D, RSP, Rm::Mem(Mem::Base(RBP, -8 * SAVED.len() as i32)));
        SAVED.iter().rev().for_each(|&r| self.code.pop(r));
        self.code.pop(RBP);
        self.code.bytes.push(0xC3);
    }

    fn count_uses(&mut self, list: &[Id]) {
        self.uses.iter_mut().for_each(Vec::clear);
        for (at, &id) in list.iter().enumerate() {
            self.nodes[id].operands().iter().for_each(|&o| self.uses[o].push(at));
        }
    }

    /// The next instruction that uses a value, after the one being written.
    fn next_use(&self, id: Id) -> Option<usize> {
        self.uses[id].iter().copied().find(|&at| at > self.at)
    }

    /// Room for a vector on the stack.
    fn slot(&mut self) -> i32 {
        self.frame += 4 * W as i32;
        self.frame - 4 * W as i32
    }

    /// The address of operand `y`, whose elements have 1 << shift bytes.
    fn operand_at(&mut self, y: u8, shift: u8) -> Mem {
        let pointer = self.pointers.get(&y).copied().unwrap_or_else(|| {
            self.code.load(RAX, Call::at(y));
            RAX
        });
        Mem::Along(pointer, shift, ((self.copy * W) << shift) as i32)
    }

    fn memory(&mut self, home: Home) -> Mem {
        match home {
            Home::Pool(offset) => Mem::Pool(offset),
            Home::Stack(offset) => Mem::Base(RSP, offset),
            Home::Operand(y) => self.operand_at(y, 2),
        }
    }

    /// A register that holds nothing which is needed; the value that is needed last makes room.
    fn free(&mut self) -> u8 {
        let end = self.sums_from();
        let usable =
            |r: &usize| self.locked & (1 << r) == 0 && !self.pinned.iter().any(|p| p.1 as usize == *r);
        debug_assert!((0..end).any(|r| usable(&r)), "no instruction takes so many registers");
        let empty = (0..end).filter(usable).find(|&r| self.holds[r].is_none());
        let r = empty.unwrap_or_else(|| {
            let last = |r: &usize| self.holds[*r].and_then(|id| self.next_use(id)).unwrap_or(usize::MAX);
            (0..end).filter(usable).max_by_key(last).unwrap_or(0)
        });
        if let Some(id) = self.holds[r].take() {
            if self.home[id].is_none() {
                let slot = self.slot();
                self.code.vector(STORE, r as u8, 0, Rm::Mem(Mem::Base(RSP, slot)));
                self.home[id] = Some(Home::Stack(slot));
            }
            self.register[id] = None;
        }
        self.highest = self.highest.max(r);
        self.locked |= 1 << r;
        r as u8
    }

    /// The value in a register.
    fn value(&mut self, id: Id) -> u8 {
        if let Some(r) = self.register[id] {
            self.locked |= 1 << r;
            return r;
        }
        let r = self.free();
        if let Some(home) = self.home[id] {
            let from = self.memory(home);
            self.code.vector(LOAD, r, 0, Rm::Mem(from));
        }
        self.hold(id, r);
        r
    }

    /// The value where it lies, unless it is read from an operand and needed again.
    fn operand(&mut self, id: Id) -> Rm {
        match (self.register[id], self.home[id]) {
            (None, Some(Home::Operand(_))) if self.next_use(id).is_some() => Rm::Reg(self.value(id)),
            (None, Some(home)) => Rm::Mem(self.memory(home)),
            _ => Rm::Reg(self.value(id)),
        }
    }

    fn hold(&mut self, id: Id, r: u8) {
        self.holds[r as usize] = Some(id);
        self.register[id] = Some(r);
    }

    /// Whether nobody needs the register of a value after the instruction being written.
    fn dies(&self, id: Id) -> bool {
        self.next_use(id).is_none() && !self.pinned.iter().any(|p| p.0 == id)
    }

    /// Frees the registers of values that the instruction being written is the last to use.
    fn release(&mut self, operands: &[Id]) {
        for &id in operands {
            if let Some(r) = self.register[id]
                && self.dies(id)
            {
                self.register[id] = None;
                self.holds[r as usize] = None;
                self.locked &= !(1 << r);
            }
        }
    }

    /// A register for the result of the instruction being written, whose operands are at hand.
    fn result(&mut self, id: Id) -> u8 {
        let operands = self.nodes[id].operands();
        self.release(&operands);
        let r = self.free();
        self.hold(id, r);
        r
    }

    fn instruction(&mut self, id: Id) {
        self.locked = 0;
        let node = self.nodes[id];
        match node {
            // They lie in memory already.
            Node::Constant(_) | Node::Load(_) => {}
            Node::Spread(y) | Node::SpreadBytes(y) => {
                let r = self.result(id);
                self.code.load(RAX, Call::at(y));
                let op = if matches!(node, Node::Spread(_)) { BROADCAST } else { BROADCAST_BYTE };
                self.code.vector(op, r, 0, Rm::Mem(Mem::Base(RAX, 0)));
            }
            Node::Bytes(y) => {
                let r = self.result(id);
                let from = self.operand_at(y, 0);
                self.code.vector(BYTES_TO_INTS, r, 0, Rm::Mem(from));
            }
            Node::One(op, a) => self.one(id, op, a),
            Node::Two(op, a, b) => {
                let (op, commutes) = encoding(op);
                let swapped = commutes && self.register[a].is_none() && self.register[b].is_some();
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let a = self.value(a);
                let b = self.operand(b);
                let r = self.result(id);
                self.code.vector(op, r, a, b);
            }
            Node::Fma(a, b, c) => self.fma(id, a, b, c),
            Node::Select { mask, yes, no } => {
                let (mask, no) = (self.value(mask), self.value(no));
                let yes = self.operand(yes);
                let r = self.result(id);
                self.code.vector(BLEND.with(mask << 4), r, no, yes);
            }
            Node::Store(y, a) | Node::Stream(y, a) => {
                let op = if matches!(node, Node::Store(..)) { STORE } else { STREAM };
                let a = self.value(a);
                let to = self.operand_at(y, 2);
                self.code.vector(op, a, 0, Rm::Mem(to));
            }
            Node::SumRows(y, a) => {
                let (a, sum) = (self.value(a), self.free());
                let to = self.operand_at(y, 2);
                self.code.vector(ADD, sum, a, Rm::Mem(to));
                self.code.vector(STORE, sum, 0, Rm::Mem(to));
            }
            // A line has two vectors.
            Node::Ahead(y, bytes) if self.copy.is_multiple_of(2) => {
                if let Mem::Along(base, shift, at) = self.operand_at(y, 2)
                    && let Some(at) = at.checked_add(bytes)
                {
                    self.code.prefetch(Mem::Along(base, shift, at));
                }
            }
            Node::Ahead(..) => {}
            Node::Fold(fold, a) => {
                let a = self.value(a);
                self.fold(fold as usize, self.sum(fold as usize, self.copy), a);
            }
        }
        if node.acts() {
            self.release(&node.operands());
        }
    }

    fn one(&mut self, id: Id, op: One, a: Id) {
        let plain = match op {
            One::ShiftLeft(n) | One::ShiftRight(n) => {
                let a = self.value(a);
                let r = self.result(id);
                // The opcode's extension stands where a register would.
                let kind = if matches!(op, One::ShiftLeft(_)) { 6 } else { 4 };
                return self.code.vector(SHIFT.with(n), kind, r, Rm::Reg(a));
            }
            One::Half => {
                let a = self.value(a);
                let r = self.result(id);
                self.code.vector(TO_HALF, a, 0, Rm::Reg(r));
                return self.code.vector(FROM_HALF, r, 0, Rm::Reg(r));
            }
            One::Sqrt => Op::new(0x51),
            One::Round(mode) => Op::wide(3, 0x08).with(mode),
            One::ToInt => Op::wide(1, 0x5B),
            One::ToFloat => Op::new(0x5B),
        };
        let a = self.operand(a);
        let r = self.result(id);
        self.code.vector(plain, r, 0, a);
    }

    /// `a * b + c` in the register of an operand that nobody needs any more, or of a copy.
    fn fma(&mut self, id: Id, a: Id, b: Id, c: Id) {
        let dies = |this: &Self, x: Id, others: [Id; 2]| {
            this.register[x].is_some() && this.dies(x) && !others.contains(&x)
        };
        if dies(self, c, [a, b]) {
            let (a, b) = if self.register[a].is_none() { (b, a) } else { (a, b) };
            let (sum, first) = (self.value(c), self.value(a));
            let second = self.operand(b);
            self.code.vector(FMA_231, sum, first, second);
            return self.take_over(id, sum, c);
        }
        let (a, b) = if dies(self, b, [a, c]) && !dies(self, a, [b, c]) { (b, a) } else { (a, b) };
        if dies(self, a, [b, c]) {
            let (product, first) = (self.value(a), self.value(b));
            let third = self.operand(c);
            self.code.vector(FMA_213, product, first, third);
            return self.take_over(id, product, a);
        }
        let (from, first, product) = (self.value(a), self.value(b), self.free());
        self.code.vector(MOVE, product, 0, Rm::Reg(from));
        let third = self.operand(c);
        self.code.vector(FMA_213, product, first, third);
        self.release(&[a, b, c]);
        self.hold(id, product);
    }

    /// The result lies in the register of an operand.
    fn take_over(&mut self, id: Id, r: u8, from: Id) {
        self.register[from] = None;
        self.release(&self.nodes[id].operands());
        self.hold(id, r);
    }

    /// Takes a register into a reduction.
    fn fold(&mut self, fold: usize, sum: u8, x: u8) {
        let extreme = match self.folds[fold] {
            Reduce::Max => MAX,
            Reduce::Min => MIN,
            _ => return self.code.vector(ADD, sum, sum, Rm::Reg(x)),
        };
        // NaN stays.
        self.locked |= 1 << x;
        let (nan, larger) = (self.free(), self.free());
        self.code.vector(UNEQUAL, nan, sum, Rm::Reg(sum));
        self.code.vector(extreme, larger, sum, Rm::Reg(x));
        self.code.vector(BLEND.with(nan << 4), sum, larger, Rm::Reg(sum));
    }
}

/// An instruction of two vectors, and whether they may be swapped.
fn encoding(op: Two) -> (Op, bool) {
    match op {
        Two::Add => (ADD, true),
        Two::Sub => (Op::new(0x5C), false),
        Two::Mul => (Op::new(0x59), true),
        Two::Div => (Op::new(0x5E), false),
        Two::Max => (MAX, false),
        Two::Min => (MIN, false),
        Two::And => (Op::new(0x54), true),
        Two::Or => (Op::new(0x56), true),
        Two::Xor => (Op::new(0x57), true),
        Two::AddInt => (Op::wide(1, 0xFE), true),
        Two::SubInt => (Op::wide(1, 0xFA), false),
        Two::EqualInt => (Op::wide(1, 0x76), true),
        Two::GreaterInt => (Op::wide(1, 0x66), false),
        Two::Less => (Op::new(0xC2).with(0x11), false),
        Two::LessEqual => (Op::new(0xC2).with(0x12), false),
        Two::Equal => (Op::new(0xC2).with(0), true),
        Two::Unequal => (UNEQUAL, true),
    }
}
