use std::time::Duration;

use pvetalos::sim::World;

use crate::lab::Lab;

#[test]
fn a_running_clone_goes_on_after_the_world_was_saved() {
    let mut lab = Lab::small();
    let upid = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "105"), ("full", "1"), ("bwlimit", "40960")]).data();
    lab.wait(Duration::from_secs(5));
    let text = lab.world.to_json().to_string();
    let mut straight = lab.finish(&upid);
    let there = lab.world.to_json();
    lab.world = World::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
    lab.now = lab.world.now();
    straight.push_str(" again");
    assert_eq!(lab.finish(&upid) + " again", straight);
    assert_eq!(lab.world.to_json(), there, "the same calls make the same world");
}

#[test]
fn the_same_seed_makes_the_same_world() {
    let story = || {
        let mut lab = Lab::small();
        lab.clone_to(105, &[("full", "1")]);
        lab.world.to_json()
    };
    assert_eq!(story(), story());
}
