//! Models for the Fornax tensor engine.
