use std::fmt;
use std::str::FromStr;

use super::{Properties, PropertyError};
use crate::model::CpuType;

/// The `cpu` value: a model, flags, and what else may follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// The key `cputype` has the model, `flags` the flags.
    keys: Properties,
}

impl Cpu {
    /// The model, such as `host`; none stands for Proxmox's default.
    pub fn model(&self) -> Option<&str> {
        self.keys.get("cputype")
    }

    /// Takes model and flags from `wanted` and keeps the rest.
    pub fn set(&mut self, wanted: &CpuType) {
        let (model, flags) = wanted
            .as_str()
            .split_once(",flags=")
            .map_or((wanted.as_str(), None), |(model, flags)| (model, Some(flags)));
        self.keys.set("cputype", model);
        match flags {
            Some(flags) => self.keys.set("flags", flags),
            None => drop(self.keys.take("flags")),
        }
    }
}

impl From<&CpuType> for Cpu {
    fn from(wanted: &CpuType) -> Self {
        let mut cpu = Self::default();
        cpu.set(wanted);
        cpu
    }
}

impl FromStr for Cpu {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        Properties::parse(text, Some("cputype")).map(|keys| Self { keys })
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.keys.clone();
        match keys.take("cputype") {
            Some(model) => keys.print_default("cputype", model, f),
            None => keys.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_takes_a_new_model_and_keeps_the_rest() {
        let mut cpu: Cpu = "cputype=kvm64,hidden=1,flags=+aes".parse().unwrap();
        cpu.set(&"host".parse().unwrap());
        assert_eq!(cpu.to_string(), "host,hidden=1");
        cpu.set(&"host,flags=+aes;-pcid".parse().unwrap());
        assert_eq!(cpu.to_string(), "host,flags=+aes;-pcid,hidden=1");
        assert_eq!("cputype=host".parse::<Cpu>().unwrap(), Cpu::from(&"host".parse::<CpuType>().unwrap()));
    }
}
