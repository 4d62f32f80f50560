use serde::{Deserialize, Serialize};

/// A small generator with a seed (SplitMix64): the same world makes the same MACs and ids again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A random UUID of version 4.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xFFFF,
            high & 0xFFF,
            0x8000 | (low >> 48) & 0x3FFF,
            low & 0xFFFF_FFFF_FFFF
        )
    }

    /// A MAC in upper case with the given first three bytes.
    pub(crate) fn mac(&mut self, prefix: &str) -> String {
        let bits = self.next();
        format!("{prefix}:{:02X}:{:02X}:{:02X}", bits & 0xFF, (bits >> 8) & 0xFF, (bits >> 16) & 0xFF)
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::is_unicast_mac;
    use super::super::pattern::is_uuid;
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_ids() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        let (uuid, mac) = (one.uuid(), one.mac("BC:24:11"));
        assert_eq!((uuid.clone(), mac.clone()), (two.uuid(), two.mac("BC:24:11")));
        assert!(is_uuid(&uuid) && is_unicast_mac(&mac));
        assert_ne!(one.uuid(), uuid);
    }
}
