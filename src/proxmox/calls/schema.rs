//! Every request that we can make, held against the server's own description of its API.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::*;
use crate::model::{DiskSize, HostName, MacAddress, PoolId, StorageId, VmId};
use crate::proxmox::Request;
use crate::proxmox::task::Upid;
use crate::proxmox::types::{CardIndex, Drive, NetworkCard, Properties};

fn parsed<T: std::str::FromStr>(text: &str) -> T {
    text.parse().ok().expect("a sample is well-formed")
}

/// Everything that can be set, with values at the edges of what we allow.
fn everything() -> ConfigChange {
    let mut change = ConfigChange::conditional_on(Some("28e4b550655258878ed046bf4189086404e5f664"));
    for key in PlainKey::ALL {
        change.set(*key, sample(*key));
    }
    let mut card = NetworkCard::virtio(parsed::<MacAddress>("BC:24:11:00:00:01"), parsed("vmbr0"));
    (card.vlan, card.mtu, card.queues) = (Some(parsed("4094")), Some(9000), Some(16));
    (card.firewall, card.link_down) = (true.into(), true.into());
    change.set_card(CardIndex::nearest(31), &card).unwrap();
    change.set_card(CardIndex::nearest(0), &card).unwrap();
    change.set_ip_config(CardIndex::nearest(31), &parsed("ip=10.0.0.5/24,gw=10.0.0.1,ip6=fd00::5/64,gw6=fd00::1"));
    change.set_ip_config(CardIndex::nearest(0), &parsed("ip=dhcp,ip6=auto"));
    let mut disk: Drive = parsed("local-lvm:32,discard=on,ssd=1,iothread=1,backup=0,replicate=0");
    disk.serial = Some(parsed("data-1"));
    change.set_drive(parsed("scsi30"), &disk);
    change.set_drive(parsed("scsi0"), &parsed("local-lvm:0,import-from=local:import/talos.qcow2,discard=on,ssd=1"));
    change.set_drive(parsed("ide2"), &parsed("local-lvm:cloudinit,media=cdrom"));
    change.set_efi_disk(&parsed("local-lvm:1,efitype=4m,pre-enrolled-keys=0"));
    change.set_tpm_state(&parsed("local-lvm:1,version=v2.0"));
    change
}

fn sample(key: PlainKey) -> &'static str {
    match key {
        PlainKey::Agent => "enabled=1",
        PlainKey::Balloon | PlainKey::CloudInitUpgrade => "0",
        PlainKey::Bios => "ovmf",
        PlainKey::Boot => "order=scsi0",
        PlainKey::CloudInitType => "nocloud",
        PlainKey::Cores => "64",
        PlainKey::Cpu => "host,flags=+aes",
        PlainKey::Description => "pvetalos: cluster=home node=cp-1 vmid=105",
        PlainKey::Machine => "q35",
        PlainKey::Memory => "262144",
        PlainKey::Name => "cp-1",
        PlainKey::Nameserver => "1.1.1.1 9.9.9.9",
        PlainKey::Numa | PlainKey::OnBoot | PlainKey::Protection => "1",
        PlainKey::OsType => "l26",
        PlainKey::ScsiController => "virtio-scsi-single",
        PlainKey::SearchDomain => "home.arpa",
        PlainKey::Serial => "socket",
        PlainKey::Sockets => "4",
        PlainKey::Startup => "order=1,up=300,down=600",
        PlainKey::Tags => "kubernetes;talos",
        PlainKey::Vga => "serial0",
    }
}

fn every_request() -> Vec<Request> {
    let (host, storage): (HostName, StorageId) = (parsed("pve1"), parsed("local-lvm"));
    let (vmid, new_id): (VmId, VmId) = (parsed("100"), parsed("999999999"));
    let pool: PoolId = parsed("clusters/talos");
    let upid: Upid = parsed("UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmclone:9000:pvetalos@pve!ci:");
    let change = everything();
    let mut deleting = ConfigChange::default();
    deleting.delete("protection").delete("ipconfig1").set(PlainKey::Tags, "");
    let clone = |target, on_host| CloneVm {
        host: &host,
        template: vmid,
        new_id,
        name: "cp-1",
        description: "pvetalos: cluster=home node=cp-1 vmid=999999999",
        pool: Some(&pool),
        target,
        on_host,
    };
    let checksum = Checksum { algorithm: ChecksumAlgorithm::Sha256, digest: "aa" };
    let image = Download {
        host: &host,
        storage: &storage,
        url: "https://factory.talos.dev/image/x/v1.12.0/nocloud-amd64.qcow2",
        file_name: "talos-1.12.0-nocloud-amd64.qcow2",
        checksum: Some(checksum),
    };
    let sha512 = Checksum { algorithm: ChecksumAlgorithm::Sha512, ..checksum };
    let query = TasksQuery { source: TaskSource::All, limit: 500, since: Some(1_755_705_537), kind: Some("qmclone") };
    vec![
        version(),
        guests(),
        next_id(None),
        next_id(Some(vmid)),
        cluster_status(),
        hosts(),
        pools(),
        super::pool(&pool),
        permissions(None),
        permissions(Some("/vms")),
        roles(),
        host_status(&host),
        vms(&host),
        storages(&host, None),
        storages(&host, Some("images")),
        bridges(&host),
        volumes(&host, &storage, Some("import"), Some(vmid)),
        delete_volume(&host, &parsed("local:import/talos.qcow2")),
        url_metadata(&host, image.url),
        download(&image),
        download(&Download { checksum: Some(sha512), ..image.clone() }),
        // The file itself travels beside the other fields.
        upload(&host, &storage, Some(checksum)).with("filename", "talos.qcow2"),
        set_storage_content(&storage, ["images", "import"]),
        vm_config(&host, vmid),
        vm_pending(&host, vmid),
        vm_status(&host, vmid),
        clone_vm(&clone(CloneTarget::Full { storage: &storage }, Some(&host))),
        clone_vm(&clone(CloneTarget::Linked, None)),
        configure(&host, vmid, &change),
        configure(&host, vmid, &deleting),
        configure_in_background(&host, vmid, &change),
        resize(&host, vmid, parsed("scsi0"), DiskSize::gib(64), Some("abc")),
        delete_vm(&host, vmid, true, false),
        cloud_init_dump(&host, vmid, CloudInitPart::User),
        cloud_init_dump(&host, vmid, CloudInitPart::Network),
        cloud_init_dump(&host, vmid, CloudInitPart::Meta),
        regenerate_cloud_init(&host, vmid),
        feature(&host, vmid, Feature::Clone),
        feature(&host, vmid, Feature::Copy),
        create_vm(&CreateVm { host: &host, vmid, pool: Some(&pool), config: &change }),
        convert_to_template(&host, vmid),
        start(&host, vmid),
        stop(&host, vmid, true),
        shutdown(&host, vmid, 180, true),
        tasks(&host, &query),
        tasks(&host, &TasksQuery { source: TaskSource::Active, ..query.clone() }),
        task_status(&upid),
        task_log(&upid, 0, 500),
        stop_task(&upid),
        agent_interfaces(&host, vmid),
    ]
}

#[test]
fn sizes_are_absolute_and_cards_have_addresses() {
    for request in every_request() {
        for (name, value) in &request.params {
            assert!(name != "size" || !value.starts_with('+'), "{request:?}");
            let card = name.strip_prefix("net").is_some_and(|index| index.parse::<u8>().is_ok());
            assert!(!card || value.parse::<NetworkCard>().unwrap().mac.is_some(), "{request:?}");
        }
        assert!(request.path.starts_with('/') && !request.path.ends_with('/'), "{request:?}");
    }
}

#[test]
fn names_are_escaped_in_paths() {
    let upid = parsed("UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmclone:9000:pvetalos@pve!ci:");
    let escaped = "UPID%3Apve1%3A0003A1B2%3A01C2D3E4%3A68A5F0C1%3Aqmclone%3A9000%3Apvetalos%40pve%21ci%3A";
    assert_eq!(task_status(&upid).path, format!("/nodes/pve1/tasks/{escaped}/status"));
    assert_eq!(
        delete_volume(&parsed("pve1"), &parsed("local:import/a.qcow2")).path,
        "/nodes/pve1/storage/local/content/local%3Aimport%2Fa.qcow2"
    );
}

#[test]
fn every_parameter_is_one_that_the_server_takes() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pve/api-schema.json");
    let file = std::env::var_os("PVETALOS_API_SCHEMA").map_or(fixture, PathBuf::from);
    let schema: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut mistakes = Vec::new();
    for request in every_request() {
        check_request(&schema, &request, &mut mistakes);
    }
    assert_eq!(mistakes, [] as [String; 0]);
}

fn check_request(schema: &Value, request: &Request, mistakes: &mut Vec<String>) {
    let call = format!("{} {}", request.method, request.path);
    let Some((template, methods)) =
        schema["paths"].as_object().unwrap().iter().find(|(path, _)| fits(path, &request.path))
    else {
        mistakes.push(format!("{call}: no such path"));
        return;
    };
    let Some(properties) = methods[request.method.to_string()]["parameters"]["properties"].as_object() else {
        mistakes.push(format!("{call}: no such method"));
        return;
    };
    for (name, value) in &request.params {
        match property(properties, name) {
            Some(property) => check_value(schema, &format!("{call}: {name}"), property, value, mistakes),
            None => mistakes.push(format!("{call}: no parameter {name}")),
        }
    }
    for (name, property) in properties.iter().filter(|(_, property)| property.get("optional").is_none()) {
        if !template.contains(&format!("{{{name}}}")) && request.param(name).is_none() && !property.is_null() {
            mistakes.push(format!("{call}: {name} is missing"));
        }
    }
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(&path).all(|(template, path)| template.starts_with('{') || template == path)
}

/// A parameter by its name, or by its family: `net[0..31]`.
fn property<'a>(properties: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let family = |key: &str| {
        let (stem, range) = key.strip_suffix(']')?.split_once('[')?;
        let (from, to) = range.split_once("..")?;
        let index: u32 = name.strip_prefix(stem)?.parse().ok()?;
        Some((from.parse::<u32>().ok()?..=to.parse().ok()?).contains(&index))
    };
    properties
        .get(name)
        .or_else(|| properties.iter().find(|(key, _)| family(key) == Some(true)).map(|(_, property)| property))
}

fn check_value(schema: &Value, place: &str, property: &Value, value: &str, mistakes: &mut Vec<String>) {
    let mut wrong = |why: String| mistakes.push(format!("{place} = {value:?}: {why}"));
    match property["type"].as_str() {
        Some("integer" | "number") => match value.parse::<f64>() {
            Ok(number) => {
                if property["minimum"].as_f64().is_some_and(|least| number < least) {
                    wrong(format!("less than {}", property["minimum"]));
                }
                if property["maximum"].as_f64().is_some_and(|most| number > most) {
                    wrong(format!("more than {}", property["maximum"]));
                }
            }
            Err(_) => wrong("no number".to_owned()),
        },
        Some("boolean") if !matches!(value, "0" | "1" | "on") => wrong("no boolean".to_owned()),
        _ => {}
    }
    if property["enum"].as_array().is_some_and(|words| !words.iter().any(|word| word.as_str() == Some(value))) {
        wrong(format!("none of {}", property["enum"]));
    }
    if property["maxLength"].as_u64().is_some_and(|longest| value.len() as u64 > longest) {
        wrong("too long".to_owned());
    }
    let format = property["format"].as_str().unwrap_or_default();
    if let Some(keys) = schema["formats"][format]["properties"].as_object() {
        let default = keys.iter().find(|(_, key)| key.get("default_key").is_some()).map(|(name, _)| name.as_str());
        let given = Properties::parse(value, default).expect("we print property strings");
        for (name, value) in given.iter() {
            match keys.get(name) {
                Some(key) => check_value(schema, &format!("{place}.{name}"), key, value, mistakes),
                None => mistakes.push(format!("{place}: no key {name}")),
            }
        }
    }
}
