//! Writes AVX2 instructions as bytes: three-byte VEX prefixes throughout, and addresses that always have a base and an
//! index byte.

/// General registers, by their numbers.
pub(super) const RAX: u8 = 0;
pub(super) const RCX: u8 = 1;
pub(super) const RSP: u8 = 4;
pub(super) const RBP: u8 = 5;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mem {
    /// `base + displacement`.
    Base(u8, i32),
    /// `base + rcx * (1 << shift) + displacement`.
    Along(u8, u8, i32),
    /// An offset from the start of the code.
    Pool(usize),
}

/// A vector register or memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rm {
    Reg(u8),
    Mem(Mem),
}

/// An instruction's prefix, map of opcodes, opcode, and the byte that follows, if any.
#[derive(Clone, Copy)]
pub(super) struct Op {
    pub prefix: u8,
    pub map: u8,
    pub code: u8,
    pub byte: Option<u8>,
}

impl Op {
    /// Without a prefix, in the first map.
    pub const fn new(code: u8) -> Op {
        Op { prefix: 0, map: 1, code, byte: None }
    }

    /// With the prefix 66, in a map.
    pub const fn wide(map: u8, code: u8) -> Op {
        Op { prefix: 1, map, code, byte: None }
    }

    pub const fn with(self, byte: u8) -> Op {
        Op { byte: Some(byte), ..self }
    }
}

pub(super) const LOAD: Op = Op::new(0x10);
pub(super) const STORE: Op = Op::new(0x11);
pub(super) const MOVE: Op = Op::new(0x28);
pub(super) const STREAM: Op = Op::new(0x2B);
pub(super) const ADD: Op = Op::new(0x58);
pub(super) const MIN: Op = Op::new(0x5D);
pub(super) const MAX: Op = Op::new(0x5F);
pub(super) const UNEQUAL: Op = Op::new(0xC2).with(4);
pub(super) const BLEND: Op = Op::wide(3, 0x4A);
pub(super) const BROADCAST: Op = Op::wide(2, 0x18);
pub(super) const BROADCAST_BYTE: Op = Op::wide(2, 0x78);
pub(super) const BYTES_TO_INTS: Op = Op::wide(2, 0x31);
pub(super) const TO_HALF: Op = Op::wide(3, 0x1D).with(0);
pub(super) const FROM_HALF: Op = Op::wide(2, 0x13);
/// `dst = a * dst + b` and `dst = a * b + dst`.
pub(super) const FMA_213: Op = Op::wide(2, 0xA8);
pub(super) const FMA_231: Op = Op::wide(2, 0xB8);
/// Part of a register, and lanes in another order.
pub(super) const UPPER: Op = Op::wide(3, 0x19).with(1);
pub(super) const PERMUTE: Op = Op::wide(3, 0x04);
/// The first lane to memory.
pub(super) const STORE_ONE: Op = Op { prefix: 2, map: 1, code: 0x11, byte: None };
pub(super) const SHIFT: Op = Op::wide(1, 0x72);

/// Code on its way.
#[derive(Default)]
pub(super) struct Code {
    pub bytes: Vec<u8>,
}

impl Code {
    /// A vector instruction: `reg = op(first, rm)`; `first` is 0 where there is none.
    pub fn vector(&mut self, op: Op, reg: u8, first: u8, rm: Rm) {
        let base = match rm {
            Rm::Reg(r) | Rm::Mem(Mem::Base(r, _) | Mem::Along(r, ..)) => r,
            Rm::Mem(Mem::Pool(_)) => 0,
        };
        let (not_r, not_b) = (!(reg >> 3) & 1, !(base >> 3) & 1);
        // No index register is above the seventh.
        let second = not_r << 7 | 1 << 6 | not_b << 5 | op.map;
        self.bytes.extend([0xC4, second, (!first & 15) << 3 | 1 << 2 | op.prefix, op.code]);
        self.address(reg, rm, op.byte.is_some() as usize);
        self.bytes.extend(op.byte);
    }

    /// The bytes that say which register and address; `after` bytes follow them.
    fn address(&mut self, reg: u8, rm: Rm, after: usize) {
        let reg = (reg & 7) << 3;
        let (base, index, displacement) = match rm {
            Rm::Reg(r) => return self.bytes.push(0xC0 | reg | r & 7),
            Rm::Mem(Mem::Pool(offset)) => {
                self.bytes.push(reg | 5);
                // From the end of the instruction.
                let end = self.bytes.len() + 4 + after;
                let displacement = offset as i64 - end as i64;
                return self.bytes.extend((displacement as i32).to_le_bytes());
            }
            Rm::Mem(Mem::Base(base, displacement)) => (base, 4 << 3, displacement),
            Rm::Mem(Mem::Along(base, shift, displacement)) => (base, shift << 6 | RCX << 3, displacement),
        };
        match i8::try_from(displacement) {
            Ok(short) => self.bytes.extend([0x40 | reg | 4, index | base & 7, short as u8]),
            Err(_) => {
                self.bytes.extend([0x80 | reg | 4, index | base & 7]);
                self.bytes.extend(displacement.to_le_bytes());
            }
        }
    }

    /// An instruction of 64-bit general registers.
    pub fn general(&mut self, code: u8, reg: u8, rm: Rm) {
        let base = match rm {
            Rm::Reg(r) | Rm::Mem(Mem::Base(r, _) | Mem::Along(r, ..)) => r,
            Rm::Mem(Mem::Pool(_)) => 0,
        };
        self.bytes.extend([0x48 | reg >> 3 << 2 | base >> 3, code]);
        self.address(reg, rm, 0);
    }

    /// Loads a general register.
    pub fn load(&mut self, reg: u8, from: Mem) {
        self.general(0x8B, reg, Rm::Mem(from));
    }

    /// Adds a small number to memory.
    pub fn add(&mut self, to: Mem, number: i8) {
        self.general(0x83, 0, Rm::Mem(to));
        self.bytes.push(number as u8);
    }

    /// Asks for memory, to be brought to the second-level cache.
    pub fn prefetch(&mut self, at: Mem) {
        if let Mem::Base(base, _) | Mem::Along(base, ..) = at {
            self.bytes.extend([0x40 | base >> 3, 0x0F, 0x18]);
            self.address(2, Rm::Mem(at), 0);
        }
    }

    pub fn push(&mut self, reg: u8) {
        self.bytes.extend([0x40 | reg >> 3, 0x50 | reg & 7]);
    }

    pub fn pop(&mut self, reg: u8) {
        self.bytes.extend([0x40 | reg >> 3, 0x58 | reg & 7]);
    }

    /// A jump, if the last comparison says so, to be told where later.
    pub fn jump(&mut self, condition: u8) -> usize {
        self.bytes.extend([0x0F, condition, 0, 0, 0, 0]);
        self.bytes.len()
    }

    /// Sets the target of the jump that ends at `from`.
    pub fn land(&mut self, from: usize, target: usize) {
        let distance = (target as i64 - from as i64) as i32;
        self.bytes[from - 4..from].copy_from_slice(&distance.to_le_bytes());
    }
}

/// Conditions of a jump: above, below or equal, not zero.
pub(super) const NOT_ZERO: u8 = 0x85;
pub(super) const ABOVE: u8 = 0x87;
pub(super) const NOT_ABOVE: u8 = 0x86;
