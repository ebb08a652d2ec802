//! How a tile of an operand comes from memory into workgroup memory: through registers, one tile ahead of the
//! arithmetic. Any strides; loads are as wide as they allow.

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
    vector: bool,
    /// Whether the memory is declared as halves, because they are wanted as such.
    halves: bool,
    /// The WGSL type in workgroup memory.
    scalar: &'static str,
}

impl Operand {
    /// `left` says which one; `scalar` is "f32" (or an integer type), or "f16" for cooperative matrices.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        m: &mut Module<'_>,
        matrix: &Matrix,
        left: bool,
        tile: usize,
        depth: usize,
        lanes: usize,
        scalar: &'static str,
    ) -> Operand {
        let view = &matrix.view;
        let rank = view.shape.len();
        let (o, i) = if left { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
        let stored = m.printer.kernel.reads[matrix.read].dtype;
        let binding = m.read(matrix.read);
        let fits = |along: Along, chunk: usize| {
            let (this, other) = if along == Along::Inner { (i, o) } else { (o, i) };
            let whole = if along == Along::Inner { depth } else { tile };
            aligned(view, this, other, chunk)
                && whole.is_multiple_of(chunk)
                && (along == Along::Outer || view.shape[i].is_multiple_of(chunk))
                && (tile * depth).is_multiple_of(chunk * lanes)
        };
        // Four elements at a time, also of halves: consecutive lanes then touch consecutive words.
        const CHUNK: usize = 4;
        let found = [Along::Inner, Along::Outer].into_iter().find(|&along| fits(along, CHUNK));
        let contiguous = if view.strides[i] == 1 { Along::Inner } else { Along::Outer };
        let vector = found.is_some();
        // Where rows begin anywhere, one element at a time, so that neighbouring lanes still read neighbours.
        let (along, chunk) = (found.unwrap_or(contiguous), if vector { CHUNK } else { 1 });
        let halves = vector && scalar == "f16" && stored == DType::F16 && uses(m, matrix.read) == 1;
        match halves {
            true => m.want_halves(binding),
            false => {
                m.want(binding, if vector { chunk * stored.size() / 4 } else { 1 });
            }
        }
        Operand {
            name: if left { "a" } else { "b" },
            binding,
            stored,
            dtype: matrix.dtype,
            outer: view.shape[o],
            inner: view.shape[i],
            outer_stride: view.strides[o],
            inner_stride: view.strides[i],
            tile,
            depth,
            lanes,
            chunk,
            along,
            vector,
            halves,
            scalar,
        }
    }

    /// Loads of each lane for one tile.
    fn loads(&self) -> usize {
        (self.tile * self.depth).div_ceil(self.chunk * self.lanes)
    }

    fn register(&self, load: usize, quad: usize) -> String {
        format!("{}r{load}_{quad}", self.name)
    }

    /// Declares the registers that hold the next tile.
    pub fn declare(&self, m: &mut Module<'_>) {
        for load in 0..self.loads() {
            if self.chunk == 1 {
                line!(m, "var {}: {};", self.register(load, 0), self.scalar);
            }
            for quad in 0..self.chunk / 4 {
                line!(m, "var {}: vec4<{}>;", self.register(load, quad), self.scalar);
            }
        }
    }

    /// (position along k, position along the outer axis) in the tile of the first element of a load, as names.
    fn place(&self, m: &mut Module<'_>, load: usize) -> (String, String) {
        let e = m.bind("e", &format!("lane + {}u", load * self.lanes));
        match self.along {
            Along::Inner => {
                let per = self.depth / self.chunk;
                let k = m.bind("kk", &format!("({e} % {per}u) * {}u", self.chunk));
                (k, m.bind("oo", &format!("{e} / {per}u")))
            }
            Along::Outer => {
                let per = self.tile / self.chunk;
                let o = m.bind("oo", &format!("({e} % {per}u) * {}u", self.chunk));
                (m.bind("kk", &format!("{e} / {per}u")), o)
            }
        }
    }

    /// Whether the last load reaches past the tile, so that lanes must look.
    fn ragged(&self) -> bool {
        !(self.tile * self.depth).is_multiple_of(self.chunk * self.lanes)
    }

    /// Prints the loads of the tile that begins at `first` along the outer axis and `k0` along k; `base` is the
    /// address of the batch, `end` the k at which the sum ends.
    pub fn load(
        &self,
        m: &mut Module<'_>,
        base: &str,
        first: &str,
        k0: &str,
        end: &str,
        k_ends_inside: bool,
    ) {
        for load in 0..self.loads() {
            line!(m, "{{");
            let (k, o) = self.place(m, load);
            let k = m.bind("k", &format!("{k0} + {k}"));
            let o = m.bind("o", &format!("{first} + {o}"));
            let mut values: Vec<String> = vec![];
            if self.vector {
                // Rows past the last are computed and never stored; their addresses only have to exist.
                let last = match self.along {
                    Along::Inner => self.outer - 1,
                    Along::Outer => (self.outer - 1) / self.chunk * self.chunk,
                };
                let o = match self.outer.is_multiple_of(self.tile) {
                    true => o,
                    false => m.bind("o", &format!("min({o}, {last}u)")),
                };
                let safe_k = if k_ends_inside { format!("min({k}, {}u)", self.last_k()) } else { k.clone() };
                let at = m.bind("at", &self.address(base, &o, &safe_k));
                if self.halves && !k_ends_inside {
                    for (quad, four) in m.halves(self.binding, &at, self.chunk).iter().enumerate() {
                        line!(m, "{} = {four};", self.register(load, quad));
                    }
                    line!(m, "}}");
                    continue;
                }
                values.extend(self.values(m, &at, self.chunk));
                if k_ends_inside {
                    let inside = m.bind("inside", &format!("{k} < {end}"));
                    let zero = format!("{}(0)", self.scalar);
                    values = values.iter().map(|v| format!("select({zero}, {v}, {inside})")).collect();
                }
            } else {
                let safe_o = format!("min({o}, {}u)", self.outer - 1);
                let safe_k = format!("min({k}, {}u)", self.inner - 1);
                let at = m.bind("at", &self.address(base, &safe_o, &safe_k));
                let value = self.values(m, &at, 1).remove(0);
                let zero = format!("{}(0)", self.scalar);
                line!(m, "{} = select({zero}, {value}, {k} < {end});", self.register(load, 0));
            }
            for (quad, four) in values.chunks(4).enumerate() {
                line!(m, "{} = vec4<{}>({});", self.register(load, quad), self.scalar, four.join(", "));
            }
            line!(m, "}}");
        }
    }

    fn last_k(&self) -> usize {
        match self.along {
            Along::Inner => (self.inner - 1) / self.chunk * self.chunk,
            Along::Outer => self.inner - 1,
        }
    }

    fn address(&self, base: &str, o: &str, k: &str) -> String {
        let term = |x: &str, stride: isize| match stride {
            1 => x.to_string(),
            s => format!("{x} * {}u", s as i32 as u32),
        };
        format!("{base} + {} + {}", term(o, self.outer_stride), term(k, self.inner_stride))
    }

    /// `count` consecutive values, rounded as the product asks, in the type of the workgroup memory.
    fn values(&self, m: &mut Module<'_>, at: &str, count: usize) -> Vec<String> {
        if self.halves {
            // Halves stay halves.
            let fours = m.halves(self.binding, at, count);
            return fours.iter().flat_map(|q| ["x", "y", "z", "w"].map(|c| format!("{q}.{c}"))).collect();
        }
        let values = m.elements(self.binding, self.stored, at, count);
        let rounded: Vec<String> = values.iter().map(|v| cast(m, self.stored, self.dtype, v)).collect();
        match self.scalar {
            "f16" => rounded.iter().map(|v| format!("f16({v})")).collect(),
            _ => rounded,
        }
    }

    /// Puts the registers into workgroup memory laid out `[k][outer]`, `stride` vectors of four from k to k.
    pub fn put_inner_major(&self, m: &mut Module<'_>, memory: &str, offset: &str, stride: usize) {
        for load in 0..self.loads() {
            line!(m, "{{");
            let (k, o) = self.place(m, load);
            if self.ragged() {
                line!(m, "if ({k} < {}u && {o} < {}u) {{", self.depth, self.tile);
            }
            if self.chunk == 1 {
                let register = self.register(load, 0);
                line!(m, "{memory}[{offset} + {k} * {stride}u + {o} / 4u][{o} % 4u] = {register};");
            }
            for quad in 0..self.chunk / 4 {
                let register = self.register(load, quad);
                match self.along {
                    Along::Outer => {
                        line!(m, "{memory}[{offset} + {k} * {stride}u + {o} / 4u + {quad}u] = {register};")
                    }
                    Along::Inner => {
                        for (z, part) in ["x", "y", "z", "w"].iter().enumerate() {
                            let row = format!("({k} + {}u) * {stride}u + {o} / 4u", quad * 4 + z);
                            line!(m, "{memory}[{offset} + {row}][{o} % 4u] = {register}.{part};");
                        }
                    }
                }
            }
            if self.ragged() {
                line!(m, "}}");
            }
            line!(m, "}}");
        }
    }

    /// Puts the registers into workgroup memory as they were loaded: `[outer][k]` or `[k][outer]`, `stride` vectors
    /// of four from row to row.
    pub fn put_as_loaded(&self, m: &mut Module<'_>, memory: &str, offset: &str, stride: usize) {
        for load in 0..self.loads() {
            line!(m, "{{");
            let (k, o) = self.place(m, load);
            let (major, minor) = if self.along == Along::Inner { (o, k) } else { (k, o) };
            if self.chunk == 1 {
                let register = self.register(load, 0);
                line!(
                    m,
                    "{memory}[{offset} + {major} * {stride}u + {minor} / 4u][{minor} % 4u] = {register};"
                );
            }
            for quad in 0..self.chunk / 4 {
                let register = self.register(load, quad);
                line!(m, "{memory}[{offset} + {major} * {stride}u + {minor} / 4u + {quad}u] = {register};");
            }
            line!(m, "}}");
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
