//! Machine code on machines for which there is none: chains are carried out link by link.

use super::chain::{Chain, Work};
use std::sync::Arc;

/// There is none.
#[derive(Debug)]
pub(super) enum Native {}

impl Native {
    pub fn of(_: &Chain) -> Option<Arc<Native>> {
        None
    }

    pub unsafe fn run(&self, _: &Work) {
        match *self {}
    }
}
