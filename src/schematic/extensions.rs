/// What is known about the name of a system extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension<'a> {
    /// One that Sidero Labs publish.
    Known,
    /// An old name, which the factory takes for this one.
    Renamed(&'static str),
    /// Nearly one that is known, so that it is a slip of the pen.
    Misspelt(&'a str),
    /// Perhaps one that is newer than this program; only the factory can tell, and only when it builds an image.
    Unknown,
}

const PREFIX: &str = "siderolabs/";

/// What is published below `siderolabs/`. A factory that builds for one Talos version knows fewer.
const KNOWN: &[&str] = &[
    "siderolabs/amazon-ena",
    "siderolabs/amd-ucode",
    "siderolabs/amdgpu",
    "siderolabs/binfmt-misc",
    "siderolabs/bnx2-bnx2x",
    "siderolabs/btrfs",
    "siderolabs/chelsio-drivers",
    "siderolabs/chelsio-firmware",
    "siderolabs/cloudflared",
    "siderolabs/crun",
    "siderolabs/ctr",
    "siderolabs/drbd",
    "siderolabs/dvb-cx23885",
    "siderolabs/dvb-m88ds3103",
    "siderolabs/ecr-credential-provider",
    "siderolabs/fuse3",
    "siderolabs/gasket-driver",
    "siderolabs/glibc",
    "siderolabs/gvisor",
    "siderolabs/gvisor-debug",
    "siderolabs/hailort",
    "siderolabs/hello-world-service",
    "siderolabs/i915",
    "siderolabs/intel-ice-firmware",
    "siderolabs/intel-ucode",
    "siderolabs/iscsi-tools",
    "siderolabs/kata-containers",
    "siderolabs/lldpd",
    "siderolabs/mdadm",
    "siderolabs/mei",
    "siderolabs/mellanox-mstflint",
    "siderolabs/metal-agent",
    "siderolabs/multipath-tools",
    "siderolabs/nebula",
    "siderolabs/netbird",
    "siderolabs/newt",
    "siderolabs/nfs-utils",
    "siderolabs/nfsd",
    "siderolabs/nfsrahead",
    "siderolabs/nonfree-kmod-nvidia-lts",
    "siderolabs/nonfree-kmod-nvidia-production",
    "siderolabs/nut-client",
    "siderolabs/nvidia-container-toolkit-lts",
    "siderolabs/nvidia-container-toolkit-production",
    "siderolabs/nvidia-fabric-manager-lts",
    "siderolabs/nvidia-fabric-manager-production",
    "siderolabs/nvidia-open-gpu-kernel-modules-lts",
    "siderolabs/nvidia-open-gpu-kernel-modules-production",
    "siderolabs/nvme-cli",
    "siderolabs/panfrost",
    "siderolabs/qemu-guest-agent",
    "siderolabs/qlogic-firmware",
    "siderolabs/realtek-firmware",
    "siderolabs/revpi-firmware",
    "siderolabs/spin",
    "siderolabs/stargz-snapshotter",
    "siderolabs/tailscale",
    "siderolabs/tenstorrent",
    "siderolabs/thunderbolt",
    "siderolabs/trident-iscsi-tools",
    "siderolabs/uinput",
    "siderolabs/usb-audio-drivers",
    "siderolabs/usb-modem-drivers",
    "siderolabs/util-linux-tools",
    "siderolabs/v4l-uvc-drivers",
    "siderolabs/vc4",
    "siderolabs/vmtoolsd-guest-agent",
    "siderolabs/wasmedge",
    "siderolabs/xdma-driver",
    "siderolabs/xe",
    "siderolabs/xen-guest-agent",
    "siderolabs/youki",
    "siderolabs/zerotier",
    "siderolabs/zfs",
];

/// Names of former days, which the factory still understands.
const RENAMED: &[(&str, &str)] = &[
    ("siderolabs/v4l-uvc", "siderolabs/v4l-uvc-drivers"),
    ("siderolabs/usb-modem", "siderolabs/usb-modem-drivers"),
    ("siderolabs/gasket", "siderolabs/gasket-driver"),
    ("siderolabs/talos-vmtoolsd", "siderolabs/vmtoolsd-guest-agent"),
    ("siderolabs/xe-guest-utilities", "siderolabs/xen-guest-agent"),
    ("siderolabs/nvidia-container-toolkit", "siderolabs/nvidia-container-toolkit-lts"),
    ("siderolabs/nvidia-open-gpu-kernel-modules", "siderolabs/nvidia-open-gpu-kernel-modules-lts"),
    ("siderolabs/nonfree-kmod-nvidia", "siderolabs/nonfree-kmod-nvidia-lts"),
    ("siderolabs/nvidia-fabricmanager", "siderolabs/nvidia-fabric-manager-lts"),
    ("siderolabs/i915-ucode", "siderolabs/i915"),
    ("siderolabs/amdgpu-firmware", "siderolabs/amdgpu"),
];

/// Judges a name. The factory itself does so only when somebody waits for the image.
pub fn extension(name: &str) -> Extension<'static> {
    if KNOWN.contains(&name) {
        return Extension::Known;
    }
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return Extension::Renamed(new);
    }
    // Without the common beginning, which would make every name look like every other.
    let bare = |name: &'static str| &name[PREFIX.len()..];
    let word = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase().replace('_', "-");
    let closeness = |known: &'static str| strsim::normalized_damerau_levenshtein(&word, bare(known));
    let nearest = KNOWN.iter().map(|known| (closeness(known), *known)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((closeness, known)) if closeness >= 0.8 => Extension::Misspelt(known),
        _ => Extension::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_told_from_a_new_extension() {
        #[track_caller]
        fn case(name: &str, expected: Extension<'_>) {
            assert_eq!(extension(name), expected, "{name}");
        }
        case("siderolabs/qemu-guest-agent", Extension::Known);
        case("siderolabs/qemu-guestagent", Extension::Misspelt("siderolabs/qemu-guest-agent"));
        case("siderolabs/qemu_guest_agent", Extension::Misspelt("siderolabs/qemu-guest-agent"));
        case("qemu-guest-agent", Extension::Misspelt("siderolabs/qemu-guest-agent"));
        case("siderolabs/iscsi-tool", Extension::Misspelt("siderolabs/iscsi-tools"));
        case("siderolabs/i915-ucode", Extension::Renamed("siderolabs/i915"));
        case("siderolabs/quantum-teleporter", Extension::Unknown);
        case("", Extension::Unknown);
    }

    #[test]
    fn every_known_name_has_the_common_beginning() {
        assert!(KNOWN.iter().all(|name| name.starts_with(PREFIX)));
        assert!(RENAMED.iter().all(|(_, new)| KNOWN.contains(new)));
    }
}
