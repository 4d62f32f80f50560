use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use super::problems::draw_problem;
use crate::config::{Place, Problem, Severity};
use crate::model::made_printable;

/// How standard error speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Sentences and drawings.
    Text,
    /// The same without what is not an error.
    Quiet,
    /// One JSON object a line, through the log.
    Json,
}

/// The gate through which everything goes that a person or a program reads.
#[derive(Debug)]
pub struct Ui {
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    talk: Talk,
    /// Whoever read our results had enough; how the run ends does not change by that.
    closed: bool,
}

impl Ui {
    pub fn new(color: ColorChoice, talk: Talk) -> Self {
        let (out, err) = (AutoStream::new(io::stdout(), color), AutoStream::new(io::stderr(), color));
        Self { out, err, talk, closed: false }
    }

    /// Writes a result for programs; nothing else than results ever goes to standard output.
    pub fn print(&mut self, result: &str) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let end = if result.ends_with('\n') { "" } else { "\n" };
        match write!(self.out, "{result}{end}").and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }

    /// Writes a result for people, in which nothing steers the terminal.
    pub fn show(&mut self, result: &str) -> io::Result<()> {
        self.print(&made_printable(result))
    }

    /// Says a sentence to whoever watches.
    pub fn say(&mut self, sentence: &str) {
        match self.talk {
            Talk::Text => self.talk(sentence),
            Talk::Quiet => {}
            Talk::Json => tracing::info!("{sentence}"),
        }
    }

    /// Warns of a danger, also when asked to be quiet.
    pub fn warn(&mut self, danger: &str) {
        match self.talk {
            Talk::Json => tracing::warn!("{danger}"),
            Talk::Text | Talk::Quiet => self.talk(&format!("\u{1b}[1;33mwarning\u{1b}[0m: {danger}\n")),
        }
    }

    /// Shows what is wrong, each with its place; errors even when asked to be quiet.
    pub fn show_problems(&mut self, problems: &[Problem]) {
        for problem in problems {
            match (self.talk, problem.severity) {
                (Talk::Json, severity) => log_problem(problem, severity),
                (Talk::Quiet, Severity::Warning | Severity::Note) => {}
                _ => self.talk(&format!("{}\n", draw_problem(problem))),
            }
        }
    }

    /// Writes a question and leaves the rest of its line for the answer.
    pub(super) fn prompt(&mut self, question: &str) {
        drop(write!(self.err, "{question}").and_then(|()| self.err.flush()));
    }

    /// Talk is a courtesy: when nobody can hear it, the work goes on.
    fn talk(&mut self, text: &str) {
        drop(writeln!(self.err, "{text}"));
    }
}

fn log_problem(problem: &Problem, severity: Severity) {
    let place = match problem.places.first() {
        Some(Place::Part { source, span, .. }) => {
            let (line, column) = source.position(span);
            format!("{}:{line}:{column}", source.name())
        }
        Some(Place::Named(name)) => name.clone(),
        None => String::new(),
    };
    let (message, hint) = (&problem.message, problem.hint.as_deref().unwrap_or_default());
    match severity {
        Severity::Error => tracing::error!(place, hint, "{message}"),
        Severity::Warning => tracing::warn!(place, hint, "{message}"),
        Severity::Note => tracing::info!(place, hint, "{message}"),
    }
}
