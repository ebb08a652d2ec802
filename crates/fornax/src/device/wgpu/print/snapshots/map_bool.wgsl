// lt bool 49152: [48, 1] workgroups
enable f16;
struct Args { v0: vec4<u32> }
var<immediate> args: Args;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<u32>;
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 48u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 12288u) {
let c_2 = i_1 * 4u;
let v0 = bitcast<f32>(args.v0[0]);
let q_3 = r0[(c_2) / 4u + 0u];
let v1_0 = bitcast<f32>(q_3.x);
let v1_1 = bitcast<f32>(q_3.y);
let v1_2 = bitcast<f32>(q_3.z);
let v1_3 = bitcast<f32>(q_3.w);
let v2_0 = ((v0 < v1_0) & !is_nan(v0) & !is_nan(v1_0));
let v2_1 = ((v0 < v1_1) & !is_nan(v0) & !is_nan(v1_1));
let v2_2 = ((v0 < v1_2) & !is_nan(v0) & !is_nan(v1_2));
let v2_3 = ((v0 < v1_3) & !is_nan(v0) & !is_nan(v1_3));
w0[(c_2) / 4u + 0u] = (select(0u, 1u, v2_0) | select(0u, 256u, v2_1) | select(0u, 65536u, v2_2) | select(0u, 16777216u, v2_3));
}
}

