//! Whatever sensible people do at the same time, the world stays in order.

use std::time::Duration;

use proptest::prelude::*;

use crate::lab::Lab;

#[derive(Clone, Debug)]
enum Deed {
    Clone { id: u32, full: bool },
    Delete { id: u32 },
    Configure { id: u32, cores: u32 },
    AddDisk { id: u32 },
    DropDisk { id: u32, force: bool },
    Resize { id: u32 },
    Start { id: u32 },
    Stop { id: u32 },
    Move { id: u32 },
    StopNewestTask,
}

fn deed() -> impl Strategy<Value = Deed> {
    let id = || 100_u32..104;
    prop_oneof![
        4 => (id(), any::<bool>()).prop_map(|(id, full)| Deed::Clone { id, full }),
        1 => id().prop_map(|id| Deed::Delete { id }),
        2 => (id(), 1_u32..9).prop_map(|(id, cores)| Deed::Configure { id, cores }),
        2 => id().prop_map(|id| Deed::AddDisk { id }),
        1 => (id(), any::<bool>()).prop_map(|(id, force)| Deed::DropDisk { id, force }),
        1 => id().prop_map(|id| Deed::Resize { id }),
        2 => id().prop_map(|id| Deed::Start { id }),
        1 => id().prop_map(|id| Deed::Stop { id }),
        1 => id().prop_map(|id| Deed::Move { id }),
        1 => Just(Deed::StopNewestTask),
    ]
}

/// Carries out a deed; refusals are part of life.
fn act(lab: &mut Lab, deed: &Deed) {
    let vm = |id: &u32| format!("/nodes/pve/qemu/{id}");
    let seen = match deed {
        Deed::Clone { id, full } => {
            let (id, full) = (id.to_string(), u8::from(*full).to_string());
            lab.post("/nodes/pve/qemu/9000/clone", &[("newid", &id), ("full", &full)])
        }
        Deed::Delete { id } => lab.delete(&vm(id), &[]),
        Deed::Configure { id, cores } => lab.put(&(vm(id) + "/config"), &[("cores", &cores.to_string())]),
        Deed::AddDisk { id } => lab.post(&(vm(id) + "/config"), &[("scsi1", "data:1")]),
        Deed::DropDisk { id, force } => {
            lab.put(&(vm(id) + "/config"), &[("delete", "scsi1"), ("force", &u8::from(*force).to_string())])
        }
        Deed::Resize { id } => lab.put(&(vm(id) + "/resize"), &[("disk", "scsi0"), ("size", "+1G")]),
        Deed::Start { id } => lab.post(&(vm(id) + "/status/start"), &[]),
        Deed::Stop { id } => lab.post(&(vm(id) + "/status/stop"), &[]),
        Deed::Move { id } => {
            lab.post(&(vm(id) + "/move_disk"), &[("disk", "scsi1"), ("storage", "local"), ("delete", "1")])
        }
        // A deletion that is stopped half-way leaves the rest of a VM with a lock, here as there.
        Deed::StopNewestTask => match lab.world.running_tasks().into_iter().rfind(|upid| !upid.contains(":qmdestroy:"))
        {
            Some(upid) => lab.delete(&format!("/nodes/pve/tasks/{upid}"), &[]),
            None => lab.get("/version"),
        },
    };
    assert!(matches!(seen.status, 200 | 400 | 500), "{deed:?}: {} {}", seen.status, seen.reason);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_volume_is_lost_and_none_is_forgotten(
        deeds in proptest::collection::vec((deed(), 0_u64..3000), 1..25),
    ) {
        let mut lab = Lab::new(&serde_json::json!({
            "hosts": { "pve": {} },
            "storages": { "local": { "type": "dir" }, "data": { "type": "lvmthin" } },
            "templates": { "9000": { "storage": "local" } },
        }));
        for (deed, pause) in &deeds {
            act(&mut lab, deed);
            lab.wait(Duration::from_millis(*pause));
        }
        lab.wait(Duration::from_mins(10));
        prop_assert_eq!(lab.world.check(), Vec::<String>::new());
        prop_assert_eq!(lab.world.running_tasks(), Vec::<String>::new());
        prop_assert_eq!(lab.world.next_event(), None);
    }
}
