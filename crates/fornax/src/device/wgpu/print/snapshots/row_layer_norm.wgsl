// sum_mul_sub_mul_sum_mul_and_4_more f32 64x768: [64, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> r2: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> w0: array<vec4<u32>>;
var<workgroup> shared_f32: array<f32, 128>;
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
var acc1: f32 = (0e0f);
if (ok_2) {
acc1 = (acc1 + v0_0);
acc1 = (acc1 + v0_1);
acc1 = (acc1 + v0_2);
acc1 = (acc1 + v0_3);
}
if (ok_6) {
acc1 = (acc1 + v0_4);
acc1 = (acc1 + v0_5);
acc1 = (acc1 + v0_6);
acc1 = (acc1 + v0_7);
}
var x_11 = acc1;
let o_12 = subgroupShuffleXor(x_11, 16u);
x_11 = (x_11 + o_12);
let o_13 = subgroupShuffleXor(x_11, 8u);
x_11 = (x_11 + o_13);
let o_14 = subgroupShuffleXor(x_11, 4u);
x_11 = (x_11 + o_14);
let o_15 = subgroupShuffleXor(x_11, 2u);
x_11 = (x_11 + o_15);
let o_16 = subgroupShuffleXor(x_11, 1u);
x_11 = (x_11 + o_16);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_11; }
workgroupBarrier();
let b_17 = (lane / 128u) * 4u;
x_11 = shared_f32[b_17];
x_11 = (x_11 + shared_f32[b_17 + 1u]);
x_11 = (x_11 + shared_f32[b_17 + 2u]);
x_11 = (x_11 + shared_f32[b_17 + 3u]);
workgroupBarrier();
let v1 = x_11;
let v2 = (1.3020834e-3f);
let v3 = (v1 * v2);
let v4_0 = (v0_0 - v3);
let v4_1 = (v0_1 - v3);
let v4_2 = (v0_2 - v3);
let v4_3 = (v0_3 - v3);
let v4_4 = (v0_4 - v3);
let v4_5 = (v0_5 - v3);
let v4_6 = (v0_6 - v3);
let v4_7 = (v0_7 - v3);
let v5_0 = (v4_0 * v4_0);
let v5_1 = (v4_1 * v4_1);
let v5_2 = (v4_2 * v4_2);
let v5_3 = (v4_3 * v4_3);
let v5_4 = (v4_4 * v4_4);
let v5_5 = (v4_5 * v4_5);
let v5_6 = (v4_6 * v4_6);
let v5_7 = (v4_7 * v4_7);
var acc6: f32 = (0e0f);
if (ok_2) {
acc6 = (acc6 + v5_0);
acc6 = (acc6 + v5_1);
acc6 = (acc6 + v5_2);
acc6 = (acc6 + v5_3);
}
if (ok_6) {
acc6 = (acc6 + v5_4);
acc6 = (acc6 + v5_5);
acc6 = (acc6 + v5_6);
acc6 = (acc6 + v5_7);
}
var x_18 = acc6;
let o_19 = subgroupShuffleXor(x_18, 16u);
x_18 = (x_18 + o_19);
let o_20 = subgroupShuffleXor(x_18, 8u);
x_18 = (x_18 + o_20);
let o_21 = subgroupShuffleXor(x_18, 4u);
x_18 = (x_18 + o_21);
let o_22 = subgroupShuffleXor(x_18, 2u);
x_18 = (x_18 + o_22);
let o_23 = subgroupShuffleXor(x_18, 1u);
x_18 = (x_18 + o_23);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_18; }
workgroupBarrier();
let b_24 = (lane / 128u) * 4u;
x_18 = shared_f32[b_24];
x_18 = (x_18 + shared_f32[b_24 + 1u]);
x_18 = (x_18 + shared_f32[b_24 + 2u]);
x_18 = (x_18 + shared_f32[b_24 + 3u]);
workgroupBarrier();
let v6 = x_18;
let v7 = (v6 * v2);
let v8 = (1e-5f);
let v9 = (v7 + v8);
let v10 = inverseSqrt(v9);
let v11_0 = (v4_0 * v10);
let v11_1 = (v4_1 * v10);
let v11_2 = (v4_2 * v10);
let v11_3 = (v4_3 * v10);
let v11_4 = (v4_4 * v10);
let v11_5 = (v4_5 * v10);
let v11_6 = (v4_6 * v10);
let v11_7 = (v4_7 * v10);
let q_25 = r1[(c_4) / 4u + 0u];
let v12_0 = bitcast<f32>(q_25.x);
let v12_1 = bitcast<f32>(q_25.y);
let v12_2 = bitcast<f32>(q_25.z);
let v12_3 = bitcast<f32>(q_25.w);
let q_26 = r1[(c_8) / 4u + 0u];
let v12_4 = bitcast<f32>(q_26.x);
let v12_5 = bitcast<f32>(q_26.y);
let v12_6 = bitcast<f32>(q_26.z);
let v12_7 = bitcast<f32>(q_26.w);
let v13_0 = (v11_0 * v12_0);
let v13_1 = (v11_1 * v12_1);
let v13_2 = (v11_2 * v12_2);
let v13_3 = (v11_3 * v12_3);
let v13_4 = (v11_4 * v12_4);
let v13_5 = (v11_5 * v12_5);
let v13_6 = (v11_6 * v12_6);
let v13_7 = (v11_7 * v12_7);
let q_27 = r2[(c_4) / 4u + 0u];
let v14_0 = bitcast<f32>(q_27.x);
let v14_1 = bitcast<f32>(q_27.y);
let v14_2 = bitcast<f32>(q_27.z);
let v14_3 = bitcast<f32>(q_27.w);
let q_28 = r2[(c_8) / 4u + 0u];
let v14_4 = bitcast<f32>(q_28.x);
let v14_5 = bitcast<f32>(q_28.y);
let v14_6 = bitcast<f32>(q_28.z);
let v14_7 = bitcast<f32>(q_28.w);
let v15_0 = (v13_0 + v14_0);
let v15_1 = (v13_1 + v14_1);
let v15_2 = (v13_2 + v14_2);
let v15_3 = (v13_3 + v14_3);
let v15_4 = (v13_4 + v14_4);
let v15_5 = (v13_5 + v14_5);
let v15_6 = (v13_6 + v14_6);
let v15_7 = (v13_7 + v14_7);
if (wanted < 64u && ok_2) {
w0[(row * 768u + c_4) / 4u + 0u] = vec4<u32>(bitcast<u32>(v15_0), bitcast<u32>(v15_1), bitcast<u32>(v15_2), bitcast<u32>(v15_3));
}
if (wanted < 64u && ok_6) {
w0[(row * 768u + c_8) / 4u + 0u] = vec4<u32>(bitcast<u32>(v15_4), bitcast<u32>(v15_5), bitcast<u32>(v15_6), bitcast<u32>(v15_7));
}
if (wanted < 64u && place == 0u) {
}
}

