//! What is displayed is read back as the same value, for every type; and no editor finds fault with it.

use std::fmt::Debug;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::string::string_regex;
use regex::Regex;

use super::*;

/// Texts of the shape that editors are told, most of which are values.
fn texts<T: Text>() -> impl Strategy<Value = String> {
    let unanchored = T::PATTERN.trim_start_matches('^').trim_end_matches('$');
    string_regex(unanchored).expect("a pattern is a regular expression")
}

fn pattern<T: Text>() -> Regex {
    Regex::new(T::PATTERN).expect("a pattern is a regular expression")
}

#[track_caller]
fn round_trip<T: Text + PartialEq + Debug>(value: &T, pattern: &Regex) {
    let shown = value.to_string();
    assert_eq!(shown.parse::<T>().as_ref(), Ok(value), "{shown} is read back");
    assert!(pattern.is_match(&shown), "{shown} has the shape that editors are told: {}", T::PATTERN);
}

macro_rules! round_trips {
    ($($test:ident: $type:ty = $example:literal),+ $(,)?) => {
        $(proptest! {
            #[test]
            fn $test(text in texts::<$type>()) {
                static PATTERN: LazyLock<Regex> = LazyLock::new(pattern::<$type>);
                round_trip(&$example.parse::<$type>().expect("the example is a value"), &PATTERN);
                if let Ok(value) = text.parse::<$type>() {
                    round_trip(&value, &PATTERN);
                }
            }
        })+
    };
}

round_trips! {
    node_name: NodeName = "cp-1",
    cluster_name: ClusterName = "home",
    host_name: HostName = "pve1",
    template_name: TemplateName = "talos-1.12.0",
    domain_name: DomainName = "home.arpa",
    storage_id: StorageId = "local-lvm",
    bridge_name: BridgeName = "vmbr0",
    pool_id: PoolId = "a/b",
    tag: Tag = "GPU",
    mac_address: MacAddress = "bc:24:11:5a:00:01",
    disk_size: DiskSize = "64G",
    endpoint: Endpoint = "pve1",
    token_id: TokenId = "root@pam!ci",
    schematic_id: SchematicId = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
    talos_version: TalosVersion = "v1.13.0-rc.1",
    template_mark: TemplateMark = "pvetalos-template: version=1.12.0 schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515 secureboot=true",
    template_record: TemplateRecord = "pvetalos-template: version=1.12.0 schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515 secureboot=true vmid=9000 image=upload:x size=1",
    fingerprint: Fingerprint = "abababababababababababababababababababababababababababababababab",
    install_disk: InstallDisk = "/dev/disk/by-id/x",
    disk_serial: DiskSerial = "system",
    cpu_type: CpuType = "host,flags=+aes;-pcid",
    bios: Bios = "ovmf",
    machine: Machine = "i440fx",
    scsi_controller: ScsiController = "lsi",
    os_type: OsType = "l26",
    clone_mode: CloneMode = "linked",
}

proptest! {
    #[test]
    fn numbers(number in any::<u32>()) {
        if let Some(id) = VmId::new(number) {
            prop_assert_eq!(id.to_string().parse::<VmId>(), Ok(id));
        }
        prop_assert_eq!(number.to_string().parse::<VlanTag>().ok(), VlanTag::new(number));
        prop_assert_eq!(number.to_string().parse::<Cores>().ok(), Cores::new(number));
    }

    #[test]
    fn addresses_with_prefix(address in any::<std::net::IpAddr>(), length in 0_u8..=128) {
        static PREFIXED: LazyLock<Regex> = LazyLock::new(pattern::<Prefixed>);
        static NIC_ADDRESS: LazyLock<Regex> = LazyLock::new(pattern::<NicAddress>);
        if let Ok(prefixed) = format!("{address}/{length}").parse::<Prefixed>() {
            round_trip(&prefixed, &PREFIXED);
            round_trip(&NicAddress::Static(prefixed), &NIC_ADDRESS);
        }
        round_trip(&NicAddress::Dhcp, &NIC_ADDRESS);
    }

    #[test]
    fn endpoints_by_address(address in any::<std::net::IpAddr>(), port in 1_u16..) {
        static PATTERN: LazyLock<Regex> = LazyLock::new(pattern::<Endpoint>);
        let host = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
        let endpoint: Endpoint = format!("{host}:{port}").parse().expect("an address and a port make an endpoint");
        round_trip(&endpoint, &PATTERN);
    }

    #[test]
    fn sizes_of_any_number_of_bytes(bytes in 1_u64..) {
        static PATTERN: LazyLock<Regex> = LazyLock::new(pattern::<DiskSize>);
        let size: DiskSize = bytes.to_string().parse().expect("a number of bytes is a size");
        prop_assert_eq!(size.bytes(), bytes);
        round_trip(&size, &PATTERN);
    }

    #[test]
    fn no_text_makes_any_parser_panic(text in any::<String>()) {
        drop((text.parse::<NodeName>(), text.parse::<ClusterName>(), text.parse::<HostName>(), text.parse::<Tag>()));
        drop((text.parse::<MacAddress>(), text.parse::<DiskSize>(), text.parse::<Endpoint>(), text.parse::<TokenId>()));
        drop((text.parse::<TalosVersion>(), text.parse::<Fingerprint>(), text.parse::<CpuType>(), text.parse::<Prefixed>()));
        drop((text.parse::<ApiToken>(), text.parse::<TokenSecret>(), text.parse::<InstallDisk>(), text.parse::<VmId>()));
        drop(Quoted::new(&text));
    }
}
