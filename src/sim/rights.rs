//! Which rights a key of a configuration asks for.

use super::call::{Context, Failure};
use super::drive;
use super::net;
use super::options::NET;
use super::property::Parsed;
use super::update::ConfigChange;
use super::vm::{Config, Vm};
use super::world::World;

/// Which privilege a key needs on the VM (`PVE/API2/Qemu.pm: check_vm_modify_config_perm`).
enum Needs {
    Privilege(&'static str),
    /// One of the two.
    CloudInitOrNetwork,
    Root,
}

fn needs(key: &str, value: Option<&str>) -> Needs {
    let plain = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let mapped = |value: Option<&str>| value.is_none_or(|value| value.contains("mapping=") || value.contains("spice"));
    match key {
        "cores" | "cpu" | "cpulimit" | "cpuunits" | "numa" | "sockets" | "vcpus" => Needs::Privilege("VM.Config.CPU"),
        "memory" | "balloon" | "shares" | "allow-ksm" => Needs::Privilege("VM.Config.Memory"),
        "acpi" | "hotplug" | "kvm" | "machine" | "scsihw" | "smbios1" | "tablet" | "vga" | "watchdog" | "audio0"
        | "rng0" => Needs::Privilege("VM.Config.HWType"),
        "agent" | "autostart" | "bios" | "description" | "keyboard" | "localtime" | "migrate_downtime"
        | "migrate_speed" | "name" | "onboot" | "ostype" | "protection" | "reboot" | "startdate" | "startup"
        | "tdf" | "template" | "tags" => Needs::Privilege("VM.Config.Options"),
        "freeze" => Needs::Privilege("VM.PowerMgmt"),
        "boot" | "bootdisk" | "vmstatestorage" => Needs::Privilege("VM.Config.Disk"),
        "nameserver" | "searchdomain" | "ciuser" | "cipassword" | "citype" | "cicustom" | "ciupgrade" | "sshkeys" => {
            Needs::CloudInitOrNetwork
        }
        _ => match plain {
            "numa" => Needs::Privilege("VM.Config.CPU"),
            "net" => Needs::Privilege("VM.Config.Network"),
            "ipconfig" => Needs::CloudInitOrNetwork,
            "unused" => Needs::Privilege("VM.Config.Disk"),
            "serial" if value.is_none_or(|value| value == "socket") => Needs::Privilege("VM.Config.HWType"),
            "usb" | "hostpci" if mapped(value) => Needs::Privilege("VM.Config.HWType"),
            _ => Needs::Root,
        },
    }
}

impl World {
    /// Whether the caller may touch each of the keys.
    pub(crate) fn check_keys(&self, context: &Context, id: u32, change: &ConfigChange) -> Result<(), Failure> {
        let path = format!("/vms/{id}");
        let current = self.vms.get(&id).map(Vm::planned).unwrap_or_default();
        let deleted = change.delete.iter().map(|key| (key, None));
        let set = change.set.iter().map(|(key, value)| (key, Some(value.as_str())));
        for (key, value) in deleted.chain(set) {
            if let Some(grammar) = drive::grammar(key) {
                let text = value.or_else(|| current.get(key).map(String::as_str)).unwrap_or_default();
                let drive =
                    grammar.parse(text).map_err(|_| Failure::parameter(key, "unable to parse drive options"))?;
                let before = current.get(key).and_then(|text| grammar.parse(text).ok());
                let cloudinit = |drive: &Parsed| drive::is_cloudinit(drive);
                if cloudinit(&drive) || before.as_ref().is_some_and(cloudinit) {
                    self.require(&context.user, &path, &["VM.Config.Cloudinit", "VM.Config.CDROM"])?;
                } else if drive::is_cdrom(&drive) {
                    self.require(&context.user, &path, &["VM.Config.CDROM"])?;
                } else {
                    self.require(&context.user, &path, &["VM.Config.Disk"])?;
                }
                if value.is_some() {
                    self.check_drive(context, id, key, &drive)?;
                }
                continue;
            }
            self.check_key(context, &path, key, value, &current)?;
        }
        Ok(())
    }

    pub(crate) fn check_key(
        &self,
        context: &Context,
        path: &str,
        key: &str,
        value: Option<&str>,
        current: &Config,
    ) -> Result<(), Failure> {
        let user = &context.user;
        if context.is_root() {
            return Ok(());
        }
        match needs(key, value) {
            Needs::Privilege(privilege) => self.require(user, path, &[privilege])?,
            Needs::CloudInitOrNetwork => self.require_any(user, path, &["VM.Config.Cloudinit", "VM.Config.Network"])?,
            Needs::Root => return Err(Failure::new(format!("only root can set '{key}' config"))),
        }
        if key == "startup" {
            self.require(user, "/", &["Sys.Modify"])?;
        }
        if net::index(key).is_some() {
            for card in [value, current.get(key).map(String::as_str)].into_iter().flatten() {
                self.check_bridge(user, card)?;
            }
        }
        Ok(())
    }

    /// Whether the caller may use the bridge of a card.
    pub(crate) fn check_bridge(&self, user: &str, card: &str) -> Result<(), Failure> {
        let Ok(card) = NET.parse(card) else {
            return Ok(());
        };
        let Some(bridge) = card.get("bridge") else {
            return Ok(());
        };
        let tag = card.get("tag").map(|tag| format!("/{tag}")).unwrap_or_default();
        self.require(user, &format!("/sdn/zones/localnetwork/{bridge}{tag}"), &["SDN.Use"])
    }
}
