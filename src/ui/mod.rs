//! The only room that prints: results to standard output, talk to standard error.

mod ask;
mod explanation;
mod findings;
mod gate;
mod json;
mod log;
mod problems;
mod schematics;
mod table;
mod templates;
mod yaml;

pub use explanation::explanation;
pub use findings::{findings_json, findings_text};
pub use gate::{Talk, Ui};
pub use json::{cluster_json, pretty};
pub use log::{LogFormat, start_log};
pub use problems::draw_problem;
pub use schematics::{schematic_json, schematics_json};
pub use table::cluster_table;
pub use templates::{ensured_json, ensured_table, listed_json, listed_table, listed_text};
pub use yaml::to_yaml;
