//! Records what a chain does to one vector. The functions of `ops` and `math` are written over any [`Simd`]; called
//! with [`Traced`], which computes nothing, they write down their instructions. So machine code has the same arithmetic
//! as the loops, instruction by instruction.

use super::super::chain::{Chain, Do, Link};
use super::super::ops::{Add, Div, Max, Min, Mul, Op2, Sub, unary_of};
use super::super::simd::Simd;
use super::super::space::Class;
use crate::dtype::DType;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A value: the number of the instruction that makes it.
pub(super) type Id = usize;

/// Instructions of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Two {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    And,
    Or,
    Xor,
    AddInt,
    SubInt,
    EqualInt,
    GreaterInt,
    Less,
    LessEqual,
    Equal,
    Unequal,
}

/// Instructions of one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum One {
    Sqrt,
    /// With the instruction's number of the mode.
    Round(u8),
    ToInt,
    ToFloat,
    ShiftLeft(u8),
    /// Keeps the sign.
    ShiftRight(u8),
    /// To f16 and back.
    Half,
}

/// An instruction. Operands of the chain go by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// These bits in every lane.
    Constant(u32),
    Load(u8),
    /// One number of the row in every lane.
    Spread(u8),
    /// Bytes as integers.
    Bytes(u8),
    /// One byte of the row in every byte.
    SpreadBytes(u8),
    One(One, Id),
    Two(Two, Id, Id),
    /// `a * b + c`, rounded once.
    Fma(Id, Id, Id),
    Select {
        mask: Id,
        yes: Id,
        no: Id,
    },
    Store(u8, Id),
    Stream(u8, Id),
    SumRows(u8, Id),
    Fold(u8, Id),
    /// Asks for the memory of an operand, bytes ahead.
    Ahead(u8, i32),
}

impl Node {
    /// The values it uses.
    pub fn operands(&self) -> smallvec::SmallVec<[Id; 3]> {
        use smallvec::smallvec;
        match *self {
            Node::One(_, a)
            | Node::Store(_, a)
            | Node::Stream(_, a)
            | Node::SumRows(_, a)
            | Node::Fold(_, a) => smallvec![a],
            Node::Two(_, a, b) => smallvec![a, b],
            Node::Fma(a, b, c) => smallvec![a, b, c],
            Node::Select { mask, yes, no } => smallvec![mask, yes, no],
            _ => smallvec![],
        }
    }

    /// The operand of the chain that it reads or writes.
    pub fn memory(&self) -> Option<u8> {
        match *self {
            Node::Load(y)
            | Node::Spread(y)
            | Node::Bytes(y)
            | Node::SpreadBytes(y)
            | Node::Store(y, _)
            | Node::Stream(y, _)
            | Node::SumRows(y, _) => Some(y),
            _ => None,
        }
    }

    /// Whether it does something rather than make a value.
    pub fn acts(&self) -> bool {
        use Node::*;
        matches!(self, Store(..) | Stream(..) | SumRows(..) | Fold(..) | Ahead(..))
    }
}

#[derive(Default)]
struct Trace {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Id>,
    /// Something that no instruction does.
    foreign: bool,
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}

/// Writes an instruction down; the same one twice is one.
fn record(node: Node) -> Traced {
    TRACE.with_borrow_mut(|t| {
        if node.acts() {
            t.nodes.push(node);
            return Traced(0);
        }
        let Trace { nodes, known, .. } = t;
        Traced(*known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        }))
    })
}

fn foreign() -> Traced {
    TRACE.with_borrow_mut(|t| t.foreign = true);
    record(Node::Constant(0))
}

/// The instructions of a chain, in order; `None` if it has something that only the loops can do.
pub(super) fn trace(chain: &Chain) -> Option<Vec<Node>> {
    TRACE.set(Trace::default());
    let mut tracer = Tracer { chain, kept: FxHashMap::default() };
    chain.ahead.iter().for_each(|&(y, bytes)| _ = record(Node::Ahead(y, bytes)));
    let mut x = record(Node::Constant(0));
    for link in &chain.links {
        // SAFETY: nothing is computed.
        x = unsafe { tracer.link(link, x) };
    }
    let Trace { nodes, foreign, .. } = TRACE.take();
    (!foreign).then_some(nodes)
}

struct Tracer<'a> {
    chain: &'a Chain,
    /// What operands hold that were written.
    kept: FxHashMap<u8, Traced>,
}

impl Tracer<'_> {
    /// Whether an operand is one number for the row.
    fn spread(&self, y: u8) -> bool {
        self.chain.outside.get(y as usize).is_some_and(|o| matches!(o.class, Class::One | Class::Row))
    }

    fn operand(&self, y: u8) -> Traced {
        match self.kept.get(&y) {
            Some(&x) => x,
            None if y as usize >= self.chain.outside.len() => foreign(),
            None if self.spread(y) => record(Node::Spread(y)),
            None => record(Node::Load(y)),
        }
    }

    /// What is at hand after a link.
    unsafe fn link(&mut self, link: &Link, x: Traced) -> Traced {
        let y = link.y;
        let mask = |this: &Self| {
            let m = link.mask;
            let bytes = if this.spread(m) { Node::SpreadBytes(m) } else { Node::Bytes(m) };
            record(Node::Two(Two::GreaterInt, record(bytes).0, record(Node::Constant(0)).0))
        };
        // SAFETY: nothing is computed.
        unsafe {
            match link.what {
                Do::Load => self.operand(y),
                Do::Store | Do::Stream => {
                    if (y as usize) < self.chain.outside.len() {
                        record(if link.what == Do::Store {
                            Node::Store(y, x.0)
                        } else {
                            Node::Stream(y, x.0)
                        });
                    }
                    self.kept.insert(y, x);
                    x
                }
                Do::Add => Add::apply(x, self.operand(y)),
                Do::Sub => Sub::apply(x, self.operand(y)),
                Do::SubFrom => Sub::apply(self.operand(y), x),
                Do::Mul => Mul::apply(x, self.operand(y)),
                Do::Div => Div::apply(x, self.operand(y)),
                Do::Divide => Div::apply(self.operand(y), x),
                Do::Max => Max::apply(x, self.operand(y)),
                Do::MaxFrom => Max::apply(self.operand(y), x),
                Do::Min => Min::apply(x, self.operand(y)),
                Do::MinFrom => Min::apply(self.operand(y), x),
                Do::Keep => Traced::select(mask(self), x, self.operand(y)),
                Do::Replace => Traced::select(mask(self), self.operand(y), x),
                Do::Unary(op) => unary_of(op, x),
                Do::Round(DType::F16) => record(Node::One(One::Half, x.0)),
                Do::Round(_) => foreign(),
                Do::Fold => {
                    record(Node::Fold(y, x.0));
                    x
                }
                Do::SumRows => {
                    record(Node::SumRows(y, x.0));
                    x
                }
            }
        }
    }
}

/// A vector that is written down.
#[derive(Clone, Copy)]
struct Traced(Id);

fn two(op: Two, a: Traced, b: Traced) -> Traced {
    record(Node::Two(op, a.0, b.0))
}

fn one(op: One, a: Traced) -> Traced {
    record(Node::One(op, a.0))
}

macro_rules! traced {
    ($($name:ident($a:ident $(, $b:ident)?) = $e:expr;)*) => {$(
        unsafe fn $name($a: Self $(, $b: Self)?) -> Self { $e }
    )*};
}

macro_rules! methods {
    ($($name:ident = $op:expr;)*) => {$(
        unsafe fn $name(self, o: Self) -> Self { two($op, self, o) }
    )*};
}

macro_rules! functions {
    ($($name:ident = $op:expr;)*) => {$(
        unsafe fn $name(self) -> Self { one($op, self) }
    )*};
}

// SAFETY: nothing is computed and no pointer is followed. Vectors, truth values and integers are all registers.
unsafe impl Simd for Traced {
    const W: usize = 8;
    const FUSED: bool = true;
    type Mask = Traced;
    type Int = Traced;

    unsafe fn splat(x: f32) -> Self {
        record(Node::Constant(x.to_bits()))
    }
    unsafe fn int(x: i32) -> Self {
        record(Node::Constant(x as u32))
    }
    unsafe fn load(_: *const f32) -> Self {
        foreign()
    }
    unsafe fn store(self, _: *mut f32) {
        foreign();
    }
    unsafe fn load_f16(_: *const u16) -> Self {
        foreign()
    }
    unsafe fn store_f16(self, _: *mut u16) {
        foreign();
    }
    unsafe fn load_bf16(_: *const u16) -> Self {
        foreign()
    }
    unsafe fn store_bf16(self, _: *mut u16) {
        foreign();
    }
    unsafe fn any(_: Self) -> bool {
        foreign();
        false
    }
    unsafe fn load_mask(_: *const u8) -> Self {
        foreign()
    }
    unsafe fn store_mask(_: Self, _: *mut u8) {
        foreign();
    }

    methods! {
        add = Two::Add;
        sub = Two::Sub;
        mul = Two::Mul;
        div = Two::Div;
        max = Two::Max;
        min = Two::Min;
        lt = Two::Less;
        le = Two::LessEqual;
        eq = Two::Equal;
        ne = Two::Unequal;
    }
    functions! {
        sqrt = One::Sqrt;
        round = One::Round(8);
        floor = One::Round(9);
        ceil = One::Round(10);
        trunc = One::Round(11);
        to_int = One::ToInt;
    }
    traced! {
        from_bits(a) = a;
        to_float(a) = one(One::ToFloat, a);
        iadd(a, b) = two(Two::AddInt, a, b);
        isub(a, b) = two(Two::SubInt, a, b);
        iand(a, b) = two(Two::And, a, b);
        ior(a, b) = two(Two::Or, a, b);
        ixor(a, b) = two(Two::Xor, a, b);
        izero(a) = two(Two::EqualInt, a, record(Node::Constant(0)));
    }
    unsafe fn bits(self) -> Self {
        self
    }
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        record(Node::Fma(self.0, b.0, c.0))
    }
    unsafe fn select(m: Self, yes: Self, no: Self) -> Self {
        record(Node::Select { mask: m.0, yes: yes.0, no: no.0 })
    }
    unsafe fn shl<const N: i32>(a: Self) -> Self {
        one(One::ShiftLeft(N as u8), a)
    }
    unsafe fn shr<const N: i32>(a: Self) -> Self {
        one(One::ShiftRight(N as u8), a)
    }
}
