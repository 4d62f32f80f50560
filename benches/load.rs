//! How long files of a large cluster take to load and validate.
//!
//! Run with `cargo bench --bench load`. Prints the best and the median of several runs for each size.

use std::fmt::Write;
use std::time::Instant;

use pvetalos::config::{Explain, Inputs, load};

const CLUSTER: &str = "\
cluster_name: bench
node_cidr: 10.0.0.0/8
talos_version: 1.12.0
proxmox_api_url: https://pve.example.com:8006/api2/json
proxmox_vm_worker_defaults: {cores: 6, memory: 12288}
";

fn main() {
    let mut report = String::from("nodes   bytes      best     median\n");
    for count in [5, 500, 5_000] {
        let nodes = nodes_yaml(count);
        let mut times: Vec<_> = (0..9).map(|_| time(&nodes, count)).collect();
        times.sort();
        writeln!(report, "{count:<6}  {:<8}  {:>7.1?}  {:>7.1?}", nodes.len(), times[0], times[times.len() / 2])
            .expect("writing to a string never fails");
    }
    #[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
    {
        print!("{report}");
    }
}

fn time(nodes: &str, count: usize) -> std::time::Duration {
    let start = Instant::now();
    let loaded = load(Inputs::from_texts(nodes, Some(CLUSTER), None), Explain::No);
    let elapsed = start.elapsed();
    assert_eq!(loaded.cluster.expect("the files are right").nodes.len(), count);
    elapsed
}

/// As many nodes as asked for, written as the family repositories write them.
fn nodes_yaml(count: usize) -> String {
    let mut text = String::from("---\nnodes:\n");
    for index in 0..count {
        let (high, low) = (index / 250, index % 250 + 1);
        write!(
            text,
            "  - name: node-{index}\n    address: 10.1.{high}.{low}\n    controller: {}\n    disk: /dev/sda\n    \
             mac_addr: bc:24:11:00:{high:02x}:{low:02x}\n    \
             schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515\n    \
             vm_id: {}\n    vm_cores: 4\n",
            index < 3,
            10_000 + index
        )
        .expect("writing to a string never fails");
    }
    text
}
