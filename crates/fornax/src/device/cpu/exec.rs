//! Runs block programs: walks the tiles of a segment and carries out the steps on each.

use super::chain::{Chain, FOLDS, Work};
use super::numeric::{self, register, with_register};
use super::ops::{Loops, Slot, Tile, loops};
use super::reduce::{self, Running};
use super::space::{Base, Class};
use super::strided::{Strided, read_one};
use super::threads::{Shared, with_scratch};
use super::tile::{Code, Operand, Place, Program, Step, constant};
use crate::dtype::{DType, Scalar};
use crate::graph::Random;
use crate::random::{threefry, unit};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Mutex;

/// What a launch works on.
pub(super) struct Context {
    pub reads: SmallVec<[*mut u8; 6]>,
    pub writes: SmallVec<[*mut u8; 4]>,
    pub args: SmallVec<[Scalar; 4]>,
    /// The first index that was outside, with the size it had to be under.
    pub outside: Mutex<Option<(i64, usize)>>,
}

// SAFETY: the launch promises that the memories are its own while it runs; tasks write disjoint elements.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Notes an index outside its axis.
    pub fn report(&self, index: i64, len: usize) {
        let mut outside = self.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        outside.get_or_insert((index, len));
    }
}

/// A program at work on one thread.
pub(super) struct Worker<'a> {
    program: &'a Program,
    context: &'a Context,
    loops: &'static Loops,
    scratch: *mut u8,
    /// Where element (0, 0, ..) of each access lies.
    bases: SmallVec<[*mut u8; 8]>,
    /// Where the tile of each access begins.
    pointers: SmallVec<[*mut u8; 8]>,
    /// The tile's place: outer axes, row, column.
    at: SmallVec<[usize; 8]>,
    rows: usize,
    cols: usize,
    /// The tile's first position, row-major over the reduced axes.
    position: usize,
}

impl<'a> Worker<'a> {
    /// Starts on this thread's scratch memory. `product` is where address 0 of the product would lie.
    pub fn with<R>(
        program: &'a Program,
        context: &'a Context,
        product: Shared<u8>,
        f: impl FnOnce(&mut Worker<'a>) -> R,
    ) -> R {
        with_scratch(program.scratch, |scratch| {
            let bases = program.space.accesses.iter().zip(&program.sizes).map(|(a, &size)| {
                let base = match a.base {
                    Base::Read(n) => context.reads[n],
                    Base::Write(n) => context.writes[n],
                    Base::Product => product.0,
                    Base::Index => std::ptr::null_mut(),
                };
                base.wrapping_offset(a.offset * size as isize)
            });
            let bases: SmallVec<[*mut u8; 8]> = bases.collect();
            let mut worker = Worker {
                program,
                context,
                loops: loops(),
                scratch,
                pointers: bases.clone(),
                bases,
                at: SmallVec::from_elem(0, program.space.outer.len() + 2),
                rows: 1,
                cols: 1,
                position: 0,
            };
            worker.run(&program.uniform);
            let result = f(&mut worker);
            // What was written past the caches must be seen by whoever waits for this task.
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 has SSE.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
            result
        })
    }

    /// Runs all of a range of kept tiles.
    pub fn kept_tiles(&mut self, tiles: Range<usize>) {
        let all = 0..self.program.reduced_tiles();
        for tile in tiles {
            self.seek_kept(tile);
            for pass in 0..self.program.passes.len() {
                self.run(&self.program.kept[pass]);
                self.pass(tile, pass, all.clone());
                self.finish(pass);
            }
            self.seek_kept(tile);
            self.run(&self.program.kept[self.program.passes.len()]);
        }
    }

    /// Runs one pass of a kept tile over a range of its reduced tiles.
    pub fn pass(&mut self, kept: usize, pass: usize, tiles: Range<usize>) {
        let program = self.program;
        let once = program.reduced_tiles() == 1;
        if program.passes[pass].is_empty() {
            return;
        }
        let first = tiles.start;
        for tile in tiles {
            if !once || pass == 0 {
                self.seek(kept, tile);
            }
            self.pass_of_tile(pass, tile == first);
        }
    }

    /// Runs the only pass of a loop that reduces its rows, over some of them; `first` if no others were reduced before.
    pub fn reduce_rows(&mut self, rows: Range<usize>, first: bool) {
        let (height, cols) = (self.program.tile_rows, self.program.space.cols);
        for row in rows.clone().step_by(height) {
            self.place(row, 0, height.min(rows.end - row), cols);
            self.position = row * cols;
            self.pass_of_tile(0, first && row == rows.start);
        }
    }

    /// Runs a pass over the tile at hand, and takes what it gives into the running values.
    fn pass_of_tile(&mut self, pass: usize, first: bool) {
        let program = self.program;
        for step in &program.passes[pass] {
            let Code::Reduce { op, dtype, running } = step.code else {
                self.step(step);
                continue;
            };
            self.reduce(step);
            if let Some(k) = running {
                let n = self.kept_extent();
                let tile_result = Running {
                    values: self.slot(&step.dst, Class::Row).ptr,
                    positions: self.slot(&step.c, Class::Row).ptr.cast(),
                };
                let into = self.running(k as usize);
                // SAFETY: both lie in scratch with room for the tile's kept extent.
                unsafe {
                    reduce::take_in(op, dtype, into, tile_result, n, first, self.position as i64);
                }
            }
        }
    }

    /// Turns the running values of a pass into values.
    pub fn finish(&mut self, pass: usize) {
        for k in 0..self.program.accumulators.len() {
            let a = self.program.accumulators[k];
            if a.pass == pass {
                // SAFETY: registers of the kept extent.
                unsafe {
                    let dst = self.scratch.add(a.result as usize);
                    reduce::finish(a.op, a.dtype, self.running(k), dst, self.kept_extent());
                }
            }
        }
    }

    /// Where a running value lies.
    fn running(&self, k: usize) -> Running {
        running_at(self.program, self.scratch, k)
    }

    /// The scratch memory, for the running values.
    pub fn scratch(&self) -> *mut u8 {
        self.scratch
    }

    fn kept_extent(&self) -> usize {
        if self.program.space.col_reduced { self.rows } else { self.cols }
    }

    /// Goes to a kept tile, at the start of the reduced axes.
    pub fn seek_kept(&mut self, kept: usize) {
        self.seek(kept, 0);
    }

    fn seek(&mut self, kept: usize, reduced: usize) {
        let p = self.program;
        let s = &p.space;
        let (row_tiles, col_tiles) = (s.rows.div_ceil(p.tile_rows), s.cols.div_ceil(p.tile_cols));
        let outer = s.outer.len();
        let (mut kept, mut reduced) = (kept, reduced);
        let mut take = |is_reduced: bool, n: usize| {
            if n == 1 {
                return 0;
            }
            let from = if is_reduced { &mut reduced } else { &mut kept };
            let at = *from % n;
            *from /= n;
            at
        };
        let col = take(s.col_reduced, col_tiles) * p.tile_cols;
        let row = take(s.row_reduced, row_tiles) * p.tile_rows;
        for axis in (0..outer).rev() {
            self.at[axis] = take(axis >= s.outer_kept, s.outer[axis]);
        }
        self.place(row, col, p.tile_rows.min(s.rows - row), p.tile_cols.min(s.cols - col));
        let mut position = 0;
        for axis in s.outer_kept..outer {
            position = position * s.outer[axis] + self.at[axis];
        }
        if s.row_reduced {
            position = position * s.rows + row;
        }
        if s.col_reduced {
            position = position * s.cols + col;
        }
        self.position = position;
    }

    /// Sets the tile's rows and columns and finds its memory.
    fn place(&mut self, row: usize, col: usize, rows: usize, cols: usize) {
        let outer = self.program.space.outer.len();
        self.at[outer] = row;
        self.at[outer + 1] = col;
        (self.rows, self.cols) = (rows, cols);
        for (i, access) in self.program.space.accesses.iter().enumerate() {
            let mut offset = 0;
            for (&at, &stride) in self.at.iter().zip(&access.strides) {
                offset += at as isize * stride;
            }
            self.pointers[i] = self.bases[i].wrapping_offset(offset * self.program.sizes[i] as isize);
        }
    }

    /// Runs a map over a box of rows and columns at one place of the outer axes.
    pub fn map_box(&mut self, outer: usize, rows: Range<usize>, cols: Range<usize>) {
        let p = self.program;
        let mut left = outer;
        for axis in (0..p.space.outer.len()).rev() {
            self.at[axis] = left % p.space.outer[axis];
            left /= p.space.outer[axis];
        }
        for row in rows.clone().step_by(p.tile_rows) {
            for col in cols.clone().step_by(p.tile_cols) {
                self.place(row, col, p.tile_rows.min(rows.end - row), p.tile_cols.min(cols.end - col));
                for steps in &p.passes {
                    self.run(steps);
                }
            }
        }
    }

    pub fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    #[inline(always)]
    fn slot(&self, operand: &Operand, class: Class) -> Slot {
        let (ptr, rs) = match operand.place {
            Place::None => return Slot::NONE,
            Place::Scratch(offset) => {
                let rs = match operand.class {
                    Class::Full => self.cols as isize,
                    Class::Row => 1,
                    _ => 0,
                };
                (self.scratch.wrapping_add(offset as usize), rs)
            }
            Place::Access(access) => (self.pointers[access as usize], operand.rs),
        };
        match (class, operand.class) {
            (_, Class::One) => Slot { ptr, rs: 0, each: false },
            (Class::Full, Class::Full) => Slot { ptr, rs, each: true },
            (Class::Full, Class::Row) => Slot { ptr, rs, each: false },
            _ => Slot { ptr, rs: 0, each: true },
        }
    }

    /// Rows and columns of an extent.
    #[inline(always)]
    fn extent(&self, class: Class) -> (usize, usize) {
        match class {
            Class::One => (1, 1),
            Class::Row => (1, self.rows),
            Class::Col => (1, self.cols),
            Class::Full => (self.rows, self.cols),
        }
    }

    #[inline(always)]
    fn tile(&self, step: &Step) -> Tile {
        let (rows, cols) = self.extent(step.class);
        let slot = |o| self.slot(o, step.class);
        let (dst, a, b, c) = (slot(&step.dst), slot(&step.a), slot(&step.b), slot(&step.c));
        let mut tile = Tile { rows, cols, dst, a, b, c };
        tile.flatten();
        tile
    }

    fn reduce(&self, step: &Step) {
        let Code::Reduce { op, dtype, .. } = step.code else { return };
        if matches!(step.a.place, Place::None) {
            return;
        }
        let columns = self.program.space.col_reduced;
        let a = self.slot(&step.a, Class::Full);
        let (dst, c) = (self.slot(&step.dst, Class::Row), self.slot(&step.c, Class::Row));
        let tile = Tile { rows: self.rows, cols: self.cols, dst, a, b: Slot::NONE, c };
        // SAFETY: operands cover the tile, the destination its kept extent.
        unsafe {
            if dtype == DType::F32 {
                (self.loops.reduce)(op, columns, &tile)
            } else {
                use reduce::reduce_any;
                with_register!(dtype, reduce_any(op, columns, &tile))
            }
        }
    }

    /// Runs a chain over the tile.
    unsafe fn chain(&self, chain: &Chain) {
        let slots: SmallVec<[Slot; 16]> = chain.outside.iter().map(|o| self.slot(o, Class::Full)).collect();
        let results: SmallVec<[*mut f32; FOLDS]> =
            chain.folds.iter().map(|(_, dst)| self.slot(dst, Class::Row).ptr.cast()).collect();
        let (rows, cols, loops) = (self.rows, self.cols, self.loops);
        let work = Work { chain, rows, cols, slots: &slots, results: &results, loops };
        // SAFETY: as in `step`.
        unsafe {
            match &chain.native {
                Some(native) => native.run(&work),
                None => (loops.chain)(&work, &work.whole()),
            }
        }
    }

    fn step(&mut self, step: &Step) {
        // SAFETY: the compiler of the program gave every operand memory for its extent, of its type; views
        // stay inside their memories, which is the kernel's contract.
        unsafe {
            match step.code {
                Code::Unary(DType::F32, op) => (self.loops.unary)(op, &self.tile(step)),
                Code::Binary(DType::F32, op) => (self.loops.binary)(op, &self.tile(step)),
                Code::Chain(n) => self.chain(&self.program.chains[n as usize]),
                Code::Choose(DType::F32) => (self.loops.choose)(&self.tile(step)),
                Code::Literal(bytes, n) => {
                    let dst = self.slot(&step.dst, Class::One).ptr;
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst, n as usize);
                }
                Code::Arg(n, dtype) => {
                    let (bytes, n) = constant(self.context.args[n as usize], dtype);
                    let dst = self.slot(&step.dst, Class::One).ptr;
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), dst, n as usize);
                }
                Code::Unary(dtype, op) => {
                    use numeric::unary;
                    let tile = self.tile(step);
                    with_register!(dtype, unary(op, &tile))
                }
                Code::Binary(dtype, op) => {
                    use numeric::binary;
                    let tile = self.tile(step);
                    if !(self.loops.integer)(dtype, op, &tile) {
                        with_register!(dtype, binary(op, &tile))
                    }
                }
                Code::Choose(dtype) => {
                    use numeric::choose;
                    let tile = self.tile(step);
                    with_register!(dtype, choose(&tile))
                }
                Code::Cast(from, to) => self.cast(from, to, step),
                Code::Stream => (self.loops.stream)(&self.tile(step)),
                Code::Copy(dtype) => {
                    use numeric::copy;
                    let tile = self.tile(step);
                    with_register!(dtype, copy(&tile))
                }
                Code::Random(kind) => self.random(kind, step),
                Code::Reduce { .. } => self.reduce(step),
                Code::Index(access, dtype) => self.index(access as usize, dtype, step),
                Code::Load(access, dtype) => self.load(access as usize, dtype, step),
                Code::Gather { access, dtype, stride, len } => {
                    self.gather(access as usize, dtype, stride, len, step)
                }
                Code::Store(access, dtype) => self.store(access as usize, dtype, step),
            }
        }
    }

    unsafe fn cast(&self, from: DType, to: DType, step: &Step) {
        let mut tile = self.tile(step);
        // SAFETY: as in `step`.
        unsafe {
            match (from, to) {
                (DType::F32, DType::F32) => numeric::copy::<f32>(&tile),
                (_, DType::F16 | DType::BF16) => {
                    if from != DType::F32 {
                        numeric::cast(from, DType::F32, &tile);
                        tile.a = tile.dst;
                    }
                    (self.loops.round_to)(to, &tile);
                }
                _ => numeric::cast(from, to, &tile),
            }
        }
    }

    unsafe fn random(&self, kind: Random, step: &Step) {
        // SAFETY: as in `step`; seed and stream are single values.
        unsafe {
            let (rows, cols) = self.extent(step.class);
            let (dst, index) = (self.slot(&step.dst, step.class), self.slot(&step.c, step.class));
            let seed = *self.slot(&step.a, step.class).ptr.cast::<u32>();
            let stream = *self.slot(&step.b, step.class).ptr.cast::<u32>();
            for row in 0..rows {
                let (at, step): (*const i64, usize) = (index.row(row), index.each as usize);
                let (bits, floats): (*mut u32, *mut f32) = (dst.row(row), dst.row(row));
                for i in 0..cols {
                    let (x, y) = threefry(seed, stream, *at.add(i * step) as u64);
                    match kind {
                        Random::Bits => *bits.add(i) = x,
                        Random::Uniform => *floats.add(i) = unit(x),
                        Random::Normal => *floats.add(i) = normal(x, y),
                    }
                }
            }
        }
    }

    /// Rows, columns and their strides of an access over an extent.
    fn strides(&self, access: usize, class: Class) -> (usize, usize, isize, isize) {
        let a = &self.program.space.accesses[access];
        let (rows, cols) = self.extent(class);
        match class {
            Class::One => (rows, cols, 0, 0),
            Class::Row => (rows, cols, 0, a.row_stride()),
            Class::Col => (rows, cols, 0, a.col_stride()),
            Class::Full => (rows, cols, a.row_stride(), a.col_stride()),
        }
    }

    /// The rows and columns of the extent that exist in memory.
    fn window(&self, access: usize, class: Class) -> (Range<usize>, Range<usize>) {
        let a = &self.program.space.accesses[access];
        let (rows, cols) = self.extent(class);
        if a.empty {
            return (0..0, 0..0);
        }
        let Some(mask) = &a.mask else { return (0..rows, 0..cols) };
        let outer = self.at.len() - 2;
        if (0..outer).any(|i| self.at[i] < mask[i].0 || self.at[i] >= mask[i].1) {
            return (0..0, 0..0);
        }
        let clip = |axis: usize, n: usize| {
            let (lo, hi) =
                (mask[axis].0.saturating_sub(self.at[axis]), mask[axis].1.saturating_sub(self.at[axis]));
            lo.min(n)..hi.min(n)
        };
        let inside = |axis: usize| !clip(axis, 1).is_empty();
        match class {
            Class::Full => (clip(outer, rows), clip(outer + 1, cols)),
            Class::Row => (if inside(outer + 1) { 0..1 } else { 0..0 }, clip(outer, cols)),
            Class::Col => (if inside(outer) { 0..1 } else { 0..0 }, clip(outer + 1, cols)),
            Class::One => {
                let all = inside(outer) && inside(outer + 1);
                (if all { 0..1 } else { 0..0 }, 0..1)
            }
        }
    }

    unsafe fn index(&self, access: usize, dtype: DType, step: &Step) {
        let (rows, cols, rs, cs) = self.strides(access, step.class);
        let (in_rows, in_cols) = self.window(access, step.class);
        let a = &self.program.space.accesses[access];
        let first: isize =
            a.offset + self.at.iter().zip(&a.strides).map(|(&at, &s)| at as isize * s).sum::<isize>();
        let dst = self.slot(&step.dst, step.class);
        for row in 0..rows {
            let start = (first + row as isize * rs) as i64;
            let value = |i: usize| {
                let exists = in_rows.contains(&row) && in_cols.contains(&i);
                if exists { start + i as i64 * cs as i64 } else { 0 }
            };
            // SAFETY: as in `step`.
            unsafe {
                match dtype {
                    DType::I64 if in_cols == (0..cols) && in_rows.contains(&row) => {
                        let dst: *mut i64 = dst.row(row);
                        (0..cols).for_each(|i| *dst.add(i) = start + i as i64 * cs as i64);
                    }
                    DType::I64 => (0..cols).for_each(|i| *dst.row::<i64>(row).add(i) = value(i)),
                    DType::I32 => (0..cols).for_each(|i| *dst.row::<i32>(row).add(i) = value(i) as i32),
                    DType::U32 => (0..cols).for_each(|i| *dst.row::<u32>(row).add(i) = value(i) as u32),
                    DType::F32 => (0..cols).for_each(|i| *dst.row::<f32>(row).add(i) = value(i) as f32),
                    DType::F64 => (0..cols).for_each(|i| *dst.row::<f64>(row).add(i) = value(i) as f64),
                    _ => (0..cols).for_each(|i| *dst.row::<u8>(row).add(i) = value(i) as u8),
                }
            }
        }
    }

    unsafe fn load(&self, access: usize, dtype: DType, step: &Step) {
        let (rows, cols, rs, cs) = self.strides(access, step.class);
        let (in_rows, in_cols) = self.window(access, step.class);
        let dst = self.slot(&step.dst, step.class);
        let src = self.pointers[access];
        let size = register(dtype).size();
        // SAFETY: as in `step`; only elements inside the window are touched.
        unsafe {
            if in_rows != (0..rows) || in_cols != (0..cols) {
                for row in 0..rows {
                    std::ptr::write_bytes(
                        dst.ptr.offset(row as isize * dst.rs * size as isize),
                        0,
                        cols * size,
                    );
                }
                if in_rows.is_empty() || in_cols.is_empty() {
                    return;
                }
            }
            let (row0, col0) = (in_rows.start as isize, in_cols.start as isize);
            let from = src.wrapping_offset((row0 * rs + col0 * cs) * dtype.size() as isize);
            let to = dst.ptr.wrapping_offset((row0 * dst.rs + col0) * size as isize);
            let part = Strided { rows: in_rows.len(), cols: in_cols.len(), rs, cs };
            part.read(self.loops, dtype, from, Slot { ptr: to, rs: dst.rs, each: true });
        }
    }

    unsafe fn gather(&self, access: usize, dtype: DType, stride: isize, len: usize, step: &Step) {
        let (rows, cols, rs, cs) = self.strides(access, step.class);
        let (in_rows, in_cols) = self.window(access, step.class);
        let (dst, index) = (self.slot(&step.dst, step.class), self.slot(&step.a, step.class));
        let size = register(dtype).size();
        let element = dtype.size() as isize;
        let outside = |at: i64| {
            let out = at < 0 || at as u64 >= len as u64;
            if out {
                self.context.report(at, len);
            }
            out
        };
        // SAFETY: as in `step`; an index outside leaves a zero and an error.
        unsafe {
            for row in 0..rows {
                let to = dst.ptr.wrapping_offset(row as isize * dst.rs * size as isize);
                if !in_rows.contains(&row) || in_cols != (0..cols) {
                    std::ptr::write_bytes(to, 0, cols * size);
                }
                if !in_rows.contains(&row) {
                    continue;
                }
                let from = self.pointers[access].wrapping_offset(row as isize * rs * element);
                let at: *const i64 = index.row(row);
                if !index.each {
                    if outside(*at) {
                        std::ptr::write_bytes(to, 0, cols * size);
                        continue;
                    }
                    let start = in_cols.start as isize;
                    let from = from.wrapping_offset((*at as isize * stride + start * cs) * element);
                    let part = Strided { rows: 1, cols: in_cols.len(), rs: 0, cs };
                    let to = to.wrapping_offset(start * size as isize);
                    part.read(self.loops, dtype, from, Slot { ptr: to, rs: 0, each: true });
                    continue;
                }
                for i in in_cols.clone() {
                    let to = to.add(i * size);
                    if outside(*at.add(i)) {
                        std::ptr::write_bytes(to, 0, size);
                        continue;
                    }
                    let offset = *at.add(i) as isize * stride + i as isize * cs;
                    read_one(dtype, from.wrapping_offset(offset * element), to);
                }
            }
        }
    }

    unsafe fn store(&self, access: usize, dtype: DType, step: &Step) {
        let (rows, cols, rs, cs) = self.strides(access, step.class);
        let a = self.slot(&step.a, step.class);
        let part = Strided { rows, cols, rs, cs };
        // SAFETY: as in `step`.
        unsafe { part.write(self.loops, dtype, a, self.pointers[access]) }
    }
}

/// Box-Muller of two words.
fn normal(x: u32, y: u32) -> f32 {
    let radius = (-2.0 * (1.0 - unit(x)).ln()).sqrt();
    radius * (std::f32::consts::TAU * unit(y)).cos()
}

/// Where running value `k` lies in a scratch memory.
pub(super) fn running_at(program: &Program, scratch: *mut u8, k: usize) -> Running {
    let a = &program.accumulators[k];
    Running {
        values: scratch.wrapping_add(a.values as usize),
        positions: scratch.wrapping_add(a.positions as usize).cast(),
    }
}

impl Program {
    /// How many tiles the kept axes make.
    pub fn kept_tiles(&self) -> usize {
        self.tiles(false)
    }

    /// How many tiles the reduced axes make for each kept tile.
    pub fn reduced_tiles(&self) -> usize {
        self.tiles(true)
    }

    fn tiles(&self, reduced: bool) -> usize {
        let s = &self.space;
        let outer = if reduced { &s.outer[s.outer_kept..] } else { &s.outer[..s.outer_kept] };
        let mut n: usize = outer.iter().product();
        if s.row_reduced == reduced {
            n *= s.rows.div_ceil(self.tile_rows);
        }
        if s.col_reduced == reduced {
            n *= s.cols.div_ceil(self.tile_cols);
        }
        n
    }
}
