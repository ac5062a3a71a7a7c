//! Random numbers: the small part of `rand` that policies may use.

use std::ops::{Range, RangeInclusive};

/// A source of random bits.
pub trait RngCore {
    fn next_u32(&mut self) -> u32;
    fn next_u64(&mut self) -> u64;
}

impl<R: RngCore + ?Sized> RngCore for &mut R {
    fn next_u32(&mut self) -> u32 {
        (**self).next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}

/// A generator that a seed determines.
pub trait SeedableRng: Sized {
    /// The generator's state as bytes.
    type Seed: Default + AsMut<[u8]>;

    fn from_seed(seed: Self::Seed) -> Self;

    /// Spreads 64 bits over the whole seed: 32-bit words of a small PCG (XSH RR 64/32).
    fn seed_from_u64(mut state: u64) -> Self {
        let mut seed = Self::Seed::default();
        for chunk in seed.as_mut().chunks_mut(4) {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(11634580027462260723);
            let folded = (((state >> 18) ^ state) >> 27) as u32;
            let word = folded.rotate_right((state >> 59) as u32);
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        Self::from_seed(seed)
    }
}

/// What can be drawn uniformly from all of its values (floats: from [0, 1)).
pub trait Standard: Sized {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self;
}

impl Standard for u32 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        rng.next_u32()
    }
}

impl Standard for u64 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        rng.next_u64()
    }
}

impl Standard for i32 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        rng.next_u32() as i32
    }
}

impl Standard for i64 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        rng.next_u64() as i64
    }
}

impl Standard for f64 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        (rng.next_u64() >> 11) as f64 * (-53f64).exp2()
    }
}

impl Standard for f32 {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        (rng.next_u32() >> 8) as f32 * (-24f32).exp2()
    }
}

impl Standard for bool {
    fn draw<R: RngCore + ?Sized>(rng: &mut R) -> Self {
        rng.next_u32() >> 31 == 1
    }
}

/// What can be drawn uniformly from a range.
pub trait SampleUniform: Sized + PartialOrd {
    /// From `start` up to, not including, `end`.
    fn draw_below<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self;

    /// From `start` up to `end` itself.
    fn draw_through<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self;
}

/// Ranges from which a value can be drawn; panics when there is none in it.
pub trait SampleRange<T> {
    fn sample<R: RngCore + ?Sized>(self, rng: &mut R) -> T;
}

impl<T: SampleUniform> SampleRange<T> for Range<T> {
    fn sample<R: RngCore + ?Sized>(self, rng: &mut R) -> T {
        assert!(self.start < self.end, "cannot draw from an empty range");
        T::draw_below(self.start, self.end, rng)
    }
}

impl<T: SampleUniform> SampleRange<T> for RangeInclusive<T> {
    fn sample<R: RngCore + ?Sized>(self, rng: &mut R) -> T {
        assert!(
            self.start() <= self.end(),
            "cannot draw from an empty range"
        );
        let (start, end) = self.into_inner();
        T::draw_through(start, end, rng)
    }
}

/// One of `count` numbers: a 32-bit draw scaled, corrected by a second one where it is needed.
fn below_u32<R: RngCore + ?Sized>(rng: &mut R, count: u32) -> u32 {
    let product = u64::from(rng.next_u32()) * u64::from(count);
    let (index, rest) = ((product >> 32) as u32, product as u32);
    if rest <= count.wrapping_neg() {
        return index;
    }
    let correction = (u64::from(rng.next_u32()) * u64::from(count)) >> 32;
    index + u32::from(rest.checked_add(correction as u32).is_none())
}

/// The same with 64 bits.
fn below_u64<R: RngCore + ?Sized>(rng: &mut R, count: u64) -> u64 {
    let product = u128::from(rng.next_u64()) * u128::from(count);
    let (index, rest) = ((product >> 64) as u64, product as u64);
    if rest <= count.wrapping_neg() {
        return index;
    }
    let correction = (u128::from(rng.next_u64()) * u128::from(count)) >> 64;
    index + u64::from(rest.checked_add(correction as u64).is_none())
}

macro_rules! uniform_integers {
    ($($integer:ty, $unsigned:ty, $below:ident, $word:ty;)*) => {$(
        impl SampleUniform for $integer {
            fn draw_below<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
                let count = end.wrapping_sub(start) as $unsigned as $word;
                start.wrapping_add($below(rng, count) as $integer)
            }

            fn draw_through<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
                let last = end.wrapping_sub(start) as $unsigned as $word;
                match last.checked_add(1) {
                    Some(count) => start.wrapping_add($below(rng, count) as $integer),
                    None => <$word>::draw(rng) as $integer,
                }
            }
        }
    )*};
}

uniform_integers! {
    u8, u8, below_u32, u32;
    i8, u8, below_u32, u32;
    u16, u16, below_u32, u32;
    i16, u16, below_u32, u32;
    u32, u32, below_u32, u32;
    i32, u32, below_u32, u32;
    u64, u64, below_u64, u64;
    i64, u64, below_u64, u64;
    isize, usize, below_u64, u64;
}

/// Sizes are drawn with 32 bits where these are enough, so that platforms agree.
impl SampleUniform for usize {
    fn draw_below<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
        start + size_below(rng, (end - start) as u64)
    }

    fn draw_through<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
        match ((end - start) as u64).checked_add(1) {
            Some(count) => start + size_below(rng, count),
            None => rng.next_u64() as usize,
        }
    }
}

fn size_below<R: RngCore + ?Sized>(rng: &mut R, count: u64) -> usize {
    match u32::try_from(count) {
        Ok(count) => below_u32(rng, count) as usize,
        Err(_) => below_u64(rng, count) as usize,
    }
}

impl SampleUniform for f64 {
    fn draw_below<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
        let width = end - start;
        assert!(width.is_finite(), "cannot draw from an infinite range");
        loop {
            let drawn = fraction(rng) * width + start;
            if drawn < end {
                return drawn;
            }
        }
    }

    fn draw_through<R: RngCore + ?Sized>(start: Self, end: Self, rng: &mut R) -> Self {
        let width = (end - start) / (1.0 - f64::EPSILON); // the largest fraction becomes the end
        assert!(width.is_finite(), "cannot draw from an infinite range");
        (fraction(rng) * width + start).min(end)
    }
}

/// One of 2^52 fractions in [0, 1).
fn fraction<R: RngCore + ?Sized>(rng: &mut R) -> f64 {
    f64::from_bits((1023 << 52) | (rng.next_u64() >> 12)) - 1.0
}

/// Drawing values; every source of random bits has it.
pub trait Rng: RngCore {
    fn random<T: Standard>(&mut self) -> T {
        T::draw(self)
    }

    fn random_range<T, S: SampleRange<T>>(&mut self, range: S) -> T {
        range.sample(self)
    }

    /// True with probability `p`; panics unless 0 <= p <= 1.
    fn random_bool(&mut self, p: f64) -> bool {
        assert!(
            (0.0..=1.0).contains(&p),
            "a probability lies between 0 and 1, not at {p}"
        );
        p == 1.0 || self.next_u64() < (p * 64f64.exp2()) as u64
    }
}

impl<R: RngCore + ?Sized> Rng for R {}
