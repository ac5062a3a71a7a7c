//! The same order of hash maps and sets in every run.
//!
//! The standard library asks the C library's `getrandom` for the seed of its hash functions. This
//! program brings its own, which the linker prefers: its bytes depend on a fixed seed alone.

use std::sync::atomic::{AtomicU64, Ordering};

static STATE: AtomicU64 = AtomicU64::new(0);

/// Start the stream anew; to be called before the first map is made.
pub fn set(seed: u64) {
    STATE.store(seed, Ordering::Relaxed);
}

/// Fills `length` bytes at `buffer`, by the generator SplitMix64.
///
/// # Safety
/// `buffer` must be valid for writes of `length` bytes, as the C function demands.
#[no_mangle]
unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    for offset in 0..length {
        let mut mixed = STATE
            .fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
            .wrapping_add(1);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        *buffer.add(offset) = (mixed ^ (mixed >> 31)) as u8;
    }
    length as isize
}
