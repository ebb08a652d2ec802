//! Random numbers by counting: element i of a stream is a function of (seed, stream, i) and nothing else, so
//! every device draws the same numbers, in any order, and a fused or recomputed dropout sees its own mask again.
//! The generator is Threefry-2x32 with 20 rounds (Salmon et al., 2011): additions, rotations and xors of u32 only.

use std::cell::Cell;

/// Two random words for the counter `index` under the key `(seed, stream)`.
#[inline(always)]
pub fn threefry(seed: u32, stream: u32, index: u64) -> (u32, u32) {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [seed, stream, seed ^ stream ^ 0x1BD1_1BDA];
    let mut x = (index as u32).wrapping_add(keys[0]);
    let mut y = ((index >> 32) as u32).wrapping_add(keys[1]);
    for block in 0..5 {
        for r in ROTATIONS[block % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(r) ^ x;
        }
        x = x.wrapping_add(keys[(block + 1) % 3]);
        y = y.wrapping_add(keys[(block + 2) % 3]).wrapping_add(block as u32 + 1);
    }
    (x, y)
}

/// The upper 24 bits as a float in [0, 1).
#[inline(always)]
pub fn unit(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

thread_local! {
    static GENERATOR: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Starts this thread's random streams anew. Each thread has its own generator, so threads do not disturb each other.
pub fn manual_seed(seed: u64) {
    GENERATOR.set(((seed ^ (seed >> 32)) as u32, 0));
}

/// The state of this thread's generator, for checkpoints; see [`set_random_state`].
pub fn random_state() -> (u32, u32) {
    GENERATOR.get()
}

/// Restores a state from [`random_state`].
pub fn set_random_state(state: (u32, u32)) {
    GENERATOR.set(state);
}

/// The key of the next stream: each random tensor takes one.
pub(crate) fn next_stream() -> (u32, u32) {
    let (seed, stream) = GENERATOR.get();
    GENERATOR.set((seed, stream.wrapping_add(1)));
    (seed, stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_threefry_2x32_20() {
        assert_eq!(threefry(0, 0, 0), (0x6b20_0159, 0x99ba_4efe));
        assert_eq!(threefry(u32::MAX, u32::MAX, u64::MAX), (0x1cb9_96fc, 0xbb00_2be7));
        let counter = 0x85a3_08d3_243f_6a88;
        assert_eq!(threefry(0x1319_8a2e, 0x0370_7344, counter), (0xc492_3a9c, 0x483d_f7a0));
    }
}
