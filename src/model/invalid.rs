use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A value that people write as text: what to call it, and its shape for editors.
pub trait Text: FromStr<Err = Invalid> + fmt::Display {
    /// What it is, with an example; completes the sentence "… is not".
    const WHAT: &'static str;
    /// A regular expression for JSON Schema. Every value matches it, so that no editor finds fault with a right file.
    const PATTERN: &'static str;
}

/// A text that is not the value it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is not {what}")]
pub struct Invalid {
    value: Quoted,
    what: Cow<'static, str>,
    why: Option<Cow<'static, str>>,
    hint: Option<Cow<'static, str>>,
}

impl Invalid {
    pub(crate) fn new(value: &str, what: impl Into<Cow<'static, str>>) -> Self {
        Self { value: Quoted::new(value), what: what.into(), why: None, hint: None }
    }

    /// An error about a value that must not be repeated anywhere.
    pub(crate) fn hidden(what: &'static str) -> Self {
        Self { value: Quoted::hidden(), what: what.into(), why: None, hint: None }
    }

    pub(crate) fn because(mut self, why: impl Into<Cow<'static, str>>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What exactly is wrong with it, when more can be said than that it is not what it should be.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// What to write instead, when that can be told.
    pub fn suggestion(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Where a text begins to look like a secret, whatever it was given as: a token, a UUID, a password before an `@`.
///
/// People paste secrets into the wrong line; a message about that must not repeat them.
pub(crate) fn secret_in(text: &str) -> Option<usize> {
    let token = text.find('!').and_then(|bang| text[bang..].find('=').map(|equals| bang + equals + 1));
    let uuid = (0..text.len().saturating_sub(35)).find(|start| is_uuid(&text.as_bytes()[*start..*start + 36]));
    token.into_iter().chain(password_in(text)).chain(uuid).min()
}

/// The beginning of a word like `user:password@host`.
fn password_in(text: &str) -> Option<usize> {
    let ends_word = |c: char| c.is_whitespace() || "'\"{}[],".contains(c);
    text.match_indices('@').find_map(|(at, _)| {
        let before = text[..at].rsplit(ends_word).next().unwrap_or_default();
        before.contains(':').then_some(at - before.len())
    })
}

fn is_uuid(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// A piece of input made fit for a message: bounded, without control characters and secrets, in backquotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

impl Quoted {
    const LONGEST: usize = 72;

    pub fn new(text: &str) -> Self {
        if secret_in(text).is_some() {
            return Self::hidden();
        }
        let beginning: String = text.chars().take(Self::LONGEST).collect();
        let mut shown = made_printable(&beginning).replace('\n', "\\n");
        if text.chars().nth(Self::LONGEST).is_some() {
            shown.push('…');
        }
        Self(format!("`{shown}`"))
    }

    fn hidden() -> Self {
        Self("the value (not shown)".to_owned())
    }
}

/// Whether a character can be shown: it neither steers a terminal nor reorders or hides text.
pub(crate) fn printable(c: char) -> bool {
    let invisible = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    !c.is_control() && !invisible
}

/// A text with what cannot be shown written as escapes; line ends stay.
pub(crate) fn made_printable(text: &str) -> Cow<'_, str> {
    let fine = |c: char| printable(c) || c == '\n';
    if text.chars().all(fine) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if fine(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
    }
    Cow::Owned(shown)
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Serializes a type as the text that it displays.
macro_rules! serialize_as_text {
    ($($name:ty),+ $(,)?) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

/// Declares a text type whose only way in is its check.
///
/// The check returns the text to keep (`Ok`), or what is wrong with it.
macro_rules! checked_text {
    ($(#[$meta:meta])* $name:ident, $what:literal, $pattern:literal, $check:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::model::Text for $name {
            const WHAT: &'static str = $what;
            const PATTERN: &'static str = $pattern;
        }

        impl std::str::FromStr for $name {
            type Err = $crate::model::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let check: fn(&str) -> Result<std::borrow::Cow<'_, str>, &'static str> = $check;
                match check(text) {
                    Ok(kept) => Ok(Self(kept.into())),
                    Err(why) => Err($crate::model::Invalid::new(text, $what).because(why)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        $crate::model::invalid::serialize_as_text!($name);
    };
}

pub(super) use {checked_text, serialize_as_text};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_cannot_steer_the_terminal() {
        assert_eq!(Quoted::new("a\u{1b}[31mb\n\u{202e}").to_string(), "`a\\u{1b}[31mb\\n\\u{202e}`");
    }

    #[test]
    fn a_text_that_looks_like_a_secret_is_not_repeated() {
        for text in [
            "5ec4e7aa-1111-2222-3333-444444444444",
            "x 5EC4E7AA-1111-2222-3333-444444444444 y",
            "root@pam!ci=abc",
            "https://u:p@h",
        ] {
            assert_eq!(Quoted::new(text).to_string(), "the value (not shown)");
        }
        assert_eq!(secret_in("5ec4e7aa-1111-2222-3333-44444444444"), None);
        assert_eq!(secret_in("{x: root:pw@h}"), Some(4));
        assert_eq!(secret_in("token_id: root@pam!ci"), None);
        assert_eq!(secret_in("é5ec4e7aa-1111-2222-3333-444444444444"), Some(2));
    }

    #[test]
    fn a_long_text_is_cut() {
        let shown = Quoted::new(&"x".repeat(1000)).to_string();
        assert_eq!(shown.chars().count(), Quoted::LONGEST + 3);
        assert!(shown.ends_with("…`"));
    }
}
