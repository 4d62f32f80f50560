use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};

use super::page::Page;
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
    /// Whether lines may be redrawn; with a log between them they would be a mess.
    may_draw: bool,
}

impl Ui {
    pub fn new(color: ColorChoice, talk: Talk) -> Self {
        let (out, err) = (AutoStream::new(io::stdout(), color), AutoStream::new(io::stderr(), color));
        Self { out, err, talk, closed: false, may_draw: true }
    }

    /// Draws nothing that moves: there will be more to read than that.
    #[must_use]
    pub fn without_drawings(self) -> Self {
        Self { may_draw: false, ..self }
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

    /// Writes a result for people that has colours of its own.
    pub fn show_page(&mut self, page: &Page) -> io::Result<()> {
        self.print(page.painted())
    }

    /// Makes room for a result that takes the place of the one before: on a terminal literally, elsewhere below a line.
    pub fn begin_block(&mut self, is_first: bool) -> io::Result<()> {
        if io::stdout().is_terminal() {
            // To the corner, and everything away; also when no colours are wanted.
            io::stdout().write_all(b"\x1b[H\x1b[2J\x1b[3J")
        } else if is_first {
            Ok(())
        } else {
            self.print(&"-".repeat(40))
        }
    }

    /// Whether there is a terminal with room for so many lines that are redrawn, and nothing else to be said there.
    pub(super) fn has_room_for(&self, lines: usize) -> bool {
        let rows = terminal_size::terminal_size_of(io::stderr()).map_or(0, |(_, rows)| usize::from(rows.0));
        self.may_draw && self.talk == Talk::Text && io::stderr().is_terminal() && lines + 4 <= rows
    }

    /// Whether somebody is there who can answer.
    pub fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks, and waits for a line; an end of input is an empty one.
    ///
    /// The line is read by a thread of its own that nobody waits for: whoever presses Ctrl-C instead of an answer must
    /// not have to press Enter too.
    pub async fn ask(&mut self, question: &str) -> String {
        drop(write!(self.err, "{} ", made_printable(question)).and_then(|()| self.err.flush()));
        let (answer, answered) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            drop(io::stdin().read_line(&mut line));
            drop(answer.send(line));
        });
        answered.await.unwrap_or_default().trim().to_owned()
    }

    /// Whether nobody reads our results any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// How wide a page for standard output should be. Whatever is not a terminal gets what fits most of them.
    pub fn width(&self) -> usize {
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(100, |(width, _)| usize::from(width.0));
        width.clamp(60, 120)
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

    /// Shows why nothing more can be done, and what to do about it.
    pub fn show_failure(&mut self, message: &str, hint: &str) {
        let severity = Severity::Error;
        let hint = Some(hint.to_owned());
        self.show_problems(&[Problem { severity, message: message.to_owned(), places: Vec::new(), hint }]);
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
