// random_normal f32 64: [1, 1] workgroups
enable f16;
struct Args { v0: vec4<u32> }
var<immediate> args: Args;
@group(0) @binding(0) var<storage, read_write> w0: array<vec4<u32>>;
// Sine and cosine of the angle after reduction to a quarter turn; drivers may be far off here.
fn quarter_turn(x: f32) -> vec2<f32> {
    let n = round(x * 0.63661977);
    var r = fma(n, -1.5703125, x);
    r = fma(n, -4.837513e-4, r);
    r = fma(n, -7.54979e-8, r);
    let z = r * r;
    let s = fma(fma(fma(fma(2.7175645e-6, z, -1.9839256e-4), z, 8.333329e-3), z, -1.6666667e-1) * z, r, r);
    let c = fma(fma(fma(fma(2.4431203e-5, z, -1.3887306e-3), z, 4.1666646e-2), z, -0.5), z, 1.0);
    let quadrant = i32(n) & 3;
    let even = (quadrant & 1) == 0;
    let sine = select(c, s, even);
    let cosine = select(s, c, even);
    return vec2<f32>(select(sine, -sine, quadrant >= 2), select(cosine, -cosine, (quadrant == 1) | (quadrant == 2)));
}
fn threefry(seed: u32, stream: u32, low: u32, high: u32) -> vec2<u32> {
    var keys = array<u32, 3>(seed, stream, seed ^ stream ^ 0x1BD11BDAu);
    var rotations = array<u32, 8>(13u, 15u, 26u, 6u, 17u, 29u, 16u, 24u);
    var x = low + keys[0];
    var y = high + keys[1];
    for (var block = 0u; block < 5u; block++) {
        for (var r = 0u; r < 4u; r++) {
            let turn = rotations[(block % 2u) * 4u + r];
            x += y;
            y = ((y << turn) | (y >> (32u - turn))) ^ x;
        }
        x += keys[(block + 1u) % 3u];
        y += keys[(block + 2u) % 3u] + block + 1u;
    }
    return vec2<u32>(x, y);
}
// The upper bits over 2^24, by their exponent: of a product, DX12's older compiler sees that it is below one, takes it for whole,
// and leaves out what rounds it later.
fn unit(word: u32) -> f32 {
    let bits = bitcast<u32>(f32(word >> 8u));
    return bitcast<f32>(select(bits - 0x0c000000u, 0u, bits == 0u));
}
fn normal(words: vec2<u32>) -> f32 {
    return sqrt(-2.0 * log(1.0 - unit(words.x))) * quarter_turn(6.2831855 * unit(words.y)).y;
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
let group = workgroup.x + workgroup.y * 1u;
let i_1 = (group - 0u) * 256u + lane;
if (i_1 < 16u) {
let c_2 = i_1 * 4u;
let v0 = args.v0[0];
let v1 = args.v0[2];
let v2_0 = i64((c_2));
let v2_1 = i64(((c_2 + 1u)));
let v2_2 = i64(((c_2 + 2u)));
let v2_3 = i64(((c_2 + 3u)));
let t_3 = threefry(v0, v1, u32(v2_0 & 0xffffffffli), u32(v2_0 >> 32u));
let t_4 = threefry(v0, v1, u32(v2_1 & 0xffffffffli), u32(v2_1 >> 32u));
let t_5 = threefry(v0, v1, u32(v2_2 & 0xffffffffli), u32(v2_2 >> 32u));
let t_6 = threefry(v0, v1, u32(v2_3 & 0xffffffffli), u32(v2_3 >> 32u));
let v3_0 = normal(t_3);
let v3_1 = normal(t_4);
let v3_2 = normal(t_5);
let v3_3 = normal(t_6);
w0[(c_2) / 4u + 0u] = vec4<u32>(bitcast<u32>(v3_0), bitcast<u32>(v3_1), bitcast<u32>(v3_2), bitcast<u32>(v3_3));
}
}

