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
let kk_7 = (e_6 % 8u) * 4u;
let oo_8 = e_6 / 8u;
let oo_9 = (oo_8 & ~7u) | ((oo_8 & 1u) << 2u) | ((oo_8 & 6u) >> 1u);
let k_10 = k_from + kk_7;
let o_11 = row0 + oo_9;
let at_12 = base_a + o_11 * 2048u + k_10;
let q_13 = r0[(at_12) / 4u + 0u];
ar0 = q_13;
}
{
let e_14 = lane + 128u;
let kk_15 = (e_14 % 8u) * 4u;
let oo_16 = e_14 / 8u;
let oo_17 = (oo_16 & ~7u) | ((oo_16 & 1u) << 2u) | ((oo_16 & 6u) >> 1u);
let k_18 = k_from + kk_15;
let o_19 = row0 + oo_17;
let at_20 = base_a + o_19 * 2048u + k_18;
let q_21 = r0[(at_20) / 4u + 0u];
ar1 = q_21;
}
{
let e_22 = lane + 256u;
let kk_23 = (e_22 % 8u) * 4u;
let oo_24 = e_22 / 8u;
let oo_25 = (oo_24 & ~7u) | ((oo_24 & 1u) << 2u) | ((oo_24 & 6u) >> 1u);
let k_26 = k_from + kk_23;
let o_27 = row0 + oo_25;
let at_28 = base_a + o_27 * 2048u + k_26;
let q_29 = r0[(at_28) / 4u + 0u];
ar2 = q_29;
}
{
let e_30 = lane + 384u;
let kk_31 = (e_30 % 8u) * 4u;
let oo_32 = e_30 / 8u;
let oo_33 = (oo_32 & ~7u) | ((oo_32 & 1u) << 2u) | ((oo_32 & 6u) >> 1u);
let k_34 = k_from + kk_31;
let o_35 = row0 + oo_33;
let at_36 = base_a + o_35 * 2048u + k_34;
let q_37 = r0[(at_36) / 4u + 0u];
ar3 = q_37;
}
{
let e_38 = lane + 512u;
let kk_39 = (e_38 % 8u) * 4u;
let oo_40 = e_38 / 8u;
let oo_41 = (oo_40 & ~7u) | ((oo_40 & 1u) << 2u) | ((oo_40 & 6u) >> 1u);
let k_42 = k_from + kk_39;
let o_43 = row0 + oo_41;
let at_44 = base_a + o_43 * 2048u + k_42;
let q_45 = r0[(at_44) / 4u + 0u];
ar4 = q_45;
}
{
let e_46 = lane + 640u;
let kk_47 = (e_46 % 8u) * 4u;
let oo_48 = e_46 / 8u;
let oo_49 = (oo_48 & ~7u) | ((oo_48 & 1u) << 2u) | ((oo_48 & 6u) >> 1u);
let k_50 = k_from + kk_47;
let o_51 = row0 + oo_49;
let at_52 = base_a + o_51 * 2048u + k_50;
let q_53 = r0[(at_52) / 4u + 0u];
ar5 = q_53;
}
{
let e_54 = lane + 768u;
let kk_55 = (e_54 % 8u) * 4u;
let oo_56 = e_54 / 8u;
let oo_57 = (oo_56 & ~7u) | ((oo_56 & 1u) << 2u) | ((oo_56 & 6u) >> 1u);
let k_58 = k_from + kk_55;
let o_59 = row0 + oo_57;
let at_60 = base_a + o_59 * 2048u + k_58;
let q_61 = r0[(at_60) / 4u + 0u];
ar6 = q_61;
}
{
let e_62 = lane + 896u;
let kk_63 = (e_62 % 8u) * 4u;
let oo_64 = e_62 / 8u;
let oo_65 = (oo_64 & ~7u) | ((oo_64 & 1u) << 2u) | ((oo_64 & 6u) >> 1u);
let k_66 = k_from + kk_63;
let o_67 = row0 + oo_65;
let at_68 = base_a + o_67 * 2048u + k_66;
let q_69 = r0[(at_68) / 4u + 0u];
ar7 = q_69;
}
{
let e_70 = lane + 0u;
let oo_71 = (e_70 % 32u) * 4u;
let kk_72 = e_70 / 32u;
let k_73 = k_from + kk_72;
let o_74 = column0 + oo_71;
let at_75 = base_b + o_74 + k_73 * 2048u;
let q_76 = r1[(at_75) / 4u + 0u];
br0 = q_76;
}
{
let e_77 = lane + 128u;
let oo_78 = (e_77 % 32u) * 4u;
let kk_79 = e_77 / 32u;
let k_80 = k_from + kk_79;
let o_81 = column0 + oo_78;
let at_82 = base_b + o_81 + k_80 * 2048u;
let q_83 = r1[(at_82) / 4u + 0u];
br1 = q_83;
}
{
let e_84 = lane + 256u;
let oo_85 = (e_84 % 32u) * 4u;
let kk_86 = e_84 / 32u;
let k_87 = k_from + kk_86;
let o_88 = column0 + oo_85;
let at_89 = base_b + o_88 + k_87 * 2048u;
let q_90 = r1[(at_89) / 4u + 0u];
br2 = q_90;
}
{
let e_91 = lane + 384u;
let oo_92 = (e_91 % 32u) * 4u;
let kk_93 = e_91 / 32u;
let k_94 = k_from + kk_93;
let o_95 = column0 + oo_92;
let at_96 = base_b + o_95 + k_94 * 2048u;
let q_97 = r1[(at_96) / 4u + 0u];
br3 = q_97;
}
{
let e_98 = lane + 512u;
let oo_99 = (e_98 % 32u) * 4u;
let kk_100 = e_98 / 32u;
let k_101 = k_from + kk_100;
let o_102 = column0 + oo_99;
let at_103 = base_b + o_102 + k_101 * 2048u;
let q_104 = r1[(at_103) / 4u + 0u];
br4 = q_104;
}
{
let e_105 = lane + 640u;
let oo_106 = (e_105 % 32u) * 4u;
let kk_107 = e_105 / 32u;
let k_108 = k_from + kk_107;
let o_109 = column0 + oo_106;
let at_110 = base_b + o_109 + k_108 * 2048u;
let q_111 = r1[(at_110) / 4u + 0u];
br5 = q_111;
}
{
let e_112 = lane + 768u;
let oo_113 = (e_112 % 32u) * 4u;
let kk_114 = e_112 / 32u;
let k_115 = k_from + kk_114;
let o_116 = column0 + oo_113;
let at_117 = base_b + o_116 + k_115 * 2048u;
let q_118 = r1[(at_117) / 4u + 0u];
br6 = q_118;
}
{
let e_119 = lane + 896u;
let oo_120 = (e_119 % 32u) * 4u;
let kk_121 = e_119 / 32u;
let k_122 = k_from + kk_121;
let o_123 = column0 + oo_120;
let at_124 = base_b + o_123 + k_122 * 2048u;
let q_125 = r1[(at_124) / 4u + 0u];
br7 = q_125;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_126 = lane + 0u;
let kk_127 = (e_126 % 8u) * 4u;
let oo_128 = e_126 / 8u;
let oo_129 = (oo_128 & ~7u) | ((oo_128 & 1u) << 2u) | ((oo_128 & 6u) >> 1u);
tile_a[oo_129 * 10u + kk_127 / 4u] = ar0;
}
{
let e_130 = lane + 128u;
let kk_131 = (e_130 % 8u) * 4u;
let oo_132 = e_130 / 8u;
let oo_133 = (oo_132 & ~7u) | ((oo_132 & 1u) << 2u) | ((oo_132 & 6u) >> 1u);
tile_a[oo_133 * 10u + kk_131 / 4u] = ar1;
}
{
let e_134 = lane + 256u;
let kk_135 = (e_134 % 8u) * 4u;
let oo_136 = e_134 / 8u;
let oo_137 = (oo_136 & ~7u) | ((oo_136 & 1u) << 2u) | ((oo_136 & 6u) >> 1u);
tile_a[oo_137 * 10u + kk_135 / 4u] = ar2;
}
{
let e_138 = lane + 384u;
let kk_139 = (e_138 % 8u) * 4u;
let oo_140 = e_138 / 8u;
let oo_141 = (oo_140 & ~7u) | ((oo_140 & 1u) << 2u) | ((oo_140 & 6u) >> 1u);
tile_a[oo_141 * 10u + kk_139 / 4u] = ar3;
}
{
let e_142 = lane + 512u;
let kk_143 = (e_142 % 8u) * 4u;
let oo_144 = e_142 / 8u;
let oo_145 = (oo_144 & ~7u) | ((oo_144 & 1u) << 2u) | ((oo_144 & 6u) >> 1u);
tile_a[oo_145 * 10u + kk_143 / 4u] = ar4;
}
{
let e_146 = lane + 640u;
let kk_147 = (e_146 % 8u) * 4u;
let oo_148 = e_146 / 8u;
let oo_149 = (oo_148 & ~7u) | ((oo_148 & 1u) << 2u) | ((oo_148 & 6u) >> 1u);
tile_a[oo_149 * 10u + kk_147 / 4u] = ar5;
}
{
let e_150 = lane + 768u;
let kk_151 = (e_150 % 8u) * 4u;
let oo_152 = e_150 / 8u;
let oo_153 = (oo_152 & ~7u) | ((oo_152 & 1u) << 2u) | ((oo_152 & 6u) >> 1u);
tile_a[oo_153 * 10u + kk_151 / 4u] = ar6;
}
{
let e_154 = lane + 896u;
let kk_155 = (e_154 % 8u) * 4u;
let oo_156 = e_154 / 8u;
let oo_157 = (oo_156 & ~7u) | ((oo_156 & 1u) << 2u) | ((oo_156 & 6u) >> 1u);
tile_a[oo_157 * 10u + kk_155 / 4u] = ar7;
}
{
let e_158 = lane + 0u;
let oo_159 = (e_158 % 32u) * 4u;
let kk_160 = e_158 / 32u;
tile_b[kk_160 * 34u + oo_159 / 4u] = br0;
}
{
let e_161 = lane + 128u;
let oo_162 = (e_161 % 32u) * 4u;
let kk_163 = e_161 / 32u;
tile_b[kk_163 * 34u + oo_162 / 4u] = br1;
}
{
let e_164 = lane + 256u;
let oo_165 = (e_164 % 32u) * 4u;
let kk_166 = e_164 / 32u;
tile_b[kk_166 * 34u + oo_165 / 4u] = br2;
}
{
let e_167 = lane + 384u;
let oo_168 = (e_167 % 32u) * 4u;
let kk_169 = e_167 / 32u;
tile_b[kk_169 * 34u + oo_168 / 4u] = br3;
}
{
let e_170 = lane + 512u;
let oo_171 = (e_170 % 32u) * 4u;
let kk_172 = e_170 / 32u;
tile_b[kk_172 * 34u + oo_171 / 4u] = br4;
}
{
let e_173 = lane + 640u;
let oo_174 = (e_173 % 32u) * 4u;
let kk_175 = e_173 / 32u;
tile_b[kk_175 * 34u + oo_174 / 4u] = br5;
}
{
let e_176 = lane + 768u;
let oo_177 = (e_176 % 32u) * 4u;
let kk_178 = e_176 / 32u;
tile_b[kk_178 * 34u + oo_177 / 4u] = br6;
}
{
let e_179 = lane + 896u;
let oo_180 = (e_179 % 32u) * 4u;
let kk_181 = e_179 / 32u;
tile_b[kk_181 * 34u + oo_180 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_182 = lane + 0u;
let kk_183 = (e_182 % 8u) * 4u;
let oo_184 = e_182 / 8u;
let oo_185 = (oo_184 & ~7u) | ((oo_184 & 1u) << 2u) | ((oo_184 & 6u) >> 1u);
let k_186 = next + kk_183;
let o_187 = row0 + oo_185;
let at_188 = base_a + o_187 * 2048u + k_186;
let q_189 = r0[(at_188) / 4u + 0u];
ar0 = q_189;
}
{
let e_190 = lane + 128u;
let kk_191 = (e_190 % 8u) * 4u;
let oo_192 = e_190 / 8u;
let oo_193 = (oo_192 & ~7u) | ((oo_192 & 1u) << 2u) | ((oo_192 & 6u) >> 1u);
let k_194 = next + kk_191;
let o_195 = row0 + oo_193;
let at_196 = base_a + o_195 * 2048u + k_194;
let q_197 = r0[(at_196) / 4u + 0u];
ar1 = q_197;
}
{
let e_198 = lane + 256u;
let kk_199 = (e_198 % 8u) * 4u;
let oo_200 = e_198 / 8u;
let oo_201 = (oo_200 & ~7u) | ((oo_200 & 1u) << 2u) | ((oo_200 & 6u) >> 1u);
let k_202 = next + kk_199;
let o_203 = row0 + oo_201;
let at_204 = base_a + o_203 * 2048u + k_202;
let q_205 = r0[(at_204) / 4u + 0u];
ar2 = q_205;
}
{
let e_206 = lane + 384u;
let kk_207 = (e_206 % 8u) * 4u;
let oo_208 = e_206 / 8u;
let oo_209 = (oo_208 & ~7u) | ((oo_208 & 1u) << 2u) | ((oo_208 & 6u) >> 1u);
let k_210 = next + kk_207;
let o_211 = row0 + oo_209;
let at_212 = base_a + o_211 * 2048u + k_210;
let q_213 = r0[(at_212) / 4u + 0u];
ar3 = q_213;
}
{
let e_214 = lane + 512u;
let kk_215 = (e_214 % 8u) * 4u;
let oo_216 = e_214 / 8u;
let oo_217 = (oo_216 & ~7u) | ((oo_216 & 1u) << 2u) | ((oo_216 & 6u) >> 1u);
let k_218 = next + kk_215;
let o_219 = row0 + oo_217;
let at_220 = base_a + o_219 * 2048u + k_218;
let q_221 = r0[(at_220) / 4u + 0u];
ar4 = q_221;
}
{
let e_222 = lane + 640u;
let kk_223 = (e_222 % 8u) * 4u;
let oo_224 = e_222 / 8u;
let oo_225 = (oo_224 & ~7u) | ((oo_224 & 1u) << 2u) | ((oo_224 & 6u) >> 1u);
let k_226 = next + kk_223;
let o_227 = row0 + oo_225;
let at_228 = base_a + o_227 * 2048u + k_226;
let q_229 = r0[(at_228) / 4u + 0u];
ar5 = q_229;
}
{
let e_230 = lane + 768u;
let kk_231 = (e_230 % 8u) * 4u;
let oo_232 = e_230 / 8u;
let oo_233 = (oo_232 & ~7u) | ((oo_232 & 1u) << 2u) | ((oo_232 & 6u) >> 1u);
let k_234 = next + kk_231;
let o_235 = row0 + oo_233;
let at_236 = base_a + o_235 * 2048u + k_234;
let q_237 = r0[(at_236) / 4u + 0u];
ar6 = q_237;
}
{
let e_238 = lane + 896u;
let kk_239 = (e_238 % 8u) * 4u;
let oo_240 = e_238 / 8u;
let oo_241 = (oo_240 & ~7u) | ((oo_240 & 1u) << 2u) | ((oo_240 & 6u) >> 1u);
let k_242 = next + kk_239;
let o_243 = row0 + oo_241;
let at_244 = base_a + o_243 * 2048u + k_242;
let q_245 = r0[(at_244) / 4u + 0u];
ar7 = q_245;
}
{
let e_246 = lane + 0u;
let oo_247 = (e_246 % 32u) * 4u;
let kk_248 = e_246 / 32u;
let k_249 = next + kk_248;
let o_250 = column0 + oo_247;
let at_251 = base_b + o_250 + k_249 * 2048u;
let q_252 = r1[(at_251) / 4u + 0u];
br0 = q_252;
}
{
let e_253 = lane + 128u;
let oo_254 = (e_253 % 32u) * 4u;
let kk_255 = e_253 / 32u;
let k_256 = next + kk_255;
let o_257 = column0 + oo_254;
let at_258 = base_b + o_257 + k_256 * 2048u;
let q_259 = r1[(at_258) / 4u + 0u];
br1 = q_259;
}
{
let e_260 = lane + 256u;
let oo_261 = (e_260 % 32u) * 4u;
let kk_262 = e_260 / 32u;
let k_263 = next + kk_262;
let o_264 = column0 + oo_261;
let at_265 = base_b + o_264 + k_263 * 2048u;
let q_266 = r1[(at_265) / 4u + 0u];
br2 = q_266;
}
{
let e_267 = lane + 384u;
let oo_268 = (e_267 % 32u) * 4u;
let kk_269 = e_267 / 32u;
let k_270 = next + kk_269;
let o_271 = column0 + oo_268;
let at_272 = base_b + o_271 + k_270 * 2048u;
let q_273 = r1[(at_272) / 4u + 0u];
br3 = q_273;
}
{
let e_274 = lane + 512u;
let oo_275 = (e_274 % 32u) * 4u;
let kk_276 = e_274 / 32u;
let k_277 = next + kk_276;
let o_278 = column0 + oo_275;
let at_279 = base_b + o_278 + k_277 * 2048u;
let q_280 = r1[(at_279) / 4u + 0u];
br4 = q_280;
}
{
let e_281 = lane + 640u;
let oo_282 = (e_281 % 32u) * 4u;
let kk_283 = e_281 / 32u;
let k_284 = next + kk_283;
let o_285 = column0 + oo_282;
let at_286 = base_b + o_285 + k_284 * 2048u;
let q_287 = r1[(at_286) / 4u + 0u];
br5 = q_287;
}
{
let e_288 = lane + 768u;
let oo_289 = (e_288 % 32u) * 4u;
let kk_290 = e_288 / 32u;
let k_291 = next + kk_290;
let o_292 = column0 + oo_289;
let at_293 = base_b + o_292 + k_291 * 2048u;
let q_294 = r1[(at_293) / 4u + 0u];
br6 = q_294;
}
{
let e_295 = lane + 896u;
let oo_296 = (e_295 % 32u) * 4u;
let kk_297 = e_295 / 32u;
let k_298 = next + kk_297;
let o_299 = column0 + oo_296;
let at_300 = base_b + o_299 + k_298 * 2048u;
let q_301 = r1[(at_300) / 4u + 0u];
br7 = q_301;
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

