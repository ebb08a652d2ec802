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
var top = (-infinity());
var total = 0.0;
var at_vector = place;
for (; at_vector + 7168u < 50257u; at_vector += 8192u) {
let at_1 = at_vector;
let at_2 = at_vector + 1024u;
let at_3 = at_vector + 2048u;
let at_4 = at_vector + 3072u;
let at_5 = at_vector + 4096u;
let at_6 = at_vector + 5120u;
let at_7 = at_vector + 6144u;
let at_8 = at_vector + 7168u;
let v0_0 = bitcast<f32>(r0[row * 50257u + at_1 + 0u]);
let v0_1 = bitcast<f32>(r0[row * 50257u + at_2 + 0u]);
let v0_2 = bitcast<f32>(r0[row * 50257u + at_3 + 0u]);
let v0_3 = bitcast<f32>(r0[row * 50257u + at_4 + 0u]);
let v0_4 = bitcast<f32>(r0[row * 50257u + at_5 + 0u]);
let v0_5 = bitcast<f32>(r0[row * 50257u + at_6 + 0u]);
let v0_6 = bitcast<f32>(r0[row * 50257u + at_7 + 0u]);
let v0_7 = bitcast<f32>(r0[row * 50257u + at_8 + 0u]);
let t_9 = max_nan(top, v0_0);
let t_10 = max_nan(t_9, v0_1);
let t_11 = max_nan(t_10, v0_2);
let t_12 = max_nan(t_11, v0_3);
let t_13 = max_nan(t_12, v0_4);
let t_14 = max_nan(t_13, v0_5);
let t_15 = max_nan(t_14, v0_6);
let t_16 = max_nan(t_15, v0_7);
let s_17 = select(t_16, 0.0, abs(t_16) == infinity());
total *= exp(top - s_17);
total += exp(v0_0 - s_17);
total += exp(v0_1 - s_17);
total += exp(v0_2 - s_17);
total += exp(v0_3 - s_17);
total += exp(v0_4 - s_17);
total += exp(v0_5 - s_17);
total += exp(v0_6 - s_17);
total += exp(v0_7 - s_17);
top = t_16;
}
for (; at_vector < 50257u; at_vector += 1024u) {
let at_18 = at_vector;
let v0_0 = bitcast<f32>(r0[row * 50257u + at_18 + 0u]);
let t_19 = max_nan(top, v0_0);
let s_20 = select(t_19, 0.0, abs(t_19) == infinity());
total *= exp(top - s_20);
total += exp(v0_0 - s_20);
top = t_19;
}
var x_21 = top;
let o_22 = subgroupShuffleXor(x_21, 16u);
x_21 = max_nan(x_21, o_22);
let o_23 = subgroupShuffleXor(x_21, 8u);
x_21 = max_nan(x_21, o_23);
let o_24 = subgroupShuffleXor(x_21, 4u);
x_21 = max_nan(x_21, o_24);
let o_25 = subgroupShuffleXor(x_21, 2u);
x_21 = max_nan(x_21, o_25);
let o_26 = subgroupShuffleXor(x_21, 1u);
x_21 = max_nan(x_21, o_26);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_21; }
workgroupBarrier();
let b_27 = (lane / 1024u) * 32u;
x_21 = shared_f32[b_27];
x_21 = max_nan(x_21, shared_f32[b_27 + 1u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 2u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 3u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 4u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 5u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 6u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 7u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 8u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 9u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 10u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 11u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 12u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 13u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 14u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 15u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 16u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 17u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 18u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 19u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 20u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 21u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 22u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 23u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 24u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 25u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 26u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 27u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 28u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 29u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 30u]);
x_21 = max_nan(x_21, shared_f32[b_27 + 31u]);
workgroupBarrier();
let v1 = x_21;
var x_28 = (total * exp(top - v1));
let o_29 = subgroupShuffleXor(x_28, 16u);
x_28 = (x_28 + o_29);
let o_30 = subgroupShuffleXor(x_28, 8u);
x_28 = (x_28 + o_30);
let o_31 = subgroupShuffleXor(x_28, 4u);
x_28 = (x_28 + o_31);
let o_32 = subgroupShuffleXor(x_28, 2u);
x_28 = (x_28 + o_32);
let o_33 = subgroupShuffleXor(x_28, 1u);
x_28 = (x_28 + o_33);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_28; }
workgroupBarrier();
let b_34 = (lane / 1024u) * 32u;
x_28 = shared_f32[b_34];
x_28 = (x_28 + shared_f32[b_34 + 1u]);
x_28 = (x_28 + shared_f32[b_34 + 2u]);
x_28 = (x_28 + shared_f32[b_34 + 3u]);
x_28 = (x_28 + shared_f32[b_34 + 4u]);
x_28 = (x_28 + shared_f32[b_34 + 5u]);
x_28 = (x_28 + shared_f32[b_34 + 6u]);
x_28 = (x_28 + shared_f32[b_34 + 7u]);
x_28 = (x_28 + shared_f32[b_34 + 8u]);
x_28 = (x_28 + shared_f32[b_34 + 9u]);
x_28 = (x_28 + shared_f32[b_34 + 10u]);
x_28 = (x_28 + shared_f32[b_34 + 11u]);
x_28 = (x_28 + shared_f32[b_34 + 12u]);
x_28 = (x_28 + shared_f32[b_34 + 13u]);
x_28 = (x_28 + shared_f32[b_34 + 14u]);
x_28 = (x_28 + shared_f32[b_34 + 15u]);
x_28 = (x_28 + shared_f32[b_34 + 16u]);
x_28 = (x_28 + shared_f32[b_34 + 17u]);
x_28 = (x_28 + shared_f32[b_34 + 18u]);
x_28 = (x_28 + shared_f32[b_34 + 19u]);
x_28 = (x_28 + shared_f32[b_34 + 20u]);
x_28 = (x_28 + shared_f32[b_34 + 21u]);
x_28 = (x_28 + shared_f32[b_34 + 22u]);
x_28 = (x_28 + shared_f32[b_34 + 23u]);
x_28 = (x_28 + shared_f32[b_34 + 24u]);
x_28 = (x_28 + shared_f32[b_34 + 25u]);
x_28 = (x_28 + shared_f32[b_34 + 26u]);
x_28 = (x_28 + shared_f32[b_34 + 27u]);
x_28 = (x_28 + shared_f32[b_34 + 28u]);
x_28 = (x_28 + shared_f32[b_34 + 29u]);
x_28 = (x_28 + shared_f32[b_34 + 30u]);
x_28 = (x_28 + shared_f32[b_34 + 31u]);
workgroupBarrier();
let v4 = x_28;
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

