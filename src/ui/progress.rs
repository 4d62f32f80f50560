use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use super::documents::Documents;
use super::gate::Ui;
use crate::apply::{End, Event, EventKind, Outcome, Step};
use crate::model::{NodeName, made_printable};

/// Tells what happens to nodes while it happens.
///
/// ```text
/// for programs   a document for every event        standard output
/// on a terminal  a line for every node, redrawn    standard error
/// elsewhere      a line for every step             standard error, or the log
/// ```
pub struct Progress<'a> {
    way: Way<'a>,
    ui: Mutex<&'a mut Ui>,
}

enum Way<'a> {
    Documents(&'a Documents),
    Live(Live),
    /// The last quarter of its step that was told about each node.
    Lines(Mutex<BTreeMap<NodeName, (Step, u8)>>),
}

impl<'a> Progress<'a> {
    /// Prepares for news about these nodes, in the order in which they are shown.
    pub fn new(ui: &'a mut Ui, documents: Option<&'a Documents>, nodes: &[&NodeName]) -> Self {
        let way = match documents {
            Some(documents) => Way::Documents(documents),
            None if ui.has_room_for(nodes.len()) => Way::Live(Live::new(nodes)),
            None => Way::Lines(Mutex::default()),
        };
        Self { way, ui: Mutex::new(ui) }
    }

    pub fn tell(&self, event: &Event) {
        match &self.way {
            // Whether somebody still reads is found out at the end; the work goes on in any case.
            Way::Documents(documents) => drop(documents.print(&mut self.ui(), &event_json(event))),
            Way::Live(live) => live.tell(event),
            Way::Lines(quarters) => {
                if let Some(line) = line(event, &mut locked(quarters)) {
                    self.ui().say(&made_printable(&line));
                }
            }
        }
    }

    /// Says a sentence to whoever watches.
    pub fn say(&self, sentence: &str) {
        match &self.way {
            Way::Live(live) => live.bars.suspend(|| self.ui().say(sentence)),
            Way::Documents(_) | Way::Lines(_) => self.ui().say(sentence),
        }
    }

    fn ui(&self) -> MutexGuard<'_, &'a mut Ui> {
        locked(&self.ui)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn event_json(event: &Event) -> Value {
    serde_json::to_value(event).expect("an event has string keys and no failing serializer")
}

/// The line that an event is worth. Percents are told by quarters.
fn line(event: &Event, quarters: &mut BTreeMap<NodeName, (Step, u8)>) -> Option<String> {
    let node = &event.node;
    match &event.kind {
        EventKind::Began { step } => {
            quarters.insert(node.clone(), (*step, 0));
            Some(format!("{node}: {}", step.doing()))
        }
        EventKind::Progress { percent } => {
            let (step, told) = quarters.get_mut(node)?;
            let quarter = percent / 25;
            if quarter <= *told || quarter == 4 {
                return None;
            }
            *told = quarter;
            Some(format!("{node}: {} {} %", step.doing(), quarter * 25))
        }
        EventKind::Warned { warning } => Some(format!("{node}: warning: {warning}")),
        EventKind::Ended { outcome } => {
            let took = if outcome.is_done() { format!(" ({})", seconds(outcome.took)) } else { String::new() };
            Some(format!("{node}: {}{took}", ending(outcome)))
        }
    }
}

/// How a node came out, in a few words.
fn ending(outcome: &Outcome) -> String {
    match &outcome.end {
        End::Done { talos: Some(talos) } => format!("done, {talos}"),
        End::Done { talos: None } => "done".to_owned(),
        End::Failed { failure } => format!("failed while {}: {}", failure.step.doing(), failure.message),
        End::TimedOut { failure } => format!("timed out: {}", failure.message),
        End::Interrupted { .. } => "interrupted".to_owned(),
    }
}

/// A time as people say it.
pub(super) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f32()),
        seconds @ 10..=99 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A line for every node, drawn again and again.
struct Live {
    bars: MultiProgress,
    lines: BTreeMap<NodeName, Line>,
}

struct Line {
    bar: ProgressBar,
    step: Mutex<Option<Step>>,
}

impl Live {
    fn new(nodes: &[&NodeName]) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        super::log::draw_around(Some(bars.clone()));
        let names = nodes.iter().map(|node| node.as_str().len()).max().unwrap_or(0);
        let line = |node: &&NodeName| {
            let bar = bars.add(ProgressBar::new_spinner().with_style(style("{spinner}")));
            bar.set_prefix(format!("{:<names$}", node.as_str()));
            bar.set_message("waiting");
            ((*node).clone(), Line { bar, step: Mutex::new(None) })
        };
        let lines = nodes.iter().map(line).collect();
        Self { bars, lines }
    }

    fn tell(&self, event: &Event) {
        let Some(Line { bar, step }) = self.lines.get(&event.node) else {
            return;
        };
        match &event.kind {
            EventKind::Began { step: begun } => {
                let first = locked(step).replace(*begun).is_none();
                if first {
                    bar.reset_elapsed();
                    bar.enable_steady_tick(Duration::from_millis(120));
                }
                bar.set_message(begun.doing());
            }
            EventKind::Progress { percent } => {
                let doing = locked(step).map_or("working", Step::doing);
                bar.set_message(format!("{doing} {percent} %"));
            }
            EventKind::Warned { warning } => {
                let text = format!("{}: warning: {warning}", event.node);
                drop(self.bars.println(made_printable(&text)));
            }
            EventKind::Ended { outcome } => {
                let text = ending(outcome);
                bar.set_style(style(if outcome.is_done() { "+" } else { "!" }));
                bar.abandon_with_message(made_printable(&text).into_owned());
            }
        }
    }
}

fn style(sign: &str) -> ProgressStyle {
    // No line fills its row: the `^C` that a terminal shows would begin a new one, and what is redrawn would be torn.
    let template = format!("{sign} {{prefix}} {{elapsed:>5}}  {{msg}}");
    ProgressStyle::with_template(&template).expect("the template is right").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
}

impl Drop for Live {
    fn drop(&mut self) {
        super::log::draw_around(None);
        for line in self.lines.values() {
            if !line.bar.is_finished() {
                line.bar.abandon();
            }
        }
        // The last line is left without an end.
        drop(writeln!(io::stderr()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::Failure;

    fn event(kind: EventKind) -> Event {
        Event { node: "cp-1".parse().expect("it is a name"), kind }
    }

    fn outcome(end: End) -> Outcome {
        let node = "cp-1".parse().expect("it is a name");
        Outcome { node, vmid: None, host: None, end, warnings: Vec::new(), took: Duration::from_millis(12_700) }
    }

    #[test]
    fn a_step_is_a_line_and_a_quarter_too() {
        let progress = |percent| EventKind::Progress { percent };
        let failure = Failure {
            step: Step::Start,
            message: "no space left".to_owned(),
            log: Vec::new(),
            hint: "make some".to_owned(),
        };
        let kinds = [
            EventKind::Began { step: Step::Clone },
            progress(3),
            progress(27),
            progress(28),
            progress(80),
            progress(100),
            EventKind::Began { step: Step::Await },
            EventKind::Warned { warning: "no start order".to_owned() },
            EventKind::Ended { outcome: outcome(End::Done { talos: Some("port open".to_owned()) }) },
            EventKind::Ended { outcome: outcome(End::Failed { failure }) },
            EventKind::Ended { outcome: outcome(End::Interrupted { running: None }) },
        ];
        let mut quarters = BTreeMap::new();
        let lines: Vec<String> = kinds.map(event).iter().filter_map(|event| line(event, &mut quarters)).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        cp-1: cloning
        cp-1: cloning 25 %
        cp-1: cloning 75 %
        cp-1: waiting for Talos
        cp-1: warning: no start order
        cp-1: done, port open (12 s)
        cp-1: failed while starting: no space left
        cp-1: interrupted
        ");
    }

    #[test]
    fn times_are_said_as_people_do() {
        assert_eq!(seconds(Duration::from_millis(7_910)), "7.9 s");
        assert_eq!(seconds(Duration::from_secs(605)), "10 min 5 s");
    }
}
