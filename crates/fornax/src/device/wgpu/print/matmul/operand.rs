//! How a tile of an operand comes from memory into workgroup memory: through registers, one tile ahead of the
//! arithmetic. Any strides; loads are as wide as they allow.

use super::super::halves::{eight_halves, four_halves};
use super::super::module::{Binding, Module, line};
use super::super::program::cast;
use crate::dtype::DType;
use crate::kernel::{Body, Matrix, Source};
use crate::view::View;
use std::fmt::Write;

/// The axis along which a lane loads consecutive elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// The inner axis, `k`.
    Inner,
    /// Rows of the left operand, columns of the right one.
    Outer,
}

/// One operand of a product, as a tile of `outer x inner` elements.
pub(super) struct Operand {
    /// "a" or "b": the names of registers and workgroup memory begin with it.
    pub name: &'static str,
    binding: Binding,
    stored: DType,
    dtype: DType,
    /// Sizes and strides of the outer axis and of k.
    outer: usize,
    inner: usize,
    outer_stride: isize,
    inner_stride: isize,
    /// The tile.
    pub tile: usize,
    pub depth: usize,
    lanes: usize,
    /// Elements of one load.
    pub chunk: usize,
    pub along: Along,
    lie: Lie,
    /// The WGSL type in workgroup memory.
    scalar: &'static str,
}

/// How the elements of a load lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// As aligned vectors of four.
    Vectors,
    /// As aligned vectors of four halves, which stay such.
    Halves,
    /// As aligned vectors of four words: eight halves.
    Words,
    /// Four halves that begin in the middle of a word or at its beginning; the number is that of the last word.
    Shifted(usize),
    /// Anywhere, one by one.
    Single,
}

/// The slice of an operand that is loaded or put, in the names of the text: the address of the batch, where the tile
/// begins along the outer axis and along k, and where the sum ends.
pub(super) struct Slice<'a> {
    pub base: &'a str,
    pub first: &'a str,
    pub k0: &'a str,
    pub end: &'a str,
    /// Whether the sum can end inside a slice.
    pub ends_inside: bool,
    /// Whether one address serves all loads of an operand, of both; see [`Operand::is_steady`]. For one alone it costs more
    /// than it gains.
    pub steady: bool,
}

impl Operand {
    /// `left` says which one; `scalar` is "f32" (or an integer type), or "f16" for cooperative matrices; `bytes` says that
    /// an element is a word of four.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        m: &mut Module<'_>,
        matrix: &Matrix,
        left: bool,
        tile: usize,
        depth: usize,
        lanes: usize,
        scalar: &'static str,
        bytes: bool,
    ) -> Operand {
        let view = &matrix.view;
        let rank = view.shape.len();
        let (o, i) = if left { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
        let (stored, dtype) = match bytes {
            true => (DType::U32, DType::U32),
            false => (m.printer.kernel.reads[matrix.read].dtype, matrix.dtype),
        };
        let binding = m.read(matrix.read);
        let whole = |along: Along, chunk: usize| {
            let size = if along == Along::Inner { depth } else { tile };
            size.is_multiple_of(chunk) && (tile * depth).is_multiple_of(chunk * lanes)
        };
        let vectors = |along: Along, chunk: usize| {
            let (this, other) = if along == Along::Inner { (i, o) } else { (o, i) };
            aligned(view, this, other, chunk) && whole(along, chunk)
        };
        let found = [Along::Inner, Along::Outer].into_iter().find(|&along| vectors(along, 4));
        let contiguous = if view.strides[i] == 1 { Along::Inner } else { Along::Outer };
        let along = found.unwrap_or(contiguous);
        let raw = scalar == "f16" && stored == DType::F16;
        // Loads of 16 bytes make large tiles a tenth faster, and some of the small ones with deep slices slower (measured on
        // an NVIDIA H200).
        let lie = if raw && depth < 128 && vectors(along, 8) {
            Lie::Words
        } else if raw && found.is_some() && uses(m, matrix.read) == 1 {
            Lie::Halves
        } else if found.is_some() {
            Lie::Vectors
        } else if raw && whole(along, 4) && view.strides[if along == Along::Inner { i } else { o }] == 1 {
            Lie::Shifted(m.printer.kernel.reads[matrix.read].len.div_ceil(2) - 1)
        } else {
            Lie::Single
        };
        let chunk = match lie {
            Lie::Words => 8,
            Lie::Vectors | Lie::Halves | Lie::Shifted(_) => 4,
            // Neighbouring lanes still read neighbours.
            Lie::Single => 1,
        };
        match lie {
            Lie::Halves => m.want_halves(binding),
            Lie::Words | Lie::Vectors => {
                m.want(binding, chunk * stored.size() / 4);
            }
            Lie::Shifted(_) | Lie::Single => {
                m.want(binding, 1);
            }
        }
        Operand {
            name: if left { "a" } else { "b" },
            binding,
            stored,
            dtype,
            outer: view.shape[o],
            inner: view.shape[i],
            outer_stride: view.strides[o],
            inner_stride: view.strides[i],
            tile,
            depth,
            lanes,
            chunk,
            along,
            lie,
            scalar,
        }
    }

    /// Loads of each lane for one tile.
    fn loads(&self) -> usize {
        (self.tile * self.depth).div_ceil(self.chunk * self.lanes)
    }

    fn register(&self, load: usize) -> String {
        format!("{}r{load}", self.name)
    }

    /// Declares the registers that hold the next tile, as it was loaded, and where the first slice begins.
    pub fn declare(&self, m: &mut Module<'_>, slice: &Slice<'_>) {
        let register = match self.lie {
            Lie::Vectors | Lie::Halves => format!("vec4<{}>", self.scalar),
            Lie::Words => "vec4<u32>".into(),
            Lie::Shifted(_) => "vec3<u32>".into(),
            Lie::Single => self.scalar.into(),
        };
        for load in 0..self.loads() {
            line!(m, "var {}: {register};", self.register(load));
        }
        if self.pitch(slice).is_some() {
            let (k, o) = self.place(m, 0);
            let at = self.at(m, slice, &k, &o);
            let name = self.name;
            line!(m, "let k_{name} = {k};");
            line!(m, "let o_{name} = {o};");
            line!(m, "var at_{name} = {at} / {}u;", self.chunk);
        }
    }

    /// Moves the address that serves all loads by a slice, `sign` of "+" or "-", if there is one.
    fn step(&self, m: &mut Module<'_>, slice: &Slice<'_>, sign: &str, exists: Option<&str>) {
        if self.pitch(slice).is_some() {
            let step = (self.depth as isize * self.inner_stride / self.chunk as isize) as i32 as u32;
            let step = match exists {
                Some(exists) => format!("select(0u, {step}u, {exists})"),
                None => format!("{step}u"),
            };
            line!(m, "at_{} {sign}= {step};", self.name);
        }
    }

    /// Moves that address to before the first slice.
    pub fn step_back(&self, m: &mut Module<'_>, slice: &Slice<'_>) {
        self.step(m, slice, "-", None);
    }

    /// Whether loads are aligned vectors, so that addresses can count those.
    fn is_aligned(&self) -> bool {
        matches!(self.lie, Lie::Vectors | Lie::Halves | Lie::Words)
    }

    /// Loads of a row of the tile, along the axis that they are along.
    fn per_row(&self) -> usize {
        (if self.along == Along::Inner { self.depth } else { self.tile }) / self.chunk
    }

    /// Whether all loads of a lane lie equally far apart and none has to look where the matrix ends: then one address,
    /// which moves from slice to slice, serves them all.
    pub fn is_steady(&self, ends_inside: bool) -> bool {
        let rows = self.lanes / self.per_row();
        // Rows of a group that are loaded in another order stay in their group.
        let group = if self.apart("").is_some() { 8 } else { 4 };
        let inner = self.outer.is_multiple_of(self.tile) && rows.is_multiple_of(group);
        self.is_aligned()
            && self.lanes.is_multiple_of(self.per_row())
            && (self.along == Along::Outer || inner)
            && !ends_inside
            && !self.ragged()
    }

    /// Rows of the tile from one load of a lane to its next, where one address serves them all.
    fn pitch(&self, slice: &Slice<'_>) -> Option<usize> {
        slice.steady.then(|| self.lanes / self.per_row())
    }

    /// (position along k, position along the outer axis) in the tile of the first element of a load, as names.
    fn place(&self, m: &mut Module<'_>, load: usize) -> (String, String) {
        let e = m.bind("e", &format!("lane + {}u", load * self.lanes));
        match self.along {
            Along::Inner => {
                let per = self.per_row();
                let k = m.bind("kk", &format!("({e} % {per}u) * {}u", self.chunk));
                let row = m.bind("oo", &format!("{e} / {per}u"));
                let row = self.apart(&row).map_or(row, |other| m.bind("oo", &other));
                (k, row)
            }
            Along::Outer => {
                let per = self.per_row();
                let o = m.bind("oo", &format!("({e} % {per}u) * {}u", self.chunk));
                (m.bind("kk", &format!("{e} / {per}u")), o)
            }
        }
    }

    /// The row that a load takes instead of `row`, where those of neighbouring lanes would meet in the banks of workgroup
    /// memory. `None` where they do not.
    fn apart(&self, row: &str) -> Option<String> {
        match (self.scalar, self.chunk, self.depth) {
            // Lanes put two rows of 80 bytes at a time: the rows of each eight in the order 0, 4, 1, 5, ..
            ("f16", 4 | 8, 32) if self.tile.is_multiple_of(8) => {
                Some(format!("({row} & ~7u) | (({row} & 1u) << 2u) | (({row} & 6u) >> 1u)"))
            }
            _ => None,
        }
    }

    /// Whether the last load reaches past the tile, so that lanes must look.
    fn ragged(&self) -> bool {
        !(self.tile * self.depth).is_multiple_of(self.chunk * self.lanes)
    }

    /// The address of the first element of a load. Rows past the last are computed and never stored, and what lies
    /// past the end of the sum is not put; their addresses only have to exist.
    fn at(&self, m: &mut Module<'_>, slice: &Slice<'_>, k: &str, o: &str) -> String {
        let last = match self.along {
            Along::Outer if self.is_aligned() => (self.outer - 1) / self.chunk * self.chunk,
            _ => self.outer - 1,
        };
        let k = m.bind("k", &format!("{} + {k}", slice.k0));
        let past_k = slice.ends_inside || self.ragged();
        let k = if past_k { format!("min({k}, {}u)", self.last_k()) } else { k };
        let mut o = m.bind("o", &format!("{} + {o}", slice.first));
        if !self.outer.is_multiple_of(self.tile) || self.ragged() {
            o = m.bind("o", &format!("min({o}, {last}u)"));
        }
        m.bind("at", &self.address(slice.base, &o, &k))
    }

    /// As [`Operand::load`], for the slice after the one that was loaded last. Where an address serves all loads and that
    /// slice need not exist, the one before is loaded again.
    pub fn load_next(&self, m: &mut Module<'_>, slice: &Slice<'_>, exists: Option<&str>) {
        self.step(m, slice, "+", exists);
        self.load(m, slice);
    }

    /// Prints the loads of a slice. What was loaded is not touched here: it arrives while the slice before is multiplied.
    pub fn load(&self, m: &mut Module<'_>, slice: &Slice<'_>) {
        for load in 0..self.loads() {
            let at = match self.pitch(slice) {
                Some(pitch) => {
                    let inner = self.along == Along::Inner;
                    let stride = if inner { self.outer_stride } else { self.inner_stride };
                    let far = (load * pitch) as isize * stride / self.chunk as isize;
                    format!("at_{} + {}u", self.name, far as i32 as u32)
                }
                None => {
                    let (k, o) = self.place(m, load);
                    let at = self.at(m, slice, &k, &o);
                    if self.is_aligned() { format!("{at} / {}u", self.chunk) } else { at }
                }
            };
            let register = self.register(load);
            match self.lie {
                Lie::Halves | Lie::Words => {
                    let vector = m.vector(self.binding, &at);
                    line!(m, "{register} = {vector};");
                }
                Lie::Vectors => {
                    let values = m.fours(self.binding, self.stored, &at);
                    let values = self.rounded(m, &values).join(", ");
                    line!(m, "{register} = vec4<{}>({values});", self.scalar);
                }
                Lie::Shifted(last) => {
                    let first = m.bind("w", &format!("{at} / 2u"));
                    let words: Vec<String> = (0..3)
                        .map(|i| m.words(self.binding, &format!("min({first} + {i}u, {last}u)"), 1).remove(0))
                        .collect();
                    line!(m, "{register} = vec3<u32>({});", words.join(", "));
                }
                Lie::Single => {
                    let value = m.elements(self.binding, self.stored, &at, 1);
                    let value = self.rounded(m, &value).remove(0);
                    line!(m, "{register} = {value};");
                }
            }
        }
    }

    /// What a load brought, as vectors for the tile, with zeros past the end of the sum.
    fn arrived(&self, m: &mut Module<'_>, slice: &Slice<'_>, load: usize, k: &str, o: &str) -> Vec<String> {
        let (mut value, scalar) = (self.register(load), self.scalar);
        if let Lie::Shifted(_) = self.lie {
            let at = self.at(m, slice, k, o);
            let half = |m: &mut Module<'_>, a: &str, b: &str| {
                let moved = format!("({value}.{a} >> 16u) | ({value}.{b} << 16u)");
                m.bind("u", &format!("select({value}.{a}, {moved}, {at} % 2u == 1u)"))
            };
            let (low, high) = (half(m, "x", "y"), half(m, "y", "z"));
            value = m.bind("v", &four_halves(&low, &high));
        }
        if slice.ends_inside {
            let k = m.bind("k", &format!("{} + {k}", slice.k0));
            if self.along == Along::Inner && self.chunk > 1 && !self.inner.is_multiple_of(self.chunk) {
                // It can end inside a load.
                let part = |(z, part): (usize, String)| {
                    let four =
                        format!("vec4<u32>({}u, {}u, {}u, {}u)", 4 * z, 4 * z + 1, 4 * z + 2, 4 * z + 3);
                    let inside = format!("vec4<u32>({k}) + {four} < vec4<u32>({})", slice.end);
                    m.bind("v", &format!("select(vec4<{scalar}>(), {part}, {inside})"))
                };
                return self.as_vectors(value).into_iter().enumerate().map(part).collect();
            }
            let inside = format!("{k} < {}", slice.end);
            let zero = match self.lie {
                Lie::Single => format!("{scalar}()"),
                Lie::Words => "vec4<u32>()".into(),
                Lie::Vectors | Lie::Halves | Lie::Shifted(_) => format!("vec4<{scalar}>()"),
            };
            value = m.bind("v", &format!("select({zero}, {value}, {inside})"));
        }
        self.as_vectors(value)
    }

    /// What was loaded, in vectors as long as those of the tile.
    fn as_vectors(&self, value: String) -> Vec<String> {
        match self.lie {
            Lie::Words => eight_halves(&value).into(),
            _ => vec![value],
        }
    }

    fn last_k(&self) -> usize {
        match self.along {
            Along::Inner if self.is_aligned() => (self.inner - 1) / self.chunk * self.chunk,
            _ => self.inner - 1,
        }
    }

    fn address(&self, base: &str, o: &str, k: &str) -> String {
        let term = |x: &str, stride: isize| match stride {
            1 => x.to_string(),
            s => format!("{x} * {}u", s as i32 as u32),
        };
        format!("{base} + {} + {}", term(o, self.outer_stride), term(k, self.inner_stride))
    }

    /// Values as the product asks, in the type of the workgroup memory.
    fn rounded(&self, m: &mut Module<'_>, values: &[String]) -> Vec<String> {
        let rounded: Vec<String> = values.iter().map(|v| cast(m, self.stored, self.dtype, v)).collect();
        match self.scalar {
            "f16" => rounded.iter().map(|v| format!("f16({v})")).collect(),
            _ => rounded,
        }
    }

    /// Puts the registers into workgroup memory laid out `[k][outer]`, `stride` vectors of four from k to k.
    pub fn put_inner_major(
        &self,
        m: &mut Module<'_>,
        memory: &str,
        offset: &str,
        stride: usize,
        slice: &Slice<'_>,
    ) {
        let place =
            |k: &str, o: &str| (format!("{offset} + {k} * {stride}u + {o} / 4u"), format!("{o} % 4u"));
        let from_row_to_row = if self.along == Along::Inner { 1 } else { 4 * stride };
        self.put(m, slice, place, from_row_to_row, |m, to, part, value| match (self.chunk, self.along) {
            (1, _) => line!(m, "{memory}[{to}][{part}] = {value};"),
            (_, Along::Outer) => line!(m, "{memory}[{to}] = {value};"),
            (_, Along::Inner) => {
                for (z, element) in ["x", "y", "z", "w"].iter().enumerate() {
                    line!(m, "{memory}[{to} + {}u][{part}] = {value}.{element};", z * stride);
                }
            }
        });
    }

    /// Puts the registers into workgroup memory as they were loaded: `[outer][k]` or `[k][outer]`, `stride` vectors
    /// of four from row to row.
    pub fn put_as_loaded(&self, m: &mut Module<'_>, memory: &str, stride: usize, slice: &Slice<'_>) {
        let place = |k: &str, o: &str| {
            let (major, minor) = if self.along == Along::Inner { (o, k) } else { (k, o) };
            (format!("{major} * {stride}u + {minor} / 4u"), format!("{minor} % 4u"))
        };
        self.put(m, slice, place, 4 * stride, |m, to, part, value| match self.chunk {
            1 => line!(m, "{memory}[{to}][{part}] = {value};"),
            _ => line!(m, "{memory}[{to}] = {value};"),
        });
    }

    /// Prints a store for each load: to which vector, which element of it (if it is one), and what. `place` says where a
    /// position goes, the number how many elements lie between rows of the tile there.
    fn put<'a>(
        &self,
        m: &mut Module<'a>,
        slice: &Slice<'_>,
        place: impl Fn(&str, &str) -> (String, String),
        from_row_to_row: usize,
        store: impl Fn(&mut Module<'a>, &str, &str, &str),
    ) {
        let first = self.pitch(slice).map(|pitch| {
            let (to, part) = place(&format!("k_{}", self.name), &format!("o_{}", self.name));
            (pitch * from_row_to_row, m.bind("to", &to), part)
        });
        for load in 0..self.loads() {
            let (to, part, values) = match &first {
                Some((apart, to, part)) => (
                    format!("{to} + {}u", load * apart / 4),
                    part.clone(),
                    self.as_vectors(self.register(load)),
                ),
                None => {
                    let (k, o) = self.place(m, load);
                    let values = self.arrived(m, slice, load, &k, &o);
                    let (to, part) = place(&k, &o);
                    if self.ragged() {
                        line!(m, "if ({k} < {}u && {o} < {}u) {{", self.depth, self.tile);
                    }
                    (to, part, values)
                }
            };
            for (z, value) in values.iter().enumerate() {
                let to = if z == 0 { to.clone() } else { format!("{to} + {z}u") };
                store(m, &to, &part, value);
            }
            if first.is_none() && self.ragged() {
                line!(m, "}}");
            }
        }
    }
}

/// How often a product reads a memory, as an operand or in its epilogue.
fn uses(m: &Module<'_>, read: usize) -> usize {
    let Body::MatMul(body) = &m.printer.kernel.body else { return 0 };
    let loads = body.epilogue.segments[0].loads.iter().filter(|l| l.source == Source::Memory(read));
    (body.left.read == read) as usize + (body.right.read == read) as usize + loads.count()
}

/// Whether chunks along axis `this` are aligned whole words.
fn aligned(view: &View, this: usize, other: usize, chunk: usize) -> bool {
    let n = chunk as isize;
    let batch = 0..view.shape.len() - 2;
    view.strides[this] == 1
        && view.offset % n == 0
        && (view.shape[other] == 1 || view.strides[other] % n == 0)
        && batch.into_iter().all(|a| view.shape[a] == 1 || view.strides[a] % n == 0)
}
