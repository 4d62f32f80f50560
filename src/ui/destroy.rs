use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::json::versioned;
use super::page::{Page, Tone};
use crate::model::{Endpoint, NodeName};
use crate::plan::{DestroyPlan, Target};

/// What would be destroyed, for people: VMs, the volumes that go and that stay, and what stands in the way. Where it
/// would be comes first; without an address it is the simulation.
pub fn destroy_page(plan: &DestroyPlan, endpoint: Option<&Endpoint>, width: usize) -> Page {
    let mut page = Page::new(width);
    let place = endpoint.map_or_else(|| "in the simulation".to_owned(), |endpoint| format!("at {endpoint}"));
    page.put(Tone::Strong, &format!("cluster {} {place}", plan.cluster)).end_line().end_line();
    let targets = plan.targets.iter().map(|target| &target.node);
    let names = targets.chain(&plan.absent).chain(plan.obstacles.iter().map(|obstacle| &obstacle.node));
    let column = names.map(|name| name.as_str().len()).max().unwrap_or(0) + 4;
    let begin = |page: &mut Page, sign: &str, tone: Tone, name: &str| {
        page.put(tone, sign).put(Tone::Strong, &format!(" {name:<0$}  ", column - 4));
    };
    for target in &plan.targets {
        begin(&mut page, "-", Tone::Bad, target.node.as_str());
        page.put(Tone::Bad, &headline(target)).end_line();
        if !target.goes.is_empty() {
            page.paragraph(column, "goes   ", Tone::Plain, &target.goes.join(", "));
        }
        for staying in &target.stays {
            page.paragraph(column, "stays  ", Tone::Faint, &format!("{}: {}", staying.volume, staying.why));
        }
    }
    for name in &plan.absent {
        begin(&mut page, "=", Tone::Faint, name.as_str());
        match plan.left_over {
            Some(_) => page.put(Tone::Doubt, "nothing is left over under this name").end_line(),
            None => page.put(Tone::Faint, "has no VM of ours").end_line(),
        };
    }
    for obstacle in &plan.obstacles {
        begin(&mut page, "!", Tone::Bad, obstacle.node.as_str());
        page.put(Tone::Bad, &obstacle.message).end_line();
        page.put(Tone::Plain, &format!("{:column$}fix: {}", "", obstacle.fix)).end_line();
    }
    if let Some(left_over) = plan.left_over.as_ref().filter(|_| !plan.absent.is_empty()) {
        page.gap().paragraph(0, "", Tone::Plain, &left_over_line(left_over));
    }
    page.gap().put(Tone::Strong, &counts_line(plan)).end_line();
    page
}

fn headline(target: &Target) -> String {
    let Target { vmid, host, power, ha_managed, purge, .. } = target;
    let ha = if *ha_managed { ", managed by HA" } else { "" };
    let purge = if *purge { ", also taken out of backup jobs, replication and HA" } else { "" };
    format!("VM {vmid} on {host}, {power}{ha}{purge}")
}

/// A name that is gone cannot be told from one that never was, so that the reader is shown what there is.
fn left_over_line(names: &BTreeSet<NodeName>) -> String {
    let names: Vec<&str> = names.iter().map(NodeName::as_str).collect();
    match names.as_slice() {
        [] => "Nothing of this cluster is left over.".to_owned(),
        names => format!("What is left over of this cluster: {}", names.join(", ")),
    }
}

fn counts_line(plan: &DestroyPlan) -> String {
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let volumes = plan.targets.iter().map(|target| target.goes.len()).sum();
    match (plan.targets.len(), plan.obstacles.len()) {
        (0, 0) => "Destroy: nothing to destroy".to_owned(),
        (vms, 0) => format!("Destroy: {} with {}", plural(vms, "VM"), plural(volumes, "volume")),
        (_, obstacles) => {
            let stand = if obstacles == 1 { "stands" } else { "stand" };
            format!("Destroy: nothing is touched, because {} {stand} in the way", plural(obstacles, "obstacle"))
        }
    }
}

/// The same for programs. In the simulation the address is null.
pub fn destroy_json(plan: &DestroyPlan, endpoint: Option<&Endpoint>) -> Value {
    let mut document = versioned(plan);
    document["endpoint"] = json!(endpoint);
    document
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;
    use std::str::FromStr;

    use super::*;
    use crate::model::{Mark, VmId};
    use crate::plan::{Identity, Obstacle, Staying};

    fn parsed<T: FromStr<Err: Display>>(text: &str) -> T {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn target(name: &str, number: u32) -> Target {
        let (node, vmid): (NodeName, VmId) = (parsed(name), VmId::new(number).expect("it is the number of a VM"));
        let mark = Mark { cluster: parsed("home"), node: node.clone(), vmid };
        Target {
            node,
            vmid,
            host: parsed("pve1"),
            power: "running".to_owned(),
            identity: Identity { mark, uuid: None },
            goes: (0..3).map(|disk| format!("local-lvm:vm-{number}-disk-{disk}")).collect(),
            stays: Vec::new(),
            ha_managed: false,
            purge: false,
        }
    }

    fn plan(targets: Vec<Target>) -> DestroyPlan {
        DestroyPlan {
            cluster: parsed("home"),
            targets,
            absent: vec![parsed("worker-2")],
            left_over: None,
            obstacles: Vec::new(),
        }
    }

    fn page(plan: &DestroyPlan) -> String {
        destroy_page(plan, Some(&parsed("pve.example.com")), 80).plain()
    }

    #[test]
    fn the_first_line_and_the_document_tell_where_it_would_be() {
        let plan = plan(Vec::new());
        let endpoint = parsed("https://pve.example.com");
        let first = |endpoint| destroy_page(&plan, endpoint, 80).plain().lines().next().map(str::to_owned);
        assert_eq!(first(Some(&endpoint)).as_deref(), Some("cluster home at https://pve.example.com:8006"));
        assert_eq!(first(None).as_deref(), Some("cluster home in the simulation"));
        assert_eq!(destroy_json(&plan, Some(&endpoint))["endpoint"], "https://pve.example.com:8006");
        assert_eq!(destroy_json(&plan, None)["endpoint"], Value::Null);
    }

    #[test]
    fn what_goes_and_what_stays_is_named() {
        let staying = |volume: &str, why: &str| Staying { volume: volume.to_owned(), why: why.to_owned() };
        let holds = Target {
            stays: vec![
                staying("ceph:vm-9999-pvc-1", "it belongs to somebody else"),
                staying("local-lvm:vm-4000-disk-9", "the VM does not use it"),
            ],
            ha_managed: true,
            purge: true,
            ..target("cp-1", 4000)
        };
        insta::assert_snapshot!(page(&plan(vec![holds, target("worker-1", 4001)])), @"
        cluster home at https://pve.example.com:8006

        - cp-1      VM 4000 on pve1, running, managed by HA, also taken out of backup jobs, replication and HA
                    goes   local-lvm:vm-4000-disk-0, local-lvm:vm-4000-disk-1,
                           local-lvm:vm-4000-disk-2
                    stays  ceph:vm-9999-pvc-1: it belongs to somebody else
                    stays  local-lvm:vm-4000-disk-9: the VM does not use it
        - worker-1  VM 4001 on pve1, running
                    goes   local-lvm:vm-4001-disk-0, local-lvm:vm-4001-disk-1,
                           local-lvm:vm-4001-disk-2
        = worker-2  has no VM of ours

        Destroy: 2 VMs with 6 volumes
        ");
    }

    #[test]
    fn a_name_under_which_nothing_is_left_over_is_told_with_those_that_are() {
        let asked = |names: &[&str]| {
            let left_over = Some(names.iter().map(|name| parsed(name)).collect());
            page(&DestroyPlan { left_over, ..plan(Vec::new()) })
        };
        insta::assert_snapshot!(asked(&["worker-8", "worker-9"]), @"
        cluster home at https://pve.example.com:8006

        = worker-2  nothing is left over under this name

        What is left over of this cluster: worker-8, worker-9

        Destroy: nothing to destroy
        ");
        insta::assert_snapshot!(asked(&[]), @"
        cluster home at https://pve.example.com:8006

        = worker-2  nothing is left over under this name

        Nothing of this cluster is left over.

        Destroy: nothing to destroy
        ");
    }

    #[test]
    fn an_obstacle_is_told_with_what_to_do() {
        let obstacle = Obstacle {
            node: parsed("cp-1"),
            message: "VM 4000 is protected".to_owned(),
            fix: "switch it off: `qm set 4000 --protection 0` on pve1".to_owned(),
        };
        let plan = DestroyPlan { obstacles: vec![obstacle], ..plan(vec![target("cp-1", 4000)]) };
        insta::assert_snapshot!(page(&plan), @"
        cluster home at https://pve.example.com:8006

        - cp-1      VM 4000 on pve1, running
                    goes   local-lvm:vm-4000-disk-0, local-lvm:vm-4000-disk-1,
                           local-lvm:vm-4000-disk-2
        = worker-2  has no VM of ours
        ! cp-1      VM 4000 is protected
                    fix: switch it off: `qm set 4000 --protection 0` on pve1

        Destroy: nothing is touched, because 1 obstacle stands in the way
        ");
    }
}
