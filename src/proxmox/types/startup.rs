use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError};

/// The `startup` value: the place of a VM when its host starts and stops. Writing it needs `Sys.Modify` on `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Startup {
    pub order: Option<u32>,
    /// Seconds to wait after this VM before the next one starts.
    pub up: Option<u32>,
    /// Seconds that it has for shutting down.
    pub down: Option<u32>,
    pub unmanaged: Properties,
}

impl FromStr for Startup {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let mut keys = Properties::parse(text, Some("order"))?;
        Ok(Self { order: keys.take_as("order"), up: keys.take_as("up"), down: keys.take_as("down"), unmanaged: keys })
    }
}

impl fmt::Display for Startup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.unmanaged.clone();
        keys.set_some("order", self.order);
        keys.set_some("up", self.up);
        keys.set_some("down", self.down);
        keys.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_order_may_be_left_out() {
        let startup = Startup { order: Some(1), up: Some(30), ..Startup::default() };
        assert_eq!("1,up=30".parse(), Ok(startup.clone()));
        assert_eq!("up=30,order=01".parse(), Ok(startup.clone()));
        assert_eq!(startup.to_string(), "order=1,up=30");
        assert_ne!("order=1".parse(), Ok(startup));
    }
}
