// matmul f16 2048x2048x2048: [128, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
fn round_half(x: f32) -> f32 { return f32(f16(x)); }
var<workgroup> tile_a: array<vec4<f16>, 1088>;
var<workgroup> tile_b: array<vec4<f16>, 2560>;
var<workgroup> tile_c: array<f32, 2048>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 128u;
let at_tile = min(group, 127u);
let part = at_tile % 1u;
let at = at_tile / 1u;
let n_1 = at % 128u;
let n_2 = n_1 / 64u;
let n_3 = min(8u, 16u - n_2 * 8u);
let n_4 = n_1 % 64u;
let row0 = (n_2 * 8u + n_4 % n_3) * 128u;
let column0 = (n_4 / n_3) * 256u;
let n_5 = at / 128u;
let base_a = 0u;
let base_b = 0u;
let k_from = part * 2048u;
let k_to = min(k_from + 2048u, 2048u);
let subgroup = lane / 32u;
let block_row = (subgroup / 4u) * 64u;
let block_column = (subgroup % 4u) * 64u;
var c0_0 = coop_mat16x16<f32, C>();
var c0_1 = coop_mat16x16<f32, C>();
var c0_2 = coop_mat16x16<f32, C>();
var c0_3 = coop_mat16x16<f32, C>();
var c1_0 = coop_mat16x16<f32, C>();
var c1_1 = coop_mat16x16<f32, C>();
var c1_2 = coop_mat16x16<f32, C>();
var c1_3 = coop_mat16x16<f32, C>();
var c2_0 = coop_mat16x16<f32, C>();
var c2_1 = coop_mat16x16<f32, C>();
var c2_2 = coop_mat16x16<f32, C>();
var c2_3 = coop_mat16x16<f32, C>();
var c3_0 = coop_mat16x16<f32, C>();
var c3_1 = coop_mat16x16<f32, C>();
var c3_2 = coop_mat16x16<f32, C>();
var c3_3 = coop_mat16x16<f32, C>();
var ar0: vec4<u32>;
var ar1: vec4<u32>;
let e_6 = lane + 0u;
let oo_7 = (e_6 % 16u) * 8u;
let kk_8 = e_6 / 16u;
let k_9 = k_from + kk_8;
let o_10 = row0 + oo_7;
let at_11 = base_a + o_10 + k_9 * 2048u;
let k_a = kk_8;
let o_a = oo_7;
var at_a = at_11 / 8u;
var br0: vec4<u32>;
var br1: vec4<u32>;
var br2: vec4<u32>;
var br3: vec4<u32>;
let e_12 = lane + 0u;
let kk_13 = (e_12 % 4u) * 8u;
let oo_14 = e_12 / 4u;
let oo_15 = (oo_14 & ~7u) | ((oo_14 & 1u) << 2u) | ((oo_14 & 6u) >> 1u);
let k_16 = k_from + kk_13;
let o_17 = column0 + oo_15;
let at_18 = base_b + o_17 * 2048u + k_16;
let k_b = kk_13;
let o_b = oo_15;
var at_b = at_18 / 8u;
ar0 = r0[at_a + 0u];
ar1 = r0[at_a + 4096u];
br0 = r1[at_b + 0u];
br1 = r1[at_b + 16384u];
br2 = r1[at_b + 32768u];
br3 = r1[at_b + 49152u];
var a0_0 = coop_mat16x16<f16, A>();
var a0_1 = coop_mat16x16<f16, A>();
var a0_2 = coop_mat16x16<f16, A>();
var a0_3 = coop_mat16x16<f16, A>();
var b0_0 = coop_mat16x16<f16, B>();
var b0_1 = coop_mat16x16<f16, B>();
var b0_2 = coop_mat16x16<f16, B>();
var b0_3 = coop_mat16x16<f16, B>();
let to_19 = k_a * 34u + o_a / 4u;
tile_a[to_19 + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(ar0.x), unpack2x16float(ar0.y)));
tile_a[to_19 + 0u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(ar0.z), unpack2x16float(ar0.w)));
tile_a[to_19 + 544u] = vec4<f16>(vec4<f32>(unpack2x16float(ar1.x), unpack2x16float(ar1.y)));
tile_a[to_19 + 544u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(ar1.z), unpack2x16float(ar1.w)));
let to_20 = o_b * 10u + k_b / 4u;
tile_b[to_20 + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(br0.x), unpack2x16float(br0.y)));
tile_b[to_20 + 0u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br0.z), unpack2x16float(br0.w)));
tile_b[to_20 + 640u] = vec4<f16>(vec4<f32>(unpack2x16float(br1.x), unpack2x16float(br1.y)));
tile_b[to_20 + 640u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br1.z), unpack2x16float(br1.w)));
tile_b[to_20 + 1280u] = vec4<f16>(vec4<f32>(unpack2x16float(br2.x), unpack2x16float(br2.y)));
tile_b[to_20 + 1280u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br2.z), unpack2x16float(br2.w)));
tile_b[to_20 + 1920u] = vec4<f16>(vec4<f32>(unpack2x16float(br3.x), unpack2x16float(br3.y)));
tile_b[to_20 + 1920u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br3.z), unpack2x16float(br3.w)));
workgroupBarrier();
a0_0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 0u)) / 4u], 34u);
a0_1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 16u)) / 4u], 34u);
a0_2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 32u)) / 4u], 34u);
a0_3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 48u)) / 4u], 34u);
b0_0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 0u) / 4u], 10u);
b0_1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 0u) / 4u], 10u);
b0_2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 0u) / 4u], 10u);
b0_3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 0u) / 4u], 10u);
for (var slice = 1u; slice < 64u; slice++) {
let next = k_from + slice * 32u;
at_a += 8192u;
ar0 = r0[at_a + 0u];
ar1 = r0[at_a + 4096u];
at_b += 4u;
br0 = r1[at_b + 0u];
br1 = r1[at_b + 16384u];
br2 = r1[at_b + 32768u];
br3 = r1[at_b + 49152u];
let a1_0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 0u)) / 4u], 34u);
let a1_1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 16u)) / 4u], 34u);
let a1_2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 32u)) / 4u], 34u);
let a1_3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 48u)) / 4u], 34u);
let b1_0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 16u) / 4u], 10u);
let b1_1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 16u) / 4u], 10u);
let b1_2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 16u) / 4u], 10u);
let b1_3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 16u) / 4u], 10u);
c0_0 = coopMultiplyAdd(a0_0, b0_0, c0_0);
c0_1 = coopMultiplyAdd(a0_0, b0_1, c0_1);
c0_2 = coopMultiplyAdd(a0_0, b0_2, c0_2);
c0_3 = coopMultiplyAdd(a0_0, b0_3, c0_3);
c1_0 = coopMultiplyAdd(a0_1, b0_0, c1_0);
c1_1 = coopMultiplyAdd(a0_1, b0_1, c1_1);
c1_2 = coopMultiplyAdd(a0_1, b0_2, c1_2);
c1_3 = coopMultiplyAdd(a0_1, b0_3, c1_3);
c2_0 = coopMultiplyAdd(a0_2, b0_0, c2_0);
c2_1 = coopMultiplyAdd(a0_2, b0_1, c2_1);
c2_2 = coopMultiplyAdd(a0_2, b0_2, c2_2);
c2_3 = coopMultiplyAdd(a0_2, b0_3, c2_3);
c3_0 = coopMultiplyAdd(a0_3, b0_0, c3_0);
c3_1 = coopMultiplyAdd(a0_3, b0_1, c3_1);
c3_2 = coopMultiplyAdd(a0_3, b0_2, c3_2);
c3_3 = coopMultiplyAdd(a0_3, b0_3, c3_3);
workgroupBarrier();
let to_21 = k_a * 34u + o_a / 4u;
tile_a[to_21 + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(ar0.x), unpack2x16float(ar0.y)));
tile_a[to_21 + 0u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(ar0.z), unpack2x16float(ar0.w)));
tile_a[to_21 + 544u] = vec4<f16>(vec4<f32>(unpack2x16float(ar1.x), unpack2x16float(ar1.y)));
tile_a[to_21 + 544u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(ar1.z), unpack2x16float(ar1.w)));
let to_22 = o_b * 10u + k_b / 4u;
tile_b[to_22 + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(br0.x), unpack2x16float(br0.y)));
tile_b[to_22 + 0u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br0.z), unpack2x16float(br0.w)));
tile_b[to_22 + 640u] = vec4<f16>(vec4<f32>(unpack2x16float(br1.x), unpack2x16float(br1.y)));
tile_b[to_22 + 640u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br1.z), unpack2x16float(br1.w)));
tile_b[to_22 + 1280u] = vec4<f16>(vec4<f32>(unpack2x16float(br2.x), unpack2x16float(br2.y)));
tile_b[to_22 + 1280u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br2.z), unpack2x16float(br2.w)));
tile_b[to_22 + 1920u] = vec4<f16>(vec4<f32>(unpack2x16float(br3.x), unpack2x16float(br3.y)));
tile_b[to_22 + 1920u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(br3.z), unpack2x16float(br3.w)));
workgroupBarrier();
a0_0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 0u)) / 4u], 34u);
a0_1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 16u)) / 4u], 34u);
a0_2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 32u)) / 4u], 34u);
a0_3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 48u)) / 4u], 34u);
b0_0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 0u) / 4u], 10u);
b0_1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 0u) / 4u], 10u);
b0_2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 0u) / 4u], 10u);
b0_3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 0u) / 4u], 10u);
c0_0 = coopMultiplyAdd(a1_0, b1_0, c0_0);
c0_1 = coopMultiplyAdd(a1_0, b1_1, c0_1);
c0_2 = coopMultiplyAdd(a1_0, b1_2, c0_2);
c0_3 = coopMultiplyAdd(a1_0, b1_3, c0_3);
c1_0 = coopMultiplyAdd(a1_1, b1_0, c1_0);
c1_1 = coopMultiplyAdd(a1_1, b1_1, c1_1);
c1_2 = coopMultiplyAdd(a1_1, b1_2, c1_2);
c1_3 = coopMultiplyAdd(a1_1, b1_3, c1_3);
c2_0 = coopMultiplyAdd(a1_2, b1_0, c2_0);
c2_1 = coopMultiplyAdd(a1_2, b1_1, c2_1);
c2_2 = coopMultiplyAdd(a1_2, b1_2, c2_2);
c2_3 = coopMultiplyAdd(a1_2, b1_3, c2_3);
c3_0 = coopMultiplyAdd(a1_3, b1_0, c3_0);
c3_1 = coopMultiplyAdd(a1_3, b1_1, c3_1);
c3_2 = coopMultiplyAdd(a1_3, b1_2, c3_2);
c3_3 = coopMultiplyAdd(a1_3, b1_3, c3_3);
}
let a1_0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 0u)) / 4u], 34u);
let a1_1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 16u)) / 4u], 34u);
let a1_2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 32u)) / 4u], 34u);
let a1_3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 48u)) / 4u], 34u);
let b1_0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 16u) / 4u], 10u);
let b1_1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 16u) / 4u], 10u);
let b1_2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 16u) / 4u], 10u);
let b1_3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 16u) / 4u], 10u);
c0_0 = coopMultiplyAdd(a0_0, b0_0, c0_0);
c0_1 = coopMultiplyAdd(a0_0, b0_1, c0_1);
c0_2 = coopMultiplyAdd(a0_0, b0_2, c0_2);
c0_3 = coopMultiplyAdd(a0_0, b0_3, c0_3);
c1_0 = coopMultiplyAdd(a0_1, b0_0, c1_0);
c1_1 = coopMultiplyAdd(a0_1, b0_1, c1_1);
c1_2 = coopMultiplyAdd(a0_1, b0_2, c1_2);
c1_3 = coopMultiplyAdd(a0_1, b0_3, c1_3);
c2_0 = coopMultiplyAdd(a0_2, b0_0, c2_0);
c2_1 = coopMultiplyAdd(a0_2, b0_1, c2_1);
c2_2 = coopMultiplyAdd(a0_2, b0_2, c2_2);
c2_3 = coopMultiplyAdd(a0_2, b0_3, c2_3);
c3_0 = coopMultiplyAdd(a0_3, b0_0, c3_0);
c3_1 = coopMultiplyAdd(a0_3, b0_1, c3_1);
c3_2 = coopMultiplyAdd(a0_3, b0_2, c3_2);
c3_3 = coopMultiplyAdd(a0_3, b0_3, c3_3);
c0_0 = coopMultiplyAdd(a1_0, b1_0, c0_0);
c0_1 = coopMultiplyAdd(a1_0, b1_1, c0_1);
c0_2 = coopMultiplyAdd(a1_0, b1_2, c0_2);
c0_3 = coopMultiplyAdd(a1_0, b1_3, c0_3);
c1_0 = coopMultiplyAdd(a1_1, b1_0, c1_0);
c1_1 = coopMultiplyAdd(a1_1, b1_1, c1_1);
c1_2 = coopMultiplyAdd(a1_1, b1_2, c1_2);
c1_3 = coopMultiplyAdd(a1_1, b1_3, c1_3);
c2_0 = coopMultiplyAdd(a1_2, b1_0, c2_0);
c2_1 = coopMultiplyAdd(a1_2, b1_1, c2_1);
c2_2 = coopMultiplyAdd(a1_2, b1_2, c2_2);
c2_3 = coopMultiplyAdd(a1_2, b1_3, c2_3);
c3_0 = coopMultiplyAdd(a1_3, b1_0, c3_0);
c3_1 = coopMultiplyAdd(a1_3, b1_1, c3_1);
c3_2 = coopMultiplyAdd(a1_3, b1_2, c3_2);
c3_3 = coopMultiplyAdd(a1_3, b1_3, c3_3);
let own_c = subgroup * 256u;
workgroupBarrier();
coopStoreT(c0_0, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c0_1, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c0_2, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c0_3, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c1_0, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c1_1, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c1_2, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c1_3, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c2_0, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c2_1, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c2_2, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c2_3, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c3_0, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c3_1, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c3_2, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
workgroupBarrier();
coopStoreT(c3_3, &tile_c[own_c], 16u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 16u + (q % 4u) * 4u;
if (row < 2048u && column < 2048u) {
let v0_0 = tile_c[first + 0u];
let v0_1 = tile_c[first + 1u];
let v0_2 = tile_c[first + 2u];
let v0_3 = tile_c[first + 3u];
let v1_0 = round_half(v0_0);
let v1_1 = round_half(v0_1);
let v1_2 = round_half(v0_2);
let v1_3 = round_half(v0_3);
w0[((row * 2048u + column) / 2u) / 2u + 0u] = vec2<u32>(pack_half(v1_0, v1_1), pack_half(v1_2, v1_3));
}
}
}

