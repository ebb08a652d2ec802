//! The vectors of x86-64: AVX2 and AVX-512.

use super::simd::Simd;
use std::arch::x86_64::*;

/// Eight lanes; needs AVX2, FMA and F16C.
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256);

/// Sixteen lanes; needs AVX-512 F, BW, DQ and VL.
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512);

// SAFETY: the trait's contract is that of the intrinsics.
unsafe impl Simd for Avx2 {
    const W: usize = 8;
    const FUSED: bool = true;
    type Mask = __m256;
    type Int = __m256i;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        unsafe { Avx2(_mm256_set1_ps(x)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        unsafe { Avx2(_mm256_loadu_ps(p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        unsafe { _mm256_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, p: *mut f32) {
        unsafe { _mm256_stream_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn load_f16(p: *const u16) -> Self {
        unsafe { Avx2(_mm256_cvtph_ps(_mm_loadu_si128(p.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, p: *mut u16) {
        unsafe { _mm_storeu_si128(p.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const u16) -> Self {
        unsafe {
            let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(p.cast()));
            Avx2(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide)))
        }
    }
    #[inline(always)]
    unsafe fn store_bf16(self, p: *mut u16) {
        unsafe {
            let bits = _mm256_castps_si256(self.0);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
            // A NaN keeps its upper bits and becomes quiet; rounding could carry it to infinity.
            let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
            let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(self.0, self.0));
            let high = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, nan));
            let (low, up) = (_mm256_castsi256_si128(high), _mm256_extracti128_si256::<1>(high));
            _mm_storeu_si128(p.cast(), _mm_packus_epi32(low, up));
        }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_add_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_sub_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn mul(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_mul_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn div(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_div_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        unsafe { Avx2(_mm256_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn max(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_max_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn min(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_min_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        unsafe { Avx2(_mm256_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        const MODE: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        unsafe { Avx2(_mm256_round_ps::<MODE>(self.0)) }
    }
    #[inline(always)]
    unsafe fn floor(self) -> Self {
        unsafe { Avx2(_mm256_floor_ps(self.0)) }
    }
    #[inline(always)]
    unsafe fn ceil(self) -> Self {
        unsafe { Avx2(_mm256_ceil_ps(self.0)) }
    }
    #[inline(always)]
    unsafe fn trunc(self) -> Self {
        const MODE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        unsafe { Avx2(_mm256_round_ps::<MODE>(self.0)) }
    }
    #[inline(always)]
    unsafe fn lt(self, o: Self) -> __m256 {
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn le(self, o: Self) -> __m256 {
        unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn eq(self, o: Self) -> __m256 {
        unsafe { _mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn ne(self, o: Self) -> __m256 {
        unsafe { _mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn select(m: __m256, yes: Self, no: Self) -> Self {
        unsafe { Avx2(_mm256_blendv_ps(no.0, yes.0, m)) }
    }
    #[inline(always)]
    unsafe fn any(m: __m256) -> bool {
        unsafe { _mm256_movemask_ps(m) != 0 }
    }
    #[inline(always)]
    unsafe fn load_mask(p: *const u8) -> __m256 {
        unsafe {
            let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(p.cast()));
            _mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_setzero_si256()))
        }
    }
    #[inline(always)]
    unsafe fn store_mask(m: __m256, p: *mut u8) {
        unsafe {
            let m = _mm256_castps_si256(m);
            let words = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256::<1>(m));
            let bytes = _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
            _mm_storel_epi64(p.cast(), bytes);
        }
    }
    #[inline(always)]
    unsafe fn bits(self) -> __m256i {
        unsafe { _mm256_castps_si256(self.0) }
    }
    #[inline(always)]
    unsafe fn from_bits(i: __m256i) -> Self {
        unsafe { Avx2(_mm256_castsi256_ps(i)) }
    }
    #[inline(always)]
    unsafe fn to_int(self) -> __m256i {
        unsafe { _mm256_cvtps_epi32(self.0) }
    }
    #[inline(always)]
    unsafe fn to_float(i: __m256i) -> Self {
        unsafe { Avx2(_mm256_cvtepi32_ps(i)) }
    }
    #[inline(always)]
    unsafe fn int(x: i32) -> __m256i {
        unsafe { _mm256_set1_epi32(x) }
    }
    #[inline(always)]
    unsafe fn iadd(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_add_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn isub(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_sub_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn iand(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    unsafe fn ior(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    unsafe fn ixor(a: __m256i, b: __m256i) -> __m256i {
        unsafe { _mm256_xor_si256(a, b) }
    }
    #[inline(always)]
    unsafe fn shl<const N: i32>(a: __m256i) -> __m256i {
        unsafe { _mm256_slli_epi32::<N>(a) }
    }
    #[inline(always)]
    unsafe fn shr<const N: i32>(a: __m256i) -> __m256i {
        unsafe { _mm256_srai_epi32::<N>(a) }
    }
    #[inline(always)]
    unsafe fn izero(a: __m256i) -> __m256 {
        unsafe { _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, _mm256_setzero_si256())) }
    }
}

// SAFETY: the trait's contract is that of the intrinsics.
unsafe impl Simd for Avx512 {
    const W: usize = 16;
    const FUSED: bool = true;
    type Mask = __mmask16;
    type Int = __m512i;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        unsafe { Avx512(_mm512_set1_ps(x)) }
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        unsafe { Avx512(_mm512_loadu_ps(p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        unsafe { _mm512_storeu_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn stream(self, p: *mut f32) {
        unsafe { _mm512_stream_ps(p, self.0) }
    }
    #[inline(always)]
    unsafe fn load_f16(p: *const u16) -> Self {
        unsafe { Avx512(_mm512_cvtph_ps(_mm256_loadu_si256(p.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, p: *mut u16) {
        unsafe { _mm256_storeu_si256(p.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
    #[inline(always)]
    unsafe fn load_bf16(p: *const u16) -> Self {
        unsafe {
            let wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(p.cast()));
            Avx512(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide)))
        }
    }
    #[inline(always)]
    unsafe fn store_bf16(self, p: *mut u16) {
        unsafe {
            let bits = _mm512_castps_si512(self.0);
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
            let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, self.0);
            let high = _mm512_srli_epi32::<16>(_mm512_mask_blend_epi32(nan, rounded, quiet));
            _mm256_storeu_si256(p.cast(), _mm512_cvtepi32_epi16(high));
        }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_add_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn sub(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_sub_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn mul(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_mul_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn div(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_div_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        unsafe { Avx512(_mm512_fmadd_ps(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    unsafe fn max(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_max_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn min(self, o: Self) -> Self {
        unsafe { Avx512(_mm512_min_ps(self.0, o.0)) }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        unsafe { Avx512(_mm512_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    unsafe fn round(self) -> Self {
        unsafe { Avx512(_mm512_roundscale_ps::<0x08>(self.0)) }
    }
    #[inline(always)]
    unsafe fn floor(self) -> Self {
        unsafe { Avx512(_mm512_roundscale_ps::<0x09>(self.0)) }
    }
    #[inline(always)]
    unsafe fn ceil(self) -> Self {
        unsafe { Avx512(_mm512_roundscale_ps::<0x0A>(self.0)) }
    }
    #[inline(always)]
    unsafe fn trunc(self) -> Self {
        unsafe { Avx512(_mm512_roundscale_ps::<0x0B>(self.0)) }
    }
    #[inline(always)]
    unsafe fn lt(self, o: Self) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn le(self, o: Self) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn eq(self, o: Self) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn ne(self, o: Self) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, o.0) }
    }
    #[inline(always)]
    unsafe fn select(m: __mmask16, yes: Self, no: Self) -> Self {
        unsafe { Avx512(_mm512_mask_blend_ps(m, no.0, yes.0)) }
    }
    #[inline(always)]
    unsafe fn any(m: __mmask16) -> bool {
        m != 0
    }
    #[inline(always)]
    unsafe fn load_mask(p: *const u8) -> __mmask16 {
        unsafe { _mm_test_epi8_mask(_mm_loadu_si128(p.cast()), _mm_set1_epi8(-1)) }
    }
    #[inline(always)]
    unsafe fn store_mask(m: __mmask16, p: *mut u8) {
        unsafe { _mm_storeu_si128(p.cast(), _mm_maskz_set1_epi8(m, 1)) }
    }
    #[inline(always)]
    unsafe fn bits(self) -> __m512i {
        unsafe { _mm512_castps_si512(self.0) }
    }
    #[inline(always)]
    unsafe fn from_bits(i: __m512i) -> Self {
        unsafe { Avx512(_mm512_castsi512_ps(i)) }
    }
    #[inline(always)]
    unsafe fn to_int(self) -> __m512i {
        unsafe { _mm512_cvtps_epi32(self.0) }
    }
    #[inline(always)]
    unsafe fn to_float(i: __m512i) -> Self {
        unsafe { Avx512(_mm512_cvtepi32_ps(i)) }
    }
    #[inline(always)]
    unsafe fn int(x: i32) -> __m512i {
        unsafe { _mm512_set1_epi32(x) }
    }
    #[inline(always)]
    unsafe fn iadd(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn isub(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn iand(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn ior(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn ixor(a: __m512i, b: __m512i) -> __m512i {
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn shl<const N: i32>(a: __m512i) -> __m512i {
        unsafe { _mm512_sllv_epi32(a, _mm512_set1_epi32(N)) }
    }
    #[inline(always)]
    unsafe fn shr<const N: i32>(a: __m512i) -> __m512i {
        unsafe { _mm512_srav_epi32(a, _mm512_set1_epi32(N)) }
    }
    #[inline(always)]
    unsafe fn izero(a: __m512i) -> __mmask16 {
        unsafe { _mm512_testn_epi32_mask(a, a) }
    }
}

/// Turns 8 columns of at most 8 rows: `to[c * ts + r] = from[r * rs + c]`. All 8 lanes of every `to[c * ts..]` are
/// written, in the order of c; rows that are not there repeat the first.
#[inline(always)]
pub(super) unsafe fn turn8(from: *const f32, rs: isize, rows: usize, to: *mut f32, ts: usize) {
    // SAFETY: the caller's.
    unsafe {
        let mut r = [_mm256_setzero_ps(); 8];
        for i in 0..8 {
            r[i] = _mm256_loadu_ps(from.offset(if i < rows { i as isize * rs } else { 0 }));
        }
        // Pairs of rows, then fours, then the halves of the columns.
        let mut pairs = r;
        for i in 0..4 {
            pairs[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
            pairs[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
        }
        let mut fours = pairs;
        for i in 0..2 {
            for h in 0..2 {
                let (x, y) = (pairs[4 * i + h], pairs[4 * i + 2 + h]);
                fours[4 * i + 2 * h] = _mm256_shuffle_ps::<0x44>(x, y);
                fours[4 * i + 2 * h + 1] = _mm256_shuffle_ps::<0xEE>(x, y);
            }
        }
        for c in 0..4 {
            _mm256_storeu_ps(to.add(c * ts), _mm256_permute2f128_ps::<0x20>(fours[c], fours[4 + c]));
        }
        for c in 0..4 {
            _mm256_storeu_ps(to.add((4 + c) * ts), _mm256_permute2f128_ps::<0x31>(fours[c], fours[4 + c]));
        }
    }
}

/// As [`turn8`], 16 of both.
#[inline(always)]
pub(super) unsafe fn turn16(from: *const f32, rs: isize, rows: usize, to: *mut f32, ts: usize) {
    // SAFETY: the caller's. The upper rows go first: lanes beyond them may lie in the next lines' lower ones.
    unsafe {
        for c in [0, 8] {
            let (from, to) = (from.add(c), to.add(c * ts));
            if rows > 8 {
                turn8(from.offset(8 * rs), rs, rows - 8, to.add(8), ts);
            }
            turn8(from, rs, rows.min(8), to, ts);
        }
    }
}
