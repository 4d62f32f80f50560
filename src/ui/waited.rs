use std::fmt::Write;

use comfy_table::{Table, presets};
use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::talos::{Cause, End, Identity, NodeState, Phase, Target, Waited};

/// What became of a node, and why it is not where it should be.
#[derive(Debug)]
pub struct NodeReport<'t> {
    pub target: &'t Target,
    pub waited: Waited,
    /// None for a node that is where it should be.
    pub causes: Vec<Cause>,
}

/// A row a node, then what differs from what was asked for, then what is wrong and what to check.
pub fn waited_text(reports: &[NodeReport<'_>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NAME", "ADDRESS", "STATE", "TALOS", "IDENTITY", "AFTER"]);
    for NodeReport { target, waited, .. } in reports {
        let sighting = &waited.sighting;
        table.add_row([
            target.name.clone(),
            target.address.to_string(),
            sighting.state.to_string(),
            sighting.version().unwrap_or("-").to_owned(),
            identity(&waited.sighting).to_owned(),
            format!("{} s", waited.took.as_secs()),
        ]);
    }
    let mut text = String::new();
    // The preset leaves a space before every line and pads after it.
    for line in table.lines() {
        writeln!(text, "{}", line.trim()).expect("writing to a string never fails");
    }
    for report in reports {
        text.push_str(&details(report));
    }
    let waits = |report: &NodeReport<'_>| report.waited.sighting.state == NodeState::Maintenance;
    if reports.iter().any(waits) {
        text.push_str("\nnext: `pvetalos output --talosctl` prints the commands that make a cluster of them\n");
    }
    text
}

fn details(report: &NodeReport<'_>) -> String {
    let NodeReport { target, waited, causes } = report;
    let name = &target.name;
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string never fails");
    for check in waited.sighting.findings() {
        line(format!("\n{name}: {check}"));
        if let Some(fix) = check.fix() {
            line(format!("  fix: {fix}"));
        }
    }
    if waited.end != End::Reached {
        let ending = if waited.end == End::TimedOut { "timed out" } else { "gave up" };
        line(format!("\n{name}: {ending} after {} s: {}", waited.took.as_secs(), waited.history));
        line(format!("  last seen: {}", waited.sighting.evidence));
        for Cause { certainty, what, check } in causes {
            line(format!("  {certainty}: {what}"));
            line(format!("    check: {check}"));
        }
    }
    text
}

fn identity(sighting: &crate::talos::Sighting) -> &'static str {
    match (sighting.state, sighting.identity()) {
        (NodeState::Maintenance | NodeState::Configured, Identity::Verified) => "verified",
        (NodeState::Maintenance | NodeState::Configured, Identity::Unproven) => "unproven",
        (NodeState::WrongHost, _) | (_, Identity::Another) => "another machine",
        _ => "-",
    }
}

/// The same for programs.
pub fn waited_json(reports: &[NodeReport<'_>]) -> Value {
    let reached = reports.iter().all(|report| report.waited.end == End::Reached);
    let nodes: Vec<Value> = reports.iter().map(node_json).collect();
    json!({ "format_version": FORMAT_VERSION, "reached": reached, "nodes": nodes })
}

fn node_json(report: &NodeReport<'_>) -> Value {
    let NodeReport { target, waited, causes } = report;
    let sighting = &waited.sighting;
    let phase = |phase: &Phase| {
        json!({
            "state": phase.state,
            "evidence": phase.evidence,
            "from_seconds": phase.from.as_secs_f64(),
            "to_seconds": phase.to.as_secs_f64(),
            "looks": phase.looks,
        })
    };
    json!({
        "name": target.name,
        "address": target.address,
        "state": sighting.state,
        "reached": waited.end == End::Reached,
        "identity": identity(sighting),
        "talos_version": sighting.version(),
        "evidence": sighting.evidence,
        "next_step": sighting.next_step(target),
        "seconds": waited.took.as_secs_f64(),
        "checks": sighting.checks,
        "history": waited.history.phases().iter().map(phase).collect::<Vec<_>>(),
        "causes": causes,
    })
}
