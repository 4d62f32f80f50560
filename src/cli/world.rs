//! Worlds in files, for everybody who simulates.

use std::error::Error;
use std::path::Path;

use crate::config::{Place, Problem, Severity, parse_document, plain_words, read_document};
use crate::proxmox::with_causes;
use crate::sim::{WorldFile, WorldFileError};

/// The world that is simulated when none is named; nodes.sample.yaml fits it.
const BUILT_IN: (&str, &str) = ("one-host.yaml", include_str!("../../examples/worlds/one-host.yaml"));

/// The world in a file, or the built-in one.
pub(super) fn load_world(path: Option<&Path>) -> Result<WorldFile, Vec<Problem>> {
    let (name, value) = match path {
        Some(path) => (path.display().to_string(), read_document(path)?),
        None => (BUILT_IN.0.to_owned(), parse_document(BUILT_IN.0, BUILT_IN.1)?),
    };
    WorldFile::from_json(value).map_err(|error| {
        let hint = "examples/worlds has worlds to begin with; a kept one that is broken can be deleted".to_owned();
        vec![Problem { places: vec![Place::Named(name)], ..problem(&error, hint) }]
    })
}

/// A world that is to be kept in a file, and cannot be.
pub(super) fn not_kept(file: &Path, error: &WorldFileError) -> Problem {
    let why = match error {
        WorldFileError::Keep { source, .. } => plain_words(source),
        other => with_causes(other),
    };
    Problem {
        severity: Severity::Error,
        message: format!("the world cannot be kept: {why}"),
        places: vec![Place::Named(file.display().to_string())],
        hint: Some("check the name of the file and who may write there".to_owned()),
    }
}

/// An error that has no place in a file.
pub(super) fn problem(error: &dyn Error, hint: String) -> Problem {
    Problem { severity: Severity::Error, message: with_causes(error), places: Vec::new(), hint: Some(hint) }
}
