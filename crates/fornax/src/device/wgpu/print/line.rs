//! Lines: what sorts and running sums move along. A line is the elements along one axis at one position of
//! the others.

use super::map::coordinates;
use super::module::{Module, value_type};
use super::program::{address, inside, zero};
use crate::dtype::DType;
use crate::view::{View, numel};

/// The lines of an operand along an axis; the result of the kernel is row-major of the same shape.
pub(super) struct Lines<'a> {
    pub read: usize,
    pub dtype: DType,
    pub view: &'a View,
    pub axis: usize,
    /// How many lines there are, the elements of each, and how many lie beside each other.
    pub count: usize,
    pub len: usize,
    pub inner: usize,
}

impl<'a> Lines<'a> {
    pub fn new(m: &mut Module<'_>, (read, view): &'a (usize, View), axis: usize) -> Lines<'a> {
        let len = view.shape[axis];
        let inner = numel(&view.shape[axis + 1..]);
        let binding = m.read(*read);
        m.want(binding, 1);
        let dtype = m.printer.kernel.reads[*read].dtype;
        Lines { read: *read, dtype, view, axis, count: numel(&view.shape) / len.max(1), len, inner }
    }

    /// The coordinates of the first element of a line.
    pub fn coords(&self, m: &mut Module<'_>, line: &str) -> Vec<String> {
        let mut off = self.view.shape.clone();
        off[self.axis] = 1;
        coordinates(m, line, &off, 1)
    }

    /// Element `k`, which exists, of the line at `coords`.
    pub fn element(&self, m: &mut Module<'_>, coords: &[String], k: &str) -> String {
        let mut coords = coords.to_vec();
        coords[self.axis] = k.into();
        let binding = m.read(self.read);
        let at = m.bind("a", &address(self.view, &coords));
        let value = match inside(self.view, &coords) {
            None => m.elements(binding, self.dtype, &at, 1).remove(0),
            Some(guard) => {
                let guard = m.bind("g", &guard);
                let safe = m.bind("a", &format!("select(0u, {at}, {guard})"));
                let value = m.elements(binding, self.dtype, &safe, 1).remove(0);
                format!("select({}, {value}, {guard})", zero(self.dtype, m.printer.caps.int64))
            }
        };
        m.bind("x", &value)
    }

    /// The address of element `k` of a line in the result.
    pub fn target(&self, line: &str, k: &str) -> String {
        let (n, inner) = (self.len, self.inner);
        match inner {
            1 => format!("({line}) * {n}u + {k}"),
            _ => format!("(({line}) / {inner}u) * {}u + ({line}) % {inner}u + ({k}) * {inner}u", n * inner),
        }
    }

    /// The type of the values.
    pub fn value_type(&self, m: &Module<'_>) -> &'static str {
        value_type(self.dtype, m.printer.caps.int64)
    }
}
