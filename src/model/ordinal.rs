use std::num::NonZeroU32;

/// A small number that may be missing: in an `Option` it takes no more room than a `u32`. Pods have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ordinal(NonZeroU32);

impl Ordinal {
    /// The number. The largest `u32` stands for the one below it: no index or count comes near.
    pub fn new(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(number))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0.get() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::Ordinal;

    #[test]
    fn every_number_that_occurs_comes_back_and_takes_four_bytes() {
        for number in [0, 1, 7, u32::MAX - 1] {
            assert_eq!(Ordinal::new(number).get(), number);
        }
        assert_eq!(size_of::<Option<Ordinal>>(), 4);
    }
}
