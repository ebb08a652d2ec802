// argmax i64 64x768: [64, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec2<u32>>;
// Constants that are not finite are errors in WGSL; a variable is not a constant.
var<private> infinity_bits: u32 = 0x7f800000u;
var<private> nan_bits: u32 = 0x7fc00000u;
fn infinity() -> f32 { return bitcast<f32>(infinity_bits); }
fn not_a_number() -> f32 { return bitcast<f32>(nan_bits); }
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
var<workgroup> shared_f32: array<f32, 128>;
var<workgroup> shared_position: array<u32, 128>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 64u;
let place = lane % 128u;
let wanted = group * 1u + lane / 128u;
let row = min(wanted, 63u);
let i_1 = place + 0u;
let ok_2 = i_1 < 192u;
let i_3 = select(0u, i_1, ok_2);
let c_4 = i_3 * 4u;
let i_5 = place + 128u;
let ok_6 = i_5 < 192u;
let i_7 = select(0u, i_5, ok_6);
let c_8 = i_7 * 4u;
let q_9 = r0[(row * 768u + c_4) / 4u + 0u];
let v0_0 = bitcast<f32>(q_9.x);
let v0_1 = bitcast<f32>(q_9.y);
let v0_2 = bitcast<f32>(q_9.z);
let v0_3 = bitcast<f32>(q_9.w);
let q_10 = r0[(row * 768u + c_8) / 4u + 0u];
let v0_4 = bitcast<f32>(q_10.x);
let v0_5 = bitcast<f32>(q_10.y);
let v0_6 = bitcast<f32>(q_10.z);
let v0_7 = bitcast<f32>(q_10.w);
var acc1: f32 = (-infinity());
var at1 = 0xffffffffu;
if (ok_2) {
if (at1 == 0xffffffffu || select(select((v0_0 > acc1) | ((v0_0 == acc1) & ((i_3 * 4u + 0u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_3 * 4u + 0u) < at1), is_nan(v0_0))) { acc1 = v0_0; at1 = (i_3 * 4u + 0u); }
if (at1 == 0xffffffffu || select(select((v0_1 > acc1) | ((v0_1 == acc1) & ((i_3 * 4u + 1u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_3 * 4u + 1u) < at1), is_nan(v0_1))) { acc1 = v0_1; at1 = (i_3 * 4u + 1u); }
if (at1 == 0xffffffffu || select(select((v0_2 > acc1) | ((v0_2 == acc1) & ((i_3 * 4u + 2u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_3 * 4u + 2u) < at1), is_nan(v0_2))) { acc1 = v0_2; at1 = (i_3 * 4u + 2u); }
if (at1 == 0xffffffffu || select(select((v0_3 > acc1) | ((v0_3 == acc1) & ((i_3 * 4u + 3u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_3 * 4u + 3u) < at1), is_nan(v0_3))) { acc1 = v0_3; at1 = (i_3 * 4u + 3u); }
}
if (ok_6) {
if (at1 == 0xffffffffu || select(select((v0_4 > acc1) | ((v0_4 == acc1) & ((i_7 * 4u + 0u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_7 * 4u + 0u) < at1), is_nan(v0_4))) { acc1 = v0_4; at1 = (i_7 * 4u + 0u); }
if (at1 == 0xffffffffu || select(select((v0_5 > acc1) | ((v0_5 == acc1) & ((i_7 * 4u + 1u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_7 * 4u + 1u) < at1), is_nan(v0_5))) { acc1 = v0_5; at1 = (i_7 * 4u + 1u); }
if (at1 == 0xffffffffu || select(select((v0_6 > acc1) | ((v0_6 == acc1) & ((i_7 * 4u + 2u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_7 * 4u + 2u) < at1), is_nan(v0_6))) { acc1 = v0_6; at1 = (i_7 * 4u + 2u); }
if (at1 == 0xffffffffu || select(select((v0_7 > acc1) | ((v0_7 == acc1) & ((i_7 * 4u + 3u) < at1)), false, is_nan(acc1)), !is_nan(acc1) | ((i_7 * 4u + 3u) < at1), is_nan(v0_7))) { acc1 = v0_7; at1 = (i_7 * 4u + 3u); }
}
shared_f32[lane] = acc1; shared_position[lane] = at1;
workgroupBarrier();
if (lane % 128u < 64u && select(select((shared_f32[lane + 64u] > shared_f32[lane]) | ((shared_f32[lane + 64u] == shared_f32[lane]) & (shared_position[lane + 64u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 64u] < shared_position[lane]), is_nan(shared_f32[lane + 64u]))) {
shared_f32[lane] = shared_f32[lane + 64u]; shared_position[lane] = shared_position[lane + 64u]; }
workgroupBarrier();
if (lane % 128u < 32u && select(select((shared_f32[lane + 32u] > shared_f32[lane]) | ((shared_f32[lane + 32u] == shared_f32[lane]) & (shared_position[lane + 32u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 32u] < shared_position[lane]), is_nan(shared_f32[lane + 32u]))) {
shared_f32[lane] = shared_f32[lane + 32u]; shared_position[lane] = shared_position[lane + 32u]; }
workgroupBarrier();
if (lane % 128u < 16u && select(select((shared_f32[lane + 16u] > shared_f32[lane]) | ((shared_f32[lane + 16u] == shared_f32[lane]) & (shared_position[lane + 16u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 16u] < shared_position[lane]), is_nan(shared_f32[lane + 16u]))) {
shared_f32[lane] = shared_f32[lane + 16u]; shared_position[lane] = shared_position[lane + 16u]; }
workgroupBarrier();
if (lane % 128u < 8u && select(select((shared_f32[lane + 8u] > shared_f32[lane]) | ((shared_f32[lane + 8u] == shared_f32[lane]) & (shared_position[lane + 8u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 8u] < shared_position[lane]), is_nan(shared_f32[lane + 8u]))) {
shared_f32[lane] = shared_f32[lane + 8u]; shared_position[lane] = shared_position[lane + 8u]; }
workgroupBarrier();
if (lane % 128u < 4u && select(select((shared_f32[lane + 4u] > shared_f32[lane]) | ((shared_f32[lane + 4u] == shared_f32[lane]) & (shared_position[lane + 4u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 4u] < shared_position[lane]), is_nan(shared_f32[lane + 4u]))) {
shared_f32[lane] = shared_f32[lane + 4u]; shared_position[lane] = shared_position[lane + 4u]; }
workgroupBarrier();
if (lane % 128u < 2u && select(select((shared_f32[lane + 2u] > shared_f32[lane]) | ((shared_f32[lane + 2u] == shared_f32[lane]) & (shared_position[lane + 2u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 2u] < shared_position[lane]), is_nan(shared_f32[lane + 2u]))) {
shared_f32[lane] = shared_f32[lane + 2u]; shared_position[lane] = shared_position[lane + 2u]; }
workgroupBarrier();
if (lane % 128u < 1u && select(select((shared_f32[lane + 1u] > shared_f32[lane]) | ((shared_f32[lane + 1u] == shared_f32[lane]) & (shared_position[lane + 1u] < shared_position[lane])), false, is_nan(shared_f32[lane])), !is_nan(shared_f32[lane]) | (shared_position[lane + 1u] < shared_position[lane]), is_nan(shared_f32[lane + 1u]))) {
shared_f32[lane] = shared_f32[lane + 1u]; shared_position[lane] = shared_position[lane + 1u]; }
workgroupBarrier();
let p_11 = shared_position[lane - lane % 128u];
workgroupBarrier();
let v1 = i64(p_11);
if (wanted < 64u && place == 0u) {
w0[((row) * 2u) / 2u + 0u] = vec2<u32>(u32(v1 & 0xffffffffli), u32((v1 >> 32u) & 0xffffffffli));
}
}

