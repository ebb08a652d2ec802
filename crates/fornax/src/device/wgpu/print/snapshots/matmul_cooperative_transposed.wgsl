// matmul f16 2048x2048x2048: [128, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
fn round_half(x: f32) -> f32 { return f32(f16(x)); }
var<workgroup> tile_a: array<vec4<f16>, 1088>;
var<workgroup> tile_b: array<vec4<f16>, 2560>;
var<workgroup> tile_c: array<f32, 2560>;
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
var ar0: vec4<f16>;
var ar1: vec4<f16>;
var ar2: vec4<f16>;
var ar3: vec4<f16>;
var br0: vec4<f16>;
var br1: vec4<f16>;
var br2: vec4<f16>;
var br3: vec4<f16>;
var br4: vec4<f16>;
var br5: vec4<f16>;
var br6: vec4<f16>;
var br7: vec4<f16>;
{
let e_6 = lane + 0u;
let oo_7 = (e_6 % 32u) * 4u;
let kk_8 = e_6 / 32u;
let k_9 = k_from + kk_8;
let o_10 = row0 + oo_7;
let at_11 = base_a + o_10 + k_9 * 2048u;
let q_12 = r0[(at_11) / 4u + 0u];
ar0 = q_12;
}
{
let e_13 = lane + 256u;
let oo_14 = (e_13 % 32u) * 4u;
let kk_15 = e_13 / 32u;
let k_16 = k_from + kk_15;
let o_17 = row0 + oo_14;
let at_18 = base_a + o_17 + k_16 * 2048u;
let q_19 = r0[(at_18) / 4u + 0u];
ar1 = q_19;
}
{
let e_20 = lane + 512u;
let oo_21 = (e_20 % 32u) * 4u;
let kk_22 = e_20 / 32u;
let k_23 = k_from + kk_22;
let o_24 = row0 + oo_21;
let at_25 = base_a + o_24 + k_23 * 2048u;
let q_26 = r0[(at_25) / 4u + 0u];
ar2 = q_26;
}
{
let e_27 = lane + 768u;
let oo_28 = (e_27 % 32u) * 4u;
let kk_29 = e_27 / 32u;
let k_30 = k_from + kk_29;
let o_31 = row0 + oo_28;
let at_32 = base_a + o_31 + k_30 * 2048u;
let q_33 = r0[(at_32) / 4u + 0u];
ar3 = q_33;
}
{
let e_34 = lane + 0u;
let kk_35 = (e_34 % 8u) * 4u;
let oo_36 = e_34 / 8u;
let k_37 = k_from + kk_35;
let o_38 = column0 + oo_36;
let at_39 = base_b + o_38 * 2048u + k_37;
let q_40 = r1[(at_39) / 4u + 0u];
br0 = q_40;
}
{
let e_41 = lane + 256u;
let kk_42 = (e_41 % 8u) * 4u;
let oo_43 = e_41 / 8u;
let k_44 = k_from + kk_42;
let o_45 = column0 + oo_43;
let at_46 = base_b + o_45 * 2048u + k_44;
let q_47 = r1[(at_46) / 4u + 0u];
br1 = q_47;
}
{
let e_48 = lane + 512u;
let kk_49 = (e_48 % 8u) * 4u;
let oo_50 = e_48 / 8u;
let k_51 = k_from + kk_49;
let o_52 = column0 + oo_50;
let at_53 = base_b + o_52 * 2048u + k_51;
let q_54 = r1[(at_53) / 4u + 0u];
br2 = q_54;
}
{
let e_55 = lane + 768u;
let kk_56 = (e_55 % 8u) * 4u;
let oo_57 = e_55 / 8u;
let k_58 = k_from + kk_56;
let o_59 = column0 + oo_57;
let at_60 = base_b + o_59 * 2048u + k_58;
let q_61 = r1[(at_60) / 4u + 0u];
br3 = q_61;
}
{
let e_62 = lane + 1024u;
let kk_63 = (e_62 % 8u) * 4u;
let oo_64 = e_62 / 8u;
let k_65 = k_from + kk_63;
let o_66 = column0 + oo_64;
let at_67 = base_b + o_66 * 2048u + k_65;
let q_68 = r1[(at_67) / 4u + 0u];
br4 = q_68;
}
{
let e_69 = lane + 1280u;
let kk_70 = (e_69 % 8u) * 4u;
let oo_71 = e_69 / 8u;
let k_72 = k_from + kk_70;
let o_73 = column0 + oo_71;
let at_74 = base_b + o_73 * 2048u + k_72;
let q_75 = r1[(at_74) / 4u + 0u];
br5 = q_75;
}
{
let e_76 = lane + 1536u;
let kk_77 = (e_76 % 8u) * 4u;
let oo_78 = e_76 / 8u;
let k_79 = k_from + kk_77;
let o_80 = column0 + oo_78;
let at_81 = base_b + o_80 * 2048u + k_79;
let q_82 = r1[(at_81) / 4u + 0u];
br6 = q_82;
}
{
let e_83 = lane + 1792u;
let kk_84 = (e_83 % 8u) * 4u;
let oo_85 = e_83 / 8u;
let k_86 = k_from + kk_84;
let o_87 = column0 + oo_85;
let at_88 = base_b + o_87 * 2048u + k_86;
let q_89 = r1[(at_88) / 4u + 0u];
br7 = q_89;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_90 = lane + 0u;
let oo_91 = (e_90 % 32u) * 4u;
let kk_92 = e_90 / 32u;
tile_a[kk_92 * 34u + oo_91 / 4u] = ar0;
}
{
let e_93 = lane + 256u;
let oo_94 = (e_93 % 32u) * 4u;
let kk_95 = e_93 / 32u;
tile_a[kk_95 * 34u + oo_94 / 4u] = ar1;
}
{
let e_96 = lane + 512u;
let oo_97 = (e_96 % 32u) * 4u;
let kk_98 = e_96 / 32u;
tile_a[kk_98 * 34u + oo_97 / 4u] = ar2;
}
{
let e_99 = lane + 768u;
let oo_100 = (e_99 % 32u) * 4u;
let kk_101 = e_99 / 32u;
tile_a[kk_101 * 34u + oo_100 / 4u] = ar3;
}
{
let e_102 = lane + 0u;
let kk_103 = (e_102 % 8u) * 4u;
let oo_104 = e_102 / 8u;
tile_b[oo_104 * 10u + kk_103 / 4u] = br0;
}
{
let e_105 = lane + 256u;
let kk_106 = (e_105 % 8u) * 4u;
let oo_107 = e_105 / 8u;
tile_b[oo_107 * 10u + kk_106 / 4u] = br1;
}
{
let e_108 = lane + 512u;
let kk_109 = (e_108 % 8u) * 4u;
let oo_110 = e_108 / 8u;
tile_b[oo_110 * 10u + kk_109 / 4u] = br2;
}
{
let e_111 = lane + 768u;
let kk_112 = (e_111 % 8u) * 4u;
let oo_113 = e_111 / 8u;
tile_b[oo_113 * 10u + kk_112 / 4u] = br3;
}
{
let e_114 = lane + 1024u;
let kk_115 = (e_114 % 8u) * 4u;
let oo_116 = e_114 / 8u;
tile_b[oo_116 * 10u + kk_115 / 4u] = br4;
}
{
let e_117 = lane + 1280u;
let kk_118 = (e_117 % 8u) * 4u;
let oo_119 = e_117 / 8u;
tile_b[oo_119 * 10u + kk_118 / 4u] = br5;
}
{
let e_120 = lane + 1536u;
let kk_121 = (e_120 % 8u) * 4u;
let oo_122 = e_120 / 8u;
tile_b[oo_122 * 10u + kk_121 / 4u] = br6;
}
{
let e_123 = lane + 1792u;
let kk_124 = (e_123 % 8u) * 4u;
let oo_125 = e_123 / 8u;
tile_b[oo_125 * 10u + kk_124 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_126 = lane + 0u;
let oo_127 = (e_126 % 32u) * 4u;
let kk_128 = e_126 / 32u;
let k_129 = next + kk_128;
let o_130 = row0 + oo_127;
let at_131 = base_a + o_130 + k_129 * 2048u;
let q_132 = r0[(at_131) / 4u + 0u];
ar0 = q_132;
}
{
let e_133 = lane + 256u;
let oo_134 = (e_133 % 32u) * 4u;
let kk_135 = e_133 / 32u;
let k_136 = next + kk_135;
let o_137 = row0 + oo_134;
let at_138 = base_a + o_137 + k_136 * 2048u;
let q_139 = r0[(at_138) / 4u + 0u];
ar1 = q_139;
}
{
let e_140 = lane + 512u;
let oo_141 = (e_140 % 32u) * 4u;
let kk_142 = e_140 / 32u;
let k_143 = next + kk_142;
let o_144 = row0 + oo_141;
let at_145 = base_a + o_144 + k_143 * 2048u;
let q_146 = r0[(at_145) / 4u + 0u];
ar2 = q_146;
}
{
let e_147 = lane + 768u;
let oo_148 = (e_147 % 32u) * 4u;
let kk_149 = e_147 / 32u;
let k_150 = next + kk_149;
let o_151 = row0 + oo_148;
let at_152 = base_a + o_151 + k_150 * 2048u;
let q_153 = r0[(at_152) / 4u + 0u];
ar3 = q_153;
}
{
let e_154 = lane + 0u;
let kk_155 = (e_154 % 8u) * 4u;
let oo_156 = e_154 / 8u;
let k_157 = next + kk_155;
let o_158 = column0 + oo_156;
let at_159 = base_b + o_158 * 2048u + k_157;
let q_160 = r1[(at_159) / 4u + 0u];
br0 = q_160;
}
{
let e_161 = lane + 256u;
let kk_162 = (e_161 % 8u) * 4u;
let oo_163 = e_161 / 8u;
let k_164 = next + kk_162;
let o_165 = column0 + oo_163;
let at_166 = base_b + o_165 * 2048u + k_164;
let q_167 = r1[(at_166) / 4u + 0u];
br1 = q_167;
}
{
let e_168 = lane + 512u;
let kk_169 = (e_168 % 8u) * 4u;
let oo_170 = e_168 / 8u;
let k_171 = next + kk_169;
let o_172 = column0 + oo_170;
let at_173 = base_b + o_172 * 2048u + k_171;
let q_174 = r1[(at_173) / 4u + 0u];
br2 = q_174;
}
{
let e_175 = lane + 768u;
let kk_176 = (e_175 % 8u) * 4u;
let oo_177 = e_175 / 8u;
let k_178 = next + kk_176;
let o_179 = column0 + oo_177;
let at_180 = base_b + o_179 * 2048u + k_178;
let q_181 = r1[(at_180) / 4u + 0u];
br3 = q_181;
}
{
let e_182 = lane + 1024u;
let kk_183 = (e_182 % 8u) * 4u;
let oo_184 = e_182 / 8u;
let k_185 = next + kk_183;
let o_186 = column0 + oo_184;
let at_187 = base_b + o_186 * 2048u + k_185;
let q_188 = r1[(at_187) / 4u + 0u];
br4 = q_188;
}
{
let e_189 = lane + 1280u;
let kk_190 = (e_189 % 8u) * 4u;
let oo_191 = e_189 / 8u;
let k_192 = next + kk_190;
let o_193 = column0 + oo_191;
let at_194 = base_b + o_193 * 2048u + k_192;
let q_195 = r1[(at_194) / 4u + 0u];
br5 = q_195;
}
{
let e_196 = lane + 1536u;
let kk_197 = (e_196 % 8u) * 4u;
let oo_198 = e_196 / 8u;
let k_199 = next + kk_197;
let o_200 = column0 + oo_198;
let at_201 = base_b + o_200 * 2048u + k_199;
let q_202 = r1[(at_201) / 4u + 0u];
br6 = q_202;
}
{
let e_203 = lane + 1792u;
let kk_204 = (e_203 % 8u) * 4u;
let oo_205 = e_203 / 8u;
let k_206 = next + kk_204;
let o_207 = column0 + oo_205;
let at_208 = base_b + o_207 * 2048u + k_206;
let q_209 = r1[(at_208) / 4u + 0u];
br7 = q_209;
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
let own_c = subgroup * 320u;
workgroupBarrier();
coopStoreT(c0_0, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c0_1, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c0_2, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c0_3, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 0u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c1_0, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c1_1, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c1_2, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c1_3, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 16u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c2_0, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c2_1, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c2_2, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c2_3, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 32u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c3_0, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 0u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c3_1, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 16u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c3_2, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 32u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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
coopStoreT(c3_3, &tile_c[own_c], 20u);
workgroupBarrier();
for (var q = lane % 32u; q < 64u; q += 32u) {
let row = row0 + block_row + 48u + q / 4u;
let column = column0 + block_column + 48u + (q % 4u) * 4u;
let first = own_c + (q / 4u) * 20u + (q % 4u) * 4u;
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

