// exp f32 768x64: [48, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<u32>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 48u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 12288u) {
let c_2 = (i_1 % 16u) * 4u;
let n_3 = i_1 / 16u;
let v0_0 = bitcast<f32>(r0[n_3 + c_2 * 768u + 0u]);
let v0_1 = bitcast<f32>(r0[n_3 + (c_2 + 1u) * 768u + 0u]);
let v0_2 = bitcast<f32>(r0[n_3 + (c_2 + 2u) * 768u + 0u]);
let v0_3 = bitcast<f32>(r0[n_3 + (c_2 + 3u) * 768u + 0u]);
let v1_0 = exp(v0_0);
let v1_1 = exp(v0_1);
let v1_2 = exp(v0_2);
let v1_3 = exp(v0_3);
w0[(n_3 * 64u + c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v1_0), bitcast<u32>(v1_1), bitcast<u32>(v1_2), bitcast<u32>(v1_3));
}
}

