// mul f16 3145728: [1536, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1536u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 393216u) {
let c_2 = i_1 * 8u;
let v0 = (1e0f);
let q_3 = r0[((c_2) / 2u) / 4u + 0u];
let u_4 = q_3.x;
let u_5 = q_3.y;
let u_6 = q_3.z;
let u_7 = q_3.w;
let v1_0 = unpack2x16float(u_4).x;
let v1_1 = unpack2x16float(u_4).y;
let v1_2 = unpack2x16float(u_5).x;
let v1_3 = unpack2x16float(u_5).y;
let v1_4 = unpack2x16float(u_6).x;
let v1_5 = unpack2x16float(u_6).y;
let v1_6 = unpack2x16float(u_7).x;
let v1_7 = unpack2x16float(u_7).y;
let v2_0 = (v0 * v1_0);
let v2_1 = (v0 * v1_1);
let v2_2 = (v0 * v1_2);
let v2_3 = (v0 * v1_3);
let v2_4 = (v0 * v1_4);
let v2_5 = (v0 * v1_5);
let v2_6 = (v0 * v1_6);
let v2_7 = (v0 * v1_7);
w0[((c_2) / 2u) / 4u + 0u] = vec4<u32>(pack_half(v2_0, v2_1), pack_half(v2_2, v2_3), pack_half(v2_4, v2_5), pack_half(v2_6, v2_7));
}
}

// attention_lse_attention f32 8x12x512: [768, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> r2: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read_write> w1: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> w0: array<u32>;
// Constants that are not finite are errors in WGSL; a variable is not a constant.
var<private> infinity_bits: u32 = 0x7f800000u;
var<private> nan_bits: u32 = 0x7fc00000u;
fn infinity() -> f32 { return bitcast<f32>(infinity_bits); }
fn not_a_number() -> f32 { return bitcast<f32>(nan_bits); }
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
var<workgroup> keys: array<vec4<f16>, 1152>;
var<workgroup> weights: array<vec4<f16>, 1152>;
var<workgroup> sight: array<vec4<f32>, 1152>;
var<workgroup> risen: u32;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 768u;
let real = group < 768u;
let work = min(group, 767u);
let part = work % 1u;
let start = (7u - (work / 1u) % 8u) * 64u;
let unit = work / 8u;
let batch = unit / 12u;
let head0 = unit % 12u;
let key_head = head0 / 1u;
let block = lane / 32u * 16u;
let team = block + lane % 32u / 8u;
let column = lane % 8u;
let row0 = team + 0u;
let query0 = min(start + row0, 511u);
var shift0 = (-infinity());
var sum0 = 0.0;
let row1 = team + 4u;
let query1 = min(start + row1, 511u);
var shift1 = (-infinity());
var sum1 = 0.0;
let row2 = team + 8u;
let query2 = min(start + row2, 511u);
var shift2 = (-infinity());
var sum2 = 0.0;
let row3 = team + 12u;
let query3 = min(start + row3, 511u);
var shift3 = (-infinity());
var sum3 = 0.0;
var o0_0 = coop_mat16x16<f32, C>();
var o0_1 = coop_mat16x16<f32, C>();
var o0_2 = coop_mat16x16<f32, C>();
var o0_3 = coop_mat16x16<f32, C>();
var held_1 = vec4<f16>();
var held_2 = vec4<f16>();
var held_3 = vec4<f16>();
var held_4 = vec4<f16>();
var held_5 = vec4<f16>();
var held_6 = vec4<f16>();
var held_7 = vec4<f16>();
var held_8 = vec4<f16>();
let i_9 = lane + 0u;
let row_10 = i_9 / 16u;
let c_11 = i_9 % 16u;
let row_12 = min(start + row_10, 511u);
let d_13 = c_11 * 4u;
let a_14 = batch * 393216u + head0 * 64u + row_12 * 768u + d_13;
let q_15 = r0[(a_14) / 4u + 0u];
held_1 = q_15;
let i_16 = lane + 128u;
let row_17 = i_16 / 16u;
let c_18 = i_16 % 16u;
let row_19 = min(start + row_17, 511u);
let d_20 = c_18 * 4u;
let a_21 = batch * 393216u + head0 * 64u + row_19 * 768u + d_20;
let q_22 = r0[(a_21) / 4u + 0u];
held_2 = q_22;
let i_23 = lane + 256u;
let row_24 = i_23 / 16u;
let c_25 = i_23 % 16u;
let row_26 = min(start + row_24, 511u);
let d_27 = c_25 * 4u;
let a_28 = batch * 393216u + head0 * 64u + row_26 * 768u + d_27;
let q_29 = r0[(a_28) / 4u + 0u];
held_3 = q_29;
let i_30 = lane + 384u;
let row_31 = i_30 / 16u;
let c_32 = i_30 % 16u;
let row_33 = min(start + row_31, 511u);
let d_34 = c_32 * 4u;
let a_35 = batch * 393216u + head0 * 64u + row_33 * 768u + d_34;
let q_36 = r0[(a_35) / 4u + 0u];
held_4 = q_36;
let i_37 = lane + 512u;
let row_38 = i_37 / 16u;
let c_39 = i_37 % 16u;
let row_40 = min(start + row_38, 511u);
let d_41 = c_39 * 4u;
let a_42 = batch * 393216u + head0 * 64u + row_40 * 768u + d_41;
let q_43 = r0[(a_42) / 4u + 0u];
held_5 = q_43;
let i_44 = lane + 640u;
let row_45 = i_44 / 16u;
let c_46 = i_44 % 16u;
let row_47 = min(start + row_45, 511u);
let d_48 = c_46 * 4u;
let a_49 = batch * 393216u + head0 * 64u + row_47 * 768u + d_48;
let q_50 = r0[(a_49) / 4u + 0u];
held_6 = q_50;
let i_51 = lane + 768u;
let row_52 = i_51 / 16u;
let c_53 = i_51 % 16u;
let row_54 = min(start + row_52, 511u);
let d_55 = c_53 * 4u;
let a_56 = batch * 393216u + head0 * 64u + row_54 * 768u + d_55;
let q_57 = r0[(a_56) / 4u + 0u];
held_7 = q_57;
let i_58 = lane + 896u;
let row_59 = i_58 / 16u;
let c_60 = i_58 % 16u;
let row_61 = min(start + row_59, 511u);
let d_62 = c_60 * 4u;
let a_63 = batch * 393216u + head0 * 64u + row_61 * 768u + d_62;
let q_64 = r0[(a_63) / 4u + 0u];
held_8 = q_64;
let i_65 = lane + 0u;
let row_66 = i_65 / 16u;
let c_67 = i_65 % 16u;
weights[row_66 * 18u + c_67] = held_1;
let i_68 = lane + 128u;
let row_69 = i_68 / 16u;
let c_70 = i_68 % 16u;
weights[row_69 * 18u + c_70] = held_2;
let i_71 = lane + 256u;
let row_72 = i_71 / 16u;
let c_73 = i_71 % 16u;
weights[row_72 * 18u + c_73] = held_3;
let i_74 = lane + 384u;
let row_75 = i_74 / 16u;
let c_76 = i_74 % 16u;
weights[row_75 * 18u + c_76] = held_4;
let i_77 = lane + 512u;
let row_78 = i_77 / 16u;
let c_79 = i_77 % 16u;
weights[row_78 * 18u + c_79] = held_5;
let i_80 = lane + 640u;
let row_81 = i_80 / 16u;
let c_82 = i_80 % 16u;
weights[row_81 * 18u + c_82] = held_6;
let i_83 = lane + 768u;
let row_84 = i_83 / 16u;
let c_85 = i_83 % 16u;
weights[row_84 * 18u + c_85] = held_7;
let i_86 = lane + 896u;
let row_87 = i_86 / 16u;
let c_88 = i_86 % 16u;
weights[row_87 * 18u + c_88] = held_8;
workgroupBarrier();
let q0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let q0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let q0_2 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let q0_3 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
var held_89 = vec4<f16>();
var held_90 = vec4<f16>();
var held_91 = vec4<f16>();
var held_92 = vec4<f16>();
var held_93 = vec4<f16>();
var held_94 = vec4<f16>();
var held_95 = vec4<f16>();
var held_96 = vec4<f16>();
var held_97 = vec4<f16>();
var held_98 = vec4<f16>();
var held_99 = vec4<f16>();
var held_100 = vec4<f16>();
var held_101 = vec4<f16>();
var held_102 = vec4<f16>();
var held_103 = vec4<f16>();
var held_104 = vec4<f16>();
let first = part * 512u;
let i_105 = lane + 0u;
let row_106 = i_105 / 16u;
let c_107 = i_105 % 16u;
let row_108 = min(first + row_106, 511u);
let d_109 = c_107 * 4u;
let a_110 = batch * 393216u + key_head * 64u + row_108 * 768u + d_109;
let q_111 = r1[(a_110) / 4u + 0u];
held_89 = q_111;
let i_112 = lane + 128u;
let row_113 = i_112 / 16u;
let c_114 = i_112 % 16u;
let row_115 = min(first + row_113, 511u);
let d_116 = c_114 * 4u;
let a_117 = batch * 393216u + key_head * 64u + row_115 * 768u + d_116;
let q_118 = r1[(a_117) / 4u + 0u];
held_90 = q_118;
let i_119 = lane + 256u;
let row_120 = i_119 / 16u;
let c_121 = i_119 % 16u;
let row_122 = min(first + row_120, 511u);
let d_123 = c_121 * 4u;
let a_124 = batch * 393216u + key_head * 64u + row_122 * 768u + d_123;
let q_125 = r1[(a_124) / 4u + 0u];
held_91 = q_125;
let i_126 = lane + 384u;
let row_127 = i_126 / 16u;
let c_128 = i_126 % 16u;
let row_129 = min(first + row_127, 511u);
let d_130 = c_128 * 4u;
let a_131 = batch * 393216u + key_head * 64u + row_129 * 768u + d_130;
let q_132 = r1[(a_131) / 4u + 0u];
held_92 = q_132;
let i_133 = lane + 512u;
let row_134 = i_133 / 16u;
let c_135 = i_133 % 16u;
let row_136 = min(first + row_134, 511u);
let d_137 = c_135 * 4u;
let a_138 = batch * 393216u + key_head * 64u + row_136 * 768u + d_137;
let q_139 = r1[(a_138) / 4u + 0u];
held_93 = q_139;
let i_140 = lane + 640u;
let row_141 = i_140 / 16u;
let c_142 = i_140 % 16u;
let row_143 = min(first + row_141, 511u);
let d_144 = c_142 * 4u;
let a_145 = batch * 393216u + key_head * 64u + row_143 * 768u + d_144;
let q_146 = r1[(a_145) / 4u + 0u];
held_94 = q_146;
let i_147 = lane + 768u;
let row_148 = i_147 / 16u;
let c_149 = i_147 % 16u;
let row_150 = min(first + row_148, 511u);
let d_151 = c_149 * 4u;
let a_152 = batch * 393216u + key_head * 64u + row_150 * 768u + d_151;
let q_153 = r1[(a_152) / 4u + 0u];
held_95 = q_153;
let i_154 = lane + 896u;
let row_155 = i_154 / 16u;
let c_156 = i_154 % 16u;
let row_157 = min(first + row_155, 511u);
let d_158 = c_156 * 4u;
let a_159 = batch * 393216u + key_head * 64u + row_157 * 768u + d_158;
let q_160 = r1[(a_159) / 4u + 0u];
held_96 = q_160;
let until = min(min(512u, start + 64u), (part + 1u) * 512u);
for (var keys_at = part * 512u; keys_at < until; keys_at += 64u) {
workgroupBarrier();
let i_161 = lane + 0u;
let row_162 = i_161 / 16u;
let c_163 = i_161 % 16u;
keys[row_162 * 18u + c_163] = held_89;
let i_164 = lane + 128u;
let row_165 = i_164 / 16u;
let c_166 = i_164 % 16u;
keys[row_165 * 18u + c_166] = held_90;
let i_167 = lane + 256u;
let row_168 = i_167 / 16u;
let c_169 = i_167 % 16u;
keys[row_168 * 18u + c_169] = held_91;
let i_170 = lane + 384u;
let row_171 = i_170 / 16u;
let c_172 = i_170 % 16u;
keys[row_171 * 18u + c_172] = held_92;
let i_173 = lane + 512u;
let row_174 = i_173 / 16u;
let c_175 = i_173 % 16u;
keys[row_174 * 18u + c_175] = held_93;
let i_176 = lane + 640u;
let row_177 = i_176 / 16u;
let c_178 = i_176 % 16u;
keys[row_177 * 18u + c_178] = held_94;
let i_179 = lane + 768u;
let row_180 = i_179 / 16u;
let c_181 = i_179 % 16u;
keys[row_180 * 18u + c_181] = held_95;
let i_182 = lane + 896u;
let row_183 = i_182 / 16u;
let c_184 = i_182 % 16u;
keys[row_183 * 18u + c_184] = held_96;
if (lane == 0u) { risen = 0u; }
workgroupBarrier();
let i_185 = lane + 0u;
let row_186 = i_185 / 16u;
let c_187 = i_185 % 16u;
let row_188 = min(keys_at + row_186, 511u);
let d_189 = c_187 * 4u;
let a_190 = batch * 393216u + key_head * 64u + row_188 * 768u + d_189;
let q_191 = r2[(a_190) / 4u + 0u];
held_97 = q_191;
let i_192 = lane + 128u;
let row_193 = i_192 / 16u;
let c_194 = i_192 % 16u;
let row_195 = min(keys_at + row_193, 511u);
let d_196 = c_194 * 4u;
let a_197 = batch * 393216u + key_head * 64u + row_195 * 768u + d_196;
let q_198 = r2[(a_197) / 4u + 0u];
held_98 = q_198;
let i_199 = lane + 256u;
let row_200 = i_199 / 16u;
let c_201 = i_199 % 16u;
let row_202 = min(keys_at + row_200, 511u);
let d_203 = c_201 * 4u;
let a_204 = batch * 393216u + key_head * 64u + row_202 * 768u + d_203;
let q_205 = r2[(a_204) / 4u + 0u];
held_99 = q_205;
let i_206 = lane + 384u;
let row_207 = i_206 / 16u;
let c_208 = i_206 % 16u;
let row_209 = min(keys_at + row_207, 511u);
let d_210 = c_208 * 4u;
let a_211 = batch * 393216u + key_head * 64u + row_209 * 768u + d_210;
let q_212 = r2[(a_211) / 4u + 0u];
held_100 = q_212;
let i_213 = lane + 512u;
let row_214 = i_213 / 16u;
let c_215 = i_213 % 16u;
let row_216 = min(keys_at + row_214, 511u);
let d_217 = c_215 * 4u;
let a_218 = batch * 393216u + key_head * 64u + row_216 * 768u + d_217;
let q_219 = r2[(a_218) / 4u + 0u];
held_101 = q_219;
let i_220 = lane + 640u;
let row_221 = i_220 / 16u;
let c_222 = i_220 % 16u;
let row_223 = min(keys_at + row_221, 511u);
let d_224 = c_222 * 4u;
let a_225 = batch * 393216u + key_head * 64u + row_223 * 768u + d_224;
let q_226 = r2[(a_225) / 4u + 0u];
held_102 = q_226;
let i_227 = lane + 768u;
let row_228 = i_227 / 16u;
let c_229 = i_227 % 16u;
let row_230 = min(keys_at + row_228, 511u);
let d_231 = c_229 * 4u;
let a_232 = batch * 393216u + key_head * 64u + row_230 * 768u + d_231;
let q_233 = r2[(a_232) / 4u + 0u];
held_103 = q_233;
let i_234 = lane + 896u;
let row_235 = i_234 / 16u;
let c_236 = i_234 % 16u;
let row_237 = min(keys_at + row_235, 511u);
let d_238 = c_236 * 4u;
let a_239 = batch * 393216u + key_head * 64u + row_237 * 768u + d_238;
let q_240 = r2[(a_239) / 4u + 0u];
held_104 = q_240;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
var s0_2 = coop_mat16x16<f32, C>();
var s0_3 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(0u) / 4u], 18u);
s0_0 = coopMultiplyAdd(q0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1152u) / 4u], 18u);
s0_1 = coopMultiplyAdd(q0_0, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(2304u) / 4u], 18u);
s0_2 = coopMultiplyAdd(q0_0, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(3456u) / 4u], 18u);
s0_3 = coopMultiplyAdd(q0_0, b3, s0_3);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(16u) / 4u], 18u);
s0_0 = coopMultiplyAdd(q0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1168u) / 4u], 18u);
s0_1 = coopMultiplyAdd(q0_1, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(2320u) / 4u], 18u);
s0_2 = coopMultiplyAdd(q0_1, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(3472u) / 4u], 18u);
s0_3 = coopMultiplyAdd(q0_1, b3, s0_3);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(32u) / 4u], 18u);
s0_0 = coopMultiplyAdd(q0_2, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1184u) / 4u], 18u);
s0_1 = coopMultiplyAdd(q0_2, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(2336u) / 4u], 18u);
s0_2 = coopMultiplyAdd(q0_2, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(3488u) / 4u], 18u);
s0_3 = coopMultiplyAdd(q0_2, b3, s0_3);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(48u) / 4u], 18u);
s0_0 = coopMultiplyAdd(q0_3, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1200u) / 4u], 18u);
s0_1 = coopMultiplyAdd(q0_3, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(2352u) / 4u], 18u);
s0_2 = coopMultiplyAdd(q0_3, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(3504u) / 4u], 18u);
s0_3 = coopMultiplyAdd(q0_3, b3, s0_3);
}
coopStoreT(s0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(s0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
coopStoreT(s0_2, &sight[((block + 0u) * 72u + 32u) / 4u], 18u);
coopStoreT(s0_3, &sight[((block + 0u) * 72u + 48u) / 4u], 18u);
}
workgroupBarrier();
let key0 = keys_at + (column + 0u) * 4u;
let key1 = keys_at + (column + 8u) * 4u;
var x0_0 = sight[row0 * 18u + (column + 0u)] * (1.25e-1f);
var x0_1 = sight[row0 * 18u + (column + 8u)] * (1.25e-1f);
var x1_0 = sight[row1 * 18u + (column + 0u)] * (1.25e-1f);
var x1_1 = sight[row1 * 18u + (column + 8u)] * (1.25e-1f);
var x2_0 = sight[row2 * 18u + (column + 0u)] * (1.25e-1f);
var x2_1 = sight[row2 * 18u + (column + 8u)] * (1.25e-1f);
var x3_0 = sight[row3 * 18u + (column + 0u)] * (1.25e-1f);
var x3_1 = sight[row3 * 18u + (column + 8u)] * (1.25e-1f);
if (keys_at + 63u > start) {
{
let each = vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u);
x0_0 = select(x0_0, vec4<f32>((-infinity())), (each > vec4<u32>(query0)));
x1_0 = select(x1_0, vec4<f32>((-infinity())), (each > vec4<u32>(query1)));
x2_0 = select(x2_0, vec4<f32>((-infinity())), (each > vec4<u32>(query2)));
x3_0 = select(x3_0, vec4<f32>((-infinity())), (each > vec4<u32>(query3)));
}
{
let each = vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u);
x0_1 = select(x0_1, vec4<f32>((-infinity())), (each > vec4<u32>(query0)));
x1_1 = select(x1_1, vec4<f32>((-infinity())), (each > vec4<u32>(query1)));
x2_1 = select(x2_1, vec4<f32>((-infinity())), (each > vec4<u32>(query2)));
x3_1 = select(x3_1, vec4<f32>((-infinity())), (each > vec4<u32>(query3)));
}
}
var top0 = max(max(max(max(max(max(max(x0_0.x, x0_0.y), x0_0.z), x0_0.w), x0_1.x), x0_1.y), x0_1.z), x0_1.w);
let o_241 = subgroupShuffleXor(top0, 4u);
top0 = max(top0, o_241);
let o_242 = subgroupShuffleXor(top0, 2u);
top0 = max(top0, o_242);
let o_243 = subgroupShuffleXor(top0, 1u);
top0 = max(top0, o_243);
let far0 = top0 > shift0 + 8.0;
if (far0 && !(bitcast<u32>(shift0) == 0xff800000u)) { risen = 1u; }
let fade0 = select(1.0, exp(shift0 - top0), far0);
shift0 = select(shift0, top0, far0);
let base0 = select(shift0, 0.0, (bitcast<u32>(shift0) == 0xff800000u));
x0_0 = exp(x0_0 - vec4<f32>(base0));
weights[row0 * 18u + (column + 0u)] = vec4<f16>(x0_0);
x0_1 = exp(x0_1 - vec4<f32>(base0));
weights[row0 * 18u + (column + 8u)] = vec4<f16>(x0_1);
sum0 = sum0 * fade0 + x0_0.x + x0_0.y + x0_0.z + x0_0.w + x0_1.x + x0_1.y + x0_1.z + x0_1.w;
var top1 = max(max(max(max(max(max(max(x1_0.x, x1_0.y), x1_0.z), x1_0.w), x1_1.x), x1_1.y), x1_1.z), x1_1.w);
let o_244 = subgroupShuffleXor(top1, 4u);
top1 = max(top1, o_244);
let o_245 = subgroupShuffleXor(top1, 2u);
top1 = max(top1, o_245);
let o_246 = subgroupShuffleXor(top1, 1u);
top1 = max(top1, o_246);
let far1 = top1 > shift1 + 8.0;
if (far1 && !(bitcast<u32>(shift1) == 0xff800000u)) { risen = 1u; }
let fade1 = select(1.0, exp(shift1 - top1), far1);
shift1 = select(shift1, top1, far1);
let base1 = select(shift1, 0.0, (bitcast<u32>(shift1) == 0xff800000u));
x1_0 = exp(x1_0 - vec4<f32>(base1));
weights[row1 * 18u + (column + 0u)] = vec4<f16>(x1_0);
x1_1 = exp(x1_1 - vec4<f32>(base1));
weights[row1 * 18u + (column + 8u)] = vec4<f16>(x1_1);
sum1 = sum1 * fade1 + x1_0.x + x1_0.y + x1_0.z + x1_0.w + x1_1.x + x1_1.y + x1_1.z + x1_1.w;
var top2 = max(max(max(max(max(max(max(x2_0.x, x2_0.y), x2_0.z), x2_0.w), x2_1.x), x2_1.y), x2_1.z), x2_1.w);
let o_247 = subgroupShuffleXor(top2, 4u);
top2 = max(top2, o_247);
let o_248 = subgroupShuffleXor(top2, 2u);
top2 = max(top2, o_248);
let o_249 = subgroupShuffleXor(top2, 1u);
top2 = max(top2, o_249);
let far2 = top2 > shift2 + 8.0;
if (far2 && !(bitcast<u32>(shift2) == 0xff800000u)) { risen = 1u; }
let fade2 = select(1.0, exp(shift2 - top2), far2);
shift2 = select(shift2, top2, far2);
let base2 = select(shift2, 0.0, (bitcast<u32>(shift2) == 0xff800000u));
x2_0 = exp(x2_0 - vec4<f32>(base2));
weights[row2 * 18u + (column + 0u)] = vec4<f16>(x2_0);
x2_1 = exp(x2_1 - vec4<f32>(base2));
weights[row2 * 18u + (column + 8u)] = vec4<f16>(x2_1);
sum2 = sum2 * fade2 + x2_0.x + x2_0.y + x2_0.z + x2_0.w + x2_1.x + x2_1.y + x2_1.z + x2_1.w;
var top3 = max(max(max(max(max(max(max(x3_0.x, x3_0.y), x3_0.z), x3_0.w), x3_1.x), x3_1.y), x3_1.z), x3_1.w);
let o_250 = subgroupShuffleXor(top3, 4u);
top3 = max(top3, o_250);
let o_251 = subgroupShuffleXor(top3, 2u);
top3 = max(top3, o_251);
let o_252 = subgroupShuffleXor(top3, 1u);
top3 = max(top3, o_252);
let far3 = top3 > shift3 + 8.0;
if (far3 && !(bitcast<u32>(shift3) == 0xff800000u)) { risen = 1u; }
let fade3 = select(1.0, exp(shift3 - top3), far3);
shift3 = select(shift3, top3, far3);
let base3 = select(shift3, 0.0, (bitcast<u32>(shift3) == 0xff800000u));
x3_0 = exp(x3_0 - vec4<f32>(base3));
weights[row3 * 18u + (column + 0u)] = vec4<f16>(x3_0);
x3_1 = exp(x3_1 - vec4<f32>(base3));
weights[row3 * 18u + (column + 8u)] = vec4<f16>(x3_1);
sum3 = sum3 * fade3 + x3_0.x + x3_0.y + x3_0.z + x3_0.w + x3_1.x + x3_1.y + x3_1.z + x3_1.w;
let i_253 = lane + 0u;
let row_254 = i_253 / 16u;
let c_255 = i_253 % 16u;
keys[row_254 * 18u + c_255] = held_97;
let i_256 = lane + 128u;
let row_257 = i_256 / 16u;
let c_258 = i_256 % 16u;
keys[row_257 * 18u + c_258] = held_98;
let i_259 = lane + 256u;
let row_260 = i_259 / 16u;
let c_261 = i_259 % 16u;
keys[row_260 * 18u + c_261] = held_99;
let i_262 = lane + 384u;
let row_263 = i_262 / 16u;
let c_264 = i_262 % 16u;
keys[row_263 * 18u + c_264] = held_100;
let i_265 = lane + 512u;
let row_266 = i_265 / 16u;
let c_267 = i_265 % 16u;
keys[row_266 * 18u + c_267] = held_101;
let i_268 = lane + 640u;
let row_269 = i_268 / 16u;
let c_270 = i_268 % 16u;
keys[row_269 * 18u + c_270] = held_102;
let i_271 = lane + 768u;
let row_272 = i_271 / 16u;
let c_273 = i_271 % 16u;
keys[row_272 * 18u + c_273] = held_103;
let i_274 = lane + 896u;
let row_275 = i_274 / 16u;
let c_276 = i_274 % 16u;
keys[row_275 * 18u + c_276] = held_104;
let corrected = workgroupUniformLoad(&risen);
if (corrected != 0u) {
coopStoreT(o0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(o0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
coopStoreT(o0_2, &sight[((block + 0u) * 72u + 32u) / 4u], 18u);
coopStoreT(o0_3, &sight[((block + 0u) * 72u + 48u) / 4u], 18u);
workgroupBarrier();
sight[row0 * 18u + (column + 0u)] = sight[row0 * 18u + (column + 0u)] * fade0;
sight[row0 * 18u + (column + 8u)] = sight[row0 * 18u + (column + 8u)] * fade0;
sight[row1 * 18u + (column + 0u)] = sight[row1 * 18u + (column + 0u)] * fade1;
sight[row1 * 18u + (column + 8u)] = sight[row1 * 18u + (column + 8u)] * fade1;
sight[row2 * 18u + (column + 0u)] = sight[row2 * 18u + (column + 0u)] * fade2;
sight[row2 * 18u + (column + 8u)] = sight[row2 * 18u + (column + 8u)] * fade2;
sight[row3 * 18u + (column + 0u)] = sight[row3 * 18u + (column + 0u)] * fade3;
sight[row3 * 18u + (column + 8u)] = sight[row3 * 18u + (column + 8u)] * fade3;
workgroupBarrier();
o0_0 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 0u) / 4u], 18u);
o0_1 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 16u) / 4u], 18u);
o0_2 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 32u) / 4u], 18u);
o0_3 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 48u) / 4u], 18u);
}
let next = keys_at + 64u;
let i_277 = lane + 0u;
let row_278 = i_277 / 16u;
let c_279 = i_277 % 16u;
let row_280 = min(next + row_278, 511u);
let d_281 = c_279 * 4u;
let a_282 = batch * 393216u + key_head * 64u + row_280 * 768u + d_281;
let q_283 = r1[(a_282) / 4u + 0u];
held_89 = q_283;
let i_284 = lane + 128u;
let row_285 = i_284 / 16u;
let c_286 = i_284 % 16u;
let row_287 = min(next + row_285, 511u);
let d_288 = c_286 * 4u;
let a_289 = batch * 393216u + key_head * 64u + row_287 * 768u + d_288;
let q_290 = r1[(a_289) / 4u + 0u];
held_90 = q_290;
let i_291 = lane + 256u;
let row_292 = i_291 / 16u;
let c_293 = i_291 % 16u;
let row_294 = min(next + row_292, 511u);
let d_295 = c_293 * 4u;
let a_296 = batch * 393216u + key_head * 64u + row_294 * 768u + d_295;
let q_297 = r1[(a_296) / 4u + 0u];
held_91 = q_297;
let i_298 = lane + 384u;
let row_299 = i_298 / 16u;
let c_300 = i_298 % 16u;
let row_301 = min(next + row_299, 511u);
let d_302 = c_300 * 4u;
let a_303 = batch * 393216u + key_head * 64u + row_301 * 768u + d_302;
let q_304 = r1[(a_303) / 4u + 0u];
held_92 = q_304;
let i_305 = lane + 512u;
let row_306 = i_305 / 16u;
let c_307 = i_305 % 16u;
let row_308 = min(next + row_306, 511u);
let d_309 = c_307 * 4u;
let a_310 = batch * 393216u + key_head * 64u + row_308 * 768u + d_309;
let q_311 = r1[(a_310) / 4u + 0u];
held_93 = q_311;
let i_312 = lane + 640u;
let row_313 = i_312 / 16u;
let c_314 = i_312 % 16u;
let row_315 = min(next + row_313, 511u);
let d_316 = c_314 * 4u;
let a_317 = batch * 393216u + key_head * 64u + row_315 * 768u + d_316;
let q_318 = r1[(a_317) / 4u + 0u];
held_94 = q_318;
let i_319 = lane + 768u;
let row_320 = i_319 / 16u;
let c_321 = i_319 % 16u;
let row_322 = min(next + row_320, 511u);
let d_323 = c_321 * 4u;
let a_324 = batch * 393216u + key_head * 64u + row_322 * 768u + d_323;
let q_325 = r1[(a_324) / 4u + 0u];
held_95 = q_325;
let i_326 = lane + 896u;
let row_327 = i_326 / 16u;
let c_328 = i_326 % 16u;
let row_329 = min(next + row_327, 511u);
let d_330 = c_328 * 4u;
let a_331 = batch * 393216u + key_head * 64u + row_329 * 768u + d_330;
let q_332 = r1[(a_331) / 4u + 0u];
held_96 = q_332;
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(0u) / 4u], 18u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(16u) / 4u], 18u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(32u) / 4u], 18u);
o0_2 = coopMultiplyAdd(a0, b2, o0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(48u) / 4u], 18u);
o0_3 = coopMultiplyAdd(a0, b3, o0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1152u) / 4u], 18u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1168u) / 4u], 18u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1184u) / 4u], 18u);
o0_2 = coopMultiplyAdd(a0, b2, o0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1200u) / 4u], 18u);
o0_3 = coopMultiplyAdd(a0, b3, o0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(2304u) / 4u], 18u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(2320u) / 4u], 18u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(2336u) / 4u], 18u);
o0_2 = coopMultiplyAdd(a0, b2, o0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(2352u) / 4u], 18u);
o0_3 = coopMultiplyAdd(a0, b3, o0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(3456u) / 4u], 18u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(3472u) / 4u], 18u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(3488u) / 4u], 18u);
o0_2 = coopMultiplyAdd(a0, b2, o0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(3504u) / 4u], 18u);
o0_3 = coopMultiplyAdd(a0, b3, o0_3);
}
}
let o_333 = subgroupShuffleXor(sum0, 4u);
sum0 += o_333;
let o_334 = subgroupShuffleXor(sum0, 2u);
sum0 += o_334;
let o_335 = subgroupShuffleXor(sum0, 1u);
sum0 += o_335;
let seen0 = sum0 != 0.0;
let share0 = select(0.0, 1.0 / sum0, seen0);
let stored0 = real && start + row0 < 512u;
let o_336 = subgroupShuffleXor(sum1, 4u);
sum1 += o_336;
let o_337 = subgroupShuffleXor(sum1, 2u);
sum1 += o_337;
let o_338 = subgroupShuffleXor(sum1, 1u);
sum1 += o_338;
let seen1 = sum1 != 0.0;
let share1 = select(0.0, 1.0 / sum1, seen1);
let stored1 = real && start + row1 < 512u;
let o_339 = subgroupShuffleXor(sum2, 4u);
sum2 += o_339;
let o_340 = subgroupShuffleXor(sum2, 2u);
sum2 += o_340;
let o_341 = subgroupShuffleXor(sum2, 1u);
sum2 += o_341;
let seen2 = sum2 != 0.0;
let share2 = select(0.0, 1.0 / sum2, seen2);
let stored2 = real && start + row2 < 512u;
let o_342 = subgroupShuffleXor(sum3, 4u);
sum3 += o_342;
let o_343 = subgroupShuffleXor(sum3, 2u);
sum3 += o_343;
let o_344 = subgroupShuffleXor(sum3, 1u);
sum3 += o_344;
let seen3 = sum3 != 0.0;
let share3 = select(0.0, 1.0 / sum3, seen3);
let stored3 = real && start + row3 < 512u;
workgroupBarrier();
coopStoreT(o0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(o0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
coopStoreT(o0_2, &sight[((block + 0u) * 72u + 32u) / 4u], 18u);
coopStoreT(o0_3, &sight[((block + 0u) * 72u + 48u) / 4u], 18u);
workgroupBarrier();
if (stored0 && ((column + 0u) + 0u) < 16u) {
let x_345 = sight[row0 * 18u + (column + 0u)] * share0;
let a_346 = ((batch * 512u + query0) * 12u + head0) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_346) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_345.x, x_345.y), pack_half(x_345.z, x_345.w));
}
if (stored0 && ((column + 8u) + 0u) < 16u) {
let x_347 = sight[row0 * 18u + (column + 8u)] * share0;
let a_348 = ((batch * 512u + query0) * 12u + head0) * 64u + (((column + 8u) + 0u)) * 4u;
w1[((a_348) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_347.x, x_347.y), pack_half(x_347.z, x_347.w));
}
if (stored1 && ((column + 0u) + 0u) < 16u) {
let x_349 = sight[row1 * 18u + (column + 0u)] * share1;
let a_350 = ((batch * 512u + query1) * 12u + head0) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_350) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_349.x, x_349.y), pack_half(x_349.z, x_349.w));
}
if (stored1 && ((column + 8u) + 0u) < 16u) {
let x_351 = sight[row1 * 18u + (column + 8u)] * share1;
let a_352 = ((batch * 512u + query1) * 12u + head0) * 64u + (((column + 8u) + 0u)) * 4u;
w1[((a_352) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_351.x, x_351.y), pack_half(x_351.z, x_351.w));
}
if (stored2 && ((column + 0u) + 0u) < 16u) {
let x_353 = sight[row2 * 18u + (column + 0u)] * share2;
let a_354 = ((batch * 512u + query2) * 12u + head0) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_354) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_353.x, x_353.y), pack_half(x_353.z, x_353.w));
}
if (stored2 && ((column + 8u) + 0u) < 16u) {
let x_355 = sight[row2 * 18u + (column + 8u)] * share2;
let a_356 = ((batch * 512u + query2) * 12u + head0) * 64u + (((column + 8u) + 0u)) * 4u;
w1[((a_356) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_355.x, x_355.y), pack_half(x_355.z, x_355.w));
}
if (stored3 && ((column + 0u) + 0u) < 16u) {
let x_357 = sight[row3 * 18u + (column + 0u)] * share3;
let a_358 = ((batch * 512u + query3) * 12u + head0) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_358) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_357.x, x_357.y), pack_half(x_357.z, x_357.w));
}
if (stored3 && ((column + 8u) + 0u) < 16u) {
let x_359 = sight[row3 * 18u + (column + 8u)] * share3;
let a_360 = ((batch * 512u + query3) * 12u + head0) * 64u + (((column + 8u) + 0u)) * 4u;
w1[((a_360) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_359.x, x_359.y), pack_half(x_359.z, x_359.w));
}
if (stored0 && column == 0u) {
let lse = select((-infinity()), shift0 + log(sum0), seen0);
w0[(batch * 12u + head0) * 512u + query0 + 0u] = bitcast<u32>(lse);
}
if (stored1 && column == 0u) {
let lse = select((-infinity()), shift1 + log(sum1), seen1);
w0[(batch * 12u + head0) * 512u + query1 + 0u] = bitcast<u32>(lse);
}
if (stored2 && column == 0u) {
let lse = select((-infinity()), shift2 + log(sum2), seen2);
w0[(batch * 12u + head0) * 512u + query2 + 0u] = bitcast<u32>(lse);
}
if (stored3 && column == 0u) {
let lse = select((-infinity()), shift3 + log(sum3), seen3);
w0[(batch * 12u + head0) * 512u + query3 + 0u] = bitcast<u32>(lse);
}
}

// attention_grad_q_attention_grad_k_attention_grad_v f16 8x512x12x64: [3072, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r3: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> r5: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> r4: array<u32>;
@group(0) @binding(3) var<storage, read_write> s0: array<u32>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 3072u;
let wanted = group * 16u + lane / 8u;
let row = min(wanted, 49151u);
let c_1 = (row % 512u);
let n_2 = row / 512u;
let c_3 = (n_2 % 12u);
let n_4 = n_2 / 12u;
var sum = 0.0;
for (var c = lane % 8u; c < 16u; c += 8u) {
let d_5 = (c) * 4u;
let a_6 = n_4 * 393216u + c_3 * 64u + c_1 * 768u + d_5;
let q_7 = r3[((a_6) / 2u) / 2u + 0u];
let u_8 = q_7.x;
let u_9 = q_7.y;
let x_10 = vec4<f32>(unpack2x16float(u_8).x, unpack2x16float(u_8).y, unpack2x16float(u_9).x, unpack2x16float(u_9).y);
let d_11 = (c) * 4u;
let a_12 = n_4 * 393216u + c_3 * 64u + c_1 * 768u + d_11;
let q_13 = r5[((a_12) / 2u) / 2u + 0u];
let u_14 = q_13.x;
let u_15 = q_13.y;
let x_16 = vec4<f32>(unpack2x16float(u_14).x, unpack2x16float(u_14).y, unpack2x16float(u_15).x, unpack2x16float(u_15).y);
sum += dot(x_10, x_16);
}
var x_17 = sum;
let o_18 = subgroupShuffleXor(x_17, 4u);
x_17 = (x_17 + o_18);
let o_19 = subgroupShuffleXor(x_17, 2u);
x_17 = (x_17 + o_19);
let o_20 = subgroupShuffleXor(x_17, 1u);
x_17 = (x_17 + o_20);
if (wanted < 49152u && lane % 8u == 0u) {
let a_21 = n_4 * 6144u + c_3 * 512u + c_1;
let lse = bitcast<f32>(r4[a_21 + 0u]);
let at = row / 512u * 512u + row % 512u;
s0[at + 0u] = bitcast<u32>(select(lse, 0.0, bitcast<u32>(lse) == 0xff800000u));
s0[(at + 49152u) + 0u] = bitcast<u32>(x_17);
}
}

// attention_grad_q_attention_grad_k_attention_grad_v f16 8x512x12x64: [1536, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> r2: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> r5: array<vec4<f16>>;
@group(0) @binding(4) var<storage, read_write> s0: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> w2: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> w1: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> w0: array<vec2<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
var<workgroup> passing0: array<vec4<f16>, 576>;
var<workgroup> passing1: array<vec4<f16>, 576>;
var<workgroup> weights: array<vec4<f16>, 1152>;
var<workgroup> slopes: array<vec4<f16>, 640>;
var<workgroup> scores: array<vec4<f32>, 640>;
var<workgroup> dots: array<vec4<f32>, 640>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1536u;
let block = lane / 32u * 16u;
let team = block + lane % 32u / 8u;
let column = lane % 8u;
let at_work = min(group, 1535u);
if (at_work < 768u) {
let work = at_work - 0u;
let unit = work % 96u;
let start = work / 96u * 64u;
let batch = unit / 12u;
let key_head = unit % 12u;
let row0 = team + 0u;
let safe0 = min(start + row0, 511u);
let row1 = team + 4u;
let safe1 = min(start + row1, 511u);
let row2 = team + 8u;
let safe2 = min(start + row2, 511u);
let row3 = team + 12u;
let safe3 = min(start + row3, 511u);
var held_1 = vec4<f16>();
var held_2 = vec4<f16>();
var held_3 = vec4<f16>();
var held_4 = vec4<f16>();
var held_5 = vec4<f16>();
var held_6 = vec4<f16>();
var held_7 = vec4<f16>();
var held_8 = vec4<f16>();
let i_9 = lane + 0u;
let row_10 = i_9 / 16u;
let c_11 = i_9 % 16u;
let row_12 = min(start + row_10, 511u);
let d_13 = c_11 * 4u;
let a_14 = batch * 393216u + key_head * 64u + row_12 * 768u + d_13;
let q_15 = r1[(a_14) / 4u + 0u];
held_1 = q_15;
let i_16 = lane + 128u;
let row_17 = i_16 / 16u;
let c_18 = i_16 % 16u;
let row_19 = min(start + row_17, 511u);
let d_20 = c_18 * 4u;
let a_21 = batch * 393216u + key_head * 64u + row_19 * 768u + d_20;
let q_22 = r1[(a_21) / 4u + 0u];
held_2 = q_22;
let i_23 = lane + 256u;
let row_24 = i_23 / 16u;
let c_25 = i_23 % 16u;
let row_26 = min(start + row_24, 511u);
let d_27 = c_25 * 4u;
let a_28 = batch * 393216u + key_head * 64u + row_26 * 768u + d_27;
let q_29 = r1[(a_28) / 4u + 0u];
held_3 = q_29;
let i_30 = lane + 384u;
let row_31 = i_30 / 16u;
let c_32 = i_30 % 16u;
let row_33 = min(start + row_31, 511u);
let d_34 = c_32 * 4u;
let a_35 = batch * 393216u + key_head * 64u + row_33 * 768u + d_34;
let q_36 = r1[(a_35) / 4u + 0u];
held_4 = q_36;
let i_37 = lane + 512u;
let row_38 = i_37 / 16u;
let c_39 = i_37 % 16u;
let row_40 = min(start + row_38, 511u);
let d_41 = c_39 * 4u;
let a_42 = batch * 393216u + key_head * 64u + row_40 * 768u + d_41;
let q_43 = r1[(a_42) / 4u + 0u];
held_5 = q_43;
let i_44 = lane + 640u;
let row_45 = i_44 / 16u;
let c_46 = i_44 % 16u;
let row_47 = min(start + row_45, 511u);
let d_48 = c_46 * 4u;
let a_49 = batch * 393216u + key_head * 64u + row_47 * 768u + d_48;
let q_50 = r1[(a_49) / 4u + 0u];
held_6 = q_50;
let i_51 = lane + 768u;
let row_52 = i_51 / 16u;
let c_53 = i_51 % 16u;
let row_54 = min(start + row_52, 511u);
let d_55 = c_53 * 4u;
let a_56 = batch * 393216u + key_head * 64u + row_54 * 768u + d_55;
let q_57 = r1[(a_56) / 4u + 0u];
held_7 = q_57;
let i_58 = lane + 896u;
let row_59 = i_58 / 16u;
let c_60 = i_58 % 16u;
let row_61 = min(start + row_59, 511u);
let d_62 = c_60 * 4u;
let a_63 = batch * 393216u + key_head * 64u + row_61 * 768u + d_62;
let q_64 = r1[(a_63) / 4u + 0u];
held_8 = q_64;
workgroupBarrier();
let i_65 = lane + 0u;
let row_66 = i_65 / 16u;
let c_67 = i_65 % 16u;
weights[row_66 * 18u + c_67] = held_1;
let i_68 = lane + 128u;
let row_69 = i_68 / 16u;
let c_70 = i_68 % 16u;
weights[row_69 * 18u + c_70] = held_2;
let i_71 = lane + 256u;
let row_72 = i_71 / 16u;
let c_73 = i_71 % 16u;
weights[row_72 * 18u + c_73] = held_3;
let i_74 = lane + 384u;
let row_75 = i_74 / 16u;
let c_76 = i_74 % 16u;
weights[row_75 * 18u + c_76] = held_4;
let i_77 = lane + 512u;
let row_78 = i_77 / 16u;
let c_79 = i_77 % 16u;
weights[row_78 * 18u + c_79] = held_5;
let i_80 = lane + 640u;
let row_81 = i_80 / 16u;
let c_82 = i_80 % 16u;
weights[row_81 * 18u + c_82] = held_6;
let i_83 = lane + 768u;
let row_84 = i_83 / 16u;
let c_85 = i_83 % 16u;
weights[row_84 * 18u + c_85] = held_7;
let i_86 = lane + 896u;
let row_87 = i_86 / 16u;
let c_88 = i_86 % 16u;
weights[row_87 * 18u + c_88] = held_8;
workgroupBarrier();
let x0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let x0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let x0_2 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let x0_3 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
var held_89 = vec4<f16>();
var held_90 = vec4<f16>();
var held_91 = vec4<f16>();
var held_92 = vec4<f16>();
var held_93 = vec4<f16>();
var held_94 = vec4<f16>();
var held_95 = vec4<f16>();
var held_96 = vec4<f16>();
let i_97 = lane + 0u;
let row_98 = i_97 / 16u;
let c_99 = i_97 % 16u;
let row_100 = min(start + row_98, 511u);
let d_101 = c_99 * 4u;
let a_102 = batch * 393216u + key_head * 64u + row_100 * 768u + d_101;
let q_103 = r2[(a_102) / 4u + 0u];
held_89 = q_103;
let i_104 = lane + 128u;
let row_105 = i_104 / 16u;
let c_106 = i_104 % 16u;
let row_107 = min(start + row_105, 511u);
let d_108 = c_106 * 4u;
let a_109 = batch * 393216u + key_head * 64u + row_107 * 768u + d_108;
let q_110 = r2[(a_109) / 4u + 0u];
held_90 = q_110;
let i_111 = lane + 256u;
let row_112 = i_111 / 16u;
let c_113 = i_111 % 16u;
let row_114 = min(start + row_112, 511u);
let d_115 = c_113 * 4u;
let a_116 = batch * 393216u + key_head * 64u + row_114 * 768u + d_115;
let q_117 = r2[(a_116) / 4u + 0u];
held_91 = q_117;
let i_118 = lane + 384u;
let row_119 = i_118 / 16u;
let c_120 = i_118 % 16u;
let row_121 = min(start + row_119, 511u);
let d_122 = c_120 * 4u;
let a_123 = batch * 393216u + key_head * 64u + row_121 * 768u + d_122;
let q_124 = r2[(a_123) / 4u + 0u];
held_92 = q_124;
let i_125 = lane + 512u;
let row_126 = i_125 / 16u;
let c_127 = i_125 % 16u;
let row_128 = min(start + row_126, 511u);
let d_129 = c_127 * 4u;
let a_130 = batch * 393216u + key_head * 64u + row_128 * 768u + d_129;
let q_131 = r2[(a_130) / 4u + 0u];
held_93 = q_131;
let i_132 = lane + 640u;
let row_133 = i_132 / 16u;
let c_134 = i_132 % 16u;
let row_135 = min(start + row_133, 511u);
let d_136 = c_134 * 4u;
let a_137 = batch * 393216u + key_head * 64u + row_135 * 768u + d_136;
let q_138 = r2[(a_137) / 4u + 0u];
held_94 = q_138;
let i_139 = lane + 768u;
let row_140 = i_139 / 16u;
let c_141 = i_139 % 16u;
let row_142 = min(start + row_140, 511u);
let d_143 = c_141 * 4u;
let a_144 = batch * 393216u + key_head * 64u + row_142 * 768u + d_143;
let q_145 = r2[(a_144) / 4u + 0u];
held_95 = q_145;
let i_146 = lane + 896u;
let row_147 = i_146 / 16u;
let c_148 = i_146 % 16u;
let row_149 = min(start + row_147, 511u);
let d_150 = c_148 * 4u;
let a_151 = batch * 393216u + key_head * 64u + row_149 * 768u + d_150;
let q_152 = r2[(a_151) / 4u + 0u];
held_96 = q_152;
workgroupBarrier();
let i_153 = lane + 0u;
let row_154 = i_153 / 16u;
let c_155 = i_153 % 16u;
weights[row_154 * 18u + c_155] = held_89;
let i_156 = lane + 128u;
let row_157 = i_156 / 16u;
let c_158 = i_156 % 16u;
weights[row_157 * 18u + c_158] = held_90;
let i_159 = lane + 256u;
let row_160 = i_159 / 16u;
let c_161 = i_159 % 16u;
weights[row_160 * 18u + c_161] = held_91;
let i_162 = lane + 384u;
let row_163 = i_162 / 16u;
let c_164 = i_162 % 16u;
weights[row_163 * 18u + c_164] = held_92;
let i_165 = lane + 512u;
let row_166 = i_165 / 16u;
let c_167 = i_165 % 16u;
weights[row_166 * 18u + c_167] = held_93;
let i_168 = lane + 640u;
let row_169 = i_168 / 16u;
let c_170 = i_168 % 16u;
weights[row_169 * 18u + c_170] = held_94;
let i_171 = lane + 768u;
let row_172 = i_171 / 16u;
let c_173 = i_171 % 16u;
weights[row_172 * 18u + c_173] = held_95;
let i_174 = lane + 896u;
let row_175 = i_174 / 16u;
let c_176 = i_174 % 16u;
weights[row_175 * 18u + c_176] = held_96;
workgroupBarrier();
let y0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let y0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let y0_2 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let y0_3 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
var ds0_0 = coop_mat16x16<f32, C>();
var ds0_1 = coop_mat16x16<f32, C>();
var ds0_2 = coop_mat16x16<f32, C>();
var ds0_3 = coop_mat16x16<f32, C>();
var dw0_0 = coop_mat16x16<f32, C>();
var dw0_1 = coop_mat16x16<f32, C>();
var dw0_2 = coop_mat16x16<f32, C>();
var dw0_3 = coop_mat16x16<f32, C>();
var held_177 = vec4<f16>();
var held_178 = vec4<f16>();
var held_179 = vec4<f16>();
var held_180 = vec4<f16>();
var held_181 = vec4<f16>();
var held_182 = vec4<f16>();
var held_183 = vec4<f16>();
var held_184 = vec4<f16>();
let first = start;
let until = 512u;
for (var member = 0u; member < 1u; member++) {
let head = key_head * 1u + member;
let i_185 = lane + 0u;
let row_186 = i_185 / 16u;
let c_187 = i_185 % 16u;
let row_188 = min(first + row_186, 511u);
let d_189 = c_187 * 4u;
let a_190 = batch * 393216u + head * 64u + row_188 * 768u + d_189;
let q_191 = r0[(a_190) / 4u + 0u];
held_177 = q_191;
let i_192 = lane + 128u;
let row_193 = i_192 / 16u;
let c_194 = i_192 % 16u;
let row_195 = min(first + row_193, 511u);
let d_196 = c_194 * 4u;
let a_197 = batch * 393216u + head * 64u + row_195 * 768u + d_196;
let q_198 = r0[(a_197) / 4u + 0u];
held_178 = q_198;
let i_199 = lane + 256u;
let row_200 = i_199 / 16u;
let c_201 = i_199 % 16u;
let row_202 = min(first + row_200, 511u);
let d_203 = c_201 * 4u;
let a_204 = batch * 393216u + head * 64u + row_202 * 768u + d_203;
let q_205 = r0[(a_204) / 4u + 0u];
held_179 = q_205;
let i_206 = lane + 384u;
let row_207 = i_206 / 16u;
let c_208 = i_206 % 16u;
let row_209 = min(first + row_207, 511u);
let d_210 = c_208 * 4u;
let a_211 = batch * 393216u + head * 64u + row_209 * 768u + d_210;
let q_212 = r0[(a_211) / 4u + 0u];
held_180 = q_212;
let i_213 = lane + 0u;
let row_214 = i_213 / 16u;
let c_215 = i_213 % 16u;
let row_216 = min(first + row_214, 511u);
let d_217 = c_215 * 4u;
let a_218 = batch * 393216u + head * 64u + row_216 * 768u + d_217;
let q_219 = r5[(a_218) / 4u + 0u];
held_181 = q_219;
let i_220 = lane + 128u;
let row_221 = i_220 / 16u;
let c_222 = i_220 % 16u;
let row_223 = min(first + row_221, 511u);
let d_224 = c_222 * 4u;
let a_225 = batch * 393216u + head * 64u + row_223 * 768u + d_224;
let q_226 = r5[(a_225) / 4u + 0u];
held_182 = q_226;
let i_227 = lane + 256u;
let row_228 = i_227 / 16u;
let c_229 = i_227 % 16u;
let row_230 = min(first + row_228, 511u);
let d_231 = c_229 * 4u;
let a_232 = batch * 393216u + head * 64u + row_230 * 768u + d_231;
let q_233 = r5[(a_232) / 4u + 0u];
held_183 = q_233;
let i_234 = lane + 384u;
let row_235 = i_234 / 16u;
let c_236 = i_234 % 16u;
let row_237 = min(first + row_235, 511u);
let d_238 = c_236 * 4u;
let a_239 = batch * 393216u + head * 64u + row_237 * 768u + d_238;
let q_240 = r5[(a_239) / 4u + 0u];
held_184 = q_240;
for (var at = first; at < until; at += 32u) {
workgroupBarrier();
let i_241 = lane + 0u;
let row_242 = i_241 / 16u;
let c_243 = i_241 % 16u;
passing0[row_242 * 18u + c_243] = held_177;
let i_244 = lane + 128u;
let row_245 = i_244 / 16u;
let c_246 = i_244 % 16u;
passing0[row_245 * 18u + c_246] = held_178;
let i_247 = lane + 256u;
let row_248 = i_247 / 16u;
let c_249 = i_247 % 16u;
passing0[row_248 * 18u + c_249] = held_179;
let i_250 = lane + 384u;
let row_251 = i_250 / 16u;
let c_252 = i_250 % 16u;
passing0[row_251 * 18u + c_252] = held_180;
let i_253 = lane + 0u;
let row_254 = i_253 / 16u;
let c_255 = i_253 % 16u;
passing1[row_254 * 18u + c_255] = held_181;
let i_256 = lane + 128u;
let row_257 = i_256 / 16u;
let c_258 = i_256 % 16u;
passing1[row_257 * 18u + c_258] = held_182;
let i_259 = lane + 256u;
let row_260 = i_259 / 16u;
let c_261 = i_259 % 16u;
passing1[row_260 * 18u + c_261] = held_183;
let i_262 = lane + 384u;
let row_263 = i_262 / 16u;
let c_264 = i_262 % 16u;
passing1[row_263 * 18u + c_264] = held_184;
workgroupBarrier();
let next = at + 32u;
let i_265 = lane + 0u;
let row_266 = i_265 / 16u;
let c_267 = i_265 % 16u;
let row_268 = min(next + row_266, 511u);
let d_269 = c_267 * 4u;
let a_270 = batch * 393216u + head * 64u + row_268 * 768u + d_269;
let q_271 = r0[(a_270) / 4u + 0u];
held_177 = q_271;
let i_272 = lane + 128u;
let row_273 = i_272 / 16u;
let c_274 = i_272 % 16u;
let row_275 = min(next + row_273, 511u);
let d_276 = c_274 * 4u;
let a_277 = batch * 393216u + head * 64u + row_275 * 768u + d_276;
let q_278 = r0[(a_277) / 4u + 0u];
held_178 = q_278;
let i_279 = lane + 256u;
let row_280 = i_279 / 16u;
let c_281 = i_279 % 16u;
let row_282 = min(next + row_280, 511u);
let d_283 = c_281 * 4u;
let a_284 = batch * 393216u + head * 64u + row_282 * 768u + d_283;
let q_285 = r0[(a_284) / 4u + 0u];
held_179 = q_285;
let i_286 = lane + 384u;
let row_287 = i_286 / 16u;
let c_288 = i_286 % 16u;
let row_289 = min(next + row_287, 511u);
let d_290 = c_288 * 4u;
let a_291 = batch * 393216u + head * 64u + row_289 * 768u + d_290;
let q_292 = r0[(a_291) / 4u + 0u];
held_180 = q_292;
let i_293 = lane + 0u;
let row_294 = i_293 / 16u;
let c_295 = i_293 % 16u;
let row_296 = min(next + row_294, 511u);
let d_297 = c_295 * 4u;
let a_298 = batch * 393216u + head * 64u + row_296 * 768u + d_297;
let q_299 = r5[(a_298) / 4u + 0u];
held_181 = q_299;
let i_300 = lane + 128u;
let row_301 = i_300 / 16u;
let c_302 = i_300 % 16u;
let row_303 = min(next + row_301, 511u);
let d_304 = c_302 * 4u;
let a_305 = batch * 393216u + head * 64u + row_303 * 768u + d_304;
let q_306 = r5[(a_305) / 4u + 0u];
held_182 = q_306;
let i_307 = lane + 256u;
let row_308 = i_307 / 16u;
let c_309 = i_307 % 16u;
let row_310 = min(next + row_308, 511u);
let d_311 = c_309 * 4u;
let a_312 = batch * 393216u + head * 64u + row_310 * 768u + d_311;
let q_313 = r5[(a_312) / 4u + 0u];
held_183 = q_313;
let i_314 = lane + 384u;
let row_315 = i_314 / 16u;
let c_316 = i_314 % 16u;
let row_317 = min(next + row_315, 511u);
let d_318 = c_316 * 4u;
let a_319 = batch * 393216u + head * 64u + row_317 * 768u + d_318;
let q_320 = r5[(a_319) / 4u + 0u];
held_184 = q_320;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1152u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_0, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1168u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_1, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(32u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_2, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1184u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_2, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(48u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_3, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1200u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_3, b1, s0_1);
}
coopStoreT(s0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(s0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
var t0_0 = coop_mat16x16<f32, C>();
var t0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_0, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1152u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_0, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_1, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1168u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_1, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(32u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_2, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1184u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_2, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(48u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_3, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1200u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_3, b1, t0_1);
}
coopStoreT(t0_0, &dots[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(t0_1, &dots[((block + 0u) * 40u + 16u) / 4u], 10u);
}
workgroupBarrier();
{
let other = at + (column + 0u) * 4u;
let each = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);
let a_321 = (batch * 12u + head) * 512u + min(other, 508u);
let q_322 = s0[((a_321 + 0u)) / 4u + 0u];
let q_323 = s0[((a_321 + 49152u)) / 4u + 0u];
let lse = vec4<f32>(bitcast<f32>(q_322.x), bitcast<f32>(q_322.y), bitcast<f32>(q_322.z), bitcast<f32>(q_322.w));
let delta = vec4<f32>(bitcast<f32>(q_323.x), bitcast<f32>(q_323.y), bitcast<f32>(q_323.z), bitcast<f32>(q_323.w));
var p0 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
p0 = exp(p0 - lse);
var p1 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
p1 = exp(p1 - lse);
var p2 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
p2 = exp(p2 - lse);
var p3 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
p3 = exp(p3 - lse);
if (start + 63u > at) {
p0 = select(p0, vec4<f32>(), (vec4<u32>(start + row0) > each));
p1 = select(p1, vec4<f32>(), (vec4<u32>(start + row1) > each));
p2 = select(p2, vec4<f32>(), (vec4<u32>(start + row2) > each));
p3 = select(p3, vec4<f32>(), (vec4<u32>(start + row3) > each));
}
weights[row0 * 18u + (column + 0u)] = vec4<f16>(p0);
slopes[row0 * 10u + (column + 0u)] = vec4<f16>(select(p0 * (dots[row0 * 10u + (column + 0u)] - delta), vec4<f32>(), p0 == vec4<f32>()));
weights[row1 * 18u + (column + 0u)] = vec4<f16>(p1);
slopes[row1 * 10u + (column + 0u)] = vec4<f16>(select(p1 * (dots[row1 * 10u + (column + 0u)] - delta), vec4<f32>(), p1 == vec4<f32>()));
weights[row2 * 18u + (column + 0u)] = vec4<f16>(p2);
slopes[row2 * 10u + (column + 0u)] = vec4<f16>(select(p2 * (dots[row2 * 10u + (column + 0u)] - delta), vec4<f32>(), p2 == vec4<f32>()));
weights[row3 * 18u + (column + 0u)] = vec4<f16>(p3);
slopes[row3 * 10u + (column + 0u)] = vec4<f16>(select(p3 * (dots[row3 * 10u + (column + 0u)] - delta), vec4<f32>(), p3 == vec4<f32>()));
}
workgroupBarrier();
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 18u);
dw0_0 = coopMultiplyAdd(a0, b0, dw0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 18u);
dw0_1 = coopMultiplyAdd(a0, b1, dw0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(32u) / 4u], 18u);
dw0_2 = coopMultiplyAdd(a0, b2, dw0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(48u) / 4u], 18u);
dw0_3 = coopMultiplyAdd(a0, b3, dw0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(1152u) / 4u], 18u);
dw0_0 = coopMultiplyAdd(a0, b0, dw0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(1168u) / 4u], 18u);
dw0_1 = coopMultiplyAdd(a0, b1, dw0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(1184u) / 4u], 18u);
dw0_2 = coopMultiplyAdd(a0, b2, dw0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(1200u) / 4u], 18u);
dw0_3 = coopMultiplyAdd(a0, b3, dw0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 18u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 18u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(32u) / 4u], 18u);
ds0_2 = coopMultiplyAdd(a0, b2, ds0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(48u) / 4u], 18u);
ds0_3 = coopMultiplyAdd(a0, b3, ds0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1152u) / 4u], 18u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1168u) / 4u], 18u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1184u) / 4u], 18u);
ds0_2 = coopMultiplyAdd(a0, b2, ds0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1200u) / 4u], 18u);
ds0_3 = coopMultiplyAdd(a0, b3, ds0_3);
}
}
}
workgroupBarrier();
coopStoreT(dw0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(dw0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 0u) < 16u) {
let x_324 = scores[row0 * 10u + (column + 0u)];
let a_325 = ((batch * 512u + safe0) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w2[((a_325) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_324.x, x_324.y), pack_half(x_324.z, x_324.w));
}
if (start + row1 < 512u && ((column + 0u) + 0u) < 16u) {
let x_326 = scores[row1 * 10u + (column + 0u)];
let a_327 = ((batch * 512u + safe1) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w2[((a_327) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_326.x, x_326.y), pack_half(x_326.z, x_326.w));
}
if (start + row2 < 512u && ((column + 0u) + 0u) < 16u) {
let x_328 = scores[row2 * 10u + (column + 0u)];
let a_329 = ((batch * 512u + safe2) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w2[((a_329) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_328.x, x_328.y), pack_half(x_328.z, x_328.w));
}
if (start + row3 < 512u && ((column + 0u) + 0u) < 16u) {
let x_330 = scores[row3 * 10u + (column + 0u)];
let a_331 = ((batch * 512u + safe3) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w2[((a_331) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_330.x, x_330.y), pack_half(x_330.z, x_330.w));
}
workgroupBarrier();
coopStoreT(dw0_2, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(dw0_3, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 8u) < 16u) {
let x_332 = scores[row0 * 10u + (column + 0u)];
let a_333 = ((batch * 512u + safe0) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w2[((a_333) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_332.x, x_332.y), pack_half(x_332.z, x_332.w));
}
if (start + row1 < 512u && ((column + 0u) + 8u) < 16u) {
let x_334 = scores[row1 * 10u + (column + 0u)];
let a_335 = ((batch * 512u + safe1) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w2[((a_335) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_334.x, x_334.y), pack_half(x_334.z, x_334.w));
}
if (start + row2 < 512u && ((column + 0u) + 8u) < 16u) {
let x_336 = scores[row2 * 10u + (column + 0u)];
let a_337 = ((batch * 512u + safe2) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w2[((a_337) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_336.x, x_336.y), pack_half(x_336.z, x_336.w));
}
if (start + row3 < 512u && ((column + 0u) + 8u) < 16u) {
let x_338 = scores[row3 * 10u + (column + 0u)];
let a_339 = ((batch * 512u + safe3) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w2[((a_339) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_338.x, x_338.y), pack_half(x_338.z, x_338.w));
}
workgroupBarrier();
coopStoreT(ds0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 0u) < 16u) {
let x_340 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
let a_341 = ((batch * 512u + safe0) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_341) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_340.x, x_340.y), pack_half(x_340.z, x_340.w));
}
if (start + row1 < 512u && ((column + 0u) + 0u) < 16u) {
let x_342 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
let a_343 = ((batch * 512u + safe1) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_343) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_342.x, x_342.y), pack_half(x_342.z, x_342.w));
}
if (start + row2 < 512u && ((column + 0u) + 0u) < 16u) {
let x_344 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
let a_345 = ((batch * 512u + safe2) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_345) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_344.x, x_344.y), pack_half(x_344.z, x_344.w));
}
if (start + row3 < 512u && ((column + 0u) + 0u) < 16u) {
let x_346 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
let a_347 = ((batch * 512u + safe3) * 12u + key_head) * 64u + (((column + 0u) + 0u)) * 4u;
w1[((a_347) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_346.x, x_346.y), pack_half(x_346.z, x_346.w));
}
workgroupBarrier();
coopStoreT(ds0_2, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_3, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 8u) < 16u) {
let x_348 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
let a_349 = ((batch * 512u + safe0) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w1[((a_349) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_348.x, x_348.y), pack_half(x_348.z, x_348.w));
}
if (start + row1 < 512u && ((column + 0u) + 8u) < 16u) {
let x_350 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
let a_351 = ((batch * 512u + safe1) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w1[((a_351) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_350.x, x_350.y), pack_half(x_350.z, x_350.w));
}
if (start + row2 < 512u && ((column + 0u) + 8u) < 16u) {
let x_352 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
let a_353 = ((batch * 512u + safe2) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w1[((a_353) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_352.x, x_352.y), pack_half(x_352.z, x_352.w));
}
if (start + row3 < 512u && ((column + 0u) + 8u) < 16u) {
let x_354 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
let a_355 = ((batch * 512u + safe3) * 12u + key_head) * 64u + (((column + 0u) + 8u)) * 4u;
w1[((a_355) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_354.x, x_354.y), pack_half(x_354.z, x_354.w));
}
}
else {
let work = at_work - 768u;
let unit = work % 96u;
let start = (7u - work / 96u) * 64u;
let batch = unit / 12u;
let head = unit % 12u;
let key_head = head / 1u;
let row0 = team + 0u;
let safe0 = min(start + row0, 511u);
let a_356 = (batch * 12u + head) * 512u + safe0;
let lse0 = vec4<f32>(bitcast<f32>(s0[((a_356 + 0u) + 0u) / 4u][((a_356 + 0u) + 0u) % 4u]));
let delta0 = vec4<f32>(bitcast<f32>(s0[((a_356 + 49152u) + 0u) / 4u][((a_356 + 49152u) + 0u) % 4u]));
let row1 = team + 4u;
let safe1 = min(start + row1, 511u);
let a_357 = (batch * 12u + head) * 512u + safe1;
let lse1 = vec4<f32>(bitcast<f32>(s0[((a_357 + 0u) + 0u) / 4u][((a_357 + 0u) + 0u) % 4u]));
let delta1 = vec4<f32>(bitcast<f32>(s0[((a_357 + 49152u) + 0u) / 4u][((a_357 + 49152u) + 0u) % 4u]));
let row2 = team + 8u;
let safe2 = min(start + row2, 511u);
let a_358 = (batch * 12u + head) * 512u + safe2;
let lse2 = vec4<f32>(bitcast<f32>(s0[((a_358 + 0u) + 0u) / 4u][((a_358 + 0u) + 0u) % 4u]));
let delta2 = vec4<f32>(bitcast<f32>(s0[((a_358 + 49152u) + 0u) / 4u][((a_358 + 49152u) + 0u) % 4u]));
let row3 = team + 12u;
let safe3 = min(start + row3, 511u);
let a_359 = (batch * 12u + head) * 512u + safe3;
let lse3 = vec4<f32>(bitcast<f32>(s0[((a_359 + 0u) + 0u) / 4u][((a_359 + 0u) + 0u) % 4u]));
let delta3 = vec4<f32>(bitcast<f32>(s0[((a_359 + 49152u) + 0u) / 4u][((a_359 + 49152u) + 0u) % 4u]));
var held_360 = vec4<f16>();
var held_361 = vec4<f16>();
var held_362 = vec4<f16>();
var held_363 = vec4<f16>();
var held_364 = vec4<f16>();
var held_365 = vec4<f16>();
var held_366 = vec4<f16>();
var held_367 = vec4<f16>();
let i_368 = lane + 0u;
let row_369 = i_368 / 16u;
let c_370 = i_368 % 16u;
let row_371 = min(start + row_369, 511u);
let d_372 = c_370 * 4u;
let a_373 = batch * 393216u + head * 64u + row_371 * 768u + d_372;
let q_374 = r0[(a_373) / 4u + 0u];
held_360 = q_374;
let i_375 = lane + 128u;
let row_376 = i_375 / 16u;
let c_377 = i_375 % 16u;
let row_378 = min(start + row_376, 511u);
let d_379 = c_377 * 4u;
let a_380 = batch * 393216u + head * 64u + row_378 * 768u + d_379;
let q_381 = r0[(a_380) / 4u + 0u];
held_361 = q_381;
let i_382 = lane + 256u;
let row_383 = i_382 / 16u;
let c_384 = i_382 % 16u;
let row_385 = min(start + row_383, 511u);
let d_386 = c_384 * 4u;
let a_387 = batch * 393216u + head * 64u + row_385 * 768u + d_386;
let q_388 = r0[(a_387) / 4u + 0u];
held_362 = q_388;
let i_389 = lane + 384u;
let row_390 = i_389 / 16u;
let c_391 = i_389 % 16u;
let row_392 = min(start + row_390, 511u);
let d_393 = c_391 * 4u;
let a_394 = batch * 393216u + head * 64u + row_392 * 768u + d_393;
let q_395 = r0[(a_394) / 4u + 0u];
held_363 = q_395;
let i_396 = lane + 512u;
let row_397 = i_396 / 16u;
let c_398 = i_396 % 16u;
let row_399 = min(start + row_397, 511u);
let d_400 = c_398 * 4u;
let a_401 = batch * 393216u + head * 64u + row_399 * 768u + d_400;
let q_402 = r0[(a_401) / 4u + 0u];
held_364 = q_402;
let i_403 = lane + 640u;
let row_404 = i_403 / 16u;
let c_405 = i_403 % 16u;
let row_406 = min(start + row_404, 511u);
let d_407 = c_405 * 4u;
let a_408 = batch * 393216u + head * 64u + row_406 * 768u + d_407;
let q_409 = r0[(a_408) / 4u + 0u];
held_365 = q_409;
let i_410 = lane + 768u;
let row_411 = i_410 / 16u;
let c_412 = i_410 % 16u;
let row_413 = min(start + row_411, 511u);
let d_414 = c_412 * 4u;
let a_415 = batch * 393216u + head * 64u + row_413 * 768u + d_414;
let q_416 = r0[(a_415) / 4u + 0u];
held_366 = q_416;
let i_417 = lane + 896u;
let row_418 = i_417 / 16u;
let c_419 = i_417 % 16u;
let row_420 = min(start + row_418, 511u);
let d_421 = c_419 * 4u;
let a_422 = batch * 393216u + head * 64u + row_420 * 768u + d_421;
let q_423 = r0[(a_422) / 4u + 0u];
held_367 = q_423;
workgroupBarrier();
let i_424 = lane + 0u;
let row_425 = i_424 / 16u;
let c_426 = i_424 % 16u;
weights[row_425 * 18u + c_426] = held_360;
let i_427 = lane + 128u;
let row_428 = i_427 / 16u;
let c_429 = i_427 % 16u;
weights[row_428 * 18u + c_429] = held_361;
let i_430 = lane + 256u;
let row_431 = i_430 / 16u;
let c_432 = i_430 % 16u;
weights[row_431 * 18u + c_432] = held_362;
let i_433 = lane + 384u;
let row_434 = i_433 / 16u;
let c_435 = i_433 % 16u;
weights[row_434 * 18u + c_435] = held_363;
let i_436 = lane + 512u;
let row_437 = i_436 / 16u;
let c_438 = i_436 % 16u;
weights[row_437 * 18u + c_438] = held_364;
let i_439 = lane + 640u;
let row_440 = i_439 / 16u;
let c_441 = i_439 % 16u;
weights[row_440 * 18u + c_441] = held_365;
let i_442 = lane + 768u;
let row_443 = i_442 / 16u;
let c_444 = i_442 % 16u;
weights[row_443 * 18u + c_444] = held_366;
let i_445 = lane + 896u;
let row_446 = i_445 / 16u;
let c_447 = i_445 % 16u;
weights[row_446 * 18u + c_447] = held_367;
workgroupBarrier();
let x0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let x0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let x0_2 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let x0_3 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
var held_448 = vec4<f16>();
var held_449 = vec4<f16>();
var held_450 = vec4<f16>();
var held_451 = vec4<f16>();
var held_452 = vec4<f16>();
var held_453 = vec4<f16>();
var held_454 = vec4<f16>();
var held_455 = vec4<f16>();
let i_456 = lane + 0u;
let row_457 = i_456 / 16u;
let c_458 = i_456 % 16u;
let row_459 = min(start + row_457, 511u);
let d_460 = c_458 * 4u;
let a_461 = batch * 393216u + head * 64u + row_459 * 768u + d_460;
let q_462 = r5[(a_461) / 4u + 0u];
held_448 = q_462;
let i_463 = lane + 128u;
let row_464 = i_463 / 16u;
let c_465 = i_463 % 16u;
let row_466 = min(start + row_464, 511u);
let d_467 = c_465 * 4u;
let a_468 = batch * 393216u + head * 64u + row_466 * 768u + d_467;
let q_469 = r5[(a_468) / 4u + 0u];
held_449 = q_469;
let i_470 = lane + 256u;
let row_471 = i_470 / 16u;
let c_472 = i_470 % 16u;
let row_473 = min(start + row_471, 511u);
let d_474 = c_472 * 4u;
let a_475 = batch * 393216u + head * 64u + row_473 * 768u + d_474;
let q_476 = r5[(a_475) / 4u + 0u];
held_450 = q_476;
let i_477 = lane + 384u;
let row_478 = i_477 / 16u;
let c_479 = i_477 % 16u;
let row_480 = min(start + row_478, 511u);
let d_481 = c_479 * 4u;
let a_482 = batch * 393216u + head * 64u + row_480 * 768u + d_481;
let q_483 = r5[(a_482) / 4u + 0u];
held_451 = q_483;
let i_484 = lane + 512u;
let row_485 = i_484 / 16u;
let c_486 = i_484 % 16u;
let row_487 = min(start + row_485, 511u);
let d_488 = c_486 * 4u;
let a_489 = batch * 393216u + head * 64u + row_487 * 768u + d_488;
let q_490 = r5[(a_489) / 4u + 0u];
held_452 = q_490;
let i_491 = lane + 640u;
let row_492 = i_491 / 16u;
let c_493 = i_491 % 16u;
let row_494 = min(start + row_492, 511u);
let d_495 = c_493 * 4u;
let a_496 = batch * 393216u + head * 64u + row_494 * 768u + d_495;
let q_497 = r5[(a_496) / 4u + 0u];
held_453 = q_497;
let i_498 = lane + 768u;
let row_499 = i_498 / 16u;
let c_500 = i_498 % 16u;
let row_501 = min(start + row_499, 511u);
let d_502 = c_500 * 4u;
let a_503 = batch * 393216u + head * 64u + row_501 * 768u + d_502;
let q_504 = r5[(a_503) / 4u + 0u];
held_454 = q_504;
let i_505 = lane + 896u;
let row_506 = i_505 / 16u;
let c_507 = i_505 % 16u;
let row_508 = min(start + row_506, 511u);
let d_509 = c_507 * 4u;
let a_510 = batch * 393216u + head * 64u + row_508 * 768u + d_509;
let q_511 = r5[(a_510) / 4u + 0u];
held_455 = q_511;
workgroupBarrier();
let i_512 = lane + 0u;
let row_513 = i_512 / 16u;
let c_514 = i_512 % 16u;
weights[row_513 * 18u + c_514] = held_448;
let i_515 = lane + 128u;
let row_516 = i_515 / 16u;
let c_517 = i_515 % 16u;
weights[row_516 * 18u + c_517] = held_449;
let i_518 = lane + 256u;
let row_519 = i_518 / 16u;
let c_520 = i_518 % 16u;
weights[row_519 * 18u + c_520] = held_450;
let i_521 = lane + 384u;
let row_522 = i_521 / 16u;
let c_523 = i_521 % 16u;
weights[row_522 * 18u + c_523] = held_451;
let i_524 = lane + 512u;
let row_525 = i_524 / 16u;
let c_526 = i_524 % 16u;
weights[row_525 * 18u + c_526] = held_452;
let i_527 = lane + 640u;
let row_528 = i_527 / 16u;
let c_529 = i_527 % 16u;
weights[row_528 * 18u + c_529] = held_453;
let i_530 = lane + 768u;
let row_531 = i_530 / 16u;
let c_532 = i_530 % 16u;
weights[row_531 * 18u + c_532] = held_454;
let i_533 = lane + 896u;
let row_534 = i_533 / 16u;
let c_535 = i_533 % 16u;
weights[row_534 * 18u + c_535] = held_455;
workgroupBarrier();
let y0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let y0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let y0_2 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let y0_3 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
var ds0_0 = coop_mat16x16<f32, C>();
var ds0_1 = coop_mat16x16<f32, C>();
var ds0_2 = coop_mat16x16<f32, C>();
var ds0_3 = coop_mat16x16<f32, C>();
var held_536 = vec4<f16>();
var held_537 = vec4<f16>();
var held_538 = vec4<f16>();
var held_539 = vec4<f16>();
var held_540 = vec4<f16>();
var held_541 = vec4<f16>();
var held_542 = vec4<f16>();
var held_543 = vec4<f16>();
let first = 0u;
let until = min(512u, start + 64u);
let i_544 = lane + 0u;
let row_545 = i_544 / 16u;
let c_546 = i_544 % 16u;
let row_547 = min(first + row_545, 511u);
let d_548 = c_546 * 4u;
let a_549 = batch * 393216u + key_head * 64u + row_547 * 768u + d_548;
let q_550 = r1[(a_549) / 4u + 0u];
held_536 = q_550;
let i_551 = lane + 128u;
let row_552 = i_551 / 16u;
let c_553 = i_551 % 16u;
let row_554 = min(first + row_552, 511u);
let d_555 = c_553 * 4u;
let a_556 = batch * 393216u + key_head * 64u + row_554 * 768u + d_555;
let q_557 = r1[(a_556) / 4u + 0u];
held_537 = q_557;
let i_558 = lane + 256u;
let row_559 = i_558 / 16u;
let c_560 = i_558 % 16u;
let row_561 = min(first + row_559, 511u);
let d_562 = c_560 * 4u;
let a_563 = batch * 393216u + key_head * 64u + row_561 * 768u + d_562;
let q_564 = r1[(a_563) / 4u + 0u];
held_538 = q_564;
let i_565 = lane + 384u;
let row_566 = i_565 / 16u;
let c_567 = i_565 % 16u;
let row_568 = min(first + row_566, 511u);
let d_569 = c_567 * 4u;
let a_570 = batch * 393216u + key_head * 64u + row_568 * 768u + d_569;
let q_571 = r1[(a_570) / 4u + 0u];
held_539 = q_571;
let i_572 = lane + 0u;
let row_573 = i_572 / 16u;
let c_574 = i_572 % 16u;
let row_575 = min(first + row_573, 511u);
let d_576 = c_574 * 4u;
let a_577 = batch * 393216u + key_head * 64u + row_575 * 768u + d_576;
let q_578 = r2[(a_577) / 4u + 0u];
held_540 = q_578;
let i_579 = lane + 128u;
let row_580 = i_579 / 16u;
let c_581 = i_579 % 16u;
let row_582 = min(first + row_580, 511u);
let d_583 = c_581 * 4u;
let a_584 = batch * 393216u + key_head * 64u + row_582 * 768u + d_583;
let q_585 = r2[(a_584) / 4u + 0u];
held_541 = q_585;
let i_586 = lane + 256u;
let row_587 = i_586 / 16u;
let c_588 = i_586 % 16u;
let row_589 = min(first + row_587, 511u);
let d_590 = c_588 * 4u;
let a_591 = batch * 393216u + key_head * 64u + row_589 * 768u + d_590;
let q_592 = r2[(a_591) / 4u + 0u];
held_542 = q_592;
let i_593 = lane + 384u;
let row_594 = i_593 / 16u;
let c_595 = i_593 % 16u;
let row_596 = min(first + row_594, 511u);
let d_597 = c_595 * 4u;
let a_598 = batch * 393216u + key_head * 64u + row_596 * 768u + d_597;
let q_599 = r2[(a_598) / 4u + 0u];
held_543 = q_599;
for (var at = first; at < until; at += 32u) {
workgroupBarrier();
let i_600 = lane + 0u;
let row_601 = i_600 / 16u;
let c_602 = i_600 % 16u;
passing0[row_601 * 18u + c_602] = held_536;
let i_603 = lane + 128u;
let row_604 = i_603 / 16u;
let c_605 = i_603 % 16u;
passing0[row_604 * 18u + c_605] = held_537;
let i_606 = lane + 256u;
let row_607 = i_606 / 16u;
let c_608 = i_606 % 16u;
passing0[row_607 * 18u + c_608] = held_538;
let i_609 = lane + 384u;
let row_610 = i_609 / 16u;
let c_611 = i_609 % 16u;
passing0[row_610 * 18u + c_611] = held_539;
let i_612 = lane + 0u;
let row_613 = i_612 / 16u;
let c_614 = i_612 % 16u;
passing1[row_613 * 18u + c_614] = held_540;
let i_615 = lane + 128u;
let row_616 = i_615 / 16u;
let c_617 = i_615 % 16u;
passing1[row_616 * 18u + c_617] = held_541;
let i_618 = lane + 256u;
let row_619 = i_618 / 16u;
let c_620 = i_618 % 16u;
passing1[row_619 * 18u + c_620] = held_542;
let i_621 = lane + 384u;
let row_622 = i_621 / 16u;
let c_623 = i_621 % 16u;
passing1[row_622 * 18u + c_623] = held_543;
workgroupBarrier();
let next = at + 32u;
let i_624 = lane + 0u;
let row_625 = i_624 / 16u;
let c_626 = i_624 % 16u;
let row_627 = min(next + row_625, 511u);
let d_628 = c_626 * 4u;
let a_629 = batch * 393216u + key_head * 64u + row_627 * 768u + d_628;
let q_630 = r1[(a_629) / 4u + 0u];
held_536 = q_630;
let i_631 = lane + 128u;
let row_632 = i_631 / 16u;
let c_633 = i_631 % 16u;
let row_634 = min(next + row_632, 511u);
let d_635 = c_633 * 4u;
let a_636 = batch * 393216u + key_head * 64u + row_634 * 768u + d_635;
let q_637 = r1[(a_636) / 4u + 0u];
held_537 = q_637;
let i_638 = lane + 256u;
let row_639 = i_638 / 16u;
let c_640 = i_638 % 16u;
let row_641 = min(next + row_639, 511u);
let d_642 = c_640 * 4u;
let a_643 = batch * 393216u + key_head * 64u + row_641 * 768u + d_642;
let q_644 = r1[(a_643) / 4u + 0u];
held_538 = q_644;
let i_645 = lane + 384u;
let row_646 = i_645 / 16u;
let c_647 = i_645 % 16u;
let row_648 = min(next + row_646, 511u);
let d_649 = c_647 * 4u;
let a_650 = batch * 393216u + key_head * 64u + row_648 * 768u + d_649;
let q_651 = r1[(a_650) / 4u + 0u];
held_539 = q_651;
let i_652 = lane + 0u;
let row_653 = i_652 / 16u;
let c_654 = i_652 % 16u;
let row_655 = min(next + row_653, 511u);
let d_656 = c_654 * 4u;
let a_657 = batch * 393216u + key_head * 64u + row_655 * 768u + d_656;
let q_658 = r2[(a_657) / 4u + 0u];
held_540 = q_658;
let i_659 = lane + 128u;
let row_660 = i_659 / 16u;
let c_661 = i_659 % 16u;
let row_662 = min(next + row_660, 511u);
let d_663 = c_661 * 4u;
let a_664 = batch * 393216u + key_head * 64u + row_662 * 768u + d_663;
let q_665 = r2[(a_664) / 4u + 0u];
held_541 = q_665;
let i_666 = lane + 256u;
let row_667 = i_666 / 16u;
let c_668 = i_666 % 16u;
let row_669 = min(next + row_667, 511u);
let d_670 = c_668 * 4u;
let a_671 = batch * 393216u + key_head * 64u + row_669 * 768u + d_670;
let q_672 = r2[(a_671) / 4u + 0u];
held_542 = q_672;
let i_673 = lane + 384u;
let row_674 = i_673 / 16u;
let c_675 = i_673 % 16u;
let row_676 = min(next + row_674, 511u);
let d_677 = c_675 * 4u;
let a_678 = batch * 393216u + key_head * 64u + row_676 * 768u + d_677;
let q_679 = r2[(a_678) / 4u + 0u];
held_543 = q_679;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1152u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_0, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1168u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_1, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(32u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_2, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1184u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_2, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(48u) / 4u], 18u);
s0_0 = coopMultiplyAdd(x0_3, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(1200u) / 4u], 18u);
s0_1 = coopMultiplyAdd(x0_3, b1, s0_1);
}
coopStoreT(s0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(s0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
var t0_0 = coop_mat16x16<f32, C>();
var t0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_0, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1152u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_0, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_1, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1168u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_1, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(32u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_2, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1184u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_2, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(48u) / 4u], 18u);
t0_0 = coopMultiplyAdd(y0_3, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(1200u) / 4u], 18u);
t0_1 = coopMultiplyAdd(y0_3, b1, t0_1);
}
coopStoreT(t0_0, &dots[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(t0_1, &dots[((block + 0u) * 40u + 16u) / 4u], 10u);
}
workgroupBarrier();
{
let other = at + (column + 0u) * 4u;
let each = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);
var p0 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
p0 = exp(p0 - lse0);
var p1 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
p1 = exp(p1 - lse1);
var p2 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
p2 = exp(p2 - lse2);
var p3 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
p3 = exp(p3 - lse3);
if (at + 31u > start) {
p0 = select(p0, vec4<f32>(), (each > vec4<u32>(start + row0)));
p1 = select(p1, vec4<f32>(), (each > vec4<u32>(start + row1)));
p2 = select(p2, vec4<f32>(), (each > vec4<u32>(start + row2)));
p3 = select(p3, vec4<f32>(), (each > vec4<u32>(start + row3)));
}
slopes[row0 * 10u + (column + 0u)] = vec4<f16>(select(p0 * (dots[row0 * 10u + (column + 0u)] - delta0), vec4<f32>(), p0 == vec4<f32>()));
slopes[row1 * 10u + (column + 0u)] = vec4<f16>(select(p1 * (dots[row1 * 10u + (column + 0u)] - delta1), vec4<f32>(), p1 == vec4<f32>()));
slopes[row2 * 10u + (column + 0u)] = vec4<f16>(select(p2 * (dots[row2 * 10u + (column + 0u)] - delta2), vec4<f32>(), p2 == vec4<f32>()));
slopes[row3 * 10u + (column + 0u)] = vec4<f16>(select(p3 * (dots[row3 * 10u + (column + 0u)] - delta3), vec4<f32>(), p3 == vec4<f32>()));
}
workgroupBarrier();
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 18u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 18u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(32u) / 4u], 18u);
ds0_2 = coopMultiplyAdd(a0, b2, ds0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(48u) / 4u], 18u);
ds0_3 = coopMultiplyAdd(a0, b3, ds0_3);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1152u) / 4u], 18u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1168u) / 4u], 18u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
let b2 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1184u) / 4u], 18u);
ds0_2 = coopMultiplyAdd(a0, b2, ds0_2);
let b3 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(1200u) / 4u], 18u);
ds0_3 = coopMultiplyAdd(a0, b3, ds0_3);
}
}
workgroupBarrier();
coopStoreT(ds0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 0u) < 16u) {
let x_680 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
let a_681 = ((batch * 512u + safe0) * 12u + head) * 64u + (((column + 0u) + 0u)) * 4u;
w0[((a_681) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_680.x, x_680.y), pack_half(x_680.z, x_680.w));
}
if (start + row1 < 512u && ((column + 0u) + 0u) < 16u) {
let x_682 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
let a_683 = ((batch * 512u + safe1) * 12u + head) * 64u + (((column + 0u) + 0u)) * 4u;
w0[((a_683) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_682.x, x_682.y), pack_half(x_682.z, x_682.w));
}
if (start + row2 < 512u && ((column + 0u) + 0u) < 16u) {
let x_684 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
let a_685 = ((batch * 512u + safe2) * 12u + head) * 64u + (((column + 0u) + 0u)) * 4u;
w0[((a_685) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_684.x, x_684.y), pack_half(x_684.z, x_684.w));
}
if (start + row3 < 512u && ((column + 0u) + 0u) < 16u) {
let x_686 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
let a_687 = ((batch * 512u + safe3) * 12u + head) * 64u + (((column + 0u) + 0u)) * 4u;
w0[((a_687) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_686.x, x_686.y), pack_half(x_686.z, x_686.w));
}
workgroupBarrier();
coopStoreT(ds0_2, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_3, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 512u && ((column + 0u) + 8u) < 16u) {
let x_688 = scores[row0 * 10u + (column + 0u)] * (1.25e-1f);
let a_689 = ((batch * 512u + safe0) * 12u + head) * 64u + (((column + 0u) + 8u)) * 4u;
w0[((a_689) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_688.x, x_688.y), pack_half(x_688.z, x_688.w));
}
if (start + row1 < 512u && ((column + 0u) + 8u) < 16u) {
let x_690 = scores[row1 * 10u + (column + 0u)] * (1.25e-1f);
let a_691 = ((batch * 512u + safe1) * 12u + head) * 64u + (((column + 0u) + 8u)) * 4u;
w0[((a_691) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_690.x, x_690.y), pack_half(x_690.z, x_690.w));
}
if (start + row2 < 512u && ((column + 0u) + 8u) < 16u) {
let x_692 = scores[row2 * 10u + (column + 0u)] * (1.25e-1f);
let a_693 = ((batch * 512u + safe2) * 12u + head) * 64u + (((column + 0u) + 8u)) * 4u;
w0[((a_693) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_692.x, x_692.y), pack_half(x_692.z, x_692.w));
}
if (start + row3 < 512u && ((column + 0u) + 8u) < 16u) {
let x_694 = scores[row3 * 10u + (column + 0u)] * (1.25e-1f);
let a_695 = ((batch * 512u + safe3) * 12u + head) * 64u + (((column + 0u) + 8u)) * 4u;
w0[((a_695) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_694.x, x_694.y), pack_half(x_694.z, x_694.w));
}
}
}

// copy f16 3 segments: [4608, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> w1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> r2: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> w2: array<vec4<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 4608u;
if (group < 1536u) {
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 393216u) {
let c_2 = (i_1 % 8u) * 8u;
let n_3 = i_1 / 8u;
let c_4 = (n_3 % 512u);
let n_5 = n_3 / 512u;
let c_6 = (n_5 % 12u);
let n_7 = n_5 / 12u;
let q_8 = r0[((n_7 * 393216u + c_6 * 64u + c_4 * 768u + c_2) / 2u) / 4u + 0u];
let u_9 = q_8.x;
let u_10 = q_8.y;
let u_11 = q_8.z;
let u_12 = q_8.w;
let s0_v0_0 = unpack2x16float(u_9).x;
let s0_v0_1 = unpack2x16float(u_9).y;
let s0_v0_2 = unpack2x16float(u_10).x;
let s0_v0_3 = unpack2x16float(u_10).y;
let s0_v0_4 = unpack2x16float(u_11).x;
let s0_v0_5 = unpack2x16float(u_11).y;
let s0_v0_6 = unpack2x16float(u_12).x;
let s0_v0_7 = unpack2x16float(u_12).y;
w0[((n_7 * 393216u + c_6 * 32768u + c_4 * 64u + c_2) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s0_v0_0, s0_v0_1), pack_half(s0_v0_2, s0_v0_3), pack_half(s0_v0_4, s0_v0_5), pack_half(s0_v0_6, s0_v0_7));
}
}
else if (group < 3072u) {
let i_13 = (group - 1536u) * 256u + lane;
if (i_13 < 393216u) {
let c_14 = (i_13 % 8u) * 8u;
let n_15 = i_13 / 8u;
let c_16 = (n_15 % 512u);
let n_17 = n_15 / 512u;
let c_18 = (n_17 % 12u);
let n_19 = n_17 / 12u;
let q_20 = r1[((n_19 * 393216u + c_18 * 64u + c_16 * 768u + c_14) / 2u) / 4u + 0u];
let u_21 = q_20.x;
let u_22 = q_20.y;
let u_23 = q_20.z;
let u_24 = q_20.w;
let s1_v0_0 = unpack2x16float(u_21).x;
let s1_v0_1 = unpack2x16float(u_21).y;
let s1_v0_2 = unpack2x16float(u_22).x;
let s1_v0_3 = unpack2x16float(u_22).y;
let s1_v0_4 = unpack2x16float(u_23).x;
let s1_v0_5 = unpack2x16float(u_23).y;
let s1_v0_6 = unpack2x16float(u_24).x;
let s1_v0_7 = unpack2x16float(u_24).y;
w1[((n_19 * 393216u + c_18 * 32768u + c_16 * 64u + c_14) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s1_v0_0, s1_v0_1), pack_half(s1_v0_2, s1_v0_3), pack_half(s1_v0_4, s1_v0_5), pack_half(s1_v0_6, s1_v0_7));
}
}
else if (group < 4608u) {
let i_25 = (group - 3072u) * 256u + lane;
if (i_25 < 393216u) {
let c_26 = (i_25 % 8u) * 8u;
let n_27 = i_25 / 8u;
let c_28 = (n_27 % 512u);
let n_29 = n_27 / 512u;
let c_30 = (n_29 % 12u);
let n_31 = n_29 / 12u;
let q_32 = r2[((n_31 * 393216u + c_30 * 64u + c_28 * 768u + c_26) / 2u) / 4u + 0u];
let u_33 = q_32.x;
let u_34 = q_32.y;
let u_35 = q_32.z;
let u_36 = q_32.w;
let s2_v0_0 = unpack2x16float(u_33).x;
let s2_v0_1 = unpack2x16float(u_33).y;
let s2_v0_2 = unpack2x16float(u_34).x;
let s2_v0_3 = unpack2x16float(u_34).y;
let s2_v0_4 = unpack2x16float(u_35).x;
let s2_v0_5 = unpack2x16float(u_35).y;
let s2_v0_6 = unpack2x16float(u_36).x;
let s2_v0_7 = unpack2x16float(u_36).y;
w2[((n_31 * 393216u + c_30 * 32768u + c_28 * 64u + c_26) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s2_v0_0, s2_v0_1), pack_half(s2_v0_2, s2_v0_3), pack_half(s2_v0_4, s2_v0_5), pack_half(s2_v0_6, s2_v0_7));
}
}
}

