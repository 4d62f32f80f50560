use pvetalos::proxmox::Method;
use pvetalos::template::{Dependents, choose_doomed, delete, inventory};
use serde_json::json;

use crate::lab::{Lab, example, ready, settings, want};

async fn refusals(lab: &Lab, names: &[&str]) -> Vec<String> {
    let all = inventory(&lab.client()).await.expect("a list");
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    choose_doomed(&names, &all).1.into_iter().map(|refused| refused.trouble.message).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_made_here_can_be_deleted_and_nothing_else() {
    let lab = Lab::of(example("one-host.yaml"));
    let other = pvetalos::template::Want { image: crate::lab::image("1.11.3"), ..want("local-lvm") };
    // The role of that world is for nodes only.
    let mut world = example("one-host.yaml");
    world["acl"] = json!([
        {"path": "/", "who": "pvetalos@pve", "role": "Administrator"},
        {"path": "/", "who": "pvetalos@pve!simulator", "role": "Administrator"},
    ]);
    let full = Lab::of(world);
    drop(lab);
    assert_eq!(ready(&full.run(&[other], &settings()).await), ([9001].into(), true));
    let all = inventory(&full.client()).await.expect("a list");
    assert_eq!(all.iter().map(|listed| listed.vmid.get()).collect::<Vec<_>>(), [9000, 9001]);
    assert_eq!(all[1].dependents, Dependents::NotVisible);
    assert!(all[0].record.is_none() && all[1].record.is_some());
    let refused = refusals(&full, &["9000", "100", "home-assistant", "9001"]).await;
    assert_eq!(
        refused,
        [
            "template 9000 on pve was not made by pvetalos: its notes have no record with its number",
            "there is no template 100",
            "there is no template home-assistant",
        ]
    );
    let (doomed, _) = choose_doomed(&["talos-1.11.3-ce4c9805".to_owned(), "9001".to_owned()], &all);
    assert_eq!(doomed.len(), 1);
    delete(&full.client(), &doomed[0]).await.expect("it may go");
    assert_eq!(full.vms(), (vec![9000], vec![100]));
    delete(&full.client(), &doomed[0]).await.expect("it is gone already");
    full.assert_tidy("after deleting");
}

#[tokio::test(start_paused = true)]
async fn a_template_that_linked_clones_live_on_stays() {
    let mut world = example("fresh-host.yaml");
    world["storages"]["tank"] = json!({"type": "zfspool"});
    let lab = Lab::of(world);
    assert_eq!(ready(&lab.run(&[want("tank")], &settings()).await), ([9000].into(), true));
    let clone = pvetalos::proxmox::Request::post("/nodes/pve/qemu/9000/clone").with("newid", 105).with("full", 0);
    lab.client().send(&clone).await.expect("a clone");
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    let refused = refusals(&lab, &["9000"]).await;
    assert_eq!(refused, ["linked clones live on the disk of template 9000 on pve: 105"]);
    // The copy carries the template's own line, and is none of ours all the same.
    assert_eq!(refusals(&lab, &["105"]).await, ["there is no template 105"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_became_another_meanwhile_is_not_deleted() {
    let lab = Lab::fresh();
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
    let all = inventory(&lab.client()).await.expect("a list");
    let (doomed, _) = choose_doomed(&["9000".to_owned()], &all);
    let change = pvetalos::proxmox::Request::put("/nodes/pve/qemu/9000/config").with("description", "mine now");
    lab.client().send(&change).await.expect("a change");
    let refused = delete(&lab.client(), &doomed[0]).await.expect_err("it is not the same");
    assert!(refused.message.contains("is not what it was a moment ago"), "{refused:?}");
    assert_eq!(lab.simulator.log().count(Method::Delete, "/**"), 0);
}
