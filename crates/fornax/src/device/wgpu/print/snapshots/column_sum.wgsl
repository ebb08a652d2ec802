// sum f32 4096x768: [768, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 768u;
let tile = group / 128u;
let part = group % 128u;
let wanted = tile * 32u + lane % 32u;
let column = min(wanted, 191u);
let y = lane / 32u;
let c_1 = column * 4u;
var acc1_0: f32 = (0e0f);
var acc1_1: f32 = (0e0f);
var acc1_2: f32 = (0e0f);
var acc1_3: f32 = (0e0f);
for (var step = part * 32u + y; step < min((part + 1u) * 32u, 4096u); step += 8u) {
let q_2 = r0[(step * 768u + c_1) / 4u + 0u];
let v0_0 = bitcast<f32>(q_2.x);
let v0_1 = bitcast<f32>(q_2.y);
let v0_2 = bitcast<f32>(q_2.z);
let v0_3 = bitcast<f32>(q_2.w);
acc1_0 = (acc1_0 + v0_0);
acc1_1 = (acc1_1 + v0_1);
acc1_2 = (acc1_2 + v0_2);
acc1_3 = (acc1_3 + v0_3);
}
shared_f32[lane + 0u] = acc1_0;
shared_f32[lane + 256u] = acc1_1;
shared_f32[lane + 512u] = acc1_2;
shared_f32[lane + 768u] = acc1_3;
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
acc1_0 = shared_f32[lane + 0u];
acc1_1 = shared_f32[lane + 256u];
acc1_2 = shared_f32[lane + 512u];
acc1_3 = shared_f32[lane + 768u];
workgroupBarrier();
if (y == 0u && wanted < 192u) {
s0[(part * 192u + column) * 4u + 0u + 0u] = bitcast<u32>(acc1_0);
s0[(part * 192u + column) * 4u + 1u + 0u] = bitcast<u32>(acc1_1);
s0[(part * 192u + column) * 4u + 2u + 0u] = bitcast<u32>(acc1_2);
s0[(part * 192u + column) * 4u + 3u + 0u] = bitcast<u32>(acc1_3);
}
}

// sum f32 4096x768: [48, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<u32>;
var<workgroup> shared_f32: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 48u;
let tile = group / 1u;
let part = group % 1u;
let wanted = tile * 4u + lane % 4u;
let column = min(wanted, 191u);
let y = lane / 4u;
let c_1 = column * 4u;
var acc1_0: f32 = (0e0f);
var acc1_1: f32 = (0e0f);
var acc1_2: f32 = (0e0f);
var acc1_3: f32 = (0e0f);
for (var step = part * 128u + y; step < 128u; step += 64u) {
acc1_0 = (acc1_0 + bitcast<f32>(s0[(step * 192u + column) * 4u + 0u + 0u]));
acc1_1 = (acc1_1 + bitcast<f32>(s0[(step * 192u + column) * 4u + 1u + 0u]));
acc1_2 = (acc1_2 + bitcast<f32>(s0[(step * 192u + column) * 4u + 2u + 0u]));
acc1_3 = (acc1_3 + bitcast<f32>(s0[(step * 192u + column) * 4u + 3u + 0u]));
}
shared_f32[lane + 0u] = acc1_0;
shared_f32[lane + 256u] = acc1_1;
shared_f32[lane + 512u] = acc1_2;
shared_f32[lane + 768u] = acc1_3;
workgroupBarrier();
if (y < 32u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 128u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 384u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 640u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 896u]);
}
workgroupBarrier();
if (y < 16u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 64u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 320u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 576u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 832u]);
}
workgroupBarrier();
if (y < 8u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 32u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 288u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 544u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 800u]);
}
workgroupBarrier();
if (y < 4u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 16u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 272u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 528u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 784u]);
}
workgroupBarrier();
if (y < 2u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 8u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 264u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 520u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 776u]);
}
workgroupBarrier();
if (y < 1u) {
shared_f32[lane + 0u] = (shared_f32[lane + 0u] + shared_f32[lane + 4u]);
shared_f32[lane + 256u] = (shared_f32[lane + 256u] + shared_f32[lane + 260u]);
shared_f32[lane + 512u] = (shared_f32[lane + 512u] + shared_f32[lane + 516u]);
shared_f32[lane + 768u] = (shared_f32[lane + 768u] + shared_f32[lane + 772u]);
}
workgroupBarrier();
acc1_0 = shared_f32[lane + 0u];
acc1_1 = shared_f32[lane + 256u];
acc1_2 = shared_f32[lane + 512u];
acc1_3 = shared_f32[lane + 768u];
workgroupBarrier();
if (y == 0u && wanted < 192u) {
let v1_0 = acc1_0;
let v1_1 = acc1_1;
let v1_2 = acc1_2;
let v1_3 = acc1_3;
w0[(c_1) / 4u + 0u] = vec4<u32>(bitcast<u32>(v1_0), bitcast<u32>(v1_1), bitcast<u32>(v1_2), bitcast<u32>(v1_3));
}
}

