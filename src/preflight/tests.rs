use super::*;
use crate::config::{Explain, Inputs, load};
use crate::model::TokenId;
use crate::proxmox::answers::VmConfig;

fn needs(nodes: &str) -> Needs {
    let text = format!("name: x\nnetwork: {{cidr: 10.0.0.0/24}}\ntalos_template: t\nnodes:\n{nodes}");
    Needs::of(&load(Inputs::from_texts(&text, None, None), Explain::No).cluster.expect("the file is right"))
}

fn seen(permissions: &str) -> Seen {
    let json = |text: &str| serde_json::from_str(text).expect("it is JSON");
    let storages =
        r#"[{"storage":"local-lvm","content":"images,rootdir","active":1,"enabled":1,"avail":1099511627776}]"#;
    Seen {
        version: serde_json::from_value(json(r#"{"version":"9.2.11"}"#)).expect("a version"),
        permissions: serde_json::from_str(permissions).expect("permissions"),
        hosts: serde_json::from_value(json(r#"[{"node":"pve","status":"online"},{"node":"old","status":"offline"}]"#))
            .expect("hosts"),
        close: vec![HostSeen {
            name: "pve".parse().expect("a host name"),
            storages: Ok(serde_json::from_str(storages).expect("storages")),
            bridges: Ok(serde_json::from_str(r#"[{"iface":"vmbr0","type":"bridge"}]"#).expect("bridges")),
            templates: Ok(vec![TemplateSeen {
                vmid: "900".parse().expect("a VMID"),
                name: "t".to_owned(),
                mark: None,
                config: VmConfig::default(),
            }]),
        }],
        quorate: Ok(true),
    }
}

const ALL: &str = r#"{"/vms":{"VM.Audit":1,"VM.Allocate":1,"VM.Clone":1,"VM.Config.CDROM":1,"VM.Config.CPU":1,
    "VM.Config.Cloudinit":1,"VM.Config.Disk":1,"VM.Config.HWType":1,"VM.Config.Memory":1,"VM.Config.Network":1,
    "VM.Config.Options":1,"VM.PowerMgmt":1},"/storage/local-lvm":{"Datastore.AllocateSpace":1,"Datastore.Audit":1},
    "/sdn/zones/localnetwork/vmbr0":{"SDN.Use":1},"/":{"Sys.Modify":1}}"#;

const NODE: &str = "  - {name: a, address: 10.0.0.2, controller: true, mac_addr: 'bc:24:11:00:00:01'}\n";

/// The messages of all that is not right.
fn wrong(needs: &Needs, seen: &Seen) -> Vec<String> {
    let token: TokenId = "u@pve!t1".parse().expect("a token id");
    let findings = check(needs, seen, &token);
    findings.into_iter().filter(|finding| finding.state != State::Ok).map(|finding| finding.message).collect()
}

#[test]
fn where_nothing_is_missing_nothing_is_said() {
    assert_eq!(wrong(&needs(NODE), &seen(ALL)), [""; 0]);
}

#[test]
fn every_privilege_that_is_missing_is_named() {
    let fewer =
        ALL.replace(r#""VM.Clone":1,"#, "").replace(r#","VM.PowerMgmt":1"#, "").replace("Sys.Modify", "Sys.Audit");
    assert_eq!(
        wrong(&needs(NODE), &seen(&fewer)),
        [
            "the token u@pve!t1 lacks VM.Clone, VM.PowerMgmt on /vms",
            "the token may not set the start order of VMs (Sys.Modify on /): it will be left out",
        ]
    );
    assert_eq!(wrong(&needs(NODE), &seen("{}"))[0], "the token u@pve!t1 may do nothing at all");
}

#[test]
fn a_pool_is_enough_for_a_token_that_sees_only_it() {
    let pool = ALL.replace(r#""/vms":{"#, r#""/pool/p":{"#);
    let node = NODE.replace("controller", "pool: p, controller");
    assert_eq!(wrong(&needs(&node), &seen(&pool)), [""; 0]);
    let mut hidden = seen(&pool);
    hidden.close[0].templates = Ok(Vec::new());
    assert_eq!(wrong(&needs(&node), &hidden), ["template t is not seen on pve"], "absence proves nothing here");
}

#[test]
fn hosts_that_are_down_or_unknown_are_told_apart() {
    let node = |host: &str| NODE.replace("controller", &format!("host: {host}, controller"));
    assert_eq!(wrong(&needs(&node("old")), &seen(ALL)), ["host old is not online"]);
    assert_eq!(wrong(&needs(&node("PVE")), &seen(ALL)), ["there is no host PVE"]);
}

#[test]
fn privileges_that_do_not_reach_the_vms_are_none() {
    let shallow = ALL.replace(":1,", ":0,").replace("\"VM.PowerMgmt\":1", "\"VM.PowerMgmt\":0");
    let found = wrong(&needs(NODE), &seen(&shallow));
    assert_eq!(found[0], "the privileges of the token u@pve!t1 hold for /vms itself and not for the VMs below it");
}

#[test]
fn a_node_that_names_no_host_needs_only_one_that_fits() {
    let mut two = seen(ALL);
    let mut other = two.close[0].clone();
    other.name = "pve2".parse().expect("a host name");
    other.templates = Ok(Vec::new());
    two.close.push(other);
    assert_eq!(
        wrong(&needs(NODE), &two),
        ["there is no template t on pve2: nodes without a `proxmox_node` cannot go there"]
    );
    two.close[0].templates = Ok(Vec::new());
    assert_eq!(wrong(&needs(NODE), &two), ["there is no template t on pve", "there is no template t on pve2"]);
}

#[test]
fn what_one_host_needs_is_not_asked_of_another() {
    let mut two = seen(ALL);
    two.hosts[1] = serde_json::from_str(r#"{"node":"pve2","status":"online"}"#).expect("a host");
    let mut other = two.close[0].clone();
    other.name = "pve2".parse().expect("a host name");
    other.bridges = Ok(serde_json::from_str(r#"[{"iface":"vmbr1","type":"bridge"}]"#).expect("bridges"));
    two.close.push(other);
    let on = |name: &str, host: &str, address: u8, bridge: &str| {
        let mac = format!("bc:24:11:00:00:0{address}");
        format!(
            "  - {{name: {name}, address: 10.0.0.{address}, controller: false, mac_addr: '{mac}', host: {host}, bridge: {bridge}}}\n"
        )
    };
    let nodes = on("a", "pve", 2, "vmbr0") + &on("b", "pve2", 3, "vmbr1");
    assert_eq!(wrong(&needs(&nodes), &two), ["the token u@pve!t1 lacks SDN.Use on /sdn/zones/localnetwork/vmbr1"]);
}

#[test]
fn two_templates_of_one_name_are_one_too_many() {
    let mut twice = seen(ALL);
    let templates = twice.close[0].templates.as_mut().expect("they were seen");
    templates.push(TemplateSeen { vmid: "901".parse().expect("a VMID"), ..templates[0].clone() });
    assert_eq!(wrong(&needs(NODE), &twice), ["2 templates on pve are t: 900, 901"]);
}

#[test]
fn what_could_not_be_seen_is_a_doubt_and_no_verdict() {
    let mut blind = seen(ALL);
    let unseen = |forbidden| Unseen { why: "no answer".to_owned(), fix: "wait".to_owned(), forbidden };
    blind.close[0].storages = Err(unseen(true));
    blind.quorate = Ok(false);
    let both = ["the Proxmox cluster has no quorum", "the storages of pve cannot be seen: no answer"];
    assert_eq!(wrong(&needs(NODE), &blind), both);
    let errors = |seen: &Seen| {
        let token: TokenId = "u@pve!t1".parse().expect("a token id");
        check(&needs(NODE), seen, &token).into_iter().filter(|finding| finding.state == State::Error).count()
    };
    assert_eq!(errors(&blind), 1, "what the token may not see may be there");
    blind.close[0].storages = Err(unseen(false));
    blind.quorate = Err(unseen(false));
    assert_eq!(errors(&blind), 1, "what the host cannot show it cannot use");
}
