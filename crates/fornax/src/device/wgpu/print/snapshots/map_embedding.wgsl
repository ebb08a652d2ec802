// gather f32 16x768: [12, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> w0: array<vec4<u32>>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 12u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 3072u) {
let c_2 = (i_1 % 192u) * 4u;
let n_3 = i_1 / 192u;
let q_4 = r0[((n_3) * 2u) / 2u + 0u];
let l_5 = (i64(q_4.x) | (i64(q_4.y) << 32u));
let v0_0 = l_5;
let v0_1 = l_5;
let v0_2 = l_5;
let v0_3 = l_5;
let bad_6 = (v0_0 < 0li) | (v0_0 >= 64li);
if (bad_6) { atomicStore(&status[1], u32(v0_0)); atomicStore(&status[2], 64u); atomicStore(&status[0], 1u); }
let a_7 = c_2 + select(u32(v0_0), 0u, bad_6) * 768u;
let bad_8 = (v0_1 < 0li) | (v0_1 >= 64li);
if (bad_8) { atomicStore(&status[1], u32(v0_1)); atomicStore(&status[2], 64u); atomicStore(&status[0], 1u); }
let a_9 = (c_2 + 1u) + select(u32(v0_1), 0u, bad_8) * 768u;
let bad_10 = (v0_2 < 0li) | (v0_2 >= 64li);
if (bad_10) { atomicStore(&status[1], u32(v0_2)); atomicStore(&status[2], 64u); atomicStore(&status[0], 1u); }
let a_11 = (c_2 + 2u) + select(u32(v0_2), 0u, bad_10) * 768u;
let bad_12 = (v0_3 < 0li) | (v0_3 >= 64li);
if (bad_12) { atomicStore(&status[1], u32(v0_3)); atomicStore(&status[2], 64u); atomicStore(&status[0], 1u); }
let a_13 = (c_2 + 3u) + select(u32(v0_3), 0u, bad_12) * 768u;
let v1_0 = bitcast<f32>(r1[(a_7 + 0u) / 4u][(a_7 + 0u) % 4u]);
let v1_1 = bitcast<f32>(r1[(a_9 + 0u) / 4u][(a_9 + 0u) % 4u]);
let v1_2 = bitcast<f32>(r1[(a_11 + 0u) / 4u][(a_11 + 0u) % 4u]);
let v1_3 = bitcast<f32>(r1[(a_13 + 0u) / 4u][(a_13 + 0u) % 4u]);
w0[(n_3 * 768u + c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v1_0), bitcast<u32>(v1_1), bitcast<u32>(v1_2), bitcast<u32>(v1_3));
}
}

