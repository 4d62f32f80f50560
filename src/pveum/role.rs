use super::{Command, Release};
use crate::model::TokenId;

/// A role that is granted to a token: what one kind of path takes, so that nothing is allowed where it means nothing.
///
/// None is called after pvetalos: Proxmox keeps names that begin with `PVE`, in whatever case, to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenRole {
    /// The VMs of nodes, from the clone to their end.
    Vms,
    /// A template that is cloned and otherwise left alone.
    Cloning,
    /// The storages of disks.
    Disks,
    /// Bridges and their VLANs.
    Network,
    /// The storage that images are brought to.
    Images,
    /// Hosts that download images.
    Download,
    /// Letting a storage take images.
    Import,
    /// The order in which a host starts its VMs.
    StartOrder,
    /// Hosts whose free memory is looked at.
    Memory,
    /// What the guest agent says.
    Agent,
}

/// What every VM of ours goes through, from the clone to its end.
pub const VM_PRIVILEGES: &[&str] = &[
    "VM.Allocate",
    "VM.Audit",
    "VM.Clone",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.PowerMgmt",
];

/// The options that a template is made with, each guarded by a privilege; drives are guarded by their storages while a
/// VM is made (qemu-server: src/PVE/API2/Qemu.pm).
pub const TEMPLATE_PRIVILEGES: &[&str] = &[
    "VM.Allocate",
    "VM.Audit",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Options",
];

/// What disks take of their storage.
pub const DISK_PRIVILEGES: &[&str] = &["Datastore.AllocateSpace", "Datastore.Audit"];

/// What images take of theirs.
pub const IMAGE_PRIVILEGES: &[&str] = &["Datastore.AllocateTemplate", "Datastore.Audit"];

impl TokenRole {
    pub fn name(self) -> &'static str {
        match self {
            Self::Vms => "TalosVMs",
            Self::Cloning => "TalosCloning",
            Self::Disks => "TalosDisks",
            Self::Network => "TalosNetwork",
            Self::Images => "TalosImages",
            Self::Download => "TalosDownload",
            Self::Import => "TalosImport",
            Self::StartOrder => "TalosStartOrder",
            Self::Memory => "TalosMemory",
            Self::Agent => "TalosAgent",
        }
    }

    /// What it allows, in the words of a release: one that a release does not know makes it refuse the whole role.
    pub fn privileges(self, release: Release) -> &'static [&'static str] {
        match self {
            Self::Vms => VM_PRIVILEGES,
            Self::Cloning => &["VM.Audit", "VM.Clone"],
            Self::Disks => DISK_PRIVILEGES,
            Self::Network => &["SDN.Use"],
            Self::Images => IMAGE_PRIVILEGES,
            Self::Download => &["Sys.AccessNetwork"],
            Self::Import => &["Datastore.Allocate"],
            Self::StartOrder => &["Sys.Modify"],
            Self::Memory => &["Sys.Audit"],
            Self::Agent => match release {
                Release::Eight => &["VM.Monitor"],
                Release::Nine => &["VM.GuestAgent.Audit"],
            },
        }
    }

    /// Whether it is granted for everything below its path too. Where the path itself is all that is asked about, more
    /// would be too much.
    pub fn propagates(self) -> bool {
        !matches!(self, Self::Import | Self::StartOrder)
    }

    /// How `pvetalos access` is asked for it.
    fn asked_for_by(self) -> &'static str {
        match self {
            Self::Vms | Self::Disks | Self::Network => "pvetalos access",
            Self::Cloning => "pvetalos access --clone-from",
            Self::Images | Self::Download => "pvetalos access --templates",
            Self::Import => "pvetalos access --templates --enable-import",
            Self::StartOrder => "pvetalos access --start-order",
            Self::Memory => "pvetalos access --free-memory",
            Self::Agent => "pvetalos access --guest-agent",
        }
    }

    /// What to do where a token lacks it on a path.
    pub fn fix(self, path: &str, token: &TokenId) -> String {
        let grant = Command::grant(path, self, token);
        let fix = format!("`{grant}`; `{}` prints what makes the role, and all the rest", self.asked_for_by());
        match path.strip_prefix("/pool/") {
            Some(pool) => format!("{fix}, such as `pveum pool add {pool}`"),
            None => fix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [TokenRole; 10] = [
        TokenRole::Vms,
        TokenRole::Cloning,
        TokenRole::Disks,
        TokenRole::Network,
        TokenRole::Images,
        TokenRole::Download,
        TokenRole::Import,
        TokenRole::StartOrder,
        TokenRole::Memory,
        TokenRole::Agent,
    ];

    #[test]
    fn no_role_has_a_name_that_proxmox_keeps_to_itself() {
        for role in ALL {
            assert!(!role.name()[..3].eq_ignore_ascii_case("pve"), "{}", role.name());
        }
    }

    #[test]
    fn whoever_may_make_nodes_may_make_the_vm_of_a_template() {
        assert!(TEMPLATE_PRIVILEGES.iter().all(|privilege| VM_PRIVILEGES.contains(privilege)));
    }

    #[test]
    fn a_fix_is_a_command_and_where_the_rest_comes_from() {
        let token = "u@pve!t1".parse().expect("a token id");
        assert_eq!(
            TokenRole::Vms.fix("/pool/a", &token),
            "`pveum acl modify /pool/a --roles TalosVMs --users u@pve --tokens 'u@pve!t1'`; `pvetalos access` prints what \
             makes the role, and all the rest, such as `pveum pool add a`"
        );
    }
}
