//! SHA-1, which Proxmox uses for the digest of a configuration and for the instance id of cloud-init. Nothing here is
//! about security: equal texts must have equal digests, as on the real server.

/// The digest of `text` as 40 hexadecimal digits.
pub(crate) fn hex(text: &str) -> String {
    let mut state: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    let mut message = text.as_bytes().to_vec();
    let bits = 8 * message.len() as u64;
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend(bits.to_be_bytes());
    for block in message.chunks_exact(64) {
        mix(&mut state, block);
    }
    state.map(|word| format!("{word:08x}")).concat()
}

fn mix(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for index in 16..80 {
        words[index] = (words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotate_left(1);
    }
    let [mut first, mut second, mut third, mut fourth, mut fifth] = *state;
    for (index, word) in words.iter().enumerate() {
        let (choice, constant) = match index {
            0..20 => ((second & third) | (!second & fourth), 0x5A82_7999),
            20..40 => (second ^ third ^ fourth, 0x6ED9_EBA1),
            40..60 => ((second & third) | (second & fourth) | (third & fourth), 0x8F1B_BCDC),
            _ => (second ^ third ^ fourth, 0xCA62_C1D6),
        };
        let next =
            first.rotate_left(5).wrapping_add(choice).wrapping_add(fifth).wrapping_add(constant).wrapping_add(*word);
        (fifth, fourth, third, second, first) = (fourth, third, second.rotate_left(30), first, next);
    }
    for (word, add) in state.iter_mut().zip([first, second, third, fourth, fifth]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn known_texts_have_known_digests() {
        assert_eq!(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hex(&"a".repeat(1000)), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
    }
}
