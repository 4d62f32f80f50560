use std::fmt::Write;

use comfy_table::{Table, presets};

use crate::model::{Cluster, Credentials, Node, Role, Setting};

/// The resolved cluster at a glance.
pub fn cluster_table(cluster: &Cluster) -> String {
    let mut text = String::new();
    let proxmox = &cluster.proxmox;
    let endpoint =
        proxmox.endpoint.as_ref().map_or("endpoint not given".to_owned(), |setting| setting.value.to_string());
    let token = token(&proxmox.credentials);
    let network = &cluster.network;
    let dns: Vec<String> = network.dns_servers.value.iter().map(ToString::to_string).collect();
    let vip = network.vip.as_ref().map_or(String::new(), |vip| format!(", Kubernetes API {}", vip.value));
    let facts = [
        ("cluster", cluster.name.value.to_string()),
        ("proxmox", format!("{endpoint}, {token}")),
        (
            "network",
            format!("{}, gateway {}, dns {}{vip}", network.cidr.value.network(), network.gateway.value, dns.join(" ")),
        ),
    ];
    for (name, value) in facts {
        writeln!(text, "{name:<8} {value}").expect("writing to a string never fails");
    }
    text.push('\n');

    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NAME", "ROLE", "ADDRESS", "MAC", "VMID", "HOST", "CPU", "MEMORY", "DISK", "TEMPLATE"]);
    for node in &cluster.nodes {
        table.add_row(row(node));
    }
    // The preset leaves a space before every line and pads after it.
    for line in table.lines() {
        writeln!(text, "{}", line.trim()).expect("writing to a string never fails");
    }
    text.push_str(&counts(cluster));
    text
}

/// Which token is used, or where it is still encrypted.
fn token(credentials: &Credentials) -> String {
    match (&credentials.token_id, &credentials.encrypted_in) {
        (Some(id), None) => format!("token {}", id.value),
        (Some(id), Some(file)) => format!("token {}, its secret in {file} (not decrypted)", id.value),
        (None, Some(file)) => format!("token in {file} (not decrypted)"),
        (None, None) => "no token".to_owned(),
    }
}

fn row(node: &Node) -> [String; 10] {
    let or = |setting: Option<String>, otherwise: &str| setting.unwrap_or_else(|| otherwise.to_owned());
    let vm = &node.vm;
    let cpu = match vm.sockets.value.get() {
        1 => vm.cores.value.to_string(),
        sockets => format!("{sockets}x{}", vm.cores.value),
    };
    let disks: Vec<String> = std::iter::once(vm.disk_size.value)
        .chain(vm.data_disks.iter().map(|disk| disk.size))
        .map(|size| size.to_string())
        .collect();
    [
        node.name.value.to_string(),
        node.role.value.to_string(),
        node.address.value.to_string(),
        node.mac_address.value.to_string(),
        or(node.vm_id.as_ref().map(text), "auto"),
        or(vm.host.as_ref().map(text), "auto"),
        cpu,
        format!("{} MiB", vm.memory.value),
        disks.join("+"),
        vm.template.to_string(),
    ]
}

fn text<T: ToString>(setting: &Setting<T>) -> String {
    setting.value.to_string()
}

fn counts(cluster: &Cluster) -> String {
    let controllers = cluster.nodes.iter().filter(|node| node.role.value == Role::Controller).count();
    let plural = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let nodes = plural(cluster.nodes.len(), "node");
    let workers = plural(cluster.nodes.len() - controllers, "worker");
    format!("\n{nodes}: {}, {workers}\n", plural(controllers, "control plane"))
}
