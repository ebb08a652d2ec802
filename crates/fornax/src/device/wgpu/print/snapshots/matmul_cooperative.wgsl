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
let k_9 = k_from + kk_7;
let o_10 = row0 + oo_8;
let at_11 = base_a + o_10 * 2048u + k_9;
let q_12 = r0[(at_11) / 4u + 0u];
ar0 = q_12;
}
{
let e_13 = lane + 128u;
let kk_14 = (e_13 % 8u) * 4u;
let oo_15 = e_13 / 8u;
let k_16 = k_from + kk_14;
let o_17 = row0 + oo_15;
let at_18 = base_a + o_17 * 2048u + k_16;
let q_19 = r0[(at_18) / 4u + 0u];
ar1 = q_19;
}
{
let e_20 = lane + 256u;
let kk_21 = (e_20 % 8u) * 4u;
let oo_22 = e_20 / 8u;
let k_23 = k_from + kk_21;
let o_24 = row0 + oo_22;
let at_25 = base_a + o_24 * 2048u + k_23;
let q_26 = r0[(at_25) / 4u + 0u];
ar2 = q_26;
}
{
let e_27 = lane + 384u;
let kk_28 = (e_27 % 8u) * 4u;
let oo_29 = e_27 / 8u;
let k_30 = k_from + kk_28;
let o_31 = row0 + oo_29;
let at_32 = base_a + o_31 * 2048u + k_30;
let q_33 = r0[(at_32) / 4u + 0u];
ar3 = q_33;
}
{
let e_34 = lane + 512u;
let kk_35 = (e_34 % 8u) * 4u;
let oo_36 = e_34 / 8u;
let k_37 = k_from + kk_35;
let o_38 = row0 + oo_36;
let at_39 = base_a + o_38 * 2048u + k_37;
let q_40 = r0[(at_39) / 4u + 0u];
ar4 = q_40;
}
{
let e_41 = lane + 640u;
let kk_42 = (e_41 % 8u) * 4u;
let oo_43 = e_41 / 8u;
let k_44 = k_from + kk_42;
let o_45 = row0 + oo_43;
let at_46 = base_a + o_45 * 2048u + k_44;
let q_47 = r0[(at_46) / 4u + 0u];
ar5 = q_47;
}
{
let e_48 = lane + 768u;
let kk_49 = (e_48 % 8u) * 4u;
let oo_50 = e_48 / 8u;
let k_51 = k_from + kk_49;
let o_52 = row0 + oo_50;
let at_53 = base_a + o_52 * 2048u + k_51;
let q_54 = r0[(at_53) / 4u + 0u];
ar6 = q_54;
}
{
let e_55 = lane + 896u;
let kk_56 = (e_55 % 8u) * 4u;
let oo_57 = e_55 / 8u;
let k_58 = k_from + kk_56;
let o_59 = row0 + oo_57;
let at_60 = base_a + o_59 * 2048u + k_58;
let q_61 = r0[(at_60) / 4u + 0u];
ar7 = q_61;
}
{
let e_62 = lane + 0u;
let oo_63 = (e_62 % 32u) * 4u;
let kk_64 = e_62 / 32u;
let k_65 = k_from + kk_64;
let o_66 = column0 + oo_63;
let at_67 = base_b + o_66 + k_65 * 2048u;
let q_68 = r1[(at_67) / 4u + 0u];
br0 = q_68;
}
{
let e_69 = lane + 128u;
let oo_70 = (e_69 % 32u) * 4u;
let kk_71 = e_69 / 32u;
let k_72 = k_from + kk_71;
let o_73 = column0 + oo_70;
let at_74 = base_b + o_73 + k_72 * 2048u;
let q_75 = r1[(at_74) / 4u + 0u];
br1 = q_75;
}
{
let e_76 = lane + 256u;
let oo_77 = (e_76 % 32u) * 4u;
let kk_78 = e_76 / 32u;
let k_79 = k_from + kk_78;
let o_80 = column0 + oo_77;
let at_81 = base_b + o_80 + k_79 * 2048u;
let q_82 = r1[(at_81) / 4u + 0u];
br2 = q_82;
}
{
let e_83 = lane + 384u;
let oo_84 = (e_83 % 32u) * 4u;
let kk_85 = e_83 / 32u;
let k_86 = k_from + kk_85;
let o_87 = column0 + oo_84;
let at_88 = base_b + o_87 + k_86 * 2048u;
let q_89 = r1[(at_88) / 4u + 0u];
br3 = q_89;
}
{
let e_90 = lane + 512u;
let oo_91 = (e_90 % 32u) * 4u;
let kk_92 = e_90 / 32u;
let k_93 = k_from + kk_92;
let o_94 = column0 + oo_91;
let at_95 = base_b + o_94 + k_93 * 2048u;
let q_96 = r1[(at_95) / 4u + 0u];
br4 = q_96;
}
{
let e_97 = lane + 640u;
let oo_98 = (e_97 % 32u) * 4u;
let kk_99 = e_97 / 32u;
let k_100 = k_from + kk_99;
let o_101 = column0 + oo_98;
let at_102 = base_b + o_101 + k_100 * 2048u;
let q_103 = r1[(at_102) / 4u + 0u];
br5 = q_103;
}
{
let e_104 = lane + 768u;
let oo_105 = (e_104 % 32u) * 4u;
let kk_106 = e_104 / 32u;
let k_107 = k_from + kk_106;
let o_108 = column0 + oo_105;
let at_109 = base_b + o_108 + k_107 * 2048u;
let q_110 = r1[(at_109) / 4u + 0u];
br6 = q_110;
}
{
let e_111 = lane + 896u;
let oo_112 = (e_111 % 32u) * 4u;
let kk_113 = e_111 / 32u;
let k_114 = k_from + kk_113;
let o_115 = column0 + oo_112;
let at_116 = base_b + o_115 + k_114 * 2048u;
let q_117 = r1[(at_116) / 4u + 0u];
br7 = q_117;
}
for (var slice = 1u; slice <= 64u; slice++) {
let present = k_from + (slice - 1u) * 32u;
workgroupBarrier();
{
let e_118 = lane + 0u;
let kk_119 = (e_118 % 8u) * 4u;
let oo_120 = e_118 / 8u;
tile_a[oo_120 * 10u + kk_119 / 4u] = ar0;
}
{
let e_121 = lane + 128u;
let kk_122 = (e_121 % 8u) * 4u;
let oo_123 = e_121 / 8u;
tile_a[oo_123 * 10u + kk_122 / 4u] = ar1;
}
{
let e_124 = lane + 256u;
let kk_125 = (e_124 % 8u) * 4u;
let oo_126 = e_124 / 8u;
tile_a[oo_126 * 10u + kk_125 / 4u] = ar2;
}
{
let e_127 = lane + 384u;
let kk_128 = (e_127 % 8u) * 4u;
let oo_129 = e_127 / 8u;
tile_a[oo_129 * 10u + kk_128 / 4u] = ar3;
}
{
let e_130 = lane + 512u;
let kk_131 = (e_130 % 8u) * 4u;
let oo_132 = e_130 / 8u;
tile_a[oo_132 * 10u + kk_131 / 4u] = ar4;
}
{
let e_133 = lane + 640u;
let kk_134 = (e_133 % 8u) * 4u;
let oo_135 = e_133 / 8u;
tile_a[oo_135 * 10u + kk_134 / 4u] = ar5;
}
{
let e_136 = lane + 768u;
let kk_137 = (e_136 % 8u) * 4u;
let oo_138 = e_136 / 8u;
tile_a[oo_138 * 10u + kk_137 / 4u] = ar6;
}
{
let e_139 = lane + 896u;
let kk_140 = (e_139 % 8u) * 4u;
let oo_141 = e_139 / 8u;
tile_a[oo_141 * 10u + kk_140 / 4u] = ar7;
}
{
let e_142 = lane + 0u;
let oo_143 = (e_142 % 32u) * 4u;
let kk_144 = e_142 / 32u;
tile_b[kk_144 * 34u + oo_143 / 4u] = br0;
}
{
let e_145 = lane + 128u;
let oo_146 = (e_145 % 32u) * 4u;
let kk_147 = e_145 / 32u;
tile_b[kk_147 * 34u + oo_146 / 4u] = br1;
}
{
let e_148 = lane + 256u;
let oo_149 = (e_148 % 32u) * 4u;
let kk_150 = e_148 / 32u;
tile_b[kk_150 * 34u + oo_149 / 4u] = br2;
}
{
let e_151 = lane + 384u;
let oo_152 = (e_151 % 32u) * 4u;
let kk_153 = e_151 / 32u;
tile_b[kk_153 * 34u + oo_152 / 4u] = br3;
}
{
let e_154 = lane + 512u;
let oo_155 = (e_154 % 32u) * 4u;
let kk_156 = e_154 / 32u;
tile_b[kk_156 * 34u + oo_155 / 4u] = br4;
}
{
let e_157 = lane + 640u;
let oo_158 = (e_157 % 32u) * 4u;
let kk_159 = e_157 / 32u;
tile_b[kk_159 * 34u + oo_158 / 4u] = br5;
}
{
let e_160 = lane + 768u;
let oo_161 = (e_160 % 32u) * 4u;
let kk_162 = e_160 / 32u;
tile_b[kk_162 * 34u + oo_161 / 4u] = br6;
}
{
let e_163 = lane + 896u;
let oo_164 = (e_163 % 32u) * 4u;
let kk_165 = e_163 / 32u;
tile_b[kk_165 * 34u + oo_164 / 4u] = br7;
}
workgroupBarrier();
let next = k_from + min(slice, 63u) * 32u;
{
let e_166 = lane + 0u;
let kk_167 = (e_166 % 8u) * 4u;
let oo_168 = e_166 / 8u;
let k_169 = next + kk_167;
let o_170 = row0 + oo_168;
let at_171 = base_a + o_170 * 2048u + k_169;
let q_172 = r0[(at_171) / 4u + 0u];
ar0 = q_172;
}
{
let e_173 = lane + 128u;
let kk_174 = (e_173 % 8u) * 4u;
let oo_175 = e_173 / 8u;
let k_176 = next + kk_174;
let o_177 = row0 + oo_175;
let at_178 = base_a + o_177 * 2048u + k_176;
let q_179 = r0[(at_178) / 4u + 0u];
ar1 = q_179;
}
{
let e_180 = lane + 256u;
let kk_181 = (e_180 % 8u) * 4u;
let oo_182 = e_180 / 8u;
let k_183 = next + kk_181;
let o_184 = row0 + oo_182;
let at_185 = base_a + o_184 * 2048u + k_183;
let q_186 = r0[(at_185) / 4u + 0u];
ar2 = q_186;
}
{
let e_187 = lane + 384u;
let kk_188 = (e_187 % 8u) * 4u;
let oo_189 = e_187 / 8u;
let k_190 = next + kk_188;
let o_191 = row0 + oo_189;
let at_192 = base_a + o_191 * 2048u + k_190;
let q_193 = r0[(at_192) / 4u + 0u];
ar3 = q_193;
}
{
let e_194 = lane + 512u;
let kk_195 = (e_194 % 8u) * 4u;
let oo_196 = e_194 / 8u;
let k_197 = next + kk_195;
let o_198 = row0 + oo_196;
let at_199 = base_a + o_198 * 2048u + k_197;
let q_200 = r0[(at_199) / 4u + 0u];
ar4 = q_200;
}
{
let e_201 = lane + 640u;
let kk_202 = (e_201 % 8u) * 4u;
let oo_203 = e_201 / 8u;
let k_204 = next + kk_202;
let o_205 = row0 + oo_203;
let at_206 = base_a + o_205 * 2048u + k_204;
let q_207 = r0[(at_206) / 4u + 0u];
ar5 = q_207;
}
{
let e_208 = lane + 768u;
let kk_209 = (e_208 % 8u) * 4u;
let oo_210 = e_208 / 8u;
let k_211 = next + kk_209;
let o_212 = row0 + oo_210;
let at_213 = base_a + o_212 * 2048u + k_211;
let q_214 = r0[(at_213) / 4u + 0u];
ar6 = q_214;
}
{
let e_215 = lane + 896u;
let kk_216 = (e_215 % 8u) * 4u;
let oo_217 = e_215 / 8u;
let k_218 = next + kk_216;
let o_219 = row0 + oo_217;
let at_220 = base_a + o_219 * 2048u + k_218;
let q_221 = r0[(at_220) / 4u + 0u];
ar7 = q_221;
}
{
let e_222 = lane + 0u;
let oo_223 = (e_222 % 32u) * 4u;
let kk_224 = e_222 / 32u;
let k_225 = next + kk_224;
let o_226 = column0 + oo_223;
let at_227 = base_b + o_226 + k_225 * 2048u;
let q_228 = r1[(at_227) / 4u + 0u];
br0 = q_228;
}
{
let e_229 = lane + 128u;
let oo_230 = (e_229 % 32u) * 4u;
let kk_231 = e_229 / 32u;
let k_232 = next + kk_231;
let o_233 = column0 + oo_230;
let at_234 = base_b + o_233 + k_232 * 2048u;
let q_235 = r1[(at_234) / 4u + 0u];
br1 = q_235;
}
{
let e_236 = lane + 256u;
let oo_237 = (e_236 % 32u) * 4u;
let kk_238 = e_236 / 32u;
let k_239 = next + kk_238;
let o_240 = column0 + oo_237;
let at_241 = base_b + o_240 + k_239 * 2048u;
let q_242 = r1[(at_241) / 4u + 0u];
br2 = q_242;
}
{
let e_243 = lane + 384u;
let oo_244 = (e_243 % 32u) * 4u;
let kk_245 = e_243 / 32u;
let k_246 = next + kk_245;
let o_247 = column0 + oo_244;
let at_248 = base_b + o_247 + k_246 * 2048u;
let q_249 = r1[(at_248) / 4u + 0u];
br3 = q_249;
}
{
let e_250 = lane + 512u;
let oo_251 = (e_250 % 32u) * 4u;
let kk_252 = e_250 / 32u;
let k_253 = next + kk_252;
let o_254 = column0 + oo_251;
let at_255 = base_b + o_254 + k_253 * 2048u;
let q_256 = r1[(at_255) / 4u + 0u];
br4 = q_256;
}
{
let e_257 = lane + 640u;
let oo_258 = (e_257 % 32u) * 4u;
let kk_259 = e_257 / 32u;
let k_260 = next + kk_259;
let o_261 = column0 + oo_258;
let at_262 = base_b + o_261 + k_260 * 2048u;
let q_263 = r1[(at_262) / 4u + 0u];
br5 = q_263;
}
{
let e_264 = lane + 768u;
let oo_265 = (e_264 % 32u) * 4u;
let kk_266 = e_264 / 32u;
let k_267 = next + kk_266;
let o_268 = column0 + oo_265;
let at_269 = base_b + o_268 + k_267 * 2048u;
let q_270 = r1[(at_269) / 4u + 0u];
br6 = q_270;
}
{
let e_271 = lane + 896u;
let oo_272 = (e_271 % 32u) * 4u;
let kk_273 = e_271 / 32u;
let k_274 = next + kk_273;
let o_275 = column0 + oo_272;
let at_276 = base_b + o_275 + k_274 * 2048u;
let q_277 = r1[(at_276) / 4u + 0u];
br7 = q_277;
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

