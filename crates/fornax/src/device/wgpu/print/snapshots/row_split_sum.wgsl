// sum f32 1048576: [256, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 256u;
let place = lane;
let row = min(group / 256u, 0u);
let part = group % 256u;
let real = group < 256u;
var acc1: f32 = (0e0f);
let from_1 = part * 1024u + place;
let to_2 = min((part + 1u) * 1024u, 262144u);
for (var at_vector = from_1; at_vector < to_2; at_vector += 256u) {
let c_3 = at_vector * 4u;
let q_4 = r0[(c_3) / 4u + 0u];
let v0_0 = bitcast<f32>(q_4.x);
let v0_1 = bitcast<f32>(q_4.y);
let v0_2 = bitcast<f32>(q_4.z);
let v0_3 = bitcast<f32>(q_4.w);
acc1 = (acc1 + v0_0);
acc1 = (acc1 + v0_1);
acc1 = (acc1 + v0_2);
acc1 = (acc1 + v0_3);
}
var x_5 = acc1;
let o_6 = subgroupShuffleXor(x_5, 16u);
x_5 = (x_5 + o_6);
let o_7 = subgroupShuffleXor(x_5, 8u);
x_5 = (x_5 + o_7);
let o_8 = subgroupShuffleXor(x_5, 4u);
x_5 = (x_5 + o_8);
let o_9 = subgroupShuffleXor(x_5, 2u);
x_5 = (x_5 + o_9);
let o_10 = subgroupShuffleXor(x_5, 1u);
x_5 = (x_5 + o_10);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_5; }
workgroupBarrier();
let b_11 = (lane / 256u) * 8u;
x_5 = shared_f32[b_11];
x_5 = (x_5 + shared_f32[b_11 + 1u]);
x_5 = (x_5 + shared_f32[b_11 + 2u]);
x_5 = (x_5 + shared_f32[b_11 + 3u]);
x_5 = (x_5 + shared_f32[b_11 + 4u]);
x_5 = (x_5 + shared_f32[b_11 + 5u]);
x_5 = (x_5 + shared_f32[b_11 + 6u]);
x_5 = (x_5 + shared_f32[b_11 + 7u]);
workgroupBarrier();
if (real && place == 0u) {
s0[row * 256u + part + 0u] = bitcast<u32>(x_5);
}
}

// sum f32 1048576: [1, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<u32>;
@group(0) @binding(2) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1u;
let place = lane;
let row = min(group / 1u, 0u);
let part = group % 1u;
let real = group < 1u;
var acc1: f32 = (0e0f);
for (var piece = place; piece < 256u; piece += 256u) {
acc1 = (acc1 + bitcast<f32>(s0[row * 256u + piece + 0u]));
}
var x_1 = acc1;
let o_2 = subgroupShuffleXor(x_1, 16u);
x_1 = (x_1 + o_2);
let o_3 = subgroupShuffleXor(x_1, 8u);
x_1 = (x_1 + o_3);
let o_4 = subgroupShuffleXor(x_1, 4u);
x_1 = (x_1 + o_4);
let o_5 = subgroupShuffleXor(x_1, 2u);
x_1 = (x_1 + o_5);
let o_6 = subgroupShuffleXor(x_1, 1u);
x_1 = (x_1 + o_6);
if (lane % 32u == 0u) { shared_f32[lane / 32u] = x_1; }
workgroupBarrier();
let b_7 = (lane / 256u) * 8u;
x_1 = shared_f32[b_7];
x_1 = (x_1 + shared_f32[b_7 + 1u]);
x_1 = (x_1 + shared_f32[b_7 + 2u]);
x_1 = (x_1 + shared_f32[b_7 + 3u]);
x_1 = (x_1 + shared_f32[b_7 + 4u]);
x_1 = (x_1 + shared_f32[b_7 + 5u]);
x_1 = (x_1 + shared_f32[b_7 + 6u]);
x_1 = (x_1 + shared_f32[b_7 + 7u]);
workgroupBarrier();
let v1 = x_1;
let from_8 = part * 1024u + place;
let to_9 = min((part + 1u) * 1024u, 262144u);
if (real && place == 0u && part == 0u) {
w0[0u + 0u] = bitcast<u32>(v1);
}
}

