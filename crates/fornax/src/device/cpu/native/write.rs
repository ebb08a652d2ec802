//! Writes the instructions of a chain as loops over the rows of a tile and the vectors of a row. Values that are the same for
//! the whole row are computed before its loop. `registers` writes each instruction.

use super::Call;
use super::trace::{Id, Node};
use super::x86::*;
use crate::graph::Reduce;
use rustc_hash::FxHashMap;

/// General registers that hold addresses of operands; further ones are fetched when they are needed.
const POINTERS: [u8; 9] = [8, 9, 10, 11, 3, 12, 13, 14, 15];
/// Those among them that belong to the caller.
const SAVED: [u8; 5] = [3, 12, 13, 14, 15];
/// Vector registers.
pub(super) const VECTORS: usize = 16;
/// The most registers that hold reductions.
const SUMS: usize = 8;
/// Lanes of a vector.
pub(super) const W: usize = 8;

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
pub(super) enum Home {
    Pool(usize),
    Stack(i32),
    Operand(u8),
}

pub(super) struct Writer<'a> {
    pub nodes: &'a [Node],
    pub folds: &'a [Reduce],
    pub copies: usize,
    pub pinned: Vec<(Id, u8)>,
    pub code: Code,
    pub entry: usize,
    pub pool: FxHashMap<u32, usize>,
    /// The registers of operands' addresses.
    pub pointers: FxHashMap<u8, u8>,
    /// The operands.
    pub operands: Vec<u8>,
    /// For each value where the instructions stand that use it.
    pub uses: Vec<Vec<usize>>,
    pub home: Vec<Option<Home>>,
    pub register: Vec<Option<u8>>,
    pub holds: [Option<Id>; VECTORS],
    /// Registers of the instruction that is being written.
    pub locked: u16,
    /// The highest register that was taken for a while.
    pub highest: usize,
    /// Bytes of the stack.
    pub frame: i32,
    /// The place in the list of instructions, and the number of the vector in a turn.
    pub at: usize,
    pub copy: usize,
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
    pub fn sums_from(&self) -> usize {
        VECTORS - self.copies * self.folds.len()
    }

    /// The register of a reduction in the vector at hand.
    pub fn sum(&self, fold: usize, copy: usize) -> u8 {
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
}
