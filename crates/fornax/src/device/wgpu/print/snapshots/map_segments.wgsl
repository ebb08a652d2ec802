// cat f32 2304: [3, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> r1: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 3u;
if (group < 1u) {
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 192u) {
let c_2 = i_1 * 4u;
let q_3 = r0[(c_2) / 4u + 0u];
let s0_v0_0 = bitcast<f32>(q_3.x);
let s0_v0_1 = bitcast<f32>(q_3.y);
let s0_v0_2 = bitcast<f32>(q_3.z);
let s0_v0_3 = bitcast<f32>(q_3.w);
w0[(c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(s0_v0_0), bitcast<u32>(s0_v0_1), bitcast<u32>(s0_v0_2), bitcast<u32>(s0_v0_3));
}
}
else if (group < 2u) {
let i_4 = (group - 1u) * 256u + lane;
if (i_4 < 192u) {
let c_5 = i_4 * 4u;
let q_6 = r1[(c_5) / 4u + 0u];
let s1_v0_0 = bitcast<f32>(q_6.x);
let s1_v0_1 = bitcast<f32>(q_6.y);
let s1_v0_2 = bitcast<f32>(q_6.z);
let s1_v0_3 = bitcast<f32>(q_6.w);
w0[(c_5 + 768u) / 4u + 0u] = vec4<u32>(bitcast<u32>(s1_v0_0), bitcast<u32>(s1_v0_1), bitcast<u32>(s1_v0_2), bitcast<u32>(s1_v0_3));
}
}
else if (group < 3u) {
let i_7 = (group - 2u) * 256u + lane;
if (i_7 < 192u) {
let c_8 = i_7 * 4u;
let q_9 = r0[(c_8) / 4u + 0u];
let s2_v0_0 = bitcast<f32>(q_9.x);
let s2_v0_1 = bitcast<f32>(q_9.y);
let s2_v0_2 = bitcast<f32>(q_9.z);
let s2_v0_3 = bitcast<f32>(q_9.w);
w0[(c_8 + 1536u) / 4u + 0u] = vec4<u32>(bitcast<u32>(s2_v0_0), bitcast<u32>(s2_v0_1), bitcast<u32>(s2_v0_2), bitcast<u32>(s2_v0_3));
}
}
}

