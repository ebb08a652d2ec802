//! Einstein summation over one or two operands, as one batched matrix product.

use super::{Tensor, autocast, checked_numel, matmul::factors, raw};
use crate::error::{Error, Result};
use crate::view::Dims;

/// The letters of a spec: one list for each operand, and the result's.
struct Spec {
    inputs: Vec<Vec<char>>,
    output: Vec<char>,
}

const OP: &str = "einsum";

fn bad(spec: &str, why: impl std::fmt::Display) -> Error {
    Error::Argument { op: OP, detail: format!("{spec:?}: {why}") }
}

impl Spec {
    fn parse(spec: &str, operands: usize) -> Result<Spec> {
        let letters = |part: &str| -> Result<Vec<char>> {
            let letters: Vec<char> = part.chars().filter(|c| !c.is_whitespace()).collect();
            if let Some(other) = letters.iter().find(|c| !c.is_ascii_alphabetic()) {
                return Err(bad(spec, format!("{other:?} is not a letter")));
            }
            Ok(letters)
        };
        let (left, right) = match spec.split_once("->") {
            Some((left, right)) => (left, Some(letters(right)?)),
            None => (spec, None),
        };
        let inputs: Vec<Vec<char>> = left.split(',').map(letters).collect::<Result<_>>()?;
        if inputs.len() != operands {
            return Err(bad(spec, format!("names {} operands, {operands} were given", inputs.len())));
        }
        let count = |c: char| inputs.iter().flatten().filter(|&&other| other == c).count();
        let output = right.unwrap_or_else(|| {
            let mut once: Vec<char> = inputs.iter().flatten().copied().filter(|&c| count(c) == 1).collect();
            once.sort_unstable();
            once
        });
        for list in inputs.iter().chain([&output]) {
            if let Some(c) = list.iter().find(|c| list.iter().filter(|other| other == c).count() > 1) {
                return Err(bad(spec, format!("{c:?} twice in one operand (diagonals) is not supported")));
            }
        }
        if let Some(c) = output.iter().find(|&&c| count(c) == 0) {
            return Err(bad(spec, format!("{c:?} of the result is in no operand")));
        }
        Ok(Spec { inputs, output })
    }
}

/// Sums the axes that nobody else names and puts the rest in the given order.
fn arrange(x: &Tensor, letters: &[char], order: &[char]) -> Tensor {
    let gone: Dims = (0..letters.len()).filter(|&i| !order.contains(&letters[i])).collect();
    let kept: Vec<char> = letters.iter().copied().filter(|c| order.contains(c)).collect();
    let shape: Dims = (0..letters.len()).filter(|i| !gone.contains(i)).map(|i| x.shape()[i]).collect();
    let summed = raw::reshape(&raw::sum(x, &gone), &shape);
    let axes: Dims = order.iter().filter_map(|c| kept.iter().position(|k| k == c)).collect();
    raw::permute(&summed, &axes)
}

impl Tensor {
    /// Einstein summation: each letter names an axis, letters that the result does not name are summed.
    ///
    /// ```
    /// # use fornax::*;
    /// let device = Device::cpu();
    /// let q = Tensor::ones(&[2, 5, 3, 4], DType::F32, &device)?;
    /// let scores = Tensor::einsum("bthd,bshd->bhts", &[&q, &q])?;
    /// assert_eq!(scores.shape(), [2, 3, 5, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn einsum(spec: &str, operands: &[&Tensor]) -> Result<Tensor> {
        let parsed = Spec::parse(spec, operands.len())?;
        let mut sizes: Vec<(char, usize)> = vec![];
        for (letters, x) in parsed.inputs.iter().zip(operands) {
            if letters.len() != x.rank() {
                let detail = format!("{spec:?}: {} letters for {:?}", letters.len(), x.shape());
                return Err(Error::Shape { op: OP, detail });
            }
            for (&c, &n) in letters.iter().zip(x.shape()) {
                match sizes.iter().find(|(other, _)| *other == c) {
                    Some(&(_, m)) if m != n => {
                        let detail = format!("{spec:?}: {c:?} is {m} in one operand and {n} in another");
                        return Err(Error::Shape { op: OP, detail });
                    }
                    Some(_) => {}
                    None => sizes.push((c, n)),
                }
            }
        }
        let size = |list: &[char]| -> Dims {
            list.iter().filter_map(|c| sizes.iter().find(|(other, _)| other == c).map(|s| s.1)).collect()
        };
        checked_numel(OP, &size(&parsed.output))?;
        let (a, b) = match operands {
            [x] => return Ok(arrange(&autocast::factor(x), &parsed.inputs[0], &parsed.output)),
            [a, b] => factors(OP, a, b)?,
            _ => return Err(bad(spec, "one or two operands are supported; chain several calls")),
        };
        let (left, right, out) = (&parsed.inputs[0], &parsed.inputs[1], &parsed.output);
        let pick = |from: &[char], test: &dyn Fn(char) -> bool| -> Vec<char> {
            from.iter().copied().filter(|&c| test(c)).collect()
        };
        let batch = pick(out, &|c| left.contains(&c) && right.contains(&c));
        let rows = pick(out, &|c| left.contains(&c) && !right.contains(&c));
        let columns = pick(out, &|c| !left.contains(&c) && right.contains(&c));
        let summed = pick(left, &|c| right.contains(&c) && !out.contains(&c));
        let joined = |lists: [&[char]; 3]| lists.concat();
        let matrix = |x: Tensor, m: &[char], n: &[char]| {
            let mut shape = size(&batch);
            shape.extend([size(m).iter().product(), size(n).iter().product()]);
            raw::reshape(&x, &shape)
        };
        let a = matrix(arrange(&a, left, &joined([&batch, &rows, &summed])), &rows, &summed);
        let b = matrix(arrange(&b, right, &joined([&batch, &summed, &columns])), &summed, &columns);
        let order = joined([&batch, &rows, &columns]);
        let product = raw::reshape(&raw::matmul(&a, &b), &size(&order));
        Ok(arrange(&product, &order, out))
    }
}
