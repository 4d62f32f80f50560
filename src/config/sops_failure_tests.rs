use std::path::Path;

use secrecy::SecretString;

use super::sops_failure::{Failure, judge};

/// What a real `sops` ended with and said; tests/fixtures/sops holds a folder for each release.
fn recorded(release: &str, case: &str) -> (i32, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sops").join(release);
    let found = std::fs::read_dir(folder).expect("the release was recorded").find_map(|entry| {
        let path = entry.expect("the folder can be read").path();
        let code = path.extension()?.to_str()?.parse().ok()?;
        (path.file_stem()? == case).then(|| (code, std::fs::read_to_string(&path).expect("a recording is text")))
    });
    found.unwrap_or_else(|| panic!("{release} has no recording of {case}"))
}

const RELEASES: [&str; 2] = ["3.13.3", "3.8.1"];

#[test]
fn old_and_new_releases_are_understood() {
    #[track_caller]
    fn case(name: &str, expected: &Failure) {
        for release in RELEASES {
            let (code, stderr) = recorded(release, name);
            assert_eq!(judge(code, &stderr, &[]), *expected, "{release} {name}");
        }
    }
    case("no-key", &Failure::NoKey);
    case("wrong-key", &Failure::WrongKey);
    case("key-file-absent", &Failure::KeyFileUnreadable("no such file or directory"));
    case("key-file-locked", &Failure::KeyFileUnreadable("permission denied"));
    case("key-file-garbage", &Failure::NotAKey("SOPS_AGE_KEY_FILE"));
    case("variable-garbage", &Failure::NotAKey("SOPS_AGE_KEY"));
    case("value-in-clear", &Failure::ValueInClear);
    case("tampered", &Failure::Damaged);
    case("mac-mismatch", &Failure::Damaged);
    case("no-mac", &Failure::Damaged);
    case("cut", &Failure::Damaged);
}

/// Of an empty key file the new one says that there is no key, the old one that it is no key file.
#[test]
fn what_the_releases_tell_apart_differently_is_some_trouble_with_the_key() {
    for name in ["key-file-empty", "key-file-folder"] {
        let judged = RELEASES.map(|release| {
            let (code, stderr) = recorded(release, name);
            judge(code, &stderr, &[])
        });
        assert_eq!(judged, [Failure::NoKey, Failure::NotAKey("SOPS_AGE_KEY_FILE")], "{name}");
    }
}

#[track_caller]
fn said(code: i32, stderr: &str, in_clear: &[&str]) -> Vec<String> {
    let in_clear: Vec<SecretString> = in_clear.iter().map(|value| SecretString::from(*value)).collect();
    match judge(code, stderr, &in_clear) {
        Failure::Other { code: same, said } if same == code => said,
        failure => panic!("{failure:?}"),
    }
}

#[test]
fn the_rest_is_told_in_its_own_words() {
    let (code, stderr) = recorded("3.13.3", "pgp");
    let words = said(code, &stderr, &[]);
    assert_eq!(
        words[..3].join("\n"),
        "Failed to get the data key required to decrypt the SOPS file.\nGroup 0: FAILED\nFBC7B9E2A4F9289AC0C1D4843D16CEE4A27381B4: FAILED"
    );
    assert!(words[3].starts_with("could not decrypt data key with PGP key: github.com/"), "{words:?}");
    assert_eq!(words.len(), 4);

    let (code, stderr) = recorded("3.13.3", "key-command-fails");
    assert!(said(code, &stderr, &[])[3].contains("failed to execute command /bin/false: exit status 1."));

    let (code, stderr) = recorded("3.8.1", "config-broken");
    assert_eq!(code, 1);
    assert!(said(code, &stderr, &[])[0].starts_with("error loading config: "));
}

#[test]
fn nothing_that_could_be_a_secret_is_repeated() {
    #[track_caller]
    fn case(stderr: &str, shown: &str) {
        assert_eq!(said(1, stderr, &["hunter2 of mine", "hunter3"]), [shown]);
    }
    case("bad value hunter3 here", "bad value (not shown) here");
    case("- | bad value hunter2\n  | of mine here", "bad value (not shown) here");
    case("got root@pam!ci=5ec4e7aa", "got root@pam!ci=(not shown)");
    case("got 5ec4e7aa-1111-2222-3333-444444444444", "got (not shown)");
    case("proxmox_api_token_secret: 5ec4e7aa", "proxmox_api_token_secret:(not shown)");
    case("é AGE-SECRET-KEY-1QQQ", "é (not shown)");
    case("bad age-secret-key-1qqq", "bad (not shown)");
    case("\u{1b}[2Jhello", "\\u{1b}[2Jhello");
}

#[test]
fn long_talk_is_cut() {
    let words = said(1, &format!("{}\n{}", "x".repeat(1000), "y\n".repeat(100)), &[]);
    assert_eq!((words.len(), words[0].chars().count(), words[0].ends_with('…')), (6, 301, true));
}

/// Whatever a value in clear is, the judgement itself holds nothing of it.
#[test]
fn a_value_that_sops_repeats_stays_out_of_the_judgement() {
    for release in RELEASES {
        let (code, stderr) = recorded(release, "value-in-clear");
        assert!(stderr.contains("hunter2"));
        assert!(!format!("{:?}", judge(code, &stderr, &[])).contains("hunter2"));
    }
}
