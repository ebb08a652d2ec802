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
let oo_65 = (oo_64 & ~7u) | ((oo_64 & 1u) << 2u) | ((oo_64 & 6u) >> 1u);
let k_66 = k_from + kk_63;
let o_67 = column0 + oo_65;
let at_68 = base_b + o_67 * 2048u + k_66;
let q_69 = r1[(at_68) / 4u + 0u];
br0 = q_69;
}
{
let e_70 = lane + 128u;
let kk_71 = (e_70 % 8u) * 4u;
let oo_72 = e_70 / 8u;
let oo_73 = (oo_72 & ~7u) | ((oo_72 & 1u) << 2u) | ((oo_72 & 6u) >> 1u);
let k_74 = k_from + kk_71;
let o_75 = column0 + oo_73;
let at_76 = base_b + o_75 * 2048u + k_74;
let q_77 = r1[(at_76) / 4u + 0u];
br1 = q_77;
}
{
let e_78 = lane + 256u;
let kk_79 = (e_78 % 8u) * 4u;
let oo_80 = e_78 / 8u;
let oo_81 = (oo_80 & ~7u) | ((oo_80 & 1u) << 2u) | ((oo_80 & 6u) >> 1u);
let k_82 = k_from + kk_79;
let o_83 = column0 + oo_81;
let at_84 = base_b + o_83 * 2048u + k_82;
let q_85 = r1[(at_84) / 4u + 0u];
br2 = q_85;
}
{
let e_86 = lane + 384u;
let kk_87 = (e_86 % 8u) * 4u;
let oo_88 = e_86 / 8u;
let oo_89 = (oo_88 & ~7u) | ((oo_88 & 1u) << 2u) | ((oo_88 & 6u) >> 1u);
let k_90 = k_from + kk_87;
let o_91 = column0 + oo_89;
let at_92 = base_b + o_91 * 2048u + k_90;
let q_93 = r1[(at_92) / 4u + 0u];
br3 = q_93;
}
{
let e_94 = lane + 512u;
let kk_95 = (e_94 % 8u) * 4u;
let oo_96 = e_94 / 8u;
let oo_97 = (oo_96 & ~7u) | ((oo_96 & 1u) << 2u) | ((oo_96 & 6u) >> 1u);
let k_98 = k_from + kk_95;
let o_99 = column0 + oo_97;
let at_100 = base_b + o_99 * 2048u + k_98;
let q_101 = r1[(at_100) / 4u + 0u];
br4 = q_101;
}
{
let e_102 = lane + 640u;
let kk_103 = (e_102 % 8u) * 4u;
let oo_104 = e_102 / 8u;
let oo_105 = (oo_104 & ~7u) | ((oo_104 & 1u) << 2u) | ((oo_104 & 6u) >> 1u);
let k_106 = k_from + kk_103;
let o_107 = column0 + oo_105;
let at_108 = base_b + o_107 * 2048u + k_106;
let q_109 = r1[(at_108) / 4u + 0u];
br5 = q_109;
}
{
let e_110 = lane + 768u;
let kk_111 = (e_110 % 8u) * 4u;
let oo_112 = e_110 / 8u;
let oo_113 = (oo_112 & ~7u) | ((oo_112 & 1u) << 2u) | ((oo_112 & 6u) >> 1u);
let k_114 = k_from + kk_111;
let o_115 = column0 + oo_113;
let at_116 = base_b + o_115 * 2048u + k_114;
let q_117 = r1[(at_116) / 4u + 0u];
br6 = q_117;
}
{
let e_118 = lane + 896u;
let kk_119 = (e_118 % 8u) * 4u;
let oo_120 = e_118 / 8u;
let oo_121 = (oo_120 & ~7u) | ((oo_120 & 1u) << 2u) | ((oo_120 & 6u) >> 1u);
let k_122 = k_from + kk_119;
let o_123 = column0 + oo_121;
let at_124 = base_b + o_123 * 2048u + k_122;
let q_125 = r1[(at_124) / 4u + 0u];
br7 = q_125;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_126 = lane + 0u;
let oo_127 = (e_126 % 32u) * 4u;
let kk_128 = e_126 / 32u;
tile_a[kk_128 * 34u + oo_127 / 4u] = ar0;
}
{
let e_129 = lane + 128u;
let oo_130 = (e_129 % 32u) * 4u;
let kk_131 = e_129 / 32u;
tile_a[kk_131 * 34u + oo_130 / 4u] = ar1;
}
{
let e_132 = lane + 256u;
let oo_133 = (e_132 % 32u) * 4u;
let kk_134 = e_132 / 32u;
tile_a[kk_134 * 34u + oo_133 / 4u] = ar2;
}
{
let e_135 = lane + 384u;
let oo_136 = (e_135 % 32u) * 4u;
let kk_137 = e_135 / 32u;
tile_a[kk_137 * 34u + oo_136 / 4u] = ar3;
}
{
let e_138 = lane + 512u;
let oo_139 = (e_138 % 32u) * 4u;
let kk_140 = e_138 / 32u;
tile_a[kk_140 * 34u + oo_139 / 4u] = ar4;
}
{
let e_141 = lane + 640u;
let oo_142 = (e_141 % 32u) * 4u;
let kk_143 = e_141 / 32u;
tile_a[kk_143 * 34u + oo_142 / 4u] = ar5;
}
{
let e_144 = lane + 768u;
let oo_145 = (e_144 % 32u) * 4u;
let kk_146 = e_144 / 32u;
tile_a[kk_146 * 34u + oo_145 / 4u] = ar6;
}
{
let e_147 = lane + 896u;
let oo_148 = (e_147 % 32u) * 4u;
let kk_149 = e_147 / 32u;
tile_a[kk_149 * 34u + oo_148 / 4u] = ar7;
}
{
let e_150 = lane + 0u;
let kk_151 = (e_150 % 8u) * 4u;
let oo_152 = e_150 / 8u;
let oo_153 = (oo_152 & ~7u) | ((oo_152 & 1u) << 2u) | ((oo_152 & 6u) >> 1u);
tile_b[oo_153 * 10u + kk_151 / 4u] = br0;
}
{
let e_154 = lane + 128u;
let kk_155 = (e_154 % 8u) * 4u;
let oo_156 = e_154 / 8u;
let oo_157 = (oo_156 & ~7u) | ((oo_156 & 1u) << 2u) | ((oo_156 & 6u) >> 1u);
tile_b[oo_157 * 10u + kk_155 / 4u] = br1;
}
{
let e_158 = lane + 256u;
let kk_159 = (e_158 % 8u) * 4u;
let oo_160 = e_158 / 8u;
let oo_161 = (oo_160 & ~7u) | ((oo_160 & 1u) << 2u) | ((oo_160 & 6u) >> 1u);
tile_b[oo_161 * 10u + kk_159 / 4u] = br2;
}
{
let e_162 = lane + 384u;
let kk_163 = (e_162 % 8u) * 4u;
let oo_164 = e_162 / 8u;
let oo_165 = (oo_164 & ~7u) | ((oo_164 & 1u) << 2u) | ((oo_164 & 6u) >> 1u);
tile_b[oo_165 * 10u + kk_163 / 4u] = br3;
}
{
let e_166 = lane + 512u;
let kk_167 = (e_166 % 8u) * 4u;
let oo_168 = e_166 / 8u;
let oo_169 = (oo_168 & ~7u) | ((oo_168 & 1u) << 2u) | ((oo_168 & 6u) >> 1u);
tile_b[oo_169 * 10u + kk_167 / 4u] = br4;
}
{
let e_170 = lane + 640u;
let kk_171 = (e_170 % 8u) * 4u;
let oo_172 = e_170 / 8u;
let oo_173 = (oo_172 & ~7u) | ((oo_172 & 1u) << 2u) | ((oo_172 & 6u) >> 1u);
tile_b[oo_173 * 10u + kk_171 / 4u] = br5;
}
{
let e_174 = lane + 768u;
let kk_175 = (e_174 % 8u) * 4u;
let oo_176 = e_174 / 8u;
let oo_177 = (oo_176 & ~7u) | ((oo_176 & 1u) << 2u) | ((oo_176 & 6u) >> 1u);
tile_b[oo_177 * 10u + kk_175 / 4u] = br6;
}
{
let e_178 = lane + 896u;
let kk_179 = (e_178 % 8u) * 4u;
let oo_180 = e_178 / 8u;
let oo_181 = (oo_180 & ~7u) | ((oo_180 & 1u) << 2u) | ((oo_180 & 6u) >> 1u);
tile_b[oo_181 * 10u + kk_179 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_182 = lane + 0u;
let oo_183 = (e_182 % 32u) * 4u;
let kk_184 = e_182 / 32u;
let k_185 = next + kk_184;
let o_186 = row0 + oo_183;
let at_187 = base_a + o_186 + k_185 * 2048u;
let q_188 = r0[(at_187) / 4u + 0u];
ar0 = q_188;
}
{
let e_189 = lane + 128u;
let oo_190 = (e_189 % 32u) * 4u;
let kk_191 = e_189 / 32u;
let k_192 = next + kk_191;
let o_193 = row0 + oo_190;
let at_194 = base_a + o_193 + k_192 * 2048u;
let q_195 = r0[(at_194) / 4u + 0u];
ar1 = q_195;
}
{
let e_196 = lane + 256u;
let oo_197 = (e_196 % 32u) * 4u;
let kk_198 = e_196 / 32u;
let k_199 = next + kk_198;
let o_200 = row0 + oo_197;
let at_201 = base_a + o_200 + k_199 * 2048u;
let q_202 = r0[(at_201) / 4u + 0u];
ar2 = q_202;
}
{
let e_203 = lane + 384u;
let oo_204 = (e_203 % 32u) * 4u;
let kk_205 = e_203 / 32u;
let k_206 = next + kk_205;
let o_207 = row0 + oo_204;
let at_208 = base_a + o_207 + k_206 * 2048u;
let q_209 = r0[(at_208) / 4u + 0u];
ar3 = q_209;
}
{
let e_210 = lane + 512u;
let oo_211 = (e_210 % 32u) * 4u;
let kk_212 = e_210 / 32u;
let k_213 = next + kk_212;
let o_214 = row0 + oo_211;
let at_215 = base_a + o_214 + k_213 * 2048u;
let q_216 = r0[(at_215) / 4u + 0u];
ar4 = q_216;
}
{
let e_217 = lane + 640u;
let oo_218 = (e_217 % 32u) * 4u;
let kk_219 = e_217 / 32u;
let k_220 = next + kk_219;
let o_221 = row0 + oo_218;
let at_222 = base_a + o_221 + k_220 * 2048u;
let q_223 = r0[(at_222) / 4u + 0u];
ar5 = q_223;
}
{
let e_224 = lane + 768u;
let oo_225 = (e_224 % 32u) * 4u;
let kk_226 = e_224 / 32u;
let k_227 = next + kk_226;
let o_228 = row0 + oo_225;
let at_229 = base_a + o_228 + k_227 * 2048u;
let q_230 = r0[(at_229) / 4u + 0u];
ar6 = q_230;
}
{
let e_231 = lane + 896u;
let oo_232 = (e_231 % 32u) * 4u;
let kk_233 = e_231 / 32u;
let k_234 = next + kk_233;
let o_235 = row0 + oo_232;
let at_236 = base_a + o_235 + k_234 * 2048u;
let q_237 = r0[(at_236) / 4u + 0u];
ar7 = q_237;
}
{
let e_238 = lane + 0u;
let kk_239 = (e_238 % 8u) * 4u;
let oo_240 = e_238 / 8u;
let oo_241 = (oo_240 & ~7u) | ((oo_240 & 1u) << 2u) | ((oo_240 & 6u) >> 1u);
let k_242 = next + kk_239;
let o_243 = column0 + oo_241;
let at_244 = base_b + o_243 * 2048u + k_242;
let q_245 = r1[(at_244) / 4u + 0u];
br0 = q_245;
}
{
let e_246 = lane + 128u;
let kk_247 = (e_246 % 8u) * 4u;
let oo_248 = e_246 / 8u;
let oo_249 = (oo_248 & ~7u) | ((oo_248 & 1u) << 2u) | ((oo_248 & 6u) >> 1u);
let k_250 = next + kk_247;
let o_251 = column0 + oo_249;
let at_252 = base_b + o_251 * 2048u + k_250;
let q_253 = r1[(at_252) / 4u + 0u];
br1 = q_253;
}
{
let e_254 = lane + 256u;
let kk_255 = (e_254 % 8u) * 4u;
let oo_256 = e_254 / 8u;
let oo_257 = (oo_256 & ~7u) | ((oo_256 & 1u) << 2u) | ((oo_256 & 6u) >> 1u);
let k_258 = next + kk_255;
let o_259 = column0 + oo_257;
let at_260 = base_b + o_259 * 2048u + k_258;
let q_261 = r1[(at_260) / 4u + 0u];
br2 = q_261;
}
{
let e_262 = lane + 384u;
let kk_263 = (e_262 % 8u) * 4u;
let oo_264 = e_262 / 8u;
let oo_265 = (oo_264 & ~7u) | ((oo_264 & 1u) << 2u) | ((oo_264 & 6u) >> 1u);
let k_266 = next + kk_263;
let o_267 = column0 + oo_265;
let at_268 = base_b + o_267 * 2048u + k_266;
let q_269 = r1[(at_268) / 4u + 0u];
br3 = q_269;
}
{
let e_270 = lane + 512u;
let kk_271 = (e_270 % 8u) * 4u;
let oo_272 = e_270 / 8u;
let oo_273 = (oo_272 & ~7u) | ((oo_272 & 1u) << 2u) | ((oo_272 & 6u) >> 1u);
let k_274 = next + kk_271;
let o_275 = column0 + oo_273;
let at_276 = base_b + o_275 * 2048u + k_274;
let q_277 = r1[(at_276) / 4u + 0u];
br4 = q_277;
}
{
let e_278 = lane + 640u;
let kk_279 = (e_278 % 8u) * 4u;
let oo_280 = e_278 / 8u;
let oo_281 = (oo_280 & ~7u) | ((oo_280 & 1u) << 2u) | ((oo_280 & 6u) >> 1u);
let k_282 = next + kk_279;
let o_283 = column0 + oo_281;
let at_284 = base_b + o_283 * 2048u + k_282;
let q_285 = r1[(at_284) / 4u + 0u];
br5 = q_285;
}
{
let e_286 = lane + 768u;
let kk_287 = (e_286 % 8u) * 4u;
let oo_288 = e_286 / 8u;
let oo_289 = (oo_288 & ~7u) | ((oo_288 & 1u) << 2u) | ((oo_288 & 6u) >> 1u);
let k_290 = next + kk_287;
let o_291 = column0 + oo_289;
let at_292 = base_b + o_291 * 2048u + k_290;
let q_293 = r1[(at_292) / 4u + 0u];
br6 = q_293;
}
{
let e_294 = lane + 896u;
let kk_295 = (e_294 % 8u) * 4u;
let oo_296 = e_294 / 8u;
let oo_297 = (oo_296 & ~7u) | ((oo_296 & 1u) << 2u) | ((oo_296 & 6u) >> 1u);
let k_298 = next + kk_295;
let o_299 = column0 + oo_297;
let at_300 = base_b + o_299 * 2048u + k_298;
let q_301 = r1[(at_300) / 4u + 0u];
br7 = q_301;
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

