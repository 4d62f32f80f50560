//! Every option of a VM and every property string in it, as the API of Proxmox VE 9 declares them.
//!
//! A test compares this table with the API's own schema.

use super::format::{Format, Value};
use super::param::{Param, alias, boolean, integer, number, text};
use super::pattern::Pattern;
use super::property::Properties;

/// Every option of a VM's configuration.
pub(crate) const VM_OPTIONS: &[Param] = &[
    boolean("acpi"),
    text("affinity").format(Format::One(Value::CpuSet)),
    text("agent").format(Format::Properties(&AGENT)),
    boolean("allow-ksm"),
    text("amd-sev").format(Format::Properties(&SEV)),
    text("arch").one_of(&["x86_64", "aarch64"]),
    text("args"),
    text("audio0").format(Format::Properties(&AUDIO)),
    boolean("autostart"),
    integer("balloon").min(0),
    text("bios").one_of(&["seabios", "ovmf"]),
    text("boot").format(Format::Properties(&BOOT)),
    text("bootdisk").pattern(Pattern::BootDisk).format(Format::One(Value::BootDisk)),
    text("cdrom").format(Format::Properties(&CDROM)),
    text("cicustom").format(Format::Properties(&CICUSTOM)),
    text("cipassword"),
    text("citype").one_of(&["configdrive2", "nocloud", "opennebula"]),
    boolean("ciupgrade"),
    text("ciuser"),
    integer("cores").min(1),
    text("cpu").format(Format::Properties(&CPU)),
    number("cpulimit").min(0).max(128),
    integer("cpuunits").min(1).max(262_144),
    text("description").longest(8192),
    text("efidisk0").format(Format::Properties(&EFIDISK)),
    boolean("freeze"),
    text("hookscript").format(Format::One(Value::VolumeId)),
    text("hostpci").family(16).format(Format::Properties(&HOSTPCI)),
    text("hotplug").format(Format::One(Value::HotplugFeatures)),
    text("hugepages").one_of(&["any", "2", "1024"]),
    text("ide").family(4).format(Format::Properties(&IDE)),
    text("intel-tdx").format(Format::Properties(&TDX)),
    text("ipconfig").family(32).format(Format::Properties(&IPCONFIG)),
    text("ivshmem").format(Format::Properties(&IVSHMEM)),
    boolean("keephugepages"),
    text("keyboard").one_of(&["de", "de-ch", "da", "en-gb", "en-us", "es", "fi", "fr", "fr-be", "fr-ca", "fr-ch", "hu", "is", "it", "ja", "lt", "mk", "nl", "no", "pl", "pt", "pt-br", "sv", "sl", "tr"]),
    boolean("kvm"),
    boolean("localtime"),
    text("lock").one_of(&["backup", "clone", "create", "migrate", "rollback", "snapshot", "snapshot-delete", "suspending", "suspended"]),
    text("machine").format(Format::Properties(&MACHINE)),
    text("memory").format(Format::Properties(&MEMORY)),
    number("migrate_downtime").min(0),
    integer("migrate_speed").min(0),
    text("name").format(Format::One(Value::DnsName)),
    text("nameserver").format(Format::List(Value::Address)),
    text("net").family(32).format(Format::Properties(&NET)),
    boolean("numa"),
    text("numa").family(8).format(Format::Properties(&NUMA)),
    boolean("onboot"),
    text("ostype").one_of(&["other", "wxp", "w2k", "w2k3", "w2k8", "wvista", "win7", "win8", "win10", "win11", "l24", "l26", "solaris"]),
    text("parallel").family(3).pattern(Pattern::ParallelPort),
    boolean("protection"),
    boolean("reboot"),
    text("rng0").format(Format::Properties(&RNG)),
    text("sata").family(6).format(Format::Properties(&SATA)),
    text("scsi").family(31).format(Format::Properties(&SCSI)),
    text("scsihw").one_of(&["lsi", "lsi53c810", "virtio-scsi-pci", "virtio-scsi-single", "megasas", "pvscsi"]),
    text("searchdomain"),
    text("serial").family(4).pattern(Pattern::SerialPort),
    integer("shares").min(0).max(50_000),
    text("smbios1").longest(512).format(Format::Properties(&SMBIOS)),
    integer("smp").min(1),
    integer("sockets").min(1),
    text("spice_enhancements").format(Format::Properties(&SPICE)),
    text("sshkeys").format(Format::One(Value::UrlEncoded)),
    text("startdate").pattern(Pattern::StartDate),
    text("startup").format(Format::One(Value::StartupOrder)),
    boolean("tablet"),
    text("tags").format(Format::List(Value::Tag)),
    boolean("tdf"),
    boolean("template"),
    text("tpmstate0").format(Format::Properties(&TPMSTATE)),
    text("unused").family(256).format(Format::Properties(&UNUSED)),
    text("usb").family(14).format(Format::Properties(&USB)),
    integer("vcpus").min(1),
    text("vga").format(Format::Properties(&VGA)),
    text("virtio").family(16).format(Format::Properties(&VIRTIO)),
    text("virtiofs").family(10).format(Format::Properties(&VIRTIOFS)),
    text("vmgenid").pattern(Pattern::GenerationId),
    text("vmstatestorage").format(Format::One(Value::StorageId)),
    text("watchdog").format(Format::Properties(&WATCHDOG)),
];

/// What every disk may have.
const DISK: &[Param] = &[
    text("aio").one_of(&["native", "threads", "io_uring"]),
    boolean("backup"),
    integer("bps"),
    integer("bps_max_length").min(1),
    integer("bps_rd"),
    alias("bps_rd_length", "bps_rd_max_length"),
    integer("bps_rd_max_length").min(1),
    integer("bps_wr"),
    alias("bps_wr_length", "bps_wr_max_length"),
    integer("bps_wr_max_length").min(1),
    text("cache").one_of(&["none", "writethrough", "writeback", "unsafe", "directsync"]),
    boolean("detect_zeroes"),
    text("discard").one_of(&["ignore", "on"]),
    text("file").needed().default_key().format(Format::One(Value::VolumeOrDevice)),
    text("format").one_of(&["raw", "qcow", "qed", "qcow2", "vmdk", "cloop"]),
    integer("iops"),
    integer("iops_max"),
    integer("iops_max_length").min(1),
    integer("iops_rd"),
    alias("iops_rd_length", "iops_rd_max_length"),
    integer("iops_rd_max"),
    integer("iops_rd_max_length").min(1),
    integer("iops_wr"),
    alias("iops_wr_length", "iops_wr_max_length"),
    integer("iops_wr_max"),
    integer("iops_wr_max_length").min(1),
    number("mbps"),
    number("mbps_max"),
    number("mbps_rd"),
    number("mbps_rd_max"),
    number("mbps_wr"),
    number("mbps_wr_max"),
    text("media").one_of(&["cdrom", "disk"]),
    boolean("replicate"),
    text("rerror").one_of(&["ignore", "report", "stop"]),
    text("serial").longest(60).format(Format::One(Value::UrlEncoded)),
    boolean("shared"),
    text("size").format(Format::One(Value::DiskSize)),
    boolean("snapshot"),
    alias("volume", "file"),
    text("werror").one_of(&["enospc", "ignore", "report", "stop"]),
];

pub(crate) static IDE: Properties = Properties { name: "", groups: &[DISK, &[
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    text("model").longest(120).format(Format::One(Value::UrlEncoded)),
    boolean("ssd"),
    text("wwn").pattern(Pattern::Wwn),
]] };

pub(crate) static SCSI: Properties = Properties { name: "", groups: &[DISK, &[
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    boolean("iothread"),
    text("product").pattern(Pattern::Product),
    integer("queues").min(2),
    boolean("ro"),
    boolean("scsiblock"),
    boolean("ssd"),
    text("vendor").pattern(Pattern::Vendor),
    text("wwn").pattern(Pattern::Wwn),
]] };

pub(crate) static VIRTIO: Properties = Properties { name: "", groups: &[DISK, &[
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    boolean("iothread"),
    boolean("ro"),
]] };

pub(crate) static SATA: Properties = Properties { name: "", groups: &[DISK, &[
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    boolean("ssd"),
    text("wwn").pattern(Pattern::Wwn),
]] };

pub(crate) static CDROM: Properties = Properties { name: "", groups: &[DISK, &[
    text("model").longest(120).format(Format::One(Value::UrlEncoded)),
    boolean("ssd"),
    text("wwn").pattern(Pattern::Wwn),
]] };

pub(crate) static NET: Properties = Properties { name: "", groups: &[&[
    text("bridge").format(Format::One(Value::Bridge)),
    alias("e1000", "macaddr").names("model"),
    alias("e1000-82540em", "macaddr").names("model"),
    alias("e1000-82544gc", "macaddr").names("model"),
    alias("e1000-82545em", "macaddr").names("model"),
    alias("e1000e", "macaddr").names("model"),
    boolean("firewall"),
    boolean("host-tunnel"),
    alias("i82551", "macaddr").names("model"),
    alias("i82557b", "macaddr").names("model"),
    alias("i82559er", "macaddr").names("model"),
    boolean("link_down"),
    text("macaddr").format(Format::One(Value::Mac)),
    text("model").needed().default_key().one_of(&["e1000", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "e1000e", "i82551", "i82557b", "i82559er", "ne2k_isa", "ne2k_pci", "pcnet", "rtl8139", "virtio", "vmxnet3"]),
    integer("mtu").min(1).max(65_520),
    alias("ne2k_isa", "macaddr").names("model"),
    alias("ne2k_pci", "macaddr").names("model"),
    alias("pcnet", "macaddr").names("model"),
    integer("queues").min(0).max(64),
    number("rate").min(0),
    alias("rtl8139", "macaddr").names("model"),
    integer("tag").min(1).max(4094),
    text("trunks").pattern(Pattern::NumberRanges),
    alias("virtio", "macaddr").names("model"),
    alias("vmxnet3", "macaddr").names("model"),
]] };

pub(crate) static NUMA: Properties = Properties { name: "", groups: &[&[
    text("cpus").needed().pattern(Pattern::NumberRanges),
    text("hostnodes").pattern(Pattern::NumberRanges),
    number("memory"),
    text("policy").one_of(&["preferred", "bind", "interleave"]),
]] };

pub(crate) static VIRTIOFS: Properties = Properties { name: "", groups: &[&[
    text("cache").one_of(&["auto", "always", "metadata", "never"]),
    boolean("direct-io"),
    text("dirid").needed().default_key().format(Format::One(Value::ConfigId)),
    boolean("expose-acl"),
    boolean("expose-xattr"),
]] };

pub(crate) static MACHINE: Properties = Properties { name: "", groups: &[&[
    number("aw-bits").min(32).max(64),
    boolean("enable-s3"),
    boolean("enable-s4"),
    text("type").default_key().longest(40).pattern(Pattern::MachineType),
    text("viommu").one_of(&["intel", "virtio"]),
]] };

pub(crate) static EFIDISK: Properties = Properties { name: "", groups: &[&[
    text("efitype").one_of(&["2m", "4m"]),
    text("file").needed().default_key().format(Format::One(Value::VolumeOrDevice)),
    text("format").one_of(&["raw", "qcow", "qed", "qcow2", "vmdk", "cloop"]),
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    text("ms-cert").one_of(&["2011", "2023", "2023w", "2023k"]),
    boolean("pre-enrolled-keys"),
    text("size").format(Format::One(Value::DiskSize)),
    alias("volume", "file"),
]] };

pub(crate) static SPICE: Properties = Properties { name: "", groups: &[&[
    boolean("foldersharing"),
    text("videostreaming").one_of(&["off", "all", "filter"]),
]] };

pub(crate) static AGENT: Properties = Properties { name: "", groups: &[&[
    boolean("enabled").needed().default_key(),
    boolean("freeze-fs"),
    alias("freeze-fs-on-backup", "freeze-fs"),
    boolean("fstrim_cloned_disks"),
    alias("guest-fsfreeze", "freeze-fs"),
    text("type").one_of(&["virtio", "isa"]),
]] };

pub(crate) static VGA: Properties = Properties { name: "", groups: &[&[
    text("clipboard").one_of(&["vnc"]),
    integer("memory").min(4).max(512),
    text("type").default_key().one_of(&["cirrus", "qxl", "qxl2", "qxl3", "qxl4", "none", "serial0", "serial1", "serial2", "serial3", "std", "virtio", "virtio-gl", "vmware"]),
]] };

pub(crate) static AUDIO: Properties = Properties { name: "", groups: &[&[
    text("device").needed().one_of(&["ich9-intel-hda", "intel-hda", "AC97"]),
    text("driver").one_of(&["spice", "none"]),
]] };

pub(crate) static TPMSTATE: Properties = Properties { name: "", groups: &[&[
    text("file").needed().default_key().format(Format::One(Value::VolumeOrDevice)),
    text("format").one_of(&["raw", "qcow2", "vmdk"]),
    text("import-from").format(Format::One(Value::VolumeOrPath)),
    text("size").format(Format::One(Value::DiskSize)),
    text("version").one_of(&["v1.2", "v2.0"]),
    alias("volume", "file"),
]] };

pub(crate) static USB: Properties = Properties { name: "", groups: &[&[
    text("host").default_key().pattern(Pattern::UsbHost),
    text("mapping").format(Format::One(Value::ConfigId)),
    boolean("usb3"),
]] };

pub(crate) static SEV: Properties = Properties { name: "pve-qemu-sev-fmt", groups: &[&[
    boolean("allow-smt"),
    boolean("kernel-hashes"),
    boolean("no-debug"),
    boolean("no-key-sharing"),
    text("type").needed().default_key().longest(3).one_of(&["std", "es", "snp"]),
]] };

pub(crate) static TDX: Properties = Properties { name: "pve-qemu-tdx-fmt", groups: &[&[
    boolean("attestation").needed(),
    text("type").needed().default_key().one_of(&["tdx"]),
    integer("vsock-cid").min(2),
    integer("vsock-port").min(0),
]] };

pub(crate) static BOOT: Properties = Properties { name: "pve-qm-boot", groups: &[&[
    text("legacy").default_key().pattern(Pattern::LegacyBoot),
    text("order").format(Format::List(Value::BootDevice)),
]] };

pub(crate) static CICUSTOM: Properties = Properties { name: "pve-qm-cicustom", groups: &[&[
    text("meta").format(Format::One(Value::VolumeId)),
    text("network").format(Format::One(Value::VolumeId)),
    text("user").format(Format::One(Value::VolumeId)),
    text("vendor").format(Format::One(Value::VolumeId)),
]] };

pub(crate) static HOSTPCI: Properties = Properties { name: "pve-qm-hostpci", groups: &[&[
    text("device-id").pattern(Pattern::PciId),
    text("driver").one_of(&["vfio", "keep"]),
    text("host").default_key().pattern(Pattern::PciDevice),
    boolean("legacy-igd"),
    text("mapping").format(Format::One(Value::ConfigId)),
    text("mdev").pattern(Pattern::Mdev),
    boolean("pcie"),
    boolean("rombar"),
    text("romfile").pattern(Pattern::RomFile),
    text("sub-device-id").pattern(Pattern::PciId),
    text("sub-vendor-id").pattern(Pattern::PciId),
    text("vendor-id").pattern(Pattern::PciId),
    boolean("x-vga"),
]] };

pub(crate) static IPCONFIG: Properties = Properties { name: "pve-qm-ipconfig", groups: &[&[
    text("gw").requires("ip").format(Format::One(Value::Ipv4)),
    text("gw6").requires("ip6").format(Format::One(Value::Ipv6)),
    text("ip").format(Format::One(Value::Ipv4Config)),
    text("ip6").format(Format::One(Value::Ipv6Config)),
]] };

pub(crate) static RNG: Properties = Properties { name: "pve-qm-rng", groups: &[&[
    integer("max_bytes"),
    integer("period"),
    text("source").needed().default_key().one_of(&["/dev/urandom", "/dev/random", "/dev/hwrng"]),
]] };

pub(crate) static SMBIOS: Properties = Properties { name: "pve-qm-smbios1", groups: &[&[
    boolean("base64"),
    text("family").pattern(Pattern::Base64),
    text("manufacturer").pattern(Pattern::Base64),
    text("product").pattern(Pattern::Base64),
    text("serial").pattern(Pattern::Base64),
    text("sku").pattern(Pattern::Base64),
    text("uuid").pattern(Pattern::Uuid),
    text("version").pattern(Pattern::Base64),
]] };

pub(crate) static WATCHDOG: Properties = Properties { name: "pve-qm-watchdog", groups: &[&[
    text("action").one_of(&["reset", "shutdown", "poweroff", "pause", "debug", "none"]),
    text("model").default_key().one_of(&["i6300esb", "ib700"]),
]] };

pub(crate) static CPU: Properties = Properties { name: "pve-vm-cpu-conf", groups: &[&[
    text("cputype").default_key(),
    text("flags").pattern(Pattern::CpuFlags),
    integer("guest-phys-bits").min(32).max(64),
    boolean("hidden"),
    text("hv-vendor-id").pattern(Pattern::HypervisorVendor),
    integer("level").min(0).max(4_294_967_295),
    text("phys-bits").format(Format::One(Value::PhysBits)),
    text("reported-model").one_of(REPORTED_MODELS),
]] };

pub(crate) static MEMORY: Properties = Properties { name: "", groups: &[&[
    integer("current").needed().default_key().min(16),
]] };

pub(crate) static IVSHMEM: Properties = Properties { name: "", groups: &[&[
    text("name").pattern(Pattern::MemoryName),
    integer("size").needed().min(1),
]] };

pub(crate) static UNUSED: Properties = Properties { name: "", groups: &[&[
    text("file").needed().default_key().format(Format::One(Value::VolumeId)),
    alias("volume", "file"),
]] };

/// The CPU models that a VM may pretend to have.
pub(crate) const REPORTED_MODELS: &[&str] = &["486", "a64fx", "athlon", "Broadwell", "Broadwell-IBRS", "Broadwell-noTSX", "Broadwell-noTSX-IBRS", "Cascadelake-Server", "Cascadelake-Server-noTSX", "Cascadelake-Server-v2", "Cascadelake-Server-v4", "Cascadelake-Server-v5", "ClearwaterForest", "Conroe", "Cooperlake", "Cooperlake-v2", "core2duo", "coreduo", "cortex-a35", "cortex-a53", "cortex-a55", "cortex-a57", "cortex-a710", "cortex-a72", "cortex-a76", "EPYC", "EPYC-Genoa", "EPYC-Genoa-v2", "EPYC-IBPB", "EPYC-Milan", "EPYC-Milan-v2", "EPYC-Milan-v3", "EPYC-Rome", "EPYC-Rome-v2", "EPYC-Rome-v3", "EPYC-Rome-v4", "EPYC-Rome-v5", "EPYC-Turin", "EPYC-v3", "EPYC-v4", "EPYC-v5", "GraniteRapids", "GraniteRapids-v2", "GraniteRapids-v3", "Haswell", "Haswell-IBRS", "Haswell-noTSX", "Haswell-noTSX-IBRS", "host", "Icelake-Client", "Icelake-Client-noTSX", "Icelake-Server", "Icelake-Server-noTSX", "Icelake-Server-v3", "Icelake-Server-v4", "Icelake-Server-v5", "Icelake-Server-v6", "Icelake-Server-v7", "IvyBridge", "IvyBridge-IBRS", "KnightsMill", "kvm32", "kvm64", "max", "Nehalem", "Nehalem-IBRS", "neoverse-n1", "neoverse-n2", "neoverse-v1", "Opteron_G1", "Opteron_G2", "Opteron_G3", "Opteron_G4", "Opteron_G5", "Penryn", "pentium", "pentium2", "pentium3", "phenom", "qemu32", "qemu64", "SandyBridge", "SandyBridge-IBRS", "SapphireRapids", "SapphireRapids-v2", "SapphireRapids-v3", "SapphireRapids-v4", "SierraForest", "SierraForest-v2", "SierraForest-v3", "Skylake-Client", "Skylake-Client-IBRS", "Skylake-Client-noTSX-IBRS", "Skylake-Client-v4", "Skylake-Server", "Skylake-Server-IBRS", "Skylake-Server-noTSX-IBRS", "Skylake-Server-v4", "Skylake-Server-v5", "Westmere", "Westmere-IBRS"];

/// The CPU models of QEMU, and Proxmox's own x86-64 levels.
pub(crate) const CPU_MODELS: &[&str] = &["486", "a64fx", "athlon", "Broadwell", "Broadwell-IBRS", "Broadwell-noTSX", "Broadwell-noTSX-IBRS", "Cascadelake-Server", "Cascadelake-Server-noTSX", "Cascadelake-Server-v2", "Cascadelake-Server-v4", "Cascadelake-Server-v5", "ClearwaterForest", "Conroe", "Cooperlake", "Cooperlake-v2", "core2duo", "coreduo", "cortex-a35", "cortex-a53", "cortex-a55", "cortex-a57", "cortex-a710", "cortex-a72", "cortex-a76", "EPYC", "EPYC-Genoa", "EPYC-Genoa-v2", "EPYC-IBPB", "EPYC-Milan", "EPYC-Milan-v2", "EPYC-Milan-v3", "EPYC-Rome", "EPYC-Rome-v2", "EPYC-Rome-v3", "EPYC-Rome-v4", "EPYC-Rome-v5", "EPYC-Turin", "EPYC-v3", "EPYC-v4", "EPYC-v5", "GraniteRapids", "GraniteRapids-v2", "GraniteRapids-v3", "Haswell", "Haswell-IBRS", "Haswell-noTSX", "Haswell-noTSX-IBRS", "host", "Icelake-Client", "Icelake-Client-noTSX", "Icelake-Server", "Icelake-Server-noTSX", "Icelake-Server-v3", "Icelake-Server-v4", "Icelake-Server-v5", "Icelake-Server-v6", "Icelake-Server-v7", "IvyBridge", "IvyBridge-IBRS", "KnightsMill", "kvm32", "kvm64", "max", "Nehalem", "Nehalem-IBRS", "neoverse-n1", "neoverse-n2", "neoverse-v1", "Opteron_G1", "Opteron_G2", "Opteron_G3", "Opteron_G4", "Opteron_G5", "Penryn", "pentium", "pentium2", "pentium3", "phenom", "qemu32", "qemu64", "SandyBridge", "SandyBridge-IBRS", "SapphireRapids", "SapphireRapids-v2", "SapphireRapids-v3", "SapphireRapids-v4", "SierraForest", "SierraForest-v2", "SierraForest-v3", "Skylake-Client", "Skylake-Client-IBRS", "Skylake-Client-noTSX-IBRS", "Skylake-Client-v4", "Skylake-Server", "Skylake-Server-IBRS", "Skylake-Server-noTSX-IBRS", "Skylake-Server-v4", "Skylake-Server-v5", "Westmere", "Westmere-IBRS", "x86-64-v1", "x86-64-v2", "x86-64-v2-AES", "x86-64-v3", "x86-64-v4"];

/// Every place where a disk can be.
pub(crate) const DISKS: &[&str] = &["ide0", "ide1", "ide2", "ide3", "scsi0", "scsi1", "scsi2", "scsi3", "scsi4", "scsi5", "scsi6", "scsi7", "scsi8", "scsi9", "scsi10", "scsi11", "scsi12", "scsi13", "scsi14", "scsi15", "scsi16", "scsi17", "scsi18", "scsi19", "scsi20", "scsi21", "scsi22", "scsi23", "scsi24", "scsi25", "scsi26", "scsi27", "scsi28", "scsi29", "scsi30", "virtio0", "virtio1", "virtio2", "virtio3", "virtio4", "virtio5", "virtio6", "virtio7", "virtio8", "virtio9", "virtio10", "virtio11", "virtio12", "virtio13", "virtio14", "virtio15", "sata0", "sata1", "sata2", "sata3", "sata4", "sata5", "efidisk0", "tpmstate0"];

/// The same, and the disks that hang nowhere.
pub(crate) const DISKS_AND_UNUSED: &[&str] = &["ide0", "ide1", "ide2", "ide3", "scsi0", "scsi1", "scsi2", "scsi3", "scsi4", "scsi5", "scsi6", "scsi7", "scsi8", "scsi9", "scsi10", "scsi11", "scsi12", "scsi13", "scsi14", "scsi15", "scsi16", "scsi17", "scsi18", "scsi19", "scsi20", "scsi21", "scsi22", "scsi23", "scsi24", "scsi25", "scsi26", "scsi27", "scsi28", "scsi29", "scsi30", "virtio0", "virtio1", "virtio2", "virtio3", "virtio4", "virtio5", "virtio6", "virtio7", "virtio8", "virtio9", "virtio10", "virtio11", "virtio12", "virtio13", "virtio14", "virtio15", "sata0", "sata1", "sata2", "sata3", "sata4", "sata5", "efidisk0", "tpmstate0", "unused0", "unused1", "unused2", "unused3", "unused4", "unused5", "unused6", "unused7", "unused8", "unused9", "unused10", "unused11", "unused12", "unused13", "unused14", "unused15", "unused16", "unused17", "unused18", "unused19", "unused20", "unused21", "unused22", "unused23", "unused24", "unused25", "unused26", "unused27", "unused28", "unused29", "unused30", "unused31", "unused32", "unused33", "unused34", "unused35", "unused36", "unused37", "unused38", "unused39", "unused40", "unused41", "unused42", "unused43", "unused44", "unused45", "unused46", "unused47", "unused48", "unused49", "unused50", "unused51", "unused52", "unused53", "unused54", "unused55", "unused56", "unused57", "unused58", "unused59", "unused60", "unused61", "unused62", "unused63", "unused64", "unused65", "unused66", "unused67", "unused68", "unused69", "unused70", "unused71", "unused72", "unused73", "unused74", "unused75", "unused76", "unused77", "unused78", "unused79", "unused80", "unused81", "unused82", "unused83", "unused84", "unused85", "unused86", "unused87", "unused88", "unused89", "unused90", "unused91", "unused92", "unused93", "unused94", "unused95", "unused96", "unused97", "unused98", "unused99", "unused100", "unused101", "unused102", "unused103", "unused104", "unused105", "unused106", "unused107", "unused108", "unused109", "unused110", "unused111", "unused112", "unused113", "unused114", "unused115", "unused116", "unused117", "unused118", "unused119", "unused120", "unused121", "unused122", "unused123", "unused124", "unused125", "unused126", "unused127", "unused128", "unused129", "unused130", "unused131", "unused132", "unused133", "unused134", "unused135", "unused136", "unused137", "unused138", "unused139", "unused140", "unused141", "unused142", "unused143", "unused144", "unused145", "unused146", "unused147", "unused148", "unused149", "unused150", "unused151", "unused152", "unused153", "unused154", "unused155", "unused156", "unused157", "unused158", "unused159", "unused160", "unused161", "unused162", "unused163", "unused164", "unused165", "unused166", "unused167", "unused168", "unused169", "unused170", "unused171", "unused172", "unused173", "unused174", "unused175", "unused176", "unused177", "unused178", "unused179", "unused180", "unused181", "unused182", "unused183", "unused184", "unused185", "unused186", "unused187", "unused188", "unused189", "unused190", "unused191", "unused192", "unused193", "unused194", "unused195", "unused196", "unused197", "unused198", "unused199", "unused200", "unused201", "unused202", "unused203", "unused204", "unused205", "unused206", "unused207", "unused208", "unused209", "unused210", "unused211", "unused212", "unused213", "unused214", "unused215", "unused216", "unused217", "unused218", "unused219", "unused220", "unused221", "unused222", "unused223", "unused224", "unused225", "unused226", "unused227", "unused228", "unused229", "unused230", "unused231", "unused232", "unused233", "unused234", "unused235", "unused236", "unused237", "unused238", "unused239", "unused240", "unused241", "unused242", "unused243", "unused244", "unused245", "unused246", "unused247", "unused248", "unused249", "unused250", "unused251", "unused252", "unused253", "unused254", "unused255"];
