use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use super::json::problem_json;
use super::problems::draw_problem;
use crate::config::{Place, Problem, Severity};

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
}

impl Ui {
    pub fn new(color: ColorChoice, talk: Talk) -> Self {
        Self { out: AutoStream::new(io::stdout(), color), err: AutoStream::new(io::stderr(), color), talk }
    }

    /// Writes a result; the only thing that standard output ever carries.
    pub fn print(&mut self, result: &str) -> io::Result<()> {
        self.out.write_all(result.as_bytes())?;
        if !result.ends_with('\n') {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }

    /// Says a sentence to whoever watches.
    pub fn say(&mut self, sentence: &str) -> io::Result<()> {
        match self.talk {
            Talk::Text => writeln!(self.err, "{sentence}"),
            Talk::Quiet => Ok(()),
            Talk::Json => {
                tracing::info!("{sentence}");
                Ok(())
            }
        }
    }

    /// Warns of a danger, also when asked to be quiet.
    pub fn warn(&mut self, danger: &str) -> io::Result<()> {
        if self.talk == Talk::Json {
            tracing::warn!("{danger}");
            return Ok(());
        }
        writeln!(self.err, "\u{1b}[1;33mwarning\u{1b}[0m: {danger}\n")
    }

    /// Shows what is wrong, each with its place; errors even when asked to be quiet.
    pub fn show_problems(&mut self, problems: &[Problem]) -> io::Result<()> {
        for problem in problems {
            match (self.talk, problem.severity) {
                (Talk::Json, severity) => log_problem(problem, severity),
                (Talk::Quiet, Severity::Warning | Severity::Note) => {}
                _ => writeln!(self.err, "{}\n", draw_problem(problem))?,
            }
        }
        Ok(())
    }
}

fn log_problem(problem: &Problem, severity: Severity) {
    let places = problem_json(problem)["places"].to_string();
    let hint = problem.hint.as_deref().unwrap_or_default();
    let message = &problem.message;
    let first = match problem.places.first() {
        Some(Place::Part { source, span, .. }) => {
            let excerpt = source.excerpt(span);
            format!("{}:{}:{}", source.name(), excerpt.line, excerpt.column)
        }
        Some(Place::Named(name)) => name.clone(),
        None => String::new(),
    };
    match severity {
        Severity::Error => tracing::error!(place = first, places, hint, "{message}"),
        Severity::Warning => tracing::warn!(place = first, places, hint, "{message}"),
        Severity::Note => tracing::info!(place = first, places, hint, "{message}"),
    }
}
