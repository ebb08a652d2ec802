// matmul_add_mul_add_mul_tanh_and_2_more f32 512x3072x768: [192, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> r1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 1056>;
var<workgroup> tile_b: array<vec4<f32>, 1056>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 192u;
let at_tile = min(group, 191u);
let part = at_tile % 2u;
let at = at_tile / 2u;
let n_1 = at % 96u;
let n_2 = n_1 / 96u;
let n_3 = min(4u, 4u - n_2 * 4u);
let n_4 = n_1 % 96u;
let row0 = (n_2 * 4u + n_4 % n_3) * 128u;
let column0 = (n_4 / n_3) * 128u;
let n_5 = at / 96u;
let base_a = 0u;
let base_b = 0u;
let k_from = part * 384u;
let k_to = min(k_from + 384u, 768u);
let tx = lane % 16u;
let ty = lane / 16u;
var c0_0 = vec4<f32>();
var c0_1 = vec4<f32>();
var c1_0 = vec4<f32>();
var c1_1 = vec4<f32>();
var c2_0 = vec4<f32>();
var c2_1 = vec4<f32>();
var c3_0 = vec4<f32>();
var c3_1 = vec4<f32>();
var c4_0 = vec4<f32>();
var c4_1 = vec4<f32>();
var c5_0 = vec4<f32>();
var c5_1 = vec4<f32>();
var c6_0 = vec4<f32>();
var c6_1 = vec4<f32>();
var c7_0 = vec4<f32>();
var c7_1 = vec4<f32>();
var ar0_0: vec4<f32>;
var ar1_0: vec4<f32>;
var br0_0: vec4<f32>;
var br1_0: vec4<f32>;
{
let e_6 = lane + 0u;
let kk_7 = (e_6 % 4u) * 4u;
let oo_8 = e_6 / 4u;
let k_9 = k_from + kk_7;
let o_10 = row0 + oo_8;
let at_11 = base_a + o_10 * 768u + k_9;
let q_12 = r0[(at_11) / 4u + 0u];
ar0_0 = vec4<f32>(bitcast<f32>(q_12.x), bitcast<f32>(q_12.y), bitcast<f32>(q_12.z), bitcast<f32>(q_12.w));
}
{
let e_13 = lane + 256u;
let kk_14 = (e_13 % 4u) * 4u;
let oo_15 = e_13 / 4u;
let k_16 = k_from + kk_14;
let o_17 = row0 + oo_15;
let at_18 = base_a + o_17 * 768u + k_16;
let q_19 = r0[(at_18) / 4u + 0u];
ar1_0 = vec4<f32>(bitcast<f32>(q_19.x), bitcast<f32>(q_19.y), bitcast<f32>(q_19.z), bitcast<f32>(q_19.w));
}
{
let e_20 = lane + 0u;
let oo_21 = (e_20 % 32u) * 4u;
let kk_22 = e_20 / 32u;
let k_23 = k_from + kk_22;
let o_24 = column0 + oo_21;
let at_25 = base_b + o_24 + k_23 * 3072u;
let q_26 = r1[(at_25) / 4u + 0u];
br0_0 = vec4<f32>(bitcast<f32>(q_26.x), bitcast<f32>(q_26.y), bitcast<f32>(q_26.z), bitcast<f32>(q_26.w));
}
{
let e_27 = lane + 256u;
let oo_28 = (e_27 % 32u) * 4u;
let kk_29 = e_27 / 32u;
let k_30 = k_from + kk_29;
let o_31 = column0 + oo_28;
let at_32 = base_b + o_31 + k_30 * 3072u;
let q_33 = r1[(at_32) / 4u + 0u];
br1_0 = vec4<f32>(bitcast<f32>(q_33.x), bitcast<f32>(q_33.y), bitcast<f32>(q_33.z), bitcast<f32>(q_33.w));
}
{
let e_34 = lane + 0u;
let kk_35 = (e_34 % 4u) * 4u;
let oo_36 = e_34 / 4u;
tile_a[0u + (kk_35 + 0u) * 33u + oo_36 / 4u][oo_36 % 4u] = ar0_0.x;
tile_a[0u + (kk_35 + 1u) * 33u + oo_36 / 4u][oo_36 % 4u] = ar0_0.y;
tile_a[0u + (kk_35 + 2u) * 33u + oo_36 / 4u][oo_36 % 4u] = ar0_0.z;
tile_a[0u + (kk_35 + 3u) * 33u + oo_36 / 4u][oo_36 % 4u] = ar0_0.w;
}
{
let e_37 = lane + 256u;
let kk_38 = (e_37 % 4u) * 4u;
let oo_39 = e_37 / 4u;
tile_a[0u + (kk_38 + 0u) * 33u + oo_39 / 4u][oo_39 % 4u] = ar1_0.x;
tile_a[0u + (kk_38 + 1u) * 33u + oo_39 / 4u][oo_39 % 4u] = ar1_0.y;
tile_a[0u + (kk_38 + 2u) * 33u + oo_39 / 4u][oo_39 % 4u] = ar1_0.z;
tile_a[0u + (kk_38 + 3u) * 33u + oo_39 / 4u][oo_39 % 4u] = ar1_0.w;
}
{
let e_40 = lane + 0u;
let oo_41 = (e_40 % 32u) * 4u;
let kk_42 = e_40 / 32u;
tile_b[0u + kk_42 * 33u + oo_41 / 4u + 0u] = br0_0;
}
{
let e_43 = lane + 256u;
let oo_44 = (e_43 % 32u) * 4u;
let kk_45 = e_43 / 32u;
tile_b[0u + kk_45 * 33u + oo_44 / 4u + 0u] = br1_0;
}
workgroupBarrier();
var turn = 0u;
for (var k0 = k_from + 16u; k0 < k_to + 16u; k0 += 16u) {
let more = k0 < k_to;
if (more) {
{
let e_46 = lane + 0u;
let kk_47 = (e_46 % 4u) * 4u;
let oo_48 = e_46 / 4u;
let k_49 = k0 + kk_47;
let o_50 = row0 + oo_48;
let at_51 = base_a + o_50 * 768u + k_49;
let q_52 = r0[(at_51) / 4u + 0u];
ar0_0 = vec4<f32>(bitcast<f32>(q_52.x), bitcast<f32>(q_52.y), bitcast<f32>(q_52.z), bitcast<f32>(q_52.w));
}
{
let e_53 = lane + 256u;
let kk_54 = (e_53 % 4u) * 4u;
let oo_55 = e_53 / 4u;
let k_56 = k0 + kk_54;
let o_57 = row0 + oo_55;
let at_58 = base_a + o_57 * 768u + k_56;
let q_59 = r0[(at_58) / 4u + 0u];
ar1_0 = vec4<f32>(bitcast<f32>(q_59.x), bitcast<f32>(q_59.y), bitcast<f32>(q_59.z), bitcast<f32>(q_59.w));
}
{
let e_60 = lane + 0u;
let oo_61 = (e_60 % 32u) * 4u;
let kk_62 = e_60 / 32u;
let k_63 = k0 + kk_62;
let o_64 = column0 + oo_61;
let at_65 = base_b + o_64 + k_63 * 3072u;
let q_66 = r1[(at_65) / 4u + 0u];
br0_0 = vec4<f32>(bitcast<f32>(q_66.x), bitcast<f32>(q_66.y), bitcast<f32>(q_66.z), bitcast<f32>(q_66.w));
}
{
let e_67 = lane + 256u;
let oo_68 = (e_67 % 32u) * 4u;
let kk_69 = e_67 / 32u;
let k_70 = k0 + kk_69;
let o_71 = column0 + oo_68;
let at_72 = base_b + o_71 + k_70 * 3072u;
let q_73 = r1[(at_72) / 4u + 0u];
br1_0 = vec4<f32>(bitcast<f32>(q_73.x), bitcast<f32>(q_73.y), bitcast<f32>(q_73.z), bitcast<f32>(q_73.w));
}
}
let from_a = turn * 528u + ty;
let from_b = turn * 528u + tx;
{
let a0 = tile_a[from_a + 0u];
let a1 = tile_a[from_a + 16u];
let b0 = tile_b[from_b + 0u];
let b1 = tile_b[from_b + 16u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 33u];
let a1 = tile_a[from_a + 49u];
let b0 = tile_b[from_b + 33u];
let b1 = tile_b[from_b + 49u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 66u];
let a1 = tile_a[from_a + 82u];
let b0 = tile_b[from_b + 66u];
let b1 = tile_b[from_b + 82u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 99u];
let a1 = tile_a[from_a + 115u];
let b0 = tile_b[from_b + 99u];
let b1 = tile_b[from_b + 115u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 132u];
let a1 = tile_a[from_a + 148u];
let b0 = tile_b[from_b + 132u];
let b1 = tile_b[from_b + 148u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 165u];
let a1 = tile_a[from_a + 181u];
let b0 = tile_b[from_b + 165u];
let b1 = tile_b[from_b + 181u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 198u];
let a1 = tile_a[from_a + 214u];
let b0 = tile_b[from_b + 198u];
let b1 = tile_b[from_b + 214u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 231u];
let a1 = tile_a[from_a + 247u];
let b0 = tile_b[from_b + 231u];
let b1 = tile_b[from_b + 247u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 264u];
let a1 = tile_a[from_a + 280u];
let b0 = tile_b[from_b + 264u];
let b1 = tile_b[from_b + 280u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 297u];
let a1 = tile_a[from_a + 313u];
let b0 = tile_b[from_b + 297u];
let b1 = tile_b[from_b + 313u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 330u];
let a1 = tile_a[from_a + 346u];
let b0 = tile_b[from_b + 330u];
let b1 = tile_b[from_b + 346u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 363u];
let a1 = tile_a[from_a + 379u];
let b0 = tile_b[from_b + 363u];
let b1 = tile_b[from_b + 379u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 396u];
let a1 = tile_a[from_a + 412u];
let b0 = tile_b[from_b + 396u];
let b1 = tile_b[from_b + 412u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 429u];
let a1 = tile_a[from_a + 445u];
let b0 = tile_b[from_b + 429u];
let b1 = tile_b[from_b + 445u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 462u];
let a1 = tile_a[from_a + 478u];
let b0 = tile_b[from_b + 462u];
let b1 = tile_b[from_b + 478u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
{
let a0 = tile_a[from_a + 495u];
let a1 = tile_a[from_a + 511u];
let b0 = tile_b[from_b + 495u];
let b1 = tile_b[from_b + 511u];
c0_0 = fma(vec4<f32>(a0.x), b0, c0_0);
c0_1 = fma(vec4<f32>(a0.x), b1, c0_1);
c1_0 = fma(vec4<f32>(a0.y), b0, c1_0);
c1_1 = fma(vec4<f32>(a0.y), b1, c1_1);
c2_0 = fma(vec4<f32>(a0.z), b0, c2_0);
c2_1 = fma(vec4<f32>(a0.z), b1, c2_1);
c3_0 = fma(vec4<f32>(a0.w), b0, c3_0);
c3_1 = fma(vec4<f32>(a0.w), b1, c3_1);
c4_0 = fma(vec4<f32>(a1.x), b0, c4_0);
c4_1 = fma(vec4<f32>(a1.x), b1, c4_1);
c5_0 = fma(vec4<f32>(a1.y), b0, c5_0);
c5_1 = fma(vec4<f32>(a1.y), b1, c5_1);
c6_0 = fma(vec4<f32>(a1.z), b0, c6_0);
c6_1 = fma(vec4<f32>(a1.z), b1, c6_1);
c7_0 = fma(vec4<f32>(a1.w), b0, c7_0);
c7_1 = fma(vec4<f32>(a1.w), b1, c7_1);
}
turn = 1u - turn;
if (more) {
{
let e_74 = lane + 0u;
let kk_75 = (e_74 % 4u) * 4u;
let oo_76 = e_74 / 4u;
tile_a[turn * 528u + (kk_75 + 0u) * 33u + oo_76 / 4u][oo_76 % 4u] = ar0_0.x;
tile_a[turn * 528u + (kk_75 + 1u) * 33u + oo_76 / 4u][oo_76 % 4u] = ar0_0.y;
tile_a[turn * 528u + (kk_75 + 2u) * 33u + oo_76 / 4u][oo_76 % 4u] = ar0_0.z;
tile_a[turn * 528u + (kk_75 + 3u) * 33u + oo_76 / 4u][oo_76 % 4u] = ar0_0.w;
}
{
let e_77 = lane + 256u;
let kk_78 = (e_77 % 4u) * 4u;
let oo_79 = e_77 / 4u;
tile_a[turn * 528u + (kk_78 + 0u) * 33u + oo_79 / 4u][oo_79 % 4u] = ar1_0.x;
tile_a[turn * 528u + (kk_78 + 1u) * 33u + oo_79 / 4u][oo_79 % 4u] = ar1_0.y;
tile_a[turn * 528u + (kk_78 + 2u) * 33u + oo_79 / 4u][oo_79 % 4u] = ar1_0.z;
tile_a[turn * 528u + (kk_78 + 3u) * 33u + oo_79 / 4u][oo_79 % 4u] = ar1_0.w;
}
{
let e_80 = lane + 0u;
let oo_81 = (e_80 % 32u) * 4u;
let kk_82 = e_80 / 32u;
tile_b[turn * 528u + kk_82 * 33u + oo_81 / 4u + 0u] = br0_0;
}
{
let e_83 = lane + 256u;
let oo_84 = (e_83 % 32u) * 4u;
let kk_85 = e_83 / 32u;
tile_b[turn * 528u + kk_85 * 33u + oo_84 / 4u + 0u] = br1_0;
}
}
workgroupBarrier();
}
let row_0 = row0 + (ty + 0u) * 4u + 0u;
let row_1 = row0 + (ty + 0u) * 4u + 1u;
let row_2 = row0 + (ty + 0u) * 4u + 2u;
let row_3 = row0 + (ty + 0u) * 4u + 3u;
let row_4 = row0 + (ty + 16u) * 4u + 0u;
let row_5 = row0 + (ty + 16u) * 4u + 1u;
let row_6 = row0 + (ty + 16u) * 4u + 2u;
let row_7 = row0 + (ty + 16u) * 4u + 3u;
let column_0 = column0 + (tx + 0u) * 4u;
let column_1 = column0 + (tx + 16u) * 4u;
if (row_0 < 512u && column_0 < 3072u) {
let at_86 = (((part * 1u + 0u) * 512u + row_0) * 3072u + column_0);
s0[(at_86) / 4u + 0u] = vec4<u32>(bitcast<u32>(c0_0.x), bitcast<u32>(c0_0.y), bitcast<u32>(c0_0.z), bitcast<u32>(c0_0.w));
}
if (row_0 < 512u && column_1 < 3072u) {
let at_87 = (((part * 1u + 0u) * 512u + row_0) * 3072u + column_1);
s0[(at_87) / 4u + 0u] = vec4<u32>(bitcast<u32>(c0_1.x), bitcast<u32>(c0_1.y), bitcast<u32>(c0_1.z), bitcast<u32>(c0_1.w));
}
if (row_1 < 512u && column_0 < 3072u) {
let at_88 = (((part * 1u + 0u) * 512u + row_1) * 3072u + column_0);
s0[(at_88) / 4u + 0u] = vec4<u32>(bitcast<u32>(c1_0.x), bitcast<u32>(c1_0.y), bitcast<u32>(c1_0.z), bitcast<u32>(c1_0.w));
}
if (row_1 < 512u && column_1 < 3072u) {
let at_89 = (((part * 1u + 0u) * 512u + row_1) * 3072u + column_1);
s0[(at_89) / 4u + 0u] = vec4<u32>(bitcast<u32>(c1_1.x), bitcast<u32>(c1_1.y), bitcast<u32>(c1_1.z), bitcast<u32>(c1_1.w));
}
if (row_2 < 512u && column_0 < 3072u) {
let at_90 = (((part * 1u + 0u) * 512u + row_2) * 3072u + column_0);
s0[(at_90) / 4u + 0u] = vec4<u32>(bitcast<u32>(c2_0.x), bitcast<u32>(c2_0.y), bitcast<u32>(c2_0.z), bitcast<u32>(c2_0.w));
}
if (row_2 < 512u && column_1 < 3072u) {
let at_91 = (((part * 1u + 0u) * 512u + row_2) * 3072u + column_1);
s0[(at_91) / 4u + 0u] = vec4<u32>(bitcast<u32>(c2_1.x), bitcast<u32>(c2_1.y), bitcast<u32>(c2_1.z), bitcast<u32>(c2_1.w));
}
if (row_3 < 512u && column_0 < 3072u) {
let at_92 = (((part * 1u + 0u) * 512u + row_3) * 3072u + column_0);
s0[(at_92) / 4u + 0u] = vec4<u32>(bitcast<u32>(c3_0.x), bitcast<u32>(c3_0.y), bitcast<u32>(c3_0.z), bitcast<u32>(c3_0.w));
}
if (row_3 < 512u && column_1 < 3072u) {
let at_93 = (((part * 1u + 0u) * 512u + row_3) * 3072u + column_1);
s0[(at_93) / 4u + 0u] = vec4<u32>(bitcast<u32>(c3_1.x), bitcast<u32>(c3_1.y), bitcast<u32>(c3_1.z), bitcast<u32>(c3_1.w));
}
if (row_4 < 512u && column_0 < 3072u) {
let at_94 = (((part * 1u + 0u) * 512u + row_4) * 3072u + column_0);
s0[(at_94) / 4u + 0u] = vec4<u32>(bitcast<u32>(c4_0.x), bitcast<u32>(c4_0.y), bitcast<u32>(c4_0.z), bitcast<u32>(c4_0.w));
}
if (row_4 < 512u && column_1 < 3072u) {
let at_95 = (((part * 1u + 0u) * 512u + row_4) * 3072u + column_1);
s0[(at_95) / 4u + 0u] = vec4<u32>(bitcast<u32>(c4_1.x), bitcast<u32>(c4_1.y), bitcast<u32>(c4_1.z), bitcast<u32>(c4_1.w));
}
if (row_5 < 512u && column_0 < 3072u) {
let at_96 = (((part * 1u + 0u) * 512u + row_5) * 3072u + column_0);
s0[(at_96) / 4u + 0u] = vec4<u32>(bitcast<u32>(c5_0.x), bitcast<u32>(c5_0.y), bitcast<u32>(c5_0.z), bitcast<u32>(c5_0.w));
}
if (row_5 < 512u && column_1 < 3072u) {
let at_97 = (((part * 1u + 0u) * 512u + row_5) * 3072u + column_1);
s0[(at_97) / 4u + 0u] = vec4<u32>(bitcast<u32>(c5_1.x), bitcast<u32>(c5_1.y), bitcast<u32>(c5_1.z), bitcast<u32>(c5_1.w));
}
if (row_6 < 512u && column_0 < 3072u) {
let at_98 = (((part * 1u + 0u) * 512u + row_6) * 3072u + column_0);
s0[(at_98) / 4u + 0u] = vec4<u32>(bitcast<u32>(c6_0.x), bitcast<u32>(c6_0.y), bitcast<u32>(c6_0.z), bitcast<u32>(c6_0.w));
}
if (row_6 < 512u && column_1 < 3072u) {
let at_99 = (((part * 1u + 0u) * 512u + row_6) * 3072u + column_1);
s0[(at_99) / 4u + 0u] = vec4<u32>(bitcast<u32>(c6_1.x), bitcast<u32>(c6_1.y), bitcast<u32>(c6_1.z), bitcast<u32>(c6_1.w));
}
if (row_7 < 512u && column_0 < 3072u) {
let at_100 = (((part * 1u + 0u) * 512u + row_7) * 3072u + column_0);
s0[(at_100) / 4u + 0u] = vec4<u32>(bitcast<u32>(c7_0.x), bitcast<u32>(c7_0.y), bitcast<u32>(c7_0.z), bitcast<u32>(c7_0.w));
}
if (row_7 < 512u && column_1 < 3072u) {
let at_101 = (((part * 1u + 0u) * 512u + row_7) * 3072u + column_1);
s0[(at_101) / 4u + 0u] = vec4<u32>(bitcast<u32>(c7_1.x), bitcast<u32>(c7_1.y), bitcast<u32>(c7_1.z), bitcast<u32>(c7_1.w));
}
}

// matmul_add_mul_add_mul_tanh_and_2_more f32 512x3072x768: [1536, 1] workgroups
enable f16;
@group(0) @binding(0) var<storage, read> r2: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> w0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> s0: array<vec4<u32>>;
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn tanh_exact(x: f32) -> f32 {
    let a = min(abs(x), 10.0);
    let square = x * x;
    let small = x + x * square * (-0.33333334 + square * (0.13333334 + square * (-0.053968254
        + square * (0.021869488 + square * (-0.008863236 + square * 0.003592128)))));
    let large = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    return select(select(select(large, -large, x < 0.0), small, a < 0.35), x, is_nan(x));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1536u;
let index = group * 256u + lane;
if (index < 393216u) {
var sum0 = f32(0);
var sum1 = f32(0);
var sum2 = f32(0);
var sum3 = f32(0);
for (var part = 0u; part < 2u; part++) {
let q_1 = s0[(part * 1572864u + index * 4u) / 4u + 0u];
sum0 += bitcast<f32>(q_1.x);
sum1 += bitcast<f32>(q_1.y);
sum2 += bitcast<f32>(q_1.z);
sum3 += bitcast<f32>(q_1.w);
}
let c_2 = (index % 768u) * 4u;
let n_3 = index / 768u;
let v0_0 = sum0;
let v0_1 = sum1;
let v0_2 = sum2;
let v0_3 = sum3;
let q_4 = r2[(c_2) / 4u + 0u];
let v1_0 = bitcast<f32>(q_4.x);
let v1_1 = bitcast<f32>(q_4.y);
let v1_2 = bitcast<f32>(q_4.z);
let v1_3 = bitcast<f32>(q_4.w);
let v2_0 = (v0_0 + v1_0);
let v2_1 = (v0_1 + v1_1);
let v2_2 = (v0_2 + v1_2);
let v2_3 = (v0_3 + v1_3);
let v3_0 = (v2_0 * v2_0);
let v3_1 = (v2_1 * v2_1);
let v3_2 = (v2_2 * v2_2);
let v3_3 = (v2_3 * v2_3);
let v4 = (3.5677407e-2f);
let v5_0 = (v3_0 * v4);
let v5_1 = (v3_1 * v4);
let v5_2 = (v3_2 * v4);
let v5_3 = (v3_3 * v4);
let v6 = (7.978846e-1f);
let v7_0 = (v5_0 + v6);
let v7_1 = (v5_1 + v6);
let v7_2 = (v5_2 + v6);
let v7_3 = (v5_3 + v6);
let v8_0 = (v2_0 * v7_0);
let v8_1 = (v2_1 * v7_1);
let v8_2 = (v2_2 * v7_2);
let v8_3 = (v2_3 * v7_3);
let v9_0 = tanh_exact(v8_0);
let v9_1 = tanh_exact(v8_1);
let v9_2 = tanh_exact(v8_2);
let v9_3 = tanh_exact(v8_3);
let v10 = (5e-1f);
let v11_0 = (v2_0 * v10);
let v11_1 = (v2_1 * v10);
let v11_2 = (v2_2 * v10);
let v11_3 = (v2_3 * v10);
let v12_0 = (v11_0 * v9_0);
let v12_1 = (v11_1 * v9_1);
let v12_2 = (v11_2 * v9_2);
let v12_3 = (v11_3 * v9_3);
let v13_0 = (v11_0 + v12_0);
let v13_1 = (v11_1 + v12_1);
let v13_2 = (v11_2 + v12_2);
let v13_3 = (v11_3 + v12_3);
w0[(n_3 * 3072u + c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v13_0), bitcast<u32>(v13_1), bitcast<u32>(v13_2), bitcast<u32>(v13_3));
}
}

