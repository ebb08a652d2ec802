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
var<workgroup> tile_c: array<f32, 1280>;
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
var ar0: vec4<f16>;
var ar1: vec4<f16>;
var ar2: vec4<f16>;
var ar3: vec4<f16>;
var ar4: vec4<f16>;
var ar5: vec4<f16>;
var ar6: vec4<f16>;
var ar7: vec4<f16>;
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
let e_13 = lane + 128u;
let oo_14 = (e_13 % 32u) * 4u;
let kk_15 = e_13 / 32u;
let k_16 = k_from + kk_15;
let o_17 = row0 + oo_14;
let at_18 = base_a + o_17 + k_16 * 2048u;
let q_19 = r0[(at_18) / 4u + 0u];
ar1 = q_19;
}
{
let e_20 = lane + 256u;
let oo_21 = (e_20 % 32u) * 4u;
let kk_22 = e_20 / 32u;
let k_23 = k_from + kk_22;
let o_24 = row0 + oo_21;
let at_25 = base_a + o_24 + k_23 * 2048u;
let q_26 = r0[(at_25) / 4u + 0u];
ar2 = q_26;
}
{
let e_27 = lane + 384u;
let oo_28 = (e_27 % 32u) * 4u;
let kk_29 = e_27 / 32u;
let k_30 = k_from + kk_29;
let o_31 = row0 + oo_28;
let at_32 = base_a + o_31 + k_30 * 2048u;
let q_33 = r0[(at_32) / 4u + 0u];
ar3 = q_33;
}
{
let e_34 = lane + 512u;
let oo_35 = (e_34 % 32u) * 4u;
let kk_36 = e_34 / 32u;
let k_37 = k_from + kk_36;
let o_38 = row0 + oo_35;
let at_39 = base_a + o_38 + k_37 * 2048u;
let q_40 = r0[(at_39) / 4u + 0u];
ar4 = q_40;
}
{
let e_41 = lane + 640u;
let oo_42 = (e_41 % 32u) * 4u;
let kk_43 = e_41 / 32u;
let k_44 = k_from + kk_43;
let o_45 = row0 + oo_42;
let at_46 = base_a + o_45 + k_44 * 2048u;
let q_47 = r0[(at_46) / 4u + 0u];
ar5 = q_47;
}
{
let e_48 = lane + 768u;
let oo_49 = (e_48 % 32u) * 4u;
let kk_50 = e_48 / 32u;
let k_51 = k_from + kk_50;
let o_52 = row0 + oo_49;
let at_53 = base_a + o_52 + k_51 * 2048u;
let q_54 = r0[(at_53) / 4u + 0u];
ar6 = q_54;
}
{
let e_55 = lane + 896u;
let oo_56 = (e_55 % 32u) * 4u;
let kk_57 = e_55 / 32u;
let k_58 = k_from + kk_57;
let o_59 = row0 + oo_56;
let at_60 = base_a + o_59 + k_58 * 2048u;
let q_61 = r0[(at_60) / 4u + 0u];
ar7 = q_61;
}
{
let e_62 = lane + 0u;
let kk_63 = (e_62 % 8u) * 4u;
let oo_64 = e_62 / 8u;
let k_65 = k_from + kk_63;
let o_66 = column0 + oo_64;
let at_67 = base_b + o_66 * 2048u + k_65;
let q_68 = r1[(at_67) / 4u + 0u];
br0 = q_68;
}
{
let e_69 = lane + 128u;
let kk_70 = (e_69 % 8u) * 4u;
let oo_71 = e_69 / 8u;
let k_72 = k_from + kk_70;
let o_73 = column0 + oo_71;
let at_74 = base_b + o_73 * 2048u + k_72;
let q_75 = r1[(at_74) / 4u + 0u];
br1 = q_75;
}
{
let e_76 = lane + 256u;
let kk_77 = (e_76 % 8u) * 4u;
let oo_78 = e_76 / 8u;
let k_79 = k_from + kk_77;
let o_80 = column0 + oo_78;
let at_81 = base_b + o_80 * 2048u + k_79;
let q_82 = r1[(at_81) / 4u + 0u];
br2 = q_82;
}
{
let e_83 = lane + 384u;
let kk_84 = (e_83 % 8u) * 4u;
let oo_85 = e_83 / 8u;
let k_86 = k_from + kk_84;
let o_87 = column0 + oo_85;
let at_88 = base_b + o_87 * 2048u + k_86;
let q_89 = r1[(at_88) / 4u + 0u];
br3 = q_89;
}
{
let e_90 = lane + 512u;
let kk_91 = (e_90 % 8u) * 4u;
let oo_92 = e_90 / 8u;
let k_93 = k_from + kk_91;
let o_94 = column0 + oo_92;
let at_95 = base_b + o_94 * 2048u + k_93;
let q_96 = r1[(at_95) / 4u + 0u];
br4 = q_96;
}
{
let e_97 = lane + 640u;
let kk_98 = (e_97 % 8u) * 4u;
let oo_99 = e_97 / 8u;
let k_100 = k_from + kk_98;
let o_101 = column0 + oo_99;
let at_102 = base_b + o_101 * 2048u + k_100;
let q_103 = r1[(at_102) / 4u + 0u];
br5 = q_103;
}
{
let e_104 = lane + 768u;
let kk_105 = (e_104 % 8u) * 4u;
let oo_106 = e_104 / 8u;
let k_107 = k_from + kk_105;
let o_108 = column0 + oo_106;
let at_109 = base_b + o_108 * 2048u + k_107;
let q_110 = r1[(at_109) / 4u + 0u];
br6 = q_110;
}
{
let e_111 = lane + 896u;
let kk_112 = (e_111 % 8u) * 4u;
let oo_113 = e_111 / 8u;
let k_114 = k_from + kk_112;
let o_115 = column0 + oo_113;
let at_116 = base_b + o_115 * 2048u + k_114;
let q_117 = r1[(at_116) / 4u + 0u];
br7 = q_117;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_118 = lane + 0u;
let oo_119 = (e_118 % 32u) * 4u;
let kk_120 = e_118 / 32u;
tile_a[kk_120 * 34u + oo_119 / 4u] = ar0;
}
{
let e_121 = lane + 128u;
let oo_122 = (e_121 % 32u) * 4u;
let kk_123 = e_121 / 32u;
tile_a[kk_123 * 34u + oo_122 / 4u] = ar1;
}
{
let e_124 = lane + 256u;
let oo_125 = (e_124 % 32u) * 4u;
let kk_126 = e_124 / 32u;
tile_a[kk_126 * 34u + oo_125 / 4u] = ar2;
}
{
let e_127 = lane + 384u;
let oo_128 = (e_127 % 32u) * 4u;
let kk_129 = e_127 / 32u;
tile_a[kk_129 * 34u + oo_128 / 4u] = ar3;
}
{
let e_130 = lane + 512u;
let oo_131 = (e_130 % 32u) * 4u;
let kk_132 = e_130 / 32u;
tile_a[kk_132 * 34u + oo_131 / 4u] = ar4;
}
{
let e_133 = lane + 640u;
let oo_134 = (e_133 % 32u) * 4u;
let kk_135 = e_133 / 32u;
tile_a[kk_135 * 34u + oo_134 / 4u] = ar5;
}
{
let e_136 = lane + 768u;
let oo_137 = (e_136 % 32u) * 4u;
let kk_138 = e_136 / 32u;
tile_a[kk_138 * 34u + oo_137 / 4u] = ar6;
}
{
let e_139 = lane + 896u;
let oo_140 = (e_139 % 32u) * 4u;
let kk_141 = e_139 / 32u;
tile_a[kk_141 * 34u + oo_140 / 4u] = ar7;
}
{
let e_142 = lane + 0u;
let kk_143 = (e_142 % 8u) * 4u;
let oo_144 = e_142 / 8u;
tile_b[oo_144 * 10u + kk_143 / 4u] = br0;
}
{
let e_145 = lane + 128u;
let kk_146 = (e_145 % 8u) * 4u;
let oo_147 = e_145 / 8u;
tile_b[oo_147 * 10u + kk_146 / 4u] = br1;
}
{
let e_148 = lane + 256u;
let kk_149 = (e_148 % 8u) * 4u;
let oo_150 = e_148 / 8u;
tile_b[oo_150 * 10u + kk_149 / 4u] = br2;
}
{
let e_151 = lane + 384u;
let kk_152 = (e_151 % 8u) * 4u;
let oo_153 = e_151 / 8u;
tile_b[oo_153 * 10u + kk_152 / 4u] = br3;
}
{
let e_154 = lane + 512u;
let kk_155 = (e_154 % 8u) * 4u;
let oo_156 = e_154 / 8u;
tile_b[oo_156 * 10u + kk_155 / 4u] = br4;
}
{
let e_157 = lane + 640u;
let kk_158 = (e_157 % 8u) * 4u;
let oo_159 = e_157 / 8u;
tile_b[oo_159 * 10u + kk_158 / 4u] = br5;
}
{
let e_160 = lane + 768u;
let kk_161 = (e_160 % 8u) * 4u;
let oo_162 = e_160 / 8u;
tile_b[oo_162 * 10u + kk_161 / 4u] = br6;
}
{
let e_163 = lane + 896u;
let kk_164 = (e_163 % 8u) * 4u;
let oo_165 = e_163 / 8u;
tile_b[oo_165 * 10u + kk_164 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_166 = lane + 0u;
let oo_167 = (e_166 % 32u) * 4u;
let kk_168 = e_166 / 32u;
let k_169 = next + kk_168;
let o_170 = row0 + oo_167;
let at_171 = base_a + o_170 + k_169 * 2048u;
let q_172 = r0[(at_171) / 4u + 0u];
ar0 = q_172;
}
{
let e_173 = lane + 128u;
let oo_174 = (e_173 % 32u) * 4u;
let kk_175 = e_173 / 32u;
let k_176 = next + kk_175;
let o_177 = row0 + oo_174;
let at_178 = base_a + o_177 + k_176 * 2048u;
let q_179 = r0[(at_178) / 4u + 0u];
ar1 = q_179;
}
{
let e_180 = lane + 256u;
let oo_181 = (e_180 % 32u) * 4u;
let kk_182 = e_180 / 32u;
let k_183 = next + kk_182;
let o_184 = row0 + oo_181;
let at_185 = base_a + o_184 + k_183 * 2048u;
let q_186 = r0[(at_185) / 4u + 0u];
ar2 = q_186;
}
{
let e_187 = lane + 384u;
let oo_188 = (e_187 % 32u) * 4u;
let kk_189 = e_187 / 32u;
let k_190 = next + kk_189;
let o_191 = row0 + oo_188;
let at_192 = base_a + o_191 + k_190 * 2048u;
let q_193 = r0[(at_192) / 4u + 0u];
ar3 = q_193;
}
{
let e_194 = lane + 512u;
let oo_195 = (e_194 % 32u) * 4u;
let kk_196 = e_194 / 32u;
let k_197 = next + kk_196;
let o_198 = row0 + oo_195;
let at_199 = base_a + o_198 + k_197 * 2048u;
let q_200 = r0[(at_199) / 4u + 0u];
ar4 = q_200;
}
{
let e_201 = lane + 640u;
let oo_202 = (e_201 % 32u) * 4u;
let kk_203 = e_201 / 32u;
let k_204 = next + kk_203;
let o_205 = row0 + oo_202;
let at_206 = base_a + o_205 + k_204 * 2048u;
let q_207 = r0[(at_206) / 4u + 0u];
ar5 = q_207;
}
{
let e_208 = lane + 768u;
let oo_209 = (e_208 % 32u) * 4u;
let kk_210 = e_208 / 32u;
let k_211 = next + kk_210;
let o_212 = row0 + oo_209;
let at_213 = base_a + o_212 + k_211 * 2048u;
let q_214 = r0[(at_213) / 4u + 0u];
ar6 = q_214;
}
{
let e_215 = lane + 896u;
let oo_216 = (e_215 % 32u) * 4u;
let kk_217 = e_215 / 32u;
let k_218 = next + kk_217;
let o_219 = row0 + oo_216;
let at_220 = base_a + o_219 + k_218 * 2048u;
let q_221 = r0[(at_220) / 4u + 0u];
ar7 = q_221;
}
{
let e_222 = lane + 0u;
let kk_223 = (e_222 % 8u) * 4u;
let oo_224 = e_222 / 8u;
let k_225 = next + kk_223;
let o_226 = column0 + oo_224;
let at_227 = base_b + o_226 * 2048u + k_225;
let q_228 = r1[(at_227) / 4u + 0u];
br0 = q_228;
}
{
let e_229 = lane + 128u;
let kk_230 = (e_229 % 8u) * 4u;
let oo_231 = e_229 / 8u;
let k_232 = next + kk_230;
let o_233 = column0 + oo_231;
let at_234 = base_b + o_233 * 2048u + k_232;
let q_235 = r1[(at_234) / 4u + 0u];
br1 = q_235;
}
{
let e_236 = lane + 256u;
let kk_237 = (e_236 % 8u) * 4u;
let oo_238 = e_236 / 8u;
let k_239 = next + kk_237;
let o_240 = column0 + oo_238;
let at_241 = base_b + o_240 * 2048u + k_239;
let q_242 = r1[(at_241) / 4u + 0u];
br2 = q_242;
}
{
let e_243 = lane + 384u;
let kk_244 = (e_243 % 8u) * 4u;
let oo_245 = e_243 / 8u;
let k_246 = next + kk_244;
let o_247 = column0 + oo_245;
let at_248 = base_b + o_247 * 2048u + k_246;
let q_249 = r1[(at_248) / 4u + 0u];
br3 = q_249;
}
{
let e_250 = lane + 512u;
let kk_251 = (e_250 % 8u) * 4u;
let oo_252 = e_250 / 8u;
let k_253 = next + kk_251;
let o_254 = column0 + oo_252;
let at_255 = base_b + o_254 * 2048u + k_253;
let q_256 = r1[(at_255) / 4u + 0u];
br4 = q_256;
}
{
let e_257 = lane + 640u;
let kk_258 = (e_257 % 8u) * 4u;
let oo_259 = e_257 / 8u;
let k_260 = next + kk_258;
let o_261 = column0 + oo_259;
let at_262 = base_b + o_261 * 2048u + k_260;
let q_263 = r1[(at_262) / 4u + 0u];
br5 = q_263;
}
{
let e_264 = lane + 768u;
let kk_265 = (e_264 % 8u) * 4u;
let oo_266 = e_264 / 8u;
let k_267 = next + kk_265;
let o_268 = column0 + oo_266;
let at_269 = base_b + o_268 * 2048u + k_267;
let q_270 = r1[(at_269) / 4u + 0u];
br6 = q_270;
}
{
let e_271 = lane + 896u;
let kk_272 = (e_271 % 8u) * 4u;
let oo_273 = e_271 / 8u;
let k_274 = next + kk_272;
let o_275 = column0 + oo_273;
let at_276 = base_b + o_275 * 2048u + k_274;
let q_277 = r1[(at_276) / 4u + 0u];
br7 = q_277;
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

