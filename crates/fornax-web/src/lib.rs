//! Fornax in the browser. Built for wasm32 alone; elsewhere this crate is empty.
#![cfg(target_family = "wasm")]

#[cfg(feature = "cases")]
mod cases;
mod painter;

pub use painter::Painter;

use wasm_bindgen::prelude::*;

/// Called by the page when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// What a page's script catches.
fn thrown(error: fornax::Error) -> JsError {
    JsError::new(&error.to_string())
}
