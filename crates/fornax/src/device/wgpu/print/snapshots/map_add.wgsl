// add f32 64x768: [48, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 48u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 12288u) {
let c_2 = (i_1 % 192u) * 4u;
let n_3 = i_1 / 192u;
let q_4 = r0[(n_3 * 768u + c_2) / 4u + 0u];
let v0_0 = bitcast<f32>(q_4.x);
let v0_1 = bitcast<f32>(q_4.y);
let v0_2 = bitcast<f32>(q_4.z);
let v0_3 = bitcast<f32>(q_4.w);
let q_5 = r1[(c_2) / 4u + 0u];
let v1_0 = bitcast<f32>(q_5.x);
let v1_1 = bitcast<f32>(q_5.y);
let v1_2 = bitcast<f32>(q_5.z);
let v1_3 = bitcast<f32>(q_5.w);
let v2_0 = (v0_0 + v1_0);
let v2_1 = (v0_1 + v1_1);
let v2_2 = (v0_2 + v1_2);
let v2_3 = (v0_3 + v1_3);
w0[(n_3 * 768u + c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v2_0), bitcast<u32>(v2_1), bitcast<u32>(v2_2), bitcast<u32>(v2_3));
}
}

