//! Property strings as the server reads, refuses and prints them (`PVE/JSONSchema.pm: parse_property_string`).
//!
//! The client has its own, typed reading of the same strings; this one exists to *refuse* as Proxmox does, key by
//! key and with Proxmox's words, and to print the canonical order.

use std::collections::BTreeMap;

use super::format::check_cpu_model;
use super::param::{Kind, Param, check_all};

/// The keys that one kind of property string may have.
#[derive(Debug)]
pub struct Properties {
    /// The name in the API's schema; several inline formats there have none of their own.
    pub name: &'static str,
    pub groups: &'static [&'static [Param]],
}

/// A parsed property string.
pub(crate) type Parsed = BTreeMap<String, String>;

impl Properties {
    fn key(&self, name: &str) -> Option<&'static Param> {
        self.groups.iter().flat_map(|group| group.iter()).find(|param| param.is(name))
    }

    fn default_key(&self) -> Option<&'static str> {
        self.groups.iter().flat_map(|group| group.iter()).find(|param| param.default_key).map(|param| param.name)
    }

    /// Reads the string without looking at the values, except that booleans become 0 and 1.
    pub(crate) fn parse(&self, text: &str) -> Result<Parsed, String> {
        let mut parsed = Parsed::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) if !key.is_empty() && !value.is_empty() => (key, value),
                Some(_) => return Err("missing key in comma-separated list property\n".to_owned()),
                None => match self.default_key() {
                    Some(key) => (key, part),
                    None => return Err("value without key, but schema does not define a default key\n".to_owned()),
                },
            };
            let param = self.key(key);
            let target = param.and_then(|param| param.alias).unwrap_or(key);
            if let Some(named) = param.and_then(|param| param.key_alias) {
                if parsed.contains_key(named) {
                    return Err(format!("key alias '{named}' is already defined\n"));
                }
                parsed.insert(named.to_owned(), key.to_owned());
            }
            if parsed.contains_key(target) {
                return Err(format!("duplicate key in comma-separated list property: {key}\n"));
            }
            let boolean = self.key(target).is_some_and(|param| param.kind == Kind::Boolean);
            let value = if boolean { parse_boolean(value).unwrap_or(value) } else { value };
            parsed.insert(target.to_owned(), value.to_owned());
        }
        Ok(parsed)
    }

    /// Whether the server would take the string; `path` is the name of the parameter.
    pub(crate) fn check(&self, path: &str, text: &str) -> Result<(), String> {
        if self.name == "pve-vm-cpu-conf" {
            check_cpu_model(text)?;
        }
        let parsed = self.parse(text)?;
        let errors = check_all(self.groups, path, &parsed);
        if errors.is_empty() {
            return Ok(());
        }
        let lines = errors.into_iter().map(|(key, text)| format!("{key}: {text}\n"));
        Err(std::iter::once("format error\n".to_owned()).chain(lines).collect::<Vec<_>>().concat())
    }

    /// The canonical form: the default key first, then the required ones, then the rest by name.
    pub(crate) fn print(&self, values: &Parsed) -> String {
        let default = self.default_key();
        let needed = |key: &str| self.key(key).is_some_and(|param| !param.optional && param.alias.is_none());
        let mut keys: Vec<&String> = values.keys().collect();
        keys.sort_by_key(|key| (Some(key.as_str()) != default, !needed(key), key.as_str()));
        let parts: Vec<String> = keys
            .into_iter()
            .map(
                |key| {
                    if Some(key.as_str()) == default { values[key].clone() } else { format!("{key}={}", values[key]) }
                },
            )
            .collect();
        parts.join(",")
    }
}

/// What counts as a boolean inside a property string.
pub(crate) fn parse_boolean(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "yes" | "true" => Some("1"),
        "0" | "off" | "no" | "false" => Some("0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::net;
    use super::super::options::{IPCONFIG, NET, SCSI};

    #[test]
    fn cards_are_printed_in_their_canonical_form() {
        #[track_caller]
        fn case(sent: &str, stored: &str) {
            assert_eq!(NET.check("net0", sent), Ok(()));
            assert_eq!(net::print(&NET.parse(sent).unwrap()), stored);
        }
        case(
            "virtio,bridge=vmbr0,macaddr=bc:24:11:aa:bb:01,tag=20,firewall=on",
            "virtio=bc:24:11:aa:bb:01,bridge=vmbr0,firewall=1,tag=20",
        );
        case("bridge=vmbr0,model=virtio,macaddr=BC:24:11:00:00:0B", "virtio=BC:24:11:00:00:0B,bridge=vmbr0");
    }

    #[test]
    fn disks_are_printed_with_their_options_by_name() {
        let sent = "local-lvm:vm-100-disk-0,size=20G,ssd=1,discard=on,iothread=1,cache=none";
        let stored = "local-lvm:vm-100-disk-0,cache=none,discard=on,iothread=1,size=20G,ssd=1";
        assert_eq!(SCSI.print(&SCSI.parse(sent).unwrap()), stored);
    }

    #[test]
    fn mistakes_carry_the_name_of_parameter_and_key() {
        assert_eq!(
            NET.check("net0", "foo=BC:24:11:00:00:01,bridge=vmbr0"),
            Err("format error\nnet0.foo: property is not defined in schema and the schema does not allow additional properties\nnet0.model: property is missing and it is not optional\n".to_owned())
        );
        assert_eq!(
            IPCONFIG.check("ipconfig0", "gw=10.0.0.1"),
            Err("format error\nipconfig0.ip: missing property required by 'ipconfig0.gw'\n".to_owned())
        );
        assert_eq!(
            NET.parse("virtio,virtio"),
            Err("duplicate key in comma-separated list property: model\n".to_owned())
        );
    }
}
