#!/usr/bin/env bash
# Tests as Windows runs them, on DX12, without Windows:
#
#   scripts/dx12.sh PATH/d3dcompiler_47.dll [arguments of cargo test, such as -p fornax --test ops]
#
# Needs mingw-w64 (the linker), Wine 10 or later (its Direct3D 12 stands on any Vulkan driver, a software one too) and a
# display (xvfb-run serves). The compiler of shaders must be Microsoft's, as on every Windows: Wine's own knows no barriers.
set -euo pipefail

compiler=$(realpath "${1:?"which d3dcompiler_47.dll? Windows has one in System32"}")
shift
cd "$(dirname "$0")/.."
target=x86_64-pc-windows-gnu
rustup target add "$target"
for folder in debug debug/deps; do
    mkdir -p "${CARGO_TARGET_DIR:-target}/$target/$folder"
    cp "$compiler" "${CARGO_TARGET_DIR:-target}/$target/$folder/d3dcompiler_47.dll"
done
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
export WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="d3dcompiler_47=n;mscoree=;mshtml="
# Wine takes its DX12 adapter for a GPU, so it comes first.
FORNAX_DEVICE=wgpu cargo test --target "$target" "$@"
