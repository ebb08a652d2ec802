#!/usr/bin/env bash
# Builds the browser's version of Fornax into a folder (target/web) that any web server can serve:
#   scripts/web.sh && python3 -m http.server -d target/web    # then open http://localhost:8000
# With `--cases` the module also contains the engine's tests, for tests/browser.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
features=() pages=(index.html page.js)
[ "${1:-}" = "--cases" ] && features=(--features cases) && pages+=(cases.html)

# The tool that writes the JavaScript side must be of the library's version.
version="$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)"
tool="$target/tools/bin/wasm-bindgen"
if ! "$tool" --version 2>/dev/null | grep -qF "$version"; then
    cargo install --quiet --debug --root "$target/tools" --version "$version" wasm-bindgen-cli
fi
cargo build --release -p fornax-web --target wasm32-unknown-unknown "${features[@]}"
"$tool" --target web --no-typescript --out-dir "$target/web" \
    "$target/wasm32-unknown-unknown/release/fornax_web.wasm"
for page in "${pages[@]}"; do cp "crates/fornax-web/page/$page" "$target/web/"; done
