//! The reference interpreter: the living definition of every op.

use super::{Graph, NodeId};
use crate::dtype::Scalar;
use crate::error::Result;

/// Computes the outputs of a graph, as row-major bytes.
pub fn interpret(
    _graph: &Graph,
    _inputs: &[(NodeId, Vec<u8>)],
    _scalars: &[(NodeId, Scalar)],
) -> Result<Vec<Vec<u8>>> {
    todo!()
}
