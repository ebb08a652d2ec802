//! Stop 4 of the path: nodes are fused into kernels, put in order, and every value gets a place in memory.

/// A finished plan.
pub struct Plan {}
