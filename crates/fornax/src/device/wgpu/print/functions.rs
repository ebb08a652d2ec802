//! Helper functions in WGSL, included in a text only where it uses them.

use super::Caps;

/// A function that texts may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Function {
    Infinity,
    IsNan,
    MaxNan,
    MinNan,
    SignNan,
    PackHalf,
    RoundHalf,
    BrainBits,
    RoundBrain,
    QuarterTurn,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Pow,
    Divide,
    Rem,
    FloatToI32,
    FloatToU32,
    FloatToI64,
    DivI32,
    RemI32,
    PowI32,
    DivU32,
    RemU32,
    PowU32,
    DivI64,
    RemI64,
    PowI64,
    Threefry,
    Unit,
    Normal,
}

const INFINITY: &str = "\
// Constants that are not finite are errors in WGSL; a variable is not a constant.
var<private> infinity_bits: u32 = 0x7f800000u;
var<private> nan_bits: u32 = 0x7fc00000u;
fn infinity() -> f32 { return bitcast<f32>(infinity_bits); }
fn not_a_number() -> f32 { return bitcast<f32>(nan_bits); }
";
const IS_NAN: &str = "\
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
";
// The choice is made between integers: drivers may drop a choice between floats that only NaN decides.
const MAX_NAN: &str = "\
fn max_nan(a: f32, b: f32) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(max(a, b)), 0x7fc00000u, is_nan(a) | is_nan(b)));
}
";
const MIN_NAN: &str = "\
fn min_nan(a: f32, b: f32) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(min(a, b)), 0x7fc00000u, is_nan(a) | is_nan(b)));
}
";
const SIGN_NAN: &str = "\
fn sign_nan(x: f32) -> f32 { return select(sign(x), x, is_nan(x) | (x == 0.0)); }
";
const PACK_HALF: &str = "\
// Rounded to the nearest, ties to even. WGSL lets packing cut, and do anything beyond the largest half.
fn half_bits(x: f32) -> u32 {
    let u = bitcast<u32>(x);
    let size = u & 0x7fffffffu;
    // Next to 0.5 floats lie as close together as halves below the normal ones.
    let small = bitcast<u32>(bitcast<f32>(min(size, 0x38800000u)) + 0.5) - 0x3f000000u;
    let normal = (size + 0xfffu + ((size >> 13u) & 1u) - 0x38000000u) >> 13u;
    let finite = select(normal, small, size < 0x38800000u);
    let large = select(0x7c00u, 0x7e00u, size > 0x7f800000u);
    return ((u >> 16u) & 0x8000u) | select(finite, large, size >= 0x477ff000u);
}
fn pack_half(a: f32, b: f32) -> u32 { return half_bits(a) | (half_bits(b) << 16u); }
";
const BRAIN: &str = "\
fn brain_bits(x: f32) -> u32 {
    let u = bitcast<u32>(x);
    let rounded = (u + 0x7fffu + ((u >> 16u) & 1u)) >> 16u;
    return select(rounded, (u >> 16u) | 64u, (u & 0x7fffffffu) > 0x7f800000u);
}
";
const ROUND_BRAIN: &str = "\
fn round_brain(x: f32) -> f32 { return bitcast<f32>(brain_bits(x) << 16u); }
";
const QUARTER_TURN: &str = "\
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
";
const SIN: &str = "\
fn sin_exact(x: f32) -> f32 { return select(sin(x), quarter_turn(x).x, abs(x) < 1e5); }
";
const COS: &str = "\
fn cos_exact(x: f32) -> f32 { return select(cos(x), quarter_turn(x).y, abs(x) < 1e5); }
";
const TAN: &str = "\
fn tan_exact(x: f32) -> f32 {
    let both = quarter_turn(x);
    return select(tan(x), both.x / both.y, abs(x) < 1e5);
}
";
const ASIN: &str = "\
fn asin_exact(x: f32) -> f32 {
    let a = abs(x);
    let far = a > 0.5;
    let z = select(a * a, 0.5 * (1.0 - a), far);
    let r = select(a, sqrt(z), far);
    var p = fma(3.756521e-2, z, 1.44026e-2);
    p = fma(p, z, 3.181761e-2);
    p = fma(p, z, 4.451572e-2);
    p = fma(p, z, 7.500511e-2);
    p = fma(p, z, 1.666666e-1);
    let y = fma(p * z, r, r);
    let size = select(y, 1.5707964 - 2.0 * y, far);
    return select(select(size, -size, x < 0.0), not_a_number(), (a > 1.0) | is_nan(x));
}
";
const ACOS: &str = "\
fn acos_exact(x: f32) -> f32 {
    // Near 1 the difference from a quarter turn would lose digits.
    let near = 2.0 * asin_exact(sqrt(max(0.5 * (1.0 - x), 0.0)));
    return select(1.5707964 - asin_exact(x), near, (x > 0.5) & (x <= 1.0));
}
";
const ATAN: &str = "\
fn atan_exact(x: f32) -> f32 {
    let a = abs(x);
    let large = a > 2.4142137;
    let middle = !large & (a > 0.41421357);
    let r = select(select(a, (a - 1.0) / (a + 1.0), middle), -1.0 / a, large);
    let z = r * r;
    var p = fma(-6.082491e-2, z, 1.0595641e-1);
    p = fma(p, z, -1.4243803e-1);
    p = fma(p, z, 1.9998487e-1);
    p = fma(p, z, -3.3333315e-1);
    let size = fma(p * z, r, r) + select(select(0.0, 0.7853982, middle), 1.5707964, large);
    return select(select(size, -size, x < 0.0), x, is_nan(x) | (a < 1e-4));
}
";
const ATAN2: &str = "\
fn atan2_exact(y: f32, x: f32) -> f32 {
    if (is_nan(x) || is_nan(y)) { return not_a_number(); }
    let negative = bitcast<i32>(x) < 0;
    var angle: f32;
    if (y == 0.0) {
        angle = 0.0;
    } else if (x == 0.0) {
        return select(-1.5707964, 1.5707964, y > 0.0);
    } else if (abs(x) == infinity() && abs(y) == infinity()) {
        angle = 0.7853982;
    } else {
        angle = atan_exact(abs(y) / abs(x));
    }
    let full = select(angle, 3.1415927 - angle, negative);
    return select(full, -full, bitcast<i32>(y) < 0);
}
";
const EXP: &str = "\
fn exp_nan(x: f32) -> f32 { return bitcast<f32>(select(bitcast<u32>(exp(x)), 0x7fc00000u, is_nan(x))); }
";
const EXP2: &str = "\
fn exp2_nan(x: f32) -> f32 { return bitcast<f32>(select(bitcast<u32>(exp2(x)), 0x7fc00000u, is_nan(x))); }
";
const EXPM1: &str = "\
fn expm1(x: f32) -> f32 {
    let small = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.008333334 + x * 0.0013888889)))));
    return bitcast<f32>(select(bitcast<u32>(select(exp(x) - 1.0, small, abs(x) < 0.3)), 0x7fc00000u, is_nan(x)));
}
";
// WGSL leaves open what the logarithm of less than nothing is.
const LOG: &str = "\
fn log_nan(x: f32) -> f32 { return select(log(x), not_a_number(), (x < 0.0) | is_nan(x)); }
";
const LOG2: &str = "\
fn log2_nan(x: f32) -> f32 { return select(log2(x), not_a_number(), (x < 0.0) | is_nan(x)); }
";
const LOG1P: &str = "\
fn log1p(x: f32) -> f32 {
    let u = 1.0 + x;
    // What rounding took from 1 + x, to first order.
    let lost = (x - (u - 1.0)) / u;
    let y = log_nan(u);
    let exact = select(y, y + lost, (u > 0.0) & (u < infinity()));
    return select(exact, x, abs(x) < 1e-10);
}
";
const SINH: &str = "\
fn sinh_exact(x: f32) -> f32 {
    let square = x * x;
    let small = x * (1.0 + square * (0.16666667 + square * (0.008333334 + square * 0.0001984127)));
    let half_exp = exp(abs(x) * 0.5);
    let large = sign(x) * (0.5 * half_exp * half_exp - 0.5 / half_exp / half_exp);
    return select(large, small, abs(x) < 0.7);
}
";
const COSH: &str = "\
fn cosh_exact(x: f32) -> f32 {
    let half_exp = exp(abs(x) * 0.5);
    let size = 0.5 * half_exp * half_exp + 0.5 / half_exp / half_exp;
    return bitcast<f32>(select(bitcast<u32>(size), 0x7fc00000u, is_nan(x)));
}
";
const TANH: &str = "\
fn tanh_exact(x: f32) -> f32 {
    let a = min(abs(x), 10.0);
    let square = x * x;
    let small = x + x * square * (-0.33333334 + square * (0.13333334 + square * (-0.053968254
        + square * (0.021869488 + square * (-0.008863236 + square * 0.003592128)))));
    let large = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    return select(select(select(large, -large, x < 0.0), small, a < 0.35), x, is_nan(x));
}
";
const ERF: &str = "\
fn erf(x: f32) -> f32 {
    let z = x * x;
    var near = fma(z, 8.7076834e-5, -8.217922e-4);
    near = fma(near, z, 5.2072839e-3);
    near = fma(near, z, -2.6861778e-2);
    near = fma(near, z, 1.1283736e-1);
    near = fma(near, z, -3.7612635e-1);
    near = fma(near, z, 1.1283792);
    // Further out 1 - e^q with q = log(erfc |x|).
    let a = min(abs(x), 4.0);
    var q = fma(a, 2.0261809e-4, -3.107795e-3);
    q = fma(q, a, 2.2480315e-2);
    q = fma(q, a, -1.0444849e-1);
    q = fma(q, a, -6.366037e-1);
    q = fma(q, a, -1.1280128);
    q = fma(q, a, -1.1569414e-4);
    let far = 1.0 - exp(q);
    return select(select(select(far, -far, x < 0.0), x * near, abs(x) < 0.865), x, is_nan(x));
}
";
const POW: &str = "\
fn power(a: f32, b: f32) -> f32 {
    if (b == 0.0 || a == 1.0) { return 1.0; }
    if (is_nan(a) || is_nan(b)) { return not_a_number(); }
    let whole = trunc(b) == b;
    let odd = whole & (abs(b) < 16777216.0) & ((i32(clamp(b, -16777216.0, 16777216.0)) & 1) != 0);
    if (a == 0.0) { 
        let zero = select(0.0, a, odd);
        return select(zero, select(infinity(), 1.0 / a, odd), b < 0.0);
    }
    if (a < 0.0 && !whole && abs(a) != infinity() ) { return not_a_number(); }
    if (abs(b) == infinity()) {
        if (abs(a) == 1.0) { return 1.0; }
        return select(0.0, infinity(), (abs(a) > 1.0) == (b > 0.0));
    }
    // Small whole powers by multiplication: exact where a human would expect it.
    var size: f32;
    if (whole && abs(b) <= 32.0) {
        size = 1.0;
        var square = abs(a);
        var left = u32(abs(b));
        while (left != 0u) {
            if ((left & 1u) != 0u) { size *= square; }
            square *= square;
            left >>= 1u;
        }
        if (b < 0.0) { size = 1.0 / size; }
    } else {
        size = exp2(b * log2(abs(a)));
    }
    return select(size, -size, (a < 0.0) & odd);
}
";
const DIVIDE: &str = "\
// A driver's quotient may be some units off; one step of Newton's method puts that right.
fn divide(a: f32, b: f32) -> f32 {
    if (b == 0.0) {
        if (a == 0.0 || is_nan(a)) { return not_a_number(); }
        return select(infinity(), -infinity(), (a < 0.0) != (bitcast<i32>(b) < 0));
    }
    let q = a / b;
    let better = q + fma(-q, b, a) / b;
    return select(q, better, (abs(better) <= 3.4e38) & (abs(q) > 1e-30));
}
";
const REM: &str = "\
fn rem_floor(a: f32, b: f32) -> f32 {
    let r = a - b * floor(divide(a, b));
    // A quotient that was rounded across a whole number leaves a whole divisor too much or too little.
    let over = ((b > 0.0) & (r >= b)) | ((b < 0.0) & (r <= b));
    let under = (r != 0.0) & ((r < 0.0) != (b < 0.0));
    return select(select(r, r + b, under), r - b, over);
}
";
const FLOAT_TO_I32: &str = "\
fn float_to_i32(x: f32) -> i32 {
    if (is_nan(x)) { return 0; }
    if (x >= 2147483648.0) { return 2147483647; }
    if (x <= -2147483648.0) { return -2147483647 - 1; }
    return i32(x);
}
";
const FLOAT_TO_U32: &str = "\
fn float_to_u32(x: f32) -> u32 {
    if (is_nan(x) || x <= 0.0) { return 0u; }
    if (x >= 4294967296.0) { return 4294967295u; }
    return u32(x);
}
";
const FLOAT_TO_I64: &str = "\
fn float_to_i64(x: f32) -> i64 {
    if (is_nan(x)) { return 0li; }
    if (x >= 9223372036854775808.0) { return 9223372036854775807li; }
    if (x <= -9223372036854775808.0) { return -9223372036854775807li - 1li; }
    return i64(x);
}
";
const THREEFRY: &str = "\
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
";
const UNIT: &str = "\
// The upper bits over 2^24, by their exponent: of a product, DX12's older compiler sees that it is below one, takes it for whole,
// and leaves out what rounds it later.
fn unit(word: u32) -> f32 {
    let bits = bitcast<u32>(f32(word >> 8u));
    return bitcast<f32>(select(bits - 0x0c000000u, 0u, bits == 0u));
}
";
const NORMAL: &str = "\
fn normal(words: vec2<u32>) -> f32 {
    return sqrt(-2.0 * log(1.0 - unit(words.x))) * quarter_turn(6.2831855 * unit(words.y)).y;
}
";

/// Integer division towards minus infinity, its remainder, and power modulo the word.
fn integers(t: &str, one: &str, zero: &str, signed: bool) -> [String; 3] {
    let (fix_div, fix_rem, negative) = match signed {
        true => (
            format!("if (a % b != {zero} && ((a < {zero}) != (b < {zero}))) {{ return a / b - {one}; }}"),
            format!("if (r != {zero} && ((r < {zero}) != (b < {zero}))) {{ return r + b; }}"),
            format!(
                "if (exponent < {zero}) {{
        if (base == {one}) {{ return {one}; }}
        if (base == -{one}) {{ return select(-{one}, {one}, (exponent & {one}) == {zero}); }}
        return {zero};
    }}"
            ),
        ),
        false => (String::new(), String::new(), String::new()),
    };
    [
        format!(
            "fn div_{t}(a: {t}, b: {t}) -> {t} {{\n    if (b == {zero}) {{ return {zero}; }}\n    {fix_div}\n    return a / b;\n}}\n"
        ),
        format!(
            "fn rem_{t}(a: {t}, b: {t}) -> {t} {{\n    if (b == {zero}) {{ return {zero}; }}\n    let r = a % b;\n    {fix_rem}\n    return r;\n}}\n"
        ),
        format!(
            "fn pow_{t}(base: {t}, exponent: {t}) -> {t} {{
    {negative}
    var result = {one};
    var square = base;
    var left = exponent;
    while (left > {zero}) {{
        if ((left & {one}) == {one}) {{ result *= square; }}
        square *= square;
        left >>= 1u;
    }}
    return result;
}}\n"
        ),
    ]
}

impl Function {
    /// How texts call it.
    pub fn name(self) -> &'static str {
        use Function::*;
        match self {
            Infinity => "infinity",
            IsNan => "is_nan",
            MaxNan => "max_nan",
            MinNan => "min_nan",
            SignNan => "sign_nan",
            PackHalf => "pack_half",
            RoundHalf => "round_half",
            BrainBits => "brain_bits",
            RoundBrain => "round_brain",
            QuarterTurn => "quarter_turn",
            Sin => "sin_exact",
            Cos => "cos_exact",
            Tan => "tan_exact",
            Asin => "asin_exact",
            Acos => "acos_exact",
            Atan => "atan_exact",
            Atan2 => "atan2_exact",
            Exp => "exp_nan",
            Exp2 => "exp2_nan",
            Expm1 => "expm1",
            Log => "log_nan",
            Log2 => "log2_nan",
            Log1p => "log1p",
            Sinh => "sinh_exact",
            Cosh => "cosh_exact",
            Tanh => "tanh_exact",
            Erf => "erf",
            Pow => "power",
            Divide => "divide",
            Rem => "rem_floor",
            FloatToI32 => "float_to_i32",
            FloatToU32 => "float_to_u32",
            FloatToI64 => "float_to_i64",
            DivI32 => "div_i32",
            RemI32 => "rem_i32",
            PowI32 => "pow_i32",
            DivU32 => "div_u32",
            RemU32 => "rem_u32",
            PowU32 => "pow_u32",
            DivI64 => "div_i64",
            RemI64 => "rem_i64",
            PowI64 => "pow_i64",
            Threefry => "threefry",
            Unit => "unit",
            Normal => "normal",
        }
    }

    /// Functions that it calls itself.
    pub fn needs(self, caps: &Caps) -> &'static [Function] {
        use Function::*;
        match self {
            RoundHalf if !caps.f16 => &[PackHalf],
            MaxNan | MinNan | SignNan | Tanh | Erf | FloatToI32 | FloatToU32 | FloatToI64 => &[IsNan],
            Sin | Cos | Tan => &[QuarterTurn],
            Divide => &[IsNan, Infinity],
            Rem => &[Divide],
            Asin | Pow => &[IsNan, Infinity],
            Acos => &[Asin],
            Atan => &[IsNan],
            Atan2 => &[IsNan, Infinity, Atan],
            Exp | Exp2 | Expm1 | Cosh => &[IsNan],
            Log | Log2 => &[IsNan, Infinity],
            Log1p => &[Infinity, Log],
            RoundBrain => &[BrainBits],
            Normal => &[Unit, Threefry, QuarterTurn],
            _ => &[],
        }
    }

    /// Its definition.
    pub fn text(self, caps: &Caps) -> String {
        use Function::*;
        match self {
            Infinity => INFINITY.into(),
            IsNan => IS_NAN.into(),
            MaxNan => MAX_NAN.into(),
            MinNan => MIN_NAN.into(),
            SignNan => SIGN_NAN.into(),
            PackHalf if caps.f16 => {
                // Rounded by the conversion, whose rounding is to the nearest; packing may cut.
                "fn pack_half(a: f32, b: f32) -> u32 { return pack2x16float(vec2<f32>(f32(f16(a)), f32(f16(b)))); }\n"
                    .into()
            }
            PackHalf => PACK_HALF.into(),
            RoundHalf if caps.f16 => "fn round_half(x: f32) -> f32 { return f32(f16(x)); }\n".into(),
            RoundHalf => {
                "fn round_half(x: f32) -> f32 { return unpack2x16float(pack_half(x, 0.0)).x; }\n".into()
            }
            BrainBits => BRAIN.into(),
            RoundBrain => ROUND_BRAIN.into(),
            QuarterTurn => QUARTER_TURN.into(),
            Sin => SIN.into(),
            Cos => COS.into(),
            Tan => TAN.into(),
            Asin => ASIN.into(),
            Acos => ACOS.into(),
            Atan => ATAN.into(),
            Atan2 => ATAN2.into(),
            Exp => EXP.into(),
            Exp2 => EXP2.into(),
            Expm1 => EXPM1.into(),
            Log => LOG.into(),
            Log2 => LOG2.into(),
            Log1p => LOG1P.into(),
            Sinh => SINH.into(),
            Cosh => COSH.into(),
            Tanh => TANH.into(),
            Erf => ERF.into(),
            Pow => POW.into(),
            Divide => DIVIDE.into(),
            Rem => REM.into(),
            FloatToI32 => FLOAT_TO_I32.into(),
            FloatToU32 => FLOAT_TO_U32.into(),
            FloatToI64 => FLOAT_TO_I64.into(),
            DivI32 => integers("i32", "1", "0", true)[0].clone(),
            RemI32 => integers("i32", "1", "0", true)[1].clone(),
            PowI32 => integers("i32", "1", "0", true)[2].clone(),
            DivU32 => integers("u32", "1u", "0u", false)[0].clone(),
            RemU32 => integers("u32", "1u", "0u", false)[1].clone(),
            PowU32 => integers("u32", "1u", "0u", false)[2].clone(),
            DivI64 => integers("i64", "1li", "0li", true)[0].clone(),
            RemI64 => integers("i64", "1li", "0li", true)[1].clone(),
            PowI64 => integers("i64", "1li", "0li", true)[2].clone(),
            Threefry => THREEFRY.into(),
            Unit => UNIT.into(),
            Normal => NORMAL.into(),
        }
    }
}
