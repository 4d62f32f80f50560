use pvetalos::access::{Access, Extra, Wishes};
use pvetalos::apply::Outcome;
use pvetalos::pveum::Release;
use serde_json::{Value, json};

use super::granted::{RELEASES, TOKEN, doctor, granted, kept_rights, make_templates, nodes, troubles, wishes, world};
use super::pveum::Root;
use crate::lab::{Lab, cluster, options};

/// So many nodes are done with, and nothing is to be said but that the start order is not set.
#[track_caller]
fn all_done(outcomes: &[Outcome], expected: usize) {
    assert_eq!(outcomes.len(), expected, "{outcomes:#?}");
    for outcome in outcomes {
        let expected = |warning: &String| warning.starts_with("the start order is left out");
        assert!(outcome.is_done() && outcome.warnings.iter().all(expected), "{outcome:#?}");
    }
}

/// From nothing to nodes, to other nodes, to nothing: with the token alone.
async fn whole_life(mut lab: Lab, changed: &str) {
    let before = lab.made().len();
    let wrong = doctor(&lab).await;
    assert!(wrong.iter().all(|finding| finding.message.contains("start order")), "{wrong:#?}");
    all_done(&lab.provision().await.expect("Proxmox answers"), 2);
    assert!(lab.provision().await.expect("Proxmox answers").is_empty(), "a second run has nothing to do");

    lab.cluster = cluster(changed);
    all_done(&lab.provision().await.expect("Proxmox answers"), 1);
    let mut disruptive = options();
    disruptive.disruptive = true;
    all_done(&lab.provision_with(&disruptive).await.expect("Proxmox answers"), 1);

    all_done(&lab.destroy().await.expect("Proxmox answers"), 2);
    assert_eq!(lab.made().len(), before);
    lab.check_promises();
}

/// More of everything that can become more, for the first node.
const CHANGED: &str = "    cores: 6\n    memory: 12288\n    disk_size: 200\n    tags: [other]\n    \
    data_disks: [{size: 4G, storage: fast}]\n";

#[tokio::test(start_paused = true)]
async fn for_the_whole_life_of_a_cluster() {
    for release in RELEASES {
        let (lab, _) = granted(world(release), &nodes(""), wishes(release, &[]));
        Box::pin(whole_life(lab, &nodes(CHANGED))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn in_a_pool_with_templates_outside_of_it() {
    let in_pool = |text: &str| text.replace("{storage: local-lvm}", "{storage: local-lvm, pool: lab/talos}");
    for release in RELEASES {
        let clone_from = [9000, 9001].map(|vmid: u32| vmid.to_string().parse().expect("a VMID")).into();
        let wishes = Wishes { clone_from, ..wishes(release, &[]) };
        let (lab, access) = granted(world(release), &in_pool(&nodes("")), wishes);
        assert!(access.is_in_pools());
        let strangers = lab.client().vm_config(&"pve1".parse().expect("a host"), "100".parse().expect("a VMID")).await;
        assert!(strangers.is_err(), "other people's VMs are not even seen");
        Box::pin(whole_life(lab, &in_pool(&nodes(CHANGED)))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn for_any_cluster_where_no_file_says_which() {
    for release in RELEASES {
        let lab = Lab::new(world(release), &nodes(""));
        let access = Access::in_general(wishes(release, &[]));
        let secrets = Root(&lab.simulator).paste(&pvetalos::ui::access_text(&access));
        Box::pin(whole_life(lab.with_token(TOKEN, &secrets[0]), &nodes(CHANGED))).await;
    }
}

/// Templates are made, by the token alone, and nodes of them.
#[tokio::test(start_paused = true)]
async fn for_templates_if_asked_for_and_not_otherwise() {
    for release in RELEASES {
        for pool in ["", ", pool: talos"] {
            let text = nodes("").replace("{storage: local-lvm}", &format!("{{storage: local-lvm{pool}}}"));
            let mut world = world(release);
            world["templates"] = json!({});
            let (lab, _) = granted(world.clone(), &text, wishes(release, &[]));
            let refused = troubles(&make_templates(&lab, false).await);
            assert!(refused.iter().any(|text| text.contains("lacks Datastore.AllocateTemplate")), "{refused:#?}");
            assert!(refused.iter().any(|text| text.contains("lacks Sys.AccessNetwork")), "{refused:#?}");

            let (lab, _) = granted(world.clone(), &text, wishes(release, &[Extra::Templates]));
            let made = make_templates(&lab, false).await;
            assert_eq!((troubles(&made), made.outcomes.len()), (vec![], 2));
            all_done(&lab.provision().await.expect("Proxmox answers"), 2);
            all_done(&lab.destroy().await.expect("Proxmox answers"), 2);

            world["storages"]["local"]["content"] = json!(["backup", "iso"]);
            let (lab, _) = granted(world.clone(), &text, wishes(release, &[Extra::Templates]));
            let refused = troubles(&make_templates(&lab, true).await);
            assert!(refused.iter().all(|text| text.ends_with("lacks Datastore.Allocate on /storage")), "{refused:#?}");
            assert!(!refused.is_empty());
            let extras = [Extra::Templates, Extra::EnableImport];
            let (lab, _) = granted(world, &text, wishes(release, &extras));
            assert_eq!(troubles(&make_templates(&lab, true).await), [""; 0]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn where_some_nodes_are_in_a_pool_and_others_in_none() {
    let text = nodes("    pool: talos\n");
    for release in RELEASES {
        let mut world = world(release);
        world["templates"] = json!({});
        let (lab, access) = granted(world, &text, wishes(release, &[Extra::Templates]));
        assert!(!access.is_in_pools());
        assert_eq!(troubles(&make_templates(&lab, false).await), [""; 0]);
        Box::pin(whole_life(lab, &nodes(&format!("    pool: talos\n{CHANGED}")))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn for_every_extra_that_is_asked_for() {
    for release in RELEASES {
        let (lab, _) = granted(world(release), &nodes(""), wishes(release, &Extra::ALL));
        assert_eq!(doctor(&lab).await, []);
        let outcomes = lab.provision().await.expect("Proxmox answers");
        all_done(&outcomes, 2);
        assert!(outcomes.iter().all(|outcome| outcome.warnings.is_empty()), "{outcomes:#?}");
        let order = lab.made().values().filter(|vm| vm["config"]["startup"].is_string()).count();
        assert_eq!(order, 2, "the start order is set");
        let client = lab.client();
        for outcome in outcomes {
            let (host, vmid) = (outcome.host.expect("it is somewhere"), outcome.vmid.expect("it has a number"));
            client.agent_interfaces(&host, vmid).await.expect("the agent may be asked");
        }
        let hosts = client.hosts().await.expect("Proxmox answers");
        assert!(hosts.iter().all(|host| host.memory.is_some() && host.memory_used.is_some()));
    }
}

#[tokio::test(start_paused = true)]
async fn and_all_of_it_can_be_taken_away_again() {
    let untouched = Lab::new(world(Release::Nine), &nodes(""));
    let before = kept_rights(&untouched.simulator);
    let (lab, access) = granted(world(Release::Nine), &nodes(""), wishes(Release::Nine, &Extra::ALL));
    assert_ne!(kept_rights(&lab.simulator), before);
    // They stand in the script as comments.
    let text = pvetalos::ui::access_text(&access);
    let (_, removal) = text.split_once("# To take all of it away again").expect("it is told how");
    let lines: Vec<&str> = removal.lines().skip(1).map(|line| line.trim_start_matches("#   ")).collect();
    assert_eq!(lines.len(), 2 + access.roles().len());
    Root(&lab.simulator).paste(&lines.join("\n"));
    assert_eq!(kept_rights(&lab.simulator), before);
}

#[test]
fn nothing_that_a_release_does_not_know_is_printed() {
    for (release, unknown) in [(Release::Eight, "GuestAgent"), (Release::Nine, "VM.Monitor")] {
        let access = Access::in_general(wishes(release, &Extra::ALL));
        assert!(!pvetalos::ui::access_text(&access).contains(unknown));
    }
}

/// The example worlds grant what is printed for any cluster, and nothing else.
#[test]
fn the_example_worlds_say_the_same() {
    let fresh = include_str!("../../../examples/worlds/fresh-host.yaml");
    let worlds = [
        (crate::lab::ONE_HOST, vec![]),
        (crate::lab::THREE_HOSTS, vec![]),
        (fresh, vec![Extra::Templates, Extra::EnableImport]),
    ];
    for (text, extras) in worlds {
        let world = crate::lab::world(text);
        let token: pvetalos::model::TokenId = "pvetalos@pve!simulator".parse().expect("a token id");
        let access = Access::in_general(Wishes { token: token.clone(), ..wishes(Release::Nine, &extras) });
        let roles = access.roles().into_iter();
        let roles = roles.map(|role| (role.name().to_owned(), json!(role.privileges(Release::Nine).join(" "))));
        assert_eq!(world["roles"], Value::Object(roles.collect()));
        let both = [token.user(), token.as_str()];
        let granted = access.rules.iter().flat_map(|rule| {
            let mut granted = json!({ "path": rule.path, "who": "", "role": rule.role.name() });
            if !rule.role.propagates() {
                granted["propagate"] = json!(false);
            }
            both.map(|who| {
                granted["who"] = json!(who);
                granted.clone()
            })
        });
        assert_eq!(world["acl"], Value::Array(granted.collect()));
    }
}
