use super::call::{Failure, percent_decode};

/// Keys are lines of `type base64 comment`, and the base64 must hold what it says.
pub(crate) fn check_ssh_keys(encoded: &str) -> Result<(), Failure> {
    let good =
        percent_decode(encoded).lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).all(
            |line| {
                let mut words = line.split_whitespace();
                let (kind, data) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                base64(data).is_some_and(|data| is_key_blob(kind, &data))
            },
        );
    if good { Ok(()) } else { Err(Failure::new("SSH public key validation error")) }
}

/// Fields with their lengths in front; the first one is the type, and nothing is left over.
fn is_key_blob(kind: &str, mut data: &[u8]) -> bool {
    let mut fields = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let Some((field, rest)) = rest.split_at_checked(length) else {
            return false;
        };
        fields.push(field);
        data = rest;
    }
    data.is_empty() && fields.len() >= 2 && fields[0] == kind.as_bytes()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xFF).unwrap_or(0));
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ssh_key_must_hold_what_it_says() {
        let good = "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIOlMLrG7dWpd%2Bspgz6gprkt4Wukk7AgzsbI%2B3cWERMHM%20a%40b%0A";
        assert!(check_ssh_keys(good).is_ok());
        assert!(check_ssh_keys("ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIBx2%20a%40b%0A").is_err());
        assert!(check_ssh_keys("ssh-rsa%20AAAA").is_err());
    }
}
