//! A cluster from its first run to its end.

use pvetalos::plan::Verdict;

use crate::lab::{Lab, options};

#[tokio::test(start_paused = true)]
async fn five_nodes_are_made_once_and_go_again() {
    let lab = Lab::sample();
    let outcomes = lab.provision().await.expect("Proxmox answers");
    for outcome in &outcomes {
        assert!(outcome.is_done(), "{outcome:#?}");
    }
    assert_eq!(outcomes.len(), 5);
    lab.check_promises();
    assert_eq!(lab.made().len(), 5);

    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    for node in &plan.nodes {
        assert_eq!(node.verdict, Verdict::Nothing, "{node:#?}");
    }
    assert!(lab.provision().await.expect("Proxmox answers").is_empty());

    let outcomes = lab.destroy().await.expect("Proxmox answers");
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_done()).count(), 5, "{outcomes:#?}");
    assert_eq!(lab.made().len(), 0);
    lab.check_promises();
    assert!(lab.destroy().await.expect("Proxmox answers").is_empty());
}
