use comfy_table::{Table, presets};

use super::page::{Page, Tone};
use super::progress::seconds;
use crate::apply::{End, Failure, Outcome};
use crate::plan::{NodePlan, Plan, Verdict};

/// What came of a plan: a row for every node that something was done with, every failure with its hint, what to do
/// next, and a last line that counts.
pub fn provisioned_page(plan: &Plan, outcomes: &[Outcome], width: usize) -> Page {
    let planned = |outcome: &Outcome| plan.nodes.iter().find(|node| node.node == outcome.node);
    let mut page = Page::new(width);
    add_table(&mut page, outcomes, |outcome| planned(outcome).map_or("done", |node| done(&node.verdict)));
    add_failures(&mut page, outcomes);
    if outcomes.iter().filter(|outcome| outcome.is_done()).filter_map(planned).any(is_made) {
        page.gap()
            .put(Tone::Strong, "Next")
            .put(Tone::Plain, ", `pvetalos output --talosctl` prints the commands that");
        page.put(Tone::Plain, " make a cluster of them").end_line();
    }
    let rest = plan.nodes.iter().filter(|node| node.selected && !node.acts());
    let (failing, unchanged): (Vec<&NodePlan>, Vec<&NodePlan>) = rest.partition(|node| node.verdict.fails());
    let held_back = plan.nodes.iter().filter(|node| node.selected && !node.held_back.is_empty()).count();
    let more = [(unchanged.len(), "unchanged"), (failing.len(), "refused"), (held_back, "held back in part")];
    add_counts(&mut page, outcomes, &more);
    page
}

/// What came of destroying.
pub fn destroyed_page(outcomes: &[Outcome], width: usize) -> Page {
    let mut page = Page::new(width);
    add_table(&mut page, outcomes, |_| "destroyed");
    add_failures(&mut page, outcomes);
    add_counts(&mut page, outcomes, &[]);
    page
}

fn done(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Create(_) => "created",
        Verdict::Join => "joined",
        Verdict::Finish => "finished",
        Verdict::Update => "changed",
        Verdict::Start => "started",
        Verdict::Adopt => "adopted",
        _ => "done",
    }
}

/// Whether it is new, so that it has no configuration yet.
fn is_made(node: &NodePlan) -> bool {
    node.start && matches!(node.verdict, Verdict::Create(_) | Verdict::Join | Verdict::Finish)
}

fn add_table(page: &mut Page, outcomes: &[Outcome], done: impl Fn(&Outcome) -> &'static str) {
    let with_talos = outcomes.iter().any(|outcome| matches!(outcome.end, End::Done { talos: Some(_) }));
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["NODE", "VMID", "HOST", "RESULT"];
    header.extend(with_talos.then_some("TALOS"));
    header.push("TIME");
    table.set_header(header);
    for outcome in outcomes {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let (result, talos) = match &outcome.end {
            End::Done { talos } => (done(outcome), talos.clone()),
            End::Failed { .. } => ("failed", None),
            End::TimedOut { .. } => ("timed out", None),
            End::Interrupted { .. } => ("interrupted", None),
        };
        let mut row = vec![
            outcome.node.to_string(),
            or_dash(outcome.vmid.map(|vmid| vmid.to_string())),
            or_dash(outcome.host.as_ref().map(ToString::to_string)),
            result.to_owned(),
        ];
        row.extend(with_talos.then(|| or_dash(talos)));
        row.push(seconds(outcome.took));
        table.add_row(row);
    }
    // The preset leaves a space before every line and pads after it.
    let mut lines = table.lines();
    if let Some(header) = lines.next() {
        page.put(Tone::Faint, header.trim()).end_line();
    }
    for (outcome, line) in outcomes.iter().zip(lines) {
        page.put(if outcome.is_done() { Tone::Plain } else { Tone::Bad }, line.trim()).end_line();
    }
}

/// What went wrong, with the end of the task's log and what to do; then what should be known about the rest.
fn add_failures(page: &mut Page, outcomes: &[Outcome]) {
    for outcome in outcomes {
        let node = &outcome.node;
        match &outcome.end {
            End::Failed { failure } => {
                add_failure(page, &format!("{node} failed while {}", failure.step.doing()), failure);
            }
            End::TimedOut { failure } => add_failure(page, &format!("{node} timed out"), failure),
            End::Interrupted { running: Some(upid) } => {
                page.gap().put(Tone::Bad, &format!("! {node} was interrupted")).end_line();
                let text = format!("this task goes on without us, and the next run joins it: {upid}");
                page.paragraph(2, "", Tone::Plain, &text);
            }
            End::Interrupted { running: None } | End::Done { .. } => {}
        }
    }
    let warned: Vec<(&Outcome, &String)> =
        outcomes.iter().flat_map(|outcome| outcome.warnings.iter().map(move |warning| (outcome, warning))).collect();
    let mut told: Vec<&String> = Vec::new();
    for (outcome, warning) in &warned {
        if told.contains(warning) {
            continue;
        }
        if told.is_empty() {
            page.gap();
        }
        told.push(warning);
        let others = warned.iter().filter(|(_, other)| other == warning).count() - 1;
        let others = if others == 0 { String::new() } else { format!(" (and {others} more)") };
        page.paragraph(0, "warning: ", Tone::Change, &format!("{}{others}: {warning}", outcome.node));
    }
}

fn add_failure(page: &mut Page, heading: &str, failure: &Failure) {
    page.gap().put(Tone::Bad, &format!("! {heading}")).end_line();
    page.paragraph(2, "", Tone::Plain, &failure.message);
    for line in &failure.log {
        page.put(Tone::Faint, &format!("  | {line}")).end_line();
    }
    page.paragraph(2, "hint: ", Tone::Plain, &failure.hint);
}

fn add_counts(page: &mut Page, outcomes: &[Outcome], more: &[(usize, &str)]) {
    let count = |is: fn(&End) -> bool| outcomes.iter().filter(|outcome| is(&outcome.end)).count();
    let done = count(|end| matches!(end, End::Done { .. }));
    let rest = [
        (count(|end| matches!(end, End::Failed { .. })), "failed"),
        (count(|end| matches!(end, End::TimedOut { .. })), "timed out"),
        (count(|end| matches!(end, End::Interrupted { .. })), "interrupted"),
    ];
    let mut parts = vec![format!("{done} done")];
    parts
        .extend(rest.iter().chain(more).filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let well = done == outcomes.len();
    page.gap().put(if well { Tone::Good } else { Tone::Bad }, &parts.join(", ")).end_line();
}
