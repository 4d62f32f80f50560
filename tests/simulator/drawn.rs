//! Requests that nobody would send, to every path there is, with every parameter there is: drawn by a seed, so that what
//! breaks can be broken again.

use std::time::Duration;

use pvetalos::proxmox::{Method, Request, Transport};
use pvetalos::sim::{InProcess, Simulator};

use crate::harness::world;

const ADMIN: &str = "PVEAPIToken=root@pam!admin=22222222-2222-4222-8222-222222222222";

/// Separated by blanks.
const PATHS: &str = "/ /version /access/permissions /access/roles /access/acl /access/users /cluster/resources \
    /cluster/nextid /cluster/status /cluster/tasks /nodes /nodes/pve1/status /nodes/pve1/qemu \
    /nodes/pve1/qemu/9000/config /nodes/pve1/qemu/9000/clone /nodes/pve1/qemu/100 /nodes/pve1/qemu/100/config \
    /nodes/pve1/qemu/100/resize /nodes/pve1/qemu/100/pending /nodes/pve1/qemu/100/status/current \
    /nodes/pve1/qemu/100/status/start /nodes/pve1/qemu/100/status/stop /nodes/pve1/qemu/100/status/shutdown \
    /nodes/pve1/qemu/100/template /nodes/pve1/qemu/100/cloudinit/dump /nodes/pve1/qemu/100/move_disk \
    /nodes/pve1/qemu/131/config /nodes/pve1/qemu/131/status/start /nodes/pve1/qemu/131 /nodes/pve1/storage \
    /nodes/pve1/storage/local/content /nodes/pve1/storage/local/download-url /nodes/pve1/storage/local/upload \
    /nodes/pve1/tasks /nodes/pve1/tasks/UPID:x/log /nodes/pve2/qemu/4001 /pools /pools/talos /storage/local \
    /nodes/%2e%2e /nodes/pve1/qemu/99999999999999999999/config /nodes/pve1/qemu/-1/config";

/// Separated by blanks.
const KEYS: &str = "vmid newid cores memory balloon net0 scsi0 scsi1 efidisk0 tpmstate0 ide2 boot tags description name \
    delete revert digest disk size storage full target pool path roles users tokens privs limit start since content url \
    filename type ipconfig0 sshkeys agent smbios1 unused0 force timeout format cpu startup template";

/// Separated by `|`.
const VALUES: &str = "|0|1|-1|100|131|9000|99999999999999999999|18446744073709551615|1e9|+10G|10G|\u{0}|ü|,,,|=|%|/|..|\
    local-lvm:1|local-lvm:999999999|local-lvm:cloudinit|local:0,import-from=local:import/x.raw|virtio,bridge=vmbr0|\
    none,media=cdrom|order=scsi0;;|a;b,c d|scsi0|unused0|shared|scsi0,net0|uuid=x|version=v2.0|import|x.raw|\
    https://factory.talos.dev/x.raw";

#[tokio::test(start_paused = true)]
async fn no_request_finds_a_bug_of_the_world() {
    let paths: Vec<&str> = PATHS.split_whitespace().collect();
    let keys: Vec<&str> = KEYS.split_whitespace().collect();
    let values: Vec<&str> = VALUES.split('|').collect();
    for seed in 0..40 {
        let simulator = Simulator::new(world());
        let client = InProcess::new(simulator.clone(), ADMIN.to_owned());
        let mut draw = Draw(seed);
        for _ in 0..150 {
            let method = draw.one_of(&[Method::Get, Method::Post, Method::Put, Method::Delete]);
            let path = draw.one_of(&paths).to_owned();
            let count = draw.below(5);
            let params = (0..count).map(|_| (draw.one_of(&keys).to_owned(), draw.one_of(&values).to_owned())).collect();
            drop(client.send(&Request { method, path, params }).await);
            tokio::time::advance(Duration::from_millis(draw.below(3000))).await;
        }
        assert!(!simulator.is_damaged(), "seed {seed}");
    }
}

/// A linear congruential generator (Knuth's MMIX): all that drawing from a list takes.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).expect("an index of the list")]
    }
}
