/// A word as a shell reads it as itself. Between single quotes even `!` means nothing but itself.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_itself_to_a_shell() {
        #[track_caller]
        fn case(word: &str, expected: &str) {
            assert_eq!(shell_quoted(word), expected);
        }
        case("pvetalos@pve", "pvetalos@pve");
        case("pvetalos@pve!ci", "'pvetalos@pve!ci'");
        case("o'neil@ldap", r"'o'\''neil@ldap'");
        case("$(reboot)@pam", "'$(reboot)@pam'");
        case("VM.Audit VM.Clone", "'VM.Audit VM.Clone'");
        case("", "''");
    }
}
