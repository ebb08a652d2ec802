//! Chains that are known beforehand: the instructions of common layers, compiled as one, so that they need not look what
//! comes next.

use super::chain::{At, Do, Line, Link, Second, Work, Y};
use super::ops::{Add, Exp, Mul, Op1, Sub};
use super::simd::Simd;
use crate::graph::Unary;

/// Makes a variant of [`Known`] from each list of links; (one) is an operand that is one number for the row.
macro_rules! known {
    ($($(#[$doc:meta])* $name:ident: $($what:ident $(($one:ident))?),+;)+) => {
        /// The known chains.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) enum Known {
            $($(#[$doc])* $name,)+
        }

        impl Known {
            /// All of them, with their links.
            const ALL: &'static [(Known, &'static [(Do, bool)])] =
                &[$((Known::$name, &[$((known!(@do $what), known!(@one $($one)?))),+])),+];

            /// Which known chain these links are, if they are one.
            pub fn find(links: &[Link]) -> Option<Known> {
                let same = |script: &[(Do, bool)]| links.iter().map(|l| (l.what, l.one)).eq(script.iter().copied());
                Known::ALL.iter().find(|(_, script)| same(script)).map(|(known, _)| *known)
            }

            /// Runs all whole blocks of a row from a column on; the column after them.
            ///
            /// # Safety
            /// As for [`run`](super::chain::run), of a chain with these links.
            #[inline(always)]
            pub unsafe fn blocks<S: Simd, const N: usize>(self, w: &Work, row: &mut Line<S>, col: usize) -> usize {
                let blocks = (w.cols - col) / (N * S::W);
                match self {
                    $(Known::$name => for k in 0..blocks {
                        let at = At { w, col: col + k * N * S::W, n: N * S::W };
                        let mut links = w.chain.links.iter();
                        let mut x = [unsafe { S::splat(0.0) }; N];
                        $(
                            if let Some(&link) = links.next() {
                                unsafe {
                                    known!(@$what at, row, link, x,
                                        Y::<N> { at: row.f32(link.y, at.col), one: known!(@one $($one)?), n: S::W })
                                };
                            }
                        )+
                    })+
                }
                col + blocks * N * S::W
            }
        }
    };
    (@one) => { false };
    (@one one) => { true };
    (@do Exp) => { Do::Unary(Unary::Exp) };
    (@do $what:ident) => { Do::$what };
    (@Load $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.join::<S, Second>(&mut $x) };
    (@Add $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.join::<S, Add>(&mut $x) };
    (@Sub $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.join::<S, Sub>(&mut $x) };
    (@Mul $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.join::<S, Mul>(&mut $x) };
    (@Store $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.store(&$x) };
    (@Stream $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.stream(&$x) };
    (@SumRows $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $y.sum_rows($row.first, &$x) };
    (@Fold $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => { $at.fold($row, $link, &$x) };
    (@Exp $at:ident, $row:ident, $link:ident, $x:ident, $y:expr) => {{
        let _ = $link;
        for k in 0..N {
            $x[k] = Exp::apply($x[k]);
        }
    }};
}

known! {
    /// The difference to the mean and the sum of its squares.
    Center: Load, Sub(one), Store, Mul, Fold;
    /// Normalised, with gain and bias.
    Normalise: Load, Mul(one), Mul, Add, Stream;
    /// As `Normalise`, to memory that is read soon.
    NormaliseNear: Load, Mul(one), Mul, Add, Store;
    /// `Center`, and the gradient times the gain and times the difference, for what goes back through a norm.
    CenterGrad: Load, Sub(one), Store, Mul, Fold, Load, Mul, Store, Mul, Fold;
    /// `Normalise`, and the gradient but for its mean.
    NormaliseGrad: Load, Mul(one), Mul, Add, Stream, Load(one), Mul, Store, Load, Mul(one), Add, Add, Store, Fold;
    /// The gradients of gain and bias.
    GainGrad: Load, Sub(one), Mul(one), Mul, SumRows;
    /// The exponentials of a softmax and their sum; and the sum alone.
    Exponentials: Load, Sub(one), Exp, Store, Fold;
    ExponentialSum: Load, Sub(one), Exp, Fold;
}

#[cfg(test)]
mod tests {
    use super::super::chain::Chain;
    use super::super::ops::{Slot, loops};
    use super::super::space::Class;
    use super::super::tile::Operand;
    use super::*;
    use crate::error::Result;
    use crate::graph::Reduce;
    use crate::kernel::Body;
    use crate::{DType, Device, Tensor, eval};

    /// Runs links, each with an operand of its own, and gives what lies in the operands, and the folds.
    fn result(links: &[Link], known: Option<Known>, cols: usize) -> Vec<u32> {
        let rows = 3;
        let number = |i: usize, k: usize| ((k * 7 + i * 13) % 23) as f32 * 0.1 - 1.0;
        let mut memory: Vec<Vec<f32>> =
            (0..links.len()).map(|i| (0..rows * cols).map(|k| number(i, k)).collect()).collect();
        let slot = |m: &mut Vec<f32>| Slot { ptr: m.as_mut_ptr().cast(), rs: cols as isize, each: true };
        let slots: Vec<Slot> = memory.iter_mut().map(slot).collect();
        let mut sums = vec![0f32; rows * links.len()];
        let results: Vec<*mut f32> = sums.chunks_mut(rows).map(|sums| sums.as_mut_ptr()).collect();
        let operand = Operand::scratch(0, Class::Full);
        let folds = links.iter().filter(|l| l.what == Do::Fold).count();
        let chain = Chain {
            links: links.to_vec(),
            outside: vec![operand; slots.len()],
            folds: vec![(Reduce::Sum, operand); folds],
            known,
            ..Chain::default()
        };
        let (slots, results, ahead) = (&slots[..], &results[..], &[][..]);
        let work = Work { chain: &chain, rows, cols, slots, results, ahead, loops: loops() };
        // SAFETY: the operands cover rows x cols.
        unsafe { (loops().chain)(&work) };
        memory.iter().flatten().chain(&sums).map(|x| x.to_bits()).collect()
    }

    #[test]
    fn known_chains_do_what_their_links_do() {
        for (known, script) in Known::ALL {
            let mut folds = 0..;
            let mut link = |(at, &(what, one)): (usize, &(Do, bool))| {
                let y = if what == Do::Fold { folds.next().unwrap_or(0) } else { at as u8 };
                Link { what, y, mask: 0, one }
            };
            let links: Vec<Link> = script.iter().enumerate().map(&mut link).collect();
            assert_eq!(Known::find(&links), Some(*known));
            for cols in [5, 64, 67, 200] {
                assert_eq!(
                    result(&links, Some(*known), cols),
                    result(&links, None, cols),
                    "{known:?} {cols}"
                );
            }
        }
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
    fn layers_are_made_of_known_chains() -> Result<()> {
        let device = Device::cpu();
        let leaf = |shape: &[usize]| Tensor::ones(shape, DType::F32, &device)?.variable();
        let (x, gain, bias) = (leaf(&[4096, 768])?, leaf(&[768])?, leaf(&[768])?);
        eval(&[&x, &gain, &bias])?;
        let y = x.layer_norm(1, Some(&gain), Some(&bias), 1e-5)?;
        let gradients = y.backward_with(&x)?;
        let mut wanted = vec![&y];
        wanted.extend([&x, &gain, &bias].into_iter().filter_map(|leaf| gradients.get(leaf)));
        let found = |of: &[&Tensor]| -> Result<Vec<Known>> {
            Ok(chains(of)?.iter().filter_map(|chain| chain.known).collect())
        };
        assert_eq!(found(&[&y])?, [Known::Center, Known::Normalise]);
        assert_eq!(found(&wanted)?, [Known::CenterGrad, Known::NormaliseGrad, Known::GainGrad]);
        assert_eq!(found(&[&x.softmax(1)?])?, [Known::Exponentials]);
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
