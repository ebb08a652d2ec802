//! Machine code of chains: what a chain does to a row is written down once (`trace`), written as loops (`write`) whose
//! instructions get registers (`registers`), and put into executable memory, so that values stay in the machine's
//! registers between instructions. Where there is no such memory or no such machine, chains are carried out link by link.

mod memory;
mod registers;
mod trace;
mod write;
mod x86;

use super::chain::{Chain, Do, FOLDS, Link, OUTSIDE, Part, Work};
use super::simd::{Level, level};
use super::space::Class;
use crate::graph::Reduce;
use memory::Executable;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use std::sync::{Arc, LazyLock, Mutex, Weak};
use x86::Mem;

/// What the code of a chain is called with.
#[repr(C)]
struct Call {
    /// Where the operands' row begins.
    at: [*mut u8; OUTSIDE],
    /// Bytes from row to row.
    step: [isize; OUTSIDE],
    /// Where the reductions of the row go.
    results: [*mut f32; FOLDS],
    rows: usize,
    start: usize,
    end: usize,
    /// The column after the last whole vector, when it is done.
    done: usize,
}

/// The first argument is in this register.
const ARGUMENT: u8 = x86::RDI;

impl Call {
    const ROWS: Mem = Mem::Base(ARGUMENT, offset_of!(Call, rows) as i32);
    const START: Mem = Mem::Base(ARGUMENT, offset_of!(Call, start) as i32);
    const END: Mem = Mem::Base(ARGUMENT, offset_of!(Call, end) as i32);
    const DONE: Mem = Mem::Base(ARGUMENT, offset_of!(Call, done) as i32);

    fn at(y: u8) -> Mem {
        Mem::Base(ARGUMENT, offset_of!(Call, at) as i32 + 8 * y as i32)
    }

    fn step(y: u8) -> Mem {
        Mem::Base(ARGUMENT, offset_of!(Call, step) as i32 + 8 * y as i32)
    }

    fn result(fold: usize) -> Mem {
        Mem::Base(ARGUMENT, offset_of!(Call, results) as i32 + 8 * fold as i32)
    }
}

type Entry = unsafe extern "sysv64" fn(&mut Call);

/// The machine code of a chain.
#[derive(Debug)]
pub(super) struct Native {
    memory: Executable,
    entry: usize,
    /// Operands that are written past the caches, which only whole, aligned vectors are.
    streamed: Vec<u8>,
}

/// What the code of a chain depends on: its links, which operands are one number for a row, its reductions, and what it
/// asks for ahead.
#[derive(PartialEq, Eq, Hash)]
struct Key(Vec<Link>, Vec<bool>, Vec<Reduce>, Vec<(u8, i32)>);

/// The code that exists; equal chains share it.
static KNOWN: LazyLock<Mutex<FxHashMap<Key, Weak<Native>>>> = LazyLock::new(Mutex::default);

impl Native {
    /// The code of a chain; `None` where it must be carried out link by link.
    pub fn of(chain: &Chain) -> Option<Arc<Native>> {
        if level() < Level::Avx2 {
            return None;
        }
        let one = |o: &super::tile::Operand| matches!(o.class, Class::One | Class::Row);
        let folds: Vec<Reduce> = chain.folds.iter().map(|(op, _)| *op).collect();
        let key =
            Key(chain.links.clone(), chain.outside.iter().map(one).collect(), folds, chain.ahead.clone());
        let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(native) = known.get(&key).and_then(Weak::upgrade) {
            return Some(native);
        }
        let native = Arc::new(Native::compile(chain, &key.2)?);
        known.retain(|_, native| native.strong_count() > 0);
        known.insert(key, Arc::downgrade(&native));
        Some(native)
    }

    fn compile(chain: &Chain, folds: &[Reduce]) -> Option<Native> {
        let (code, entry) = write::assemble(&trace::trace(chain)?, folds);
        let streamed = chain.links.iter().filter(|l| l.what == Do::Stream).map(|l| l.y).collect();
        Some(Native { memory: Executable::new(&code)?, entry, streamed })
    }

    /// Runs a chain over a tile.
    ///
    /// # Safety
    /// As for [`run`](super::chain::run), of the chain whose code this is.
    pub unsafe fn run(&self, w: &Work) {
        let mut call = Call {
            at: [std::ptr::null_mut(); OUTSIDE],
            step: [0; OUTSIDE],
            results: [std::ptr::null_mut(); FOLDS],
            rows: 0,
            start: 0,
            end: w.cols,
            done: 0,
        };
        (0..w.slots.len()).for_each(|i| call.step[i] = w.step(i));
        for link in w.chain.links.iter().filter(|l| l.what == Do::SumRows) {
            // The code adds without asking whether there is something to add to.
            // SAFETY: the sums have an element for each column.
            unsafe { std::ptr::write_bytes(w.slots[link.y as usize].ptr.cast::<f32>(), 0, w.cols) };
        }
        // Rows that begin alike go together.
        let alike = self.streamed.iter().all(|&y| call.step[y as usize] % 64 == 0);
        let rows = if alike { w.rows } else { 1 };
        for first in (0..w.rows).step_by(rows) {
            for (i, slot) in w.slots.iter().enumerate() {
                call.at[i] = slot.ptr.wrapping_offset(first as isize * call.step[i]);
            }
            for (i, result) in w.results.iter().enumerate() {
                call.results[i] = result.wrapping_add(first);
            }
            (call.rows, call.start) = (rows, w.head(first));
            let aligned =
                |&y: &u8| call.at[y as usize].wrapping_add(call.start * 4).addr().is_multiple_of(32);
            let all = self.streamed.iter().all(aligned);
            // SAFETY: the code was assembled with this signature for this machine; the rest is the caller's promise.
            unsafe {
                if all {
                    let entry: Entry = std::mem::transmute(self.memory.at(self.entry));
                    entry(&mut call);
                }
                if !all || call.start > 0 || call.done < w.cols {
                    let done = all.then_some(call.done);
                    (w.loops.chain)(w, &Part { rows: first..first + rows, done });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ops::{Slot, loops};
    use super::super::tests::{leaves, norm};
    use super::super::tile::Operand;
    use super::*;
    use crate::dtype::DType;
    use crate::error::Result;
    use crate::graph::Unary;
    use crate::kernel::Body;
    use crate::{Device, Tensor, eval};

    const ROWS: usize = 3;

    /// A chain whose operand `i` is of class `classes[i]`.
    fn chain(links: &[Link], classes: &[Class], folds: &[Reduce]) -> Chain {
        let masks = links.iter().filter(|l| matches!(l.what, Do::Keep | Do::Replace));
        Chain {
            links: links.to_vec(),
            outside: classes.iter().map(|&class| Operand::scratch(0, class)).collect(),
            remembered: 4,
            folds: folds.iter().map(|&op| (op, Operand::scratch(0, Class::Row))).collect(),
            streamed: links.iter().find(|l| l.what == Do::Stream).map(|l| l.y),
            masks: masks.fold(0, |m, l| m | 1 << l.mask),
            ..Chain::default()
        }
    }

    /// What lies in the operands and the results of the folds after a chain ran, as bits.
    fn bits(chain: &Chain, cols: usize, number: &dyn Fn(usize, usize) -> f32) -> Vec<u32> {
        // A number in front, so that rows to be streamed are not all aligned.
        let numbers = |i: usize| (0..ROWS * cols + 1).map(|k| number(i, k)).collect::<Vec<f32>>();
        let mut memory: Vec<Vec<f32>> = (0..chain.outside.len()).map(numbers).collect();
        let slots = chain.outside.iter().zip(&mut memory).enumerate().map(|(i, (operand, m))| {
            let (rs, each) = match operand.class {
                Class::Full => (cols as isize, true),
                Class::Row => (1, false),
                Class::Col => (0, true),
                Class::One => (0, false),
            };
            if chain.masks & (1 << i) != 0 {
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(m);
                bytes.iter_mut().enumerate().for_each(|(k, b)| *b = (k % 3 == 0) as u8);
            }
            Slot { ptr: m.as_mut_ptr().wrapping_add(1).cast(), rs, each }
        });
        let slots: Vec<Slot> = slots.collect();
        let mut sums = vec![0f32; ROWS * FOLDS];
        let results: Vec<*mut f32> = sums.chunks_mut(ROWS).map(|sums| sums.as_mut_ptr()).collect();
        let work = Work { chain, rows: ROWS, cols, slots: &slots, results: &results, loops: loops() };
        // SAFETY: the operands cover rows x cols.
        unsafe {
            match &chain.native {
                Some(native) => native.run(&work),
                None => (loops().chain)(&work, &work.whole()),
            }
        }
        memory.iter().flatten().chain(&sums).map(|x| x.to_bits()).collect()
    }

    /// Compares machine code with links carried out one by one, on rows of several lengths.
    fn compare(mut chain: Chain, number: &dyn Fn(usize, usize) -> f32) {
        for cols in [3, 8, 64, 67, 203] {
            chain.native = None;
            let expected = bits(&chain, cols, number);
            chain.native = Native::of(&chain);
            assert!(chain.native.is_some(), "{:?}", chain.links);
            let nan = |x: u32| f32::from_bits(x).is_nan();
            let mut both = expected.iter().zip(bits(&chain, cols, number)).enumerate();
            let wrong = both.find(|(_, (a, b))| *a != b && !(nan(**a) && nan(*b)));
            if let Some((at, (a, b))) = wrong {
                panic!(
                    "{:?}, {cols} columns, {at}: {} != {}",
                    chain.links,
                    f32::from_bits(b),
                    f32::from_bits(*a)
                );
            }
        }
    }

    fn link(what: Do, y: u8, one: bool) -> Link {
        Link { what, y, mask: 0, one }
    }

    /// Small whole numbers, whose sums are exact in any order.
    fn whole(i: usize, k: usize) -> f32 {
        ((k * 7 + i * 13) % 23) as f32 - 11.0
    }

    /// Numbers of all magnitudes, and those that are none.
    fn wild(i: usize, k: usize) -> f32 {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, f32::MAX, -1.0];
        let k = k * 5 + i * 3;
        if k.is_multiple_of(11) { special[k / 11 % 8] } else { ((k % 97) as f32 - 48.0) * 0.37 }
    }

    #[test]
    fn functions_are_those_of_the_loops() {
        use Unary::*;
        // The others ask the standard library for some numbers, so they have no code.
        let all = [
            Neg, Abs, Sign, Recip, Sqrt, Rsqrt, Exp, Exp2, Expm1, Log, Log2, Log1p, Tanh, Erf, Floor, Ceil,
            Round, Trunc, Not,
        ];
        for op in all {
            let links = [link(Do::Load, 0, false), link(Do::Unary(op), 0, false), link(Do::Store, 1, false)];
            compare(chain(&links, &[Class::Full, Class::Full], &[]), &wild);
        }
        let half = link(Do::Round(DType::F16), 0, false);
        let links = [link(Do::Load, 0, false), half, link(Do::Store, 1, false)];
        compare(chain(&links, &[Class::Full, Class::Full], &[]), &wild);
    }

    #[test]
    fn operands_of_every_class() {
        let two = [
            Do::Add,
            Do::Sub,
            Do::SubFrom,
            Do::Mul,
            Do::Div,
            Do::Divide,
            Do::Max,
            Do::MaxFrom,
            Do::Min,
            Do::MinFrom,
        ];
        for what in two {
            for class in [Class::Full, Class::Col, Class::Row, Class::One] {
                let one = matches!(class, Class::Row | Class::One);
                for last in [Do::Store, Do::Stream] {
                    let links = [link(Do::Load, 0, false), link(what, 1, one), link(last, 2, false)];
                    compare(chain(&links, &[Class::Full, class, Class::Full], &[]), &wild);
                }
            }
        }
        for what in [Do::Keep, Do::Replace] {
            for class in [Class::Full, Class::Row] {
                let choose = Link { what, y: 1, mask: 2, one: false };
                let links = [link(Do::Load, 0, false), choose, link(Do::Store, 3, false)];
                compare(chain(&links, &[Class::Full, Class::Col, class, Class::Full], &[]), &wild);
            }
        }
    }

    #[test]
    fn reductions_and_sums_of_columns() {
        for op in [Reduce::Sum, Reduce::Max, Reduce::Min] {
            let links = [
                link(Do::Load, 0, false),
                link(Do::Fold, 0, false),
                link(Do::Sub, 1, true),
                link(Do::Fold, 1, false),
                link(Do::SumRows, 2, false),
            ];
            let classes = [Class::Full, Class::Row, Class::Col];
            compare(chain(&links, &classes, &[op, Reduce::Sum]), &whole);
        }
        let links = [link(Do::Load, 0, false), link(Do::Fold, 0, false)];
        compare(chain(&links, &[Class::Full], &[Reduce::Max]), &wild);
    }

    #[test]
    fn more_values_than_registers() {
        // Thirty operands are all read before the first of them is used again, and more than there are pointers.
        let n = 30u8;
        let mut links = vec![link(Do::Load, 0, false)];
        links.extend((1..n).map(|y| link(Do::Add, y, y % 5 == 0)));
        links.push(link(Do::Store, n + 1, false));
        links.extend((0..n).map(|y| link(Do::Mul, y, y % 5 == 0)));
        links.extend((0..n).rev().map(|y| link(Do::Sub, y, y % 5 == 0)));
        links.extend([
            link(Do::Unary(Unary::Tanh), 0, false),
            link(Do::Add, n + 1, false),
            link(Do::Fold, 0, false),
        ]);
        links.push(link(Do::Store, n, false));
        let mut classes: Vec<Class> =
            (0..n).map(|y| if y != 0 && y % 5 == 0 { Class::Row } else { Class::Full }).collect();
        classes.push(Class::Full);
        links.iter_mut().filter(|l| l.y == 0).for_each(|l| l.one = false);
        // Sums that are not exact differ by their order; the largest does not.
        compare(chain(&links, &classes, &[Reduce::Max]), &|i, k| wild(i, k).clamp(-3.0, 3.0));
    }

    #[test]
    fn equal_chains_share_their_code() {
        let links = [link(Do::Load, 0, false), link(Do::Mul, 0, false), link(Do::Store, 1, false)];
        let both = chain(&links, &[Class::Full, Class::Full], &[]);
        let (a, b) = (Native::of(&both), Native::of(&both));
        assert!(a.zip(b).is_some_and(|(a, b)| Arc::ptr_eq(&a, &b)));
    }

    /// The chains of the loops that compute some tensors.
    fn chains(of: &[&Tensor]) -> Result<Vec<Chain>> {
        let mut chains = vec![];
        for step in &crate::realize::plan(of)?.steps {
            let Body::Loop(body) = &step.kernel.body else { continue };
            for segment in &body.segments {
                chains.extend(super::super::compile::compile(&step.kernel, body, segment, None)?.chains);
            }
        }
        Ok(chains)
    }

    #[test]
    fn layers_are_few_chains_and_all_have_code() -> Result<()> {
        let leaves = leaves(4096, 768)?;
        let (x, norm) = (&leaves[0], norm(&leaves)?);
        let all: Vec<&Tensor> = norm.iter().collect();
        for (targets, count) in [(&all[..1], 3), (&all[..], 4), (&[&x.softmax(1)?, &x.gelu()?][..], 4)] {
            let chains = chains(targets)?;
            assert_eq!(chains.len(), count);
            assert!(chains.iter().all(|chain| chain.native.is_some()));
        }
        Ok(())
    }

    #[test]
    fn exponentials_of_long_rows_are_computed_once() -> Result<()> {
        let device = Device::cpu();
        let logits = Tensor::ones(&[16, 20_000], DType::F32, &device)?.variable()?;
        let targets = Tensor::zeros(&[16], DType::I64, &device)?;
        eval(&[&logits, &targets])?;
        let loss = logits.cross_entropy(&targets)?;
        let gradients = loss.backward()?;
        let mut wanted = vec![&loss];
        wanted.extend(gradients.get(&logits));
        let links = chains(&wanted)?.into_iter().flat_map(|chain| chain.links);
        assert_eq!(links.filter(|link| link.what == Do::Unary(Unary::Exp)).count(), 1);
        Ok(())
    }
}
