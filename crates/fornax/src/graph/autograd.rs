//! Autograd: a pass from graph to graph.
