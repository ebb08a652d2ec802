//! The straight-line program of a loop in WGSL: one statement for each instruction and element. A printer says
//! at which [`Point`] of the space it stands and which elements it wants; values get the names `v{i}` (one for all
//! elements) and `v{i}_{e}`.

use super::functions::Function;
use super::module::{Binding, Module, line, value_type};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Random, Reduce, Unary};
use crate::kernel::{Inst, Level, Loop, Segment, Source, Val};
use crate::view::View;
use std::fmt::Write;

/// Where in the space a lane stands: the coordinate of each axis as a u32 expression. Elements 0, 1, .. lie one
/// after another along `inner`, from the coordinate given there on.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub coords: Vec<String>,
    pub inner: usize,
}

/// How a view is accessed `count` elements at a time along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// One element for all.
    Same,
    /// Whole words at aligned addresses.
    Vector,
    /// Each element on its own.
    Single,
}

/// Prints the instructions of one loop over one segment.
pub(crate) struct Program<'a> {
    pub body: &'a Loop,
    pub segment: &'a Segment,
    /// Elements that are read and written together.
    pub vector: usize,
    /// Whether values of level `Kept` differ between the elements of a point (the inner axis is kept).
    pub kept_differ: bool,
    /// Names of the product of a matrix product, one for each element.
    pub product: Vec<String>,
    /// The axis along which vectors lie.
    pub inner: usize,
    /// Puts a segment's values apart from another's in the same text.
    pub prefix: String,
}

/// How `count` elements along axis `inner` of a view can be accessed. `slack` says that addresses up to a multiple
/// of `count` past the last element may be touched.
pub(crate) fn access(view: &View, inner: usize, count: usize, size: usize, slack: bool) -> Access {
    if view.shape.is_empty() || (view.strides[inner] == 0 && view.mask.is_none()) {
        return Access::Same;
    }
    let n = count as isize;
    let others = (0..view.shape.len()).filter(|&a| a != inner && view.shape[a] > 1);
    let aligned = view.strides[inner] == 1
        && view.offset % n == 0
        && others.into_iter().all(|a| view.strides[a] % n == 0)
        && (slack || view.shape[inner].is_multiple_of(count))
        && view
            .mask
            .as_ref()
            .is_none_or(|m| m[inner].0.is_multiple_of(count) && m[inner].1.is_multiple_of(count));
    match aligned && count > 1 && (count * size).is_multiple_of(4) {
        true => Access::Vector,
        false => Access::Single,
    }
}

/// `offset + sum of coordinate * stride`, in wrapping u32 arithmetic.
pub(crate) fn address(view: &View, coords: &[String]) -> String {
    let mut terms = vec![];
    for (axis, coord) in coords.iter().enumerate() {
        match view.strides[axis] {
            _ if view.shape[axis] == 1 || coord == "0u" => {}
            0 => {}
            1 => terms.push(coord.clone()),
            s => terms.push(format!("{coord} * {}u", s as i32 as u32)),
        }
    }
    if view.offset != 0 || terms.is_empty() {
        terms.push(format!("{}u", view.offset as i32 as u32));
    }
    terms.join(" + ")
}

/// Whether the mask lets a coordinate through; `None` if there is nothing to ask.
pub(crate) fn inside(view: &View, coords: &[String]) -> Option<String> {
    let mask = view.mask.as_ref()?;
    let mut terms = vec![];
    for (axis, coord) in coords.iter().enumerate() {
        let (lo, hi) = mask[axis];
        if lo >= hi {
            return Some("false".into());
        }
        if lo > 0 {
            terms.push(format!("({coord} >= {lo}u)"));
        }
        if hi < view.shape[axis] {
            terms.push(format!("({coord} < {hi}u)"));
        }
    }
    Some(if terms.is_empty() { "true".into() } else { format!("({})", terms.join(" & ")) })
}

/// The zero of a dtype.
pub(crate) fn zero(dtype: DType, int64: bool) -> &'static str {
    match value_type(dtype, int64) {
        "f32" => "0.0",
        "i32" => "0",
        "i64" => "0li",
        "u32" => "0u",
        _ => "false",
    }
}

/// A constant of a dtype.
pub(crate) fn literal(m: &mut Module<'_>, bits: u64, dtype: DType) -> String {
    match Scalar::from_bits(bits, dtype) {
        Scalar::Float(v) => {
            let v = match dtype {
                DType::F16 => half::f16::from_f64(v).to_f32(),
                DType::BF16 => half::bf16::from_f64(v).to_f32(),
                _ => v as f32,
            };
            if v.is_finite() {
                return if v.to_bits() == 0x8000_0000 { "(-0.0)".into() } else { format!("({v:e}f)") };
            }
            let infinity = m.function(Function::Infinity);
            match v.is_nan() {
                true => "not_a_number()".into(),
                false if v > 0.0 => format!("{infinity}()"),
                false => format!("(-{infinity}())"),
            }
        }
        Scalar::Int(v) => match dtype {
            DType::Bool => (v != 0).to_string(),
            DType::U8 => format!("{}u", v as u8),
            DType::U32 => format!("{}u", v as u32),
            DType::I64 if m.printer.caps.int64 && v == i64::MIN => "(-9223372036854775807li - 1li)".into(),
            DType::I64 if m.printer.caps.int64 => format!("({v}li)"),
            _ if v as i32 == i32::MIN => "(-2147483647 - 1)".into(),
            _ => format!("({})", v as i32),
        },
    }
}

/// `a op b` of a reduction.
pub(crate) fn combine(m: &mut Module<'_>, op: Reduce, dtype: DType, a: &str, b: &str) -> String {
    match (op, dtype) {
        (Reduce::Max, DType::Bool) => format!("({a} | {b})"),
        (Reduce::Min, DType::Bool) => format!("({a} & {b})"),
        (Reduce::Sum, DType::Bool) => format!("({a} | {b})"),
        (Reduce::Prod, DType::Bool) => format!("({a} & {b})"),
        (Reduce::Sum, _) => format!("({a} + {b})"),
        (Reduce::Prod, _) => format!("({a} * {b})"),
        (Reduce::Max, d) if d.is_float() => format!("{}({a}, {b})", m.function(Function::MaxNan)),
        (Reduce::Min, d) if d.is_float() => format!("{}({a}, {b})", m.function(Function::MinNan)),
        (Reduce::Max | Reduce::ArgMax, _) => format!("max({a}, {b})"),
        (Reduce::Min | Reduce::ArgMin, _) => format!("min({a}, {b})"),
    }
}

/// The value that changes nothing.
pub(crate) fn identity(m: &mut Module<'_>, op: Reduce, dtype: DType) -> String {
    let scalar = match op {
        Reduce::Sum => Scalar::Int(0),
        Reduce::Prod => Scalar::Int(1),
        Reduce::Max | Reduce::ArgMax => match dtype {
            DType::I64 if m.printer.caps.int64 => Scalar::Int(i64::MIN),
            DType::I64 | DType::I32 => Scalar::Int(i32::MIN as i64),
            d if d.is_float() => Scalar::Float(f64::NEG_INFINITY),
            _ => Scalar::Int(0),
        },
        Reduce::Min | Reduce::ArgMin => match dtype {
            DType::I64 if m.printer.caps.int64 => Scalar::Int(i64::MAX),
            DType::I64 | DType::I32 => Scalar::Int(i32::MAX as i64),
            DType::U32 => Scalar::Int(u32::MAX as i64),
            DType::U8 => Scalar::Int(255),
            DType::Bool => Scalar::Int(1),
            _ => Scalar::Float(f64::INFINITY),
        },
    };
    literal(m, scalar.to_bits(dtype), dtype)
}

impl<'a> Program<'a> {
    /// The name of a value at element `e` of the point.
    pub fn name(&self, val: Val, e: usize) -> String {
        let p = &self.prefix;
        match self.differs(self.body.program[val.index()].level) {
            true => format!("{p}v{}_{e}", val.0),
            false => format!("{p}v{}", val.0),
        }
    }

    /// Whether values of a level have a name for each element.
    pub fn differs(&self, level: Level) -> bool {
        level == Level::Element || (level == Level::Kept && self.kept_differ)
    }

    /// How often a store writes: as its value differs, and at least wherever its addresses do.
    pub fn store_level(&self, s: usize) -> Level {
        let view = &self.segment.stores[s].view;
        let own = self.body.program[self.body.stores[s].index()].level;
        let moves = |reduced: bool| {
            let mut axes = (0..view.shape.len()).filter(|&a| self.body.reduced[a] == reduced);
            axes.any(|a| view.shape[a] > 1 && view.strides[a] != 0)
        };
        let map = !self.body.reduced.contains(&true);
        match (moves(true) || map, moves(false)) {
            (true, _) => Level::Element,
            (_, true) => own.max(Level::Kept),
            _ => own,
        }
    }

    /// Declares every memory of the segment with the width at which it will be accessed. The stores that cannot
    /// be whole words become atomic.
    pub fn declare(&self, m: &mut Module<'_>, levels: &[Level]) {
        for instr in &self.body.program {
            let (Inst::Load(load) | Inst::Gather { load, .. }) = instr.inst else { continue };
            let Source::Memory(read) = self.segment.loads[load].source else { continue };
            let size = m.printer.kernel.reads[read].dtype.size();
            let vector =
                self.differs(instr.level) && self.load_access(load, &instr.inst, size) == Access::Vector;
            let binding = m.read(read);
            m.want(binding, if vector { self.vector * size / 4 } else { (size / 4).max(1) });
            if matches!(instr.inst, Inst::Gather { .. }) {
                m.want_atomic(Binding::Status);
            }
        }
        for (s, store) in self.segment.stores.iter().enumerate() {
            if !levels.contains(&self.store_level(s)) {
                continue;
            }
            let port = m.printer.kernel.writes[store.write];
            let size = port.dtype.size();
            let binding = Binding::Write(store.write);
            match self.store_access(m, s) {
                Access::Vector => {
                    m.want(binding, self.vector * size / 4);
                }
                _ if size < 4 => m.want_parts(binding, port.dtype),
                _ => {
                    m.want(binding, size / 4);
                }
            }
        }
    }

    fn load_access(&self, load: usize, inst: &Inst, size: usize) -> Access {
        let view = &self.segment.loads[load].view;
        match inst {
            // A gathered address is aligned only if every index lands on a multiple.
            Inst::Gather { stride, .. } if stride % self.vector as isize != 0 => Access::Single,
            _ => access(view, self.inner, self.vector, size, true),
        }
    }

    fn store_access(&self, m: &Module<'_>, s: usize) -> Access {
        let store = &self.segment.stores[s];
        if !self.differs(self.store_level(s)) || store.view.shape.is_empty() {
            return Access::Single;
        }
        let port = m.printer.kernel.writes[store.write];
        let view = &store.view;
        // Past the end of a memory nobody looks; past the end of a row somebody's row begins, if nothing was left between.
        let alone = (0..view.shape.len()).all(|a| a == self.inner || view.shape[a] == 1);
        let len = view.shape[self.inner];
        let between =
            self.inner + 1 == view.shape.len() && len.next_multiple_of(self.vector) - len <= store.spare;
        let slack = between || (alone && view.offset as usize + len == port.len);
        match access(view, self.inner, self.vector, port.dtype.size(), slack) {
            Access::Same => Access::Single,
            how => how,
        }
    }

    /// Whether all stores of a level are whole words.
    pub fn stores_in_vectors(&self, m: &Module<'_>) -> bool {
        let mut stores = 0..self.segment.stores.len();
        stores.all(|s| !self.differs(self.store_level(s)) || self.store_access(m, s) == Access::Vector)
    }

    /// Whether all loads of elements are whole words, or one for all.
    pub fn loads_in_vectors(&self, m: &Module<'_>) -> bool {
        self.body.program.iter().filter(|instr| self.differs(instr.level)).all(|instr| match instr.inst {
            Inst::Load(load) => match self.segment.loads[load].source {
                Source::Memory(read) => {
                    let size = m.printer.kernel.reads[read].dtype.size();
                    self.load_access(load, &instr.inst, size) != Access::Single
                }
                _ => true,
            },
            Inst::Gather { .. } => false,
            _ => true,
        })
    }

    /// Prints instruction `i` for elements `first..first + count`. A reduction is the caller's business.
    pub fn instruction(&self, m: &mut Module<'_>, i: usize, point: &Point, first: usize, count: usize) {
        let instr = &self.body.program[i];
        let val = Val(i as u32);
        let elements = if self.differs(instr.level) { first..first + count } else { 0..1 };
        let dtype = instr.dtype;
        let values: Vec<String> = match &instr.inst {
            Inst::Load(load) => self.load(m, *load, None, dtype, point, instr.level, elements.clone()),
            Inst::Gather { load, index, stride, len } => self.load(
                m,
                *load,
                Some((*index, *stride, *len)),
                dtype,
                point,
                instr.level,
                elements.clone(),
            ),
            Inst::Reduce(..) => return,
            _ => elements.clone().map(|e| self.value(m, i, e)).collect(),
        };
        for (e, value) in elements.zip(values) {
            line!(m, "let {} = {value};", self.name(val, e));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn load(
        &self,
        m: &mut Module<'_>,
        load: usize,
        gather: Option<(Val, isize, usize)>,
        dtype: DType,
        point: &Point,
        level: Level,
        elements: std::ops::Range<usize>,
    ) -> Vec<String> {
        let (source, view) = (self.segment.loads[load].source, &self.segment.loads[load].view);
        if source == Source::Product {
            // Bytes are summed as words.
            let value = |product: &String| match dtype {
                DType::U8 => format!("({product} & 255u)"),
                _ => product.clone(),
            };
            return self.product[elements].iter().map(value).collect();
        }
        let count = elements.len();
        let differs = self.differs(level);
        let memory = match source {
            Source::Memory(read) => Some((m.read(read), m.printer.kernel.reads[read].dtype)),
            _ => None,
        };
        let size = memory.map_or(4, |(_, d)| d.size());
        let how = match gather {
            Some((index, ..)) if self.differs(self.body.program[index.index()].level) => Access::Single,
            Some((_, stride, _)) if stride % self.vector as isize != 0 => Access::Single,
            _ if !differs => Access::Same,
            _ => access(view, self.inner, self.vector, size, true),
        };
        let groups: Vec<(usize, usize)> = match how {
            Access::Vector if count == self.vector && memory.is_some() => vec![(0, count)],
            Access::Same => vec![(0, 1)],
            _ => (0..count).map(|e| (e, 1)).collect(),
        };
        let mut out = vec![];
        for (start, n) in groups {
            let mut coords = point.coords.clone();
            if differs && start > 0 {
                let coord = format!("({} + {start}u)", coords[point.inner]);
                // The last vector of a row may end past it: there an element's address, which can lie anywhere, is
                // that of the last one.
                let len = self.segment.dims[point.inner];
                coords[point.inner] = match len.is_multiple_of(self.vector) {
                    true => coord,
                    false => format!("min({coord}, {}u)", len - 1),
                };
            }
            let mut at = address(view, &coords);
            if let Some((index, stride, len)) = gather {
                let index = self.name(index, elements.start + start);
                let bad = m.fresh("bad");
                let big = m.printer.caps.int64;
                let (zero, limit) = if big { ("0li", format!("{len}li")) } else { ("0", len.to_string()) };
                line!(m, "let {bad} = ({index} < {zero}) | ({index} >= {limit});");
                line!(
                    m,
                    "if ({bad}) {{ atomicStore(&status[1], u32({index})); atomicStore(&status[2], {len}u); \
                     atomicStore(&status[0], 1u); }}"
                );
                at = format!("{at} + select(u32({index}), 0u, {bad}) * {}u", stride as i32 as u32);
            }
            let guard = inside(view, &coords);
            if guard.is_some() || gather.is_some() {
                at = m.bind("a", &at);
            }
            let Some((binding, stored)) = memory else {
                // The address itself is the value.
                let index = match &guard {
                    Some(guard) => format!("select(0u, {at}, {guard})"),
                    None => format!("({at})"),
                };
                out.push(self.number(m, &index, dtype));
                continue;
            };
            let values = match &guard {
                Some(guard) => {
                    let guard = m.bind("g", guard);
                    let safe = m.bind("a", &format!("select(0u, {at}, {guard})"));
                    let nothing = zero(stored, m.printer.caps.int64);
                    let values = m.elements(binding, stored, &safe, n);
                    values.iter().map(|v| format!("select({nothing}, {v}, {guard})")).collect()
                }
                None => m.elements(binding, stored, &at, n),
            };
            out.extend(values);
        }
        // One value for all elements is read once.
        if how == Access::Same && count > 1 {
            let one = m.bind("l", &out[0]);
            out = vec![one; count];
        }
        out
    }

    /// A u32 expression as a number of a dtype.
    fn number(&self, m: &mut Module<'_>, index: &str, dtype: DType) -> String {
        match value_type(dtype, m.printer.caps.int64) {
            "f32" => self.rounded(m, format!("f32({index})"), dtype),
            "bool" => format!("({index} != 0u)"),
            "u32" if dtype == DType::U8 => format!("({index} & 255u)"),
            "u32" => index.to_string(),
            t => format!("{t}({index})"),
        }
    }

    fn rounded(&self, m: &mut Module<'_>, value: String, dtype: DType) -> String {
        match dtype {
            DType::F16 => format!("{}({value})", m.function(Function::RoundHalf)),
            DType::BF16 => format!("{}({value})", m.function(Function::RoundBrain)),
            _ => value,
        }
    }

    fn value(&self, m: &mut Module<'_>, i: usize, e: usize) -> String {
        let instr = &self.body.program[i];
        let dtype = instr.dtype;
        let of = |v: Val| self.body.program[v.index()].dtype;
        match &instr.inst {
            Inst::Literal(bits) => literal(m, *bits, dtype),
            Inst::Arg(n) => m.arg(*n, dtype),
            Inst::Unary(op, a) => unary(m, *op, of(*a), &self.name(*a, e)),
            Inst::Binary(op, a, b) => binary(m, *op, of(*a), &self.name(*a, e), &self.name(*b, e)),
            Inst::Where(c, a, b) => {
                format!("select({}, {}, {})", self.name(*b, e), self.name(*a, e), self.name(*c, e))
            }
            Inst::Cast(a) => cast(m, of(*a), dtype, &self.name(*a, e)),
            Inst::Random { kind, seed, stream, index } => {
                let threefry = m.function(Function::Threefry);
                let at = self.name(*index, e);
                let (low, high) = match m.printer.caps.int64 {
                    true => (format!("u32({at} & 0xffffffffli)"), format!("u32({at} >> 32u)")),
                    false => (format!("u32({at})"), "0u".into()),
                };
                let seed = self.name(*seed, e);
                let words =
                    m.bind("t", &format!("{threefry}({seed}, {}, {low}, {high})", self.name(*stream, e)));
                match kind {
                    Random::Bits => format!("{words}.x"),
                    Random::Uniform => format!("{}({words}.x)", m.function(Function::Unit)),
                    Random::Normal => format!("{}({words})", m.function(Function::Normal)),
                }
            }
            Inst::Load(_) | Inst::Gather { .. } | Inst::Reduce(..) => unreachable!("handled by the callers"),
        }
    }

    /// Stores every stored value of a level for elements `first..first + count`, each where `guard` holds.
    pub fn stores(&self, m: &mut Module<'_>, only: &[usize], point: &Point, first: usize, count: usize) {
        for &s in only {
            let (store, val) = (&self.segment.stores[s], self.body.stores[s]);
            let port = m.printer.kernel.writes[store.write];
            let binding = Binding::Write(store.write);
            let elements = if self.differs(self.store_level(s)) { first..first + count } else { 0..1 };
            if self.store_access(m, s) == Access::Vector && elements.len() == self.vector {
                let values: Vec<String> = elements.map(|e| self.name(val, e)).collect();
                m.store(binding, port.dtype, &address(&store.view, &point.coords), &values);
                continue;
            }
            for (j, e) in elements.enumerate() {
                let mut coords = point.coords.clone();
                if j > 0 {
                    coords[point.inner] = format!("({} + {j}u)", coords[point.inner]);
                }
                m.store(binding, port.dtype, &address(&store.view, &coords), &[self.name(val, e)]);
            }
        }
    }
}

fn unary(m: &mut Module<'_>, op: Unary, dtype: DType, x: &str) -> String {
    if dtype == DType::Bool {
        return match op {
            Unary::Not => format!("!{x}"),
            _ => x.to_string(),
        };
    }
    if !dtype.is_float() {
        let byte = |v: String| if dtype == DType::U8 { format!("({v} & 255u)") } else { v };
        let (zero, unsigned) = (zero(dtype, m.printer.caps.int64), matches!(dtype, DType::U8 | DType::U32));
        return match op {
            Unary::Neg if unsigned => byte(format!("(0u - {x})")),
            Unary::Neg => format!("(-{x})"),
            Unary::Abs | Unary::Sign if unsigned && op == Unary::Abs => x.to_string(),
            Unary::Sign if unsigned => format!("min({x}, 1u)"),
            Unary::Abs => format!("abs({x})"),
            Unary::Sign => format!("sign({x})"),
            Unary::Not => format!("({x} == {zero})"),
            _ => x.to_string(),
        };
    }
    let named = |m: &mut Module<'_>, f: Function| format!("{}({x})", m.function(f));
    match op {
        Unary::Neg => format!("(-{x})"),
        Unary::Abs => format!("abs({x})"),
        Unary::Sign => named(m, Function::SignNan),
        Unary::Recip => format!("(1.0 / {x})"),
        Unary::Sqrt => format!("sqrt({x})"),
        Unary::Rsqrt => format!("inverseSqrt({x})"),
        Unary::Exp => m.exp(x),
        Unary::Exp2 if m.printer.caps.exp_keeps_nan => format!("exp2({x})"),
        Unary::Exp2 => named(m, Function::Exp2),
        Unary::Expm1 => named(m, Function::Expm1),
        Unary::Log => named(m, Function::Log),
        Unary::Log2 => named(m, Function::Log2),
        Unary::Log1p => named(m, Function::Log1p),
        Unary::Sin => named(m, Function::Sin),
        Unary::Cos => named(m, Function::Cos),
        Unary::Tan => named(m, Function::Tan),
        Unary::Asin => named(m, Function::Asin),
        Unary::Acos => named(m, Function::Acos),
        Unary::Atan => named(m, Function::Atan),
        Unary::Sinh => named(m, Function::Sinh),
        Unary::Cosh => named(m, Function::Cosh),
        Unary::Tanh => named(m, Function::Tanh),
        Unary::Erf => named(m, Function::Erf),
        Unary::Floor => format!("floor({x})"),
        Unary::Ceil => format!("ceil({x})"),
        Unary::Round => format!("round({x})"),
        Unary::Trunc => format!("trunc({x})"),
        Unary::Not => format!("({x} == 0.0)"),
    }
}

fn binary(m: &mut Module<'_>, op: Binary, dtype: DType, a: &str, b: &str) -> String {
    let compare = match op {
        Binary::Eq => Some("=="),
        Binary::Ne => Some("!="),
        Binary::Lt => Some("<"),
        Binary::Le => Some("<="),
        _ => None,
    };
    if dtype == DType::Bool {
        return match op {
            Binary::Eq => format!("({a} == {b})"),
            Binary::Ne | Binary::Xor | Binary::Sub => format!("({a} != {b})"),
            Binary::Lt => format!("(!{a} & {b})"),
            Binary::Le => format!("(!{a} | {b})"),
            Binary::And | Binary::Mul | Binary::Min => format!("({a} & {b})"),
            _ => format!("({a} | {b})"),
        };
    }
    if dtype.is_float() && matches!(op, Binary::Eq | Binary::Ne) {
        // naga's != is false for NaN, and drivers take any x == x for true.
        let equal = match a == b {
            true => format!("!{}({a})", m.function(Function::IsNan)),
            false => format!("({a} == {b})"),
        };
        return if op == Binary::Eq { equal } else { format!("!({equal})") };
    }
    if let Some(sign) = compare {
        if dtype.is_float() {
            // True of no NaN anyway; but drivers make a maximum, blind to NaN, of a bare comparison and a choice.
            let nan = m.function(Function::IsNan);
            return format!("(({a} {sign} {b}) & !{nan}({a}) & !{nan}({b}))");
        }
        return format!("({a} {sign} {b})");
    }
    if dtype.is_float() {
        return match op {
            Binary::Add => format!("({a} + {b})"),
            Binary::Sub => format!("({a} - {b})"),
            Binary::Mul => format!("({a} * {b})"),
            Binary::Div => format!("{}({a}, {b})", m.function(Function::Divide)),
            Binary::Rem => format!("{}({a}, {b})", m.function(Function::Rem)),
            Binary::Pow => format!("{}({a}, {b})", m.function(Function::Pow)),
            Binary::Max => format!("{}({a}, {b})", m.function(Function::MaxNan)),
            Binary::Min => format!("{}({a}, {b})", m.function(Function::MinNan)),
            _ => format!("{}({a}, {b})", m.function(Function::Atan2)),
        };
    }
    let (div, rem, pow) = match value_type(dtype, m.printer.caps.int64) {
        "i64" => (Function::DivI64, Function::RemI64, Function::PowI64),
        "i32" => (Function::DivI32, Function::RemI32, Function::PowI32),
        _ => (Function::DivU32, Function::RemU32, Function::PowU32),
    };
    let value = match op {
        Binary::Add => format!("({a} + {b})"),
        Binary::Sub => format!("({a} - {b})"),
        Binary::Mul => format!("({a} * {b})"),
        Binary::Div => format!("{}({a}, {b})", m.function(div)),
        Binary::Rem => format!("{}({a}, {b})", m.function(rem)),
        Binary::Pow => format!("{}({a}, {b})", m.function(pow)),
        Binary::Max => format!("max({a}, {b})"),
        Binary::Min => format!("min({a}, {b})"),
        Binary::And => format!("({a} & {b})"),
        Binary::Or => format!("({a} | {b})"),
        Binary::Xor => format!("({a} ^ {b})"),
        _ => zero(dtype, m.printer.caps.int64).to_string(),
    };
    if dtype == DType::U8 { format!("({value} & 255u)") } else { value }
}

/// Converts; floats to integers truncate and saturate, anything to bool is `!= 0`.
pub(crate) fn cast(m: &mut Module<'_>, from: DType, to: DType, x: &str) -> String {
    let int64 = m.printer.caps.int64;
    let (source, target) = (value_type(from, int64), value_type(to, int64));
    match (source, target) {
        ("f32", "f32") => match to {
            DType::F16 if from != DType::F16 => format!("{}({x})", m.function(Function::RoundHalf)),
            DType::BF16 if from != DType::BF16 => format!("{}({x})", m.function(Function::RoundBrain)),
            _ => x.to_string(),
        },
        ("bool", "bool") => x.to_string(),
        ("f32", "bool") => format!("!({x} == 0.0)"),
        (_, "bool") => format!("({x} != {})", zero(from, int64)),
        ("bool", "f32") => format!("select(0.0, 1.0, {x})"),
        ("bool", _) => format!("{target}(select(0u, 1u, {x}))"),
        ("f32", "i32") => format!("{}({x})", m.function(Function::FloatToI32)),
        ("f32", "i64") => format!("{}({x})", m.function(Function::FloatToI64)),
        ("f32", _) => {
            let f = m.function(Function::FloatToU32);
            if to == DType::U8 { format!("min({f}({x}), 255u)") } else { format!("{f}({x})") }
        }
        // Through the unsigned type: software adapters were seen to lose the upper word otherwise.
        ("u32", "i64") => format!("i64(u64({x}))"),
        ("i32", "i64") => format!("((i64(u64(bitcast<u32>({x}))) << 32u) >> 32u)"),
        ("i64", "u32") if to == DType::U32 => format!("u32({x} & 0xffffffffli)"),
        ("i64", "i32") => format!("bitcast<i32>(u32({x} & 0xffffffffli))"),
        (_, "f32") => match to {
            DType::F16 => format!("{}(f32({x}))", m.function(Function::RoundHalf)),
            DType::BF16 => format!("{}(f32({x}))", m.function(Function::RoundBrain)),
            _ => format!("f32({x})"),
        },
        _ => {
            let value = if source == target { x.to_string() } else { format!("{target}({x})") };
            if to == DType::U8 && from != DType::U8 { format!("({value} & 255u)") } else { value }
        }
    }
}
