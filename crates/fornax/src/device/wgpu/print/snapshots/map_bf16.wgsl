// mul bf16 100: [1, 1] workgroups
enable f16;
struct Args { v0: vec4<u32> }
var<immediate> args: Args;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
fn brain_bits(x: f32) -> u32 {
    let u = bitcast<u32>(x);
    let rounded = (u + 0x7fffu + ((u >> 16u) & 1u)) >> 16u;
    return select(rounded, (u >> 16u) | 64u, (u & 0x7fffffffu) > 0x7f800000u);
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 13u) {
let c_2 = i_1 * 8u;
let q_3 = r0[((c_2) / 2u) / 4u + 0u];
let u_4 = q_3.x;
let u_5 = q_3.y;
let u_6 = q_3.z;
let u_7 = q_3.w;
let v0_0 = bitcast<f32>(u_4 << 16u);
let v0_1 = bitcast<f32>(u_4 & 0xffff0000u);
let v0_2 = bitcast<f32>(u_5 << 16u);
let v0_3 = bitcast<f32>(u_5 & 0xffff0000u);
let v0_4 = bitcast<f32>(u_6 << 16u);
let v0_5 = bitcast<f32>(u_6 & 0xffff0000u);
let v0_6 = bitcast<f32>(u_7 << 16u);
let v0_7 = bitcast<f32>(u_7 & 0xffff0000u);
let v1 = bitcast<f32>(args.v0[0]);
let v2_0 = (v0_0 * v1);
let v2_1 = (v0_1 * v1);
let v2_2 = (v0_2 * v1);
let v2_3 = (v0_3 * v1);
let v2_4 = (v0_4 * v1);
let v2_5 = (v0_5 * v1);
let v2_6 = (v0_6 * v1);
let v2_7 = (v0_7 * v1);
w0[((c_2) / 2u) / 4u + 0u] = vec4<u32>((brain_bits(v2_0) | (brain_bits(v2_1) << 16u)), (brain_bits(v2_2) | (brain_bits(v2_3) << 16u)), (brain_bits(v2_4) | (brain_bits(v2_5) << 16u)), (brain_bits(v2_6) | (brain_bits(v2_7) << 16u)));
}
}

