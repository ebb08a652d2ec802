// attention f16 2x96x3x32: [18, 1] workgroups
enable f16;
enable wgpu_cooperative_matrix;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> r2: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> w0: array<vec2<u32>>;
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
var held_1 = vec4<u32>();
var held_2 = vec4<u32>();
let i_3 = lane + 0u;
let row_4 = i_3 / 4u;
let c_5 = i_3 % 4u;
let row_6 = min(start + row_4, 95u);
let d_7 = c_5 * 8u + 0u;
let at_8 = (batch * 9216u + head0 * 32u + row_6 * 96u + d_7) / 8u;
held_1 = r0[at_8];
let i_9 = lane + 64u;
let row_10 = i_9 / 4u;
let c_11 = i_9 % 4u;
let row_12 = min(start + row_10, 95u);
let d_13 = c_11 * 8u + 0u;
let at_14 = (batch * 9216u + head0 * 32u + row_12 * 96u + d_13) / 8u;
held_2 = r0[at_14];
workgroupBarrier();
let i_15 = lane + 0u;
let row_16 = i_15 / 4u;
let c_17 = i_15 % 4u;
weights[row_16 * 18u + c_17 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(held_1.x), unpack2x16float(held_1.y)));
weights[row_16 * 18u + c_17 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(held_1.z), unpack2x16float(held_1.w)));
let i_18 = lane + 64u;
let row_19 = i_18 / 4u;
let c_20 = i_18 % 4u;
weights[row_19 * 18u + c_20 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(held_2.x), unpack2x16float(held_2.y)));
weights[row_19 * 18u + c_20 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(held_2.z), unpack2x16float(held_2.w)));
workgroupBarrier();
let q0_0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 0u) / 4u], 18u);
let q0_1 = coopLoadT<coop_mat16x16<f16, A>>(&weights[((block + 0u) * 72u + 16u) / 4u], 18u);
var held_21 = vec4<u32>();
var held_22 = vec4<u32>();
var held_23 = vec4<u32>();
var held_24 = vec4<u32>();
var held_25 = vec4<u32>();
var held_26 = vec4<u32>();
var held_27 = vec4<u32>();
var held_28 = vec4<u32>();
let first = part * 256u;
let i_29 = lane + 0u;
let row_30 = i_29 / 4u;
let c_31 = i_29 % 4u;
let row_32 = min(first + row_30, 95u);
let d_33 = c_31 * 8u + 0u;
let at_34 = (batch * 9216u + key_head * 32u + row_32 * 96u + d_33) / 8u;
held_21 = r1[at_34];
let i_35 = lane + 64u;
let row_36 = i_35 / 4u;
let c_37 = i_35 % 4u;
let row_38 = min(first + row_36, 95u);
let d_39 = c_37 * 8u + 0u;
let at_40 = (batch * 9216u + key_head * 32u + row_38 * 96u + d_39) / 8u;
held_22 = r1[at_40];
let i_41 = lane + 128u;
let row_42 = i_41 / 4u;
let c_43 = i_41 % 4u;
let row_44 = min(first + row_42, 95u);
let d_45 = c_43 * 8u + 0u;
let at_46 = (batch * 9216u + key_head * 32u + row_44 * 96u + d_45) / 8u;
held_23 = r1[at_46];
let i_47 = lane + 192u;
let row_48 = i_47 / 4u;
let c_49 = i_47 % 4u;
let row_50 = min(first + row_48, 95u);
let d_51 = c_49 * 8u + 0u;
let at_52 = (batch * 9216u + key_head * 32u + row_50 * 96u + d_51) / 8u;
held_24 = r1[at_52];
let until = min(min(96u, start + 32u), (part + 1u) * 256u);
for (var keys_at = part * 256u; keys_at < until; keys_at += 64u) {
workgroupBarrier();
let i_53 = lane + 0u;
let row_54 = i_53 / 4u;
let c_55 = i_53 % 4u;
let v_56 = select(vec4<u32>(), held_21, keys_at + row_54 < 96u);
keys[row_54 * 10u + c_55 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_56.x), unpack2x16float(v_56.y)));
keys[row_54 * 10u + c_55 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_56.z), unpack2x16float(v_56.w)));
let i_57 = lane + 64u;
let row_58 = i_57 / 4u;
let c_59 = i_57 % 4u;
let v_60 = select(vec4<u32>(), held_22, keys_at + row_58 < 96u);
keys[row_58 * 10u + c_59 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_60.x), unpack2x16float(v_60.y)));
keys[row_58 * 10u + c_59 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_60.z), unpack2x16float(v_60.w)));
let i_61 = lane + 128u;
let row_62 = i_61 / 4u;
let c_63 = i_61 % 4u;
let v_64 = select(vec4<u32>(), held_23, keys_at + row_62 < 96u);
keys[row_62 * 10u + c_63 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_64.x), unpack2x16float(v_64.y)));
keys[row_62 * 10u + c_63 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_64.z), unpack2x16float(v_64.w)));
let i_65 = lane + 192u;
let row_66 = i_65 / 4u;
let c_67 = i_65 % 4u;
let v_68 = select(vec4<u32>(), held_24, keys_at + row_66 < 96u);
keys[row_66 * 10u + c_67 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_68.x), unpack2x16float(v_68.y)));
keys[row_66 * 10u + c_67 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_68.z), unpack2x16float(v_68.w)));
if (lane == 0u) { risen = 0u; }
workgroupBarrier();
let i_69 = lane + 0u;
let row_70 = i_69 / 4u;
let c_71 = i_69 % 4u;
let row_72 = min(keys_at + row_70, 95u);
let d_73 = c_71 * 8u + 0u;
let at_74 = (batch * 9216u + key_head * 32u + row_72 * 96u + d_73) / 8u;
held_25 = r2[at_74];
let i_75 = lane + 64u;
let row_76 = i_75 / 4u;
let c_77 = i_75 % 4u;
let row_78 = min(keys_at + row_76, 95u);
let d_79 = c_77 * 8u + 0u;
let at_80 = (batch * 9216u + key_head * 32u + row_78 * 96u + d_79) / 8u;
held_26 = r2[at_80];
let i_81 = lane + 128u;
let row_82 = i_81 / 4u;
let c_83 = i_81 % 4u;
let row_84 = min(keys_at + row_82, 95u);
let d_85 = c_83 * 8u + 0u;
let at_86 = (batch * 9216u + key_head * 32u + row_84 * 96u + d_85) / 8u;
held_27 = r2[at_86];
let i_87 = lane + 192u;
let row_88 = i_87 / 4u;
let c_89 = i_87 % 4u;
let row_90 = min(keys_at + row_88, 95u);
let d_91 = c_89 * 8u + 0u;
let at_92 = (batch * 9216u + key_head * 32u + row_90 * 96u + d_91) / 8u;
held_28 = r2[at_92];
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
let i_93 = lane + 0u;
let row_94 = i_93 / 4u;
let c_95 = i_93 % 4u;
let v_96 = select(vec4<u32>(), held_25, keys_at + row_94 < 96u);
keys[row_94 * 10u + c_95 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_96.x), unpack2x16float(v_96.y)));
keys[row_94 * 10u + c_95 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_96.z), unpack2x16float(v_96.w)));
let i_97 = lane + 64u;
let row_98 = i_97 / 4u;
let c_99 = i_97 % 4u;
let v_100 = select(vec4<u32>(), held_26, keys_at + row_98 < 96u);
keys[row_98 * 10u + c_99 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_100.x), unpack2x16float(v_100.y)));
keys[row_98 * 10u + c_99 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_100.z), unpack2x16float(v_100.w)));
let i_101 = lane + 128u;
let row_102 = i_101 / 4u;
let c_103 = i_101 % 4u;
let v_104 = select(vec4<u32>(), held_27, keys_at + row_102 < 96u);
keys[row_102 * 10u + c_103 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_104.x), unpack2x16float(v_104.y)));
keys[row_102 * 10u + c_103 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_104.z), unpack2x16float(v_104.w)));
let i_105 = lane + 192u;
let row_106 = i_105 / 4u;
let c_107 = i_105 % 4u;
let v_108 = select(vec4<u32>(), held_28, keys_at + row_106 < 96u);
keys[row_106 * 10u + c_107 * 2u + 0u] = vec4<f16>(vec4<f32>(unpack2x16float(v_108.x), unpack2x16float(v_108.y)));
keys[row_106 * 10u + c_107 * 2u + 1u] = vec4<f16>(vec4<f32>(unpack2x16float(v_108.z), unpack2x16float(v_108.w)));
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
x0_0 = select(x0_0, vec4<f32>((-infinity())), ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query0)));
x1_0 = select(x1_0, vec4<f32>((-infinity())), ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query1)));
x2_0 = select(x2_0, vec4<f32>((-infinity())), ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query2)));
x3_0 = select(x3_0, vec4<f32>((-infinity())), ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key0) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query3)));
x0_1 = select(x0_1, vec4<f32>((-infinity())), ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query0)));
x1_1 = select(x1_1, vec4<f32>((-infinity())), ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query1)));
x2_1 = select(x2_1, vec4<f32>((-infinity())), ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query2)));
x3_1 = select(x3_1, vec4<f32>((-infinity())), ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) >= vec4<u32>(96u)) | ((vec4<u32>(key1) + vec4<u32>(0u, 1u, 2u, 3u)) > vec4<u32>(query3)));
var top0 = max(max(max(max(max(max(max(x0_0.x, x0_0.y), x0_0.z), x0_0.w), x0_1.x), x0_1.y), x0_1.z), x0_1.w);
let o_109 = subgroupShuffleXor(top0, 4u);
top0 = max(top0, o_109);
let o_110 = subgroupShuffleXor(top0, 2u);
top0 = max(top0, o_110);
let o_111 = subgroupShuffleXor(top0, 1u);
top0 = max(top0, o_111);
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
let o_112 = subgroupShuffleXor(top1, 4u);
top1 = max(top1, o_112);
let o_113 = subgroupShuffleXor(top1, 2u);
top1 = max(top1, o_113);
let o_114 = subgroupShuffleXor(top1, 1u);
top1 = max(top1, o_114);
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
let o_115 = subgroupShuffleXor(top2, 4u);
top2 = max(top2, o_115);
let o_116 = subgroupShuffleXor(top2, 2u);
top2 = max(top2, o_116);
let o_117 = subgroupShuffleXor(top2, 1u);
top2 = max(top2, o_117);
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
let o_118 = subgroupShuffleXor(top3, 4u);
top3 = max(top3, o_118);
let o_119 = subgroupShuffleXor(top3, 2u);
top3 = max(top3, o_119);
let o_120 = subgroupShuffleXor(top3, 1u);
top3 = max(top3, o_120);
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
let i_121 = lane + 0u;
let row_122 = i_121 / 4u;
let c_123 = i_121 % 4u;
let row_124 = min(next + row_122, 95u);
let d_125 = c_123 * 8u + 0u;
let at_126 = (batch * 9216u + key_head * 32u + row_124 * 96u + d_125) / 8u;
held_21 = r1[at_126];
let i_127 = lane + 64u;
let row_128 = i_127 / 4u;
let c_129 = i_127 % 4u;
let row_130 = min(next + row_128, 95u);
let d_131 = c_129 * 8u + 0u;
let at_132 = (batch * 9216u + key_head * 32u + row_130 * 96u + d_131) / 8u;
held_22 = r1[at_132];
let i_133 = lane + 128u;
let row_134 = i_133 / 4u;
let c_135 = i_133 % 4u;
let row_136 = min(next + row_134, 95u);
let d_137 = c_135 * 8u + 0u;
let at_138 = (batch * 9216u + key_head * 32u + row_136 * 96u + d_137) / 8u;
held_23 = r1[at_138];
let i_139 = lane + 192u;
let row_140 = i_139 / 4u;
let c_141 = i_139 % 4u;
let row_142 = min(next + row_140, 95u);
let d_143 = c_141 * 8u + 0u;
let at_144 = (batch * 9216u + key_head * 32u + row_142 * 96u + d_143) / 8u;
held_24 = r1[at_144];
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
let o_145 = subgroupShuffleXor(sum0, 4u);
sum0 += o_145;
let o_146 = subgroupShuffleXor(sum0, 2u);
sum0 += o_146;
let o_147 = subgroupShuffleXor(sum0, 1u);
sum0 += o_147;
let seen0 = sum0 != 0.0;
let share0 = select(0.0, 1.0 / sum0, seen0);
let stored0 = real & (start + row0 < 96u);
let o_148 = subgroupShuffleXor(sum1, 4u);
sum1 += o_148;
let o_149 = subgroupShuffleXor(sum1, 2u);
sum1 += o_149;
let o_150 = subgroupShuffleXor(sum1, 1u);
sum1 += o_150;
let seen1 = sum1 != 0.0;
let share1 = select(0.0, 1.0 / sum1, seen1);
let stored1 = real & (start + row1 < 96u);
let o_151 = subgroupShuffleXor(sum2, 4u);
sum2 += o_151;
let o_152 = subgroupShuffleXor(sum2, 2u);
sum2 += o_152;
let o_153 = subgroupShuffleXor(sum2, 1u);
sum2 += o_153;
let seen2 = sum2 != 0.0;
let share2 = select(0.0, 1.0 / sum2, seen2);
let stored2 = real & (start + row2 < 96u);
let o_154 = subgroupShuffleXor(sum3, 4u);
sum3 += o_154;
let o_155 = subgroupShuffleXor(sum3, 2u);
sum3 += o_155;
let o_156 = subgroupShuffleXor(sum3, 1u);
sum3 += o_156;
let seen3 = sum3 != 0.0;
let share3 = select(0.0, 1.0 / sum3, seen3);
let stored3 = real & (start + row3 < 96u);
workgroupBarrier();
coopStoreT(o0_0, &sight[((block + 0u) * 72u + 0u) / 4u], 18u);
coopStoreT(o0_1, &sight[((block + 0u) * 72u + 16u) / 4u], 18u);
workgroupBarrier();
if (stored0 && ((column + 0u) + 0u) < 8u) {
let x_157 = sight[row0 * 18u + (column + 0u)] * share0;
let a_158 = ((batch * 96u + query0) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_158) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_157.x, x_157.y), pack_half(x_157.z, x_157.w));
}
if (stored0 && ((column + 8u) + 0u) < 8u) {
let x_159 = sight[row0 * 18u + (column + 8u)] * share0;
let a_160 = ((batch * 96u + query0) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w0[((a_160) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_159.x, x_159.y), pack_half(x_159.z, x_159.w));
}
if (stored1 && ((column + 0u) + 0u) < 8u) {
let x_161 = sight[row1 * 18u + (column + 0u)] * share1;
let a_162 = ((batch * 96u + query1) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_162) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_161.x, x_161.y), pack_half(x_161.z, x_161.w));
}
if (stored1 && ((column + 8u) + 0u) < 8u) {
let x_163 = sight[row1 * 18u + (column + 8u)] * share1;
let a_164 = ((batch * 96u + query1) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w0[((a_164) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_163.x, x_163.y), pack_half(x_163.z, x_163.w));
}
if (stored2 && ((column + 0u) + 0u) < 8u) {
let x_165 = sight[row2 * 18u + (column + 0u)] * share2;
let a_166 = ((batch * 96u + query2) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_166) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_165.x, x_165.y), pack_half(x_165.z, x_165.w));
}
if (stored2 && ((column + 8u) + 0u) < 8u) {
let x_167 = sight[row2 * 18u + (column + 8u)] * share2;
let a_168 = ((batch * 96u + query2) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w0[((a_168) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_167.x, x_167.y), pack_half(x_167.z, x_167.w));
}
if (stored3 && ((column + 0u) + 0u) < 8u) {
let x_169 = sight[row3 * 18u + (column + 0u)] * share3;
let a_170 = ((batch * 96u + query3) * 3u + head0) * 32u + (((column + 0u) + 0u)) * 4u;
w0[((a_170) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_169.x, x_169.y), pack_half(x_169.z, x_169.w));
}
if (stored3 && ((column + 8u) + 0u) < 8u) {
let x_171 = sight[row3 * 18u + (column + 8u)] * share3;
let a_172 = ((batch * 96u + query3) * 3u + head0) * 32u + (((column + 8u) + 0u)) * 4u;
w0[((a_172) / 2u) / 2u + 0u] = vec2<u32>(pack_half(x_171.x, x_171.y), pack_half(x_171.z, x_171.w));
}
}

// copy f16 18432: [9, 1] workgroups
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
let q_3 = r0[((c_2) / 2u) / 4u + 0u];
let u_4 = q_3.x;
let u_5 = q_3.y;
let u_6 = q_3.z;
let u_7 = q_3.w;
let v0_0 = unpack2x16float(u_4).x;
let v0_1 = unpack2x16float(u_4).y;
let v0_2 = unpack2x16float(u_5).x;
let v0_3 = unpack2x16float(u_5).y;
let v0_4 = unpack2x16float(u_6).x;
let v0_5 = unpack2x16float(u_6).y;
let v0_6 = unpack2x16float(u_7).x;
let v0_7 = unpack2x16float(u_7).y;
w0[((c_2) / 2u) / 4u + 0u] = vec4<u32>(pack_half(v0_0, v0_1), pack_half(v0_2, v0_3), pack_half(v0_4, v0_5), pack_half(v0_6, v0_7));
}
}

