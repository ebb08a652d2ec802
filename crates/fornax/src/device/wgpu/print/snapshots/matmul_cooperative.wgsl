// matmul f16 2048x2048x2048: [256, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
fn round_half(x: f32) -> f32 { return f32(f16(x)); }
var<workgroup> tile_a: array<vec4<f16>, 1280>;
var<workgroup> tile_b: array<vec4<f16>, 1088>;
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
let e_14 = lane + 128u;
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
let e_22 = lane + 256u;
let kk_23 = (e_22 % 4u) * 8u;
let oo_24 = e_22 / 4u;
let k_25 = k_from + kk_23;
let o_26 = row0 + oo_24;
let at_27 = base_a + o_26 * 2048u + k_25;
let q_28 = r0[(at_27) / 4u + 0u];
let q_29 = r0[(at_27) / 4u + 1u];
ar2_0 = q_28;
ar2_1 = q_29;
}
{
let e_30 = lane + 384u;
let kk_31 = (e_30 % 4u) * 8u;
let oo_32 = e_30 / 4u;
let k_33 = k_from + kk_31;
let o_34 = row0 + oo_32;
let at_35 = base_a + o_34 * 2048u + k_33;
let q_36 = r0[(at_35) / 4u + 0u];
let q_37 = r0[(at_35) / 4u + 1u];
ar3_0 = q_36;
ar3_1 = q_37;
}
{
let e_38 = lane + 0u;
let oo_39 = (e_38 % 16u) * 8u;
let kk_40 = e_38 / 16u;
let k_41 = k_from + kk_40;
let o_42 = column0 + oo_39;
let at_43 = base_b + o_42 + k_41 * 2048u;
let q_44 = r1[(at_43) / 4u + 0u];
let q_45 = r1[(at_43) / 4u + 1u];
br0_0 = q_44;
br0_1 = q_45;
}
{
let e_46 = lane + 128u;
let oo_47 = (e_46 % 16u) * 8u;
let kk_48 = e_46 / 16u;
let k_49 = k_from + kk_48;
let o_50 = column0 + oo_47;
let at_51 = base_b + o_50 + k_49 * 2048u;
let q_52 = r1[(at_51) / 4u + 0u];
let q_53 = r1[(at_51) / 4u + 1u];
br1_0 = q_52;
br1_1 = q_53;
}
{
let e_54 = lane + 256u;
let oo_55 = (e_54 % 16u) * 8u;
let kk_56 = e_54 / 16u;
let k_57 = k_from + kk_56;
let o_58 = column0 + oo_55;
let at_59 = base_b + o_58 + k_57 * 2048u;
let q_60 = r1[(at_59) / 4u + 0u];
let q_61 = r1[(at_59) / 4u + 1u];
br2_0 = q_60;
br2_1 = q_61;
}
{
let e_62 = lane + 384u;
let oo_63 = (e_62 % 16u) * 8u;
let kk_64 = e_62 / 16u;
let k_65 = k_from + kk_64;
let o_66 = column0 + oo_63;
let at_67 = base_b + o_66 + k_65 * 2048u;
let q_68 = r1[(at_67) / 4u + 0u];
let q_69 = r1[(at_67) / 4u + 1u];
br3_0 = q_68;
br3_1 = q_69;
}
for (var slice = 1u; slice <= 64u; slice++) {
workgroupBarrier();
{
let e_70 = lane + 0u;
let kk_71 = (e_70 % 4u) * 8u;
let oo_72 = e_70 / 4u;
tile_a[0u + oo_72 * 10u + kk_71 / 4u + 0u] = ar0_0;
tile_a[0u + oo_72 * 10u + kk_71 / 4u + 1u] = ar0_1;
}
{
let e_73 = lane + 128u;
let kk_74 = (e_73 % 4u) * 8u;
let oo_75 = e_73 / 4u;
tile_a[0u + oo_75 * 10u + kk_74 / 4u + 0u] = ar1_0;
tile_a[0u + oo_75 * 10u + kk_74 / 4u + 1u] = ar1_1;
}
{
let e_76 = lane + 256u;
let kk_77 = (e_76 % 4u) * 8u;
let oo_78 = e_76 / 4u;
tile_a[0u + oo_78 * 10u + kk_77 / 4u + 0u] = ar2_0;
tile_a[0u + oo_78 * 10u + kk_77 / 4u + 1u] = ar2_1;
}
{
let e_79 = lane + 384u;
let kk_80 = (e_79 % 4u) * 8u;
let oo_81 = e_79 / 4u;
tile_a[0u + oo_81 * 10u + kk_80 / 4u + 0u] = ar3_0;
tile_a[0u + oo_81 * 10u + kk_80 / 4u + 1u] = ar3_1;
}
{
let e_82 = lane + 0u;
let oo_83 = (e_82 % 16u) * 8u;
let kk_84 = e_82 / 16u;
tile_b[0u + kk_84 * 34u + oo_83 / 4u + 0u] = br0_0;
tile_b[0u + kk_84 * 34u + oo_83 / 4u + 1u] = br0_1;
}
{
let e_85 = lane + 128u;
let oo_86 = (e_85 % 16u) * 8u;
let kk_87 = e_85 / 16u;
tile_b[0u + kk_87 * 34u + oo_86 / 4u + 0u] = br1_0;
tile_b[0u + kk_87 * 34u + oo_86 / 4u + 1u] = br1_1;
}
{
let e_88 = lane + 256u;
let oo_89 = (e_88 % 16u) * 8u;
let kk_90 = e_88 / 16u;
tile_b[0u + kk_90 * 34u + oo_89 / 4u + 0u] = br2_0;
tile_b[0u + kk_90 * 34u + oo_89 / 4u + 1u] = br2_1;
}
{
let e_91 = lane + 384u;
let oo_92 = (e_91 % 16u) * 8u;
let kk_93 = e_91 / 16u;
tile_b[0u + kk_93 * 34u + oo_92 / 4u + 0u] = br3_0;
tile_b[0u + kk_93 * 34u + oo_92 / 4u + 1u] = br3_1;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_94 = lane + 0u;
let kk_95 = (e_94 % 4u) * 8u;
let oo_96 = e_94 / 4u;
let k_97 = next + kk_95;
let o_98 = row0 + oo_96;
let at_99 = base_a + o_98 * 2048u + k_97;
let q_100 = r0[(at_99) / 4u + 0u];
let q_101 = r0[(at_99) / 4u + 1u];
ar0_0 = q_100;
ar0_1 = q_101;
}
{
let e_102 = lane + 128u;
let kk_103 = (e_102 % 4u) * 8u;
let oo_104 = e_102 / 4u;
let k_105 = next + kk_103;
let o_106 = row0 + oo_104;
let at_107 = base_a + o_106 * 2048u + k_105;
let q_108 = r0[(at_107) / 4u + 0u];
let q_109 = r0[(at_107) / 4u + 1u];
ar1_0 = q_108;
ar1_1 = q_109;
}
{
let e_110 = lane + 256u;
let kk_111 = (e_110 % 4u) * 8u;
let oo_112 = e_110 / 4u;
let k_113 = next + kk_111;
let o_114 = row0 + oo_112;
let at_115 = base_a + o_114 * 2048u + k_113;
let q_116 = r0[(at_115) / 4u + 0u];
let q_117 = r0[(at_115) / 4u + 1u];
ar2_0 = q_116;
ar2_1 = q_117;
}
{
let e_118 = lane + 384u;
let kk_119 = (e_118 % 4u) * 8u;
let oo_120 = e_118 / 4u;
let k_121 = next + kk_119;
let o_122 = row0 + oo_120;
let at_123 = base_a + o_122 * 2048u + k_121;
let q_124 = r0[(at_123) / 4u + 0u];
let q_125 = r0[(at_123) / 4u + 1u];
ar3_0 = q_124;
ar3_1 = q_125;
}
{
let e_126 = lane + 0u;
let oo_127 = (e_126 % 16u) * 8u;
let kk_128 = e_126 / 16u;
let k_129 = next + kk_128;
let o_130 = column0 + oo_127;
let at_131 = base_b + o_130 + k_129 * 2048u;
let q_132 = r1[(at_131) / 4u + 0u];
let q_133 = r1[(at_131) / 4u + 1u];
br0_0 = q_132;
br0_1 = q_133;
}
{
let e_134 = lane + 128u;
let oo_135 = (e_134 % 16u) * 8u;
let kk_136 = e_134 / 16u;
let k_137 = next + kk_136;
let o_138 = column0 + oo_135;
let at_139 = base_b + o_138 + k_137 * 2048u;
let q_140 = r1[(at_139) / 4u + 0u];
let q_141 = r1[(at_139) / 4u + 1u];
br1_0 = q_140;
br1_1 = q_141;
}
{
let e_142 = lane + 256u;
let oo_143 = (e_142 % 16u) * 8u;
let kk_144 = e_142 / 16u;
let k_145 = next + kk_144;
let o_146 = column0 + oo_143;
let at_147 = base_b + o_146 + k_145 * 2048u;
let q_148 = r1[(at_147) / 4u + 0u];
let q_149 = r1[(at_147) / 4u + 1u];
br2_0 = q_148;
br2_1 = q_149;
}
{
let e_150 = lane + 384u;
let oo_151 = (e_150 % 16u) * 8u;
let kk_152 = e_150 / 16u;
let k_153 = next + kk_152;
let o_154 = column0 + oo_151;
let at_155 = base_b + o_154 + k_153 * 2048u;
let q_156 = r1[(at_155) / 4u + 0u];
let q_157 = r1[(at_155) / 4u + 1u];
br3_0 = q_156;
br3_1 = q_157;
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 0u) * 40u + 0u) / 4u], 10u);
let a1 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 16u) * 40u + 0u) / 4u], 10u);
let a2 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 32u) * 40u + 0u) / 4u], 10u);
let a3 = coopLoadT<coop_mat16x16<f16, A>>(&tile_a[((block_row + 48u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 0u)) / 4u], 34u);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 16u)) / 4u], 34u);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 32u)) / 4u], 34u);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(0u + (block_column + 48u)) / 4u], 34u);
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
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(2176u + (block_column + 0u)) / 4u], 34u);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(2176u + (block_column + 16u)) / 4u], 34u);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(2176u + (block_column + 32u)) / 4u], 34u);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&tile_b[(2176u + (block_column + 48u)) / 4u], 34u);
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

