//! Two readings of one language: what the server makes of a value means the same to the client that sent it.

use std::fmt::Debug;
use std::str::FromStr;

use proptest::prelude::*;
use pvetalos::proxmox::types::{Agent, Drive, IpConfig, NetworkCard};

use crate::lab::Lab;

/// Some of the pieces, in some order, joined as a property string.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::subsequence(pieces, 1..6).prop_shuffle().prop_map(|pieces| pieces.join(","))
}

/// Sends the value; if it is taken, what is stored must be equal to it.
fn means_the_same<T: FromStr<Err: Debug> + PartialEq + Debug>(key: &str, sent: &str) -> Result<(), TestCaseError> {
    let mut lab = Lab::small();
    prop_assert_eq!(lab.clone_to(100, &[("full", "1")]), "OK");
    let seen = lab.put("/nodes/pve/qemu/100/config", &[(key, sent)]);
    if seen.status != 200 {
        return Ok(());
    }
    let config = lab.config(100);
    let stored = config[key].as_str().unwrap();
    prop_assert_eq!(sent.parse::<T>().unwrap(), stored.parse::<T>().unwrap(), "{} became {}", sent, stored);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cards(sent in pieces(&[
        "virtio=BC:24:11:00:00:01", "model=e1000,macaddr=bc:24:11:00:00:0a", "bridge=vmbr0", "tag=20", "mtu=1400", "queues=4",
        "firewall=on", "firewall=0", "link_down=yes", "rate=10.5", "trunks=1;2-5",
    ])) {
        means_the_same::<NetworkCard>("net0", &sent)?;
    }

    #[test]
    fn disks(options in pieces(&[
        "ssd=1", "discard=on", "discard=ignore", "iothread=1", "cache=none", "aio=io_uring", "backup=0", "replicate=0",
        "serial=abc", "detect_zeroes=0",
    ])) {
        // The size is the server's to tell.
        means_the_same::<Drive>("scsi0", &format!("local:100/vm-100-disk-1.qcow2,size=1G,{options}"))?;
    }

    #[test]
    fn addresses(sent in pieces(&[
        "ip=10.0.0.5/24", "ip=dhcp", "gw=10.0.0.1", "ip6=FD00::5/64", "ip6=auto", "gw6=fd00::1",
    ])) {
        means_the_same::<IpConfig>("ipconfig0", &sent)?;
    }

    #[test]
    fn agents(sent in pieces(&["1", "enabled=0", "fstrim_cloned_disks=1", "type=virtio", "freeze-fs=no"])) {
        means_the_same::<Agent>("agent", &sent)?;
    }
}
