//! How large the tiles of a product should be.

use super::{Bench, Findings};
use fornax::Result;

pub fn run(_bench: &Bench) -> Result<Findings> {
    Ok(Findings {
        title: "Products: how large a tile?",
        about: "Not tried yet.".into(),
        columns: vec!["tile"],
        lines: vec![],
        axis: "",
        advice: String::new(),
    })
}
