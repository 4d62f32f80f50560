use std::fmt;
use std::str::FromStr;

/// A boolean inside a property string. Written or not, it is equal to whatever has the same effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct Switch<const DEFAULT: bool> {
    written: Option<bool>,
}

impl<const DEFAULT: bool> Switch<DEFAULT> {
    /// The value in effect.
    pub fn get(self) -> bool {
        self.written.unwrap_or(DEFAULT)
    }

    /// Whether it is spelled out, and how: Proxmox keeps a spelled-out default.
    pub fn written(self) -> Option<bool> {
        self.written
    }

    /// Takes `value`, and leaves it unwritten where it has that value anyway.
    pub fn set(&mut self, value: bool) {
        if self.get() != value {
            self.written = Some(value);
        }
    }
}

impl<const DEFAULT: bool> From<bool> for Switch<DEFAULT> {
    /// The default stays unwritten.
    fn from(value: bool) -> Self {
        Self { written: (value != DEFAULT).then_some(value) }
    }
}

impl<const DEFAULT: bool> From<Option<bool>> for Switch<DEFAULT> {
    fn from(written: Option<bool>) -> Self {
        Self { written }
    }
}

impl<const DEFAULT: bool> PartialEq for Switch<DEFAULT> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<const DEFAULT: bool> Eq for Switch<DEFAULT> {}

/// The words that Proxmox takes for a boolean inside a property string.
pub(super) struct Word(bool);

impl Word {
    pub(super) fn get(self) -> bool {
        self.0
    }
}

impl FromStr for Word {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is(["1", "on", "yes", "true"]) {
            Ok(Self(true))
        } else if is(["0", "off", "no", "false"]) {
            Ok(Self(false))
        } else {
            Err(())
        }
    }
}

impl<const DEFAULT: bool> FromStr for Switch<DEFAULT> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().map(|word: Word| Self { written: Some(word.get()) })
    }
}

impl<const DEFAULT: bool> fmt::Display for Switch<DEFAULT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(digit(self.get()))
    }
}

/// The way Proxmox prints a boolean.
pub(super) fn digit(value: bool) -> &'static str {
    if value { "1" } else { "0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelled_out_default_is_no_difference() {
        assert_eq!("off".parse::<Switch<false>>(), Ok(Switch::default()));
        assert_eq!("TRUE".parse::<Switch<true>>(), Ok(Switch::default()));
        assert_ne!("1".parse::<Switch<false>>(), Ok(Switch::default()));
        assert_eq!("2".parse::<Switch<false>>(), Err(()));
    }

    #[test]
    fn setting_the_value_that_is_there_changes_nothing() {
        let mut switch: Switch<false> = "0".parse().unwrap();
        switch.set(false);
        assert_eq!(switch.written(), Some(false));
        switch.set(true);
        assert_eq!(switch.written(), Some(true));
    }
}
