//! Gives the instructions of a chain registers and writes them one by one. What does not fit the registers waits on the
//! stack: the value that is needed last makes room.

use super::Call;
use super::trace::{Id, Node, One, Two};
use super::write::{Home, W, Writer};
use super::x86::*;
use crate::graph::Reduce;

impl Writer<'_> {
    pub fn count_uses(&mut self, list: &[Id]) {
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
    pub fn slot(&mut self) -> i32 {
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

    pub fn memory(&mut self, home: Home) -> Mem {
        match home {
            Home::Pool(offset) => Mem::Pool(offset),
            Home::Stack(offset) => Mem::Base(RSP, offset),
            Home::Operand(y) => self.operand_at(y, 2),
        }
    }

    /// A register that holds nothing which is needed; the value that is needed last makes room.
    pub fn free(&mut self) -> u8 {
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

    pub fn instruction(&mut self, id: Id) {
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
    pub fn fold(&mut self, fold: usize, sum: u8, x: u8) {
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
