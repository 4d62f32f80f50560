use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::Field;
use super::nested::DataDisks;
use super::values::{Gib, Memory};
use crate::model::{Bios, Bounded, CloneMode, DiskSize, Machine, Origin, OsType, Role, ScsiController, Setting, Text};

/// What every VM of a role is like when nobody says otherwise: the defaults of the family repositories.
pub(super) fn vm(role: Role) -> VmLayer {
    VmLayer {
        cores: for_role(role, number(role.choose(4, 8))),
        memory: for_role(role, Memory(number(role.choose(8192, 16384)))),
        disk_size: for_role(role, Gib(DiskSize::gib(role.choose(64, 256)))),
        sockets: for_all(number(1)),
        balloon: for_all(number(0)),
        numa: for_all(true),
        cpu_type: for_all(text("host")),
        bios: for_all(Bios::Ovmf),
        machine: for_all(Machine::Q35),
        ostype: for_all(OsType::Linux26),
        scsi_hw: for_all(ScsiController::VirtioScsiPci),
        disk_discard: for_all(true),
        disk_ssd: for_all(true),
        disk_backup: for_all(false),
        disk_replicate: for_all(false),
        data_disks: for_all(DataDisks::default()),
        bridge: for_all(text("vmbr0")),
        net_queues: for_all(number(4)),
        qemu_agent: for_all(true),
        onboot: for_all(true),
        startup_delay: for_all(number(15)),
        shutdown_delay: for_all(number(60)),
        tags: for_all(Vec::new()),
        storage: for_all(text("local-lvm")),
        clone: for_all(CloneMode::Full),
        secureboot: for_all(false),
        encrypt_disk: for_all(false),
        host: Field::Absent,
        pool: Field::Absent,
        template: Field::Absent,
        talos_version: Field::Absent,
        schematic_id: Field::Absent,
        mtu: Field::Absent,
        vlan_tag: Field::Absent,
        // It depends on the place in the list.
        startup_order: Field::Absent,
    }
}

/// Where the system disk of a VM with a SCSI controller appears.
pub(super) fn node() -> NodeLayer {
    NodeLayer { disk: for_all(text("/dev/sda")), ..NodeLayer::default() }
}

pub(super) fn cluster() -> ClusterLayer {
    ClusterLayer {
        image_storage: for_all(text("local")),
        vm_id_base: for_all(number(100)),
        dns_servers: for_all(vec![[1, 1, 1, 1].into(), [1, 0, 0, 1].into()]),
        vlan_mode: for_all(false),
        ..ClusterLayer::default()
    }
}

fn for_all<T>(value: T) -> Field<T> {
    Field::Given(Setting::new(value, Origin::BuiltIn(None)))
}

fn for_role<T>(role: Role, value: T) -> Field<T> {
    Field::Given(Setting::new(value, Origin::BuiltIn(Some(role))))
}

fn text<T: Text>(text: &str) -> T {
    text.parse().expect("a built-in value is valid: a test resolves a file that gives nothing else")
}

fn number<const MIN: u32, const MAX: u32>(number: u32) -> Bounded<MIN, MAX> {
    Bounded::new(number).expect("a built-in value is valid: a test resolves a file that gives nothing else")
}
