//! What the user wrote, made into what the user means.
//!
//! ```text
//! gather.rs   files, environment, flags ──► Inputs          the only I/O here but for sops.rs
//! yaml.rs     text ──► tree with places                      the only file that names the YAML crate
//! keys.rs     every key: names, type, words for people       feeds reader, did-you-mean, schema, reference
//! read.rs     tree ──► layers: what one file says            collects problems, never stops at the first
//! talconfig.rs  the same out of talhelper's file             when that stands in for nodes.yaml
//! merge.rs    layers ──► Draft: what counts in the end
//! check.rs    Draft ──► problems that need two places to see
//! build.rs    Draft ──► Cluster                              only when nothing is wrong
//! sops.rs     a token that is still encrypted ──► Decrypted  only when a command needs it; then all of it again
//! ```
//!
//! A mistake is a [`Problem`] in a list, not an error: the user sees all of them in one run.

mod build;
mod built_in;
mod check;
mod connection;
mod credentials;
mod decrypted;
mod document;
mod environment;
mod gather;
mod keys;
mod layer;
mod load;
mod merge;
mod named;
mod nested;
mod problem;
mod read;
mod reader;
mod reference;
mod schema;
mod schematic_file;
mod secrets_file;
mod sops;
mod sops_failure;
#[cfg(test)]
mod sops_failure_tests;
#[cfg(test)]
mod sops_tests;
mod source;
mod suggest;
mod talconfig;
mod values;
mod yaml;

pub use connection::Connection;
pub use credentials::token_from_outside;
pub use decrypted::Decrypted;
pub use document::{parse_document, read_document};
pub use gather::{Inputs, Locations, SAMPLE, plain_words};
pub use load::{Explain, Explained, Loaded, load};
pub use named::{named_nodes, named_nodes_to_destroy};
pub use problem::{Place, Problem, Severity};
pub use reference::reference;
pub use schema::{Schema, schema};
pub use schematic_file::{NearMiss, parse_schematic, read_schematic};
pub use secrets_file::SecretsFile;
pub use sops::{Sealed, Undecrypted};
pub use source::{Excerpt, Source};
