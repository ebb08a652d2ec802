// mul f16 18432: [9, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 9u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 2304u) {
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

// attention_lse_attention f32 2x3x96: [18, 1] workgroups
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
var<workgroup> keys: array<vec4<f16>, 640>;
var<workgroup> weights: array<vec4<f16>, 576>;
var<workgroup> sight: array<vec4<f32>, 576>;
var<workgroup> risen: u32;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 18u;
let real = group < 18u;
let work = min(group, 17u);
let part = work % 1u;
let start = (2u - (work / 1u) % 3u) * 32u;
let unit = work / 3u;
let batch = unit / 3u;
let head0 = unit % 3u;
let key_head = head0 / 1u;
let block = lane / 32u * 16u;
let team = block + lane % 32u / 8u;
let column = lane % 8u;
let row0 = team + 0u;
let query0 = min(start + row0, 95u);
var shift0 = (-infinity());
var sum0 = 0.0;
let row1 = team + 4u;
let query1 = min(start + row1, 95u);
var shift1 = (-infinity());
var sum1 = 0.0;
let row2 = team + 8u;
let query2 = min(start + row2, 95u);
var shift2 = (-infinity());
var sum2 = 0.0;
let row3 = team + 12u;
let query3 = min(start + row3, 95u);
var shift3 = (-infinity());
var sum3 = 0.0;
var o0_0 = coop_mat16x16<f32, C>();
var o0_1 = coop_mat16x16<f32, C>();
var held_1 = vec4<f16>();
var held_2 = vec4<f16>();
var held_3 = vec4<f16>();
var held_4 = vec4<f16>();
let i_5 = lane + 0u;
let row_6 = i_5 / 8u;
let c_7 = i_5 % 8u;
let row_8 = min(start + row_6, 95u);
let d_9 = c_7 * 4u;
let a_10 = batch * 9216u + head0 * 32u + row_8 * 96u + d_9;
let q_11 = r0[(a_10) / 4u + 0u];
held_1 = q_11;
let i_12 = lane + 64u;
let row_13 = i_12 / 8u;
let c_14 = i_12 % 8u;
let row_15 = min(start + row_13, 95u);
let d_16 = c_14 * 4u;
let a_17 = batch * 9216u + head0 * 32u + row_15 * 96u + d_16;
let q_18 = r0[(a_17) / 4u + 0u];
held_2 = q_18;
let i_19 = lane + 128u;
let row_20 = i_19 / 8u;
let c_21 = i_19 % 8u;
let row_22 = min(start + row_20, 95u);
let d_23 = c_21 * 4u;
let a_24 = batch * 9216u + head0 * 32u + row_22 * 96u + d_23;
let q_25 = r0[(a_24) / 4u + 0u];
held_3 = q_25;
let i_26 = lane + 192u;
let row_27 = i_26 / 8u;
let c_28 = i_26 % 8u;
let row_29 = min(start + row_27, 95u);
let d_30 = c_28 * 4u;
let a_31 = batch * 9216u + head0 * 32u + row_29 * 96u + d_30;
let q_32 = r0[(a_31) / 4u + 0u];
held_4 = q_32;
let i_33 = lane + 0u;
let row_34 = i_33 / 8u;
let c_35 = i_33 % 8u;
weights[row_34 * 18u + c_35] = held_1;
let i_36 = lane + 64u;
let row_37 = i_36 / 8u;
let c_38 = i_36 % 8u;
weights[row_37 * 18u + c_38] = held_2;
let i_39 = lane + 128u;
let row_40 = i_39 / 8u;
let c_41 = i_39 % 8u;
weights[row_40 * 18u + c_41] = held_3;
let i_42 = lane + 192u;
let row_43 = i_42 / 8u;
let c_44 = i_42 % 8u;
weights[row_43 * 18u + c_44] = held_4;
workgroupBarrier();
let q0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let q0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
var held_45 = vec4<f16>();
var held_46 = vec4<f16>();
var held_47 = vec4<f16>();
var held_48 = vec4<f16>();
var held_49 = vec4<f16>();
var held_50 = vec4<f16>();
var held_51 = vec4<f16>();
var held_52 = vec4<f16>();
var held_53 = vec4<f16>();
var held_54 = vec4<f16>();
var held_55 = vec4<f16>();
var held_56 = vec4<f16>();
var held_57 = vec4<f16>();
var held_58 = vec4<f16>();
var held_59 = vec4<f16>();
var held_60 = vec4<f16>();
let first = part * 256u;
let i_61 = lane + 0u;
let row_62 = i_61 / 8u;
let c_63 = i_61 % 8u;
let row_64 = min(first + row_62, 95u);
let d_65 = c_63 * 4u;
let a_66 = batch * 9216u + key_head * 32u + row_64 * 96u + d_65;
let q_67 = r1[(a_66) / 4u + 0u];
held_45 = q_67;
let i_68 = lane + 64u;
let row_69 = i_68 / 8u;
let c_70 = i_68 % 8u;
let row_71 = min(first + row_69, 95u);
let d_72 = c_70 * 4u;
let a_73 = batch * 9216u + key_head * 32u + row_71 * 96u + d_72;
let q_74 = r1[(a_73) / 4u + 0u];
held_46 = q_74;
let i_75 = lane + 128u;
let row_76 = i_75 / 8u;
let c_77 = i_75 % 8u;
let row_78 = min(first + row_76, 95u);
let d_79 = c_77 * 4u;
let a_80 = batch * 9216u + key_head * 32u + row_78 * 96u + d_79;
let q_81 = r1[(a_80) / 4u + 0u];
held_47 = q_81;
let i_82 = lane + 192u;
let row_83 = i_82 / 8u;
let c_84 = i_82 % 8u;
let row_85 = min(first + row_83, 95u);
let d_86 = c_84 * 4u;
let a_87 = batch * 9216u + key_head * 32u + row_85 * 96u + d_86;
let q_88 = r1[(a_87) / 4u + 0u];
held_48 = q_88;
let i_89 = lane + 256u;
let row_90 = i_89 / 8u;
let c_91 = i_89 % 8u;
let row_92 = min(first + row_90, 95u);
let d_93 = c_91 * 4u;
let a_94 = batch * 9216u + key_head * 32u + row_92 * 96u + d_93;
let q_95 = r1[(a_94) / 4u + 0u];
held_49 = q_95;
let i_96 = lane + 320u;
let row_97 = i_96 / 8u;
let c_98 = i_96 % 8u;
let row_99 = min(first + row_97, 95u);
let d_100 = c_98 * 4u;
let a_101 = batch * 9216u + key_head * 32u + row_99 * 96u + d_100;
let q_102 = r1[(a_101) / 4u + 0u];
held_50 = q_102;
let i_103 = lane + 384u;
let row_104 = i_103 / 8u;
let c_105 = i_103 % 8u;
let row_106 = min(first + row_104, 95u);
let d_107 = c_105 * 4u;
let a_108 = batch * 9216u + key_head * 32u + row_106 * 96u + d_107;
let q_109 = r1[(a_108) / 4u + 0u];
held_51 = q_109;
let i_110 = lane + 448u;
let row_111 = i_110 / 8u;
let c_112 = i_110 % 8u;
let row_113 = min(first + row_111, 95u);
let d_114 = c_112 * 4u;
let a_115 = batch * 9216u + key_head * 32u + row_113 * 96u + d_114;
let q_116 = r1[(a_115) / 4u + 0u];
held_52 = q_116;
let until = min(min(96u, start + 32u), (part + 1u) * 256u);
for (var keys_at = part * 256u; keys_at < until; keys_at += 64u) {
workgroupBarrier();
let i_117 = lane + 0u;
let row_118 = i_117 / 8u;
let c_119 = i_117 % 8u;
keys[row_118 * 10u + c_119] = select(vec4<f16>(), held_45, keys_at + row_118 < 96u);
let i_120 = lane + 64u;
let row_121 = i_120 / 8u;
let c_122 = i_120 % 8u;
keys[row_121 * 10u + c_122] = select(vec4<f16>(), held_46, keys_at + row_121 < 96u);
let i_123 = lane + 128u;
let row_124 = i_123 / 8u;
let c_125 = i_123 % 8u;
keys[row_124 * 10u + c_125] = select(vec4<f16>(), held_47, keys_at + row_124 < 96u);
let i_126 = lane + 192u;
let row_127 = i_126 / 8u;
let c_128 = i_126 % 8u;
keys[row_127 * 10u + c_128] = select(vec4<f16>(), held_48, keys_at + row_127 < 96u);
let i_129 = lane + 256u;
let row_130 = i_129 / 8u;
let c_131 = i_129 % 8u;
keys[row_130 * 10u + c_131] = select(vec4<f16>(), held_49, keys_at + row_130 < 96u);
let i_132 = lane + 320u;
let row_133 = i_132 / 8u;
let c_134 = i_132 % 8u;
keys[row_133 * 10u + c_134] = select(vec4<f16>(), held_50, keys_at + row_133 < 96u);
let i_135 = lane + 384u;
let row_136 = i_135 / 8u;
let c_137 = i_135 % 8u;
keys[row_136 * 10u + c_137] = select(vec4<f16>(), held_51, keys_at + row_136 < 96u);
let i_138 = lane + 448u;
let row_139 = i_138 / 8u;
let c_140 = i_138 % 8u;
keys[row_139 * 10u + c_140] = select(vec4<f16>(), held_52, keys_at + row_139 < 96u);
if (lane == 0u) { risen = 0u; }
workgroupBarrier();
let i_141 = lane + 0u;
let row_142 = i_141 / 8u;
let c_143 = i_141 % 8u;
let row_144 = min(keys_at + row_142, 95u);
let d_145 = c_143 * 4u;
let a_146 = batch * 9216u + key_head * 32u + row_144 * 96u + d_145;
let q_147 = r2[(a_146) / 4u + 0u];
held_53 = q_147;
let i_148 = lane + 64u;
let row_149 = i_148 / 8u;
let c_150 = i_148 % 8u;
let row_151 = min(keys_at + row_149, 95u);
let d_152 = c_150 * 4u;
let a_153 = batch * 9216u + key_head * 32u + row_151 * 96u + d_152;
let q_154 = r2[(a_153) / 4u + 0u];
held_54 = q_154;
let i_155 = lane + 128u;
let row_156 = i_155 / 8u;
let c_157 = i_155 % 8u;
let row_158 = min(keys_at + row_156, 95u);
let d_159 = c_157 * 4u;
let a_160 = batch * 9216u + key_head * 32u + row_158 * 96u + d_159;
let q_161 = r2[(a_160) / 4u + 0u];
held_55 = q_161;
let i_162 = lane + 192u;
let row_163 = i_162 / 8u;
let c_164 = i_162 % 8u;
let row_165 = min(keys_at + row_163, 95u);
let d_166 = c_164 * 4u;
let a_167 = batch * 9216u + key_head * 32u + row_165 * 96u + d_166;
let q_168 = r2[(a_167) / 4u + 0u];
held_56 = q_168;
let i_169 = lane + 256u;
let row_170 = i_169 / 8u;
let c_171 = i_169 % 8u;
let row_172 = min(keys_at + row_170, 95u);
let d_173 = c_171 * 4u;
let a_174 = batch * 9216u + key_head * 32u + row_172 * 96u + d_173;
let q_175 = r2[(a_174) / 4u + 0u];
held_57 = q_175;
let i_176 = lane + 320u;
let row_177 = i_176 / 8u;
let c_178 = i_176 % 8u;
let row_179 = min(keys_at + row_177, 95u);
let d_180 = c_178 * 4u;
let a_181 = batch * 9216u + key_head * 32u + row_179 * 96u + d_180;
let q_182 = r2[(a_181) / 4u + 0u];
held_58 = q_182;
let i_183 = lane + 384u;
let row_184 = i_183 / 8u;
let c_185 = i_183 % 8u;
let row_186 = min(keys_at + row_184, 95u);
let d_187 = c_185 * 4u;
let a_188 = batch * 9216u + key_head * 32u + row_186 * 96u + d_187;
let q_189 = r2[(a_188) / 4u + 0u];
held_59 = q_189;
let i_190 = lane + 448u;
let row_191 = i_190 / 8u;
let c_192 = i_190 % 8u;
let row_193 = min(keys_at + row_191, 95u);
let d_194 = c_192 * 4u;
let a_195 = batch * 9216u + key_head * 32u + row_193 * 96u + d_194;
let q_196 = r2[(a_195) / 4u + 0u];
held_60 = q_196;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
var s0_2 = coop_mat16x16<f32, C>();
var s0_3 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(0u) / 4u], 10u);
s0_0 = coopMultiplyAdd(q0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(640u) / 4u], 10u);
s0_1 = coopMultiplyAdd(q0_0, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1280u) / 4u], 10u);
s0_2 = coopMultiplyAdd(q0_0, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1920u) / 4u], 10u);
s0_3 = coopMultiplyAdd(q0_0, b3, s0_3);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&keys[(16u) / 4u], 10u);
s0_0 = coopMultiplyAdd(q0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&keys[(656u) / 4u], 10u);
s0_1 = coopMultiplyAdd(q0_1, b1, s0_1);
let b2 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1296u) / 4u], 10u);
s0_2 = coopMultiplyAdd(q0_1, b2, s0_2);
let b3 = coopLoad<coop_mat16x16<f16, B>>(&keys[(1936u) / 4u], 10u);
s0_3 = coopMultiplyAdd(q0_1, b3, s0_3);
}
coopStoreT(s0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(s0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
coopStoreT(s0_2, &sight[((block + 0u) * 72u + 32u) / 4u], 18u);
coopStoreT(s0_3, &sight[((block + 0u) * 72u + 48u) / 4u], 18u);
}
workgroupBarrier();
let key0 = keys_at + (column + 0u) * 4u;
let key1 = keys_at + (column + 8u) * 4u;
var x0_0 = sight[row0 * 18u + (column + 0u)] * (1.7677669e-1f);
var x0_1 = sight[row0 * 18u + (column + 8u)] * (1.7677669e-1f);
var x1_0 = sight[row1 * 18u + (column + 0u)] * (1.7677669e-1f);
var x1_1 = sight[row1 * 18u + (column + 8u)] * (1.7677669e-1f);
var x2_0 = sight[row2 * 18u + (column + 0u)] * (1.7677669e-1f);
var x2_1 = sight[row2 * 18u + (column + 8u)] * (1.7677669e-1f);
var x3_0 = sight[row3 * 18u + (column + 0u)] * (1.7677669e-1f);
var x3_1 = sight[row3 * 18u + (column + 8u)] * (1.7677669e-1f);
if (keys_at + 64u > 96u || keys_at + 63u > start) {
{
let each = vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u);
x0_0 = select(x0_0, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query0)));
x1_0 = select(x1_0, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query1)));
x2_0 = select(x2_0, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query2)));
x3_0 = select(x3_0, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query3)));
}
{
let each = vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u);
x0_1 = select(x0_1, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query0)));
x1_1 = select(x1_1, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query1)));
x2_1 = select(x2_1, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query2)));
x3_1 = select(x3_1, vec4<f32>((-infinity())), (each >= vec4<u32>(96u)) | (each > vec4<u32>(query3)));
}
}
var top0 = max(max(max(max(max(max(max(x0_0.x, x0_0.y), x0_0.z), x0_0.w), x0_1.x), x0_1.y), x0_1.z), x0_1.w);
let o_197 = subgroupShuffleXor(top0, 4u);
top0 = max(top0, o_197);
let o_198 = subgroupShuffleXor(top0, 2u);
top0 = max(top0, o_198);
let o_199 = subgroupShuffleXor(top0, 1u);
top0 = max(top0, o_199);
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
let o_200 = subgroupShuffleXor(top1, 4u);
top1 = max(top1, o_200);
let o_201 = subgroupShuffleXor(top1, 2u);
top1 = max(top1, o_201);
let o_202 = subgroupShuffleXor(top1, 1u);
top1 = max(top1, o_202);
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
let o_203 = subgroupShuffleXor(top2, 4u);
top2 = max(top2, o_203);
let o_204 = subgroupShuffleXor(top2, 2u);
top2 = max(top2, o_204);
let o_205 = subgroupShuffleXor(top2, 1u);
top2 = max(top2, o_205);
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
let o_206 = subgroupShuffleXor(top3, 4u);
top3 = max(top3, o_206);
let o_207 = subgroupShuffleXor(top3, 2u);
top3 = max(top3, o_207);
let o_208 = subgroupShuffleXor(top3, 1u);
top3 = max(top3, o_208);
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
let i_209 = lane + 0u;
let row_210 = i_209 / 8u;
let c_211 = i_209 % 8u;
keys[row_210 * 10u + c_211] = select(vec4<f16>(), held_53, keys_at + row_210 < 96u);
let i_212 = lane + 64u;
let row_213 = i_212 / 8u;
let c_214 = i_212 % 8u;
keys[row_213 * 10u + c_214] = select(vec4<f16>(), held_54, keys_at + row_213 < 96u);
let i_215 = lane + 128u;
let row_216 = i_215 / 8u;
let c_217 = i_215 % 8u;
keys[row_216 * 10u + c_217] = select(vec4<f16>(), held_55, keys_at + row_216 < 96u);
let i_218 = lane + 192u;
let row_219 = i_218 / 8u;
let c_220 = i_218 % 8u;
keys[row_219 * 10u + c_220] = select(vec4<f16>(), held_56, keys_at + row_219 < 96u);
let i_221 = lane + 256u;
let row_222 = i_221 / 8u;
let c_223 = i_221 % 8u;
keys[row_222 * 10u + c_223] = select(vec4<f16>(), held_57, keys_at + row_222 < 96u);
let i_224 = lane + 320u;
let row_225 = i_224 / 8u;
let c_226 = i_224 % 8u;
keys[row_225 * 10u + c_226] = select(vec4<f16>(), held_58, keys_at + row_225 < 96u);
let i_227 = lane + 384u;
let row_228 = i_227 / 8u;
let c_229 = i_227 % 8u;
keys[row_228 * 10u + c_229] = select(vec4<f16>(), held_59, keys_at + row_228 < 96u);
let i_230 = lane + 448u;
let row_231 = i_230 / 8u;
let c_232 = i_230 % 8u;
keys[row_231 * 10u + c_232] = select(vec4<f16>(), held_60, keys_at + row_231 < 96u);
let corrected = workgroupUniformLoad(&risen);
if (corrected != 0u) {
coopStoreT(o0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(o0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
workgroupBarrier();
sight[row0 * 18u + (column + 0u)] = sight[row0 * 18u + (column + 0u)] * fade0;
sight[row1 * 18u + (column + 0u)] = sight[row1 * 18u + (column + 0u)] * fade1;
sight[row2 * 18u + (column + 0u)] = sight[row2 * 18u + (column + 0u)] * fade2;
sight[row3 * 18u + (column + 0u)] = sight[row3 * 18u + (column + 0u)] * fade3;
workgroupBarrier();
o0_0 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 0u) / 4u], 18u);
o0_1 = coopLoadT<coop_mat16x16<f32, C>>(&sight[((block + 0u) * 72u + 16u) / 4u], 18u);
}
let next = keys_at + 64u;
let i_233 = lane + 0u;
let row_234 = i_233 / 8u;
let c_235 = i_233 % 8u;
let row_236 = min(next + row_234, 95u);
let d_237 = c_235 * 4u;
let a_238 = batch * 9216u + key_head * 32u + row_236 * 96u + d_237;
let q_239 = r1[(a_238) / 4u + 0u];
held_45 = q_239;
let i_240 = lane + 64u;
let row_241 = i_240 / 8u;
let c_242 = i_240 % 8u;
let row_243 = min(next + row_241, 95u);
let d_244 = c_242 * 4u;
let a_245 = batch * 9216u + key_head * 32u + row_243 * 96u + d_244;
let q_246 = r1[(a_245) / 4u + 0u];
held_46 = q_246;
let i_247 = lane + 128u;
let row_248 = i_247 / 8u;
let c_249 = i_247 % 8u;
let row_250 = min(next + row_248, 95u);
let d_251 = c_249 * 4u;
let a_252 = batch * 9216u + key_head * 32u + row_250 * 96u + d_251;
let q_253 = r1[(a_252) / 4u + 0u];
held_47 = q_253;
let i_254 = lane + 192u;
let row_255 = i_254 / 8u;
let c_256 = i_254 % 8u;
let row_257 = min(next + row_255, 95u);
let d_258 = c_256 * 4u;
let a_259 = batch * 9216u + key_head * 32u + row_257 * 96u + d_258;
let q_260 = r1[(a_259) / 4u + 0u];
held_48 = q_260;
let i_261 = lane + 256u;
let row_262 = i_261 / 8u;
let c_263 = i_261 % 8u;
let row_264 = min(next + row_262, 95u);
let d_265 = c_263 * 4u;
let a_266 = batch * 9216u + key_head * 32u + row_264 * 96u + d_265;
let q_267 = r1[(a_266) / 4u + 0u];
held_49 = q_267;
let i_268 = lane + 320u;
let row_269 = i_268 / 8u;
let c_270 = i_268 % 8u;
let row_271 = min(next + row_269, 95u);
let d_272 = c_270 * 4u;
let a_273 = batch * 9216u + key_head * 32u + row_271 * 96u + d_272;
let q_274 = r1[(a_273) / 4u + 0u];
held_50 = q_274;
let i_275 = lane + 384u;
let row_276 = i_275 / 8u;
let c_277 = i_275 % 8u;
let row_278 = min(next + row_276, 95u);
let d_279 = c_277 * 4u;
let a_280 = batch * 9216u + key_head * 32u + row_278 * 96u + d_279;
let q_281 = r1[(a_280) / 4u + 0u];
held_51 = q_281;
let i_282 = lane + 448u;
let row_283 = i_282 / 8u;
let c_284 = i_282 % 8u;
let row_285 = min(next + row_283, 95u);
let d_286 = c_284 * 4u;
let a_287 = batch * 9216u + key_head * 32u + row_285 * 96u + d_286;
let q_288 = r1[(a_287) / 4u + 0u];
held_52 = q_288;
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(0u) / 4u], 10u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(16u) / 4u], 10u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(640u) / 4u], 10u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(656u) / 4u], 10u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 32u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1280u) / 4u], 10u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1296u) / 4u], 10u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 48u) / 4u], 18u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1920u) / 4u], 10u);
o0_0 = coopMultiplyAdd(a0, b0, o0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&keys[(1936u) / 4u], 10u);
o0_1 = coopMultiplyAdd(a0, b1, o0_1);
}
}
let o_289 = subgroupShuffleXor(sum0, 4u);
sum0 += o_289;
let o_290 = subgroupShuffleXor(sum0, 2u);
sum0 += o_290;
let o_291 = subgroupShuffleXor(sum0, 1u);
sum0 += o_291;
let seen0 = sum0 != 0.0;
let share0 = select(0.0, 1.0 / sum0, seen0);
let stored0 = real && start + row0 < 96u;
let o_292 = subgroupShuffleXor(sum1, 4u);
sum1 += o_292;
let o_293 = subgroupShuffleXor(sum1, 2u);
sum1 += o_293;
let o_294 = subgroupShuffleXor(sum1, 1u);
sum1 += o_294;
let seen1 = sum1 != 0.0;
let share1 = select(0.0, 1.0 / sum1, seen1);
let stored1 = real && start + row1 < 96u;
let o_295 = subgroupShuffleXor(sum2, 4u);
sum2 += o_295;
let o_296 = subgroupShuffleXor(sum2, 2u);
sum2 += o_296;
let o_297 = subgroupShuffleXor(sum2, 1u);
sum2 += o_297;
let seen2 = sum2 != 0.0;
let share2 = select(0.0, 1.0 / sum2, seen2);
let stored2 = real && start + row2 < 96u;
let o_298 = subgroupShuffleXor(sum3, 4u);
sum3 += o_298;
let o_299 = subgroupShuffleXor(sum3, 2u);
sum3 += o_299;
let o_300 = subgroupShuffleXor(sum3, 1u);
sum3 += o_300;
let seen3 = sum3 != 0.0;
let share3 = select(0.0, 1.0 / sum3, seen3);
let stored3 = real && start + row3 < 96u;
workgroupBarrier();
coopStoreT(o0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(o0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
workgroupBarrier();
if (stored0 && ((column + 0u) + 0u) < 8u) {
let x_301 = sight[row0 * 18u + (column + 0u)] * share0;
let a_302 = ((batch * 96u + query0) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_302) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_301.x, x_301.y), pack_half(x_301.z, x_301.w));
}
if (stored0 && ((column + 8u) + 0u) < 8u) {
let x_303 = sight[row0 * 18u + (column + 8u)] * share0;
let a_304 = ((batch * 96u + query0) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w1[((a_304) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_303.x, x_303.y), pack_half(x_303.z, x_303.w));
}
if (stored1 && ((column + 0u) + 0u) < 8u) {
let x_305 = sight[row1 * 18u + (column + 0u)] * share1;
let a_306 = ((batch * 96u + query1) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_306) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_305.x, x_305.y), pack_half(x_305.z, x_305.w));
}
if (stored1 && ((column + 8u) + 0u) < 8u) {
let x_307 = sight[row1 * 18u + (column + 8u)] * share1;
let a_308 = ((batch * 96u + query1) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w1[((a_308) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_307.x, x_307.y), pack_half(x_307.z, x_307.w));
}
if (stored2 && ((column + 0u) + 0u) < 8u) {
let x_309 = sight[row2 * 18u + (column + 0u)] * share2;
let a_310 = ((batch * 96u + query2) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_310) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_309.x, x_309.y), pack_half(x_309.z, x_309.w));
}
if (stored2 && ((column + 8u) + 0u) < 8u) {
let x_311 = sight[row2 * 18u + (column + 8u)] * share2;
let a_312 = ((batch * 96u + query2) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w1[((a_312) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_311.x, x_311.y), pack_half(x_311.z, x_311.w));
}
if (stored3 && ((column + 0u) + 0u) < 8u) {
let x_313 = sight[row3 * 18u + (column + 0u)] * share3;
let a_314 = ((batch * 96u + query3) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_314) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_313.x, x_313.y), pack_half(x_313.z, x_313.w));
}
if (stored3 && ((column + 8u) + 0u) < 8u) {
let x_315 = sight[row3 * 18u + (column + 8u)] * share3;
let a_316 = ((batch * 96u + query3) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w1[((a_316) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_315.x, x_315.y), pack_half(x_315.z, x_315.w));
}
if (stored0 && column == 0u) {
let lse = select((-infinity()), shift0 + log(sum0), seen0);
w0[(batch * 3u + head0) * 96u + query0 + 0u] = bitcast<u32>(lse);
}
if (stored1 && column == 0u) {
let lse = select((-infinity()), shift1 + log(sum1), seen1);
w0[(batch * 3u + head0) * 96u + query1 + 0u] = bitcast<u32>(lse);
}
if (stored2 && column == 0u) {
let lse = select((-infinity()), shift2 + log(sum2), seen2);
w0[(batch * 3u + head0) * 96u + query2 + 0u] = bitcast<u32>(lse);
}
if (stored3 && column == 0u) {
let lse = select((-infinity()), shift3 + log(sum3), seen3);
w0[(batch * 3u + head0) * 96u + query3 + 0u] = bitcast<u32>(lse);
}
}

// attention_grad_q_attention_grad_k_attention_grad_v f16 2x96x3x32: [36, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r3: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> r5: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> r4: array<u32>;
@group(0) @binding(3) var<storage, read_write> s0: array<u32>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 36u;
let wanted = group * 16u + lane / 8u;
let row = min(wanted, 575u);
let c_1 = (row % 96u);
let n_2 = row / 96u;
let c_3 = (n_2 % 3u);
let n_4 = n_2 / 3u;
var sum = 0.0;
for (var c = lane % 8u; c < 8u; c += 8u) {
let d_5 = (c) * 4u;
let a_6 = n_4 * 9216u + c_3 * 32u + c_1 * 96u + d_5;
let q_7 = r3[((a_6) / 2u) / 2u + 0u];
let u_8 = q_7.x;
let u_9 = q_7.y;
let x_10 = vec4<f32>(unpack2x16float(u_8).x, unpack2x16float(u_8).y, unpack2x16float(u_9).x, unpack2x16float(u_9).y);
let d_11 = (c) * 4u;
let a_12 = n_4 * 9216u + c_3 * 32u + c_1 * 96u + d_11;
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
if (wanted < 576u && lane % 8u == 0u) {
let a_21 = n_4 * 288u + c_3 * 96u + c_1;
let lse = bitcast<f32>(r4[a_21 + 0u]);
let at = row / 96u * 96u + row % 96u;
s0[at + 0u] = bitcast<u32>(select(lse, 0.0, bitcast<u32>(lse) == 0xff800000u));
s0[(at + 576u) + 0u] = bitcast<u32>(x_17);
}
}

// attention_grad_q_attention_grad_k_attention_grad_v f16 2x96x3x32: [24, 1] workgroups
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
var<workgroup> passing0: array<vec4<f16>, 320>;
var<workgroup> passing1: array<vec4<f16>, 320>;
var<workgroup> weights: array<vec4<f16>, 640>;
var<workgroup> slopes: array<vec4<f16>, 640>;
var<workgroup> scores: array<vec4<f32>, 640>;
var<workgroup> dots: array<vec4<f32>, 640>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 24u;
let block = lane / 32u * 16u;
let team = block + lane % 32u / 8u;
let column = lane % 8u;
let at_work = min(group, 23u);
if (at_work < 12u) {
let work = at_work - 0u;
let unit = work % 6u;
let start = work / 6u * 64u;
let batch = unit / 3u;
let key_head = unit % 3u;
let row0 = team + 0u;
let safe0 = min(start + row0, 95u);
let row1 = team + 4u;
let safe1 = min(start + row1, 95u);
let row2 = team + 8u;
let safe2 = min(start + row2, 95u);
let row3 = team + 12u;
let safe3 = min(start + row3, 95u);
var held_1 = vec4<f16>();
var held_2 = vec4<f16>();
var held_3 = vec4<f16>();
var held_4 = vec4<f16>();
let i_5 = lane + 0u;
let row_6 = i_5 / 8u;
let c_7 = i_5 % 8u;
let row_8 = min(start + row_6, 95u);
let d_9 = c_7 * 4u;
let a_10 = batch * 9216u + key_head * 32u + row_8 * 96u + d_9;
let q_11 = r1[(a_10) / 4u + 0u];
held_1 = q_11;
let i_12 = lane + 128u;
let row_13 = i_12 / 8u;
let c_14 = i_12 % 8u;
let row_15 = min(start + row_13, 95u);
let d_16 = c_14 * 4u;
let a_17 = batch * 9216u + key_head * 32u + row_15 * 96u + d_16;
let q_18 = r1[(a_17) / 4u + 0u];
held_2 = q_18;
let i_19 = lane + 256u;
let row_20 = i_19 / 8u;
let c_21 = i_19 % 8u;
let row_22 = min(start + row_20, 95u);
let d_23 = c_21 * 4u;
let a_24 = batch * 9216u + key_head * 32u + row_22 * 96u + d_23;
let q_25 = r1[(a_24) / 4u + 0u];
held_3 = q_25;
let i_26 = lane + 384u;
let row_27 = i_26 / 8u;
let c_28 = i_26 % 8u;
let row_29 = min(start + row_27, 95u);
let d_30 = c_28 * 4u;
let a_31 = batch * 9216u + key_head * 32u + row_29 * 96u + d_30;
let q_32 = r1[(a_31) / 4u + 0u];
held_4 = q_32;
workgroupBarrier();
let i_33 = lane + 0u;
let row_34 = i_33 / 8u;
let c_35 = i_33 % 8u;
weights[row_34 * 10u + c_35] = select(vec4<f16>(), held_1, start + row_34 < 96u);
let i_36 = lane + 128u;
let row_37 = i_36 / 8u;
let c_38 = i_36 % 8u;
weights[row_37 * 10u + c_38] = select(vec4<f16>(), held_2, start + row_37 < 96u);
let i_39 = lane + 256u;
let row_40 = i_39 / 8u;
let c_41 = i_39 % 8u;
weights[row_40 * 10u + c_41] = select(vec4<f16>(), held_3, start + row_40 < 96u);
let i_42 = lane + 384u;
let row_43 = i_42 / 8u;
let c_44 = i_42 % 8u;
weights[row_43 * 10u + c_44] = select(vec4<f16>(), held_4, start + row_43 < 96u);
workgroupBarrier();
let x0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 0u) / 4u], 10u);
let x0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 16u) / 4u], 10u);
var held_45 = vec4<f16>();
var held_46 = vec4<f16>();
var held_47 = vec4<f16>();
var held_48 = vec4<f16>();
let i_49 = lane + 0u;
let row_50 = i_49 / 8u;
let c_51 = i_49 % 8u;
let row_52 = min(start + row_50, 95u);
let d_53 = c_51 * 4u;
let a_54 = batch * 9216u + key_head * 32u + row_52 * 96u + d_53;
let q_55 = r2[(a_54) / 4u + 0u];
held_45 = q_55;
let i_56 = lane + 128u;
let row_57 = i_56 / 8u;
let c_58 = i_56 % 8u;
let row_59 = min(start + row_57, 95u);
let d_60 = c_58 * 4u;
let a_61 = batch * 9216u + key_head * 32u + row_59 * 96u + d_60;
let q_62 = r2[(a_61) / 4u + 0u];
held_46 = q_62;
let i_63 = lane + 256u;
let row_64 = i_63 / 8u;
let c_65 = i_63 % 8u;
let row_66 = min(start + row_64, 95u);
let d_67 = c_65 * 4u;
let a_68 = batch * 9216u + key_head * 32u + row_66 * 96u + d_67;
let q_69 = r2[(a_68) / 4u + 0u];
held_47 = q_69;
let i_70 = lane + 384u;
let row_71 = i_70 / 8u;
let c_72 = i_70 % 8u;
let row_73 = min(start + row_71, 95u);
let d_74 = c_72 * 4u;
let a_75 = batch * 9216u + key_head * 32u + row_73 * 96u + d_74;
let q_76 = r2[(a_75) / 4u + 0u];
held_48 = q_76;
workgroupBarrier();
let i_77 = lane + 0u;
let row_78 = i_77 / 8u;
let c_79 = i_77 % 8u;
weights[row_78 * 10u + c_79] = select(vec4<f16>(), held_45, start + row_78 < 96u);
let i_80 = lane + 128u;
let row_81 = i_80 / 8u;
let c_82 = i_80 % 8u;
weights[row_81 * 10u + c_82] = select(vec4<f16>(), held_46, start + row_81 < 96u);
let i_83 = lane + 256u;
let row_84 = i_83 / 8u;
let c_85 = i_83 % 8u;
weights[row_84 * 10u + c_85] = select(vec4<f16>(), held_47, start + row_84 < 96u);
let i_86 = lane + 384u;
let row_87 = i_86 / 8u;
let c_88 = i_86 % 8u;
weights[row_87 * 10u + c_88] = select(vec4<f16>(), held_48, start + row_87 < 96u);
workgroupBarrier();
let y0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 0u) / 4u], 10u);
let y0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 16u) / 4u], 10u);
var ds0_0 = coop_mat16x16<f32, C>();
var ds0_1 = coop_mat16x16<f32, C>();
var dw0_0 = coop_mat16x16<f32, C>();
var dw0_1 = coop_mat16x16<f32, C>();
var held_89 = vec4<f16>();
var held_90 = vec4<f16>();
var held_91 = vec4<f16>();
var held_92 = vec4<f16>();
let first = start;
let until = 96u;
for (var member = 0u; member < 1u; member++) {
let head = key_head * 1u + member;
let i_93 = lane + 0u;
let row_94 = i_93 / 8u;
let c_95 = i_93 % 8u;
let row_96 = min(first + row_94, 95u);
let d_97 = c_95 * 4u;
let a_98 = batch * 9216u + head * 32u + row_96 * 96u + d_97;
let q_99 = r0[(a_98) / 4u + 0u];
held_89 = q_99;
let i_100 = lane + 128u;
let row_101 = i_100 / 8u;
let c_102 = i_100 % 8u;
let row_103 = min(first + row_101, 95u);
let d_104 = c_102 * 4u;
let a_105 = batch * 9216u + head * 32u + row_103 * 96u + d_104;
let q_106 = r0[(a_105) / 4u + 0u];
held_90 = q_106;
let i_107 = lane + 0u;
let row_108 = i_107 / 8u;
let c_109 = i_107 % 8u;
let row_110 = min(first + row_108, 95u);
let d_111 = c_109 * 4u;
let a_112 = batch * 9216u + head * 32u + row_110 * 96u + d_111;
let q_113 = r5[(a_112) / 4u + 0u];
held_91 = q_113;
let i_114 = lane + 128u;
let row_115 = i_114 / 8u;
let c_116 = i_114 % 8u;
let row_117 = min(first + row_115, 95u);
let d_118 = c_116 * 4u;
let a_119 = batch * 9216u + head * 32u + row_117 * 96u + d_118;
let q_120 = r5[(a_119) / 4u + 0u];
held_92 = q_120;
for (var at = first; at < until; at += 32u) {
workgroupBarrier();
let i_121 = lane + 0u;
let row_122 = i_121 / 8u;
let c_123 = i_121 % 8u;
passing0[row_122 * 10u + c_123] = held_89;
let i_124 = lane + 128u;
let row_125 = i_124 / 8u;
let c_126 = i_124 % 8u;
passing0[row_125 * 10u + c_126] = held_90;
let i_127 = lane + 0u;
let row_128 = i_127 / 8u;
let c_129 = i_127 % 8u;
passing1[row_128 * 10u + c_129] = held_91;
let i_130 = lane + 128u;
let row_131 = i_130 / 8u;
let c_132 = i_130 % 8u;
passing1[row_131 * 10u + c_132] = held_92;
workgroupBarrier();
let next = at + 32u;
let i_133 = lane + 0u;
let row_134 = i_133 / 8u;
let c_135 = i_133 % 8u;
let row_136 = min(next + row_134, 95u);
let d_137 = c_135 * 4u;
let a_138 = batch * 9216u + head * 32u + row_136 * 96u + d_137;
let q_139 = r0[(a_138) / 4u + 0u];
held_89 = q_139;
let i_140 = lane + 128u;
let row_141 = i_140 / 8u;
let c_142 = i_140 % 8u;
let row_143 = min(next + row_141, 95u);
let d_144 = c_142 * 4u;
let a_145 = batch * 9216u + head * 32u + row_143 * 96u + d_144;
let q_146 = r0[(a_145) / 4u + 0u];
held_90 = q_146;
let i_147 = lane + 0u;
let row_148 = i_147 / 8u;
let c_149 = i_147 % 8u;
let row_150 = min(next + row_148, 95u);
let d_151 = c_149 * 4u;
let a_152 = batch * 9216u + head * 32u + row_150 * 96u + d_151;
let q_153 = r5[(a_152) / 4u + 0u];
held_91 = q_153;
let i_154 = lane + 128u;
let row_155 = i_154 / 8u;
let c_156 = i_154 % 8u;
let row_157 = min(next + row_155, 95u);
let d_158 = c_156 * 4u;
let a_159 = batch * 9216u + head * 32u + row_157 * 96u + d_158;
let q_160 = r5[(a_159) / 4u + 0u];
held_92 = q_160;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 10u);
s0_0 = coopMultiplyAdd(x0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(640u) / 4u], 10u);
s0_1 = coopMultiplyAdd(x0_0, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 10u);
s0_0 = coopMultiplyAdd(x0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(656u) / 4u], 10u);
s0_1 = coopMultiplyAdd(x0_1, b1, s0_1);
}
coopStoreT(s0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(s0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
var t0_0 = coop_mat16x16<f32, C>();
var t0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 10u);
t0_0 = coopMultiplyAdd(y0_0, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(640u) / 4u], 10u);
t0_1 = coopMultiplyAdd(y0_0, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 10u);
t0_0 = coopMultiplyAdd(y0_1, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(656u) / 4u], 10u);
t0_1 = coopMultiplyAdd(y0_1, b1, t0_1);
}
coopStoreT(t0_0, &dots[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(t0_1, &dots[((block + 0u) * 40u + 16u) / 4u], 10u);
}
workgroupBarrier();
{
let other = at + (column + 0u) * 4u;
let each = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);
let a_161 = (batch * 3u + head) * 96u + min(other, 92u);
let q_162 = s0[((a_161 + 0u)) / 4u + 0u];
let q_163 = s0[((a_161 + 576u)) / 4u + 0u];
let lse = vec4<f32>(bitcast<f32>(q_162.x), bitcast<f32>(q_162.y), bitcast<f32>(q_162.z), bitcast<f32>(q_162.w));
let delta = vec4<f32>(bitcast<f32>(q_163.x), bitcast<f32>(q_163.y), bitcast<f32>(q_163.z), bitcast<f32>(q_163.w));
var p0 = scores[row0 * 10u + (column + 0u)] * (1.7677669e-1f);
p0 = exp(p0 - lse);
var p1 = scores[row1 * 10u + (column + 0u)] * (1.7677669e-1f);
p1 = exp(p1 - lse);
var p2 = scores[row2 * 10u + (column + 0u)] * (1.7677669e-1f);
p2 = exp(p2 - lse);
var p3 = scores[row3 * 10u + (column + 0u)] * (1.7677669e-1f);
p3 = exp(p3 - lse);
if (start + 63u > at) {
p0 = select(p0, vec4<f32>(), (vec4<u32>(start + row0) > each));
p1 = select(p1, vec4<f32>(), (vec4<u32>(start + row1) > each));
p2 = select(p2, vec4<f32>(), (vec4<u32>(start + row2) > each));
p3 = select(p3, vec4<f32>(), (vec4<u32>(start + row3) > each));
}
weights[row0 * 10u + (column + 0u)] = vec4<f16>(p0);
slopes[row0 * 10u + (column + 0u)] = vec4<f16>(select(p0 * (dots[row0 * 10u + (column + 0u)] - delta), vec4<f32>(), p0 == vec4<f32>()));
weights[row1 * 10u + (column + 0u)] = vec4<f16>(p1);
slopes[row1 * 10u + (column + 0u)] = vec4<f16>(select(p1 * (dots[row1 * 10u + (column + 0u)] - delta), vec4<f32>(), p1 == vec4<f32>()));
weights[row2 * 10u + (column + 0u)] = vec4<f16>(p2);
slopes[row2 * 10u + (column + 0u)] = vec4<f16>(select(p2 * (dots[row2 * 10u + (column + 0u)] - delta), vec4<f32>(), p2 == vec4<f32>()));
weights[row3 * 10u + (column + 0u)] = vec4<f16>(p3);
slopes[row3 * 10u + (column + 0u)] = vec4<f16>(select(p3 * (dots[row3 * 10u + (column + 0u)] - delta), vec4<f32>(), p3 == vec4<f32>()));
}
workgroupBarrier();
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 10u);
dw0_0 = coopMultiplyAdd(a0, b0, dw0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 10u);
dw0_1 = coopMultiplyAdd(a0, b1, dw0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(640u) / 4u], 10u);
dw0_0 = coopMultiplyAdd(a0, b0, dw0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing1[(656u) / 4u], 10u);
dw0_1 = coopMultiplyAdd(a0, b1, dw0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 0u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 10u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 10u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(640u) / 4u], 10u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(656u) / 4u], 10u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
}
}
}
workgroupBarrier();
coopStoreT(dw0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(dw0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 96u && ((column + 0u) + 0u) < 8u) {
let x_164 = scores[row0 * 10u + (column + 0u)];
let a_165 = ((batch * 96u + safe0) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w2[((a_165) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_164.x, x_164.y), pack_half(x_164.z, x_164.w));
}
if (start + row1 < 96u && ((column + 0u) + 0u) < 8u) {
let x_166 = scores[row1 * 10u + (column + 0u)];
let a_167 = ((batch * 96u + safe1) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w2[((a_167) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_166.x, x_166.y), pack_half(x_166.z, x_166.w));
}
if (start + row2 < 96u && ((column + 0u) + 0u) < 8u) {
let x_168 = scores[row2 * 10u + (column + 0u)];
let a_169 = ((batch * 96u + safe2) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w2[((a_169) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_168.x, x_168.y), pack_half(x_168.z, x_168.w));
}
if (start + row3 < 96u && ((column + 0u) + 0u) < 8u) {
let x_170 = scores[row3 * 10u + (column + 0u)];
let a_171 = ((batch * 96u + safe3) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w2[((a_171) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_170.x, x_170.y), pack_half(x_170.z, x_170.w));
}
workgroupBarrier();
coopStoreT(ds0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 96u && ((column + 0u) + 0u) < 8u) {
let x_172 = scores[row0 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_173 = ((batch * 96u + safe0) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_173) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_172.x, x_172.y), pack_half(x_172.z, x_172.w));
}
if (start + row1 < 96u && ((column + 0u) + 0u) < 8u) {
let x_174 = scores[row1 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_175 = ((batch * 96u + safe1) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_175) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_174.x, x_174.y), pack_half(x_174.z, x_174.w));
}
if (start + row2 < 96u && ((column + 0u) + 0u) < 8u) {
let x_176 = scores[row2 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_177 = ((batch * 96u + safe2) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_177) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_176.x, x_176.y), pack_half(x_176.z, x_176.w));
}
if (start + row3 < 96u && ((column + 0u) + 0u) < 8u) {
let x_178 = scores[row3 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_179 = ((batch * 96u + safe3) * 3u + key_head) * 32u + (((column + 0u) + 0u)) * 4u;
w1[((a_179) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_178.x, x_178.y), pack_half(x_178.z, x_178.w));
}
}
else {
let work = at_work - 12u;
let unit = work % 6u;
let start = (1u - work / 6u) * 64u;
let batch = unit / 3u;
let head = unit % 3u;
let key_head = head / 1u;
let row0 = team + 0u;
let safe0 = min(start + row0, 95u);
let a_180 = (batch * 3u + head) * 96u + safe0;
let lse0 = vec4<f32>(bitcast<f32>(s0[((a_180 + 0u) + 0u) / 4u][((a_180 + 0u) + 0u) % 4u]));
let delta0 = vec4<f32>(bitcast<f32>(s0[((a_180 + 576u) + 0u) / 4u][((a_180 + 576u) + 0u) % 4u]));
let row1 = team + 4u;
let safe1 = min(start + row1, 95u);
let a_181 = (batch * 3u + head) * 96u + safe1;
let lse1 = vec4<f32>(bitcast<f32>(s0[((a_181 + 0u) + 0u) / 4u][((a_181 + 0u) + 0u) % 4u]));
let delta1 = vec4<f32>(bitcast<f32>(s0[((a_181 + 576u) + 0u) / 4u][((a_181 + 576u) + 0u) % 4u]));
let row2 = team + 8u;
let safe2 = min(start + row2, 95u);
let a_182 = (batch * 3u + head) * 96u + safe2;
let lse2 = vec4<f32>(bitcast<f32>(s0[((a_182 + 0u) + 0u) / 4u][((a_182 + 0u) + 0u) % 4u]));
let delta2 = vec4<f32>(bitcast<f32>(s0[((a_182 + 576u) + 0u) / 4u][((a_182 + 576u) + 0u) % 4u]));
let row3 = team + 12u;
let safe3 = min(start + row3, 95u);
let a_183 = (batch * 3u + head) * 96u + safe3;
let lse3 = vec4<f32>(bitcast<f32>(s0[((a_183 + 0u) + 0u) / 4u][((a_183 + 0u) + 0u) % 4u]));
let delta3 = vec4<f32>(bitcast<f32>(s0[((a_183 + 576u) + 0u) / 4u][((a_183 + 576u) + 0u) % 4u]));
var held_184 = vec4<f16>();
var held_185 = vec4<f16>();
var held_186 = vec4<f16>();
var held_187 = vec4<f16>();
let i_188 = lane + 0u;
let row_189 = i_188 / 8u;
let c_190 = i_188 % 8u;
let row_191 = min(start + row_189, 95u);
let d_192 = c_190 * 4u;
let a_193 = batch * 9216u + head * 32u + row_191 * 96u + d_192;
let q_194 = r0[(a_193) / 4u + 0u];
held_184 = q_194;
let i_195 = lane + 128u;
let row_196 = i_195 / 8u;
let c_197 = i_195 % 8u;
let row_198 = min(start + row_196, 95u);
let d_199 = c_197 * 4u;
let a_200 = batch * 9216u + head * 32u + row_198 * 96u + d_199;
let q_201 = r0[(a_200) / 4u + 0u];
held_185 = q_201;
let i_202 = lane + 256u;
let row_203 = i_202 / 8u;
let c_204 = i_202 % 8u;
let row_205 = min(start + row_203, 95u);
let d_206 = c_204 * 4u;
let a_207 = batch * 9216u + head * 32u + row_205 * 96u + d_206;
let q_208 = r0[(a_207) / 4u + 0u];
held_186 = q_208;
let i_209 = lane + 384u;
let row_210 = i_209 / 8u;
let c_211 = i_209 % 8u;
let row_212 = min(start + row_210, 95u);
let d_213 = c_211 * 4u;
let a_214 = batch * 9216u + head * 32u + row_212 * 96u + d_213;
let q_215 = r0[(a_214) / 4u + 0u];
held_187 = q_215;
workgroupBarrier();
let i_216 = lane + 0u;
let row_217 = i_216 / 8u;
let c_218 = i_216 % 8u;
weights[row_217 * 10u + c_218] = select(vec4<f16>(), held_184, start + row_217 < 96u);
let i_219 = lane + 128u;
let row_220 = i_219 / 8u;
let c_221 = i_219 % 8u;
weights[row_220 * 10u + c_221] = select(vec4<f16>(), held_185, start + row_220 < 96u);
let i_222 = lane + 256u;
let row_223 = i_222 / 8u;
let c_224 = i_222 % 8u;
weights[row_223 * 10u + c_224] = select(vec4<f16>(), held_186, start + row_223 < 96u);
let i_225 = lane + 384u;
let row_226 = i_225 / 8u;
let c_227 = i_225 % 8u;
weights[row_226 * 10u + c_227] = select(vec4<f16>(), held_187, start + row_226 < 96u);
workgroupBarrier();
let x0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 0u) / 4u], 10u);
let x0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 16u) / 4u], 10u);
var held_228 = vec4<f16>();
var held_229 = vec4<f16>();
var held_230 = vec4<f16>();
var held_231 = vec4<f16>();
let i_232 = lane + 0u;
let row_233 = i_232 / 8u;
let c_234 = i_232 % 8u;
let row_235 = min(start + row_233, 95u);
let d_236 = c_234 * 4u;
let a_237 = batch * 9216u + head * 32u + row_235 * 96u + d_236;
let q_238 = r5[(a_237) / 4u + 0u];
held_228 = q_238;
let i_239 = lane + 128u;
let row_240 = i_239 / 8u;
let c_241 = i_239 % 8u;
let row_242 = min(start + row_240, 95u);
let d_243 = c_241 * 4u;
let a_244 = batch * 9216u + head * 32u + row_242 * 96u + d_243;
let q_245 = r5[(a_244) / 4u + 0u];
held_229 = q_245;
let i_246 = lane + 256u;
let row_247 = i_246 / 8u;
let c_248 = i_246 % 8u;
let row_249 = min(start + row_247, 95u);
let d_250 = c_248 * 4u;
let a_251 = batch * 9216u + head * 32u + row_249 * 96u + d_250;
let q_252 = r5[(a_251) / 4u + 0u];
held_230 = q_252;
let i_253 = lane + 384u;
let row_254 = i_253 / 8u;
let c_255 = i_253 % 8u;
let row_256 = min(start + row_254, 95u);
let d_257 = c_255 * 4u;
let a_258 = batch * 9216u + head * 32u + row_256 * 96u + d_257;
let q_259 = r5[(a_258) / 4u + 0u];
held_231 = q_259;
workgroupBarrier();
let i_260 = lane + 0u;
let row_261 = i_260 / 8u;
let c_262 = i_260 % 8u;
weights[row_261 * 10u + c_262] = select(vec4<f16>(), held_228, start + row_261 < 96u);
let i_263 = lane + 128u;
let row_264 = i_263 / 8u;
let c_265 = i_263 % 8u;
weights[row_264 * 10u + c_265] = select(vec4<f16>(), held_229, start + row_264 < 96u);
let i_266 = lane + 256u;
let row_267 = i_266 / 8u;
let c_268 = i_266 % 8u;
weights[row_267 * 10u + c_268] = select(vec4<f16>(), held_230, start + row_267 < 96u);
let i_269 = lane + 384u;
let row_270 = i_269 / 8u;
let c_271 = i_269 % 8u;
weights[row_270 * 10u + c_271] = select(vec4<f16>(), held_231, start + row_270 < 96u);
workgroupBarrier();
let y0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 0u) / 4u], 10u);
let y0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 40u + 16u) / 4u], 10u);
var ds0_0 = coop_mat16x16<f32, C>();
var ds0_1 = coop_mat16x16<f32, C>();
var held_272 = vec4<f16>();
var held_273 = vec4<f16>();
var held_274 = vec4<f16>();
var held_275 = vec4<f16>();
let first = 0u;
let until = min(96u, start + 64u);
let i_276 = lane + 0u;
let row_277 = i_276 / 8u;
let c_278 = i_276 % 8u;
let row_279 = min(first + row_277, 95u);
let d_280 = c_278 * 4u;
let a_281 = batch * 9216u + key_head * 32u + row_279 * 96u + d_280;
let q_282 = r1[(a_281) / 4u + 0u];
held_272 = q_282;
let i_283 = lane + 128u;
let row_284 = i_283 / 8u;
let c_285 = i_283 % 8u;
let row_286 = min(first + row_284, 95u);
let d_287 = c_285 * 4u;
let a_288 = batch * 9216u + key_head * 32u + row_286 * 96u + d_287;
let q_289 = r1[(a_288) / 4u + 0u];
held_273 = q_289;
let i_290 = lane + 0u;
let row_291 = i_290 / 8u;
let c_292 = i_290 % 8u;
let row_293 = min(first + row_291, 95u);
let d_294 = c_292 * 4u;
let a_295 = batch * 9216u + key_head * 32u + row_293 * 96u + d_294;
let q_296 = r2[(a_295) / 4u + 0u];
held_274 = q_296;
let i_297 = lane + 128u;
let row_298 = i_297 / 8u;
let c_299 = i_297 % 8u;
let row_300 = min(first + row_298, 95u);
let d_301 = c_299 * 4u;
let a_302 = batch * 9216u + key_head * 32u + row_300 * 96u + d_301;
let q_303 = r2[(a_302) / 4u + 0u];
held_275 = q_303;
for (var at = first; at < until; at += 32u) {
workgroupBarrier();
let i_304 = lane + 0u;
let row_305 = i_304 / 8u;
let c_306 = i_304 % 8u;
passing0[row_305 * 10u + c_306] = held_272;
let i_307 = lane + 128u;
let row_308 = i_307 / 8u;
let c_309 = i_307 % 8u;
passing0[row_308 * 10u + c_309] = held_273;
let i_310 = lane + 0u;
let row_311 = i_310 / 8u;
let c_312 = i_310 % 8u;
passing1[row_311 * 10u + c_312] = held_274;
let i_313 = lane + 128u;
let row_314 = i_313 / 8u;
let c_315 = i_313 % 8u;
passing1[row_314 * 10u + c_315] = held_275;
workgroupBarrier();
let next = at + 32u;
let i_316 = lane + 0u;
let row_317 = i_316 / 8u;
let c_318 = i_316 % 8u;
let row_319 = min(next + row_317, 95u);
let d_320 = c_318 * 4u;
let a_321 = batch * 9216u + key_head * 32u + row_319 * 96u + d_320;
let q_322 = r1[(a_321) / 4u + 0u];
held_272 = q_322;
let i_323 = lane + 128u;
let row_324 = i_323 / 8u;
let c_325 = i_323 % 8u;
let row_326 = min(next + row_324, 95u);
let d_327 = c_325 * 4u;
let a_328 = batch * 9216u + key_head * 32u + row_326 * 96u + d_327;
let q_329 = r1[(a_328) / 4u + 0u];
held_273 = q_329;
let i_330 = lane + 0u;
let row_331 = i_330 / 8u;
let c_332 = i_330 % 8u;
let row_333 = min(next + row_331, 95u);
let d_334 = c_332 * 4u;
let a_335 = batch * 9216u + key_head * 32u + row_333 * 96u + d_334;
let q_336 = r2[(a_335) / 4u + 0u];
held_274 = q_336;
let i_337 = lane + 128u;
let row_338 = i_337 / 8u;
let c_339 = i_337 % 8u;
let row_340 = min(next + row_338, 95u);
let d_341 = c_339 * 4u;
let a_342 = batch * 9216u + key_head * 32u + row_340 * 96u + d_341;
let q_343 = r2[(a_342) / 4u + 0u];
held_275 = q_343;
{
var s0_0 = coop_mat16x16<f32, C>();
var s0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 10u);
s0_0 = coopMultiplyAdd(x0_0, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(640u) / 4u], 10u);
s0_1 = coopMultiplyAdd(x0_0, b1, s0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 10u);
s0_0 = coopMultiplyAdd(x0_1, b0, s0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing0[(656u) / 4u], 10u);
s0_1 = coopMultiplyAdd(x0_1, b1, s0_1);
}
coopStoreT(s0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(s0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
var t0_0 = coop_mat16x16<f32, C>();
var t0_1 = coop_mat16x16<f32, C>();
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(0u) / 4u], 10u);
t0_0 = coopMultiplyAdd(y0_0, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(640u) / 4u], 10u);
t0_1 = coopMultiplyAdd(y0_0, b1, t0_1);
}
{
let b0 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(16u) / 4u], 10u);
t0_0 = coopMultiplyAdd(y0_1, b0, t0_0);
let b1 = coopLoad<coop_mat16x16<f16, B>>(&passing1[(656u) / 4u], 10u);
t0_1 = coopMultiplyAdd(y0_1, b1, t0_1);
}
coopStoreT(t0_0, &dots[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(t0_1, &dots[((block + 0u) * 40u + 16u) / 4u], 10u);
}
workgroupBarrier();
{
let other = at + (column + 0u) * 4u;
let each = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);
var p0 = scores[row0 * 10u + (column + 0u)] * (1.7677669e-1f);
p0 = exp(p0 - lse0);
var p1 = scores[row1 * 10u + (column + 0u)] * (1.7677669e-1f);
p1 = exp(p1 - lse1);
var p2 = scores[row2 * 10u + (column + 0u)] * (1.7677669e-1f);
p2 = exp(p2 - lse2);
var p3 = scores[row3 * 10u + (column + 0u)] * (1.7677669e-1f);
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
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(0u) / 4u], 10u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(16u) / 4u], 10u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
}
{
let a0 = coopLoadT<coop_mat16x16<f16, A>>(&slopes[((block + 0u) * 40u + 16u) / 4u], 10u);
let b0 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(640u) / 4u], 10u);
ds0_0 = coopMultiplyAdd(a0, b0, ds0_0);
let b1 = coopLoadT<coop_mat16x16<f16, B>>(&passing0[(656u) / 4u], 10u);
ds0_1 = coopMultiplyAdd(a0, b1, ds0_1);
}
}
workgroupBarrier();
coopStoreT(ds0_0, &scores[((block + 0u) * 40u + 0u) / 4u], 10u);
coopStoreT(ds0_1, &scores[((block + 0u) * 40u + 16u) / 4u], 10u);
workgroupBarrier();
if (start + row0 < 96u && ((column + 0u) + 0u) < 8u) {
let x_344 = scores[row0 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_345 = ((batch * 96u + safe0) * 3u + head) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_345) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_344.x, x_344.y), pack_half(x_344.z, x_344.w));
}
if (start + row1 < 96u && ((column + 0u) + 0u) < 8u) {
let x_346 = scores[row1 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_347 = ((batch * 96u + safe1) * 3u + head) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_347) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_346.x, x_346.y), pack_half(x_346.z, x_346.w));
}
if (start + row2 < 96u && ((column + 0u) + 0u) < 8u) {
let x_348 = scores[row2 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_349 = ((batch * 96u + safe2) * 3u + head) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_349) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_348.x, x_348.y), pack_half(x_348.z, x_348.w));
}
if (start + row3 < 96u && ((column + 0u) + 0u) < 8u) {
let x_350 = scores[row3 * 10u + (column + 0u)] * (1.7677669e-1f);
let a_351 = ((batch * 96u + safe3) * 3u + head) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_351) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_350.x, x_350.y), pack_half(x_350.z, x_350.w));
}
}
}

// copy f16 3 segments: [27, 1] workgroups
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
let group = workgroup.x + workgroup.y * 27u;
if (group < 9u) {
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 2304u) {
let c_2 = (i_1 % 4u) * 8u;
let n_3 = i_1 / 4u;
let c_4 = (n_3 % 96u);
let n_5 = n_3 / 96u;
let c_6 = (n_5 % 3u);
let n_7 = n_5 / 3u;
let q_8 = r0[((n_7 * 9216u + c_6 * 32u + c_4 * 96u + c_2) / 2u) / 4u + 0u];
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
w0[((n_7 * 9216u + c_6 * 3072u + c_4 * 32u + c_2) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s0_v0_0, s0_v0_1), pack_half(s0_v0_2, s0_v0_3), pack_half(s0_v0_4, s0_v0_5), pack_half(s0_v0_6, s0_v0_7));
}
}
else if (group < 18u) {
let i_13 = (group - 9u) * 256u + lane;
if (i_13 < 2304u) {
let c_14 = (i_13 % 4u) * 8u;
let n_15 = i_13 / 4u;
let c_16 = (n_15 % 96u);
let n_17 = n_15 / 96u;
let c_18 = (n_17 % 3u);
let n_19 = n_17 / 3u;
let q_20 = r1[((n_19 * 9216u + c_18 * 32u + c_16 * 96u + c_14) / 2u) / 4u + 0u];
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
w1[((n_19 * 9216u + c_18 * 3072u + c_16 * 32u + c_14) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s1_v0_0, s1_v0_1), pack_half(s1_v0_2, s1_v0_3), pack_half(s1_v0_4, s1_v0_5), pack_half(s1_v0_6, s1_v0_7));
}
}
else if (group < 27u) {
let i_25 = (group - 18u) * 256u + lane;
if (i_25 < 2304u) {
let c_26 = (i_25 % 4u) * 8u;
let n_27 = i_25 / 4u;
let c_28 = (n_27 % 96u);
let n_29 = n_27 / 96u;
let c_30 = (n_29 % 3u);
let n_31 = n_29 / 3u;
let q_32 = r2[((n_31 * 9216u + c_30 * 32u + c_28 * 96u + c_26) / 2u) / 4u + 0u];
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
w2[((n_31 * 9216u + c_30 * 3072u + c_28 * 32u + c_26) / 2u) / 4u + 0u] = vec4<u32>(pack_half(s2_v0_0, s2_v0_1), pack_half(s2_v0_2, s2_v0_3), pack_half(s2_v0_4, s2_v0_5), pack_half(s2_v0_6, s2_v0_7));
}
}
}

