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
let kk_7 = (e_6 % 8u) * 4u;
let oo_8 = e_6 / 8u;
let k_9 = k_from + kk_7;
let o_10 = row0 + oo_8;
let at_11 = base_a + o_10 * 2048u + k_9;
let q_12 = r0[(at_11) / 4u + 0u];
ar0 = q_12;
}
{
let e_13 = lane + 256u;
let kk_14 = (e_13 % 8u) * 4u;
let oo_15 = e_13 / 8u;
let k_16 = k_from + kk_14;
let o_17 = row0 + oo_15;
let at_18 = base_a + o_17 * 2048u + k_16;
let q_19 = r0[(at_18) / 4u + 0u];
ar1 = q_19;
}
{
let e_20 = lane + 512u;
let kk_21 = (e_20 % 8u) * 4u;
let oo_22 = e_20 / 8u;
let k_23 = k_from + kk_21;
let o_24 = row0 + oo_22;
let at_25 = base_a + o_24 * 2048u + k_23;
let q_26 = r0[(at_25) / 4u + 0u];
ar2 = q_26;
}
{
let e_27 = lane + 768u;
let kk_28 = (e_27 % 8u) * 4u;
let oo_29 = e_27 / 8u;
let k_30 = k_from + kk_28;
let o_31 = row0 + oo_29;
let at_32 = base_a + o_31 * 2048u + k_30;
let q_33 = r0[(at_32) / 4u + 0u];
ar3 = q_33;
}
{
let e_34 = lane + 0u;
let oo_35 = (e_34 % 64u) * 4u;
let kk_36 = e_34 / 64u;
let k_37 = k_from + kk_36;
let o_38 = column0 + oo_35;
let at_39 = base_b + o_38 + k_37 * 2048u;
let q_40 = r1[(at_39) / 4u + 0u];
br0 = q_40;
}
{
let e_41 = lane + 256u;
let oo_42 = (e_41 % 64u) * 4u;
let kk_43 = e_41 / 64u;
let k_44 = k_from + kk_43;
let o_45 = column0 + oo_42;
let at_46 = base_b + o_45 + k_44 * 2048u;
let q_47 = r1[(at_46) / 4u + 0u];
br1 = q_47;
}
{
let e_48 = lane + 512u;
let oo_49 = (e_48 % 64u) * 4u;
let kk_50 = e_48 / 64u;
let k_51 = k_from + kk_50;
let o_52 = column0 + oo_49;
let at_53 = base_b + o_52 + k_51 * 2048u;
let q_54 = r1[(at_53) / 4u + 0u];
br2 = q_54;
}
{
let e_55 = lane + 768u;
let oo_56 = (e_55 % 64u) * 4u;
let kk_57 = e_55 / 64u;
let k_58 = k_from + kk_57;
let o_59 = column0 + oo_56;
let at_60 = base_b + o_59 + k_58 * 2048u;
let q_61 = r1[(at_60) / 4u + 0u];
br3 = q_61;
}
{
let e_62 = lane + 1024u;
let oo_63 = (e_62 % 64u) * 4u;
let kk_64 = e_62 / 64u;
let k_65 = k_from + kk_64;
let o_66 = column0 + oo_63;
let at_67 = base_b + o_66 + k_65 * 2048u;
let q_68 = r1[(at_67) / 4u + 0u];
br4 = q_68;
}
{
let e_69 = lane + 1280u;
let oo_70 = (e_69 % 64u) * 4u;
let kk_71 = e_69 / 64u;
let k_72 = k_from + kk_71;
let o_73 = column0 + oo_70;
let at_74 = base_b + o_73 + k_72 * 2048u;
let q_75 = r1[(at_74) / 4u + 0u];
br5 = q_75;
}
{
let e_76 = lane + 1536u;
let oo_77 = (e_76 % 64u) * 4u;
let kk_78 = e_76 / 64u;
let k_79 = k_from + kk_78;
let o_80 = column0 + oo_77;
let at_81 = base_b + o_80 + k_79 * 2048u;
let q_82 = r1[(at_81) / 4u + 0u];
br6 = q_82;
}
{
let e_83 = lane + 1792u;
let oo_84 = (e_83 % 64u) * 4u;
let kk_85 = e_83 / 64u;
let k_86 = k_from + kk_85;
let o_87 = column0 + oo_84;
let at_88 = base_b + o_87 + k_86 * 2048u;
let q_89 = r1[(at_88) / 4u + 0u];
br7 = q_89;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_90 = lane + 0u;
let kk_91 = (e_90 % 8u) * 4u;
let oo_92 = e_90 / 8u;
tile_a[oo_92 * 10u + kk_91 / 4u] = ar0;
}
{
let e_93 = lane + 256u;
let kk_94 = (e_93 % 8u) * 4u;
let oo_95 = e_93 / 8u;
tile_a[oo_95 * 10u + kk_94 / 4u] = ar1;
}
{
let e_96 = lane + 512u;
let kk_97 = (e_96 % 8u) * 4u;
let oo_98 = e_96 / 8u;
tile_a[oo_98 * 10u + kk_97 / 4u] = ar2;
}
{
let e_99 = lane + 768u;
let kk_100 = (e_99 % 8u) * 4u;
let oo_101 = e_99 / 8u;
tile_a[oo_101 * 10u + kk_100 / 4u] = ar3;
}
{
let e_102 = lane + 0u;
let oo_103 = (e_102 % 64u) * 4u;
let kk_104 = e_102 / 64u;
tile_b[kk_104 * 66u + oo_103 / 4u] = br0;
}
{
let e_105 = lane + 256u;
let oo_106 = (e_105 % 64u) * 4u;
let kk_107 = e_105 / 64u;
tile_b[kk_107 * 66u + oo_106 / 4u] = br1;
}
{
let e_108 = lane + 512u;
let oo_109 = (e_108 % 64u) * 4u;
let kk_110 = e_108 / 64u;
tile_b[kk_110 * 66u + oo_109 / 4u] = br2;
}
{
let e_111 = lane + 768u;
let oo_112 = (e_111 % 64u) * 4u;
let kk_113 = e_111 / 64u;
tile_b[kk_113 * 66u + oo_112 / 4u] = br3;
}
{
let e_114 = lane + 1024u;
let oo_115 = (e_114 % 64u) * 4u;
let kk_116 = e_114 / 64u;
tile_b[kk_116 * 66u + oo_115 / 4u] = br4;
}
{
let e_117 = lane + 1280u;
let oo_118 = (e_117 % 64u) * 4u;
let kk_119 = e_117 / 64u;
tile_b[kk_119 * 66u + oo_118 / 4u] = br5;
}
{
let e_120 = lane + 1536u;
let oo_121 = (e_120 % 64u) * 4u;
let kk_122 = e_120 / 64u;
tile_b[kk_122 * 66u + oo_121 / 4u] = br6;
}
{
let e_123 = lane + 1792u;
let oo_124 = (e_123 % 64u) * 4u;
let kk_125 = e_123 / 64u;
tile_b[kk_125 * 66u + oo_124 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_126 = lane + 0u;
let kk_127 = (e_126 % 8u) * 4u;
let oo_128 = e_126 / 8u;
let k_129 = next + kk_127;
let o_130 = row0 + oo_128;
let at_131 = base_a + o_130 * 2048u + k_129;
let q_132 = r0[(at_131) / 4u + 0u];
ar0 = q_132;
}
{
let e_133 = lane + 256u;
let kk_134 = (e_133 % 8u) * 4u;
let oo_135 = e_133 / 8u;
let k_136 = next + kk_134;
let o_137 = row0 + oo_135;
let at_138 = base_a + o_137 * 2048u + k_136;
let q_139 = r0[(at_138) / 4u + 0u];
ar1 = q_139;
}
{
let e_140 = lane + 512u;
let kk_141 = (e_140 % 8u) * 4u;
let oo_142 = e_140 / 8u;
let k_143 = next + kk_141;
let o_144 = row0 + oo_142;
let at_145 = base_a + o_144 * 2048u + k_143;
let q_146 = r0[(at_145) / 4u + 0u];
ar2 = q_146;
}
{
let e_147 = lane + 768u;
let kk_148 = (e_147 % 8u) * 4u;
let oo_149 = e_147 / 8u;
let k_150 = next + kk_148;
let o_151 = row0 + oo_149;
let at_152 = base_a + o_151 * 2048u + k_150;
let q_153 = r0[(at_152) / 4u + 0u];
ar3 = q_153;
}
{
let e_154 = lane + 0u;
let oo_155 = (e_154 % 64u) * 4u;
let kk_156 = e_154 / 64u;
let k_157 = next + kk_156;
let o_158 = column0 + oo_155;
let at_159 = base_b + o_158 + k_157 * 2048u;
let q_160 = r1[(at_159) / 4u + 0u];
br0 = q_160;
}
{
let e_161 = lane + 256u;
let oo_162 = (e_161 % 64u) * 4u;
let kk_163 = e_161 / 64u;
let k_164 = next + kk_163;
let o_165 = column0 + oo_162;
let at_166 = base_b + o_165 + k_164 * 2048u;
let q_167 = r1[(at_166) / 4u + 0u];
br1 = q_167;
}
{
let e_168 = lane + 512u;
let oo_169 = (e_168 % 64u) * 4u;
let kk_170 = e_168 / 64u;
let k_171 = next + kk_170;
let o_172 = column0 + oo_169;
let at_173 = base_b + o_172 + k_171 * 2048u;
let q_174 = r1[(at_173) / 4u + 0u];
br2 = q_174;
}
{
let e_175 = lane + 768u;
let oo_176 = (e_175 % 64u) * 4u;
let kk_177 = e_175 / 64u;
let k_178 = next + kk_177;
let o_179 = column0 + oo_176;
let at_180 = base_b + o_179 + k_178 * 2048u;
let q_181 = r1[(at_180) / 4u + 0u];
br3 = q_181;
}
{
let e_182 = lane + 1024u;
let oo_183 = (e_182 % 64u) * 4u;
let kk_184 = e_182 / 64u;
let k_185 = next + kk_184;
let o_186 = column0 + oo_183;
let at_187 = base_b + o_186 + k_185 * 2048u;
let q_188 = r1[(at_187) / 4u + 0u];
br4 = q_188;
}
{
let e_189 = lane + 1280u;
let oo_190 = (e_189 % 64u) * 4u;
let kk_191 = e_189 / 64u;
let k_192 = next + kk_191;
let o_193 = column0 + oo_190;
let at_194 = base_b + o_193 + k_192 * 2048u;
let q_195 = r1[(at_194) / 4u + 0u];
br5 = q_195;
}
{
let e_196 = lane + 1536u;
let oo_197 = (e_196 % 64u) * 4u;
let kk_198 = e_196 / 64u;
let k_199 = next + kk_198;
let o_200 = column0 + oo_197;
let at_201 = base_b + o_200 + k_199 * 2048u;
let q_202 = r1[(at_201) / 4u + 0u];
br6 = q_202;
}
{
let e_203 = lane + 1792u;
let oo_204 = (e_203 % 64u) * 4u;
let kk_205 = e_203 / 64u;
let k_206 = next + kk_205;
let o_207 = column0 + oo_204;
let at_208 = base_b + o_207 + k_206 * 2048u;
let q_209 = r1[(at_208) / 4u + 0u];
br7 = q_209;
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

