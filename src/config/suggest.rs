/// Names that people bring along from other tools, and ours for the same thing.
const ELSEWHERE: &[(&str, &str)] = &[
    ("ip", "address"),
    ("ip_address", "address"),
    ("ipaddr", "address"),
    ("mac", "mac_addr"),
    ("macaddr", "mac_addr"),
    ("hwaddr", "mac_addr"),
    ("hostname", "name"),
    ("role", "controller"),
    ("controlplane", "controller"),
    ("control_plane", "controller"),
    ("cpu", "vm_cores"),
    ("cpus", "vm_cores"),
    ("vcpus", "vm_cores"),
    ("ram", "vm_memory"),
    ("mem", "vm_memory"),
    ("vmid", "vm_id"),
    ("target_node", "proxmox_node"),
    ("pve_node", "proxmox_node"),
    ("install_disk", "disk"),
    ("schematic", "schematic_id"),
    ("vlan", "vlan_tag"),
    ("dns", "dns_servers"),
    ("nameservers", "dns_servers"),
    ("node_name", "name"),
    ("networks", "nics"),
    ("disks", "data_disks"),
    ("subnet", "cidr"),
    ("api_token", "token_id"),
];

/// The known word that was probably meant.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase().replace('-', "_");
    let elsewhere = ELSEWHERE.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    closest(known, |candidate| if elsewhere == Some(candidate) { 2.0 } else { likeness(&word, candidate) })
}

/// The known name that was probably meant.
pub(super) fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    closest(known, |candidate| likeness(&name, candidate))
}

fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b).max(strsim::normalized_damerau_levenshtein(a, b))
}

fn closest<'a>(known: impl IntoIterator<Item = &'a str>, closeness: impl Fn(&str) -> f64) -> Option<&'a str> {
    let best = known.into_iter().map(|candidate| (closeness(candidate), candidate));
    best.filter(|(closeness, _)| *closeness >= 0.85).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_and_words_of_other_tools_are_understood() {
        #[track_caller]
        fn case(word: &str, meant: Option<&str>) {
            let known = ["name", "address", "mac_addr", "vm_cores", "vm_memory", "controller", "schematic_id"];
            assert_eq!(did_you_mean(word, known), meant);
        }
        case("mac_adr", Some("mac_addr"));
        case("mac-addr", Some("mac_addr"));
        case("adress", Some("address"));
        case("vm_core", Some("vm_cores"));
        case("ip", Some("address"));
        case("ram", Some("vm_memory"));
        case("controler", Some("controller"));
        case("colour", None);
        case("", None);
    }
}
