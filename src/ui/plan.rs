use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::json::FORMAT_VERSION;
use super::page::{Page, Tone};
use crate::model::{CloneMode, NodeName};
use crate::plan::{Creation, Difference, NodePlan, Plan, Verdict};
use crate::preflight::{Finding, State};

/// A plan for people: a sign for every node, what will be done and why, and a last line that counts.
///
/// `+` comes into being, `~` changes, `=` stays, `!` is refused, `?` is not known or a question.
pub fn plan_page(plan: &Plan, width: usize) -> Page {
    let mut view = View { page: Page::new(width), column: name_column(plan), plan, refusals: BTreeMap::new() };
    for node in &plan.nodes {
        view.node(node);
    }
    view.left_over();
    view.findings();
    view.notes();
    view.page.gap();
    view.page.put(Tone::Strong, &counts_line(plan)).end_line();
    view.page
}

/// The same for programs.
pub fn plan_json(plan: &Plan) -> Value {
    let mut document = Map::new();
    document.insert("format_version".to_owned(), json!(FORMAT_VERSION));
    document.insert("acts".to_owned(), json!(plan.acts()));
    document.insert("counts".to_owned(), Counts::of(plan).to_json());
    let plan = serde_json::to_value(plan).expect("a plan has string keys and no failing serializer");
    if let Value::Object(plan) = plan {
        document.extend(plan);
    }
    Value::Object(document)
}

fn name_column(plan: &Plan) -> usize {
    let names = plan.nodes.iter().map(|node| &node.node).chain(plan.left_over.iter().map(|left| &left.node));
    // A sign and a space before the name, two spaces behind it.
    names.map(|name| name.as_str().len()).max().unwrap_or(0) + 4
}

struct View<'a> {
    page: Page,
    /// Where what is said about a node begins.
    column: usize,
    plan: &'a Plan,
    /// Who was refused for which reasons: what is wrong with all is said once.
    refusals: BTreeMap<Vec<String>, &'a NodeName>,
}

impl<'a> View<'a> {
    fn node(&mut self, node: &'a NodePlan) {
        let (sign, tone) = sign(&node.verdict);
        let tone = if node.selected { tone } else { Tone::Faint };
        self.page.put(tone, sign).put(Tone::Plain, " ");
        let width = self.column - 4;
        self.page.put(Tone::Strong, &format!("{:<width$}", node.node.as_str())).put(Tone::Plain, "  ");
        self.page.put(tone, &headline(node));
        if !node.selected {
            self.page.put(Tone::Faint, " (not selected)");
        }
        self.page.end_line();
        match &node.verdict {
            Verdict::Create(creation) => self.say(Tone::Faint, &how(node, creation)),
            Verdict::Join => self.say(Tone::Faint, "somebody, perhaps another run, is only just making it"),
            Verdict::Finish => self.say(Tone::Faint, "it was cloned, and never configured to its end"),
            Verdict::Adopt => self.say(Tone::Faint, "it gets our mark and tags; nothing else changes"),
            Verdict::Adoptable { reason } | Verdict::Unknown { reason } | Verdict::Conflict { reason } => {
                self.say(Tone::Plain, reason);
            }
            Verdict::Refuse { reasons } => self.reasons(node, reasons),
            _ => {}
        }
        self.differences(0, &node.differences);
        if !node.held_back.is_empty() {
            self.say(Tone::Bad, "held back, because it interrupts the node (--disruptive does it):");
            self.differences(2, &node.held_back);
        }
        if !node.waiting.is_empty() {
            let what = node.waiting.join(", ");
            let text = format!("after a reboot: {what} (--disruptive switches it off and on)");
            self.say(Tone::Faint, &text);
        }
        for note in &node.notes {
            self.page.paragraph(self.column, "· ", Tone::Faint, note);
        }
    }

    fn say(&mut self, tone: Tone, text: &str) {
        self.page.paragraph(self.column, "", tone, text);
    }

    /// What speaks against a node. What the preflight found stands below, once, with what to do about it.
    fn reasons(&mut self, node: &'a NodePlan, reasons: &[String]) {
        if let Some(earlier) = self.refusals.get(reasons) {
            let text = format!("for the same {} as {earlier}", if reasons.len() == 1 { "reason" } else { "reasons" });
            self.say(Tone::Plain, &text);
            return;
        }
        self.refusals.insert(reasons.to_vec(), &node.node);
        let is_finding = |reason: &&String| self.plan.findings.iter().any(|finding| finding.message == **reason);
        let (found, own): (Vec<&String>, Vec<&String>) = reasons.iter().partition(is_finding);
        if !found.is_empty() {
            self.say(Tone::Plain, "Proxmox is not ready for it: see what was found, below");
        }
        for reason in own {
            self.say(Tone::Plain, reason);
        }
    }

    /// A line a difference: `cores  4 → 8  ← nodes.yaml:12 vm_cores`.
    fn differences(&mut self, indent: usize, differences: &[Difference]) {
        let rows: Vec<(&str, String, &str)> = differences
            .iter()
            .map(|difference| (difference.option.as_str(), change(difference), difference.because.as_str()))
            .collect();
        let options = rows.iter().map(|(option, ..)| option.chars().count()).max().unwrap_or(0);
        let start = self.column + indent;
        let room = self.page.width().saturating_sub(start + options + 2);
        // Few changes are long; they must not push all the others' reasons off the screen.
        let short = |(_, change, because): &&(&str, String, &str)| {
            change.chars().count() + because.chars().count() + 4 <= room && change.chars().count() <= 40
        };
        let changes = rows.iter().filter(short).map(|(_, change, _)| change.chars().count()).max().unwrap_or(0);
        for (option, change, because) in &rows {
            self.page.put(Tone::Plain, &format!("{:start$}{option:<options$}  ", ""));
            if change.chars().count().max(changes) + because.chars().count() + 4 <= room {
                self.page.put(Tone::Change, &format!("{change:<changes$}")).put(Tone::Faint, &format!("  ← {because}"));
                self.page.end_line();
            } else {
                self.page.put(Tone::Change, change).end_line();
                self.page.paragraph(start + options + 2, "← ", Tone::Faint, because);
            }
        }
    }

    fn left_over(&mut self) {
        let left_over = &self.plan.left_over;
        let (Some(first), column) = (left_over.first(), self.column) else {
            return;
        };
        self.page.gap().put(Tone::Strong, "Left over").put(Tone::Plain, ", because their nodes are not in the files:");
        self.page.end_line();
        for left in left_over {
            let name = format!("  {:<1$}  ", left.node.as_str(), column - 4);
            self.page
                .put(Tone::Plain, &name)
                .put(Tone::Plain, &format!("VM {} on {}", left.vmid, left.host))
                .end_line();
        }
        let command = format!("`pvetalos destroy --left-over {}` removes such a VM", first.node);
        self.page.paragraph(2, "", Tone::Faint, &command);
    }

    fn findings(&mut self) {
        let findings: Vec<&Finding> = self.plan.findings.iter().filter(|finding| finding.state != State::Ok).collect();
        if findings.is_empty() {
            return;
        }
        self.page.gap().put(Tone::Strong, "Found on Proxmox").end_line();
        for finding in findings {
            add_finding(&mut self.page, finding);
        }
    }

    fn notes(&mut self) {
        if self.plan.notes.is_empty() {
            return;
        }
        self.page.gap();
        for note in &self.plan.notes {
            self.page.paragraph(0, "note: ", Tone::Plain, note);
        }
    }
}

/// A finding with its fix.
pub(super) fn add_finding(page: &mut Page, finding: &Finding) {
    let (word, tone) = match finding.state {
        State::Ok => ("ok", Tone::Good),
        State::Warning => ("warning", Tone::Change),
        State::Error => ("error", Tone::Bad),
    };
    page.paragraph(2, &format!("{word:<9}"), tone, &finding.message);
    if let Some(fix) = &finding.fix {
        // In one line, however long: it is there to be copied.
        page.put(Tone::Plain, &format!("{:11}fix: {fix}", "")).end_line();
    }
}

fn sign(verdict: &Verdict) -> (&'static str, Tone) {
    match verdict {
        Verdict::Create(_) | Verdict::Join | Verdict::Finish => ("+", Tone::Good),
        Verdict::Update | Verdict::Start | Verdict::Adopt => ("~", Tone::Change),
        Verdict::Nothing => ("=", Tone::Faint),
        Verdict::Refuse { .. } | Verdict::Conflict { .. } => ("!", Tone::Bad),
        Verdict::Adoptable { .. } | Verdict::Unknown { .. } => ("?", Tone::Doubt),
    }
}

fn headline(node: &NodePlan) -> String {
    let vm = match (node.vmid, &node.host) {
        (Some(vmid), Some(host)) => format!("VM {vmid} on {host}"),
        (Some(vmid), None) => format!("VM {vmid}"),
        (None, _) => "its VM".to_owned(),
    };
    let start = if node.start { ", then start it" } else { "" };
    match &node.verdict {
        Verdict::Create(_) => format!("create {vm}: {} at {}", node.role, node.address),
        Verdict::Join => format!("join {vm}"),
        Verdict::Finish => format!("finish {vm}{start}"),
        Verdict::Update if node.power_cycle => format!("change {vm}, and switch it off and on"),
        Verdict::Update => format!("change {vm}{start}"),
        Verdict::Start => format!("start {vm}"),
        Verdict::Adopt => format!("adopt {vm}"),
        Verdict::Nothing => vm,
        Verdict::Adoptable { .. } => format!("{vm} could be adopted"),
        Verdict::Unknown { .. } => "cannot be seen".to_owned(),
        Verdict::Refuse { .. } => match node.vmid {
            Some(_) => format!("{vm}: refused"),
            None => "refused".to_owned(),
        },
        Verdict::Conflict { .. } => "in conflict".to_owned(),
    }
}

/// How a VM comes into being.
fn how(node: &NodePlan, creation: &Creation) -> String {
    let Creation { template, clone, storage, pool, host, .. } = creation;
    let elsewhere = if template.host == *host { String::new() } else { format!(" on {}", template.host) };
    let template = format!("template {} ({}){elsewhere}", template.vmid, template.name);
    let clone = match clone {
        CloneMode::Full => format!("full clone of {template} to {storage}"),
        CloneMode::Linked => format!("linked clone of {template}"),
    };
    let pool = pool.as_ref().map_or(String::new(), |pool| format!(", pool {pool}"));
    let start = if node.start { "" } else { ", not started" };
    format!("{clone}{pool}{start}")
}

/// What becomes of an option: of long values only the parts that change.
fn change(difference: &Difference) -> String {
    let none = || "(none)".to_owned();
    match (&difference.from, &difference.to) {
        (Some(from), Some(to)) if from.contains(',') && to.contains(',') => {
            let parts = |of: &str, without: &str| {
                let other: Vec<&str> = without.split(',').collect();
                let own: Vec<&str> = of.split(',').filter(|part| !other.contains(part)).collect();
                if own.is_empty() { none() } else { own.join(",") }
            };
            format!("{} → {}", parts(from, to), parts(to, from))
        }
        (from, to) => {
            format!("{} → {}", from.clone().unwrap_or_else(none), to.clone().unwrap_or_else(none))
        }
    }
}

/// How many nodes come to what.
#[derive(Debug, Default)]
struct Counts {
    create: usize,
    change: usize,
    start: usize,
    adopt: usize,
    unchanged: usize,
    refused: usize,
    unknown: usize,
    not_selected: usize,
}

impl Counts {
    fn of(plan: &Plan) -> Self {
        let mut counts = Self::default();
        for node in &plan.nodes {
            let count = match node.verdict {
                _ if !node.selected => &mut counts.not_selected,
                Verdict::Create(_) | Verdict::Join | Verdict::Finish => &mut counts.create,
                Verdict::Update => &mut counts.change,
                Verdict::Start => &mut counts.start,
                Verdict::Adopt => &mut counts.adopt,
                Verdict::Nothing => &mut counts.unchanged,
                Verdict::Refuse { .. } | Verdict::Conflict { .. } | Verdict::Adoptable { .. } => &mut counts.refused,
                Verdict::Unknown { .. } => &mut counts.unknown,
            };
            *count += 1;
        }
        counts
    }

    fn to_json(&self) -> Value {
        json!({
            "create": self.create,
            "change": self.change,
            "start": self.start,
            "adopt": self.adopt,
            "unchanged": self.unchanged,
            "refused": self.refused,
            "unknown": self.unknown,
            "not_selected": self.not_selected,
        })
    }
}

/// `Plan: 3 to create, 1 to change, 1 unchanged, 0 refused`.
fn counts_line(plan: &Plan) -> String {
    let counts = Counts::of(plan);
    let mut parts = Vec::new();
    if plan.acts() {
        parts.push(format!("{} to create", counts.create));
        parts.push(format!("{} to change", counts.change));
    } else {
        parts.push("nothing to do".to_owned());
    }
    let rare = [
        (counts.start, "to start"),
        (counts.adopt, "to adopt"),
        (counts.unknown, "unknown"),
        (counts.not_selected, "not selected"),
    ];
    let (before, after) = rare.split_at(2);
    let said = |(count, what): &(usize, &str)| (*count > 0).then(|| format!("{count} {what}"));
    parts.extend(before.iter().filter_map(said));
    parts.push(format!("{} unchanged", counts.unchanged));
    parts.push(format!("{} refused", counts.refused));
    parts.extend(after.iter().filter_map(said));
    format!("Plan: {}", parts.join(", "))
}
