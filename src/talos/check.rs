//! Is it the right machine, and is it as it was asked for? Plain comparisons of values.

use std::fmt;

use serde::Serialize;

use super::leaf::Leaf;
use super::said::{Disk, Said};
use super::{Answer, Expected, Target};
use crate::model::{DiskSize, InstallDisk, TalosVersion};

/// One comparison of what a node says with what it should say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub aspect: Aspect,
    pub verdict: Verdict,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    Uuid,
    Mac,
    /// The host name in the certificate of a configured node.
    CertificateName,
    Platform,
    InstanceId,
    Hostname,
    Address,
    SecureBoot,
    SystemDisk,
    DiskSize,
    Extensions,
    Schematic,
    Version,
    FreshDisk,
    GuestAgent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Same,
    Differs {
        expected: String,
        found: String,
    },
    /// It cannot be known, and why.
    Unknown(String),
}

impl Aspect {
    /// Whether a difference means that this is another machine.
    pub fn is_identity(self) -> bool {
        matches!(self, Self::Uuid | Self::Mac | Self::CertificateName)
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Uuid => "SMBIOS UUID",
            Self::Mac => "MAC address",
            Self::CertificateName => "name in the certificate",
            Self::Platform => "platform",
            Self::InstanceId => "cloud-init data",
            Self::Hostname => "host name",
            Self::Address => "address",
            Self::SecureBoot => "secure boot",
            Self::SystemDisk => "system disk",
            Self::DiskSize => "size of the system disk",
            Self::Extensions => "extensions",
            Self::Schematic => "schematic",
            Self::Version => "Talos version",
            Self::FreshDisk => "fresh disk",
            Self::GuestAgent => "guest agent",
        })
    }
}

impl Check {
    fn new(aspect: Aspect, verdict: Verdict) -> Self {
        Self { aspect, verdict }
    }

    pub fn differs(&self) -> bool {
        matches!(self.verdict, Verdict::Differs { .. })
    }

    /// The difference and what to do about it, in one line.
    pub fn told(&self) -> String {
        self.fix().map_or_else(|| self.to_string(), |fix| format!("{self}: {fix}"))
    }

    /// What to do about a difference.
    pub fn fix(&self) -> Option<&'static str> {
        self.differs().then_some(match self.aspect {
            Aspect::Uuid | Aspect::Mac | Aspect::CertificateName => {
                "another machine has this address: find it by the address in `arp -n` or the DHCP server's leases, and \
                 give one of the two another address"
            }
            Aspect::Platform => {
                "make the template from a nocloud image: other images do not read what Proxmox tells them, addresses \
                 included"
            }
            Aspect::InstanceId => {
                "stop and start the VM: it was started before its cloud-init settings were changed last, and reads \
                 them only then"
            }
            Aspect::Hostname => {
                "name it in the machine configuration; a DHCP server that gives names outranks the name of the VM"
            }
            Aspect::Address => "compare ipconfig0 and the order of the VM's network cards with nodes.yaml",
            Aspect::SecureBoot => {
                "secure boot needs OVMF with an EFI disk without pre-enrolled keys (`pre-enrolled-keys=0`) and a \
                 secureboot image of Image Factory 1.3.3 or later, which enrols its own; make template and VM anew"
            }
            Aspect::SystemDisk => "correct `disk` in nodes.yaml: the image counts as installed where it runs from",
            Aspect::DiskSize => {
                "run `pvetalos provision` again to grow the disk before a machine configuration is applied: partitions \
                 are laid out then"
            }
            Aspect::Extensions | Aspect::Schematic | Aspect::Version => {
                "make a template of the wanted image and clone the node from it, or upgrade the node with talosctl \
                 once it is configured"
            }
            Aspect::FreshDisk => "the template has been started once; make it anew, and clone from one that never was",
            Aspect::GuestAgent => {
                "add siderolabs/qemu-guest-agent to the schematic, or set `qemu_agent: false`: Proxmox waits for an \
                 agent that is not there"
            }
        })
    }
}

/// The comparison in words: `MAC address is BC:…:02, expected BC:…:01`.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aspect = self.aspect;
        match &self.verdict {
            Verdict::Same => write!(f, "{aspect} is right"),
            Verdict::Differs { expected, found } => write!(f, "{aspect} is {found}, expected {expected}"),
            Verdict::Unknown(why) => write!(f, "{aspect} is unknown: {why}"),
        }
    }
}

/// Compares a node in maintenance with what was asked for, in the order of importance.
pub fn check(target: &Target, said: &Said) -> Vec<Check> {
    let Expected { uuid, mac, hostname, instance_id, .. } = &target.expected;
    let mut checks = Vec::new();
    let mut add = |aspect, verdict: Option<Verdict>| {
        checks.extend(verdict.map(|verdict| Check::new(aspect, verdict)));
    };
    add(Aspect::Uuid, uuid.as_ref().map(|uuid| equal(&said.uuid, &uuid.to_ascii_lowercase())));
    add(Aspect::Mac, mac.map(|mac| among(&said.macs, &mac, "no network card")));
    add(Aspect::Platform, Some(platform(said)));
    add(Aspect::InstanceId, instance_id.as_ref().map(|id| cidata(said, id)));
    add(Aspect::Hostname, hostname.as_ref().map(|hostname| host_name(said, hostname)));
    add(Aspect::Address, Some(among(&said.addresses, &target.address, "no address")));
    intent(&target.expected, said, &mut add);
    add(Aspect::FreshDisk, Some(fresh(said)));
    checks
}

fn intent(expected: &Expected, said: &Said, add: &mut impl FnMut(Aspect, Option<Verdict>)) {
    let Expected { secure_boot, disk, disk_size, extensions, schematic, version, guest_agent, .. } = expected;
    let on = |on: bool| if on { "on" } else { "off" };
    let secure = said.secure_boot.clone().map(|secure| on(secure).to_owned());
    add(Aspect::SecureBoot, secure_boot.map(|wanted| equal(&secure, on(wanted))));
    add(Aspect::SystemDisk, disk.as_ref().map(|disk| system_disk(said, disk)));
    add(Aspect::DiskSize, disk_size.map(|size| size_of_system_disk(said, size)));
    add(Aspect::Extensions, extensions.as_ref().map(|wanted| has_extensions(said, wanted)));
    add(Aspect::Schematic, schematic.as_ref().map(|wanted| has_schematic(said, wanted.as_str())));
    add(Aspect::Version, version.as_ref().map(|wanted| has_version(said, wanted)));
    // An agent that nobody asks for does no harm.
    add(Aspect::GuestAgent, guest_agent.filter(|wanted| *wanted).map(|_| has_agent(said)));
}

/// Compares the names in a configured node's certificate; it says nothing else to strangers.
pub fn check_certificate(target: &Target, leaf: &Leaf) -> Vec<Check> {
    let Some(hostname) = &target.expected.hostname else {
        return Vec::new();
    };
    let mut names = leaf.host_names().peekable();
    let verdict = if names.peek().is_none() {
        Verdict::Unknown("the certificate has no name in it".to_owned())
    } else if names.any(|name| first_label(name).eq_ignore_ascii_case(first_label(hostname))) {
        Verdict::Same
    } else {
        let found = leaf.host_names().next().unwrap_or_default().to_owned();
        Verdict::Differs { expected: hostname.clone(), found }
    };
    vec![Check::new(Aspect::CertificateName, verdict)]
}

fn first_label(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn equal(answer: &Answer<String>, expected: &str) -> Verdict {
    match answer {
        Answer::Said(found) if found == expected => Verdict::Same,
        Answer::Said(found) => differs(expected, found),
        silence => Verdict::Unknown(silence.silence()),
    }
}

fn differs(expected: impl fmt::Display, found: impl fmt::Display) -> Verdict {
    Verdict::Differs { expected: expected.to_string(), found: found.to_string() }
}

fn among<T: PartialEq + fmt::Display>(answer: &Answer<Vec<T>>, expected: &T, none: &str) -> Verdict {
    match answer {
        Answer::Said(all) if all.contains(expected) => Verdict::Same,
        Answer::Said(all) if all.is_empty() => differs(expected, none),
        Answer::Said(all) => differs(expected, joined(all)),
        silence => Verdict::Unknown(silence.silence()),
    }
}

/// A few of many: nobody reads a hundred addresses.
fn joined<T: fmt::Display>(all: &[T]) -> String {
    let shown: Vec<String> = all.iter().take(8).map(ToString::to_string).collect();
    let rest = all.len().saturating_sub(8);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}

fn platform(said: &Said) -> Verdict {
    equal(&said.platform.clone().map(|platform| platform.name), "nocloud")
}

/// The instance id is a digest of what is on the cloud-init drive, so that an equal one proves that this drive was read.
fn cidata(said: &Said, expected: &str) -> Verdict {
    match &said.platform {
        Answer::Said(platform) if platform.instance_id == expected => Verdict::Same,
        Answer::Said(platform) if platform.instance_id.is_empty() => differs(expected, "not read"),
        Answer::Said(platform) => differs(expected, &platform.instance_id),
        // Up to 1.11 there is no such object when no data was found.
        Answer::Nothing => differs(expected, "not read"),
        silence => Verdict::Unknown(silence.silence()),
    }
}

/// What cloud-init gave counts, because a DHCP server may outrank it without doing any harm to the data.
fn host_name(said: &Said, expected: &str) -> Verdict {
    let given = said.platform.said().map(|platform| platform.hostname.as_str()).filter(|name| !name.is_empty());
    match given {
        Some(given) if given == first_label(expected) => Verdict::Same,
        Some(given) => differs(expected, given),
        None => equal(&said.hostname, first_label(expected)),
    }
}

fn running_disk(said: &Said) -> Result<&str, Verdict> {
    match &said.system_disk {
        Answer::Said(path) => Ok(path),
        Answer::Nothing => {
            let why = "Talos runs from no disk: it was booted from an ISO or over the network";
            Err(Verdict::Unknown(why.to_owned()))
        }
        silence => Err(Verdict::Unknown(silence.silence())),
    }
}

fn disk_at<'s>(said: &'s Said, path: &str) -> Result<&'s Disk, Verdict> {
    match &said.disks {
        Answer::Said(disks) => disks
            .iter()
            .find(|disk| disk.path == path)
            .ok_or_else(|| Verdict::Unknown(format!("Talos does not list {path}"))),
        silence => Err(Verdict::Unknown(silence.silence())),
    }
}

fn system_disk(said: &Said, expected: &InstallDisk) -> Verdict {
    let verdict = running_disk(said).and_then(|running| match expected {
        // Several links lead to one device, and Talos names the device.
        InstallDisk::Path(path) if path.starts_with("/dev/disk/") => {
            Err(Verdict::Unknown(format!("{path} is a link, and Talos runs from {running}")))
        }
        InstallDisk::Path(path) if **path == *running => Ok(Verdict::Same),
        InstallDisk::Path(path) => Ok(differs(path, running)),
        InstallDisk::Serial(serial) => {
            let disk = disk_at(said, running)?;
            let found = if disk.serial.is_empty() { "a disk without serial number" } else { &disk.serial };
            Ok(if disk.serial == serial.as_str() { Verdict::Same } else { differs(serial, found) })
        }
    });
    verdict.unwrap_or_else(|unknown| unknown)
}

fn size_of_system_disk(said: &Said, expected: DiskSize) -> Verdict {
    let disk = running_disk(said).and_then(|running| disk_at(said, running));
    match disk {
        Ok(disk) if disk.size == expected.bytes() => Verdict::Same,
        Ok(disk) => differs(expected, DiskSize::from_bytes(disk.size).map_or("0".to_owned(), |size| size.to_string())),
        Err(unknown) => unknown,
    }
}

fn has_extensions(said: &Said, wanted: &[String]) -> Verdict {
    let Some(found) = said.chosen_extensions() else {
        return Verdict::Unknown(said.extensions.silence());
    };
    let bare = |name: &str| name.strip_prefix("siderolabs/").unwrap_or(name).to_owned();
    let missing: Vec<String> =
        wanted.iter().map(|name| bare(name)).filter(|name| !found.contains(&name.as_str())).collect();
    if missing.is_empty() {
        Verdict::Same
    } else {
        differs(wanted.join(", "), if found.is_empty() { "none".to_owned() } else { joined(&found) })
    }
}

fn has_schematic(said: &Said, wanted: &str) -> Verdict {
    match (said.schematic(), said.extensions.said()) {
        (Some(found), _) if found == wanted => Verdict::Same,
        (Some(found), _) => differs(wanted, found),
        (None, Some(_)) => Verdict::Unknown("the image was not made by an Image Factory".to_owned()),
        (None, None) => Verdict::Unknown(said.extensions.silence()),
    }
}

fn has_version(said: &Said, wanted: &TalosVersion) -> Verdict {
    match &said.version {
        Answer::Said(found) if found.parse::<TalosVersion>().is_ok_and(|found| found == *wanted) => Verdict::Same,
        Answer::Said(found) => differs(wanted, found.strip_prefix('v').unwrap_or(found)),
        Answer::NotOnThisVersion => Verdict::Unknown("Talos tells strangers from 1.10 on".to_owned()),
        silence => Verdict::Unknown(silence.silence()),
    }
}

fn has_agent(said: &Said) -> Verdict {
    match said.chosen_extensions() {
        Some(found) if found.contains(&"qemu-guest-agent") => Verdict::Same,
        Some(_) => differs("installed", "missing from the image"),
        None => Verdict::Unknown(said.extensions.silence()),
    }
}

/// What Talos writes to a disk when it gets a machine configuration, and no image has from the start.
fn fresh(said: &Said) -> Verdict {
    match &said.partitions {
        Answer::Said(labels) => {
            let used = labels.iter().any(|label| matches!(label.as_str(), "STATE" | "EPHEMERAL"));
            if used { differs("without a trace of an earlier configuration", "used before") } else { Verdict::Same }
        }
        silence => Verdict::Unknown(silence.silence()),
    }
}
