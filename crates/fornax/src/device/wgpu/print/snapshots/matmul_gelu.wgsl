// matmul_add_mul_add_mul_tanh_and_2_more f32 512x3072x768: [768, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 272>;
var<workgroup> tile_b: array<vec4<f32>, 272>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 768u;
let at_tile = min(group, 767u);
let part = at_tile % 2u;
let at = at_tile / 2u;
let n_1 = at % 384u;
let n_2 = n_1 / 384u;
let n_3 = min(8u, 8u - n_2 * 8u);
let n_4 = n_1 % 384u;
let row0 = (n_2 * 8u + n_4 % n_3) * 64u;
let column0 = (n_4 / n_3) * 64u;
let n_5 = at / 384u;
let base_a = 0u;
let base_b = 0u;
let k_from = part * 384u;
let k_to = min(k_from + 384u, 768u);
let tx = lane % 16u;
let ty = lane / 16u;
var c0_0 = vec4<f32>();
var c1_0 = vec4<f32>();
var c2_0 = vec4<f32>();
var c3_0 = vec4<f32>();
var c4_0 = vec4<f32>();
var c5_0 = vec4<f32>();
var c6_0 = vec4<f32>();
var c7_0 = vec4<f32>();
var ar0: vec4<f32>;
let e_6 = lane + 0u;
let kk_7 = (e_6 % 2u) * 4u;
let oo_8 = e_6 / 2u;
let k_9 = k_from + kk_7;
let o_10 = row0 + oo_8;
let at_11 = base_a + o_10 * 768u + k_9;
let k_a = kk_7;
let o_a = oo_8;
var at_a = at_11 / 4u;
var br0: vec4<f32>;
let e_12 = lane + 0u;
let oo_13 = (e_12 % 16u) * 4u;
let kk_14 = e_12 / 16u;
let k_15 = k_from + kk_14;
let o_16 = column0 + oo_13;
let at_17 = base_b + o_16 + k_15 * 3072u;
let k_b = kk_14;
let o_b = oo_13;
var at_b = at_17 / 4u;
let q_18 = r0[at_a + 0u];
ar0 = vec4<f32>(bitcast<f32>(q_18.x), bitcast<f32>(q_18.y), bitcast<f32>(q_18.z), bitcast<f32>(q_18.w));
let q_19 = r1[at_b + 0u];
br0 = vec4<f32>(bitcast<f32>(q_19.x), bitcast<f32>(q_19.y), bitcast<f32>(q_19.z), bitcast<f32>(q_19.w));
let to_20 = 0u + k_a * 17u + o_a / 4u;
tile_a[to_20 + 0u + 0u][o_a % 4u] = ar0.x;
tile_a[to_20 + 0u + 17u][o_a % 4u] = ar0.y;
tile_a[to_20 + 0u + 34u][o_a % 4u] = ar0.z;
tile_a[to_20 + 0u + 51u][o_a % 4u] = ar0.w;
let to_21 = 0u + k_b * 17u + o_b / 4u;
tile_b[to_21 + 0u] = br0;
workgroupBarrier();
var turn = 0u;
for (var k0 = k_from + 8u; k0 < k_to + 8u; k0 += 8u) {
let more = k0 < k_to;
at_a += select(0u, 2u, more);
let q_22 = r0[at_a + 0u];
ar0 = vec4<f32>(bitcast<f32>(q_22.x), bitcast<f32>(q_22.y), bitcast<f32>(q_22.z), bitcast<f32>(q_22.w));
at_b += select(0u, 6144u, more);
let q_23 = r1[at_b + 0u];
br0 = vec4<f32>(bitcast<f32>(q_23.x), bitcast<f32>(q_23.y), bitcast<f32>(q_23.z), bitcast<f32>(q_23.w));
let from_a = turn * 136u + ty;
let from_b = turn * 136u + tx;
{
let a0 = tile_a[from_a + 0u];
let a1 = tile_a[from_a + 8u];
let b0 = tile_b[from_b + 0u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 17u];
let a1 = tile_a[from_a + 25u];
let b0 = tile_b[from_b + 17u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 34u];
let a1 = tile_a[from_a + 42u];
let b0 = tile_b[from_b + 34u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 51u];
let a1 = tile_a[from_a + 59u];
let b0 = tile_b[from_b + 51u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 68u];
let a1 = tile_a[from_a + 76u];
let b0 = tile_b[from_b + 68u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 85u];
let a1 = tile_a[from_a + 93u];
let b0 = tile_b[from_b + 85u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 102u];
let a1 = tile_a[from_a + 110u];
let b0 = tile_b[from_b + 102u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
{
let a0 = tile_a[from_a + 119u];
let a1 = tile_a[from_a + 127u];
let b0 = tile_b[from_b + 119u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
}
turn = 1u - turn;
let to_24 = turn * 136u + k_a * 17u + o_a / 4u;
tile_a[to_24 + 0u + 0u][o_a % 4u] = ar0.x;
tile_a[to_24 + 0u + 17u][o_a % 4u] = ar0.y;
tile_a[to_24 + 0u + 34u][o_a % 4u] = ar0.z;
tile_a[to_24 + 0u + 51u][o_a % 4u] = ar0.w;
let to_25 = turn * 136u + k_b * 17u + o_b / 4u;
tile_b[to_25 + 0u] = br0;
workgroupBarrier();
}
let row_0 = row0 + (ty + 0u) * 4u + 0u;
let row_1 = row0 + (ty + 0u) * 4u + 1u;
let row_2 = row0 + (ty + 0u) * 4u + 2u;
let row_3 = row0 + (ty + 0u) * 4u + 3u;
let row_4 = row0 + (ty + 8u) * 4u + 0u;
let row_5 = row0 + (ty + 8u) * 4u + 1u;
let row_6 = row0 + (ty + 8u) * 4u + 2u;
let row_7 = row0 + (ty + 8u) * 4u + 3u;
let column_0 = column0 + (tx + 0u) * 4u;
if (row_0 < 512u && column_0 < 3072u) {
let at_26 = (((part * 1u + 0u) * 512u + row_0) * 3072u + column_0);
s0[(at_26) / 4u + 0u] = vec4<u32>(bitcast<u32>(c0_0.x), bitcast<u32>(c0_0.y), bitcast<u32>(c0_0.z), bitcast<u32>(c0_0.w));
}
if (row_1 < 512u && column_0 < 3072u) {
let at_27 = (((part * 1u + 0u) * 512u + row_1) * 3072u + column_0);
s0[(at_27) / 4u + 0u] = vec4<u32>(bitcast<u32>(c1_0.x), bitcast<u32>(c1_0.y), bitcast<u32>(c1_0.z), bitcast<u32>(c1_0.w));
}
if (row_2 < 512u && column_0 < 3072u) {
let at_28 = (((part * 1u + 0u) * 512u + row_2) * 3072u + column_0);
s0[(at_28) / 4u + 0u] = vec4<u32>(bitcast<u32>(c2_0.x), bitcast<u32>(c2_0.y), bitcast<u32>(c2_0.z), bitcast<u32>(c2_0.w));
}
if (row_3 < 512u && column_0 < 3072u) {
let at_29 = (((part * 1u + 0u) * 512u + row_3) * 3072u + column_0);
s0[(at_29) / 4u + 0u] = vec4<u32>(bitcast<u32>(c3_0.x), bitcast<u32>(c3_0.y), bitcast<u32>(c3_0.z), bitcast<u32>(c3_0.w));
}
if (row_4 < 512u && column_0 < 3072u) {
let at_30 = (((part * 1u + 0u) * 512u + row_4) * 3072u + column_0);
s0[(at_30) / 4u + 0u] = vec4<u32>(bitcast<u32>(c4_0.x), bitcast<u32>(c4_0.y), bitcast<u32>(c4_0.z), bitcast<u32>(c4_0.w));
}
if (row_5 < 512u && column_0 < 3072u) {
let at_31 = (((part * 1u + 0u) * 512u + row_5) * 3072u + column_0);
s0[(at_31) / 4u + 0u] = vec4<u32>(bitcast<u32>(c5_0.x), bitcast<u32>(c5_0.y), bitcast<u32>(c5_0.z), bitcast<u32>(c5_0.w));
}
if (row_6 < 512u && column_0 < 3072u) {
let at_32 = (((part * 1u + 0u) * 512u + row_6) * 3072u + column_0);
s0[(at_32) / 4u + 0u] = vec4<u32>(bitcast<u32>(c6_0.x), bitcast<u32>(c6_0.y), bitcast<u32>(c6_0.z), bitcast<u32>(c6_0.w));
}
if (row_7 < 512u && column_0 < 3072u) {
let at_33 = (((part * 1u + 0u) * 512u + row_7) * 3072u + column_0);
s0[(at_33) / 4u + 0u] = vec4<u32>(bitcast<u32>(c7_0.x), bitcast<u32>(c7_0.y), bitcast<u32>(c7_0.z), bitcast<u32>(c7_0.w));
}
}

// matmul_add_mul_add_mul_tanh_and_2_more f32 512x3072x768: [1536, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r2: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<vec4<u32>>;
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn tanh_exact(x: f32) -> f32 {
    let a = min(abs(x), 10.0);
    let square = x * x;
    let small = x + x * square * (-0.33333334 + square * (0.13333334 + square * (-0.053968254
        + square * (0.021869488 + square * (-0.008863236 + square * 0.003592128)))));
    let large = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    return select(select(select(large, -large, x < 0.0), small, a < 0.35), x, is_nan(x));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1536u;
let index = group * 256u + lane;
if (index < 393216u) {
var sum0 = f32(0);
var sum1 = f32(0);
var sum2 = f32(0);
var sum3 = f32(0);
for (var part = 0u; part < 2u; part++) {
let q_1 = s0[(part * 1572864u + index * 4u) / 4u + 0u];
sum0 += bitcast<f32>(q_1.x);
sum1 += bitcast<f32>(q_1.y);
sum2 += bitcast<f32>(q_1.z);
sum3 += bitcast<f32>(q_1.w);
}
let c_2 = (index % 768u) * 4u;
let n_3 = index / 768u;
let v0_0 = sum0;
let v0_1 = sum1;
let v0_2 = sum2;
let v0_3 = sum3;
let q_4 = r2[(c_2) / 4u + 0u];
let v1_0 = bitcast<f32>(q_4.x);
let v1_1 = bitcast<f32>(q_4.y);
let v1_2 = bitcast<f32>(q_4.z);
let v1_3 = bitcast<f32>(q_4.w);
let v2_0 = (v0_0 + v1_0);
let v2_1 = (v0_1 + v1_1);
let v2_2 = (v0_2 + v1_2);
let v2_3 = (v0_3 + v1_3);
let v3_0 = (v2_0 * v2_0);
let v3_1 = (v2_1 * v2_1);
let v3_2 = (v2_2 * v2_2);
let v3_3 = (v2_3 * v2_3);
let v4 = (3.5677407e-2f);
let v5_0 = (v3_0 * v4);
let v5_1 = (v3_1 * v4);
let v5_2 = (v3_2 * v4);
let v5_3 = (v3_3 * v4);
let v6 = (7.978846e-1f);
let v7_0 = (v5_0 + v6);
let v7_1 = (v5_1 + v6);
let v7_2 = (v5_2 + v6);
let v7_3 = (v5_3 + v6);
let v8_0 = (v2_0 * v7_0);
let v8_1 = (v2_1 * v7_1);
let v8_2 = (v2_2 * v7_2);
let v8_3 = (v2_3 * v7_3);
let v9_0 = tanh_exact(v8_0);
let v9_1 = tanh_exact(v8_1);
let v9_2 = tanh_exact(v8_2);
let v9_3 = tanh_exact(v8_3);
let v10 = (5e-1f);
let v11_0 = (v2_0 * v10);
let v11_1 = (v2_1 * v10);
let v11_2 = (v2_2 * v10);
let v11_3 = (v2_3 * v10);
let v12_0 = (v11_0 * v9_0);
let v12_1 = (v11_1 * v9_1);
let v12_2 = (v11_2 * v9_2);
let v12_3 = (v11_3 * v9_3);
let v13_0 = (v11_0 + v12_0);
let v13_1 = (v11_1 + v12_1);
let v13_2 = (v11_2 + v12_2);
let v13_3 = (v11_3 + v12_3);
w0[(n_3 * 3072u + c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v13_0), bitcast<u32>(v13_1), bitcast<u32>(v13_2), bitcast<u32>(v13_3));
}
}

