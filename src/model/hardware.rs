use std::borrow::Cow;

use super::invalid::checked_text;
use super::{Invalid, Text};

/// Declares a choice of few words, each written as Proxmox or the family repositories write it.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident, $what:literal, $pattern:literal { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Text for $name {
            const WHAT: &'static str = $what;
            const PATTERN: &'static str = $pattern;
        }

        impl std::str::FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Invalid::new(text, $what)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        super::invalid::serialize_as_text!($name);
    };
}

choice! {
    /// The firmware of a VM.
    Bios, "one of `ovmf`, `seabios`", "^(ovmf|seabios)$" {
        Ovmf = "ovmf",
        SeaBios = "seabios",
    }
}

choice! {
    /// The chipset of a VM.
    Machine, "one of `q35`, `i440fx`", "^(q35|i440fx)$" {
        Q35 = "q35",
        /// Proxmox itself writes it `pc`.
        I440Fx = "i440fx",
    }
}

choice! {
    /// The SCSI controller that the system disk hangs on.
    ScsiController, "one of `virtio-scsi-pci`, `virtio-scsi-single`, `lsi`", "^(virtio-scsi-pci|virtio-scsi-single|lsi)$" {
        VirtioScsiPci = "virtio-scsi-pci",
        VirtioScsiSingle = "virtio-scsi-single",
        Lsi = "lsi",
    }
}

choice! {
    /// What Proxmox is told about the guest.
    OsType, "a kind of guest that Proxmox knows: `l26` for Talos",
        "^(l26|l24|other|solaris|wxp|w2k|w2k3|w2k8|wvista|win7|win8|win10|win11)$" {
        Linux26 = "l26",
        Linux24 = "l24",
        Other = "other",
        Solaris = "solaris",
        WindowsXp = "wxp",
        Windows2000 = "w2k",
        Windows2003 = "w2k3",
        Windows2008 = "w2k8",
        WindowsVista = "wvista",
        Windows7 = "win7",
        Windows8 = "win8",
        Windows10 = "win10",
        Windows11 = "win11",
    }
}

choice! {
    /// Whether a VM's disks are copies of the template's or depend on it.
    CloneMode, "one of `full`, `linked`", "^(full|linked)$" {
        Full = "full",
        Linked = "linked",
    }
}

/// CPU models that lack x86-64-v2, without which Talos stops in its first second.
const TOO_OLD: &[&str] = &[
    "486",
    "athlon",
    "phenom",
    "pentium",
    "pentium2",
    "pentium3",
    "coreduo",
    "core2duo",
    "kvm32",
    "kvm64",
    "qemu32",
    "qemu64",
    "Conroe",
    "Penryn",
    "Opteron_G1",
    "Opteron_G2",
    "Opteron_G3",
    "x86-64-v1",
];

checked_text! {
    /// A CPU model, perhaps with flags; one that Talos cannot boot on is refused.
    CpuType,
    "a CPU type like `host` or `x86-64-v2-AES`",
    r"^[A-Za-z0-9._-]+(,flags=[+-][A-Za-z0-9._-]+(;[+-][A-Za-z0-9._-]+)*)?$",
    |text| {
        let (model, flags) = text.split_once(',').map_or((text, None), |(model, flags)| (model, Some(flags)));
        let word = |word: &str| {
            !word.is_empty() && word.len() <= 60 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let flag = |flag: &str| flag.strip_prefix(['+', '-']).is_some_and(word);
        if TOO_OLD.contains(&model) {
            Err("Talos needs at least x86-64-v2, and this model has less")
        } else if !word(model) {
            Err("it is empty or has a character that no CPU type has")
        } else if !flags.is_none_or(|flags| flags.strip_prefix("flags=").is_some_and(|flags| flags.split(';').all(flag))) {
            Err("after the comma only `flags=+aes;-pcid` and the like may stand")
        } else {
            Ok(Cow::Borrowed(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_on_which_talos_cannot_boot_is_refused() {
        for text in ["host", "x86-64-v2-AES", "EPYC-Rome", "custom-mine", "host,flags=+aes;-pcid"] {
            assert!(text.parse::<CpuType>().is_ok(), "{text}");
        }
        for text in ["kvm64", "qemu64", "", "ho st", "host,hidden=1", "host,flags=aes", "kvm64,flags=+aes"] {
            assert!(text.parse::<CpuType>().is_err(), "{text}");
        }
    }
}
