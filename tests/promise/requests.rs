//! How many requests the commands send.

use std::fmt::Write;

use pvetalos::apply::Outcome;
use pvetalos::proxmox::request::Method;
use pvetalos::sim::RequestLog;
use serde_json::json;

use crate::lab::{Lab, THREE_HOSTS, options, world};

const HOSTS: usize = 3;

/// A cluster of so many nodes over three hosts.
fn nodes(count: usize, numbered: bool) -> String {
    let mut text = String::from(
        "name: many\nproxmox: {vm_id_base: 4000}\nnetwork: {cidr: 10.0.0.0/16}\ndefaults:\n  talos_version: 1.12.0\n  \
         schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515\n  memory: 2048\nnodes:\n",
    );
    for at in 0..count {
        let vm_id = if numbered { format!(", vm_id: {}", 5000 + at) } else { String::new() };
        writeln!(
            text,
            "  - {{name: node-{at}, address: 10.0.1.{}, controller: {}, mac_addr: 'bc:24:11:20:00:{at:02x}'{vm_id}}}",
            at + 1,
            at < 3
        )
        .expect("writing to a string never fails");
    }
    text
}

fn lab(count: usize, numbered: bool, token: Token) -> Lab {
    let mut world = world(THREE_HOSTS);
    world["hosts"]["pve3"]["memory"] = json!("128G");
    let lab = Lab::new(world, &nodes(count, numbered));
    match token {
        Token::Least => lab,
        Token::Admin => lab.with_token("root@pam!admin", "22222222-2222-4222-8222-222222222222"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    /// It may do what VMs take, and not set the order in which they start.
    Least,
    Admin,
}

/// What all nodes share: looks at the hosts' task lists, at logs, and at the list of all guests.
fn shared(log: &RequestLog) -> usize {
    let polls = ["/nodes/*/tasks", "/nodes/*/tasks/*/status", "/nodes/*/tasks/*/log", "/cluster/resources"];
    polls.iter().map(|path| log.count(Method::Get, path)).sum()
}

/// Provisions, and says how many requests looking, making and looking again took.
async fn provisioned(count: usize, numbered: bool, token: Token) {
    let lab = lab(count, numbered, token);
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    let looking = lab.simulator.log().total();
    lab.simulator.clear_log();
    let outcomes = lab.apply(&plan).await;
    assert!(outcomes.len() == count && outcomes.iter().all(Outcome::is_done), "{outcomes:#?}");
    let log = lab.simulator.log();
    let (total, shared) = (log.total(), shared(&log));
    let kind = if numbered { "declared" } else { "automatic" };
    let lists = log.count(Method::Get, "/cluster/resources");
    println!(
        "{count} new nodes, {kind} VMIDs, {token:?} token: {looking} requests before, {} in making them ({:.1} a node and {shared} shared, \
         {lists} of them lists of all guests)",
        total,
        per_node(total - shared, count)
    );
    // That the start order is not theirs to set is learnt by a refused write, and another look, of those who are the
    // first to write: no more than there are requests at once.
    let learning = if token == Token::Least { 2 * 4 } else { 0 };
    assert!(total - shared <= 8 * count + learning, "{:#?}", log.counts());
    assert!(log.most_in_flight() <= 4, "{}", log.most_in_flight());

    lab.simulator.clear_log();
    let again = lab.provision().await.expect("Proxmox answers");
    assert!(again.is_empty(), "{again:#?}");
    let log = lab.simulator.log();
    println!("{count} nodes, nothing to do: {} requests", log.total());
    assert!(log.total() <= count + 2 * HOSTS + 3, "{:#?}", log.counts());
    lab.check_promises();
}

fn per_node(requests: usize, count: usize) -> f64 {
    let number = |number: usize| f64::from(u32::try_from(number).expect("a small number"));
    number(requests) / number(count)
}

#[tokio::test(start_paused = true)]
async fn a_new_node_costs_at_most_eight_requests() {
    for token in [Token::Admin, Token::Least] {
        provisioned(3, true, token).await;
        provisioned(3, false, token).await;
    }
}

#[tokio::test(start_paused = true)]
async fn fifty_new_nodes_cost_no_more_each_than_three() {
    provisioned(50, true, Token::Admin).await;
    provisioned(50, false, Token::Admin).await;
    provisioned(50, false, Token::Least).await;
}
