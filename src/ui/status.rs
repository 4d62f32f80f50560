use comfy_table::{Table, presets};
use serde_json::Value;

use super::json::versioned;
use super::page::{Page, Tone};
use crate::status::{NodeStatus, Status};
use crate::talos::NodeState;

/// How a cluster is, for people: a row for every node, what is wrong, and a last line that counts.
pub fn status_page(status: &Status, width: usize) -> Page {
    let mut page = Page::new(width);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NODE", "ROLE", "VMID", "HOST", "POWER", "TALOS", "ADDRESS", "DRIFT", "REBOOT"]);
    for node in &status.nodes {
        table.add_row(row(node));
    }
    // The preset leaves a space before every line and pads after it.
    let mut lines = table.lines();
    if let Some(header) = lines.next() {
        page.put(Tone::Faint, header.trim()).end_line();
    }
    for (node, line) in status.nodes.iter().zip(lines) {
        page.put(if node.healthy { Tone::Plain } else { Tone::Bad }, line.trim()).end_line();
    }
    add_sentences(&mut page, status);
    if !status.left_over.is_empty() {
        page.gap().put(Tone::Strong, "Left over").put(Tone::Plain, ", because their nodes are not in the files:");
        page.end_line();
        for left in &status.left_over {
            page.put(Tone::Plain, &format!("  {}: VM {} on {}", left.node, left.vmid, left.host)).end_line();
        }
    }
    if !status.notes.is_empty() {
        page.gap();
    }
    for note in &status.notes {
        page.paragraph(0, "note: ", Tone::Plain, note);
    }
    let waiting =
        status.nodes.iter().filter(|node| node.vmid.is_some() && node.talos == Some(NodeState::Maintenance)).count();
    if waiting > 0 {
        let next = "`pvetalos output --talosctl` prints the commands";
        page.gap();
        page.paragraph(
            0,
            "next: ",
            Tone::Plain,
            &format!("{waiting} in maintenance mode wait for a configuration; {next}"),
        );
    }
    let healthy = status.nodes.iter().filter(|node| node.healthy).count();
    let tone = if status.healthy { Tone::Good } else { Tone::Bad };
    page.gap().put(tone, &format!("{healthy} of {} nodes are healthy", status.nodes.len())).end_line();
    page
}

/// What is wrong with nodes, and what should be known about them.
fn add_sentences(page: &mut Page, status: &Status) {
    let speaks = |node: &&NodeStatus| !node.findings.is_empty() || !node.notes.is_empty();
    let names = status.nodes.iter().filter(speaks).map(|node| node.node.as_str().len()).max();
    let Some(names) = names else {
        return;
    };
    page.gap();
    for node in status.nodes.iter().filter(speaks) {
        let name = format!("{:<names$}  ", node.node.as_str());
        let sentences = node.findings.iter().map(|finding| (finding, Tone::Bad));
        let sentences = sentences.chain(node.notes.iter().map(|note| (note, Tone::Faint)));
        for (index, (sentence, tone)) in sentences.enumerate() {
            let lead = if index == 0 { name.clone() } else { " ".repeat(name.len()) };
            page.paragraph(0, &lead, tone, sentence);
        }
    }
}

fn row(node: &NodeStatus) -> [String; 9] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let list = |options: &[String]| match options {
        [] => "-".to_owned(),
        [first, second, third, rest @ ..] if !rest.is_empty() => format!("{first}, {second}, {third}, +{}", rest.len()),
        few => few.join(", "),
    };
    [
        node.node.to_string(),
        node.role.to_string(),
        or_dash(node.vmid.map(|vmid| vmid.to_string())),
        or_dash(node.host.as_ref().map(ToString::to_string)),
        or_dash(node.power.clone()),
        or_dash(node.talos.map(|state| match &node.talos_version {
            Some(version) => format!("{state} {version}"),
            None => state.to_string(),
        })),
        node.address.to_string(),
        list(&node.drift),
        list(&node.waiting),
    ]
}

/// The same for programs.
pub fn status_json(status: &Status) -> Value {
    versioned(status)
}
