// matmul f16 2048x2048x2048: [128, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
fn round_half(x: f32) -> f32 { return f32(f16(x)); }
var<workgroup> tile_a: array<vec4<f16>, 1280>;
var<workgroup> tile_b: array<vec4<f16>, 2112>;
var<workgroup> tile_c: array<f32, 4608>;
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
var ar0_0: vec4<f16>;
var ar0_1: vec4<f16>;
var ar1_0: vec4<f16>;
var ar1_1: vec4<f16>;
var br0_0: vec4<f16>;
var br0_1: vec4<f16>;
var br1_0: vec4<f16>;
var br1_1: vec4<f16>;
var br2_0: vec4<f16>;
var br2_1: vec4<f16>;
var br3_0: vec4<f16>;
var br3_1: vec4<f16>;
{
let e_6 = lane + 0u;
let kk_7 = (e_6 % 4u) * 8u;
let oo_8 = e_6 / 4u;
let k_9 = k_from + kk_7;
let o_10 = row0 + oo_8;
let at_11 = base_a + o_10 * 2048u + k_9;
let q_12 = r0[(at_11) / 4u + 0u];
let q_13 = r0[(at_11) / 4u + 1u];
ar0_0 = q_12;
ar0_1 = q_13;
}
{
let e_14 = lane + 256u;
let kk_15 = (e_14 % 4u) * 8u;
let oo_16 = e_14 / 4u;
let k_17 = k_from + kk_15;
let o_18 = row0 + oo_16;
let at_19 = base_a + o_18 * 2048u + k_17;
let q_20 = r0[(at_19) / 4u + 0u];
let q_21 = r0[(at_19) / 4u + 1u];
ar1_0 = q_20;
ar1_1 = q_21;
}
{
let e_22 = lane + 0u;
let oo_23 = (e_22 % 32u) * 8u;
let kk_24 = e_22 / 32u;
let k_25 = k_from + kk_24;
let o_26 = column0 + oo_23;
let at_27 = base_b + o_26 + k_25 * 2048u;
let q_28 = r1[(at_27) / 4u + 0u];
let q_29 = r1[(at_27) / 4u + 1u];
br0_0 = q_28;
br0_1 = q_29;
}
{
let e_30 = lane + 256u;
let oo_31 = (e_30 % 32u) * 8u;
let kk_32 = e_30 / 32u;
let k_33 = k_from + kk_32;
let o_34 = column0 + oo_31;
let at_35 = base_b + o_34 + k_33 * 2048u;
let q_36 = r1[(at_35) / 4u + 0u];
let q_37 = r1[(at_35) / 4u + 1u];
br1_0 = q_36;
br1_1 = q_37;
}
{
let e_38 = lane + 512u;
let oo_39 = (e_38 % 32u) * 8u;
let kk_40 = e_38 / 32u;
let k_41 = k_from + kk_40;
let o_42 = column0 + oo_39;
let at_43 = base_b + o_42 + k_41 * 2048u;
let q_44 = r1[(at_43) / 4u + 0u];
let q_45 = r1[(at_43) / 4u + 1u];
br2_0 = q_44;
br2_1 = q_45;
}
{
let e_46 = lane + 768u;
let oo_47 = (e_46 % 32u) * 8u;
let kk_48 = e_46 / 32u;
let k_49 = k_from + kk_48;
let o_50 = column0 + oo_47;
let at_51 = base_b + o_50 + k_49 * 2048u;
let q_52 = r1[(at_51) / 4u + 0u];
let q_53 = r1[(at_51) / 4u + 1u];
br3_0 = q_52;
br3_1 = q_53;
}
for (var slice = 1u; slice <= 64u; slice++) {
workgroupBarrier();
{
let e_54 = lane + 0u;
let kk_55 = (e_54 % 4u) * 8u;
let oo_56 = e_54 / 4u;
tile_a[0u + oo_56 * 10u + kk_55 / 4u + 0u] = ar0_0;
tile_a[0u + oo_56 * 10u + kk_55 / 4u + 1u] = ar0_1;
}
{
let e_57 = lane + 256u;
let kk_58 = (e_57 % 4u) * 8u;
let oo_59 = e_57 / 4u;
tile_a[0u + oo_59 * 10u + kk_58 / 4u + 0u] = ar1_0;
tile_a[0u + oo_59 * 10u + kk_58 / 4u + 1u] = ar1_1;
}
{
let e_60 = lane + 0u;
let oo_61 = (e_60 % 32u) * 8u;
let kk_62 = e_60 / 32u;
tile_b[0u + kk_62 * 66u + oo_61 / 4u + 0u] = br0_0;
tile_b[0u + kk_62 * 66u + oo_61 / 4u + 1u] = br0_1;
}
{
let e_63 = lane + 256u;
let oo_64 = (e_63 % 32u) * 8u;
let kk_65 = e_63 / 32u;
tile_b[0u + kk_65 * 66u + oo_64 / 4u + 0u] = br1_0;
tile_b[0u + kk_65 * 66u + oo_64 / 4u + 1u] = br1_1;
}
{
let e_66 = lane + 512u;
let oo_67 = (e_66 % 32u) * 8u;
let kk_68 = e_66 / 32u;
tile_b[0u + kk_68 * 66u + oo_67 / 4u + 0u] = br2_0;
tile_b[0u + kk_68 * 66u + oo_67 / 4u + 1u] = br2_1;
}
{
let e_69 = lane + 768u;
let oo_70 = (e_69 % 32u) * 8u;
let kk_71 = e_69 / 32u;
tile_b[0u + kk_71 * 66u + oo_70 / 4u + 0u] = br3_0;
tile_b[0u + kk_71 * 66u + oo_70 / 4u + 1u] = br3_1;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_72 = lane + 0u;
let kk_73 = (e_72 % 4u) * 8u;
let oo_74 = e_72 / 4u;
let k_75 = next + kk_73;
let o_76 = row0 + oo_74;
let at_77 = base_a + o_76 * 2048u + k_75;
let q_78 = r0[(at_77) / 4u + 0u];
let q_79 = r0[(at_77) / 4u + 1u];
ar0_0 = q_78;
ar0_1 = q_79;
}
{
let e_80 = lane + 256u;
let kk_81 = (e_80 % 4u) * 8u;
let oo_82 = e_80 / 4u;
let k_83 = next + kk_81;
let o_84 = row0 + oo_82;
let at_85 = base_a + o_84 * 2048u + k_83;
let q_86 = r0[(at_85) / 4u + 0u];
let q_87 = r0[(at_85) / 4u + 1u];
ar1_0 = q_86;
ar1_1 = q_87;
}
{
let e_88 = lane + 0u;
let oo_89 = (e_88 % 32u) * 8u;
let kk_90 = e_88 / 32u;
let k_91 = next + kk_90;
let o_92 = column0 + oo_89;
let at_93 = base_b + o_92 + k_91 * 2048u;
let q_94 = r1[(at_93) / 4u + 0u];
let q_95 = r1[(at_93) / 4u + 1u];
br0_0 = q_94;
br0_1 = q_95;
}
{
let e_96 = lane + 256u;
let oo_97 = (e_96 % 32u) * 8u;
let kk_98 = e_96 / 32u;
let k_99 = next + kk_98;
let o_100 = column0 + oo_97;
let at_101 = base_b + o_100 + k_99 * 2048u;
let q_102 = r1[(at_101) / 4u + 0u];
let q_103 = r1[(at_101) / 4u + 1u];
br1_0 = q_102;
br1_1 = q_103;
}
{
let e_104 = lane + 512u;
let oo_105 = (e_104 % 32u) * 8u;
let kk_106 = e_104 / 32u;
let k_107 = next + kk_106;
let o_108 = column0 + oo_105;
let at_109 = base_b + o_108 + k_107 * 2048u;
let q_110 = r1[(at_109) / 4u + 0u];
let q_111 = r1[(at_109) / 4u + 1u];
br2_0 = q_110;
br2_1 = q_111;
}
{
let e_112 = lane + 768u;
let oo_113 = (e_112 % 32u) * 8u;
let kk_114 = e_112 / 32u;
let k_115 = next + kk_114;
let o_116 = column0 + oo_113;
let at_117 = base_b + o_116 + k_115 * 2048u;
let q_118 = r1[(at_117) / 4u + 0u];
let q_119 = r1[(at_117) / 4u + 1u];
br3_0 = q_118;
br3_1 = q_119;
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 0u) * 40u + 0u) / 4u], 10u);
let a1 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 16u) * 40u + 0u) / 4u], 10u);
let a2 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 32u) * 40u + 0u) / 4u], 10u);
let a3 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 48u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 0u)) / 4u], 66u);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 16u)) / 4u], 66u);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 32u)) / 4u], 66u);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 48u)) / 4u], 66u);
c0_0 = coopMultiplyAdd(a0, b0, c0_0);
c0_1 = coopMultiplyAdd(a0, b1, c0_1);
c0_2 = coopMultiplyAdd(a0, b2, c0_2);
c0_3 = coopMultiplyAdd(a0, b3, c0_3);
c1_0 = coopMultiplyAdd(a1, b0, c1_0);
c1_1 = coopMultiplyAdd(a1, b1, c1_1);
c1_2 = coopMultiplyAdd(a1, b2, c1_2);
c1_3 = coopMultiplyAdd(a1, b3, c1_3);
c2_0 = coopMultiplyAdd(a2, b0, c2_0);
c2_1 = coopMultiplyAdd(a2, b1, c2_1);
c2_2 = coopMultiplyAdd(a2, b2, c2_2);
c2_3 = coopMultiplyAdd(a2, b3, c2_3);
c3_0 = coopMultiplyAdd(a3, b0, c3_0);
c3_1 = coopMultiplyAdd(a3, b1, c3_1);
c3_2 = coopMultiplyAdd(a3, b2, c3_2);
c3_3 = coopMultiplyAdd(a3, b3, c3_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 0u) * 40u + 16u) / 4u], 10u);
let a1 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 16u) * 40u + 16u) / 4u], 10u);
let a2 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 32u) * 40u + 16u) / 4u], 10u);
let a3 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 48u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(4224u + (block_column + 0u)) / 4u], 66u);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(4224u + (block_column + 16u)) / 4u], 66u);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(4224u + (block_column + 32u)) / 4u], 66u);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(4224u + (block_column + 48u)) / 4u], 66u);
c0_0 = coopMultiplyAdd(a0, b0, c0_0);
c0_1 = coopMultiplyAdd(a0, b1, c0_1);
c0_2 = coopMultiplyAdd(a0, b2, c0_2);
c0_3 = coopMultiplyAdd(a0, b3, c0_3);
c1_0 = coopMultiplyAdd(a1, b0, c1_0);
c1_1 = coopMultiplyAdd(a1, b1, c1_1);
c1_2 = coopMultiplyAdd(a1, b2, c1_2);
c1_3 = coopMultiplyAdd(a1, b3, c1_3);
c2_0 = coopMultiplyAdd(a2, b0, c2_0);
c2_1 = coopMultiplyAdd(a2, b1, c2_1);
c2_2 = coopMultiplyAdd(a2, b2, c2_2);
c2_3 = coopMultiplyAdd(a2, b3, c2_3);
c3_0 = coopMultiplyAdd(a3, b0, c3_0);
c3_1 = coopMultiplyAdd(a3, b1, c3_1);
c3_2 = coopMultiplyAdd(a3, b2, c3_2);
c3_3 = coopMultiplyAdd(a3, b3, c3_3);
}
}
let own_c = subgroup * 576u;
workgroupBarrier();
coopStoreT(c0_0, &tile_c[own_c + 0u], 36u);
coopStoreT(c0_1, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 0u + q / 8u;
let column = column0 + block_column + 0u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c0_2, &tile_c[own_c + 0u], 36u);
coopStoreT(c0_3, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 0u + q / 8u;
let column = column0 + block_column + 32u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c1_0, &tile_c[own_c + 0u], 36u);
coopStoreT(c1_1, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 16u + q / 8u;
let column = column0 + block_column + 0u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c1_2, &tile_c[own_c + 0u], 36u);
coopStoreT(c1_3, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 16u + q / 8u;
let column = column0 + block_column + 32u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c2_0, &tile_c[own_c + 0u], 36u);
coopStoreT(c2_1, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 32u + q / 8u;
let column = column0 + block_column + 0u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c2_2, &tile_c[own_c + 0u], 36u);
coopStoreT(c2_3, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 32u + q / 8u;
let column = column0 + block_column + 32u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c3_0, &tile_c[own_c + 0u], 36u);
coopStoreT(c3_1, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 48u + q / 8u;
let column = column0 + block_column + 0u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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
coopStoreT(c3_2, &tile_c[own_c + 0u], 36u);
coopStoreT(c3_3, &tile_c[own_c + 16u], 36u);
workgroupBarrier();
for (var q = lane % 32u; q < 128u; q += 32u) {
let row = row0 + block_row + 48u + q / 8u;
let column = column0 + block_column + 32u + (q % 8u) * 4u;
let first = own_c + (q / 8u) * 36u + (q % 8u) * 4u;
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

