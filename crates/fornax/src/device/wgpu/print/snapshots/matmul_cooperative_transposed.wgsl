// matmul f16 2048x2048x2048: [256, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
fn round_half(x: f32) -> f32 { return f32(f16(x)); }
var<workgroup> tile_a: array<vec4<f16>, 1088>;
var<workgroup> tile_b: array<vec4<f16>, 1280>;
var<workgroup> tile_c: array<f32, 2304>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 256u;
let at_tile = min(group, 255u);
let part = at_tile % 1u;
let at = at_tile / 1u;
let n_1 = at % 256u;
let n_2 = n_1 / 128u;
let n_3 = min(8u, 16u - n_2 * 8u);
let n_4 = n_1 % 128u;
let row0 = (n_2 * 8u + n_4 % n_3) * 128u;
let column0 = (n_4 / n_3) * 128u;
let n_5 = at / 256u;
let base_a = 0u;
let base_b = 0u;
let k_from = part * 2048u;
let k_to = min(k_from + 2048u, 2048u);
let subgroup = lane / 32u;
let block_row = (subgroup / 2u) * 64u;
let block_column = (subgroup % 2u) * 64u;
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
var ar2_0: vec4<f16>;
var ar2_1: vec4<f16>;
var ar3_0: vec4<f16>;
var ar3_1: vec4<f16>;
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
let oo_7 = (e_6 % 16u) * 8u;
let kk_8 = e_6 / 16u;
let k_9 = k_from + kk_8;
let o_10 = row0 + oo_7;
let at_11 = base_a + o_10 + k_9 * 2048u;
let q_12 = r0[(at_11) / 4u + 0u];
let q_13 = r0[(at_11) / 4u + 1u];
ar0_0 = q_12;
ar0_1 = q_13;
}
{
let e_14 = lane + 128u;
let oo_15 = (e_14 % 16u) * 8u;
let kk_16 = e_14 / 16u;
let k_17 = k_from + kk_16;
let o_18 = row0 + oo_15;
let at_19 = base_a + o_18 + k_17 * 2048u;
let q_20 = r0[(at_19) / 4u + 0u];
let q_21 = r0[(at_19) / 4u + 1u];
ar1_0 = q_20;
ar1_1 = q_21;
}
{
let e_22 = lane + 256u;
let oo_23 = (e_22 % 16u) * 8u;
let kk_24 = e_22 / 16u;
let k_25 = k_from + kk_24;
let o_26 = row0 + oo_23;
let at_27 = base_a + o_26 + k_25 * 2048u;
let q_28 = r0[(at_27) / 4u + 0u];
let q_29 = r0[(at_27) / 4u + 1u];
ar2_0 = q_28;
ar2_1 = q_29;
}
{
let e_30 = lane + 384u;
let oo_31 = (e_30 % 16u) * 8u;
let kk_32 = e_30 / 16u;
let k_33 = k_from + kk_32;
let o_34 = row0 + oo_31;
let at_35 = base_a + o_34 + k_33 * 2048u;
let q_36 = r0[(at_35) / 4u + 0u];
let q_37 = r0[(at_35) / 4u + 1u];
ar3_0 = q_36;
ar3_1 = q_37;
}
{
let e_38 = lane + 0u;
let kk_39 = (e_38 % 4u) * 8u;
let oo_40 = e_38 / 4u;
let k_41 = k_from + kk_39;
let o_42 = column0 + oo_40;
let at_43 = base_b + o_42 * 2048u + k_41;
let q_44 = r1[(at_43) / 4u + 0u];
let q_45 = r1[(at_43) / 4u + 1u];
br0_0 = q_44;
br0_1 = q_45;
}
{
let e_46 = lane + 128u;
let kk_47 = (e_46 % 4u) * 8u;
let oo_48 = e_46 / 4u;
let k_49 = k_from + kk_47;
let o_50 = column0 + oo_48;
let at_51 = base_b + o_50 * 2048u + k_49;
let q_52 = r1[(at_51) / 4u + 0u];
let q_53 = r1[(at_51) / 4u + 1u];
br1_0 = q_52;
br1_1 = q_53;
}
{
let e_54 = lane + 256u;
let kk_55 = (e_54 % 4u) * 8u;
let oo_56 = e_54 / 4u;
let k_57 = k_from + kk_55;
let o_58 = column0 + oo_56;
let at_59 = base_b + o_58 * 2048u + k_57;
let q_60 = r1[(at_59) / 4u + 0u];
let q_61 = r1[(at_59) / 4u + 1u];
br2_0 = q_60;
br2_1 = q_61;
}
{
let e_62 = lane + 384u;
let kk_63 = (e_62 % 4u) * 8u;
let oo_64 = e_62 / 4u;
let k_65 = k_from + kk_63;
let o_66 = column0 + oo_64;
let at_67 = base_b + o_66 * 2048u + k_65;
let q_68 = r1[(at_67) / 4u + 0u];
let q_69 = r1[(at_67) / 4u + 1u];
br3_0 = q_68;
br3_1 = q_69;
}
for (var slice = 1u; slice <= 64u; slice++) {
workgroupBarrier();
{
let e_70 = lane + 0u;
let oo_71 = (e_70 % 16u) * 8u;
let kk_72 = e_70 / 16u;
tile_a[0u + kk_72 * 34u + oo_71 / 4u + 0u] = ar0_0;
tile_a[0u + kk_72 * 34u + oo_71 / 4u + 1u] = ar0_1;
}
{
let e_73 = lane + 128u;
let oo_74 = (e_73 % 16u) * 8u;
let kk_75 = e_73 / 16u;
tile_a[0u + kk_75 * 34u + oo_74 / 4u + 0u] = ar1_0;
tile_a[0u + kk_75 * 34u + oo_74 / 4u + 1u] = ar1_1;
}
{
let e_76 = lane + 256u;
let oo_77 = (e_76 % 16u) * 8u;
let kk_78 = e_76 / 16u;
tile_a[0u + kk_78 * 34u + oo_77 / 4u + 0u] = ar2_0;
tile_a[0u + kk_78 * 34u + oo_77 / 4u + 1u] = ar2_1;
}
{
let e_79 = lane + 384u;
let oo_80 = (e_79 % 16u) * 8u;
let kk_81 = e_79 / 16u;
tile_a[0u + kk_81 * 34u + oo_80 / 4u + 0u] = ar3_0;
tile_a[0u + kk_81 * 34u + oo_80 / 4u + 1u] = ar3_1;
}
{
let e_82 = lane + 0u;
let kk_83 = (e_82 % 4u) * 8u;
let oo_84 = e_82 / 4u;
tile_b[0u + oo_84 * 10u + kk_83 / 4u + 0u] = br0_0;
tile_b[0u + oo_84 * 10u + kk_83 / 4u + 1u] = br0_1;
}
{
let e_85 = lane + 128u;
let kk_86 = (e_85 % 4u) * 8u;
let oo_87 = e_85 / 4u;
tile_b[0u + oo_87 * 10u + kk_86 / 4u + 0u] = br1_0;
tile_b[0u + oo_87 * 10u + kk_86 / 4u + 1u] = br1_1;
}
{
let e_88 = lane + 256u;
let kk_89 = (e_88 % 4u) * 8u;
let oo_90 = e_88 / 4u;
tile_b[0u + oo_90 * 10u + kk_89 / 4u + 0u] = br2_0;
tile_b[0u + oo_90 * 10u + kk_89 / 4u + 1u] = br2_1;
}
{
let e_91 = lane + 384u;
let kk_92 = (e_91 % 4u) * 8u;
let oo_93 = e_91 / 4u;
tile_b[0u + oo_93 * 10u + kk_92 / 4u + 0u] = br3_0;
tile_b[0u + oo_93 * 10u + kk_92 / 4u + 1u] = br3_1;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_94 = lane + 0u;
let oo_95 = (e_94 % 16u) * 8u;
let kk_96 = e_94 / 16u;
let k_97 = next + kk_96;
let o_98 = row0 + oo_95;
let at_99 = base_a + o_98 + k_97 * 2048u;
let q_100 = r0[(at_99) / 4u + 0u];
let q_101 = r0[(at_99) / 4u + 1u];
ar0_0 = q_100;
ar0_1 = q_101;
}
{
let e_102 = lane + 128u;
let oo_103 = (e_102 % 16u) * 8u;
let kk_104 = e_102 / 16u;
let k_105 = next + kk_104;
let o_106 = row0 + oo_103;
let at_107 = base_a + o_106 + k_105 * 2048u;
let q_108 = r0[(at_107) / 4u + 0u];
let q_109 = r0[(at_107) / 4u + 1u];
ar1_0 = q_108;
ar1_1 = q_109;
}
{
let e_110 = lane + 256u;
let oo_111 = (e_110 % 16u) * 8u;
let kk_112 = e_110 / 16u;
let k_113 = next + kk_112;
let o_114 = row0 + oo_111;
let at_115 = base_a + o_114 + k_113 * 2048u;
let q_116 = r0[(at_115) / 4u + 0u];
let q_117 = r0[(at_115) / 4u + 1u];
ar2_0 = q_116;
ar2_1 = q_117;
}
{
let e_118 = lane + 384u;
let oo_119 = (e_118 % 16u) * 8u;
let kk_120 = e_118 / 16u;
let k_121 = next + kk_120;
let o_122 = row0 + oo_119;
let at_123 = base_a + o_122 + k_121 * 2048u;
let q_124 = r0[(at_123) / 4u + 0u];
let q_125 = r0[(at_123) / 4u + 1u];
ar3_0 = q_124;
ar3_1 = q_125;
}
{
let e_126 = lane + 0u;
let kk_127 = (e_126 % 4u) * 8u;
let oo_128 = e_126 / 4u;
let k_129 = next + kk_127;
let o_130 = column0 + oo_128;
let at_131 = base_b + o_130 * 2048u + k_129;
let q_132 = r1[(at_131) / 4u + 0u];
let q_133 = r1[(at_131) / 4u + 1u];
br0_0 = q_132;
br0_1 = q_133;
}
{
let e_134 = lane + 128u;
let kk_135 = (e_134 % 4u) * 8u;
let oo_136 = e_134 / 4u;
let k_137 = next + kk_135;
let o_138 = column0 + oo_136;
let at_139 = base_b + o_138 * 2048u + k_137;
let q_140 = r1[(at_139) / 4u + 0u];
let q_141 = r1[(at_139) / 4u + 1u];
br1_0 = q_140;
br1_1 = q_141;
}
{
let e_142 = lane + 256u;
let kk_143 = (e_142 % 4u) * 8u;
let oo_144 = e_142 / 4u;
let k_145 = next + kk_143;
let o_146 = column0 + oo_144;
let at_147 = base_b + o_146 * 2048u + k_145;
let q_148 = r1[(at_147) / 4u + 0u];
let q_149 = r1[(at_147) / 4u + 1u];
br2_0 = q_148;
br2_1 = q_149;
}
{
let e_150 = lane + 384u;
let kk_151 = (e_150 % 4u) * 8u;
let oo_152 = e_150 / 4u;
let k_153 = next + kk_151;
let o_154 = column0 + oo_152;
let at_155 = base_b + o_154 * 2048u + k_153;
let q_156 = r1[(at_155) / 4u + 0u];
let q_157 = r1[(at_155) / 4u + 1u];
br3_0 = q_156;
br3_1 = q_157;
}
{
let a0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 0u)) / 4u], 34u);
let a1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 16u)) / 4u], 34u);
let a2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 32u)) / 4u], 34u);
let a3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(0u + (block_row + 48u)) / 4u], 34u);
let b0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 0u) / 4u], 10u);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 0u) / 4u], 10u);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 0u) / 4u], 10u);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 0u) / 4u], 10u);
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
let a0 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 0u)) / 4u], 34u);
let a1 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 16u)) / 4u], 34u);
let a2 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 32u)) / 4u], 34u);
let a3 = coopLoad<coop_mat16x16<f16, A>>(&tile_a[(2176u + (block_row + 48u)) / 4u], 34u);
let b0 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 0u) * 40u + 16u) / 4u], 10u);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 16u) * 40u + 16u) / 4u], 10u);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 32u) * 40u + 16u) / 4u], 10u);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&tile_b[((block_column + 48u) * 40u + 16u) / 4u], 10u);
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

