// matmul f32 1x3072x768: [576, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<u32>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 576u;
let tile = group / 24u;
let part = group % 24u;
let wanted = tile * 32u + lane % 32u;
let column = min(wanted, 767u);
let y = lane / 32u;
let c_1 = column * 4u;
var acc7_0: f32 = (0e0f);
var acc7_1: f32 = (0e0f);
var acc7_2: f32 = (0e0f);
var acc7_3: f32 = (0e0f);
for (var step = part * 32u + y; step < min((part + 1u) * 32u, 768u); step += 8u) {
let l_2 = bitcast<f32>(r0[step + 0u]);
let v0_0 = l_2;
let v0_1 = l_2;
let v0_2 = l_2;
let v0_3 = l_2;
let v1_0 = v0_0;
let v1_1 = v0_1;
let v1_2 = v0_2;
let v1_3 = v0_3;
let v2_0 = v1_0;
let v2_1 = v1_1;
let v2_2 = v1_2;
let v2_3 = v1_3;
let q_3 = r1[(step * 3072u + c_1) / 4u + 0u];
let v3_0 = bitcast<f32>(q_3.x);
let v3_1 = bitcast<f32>(q_3.y);
let v3_2 = bitcast<f32>(q_3.z);
let v3_3 = bitcast<f32>(q_3.w);
let v4_0 = v3_0;
let v4_1 = v3_1;
let v4_2 = v3_2;
let v4_3 = v3_3;
let v5_0 = v4_0;
let v5_1 = v4_1;
let v5_2 = v4_2;
let v5_3 = v4_3;
let v6_0 = (v2_0 * v5_0);
let v6_1 = (v2_1 * v5_1);
let v6_2 = (v2_2 * v5_2);
let v6_3 = (v2_3 * v5_3);
acc7_0 = (acc7_0 + v6_0);
acc7_1 = (acc7_1 + v6_1);
acc7_2 = (acc7_2 + v6_2);
acc7_3 = (acc7_3 + v6_3);
}
shared_f32[lane + 0u] = acc7_0;
shared_f32[lane + 256u] = acc7_1;
shared_f32[lane + 512u] = acc7_2;
shared_f32[lane + 768u] = acc7_3;
workgroupBarrier();
if (y < 4u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 128u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 384u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 640u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 896u]);
}
workgroupBarrier();
if (y < 2u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 64u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 320u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 576u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 832u]);
}
workgroupBarrier();
if (y < 1u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 32u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 288u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 544u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 800u]);
}
workgroupBarrier();
acc7_0 = shared_f32[lane + 0u];
acc7_1 = shared_f32[lane + 256u];
acc7_2 = shared_f32[lane + 512u];
acc7_3 = shared_f32[lane + 768u];
workgroupBarrier();
if (y == 0u && wanted < 768u) {
s0[(part * 768u + column) * 4u + 0u + 0u] = bitcast<u32>(acc7_0);
s0[(part * 768u + column) * 4u + 1u + 0u] = bitcast<u32>(acc7_1);
s0[(part * 768u + column) * 4u + 2u + 0u] = bitcast<u32>(acc7_2);
s0[(part * 768u + column) * 4u + 3u + 0u] = bitcast<u32>(acc7_3);
}
}

// matmul f32 1x3072x768: [96, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<u32>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 96u;
let tile = group / 1u;
let part = group % 1u;
let wanted = tile * 8u + lane % 8u;
let column = min(wanted, 767u);
let y = lane / 8u;
let c_1 = column * 4u;
var acc7_0: f32 = (0e0f);
var acc7_1: f32 = (0e0f);
var acc7_2: f32 = (0e0f);
var acc7_3: f32 = (0e0f);
for (var step = part * 24u + y; step < 24u; step += 32u) {
acc7_0 = (acc7_0 + bitcast<f32>(s0[(step * 768u + column) * 4u + 0u + 0u]));
acc7_1 = (acc7_1 + bitcast<f32>(s0[(step * 768u + column) * 4u + 1u + 0u]));
acc7_2 = (acc7_2 + bitcast<f32>(s0[(step * 768u + column) * 4u + 2u + 0u]));
acc7_3 = (acc7_3 + bitcast<f32>(s0[(step * 768u + column) * 4u + 3u + 0u]));
}
shared_f32[lane + 0u] = acc7_0;
shared_f32[lane + 256u] = acc7_1;
shared_f32[lane + 512u] = acc7_2;
shared_f32[lane + 768u] = acc7_3;
workgroupBarrier();
if (y < 16u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 128u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 384u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 640u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 896u]);
}
workgroupBarrier();
if (y < 8u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 64u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 320u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 576u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 832u]);
}
workgroupBarrier();
if (y < 4u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 32u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 288u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 544u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 800u]);
}
workgroupBarrier();
if (y < 2u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 16u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 272u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 528u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 784u]);
}
workgroupBarrier();
if (y < 1u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 8u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 264u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 520u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 776u]);
}
workgroupBarrier();
acc7_0 = shared_f32[lane + 0u];
acc7_1 = shared_f32[lane + 256u];
acc7_2 = shared_f32[lane + 512u];
acc7_3 = shared_f32[lane + 768u];
workgroupBarrier();
if (y == 0u && wanted < 768u) {
let v7_0 = acc7_0;
let v7_1 = acc7_1;
let v7_2 = acc7_2;
let v7_3 = acc7_3;
w0[(c_1) / 4u + 0u] = vec4<u32>(bitcast<u32>(v7_0), bitcast<u32>(v7_1), bitcast<u32>(v7_2), bitcast<u32>(v7_3));
}
}

