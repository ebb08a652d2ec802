// max_sub_exp_sum_recip_mul f32 600x50257: [600, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<u32>;
@group(0) @binding(1) var<storage, read_write> w0: array<u32>;
// Constants that are not finite are errors in WGSL; a variable is not a constant.
var<private> infinity_bits: u32 = 0x7f800000u;
var<private> nan_bits: u32 = 0x7fc00000u;
fn infinity() -> f32 { return bitcast<f32>(infinity_bits); }
fn not_a_number() -> f32 { return bitcast<f32>(nan_bits); }
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn max_nan(a: f32, b: f32) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(max(a, b)), 0x7fc00000u, is_nan(a) | is_nan(b)));
}
var<workgroup> shared_f32: array<f32, 1024>;
@compute @workgroup_size(1024)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 600u;
let place = lane % 1024u;
let wanted = group * 1u + lane / 1024u;
let row = min(wanted, 599u);
var acc1: f32 = (-infinity());
for (var at_vector = place; at_vector < 50257u; at_vector += 1024u) {
let v0_0 = bitcast<f32>(r0[row * 50257u + at_vector + 0u]);
acc1 = max_nan(acc1, v0_0);
}
var x_1 = acc1;
let o_2 = subgroupShuffleXor(x_1, 16u);
x_1 = max_nan(x_1, o_2);
let o_3 = subgroupShuffleXor(x_1, 8u);
x_1 = max_nan(x_1, o_3);
let o_4 = subgroupShuffleXor(x_1, 4u);
x_1 = max_nan(x_1, o_4);
let o_5 = subgroupShuffleXor(x_1, 2u);
x_1 = max_nan(x_1, o_5);
let o_6 = subgroupShuffleXor(x_1, 1u);
x_1 = max_nan(x_1, o_6);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_1; }
workgroupBarrier();
let b_7 = (lane / 1024u) * 32u;
x_1 = shared_f32[b_7];
x_1 = max_nan(x_1, shared_f32[b_7 + 1u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 2u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 3u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 4u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 5u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 6u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 7u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 8u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 9u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 10u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 11u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 12u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 13u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 14u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 15u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 16u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 17u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 18u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 19u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 20u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 21u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 22u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 23u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 24u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 25u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 26u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 27u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 28u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 29u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 30u]);
x_1 = max_nan(x_1, shared_f32[b_7 + 31u]);
workgroupBarrier();
let v1 = x_1;
var acc4: f32 = (0e0f);
for (var at_vector = place; at_vector < 50257u; at_vector += 1024u) {
let v0_0 = bitcast<f32>(r0[row * 50257u + at_vector + 0u]);
let v2_0 = (v0_0 - v1);
let v3_0 = exp(v2_0);
acc4 = (acc4 + v3_0);
}
var x_8 = acc4;
let o_9 = subgroupShuffleXor(x_8, 16u);
x_8 = (x_8 + o_9);
let o_10 = subgroupShuffleXor(x_8, 8u);
x_8 = (x_8 + o_10);
let o_11 = subgroupShuffleXor(x_8, 4u);
x_8 = (x_8 + o_11);
let o_12 = subgroupShuffleXor(x_8, 2u);
x_8 = (x_8 + o_12);
let o_13 = subgroupShuffleXor(x_8, 1u);
x_8 = (x_8 + o_13);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_8; }
workgroupBarrier();
let b_14 = (lane / 1024u) * 32u;
x_8 = shared_f32[b_14];
x_8 = (x_8 + shared_f32[b_14 + 1u]);
x_8 = (x_8 + shared_f32[b_14 + 2u]);
x_8 = (x_8 + shared_f32[b_14 + 3u]);
x_8 = (x_8 + shared_f32[b_14 + 4u]);
x_8 = (x_8 + shared_f32[b_14 + 5u]);
x_8 = (x_8 + shared_f32[b_14 + 6u]);
x_8 = (x_8 + shared_f32[b_14 + 7u]);
x_8 = (x_8 + shared_f32[b_14 + 8u]);
x_8 = (x_8 + shared_f32[b_14 + 9u]);
x_8 = (x_8 + shared_f32[b_14 + 10u]);
x_8 = (x_8 + shared_f32[b_14 + 11u]);
x_8 = (x_8 + shared_f32[b_14 + 12u]);
x_8 = (x_8 + shared_f32[b_14 + 13u]);
x_8 = (x_8 + shared_f32[b_14 + 14u]);
x_8 = (x_8 + shared_f32[b_14 + 15u]);
x_8 = (x_8 + shared_f32[b_14 + 16u]);
x_8 = (x_8 + shared_f32[b_14 + 17u]);
x_8 = (x_8 + shared_f32[b_14 + 18u]);
x_8 = (x_8 + shared_f32[b_14 + 19u]);
x_8 = (x_8 + shared_f32[b_14 + 20u]);
x_8 = (x_8 + shared_f32[b_14 + 21u]);
x_8 = (x_8 + shared_f32[b_14 + 22u]);
x_8 = (x_8 + shared_f32[b_14 + 23u]);
x_8 = (x_8 + shared_f32[b_14 + 24u]);
x_8 = (x_8 + shared_f32[b_14 + 25u]);
x_8 = (x_8 + shared_f32[b_14 + 26u]);
x_8 = (x_8 + shared_f32[b_14 + 27u]);
x_8 = (x_8 + shared_f32[b_14 + 28u]);
x_8 = (x_8 + shared_f32[b_14 + 29u]);
x_8 = (x_8 + shared_f32[b_14 + 30u]);
x_8 = (x_8 + shared_f32[b_14 + 31u]);
workgroupBarrier();
let v4 = x_8;
let v5 = (1.0 / v4);
for (var at_vector = place; at_vector < 50257u; at_vector += 1024u) {
let v0_0 = bitcast<f32>(r0[row * 50257u + at_vector + 0u]);
let v2_0 = (v0_0 - v1);
let v3_0 = exp(v2_0);
let v6_0 = (v3_0 * v5);
if (wanted < 600u) {
w0[row * 50257u + at_vector + 0u] = bitcast<u32>(v6_0);
}
}
if (wanted < 600u && place == 0u) {
}
}

