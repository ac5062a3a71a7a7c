//! The generator PCG MCG 128 XSL-RR 64: the small part of `rand_pcg` that policies may use.

use rand::{RngCore, SeedableRng};

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// 128 bits of odd state, multiplied at each step; 64 bits out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pcg64Mcg {
    state: u128,
}

impl Pcg64Mcg {
    /// A generator with this state; its lowest bit is set.
    pub fn new(state: u128) -> Self {
        Pcg64Mcg { state: state | 1 }
    }
}

impl SeedableRng for Pcg64Mcg {
    type Seed = [u8; 16];

    fn from_seed(seed: Self::Seed) -> Self {
        Pcg64Mcg::new(u128::from_le_bytes(seed))
    }
}

impl RngCore for Pcg64Mcg {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER);
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }
}
