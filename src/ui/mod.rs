//! The only room that prints: results to standard output, talk to standard error.

mod access;
mod begun;
mod destroy;
mod documents;
mod explanation;
mod findings;
mod gate;
mod handover;
mod json;
mod log;
mod outcomes;
mod page;
mod plan;
#[cfg(test)]
mod plan_tests;
mod problems;
mod progress;
mod schematics;
mod status;
mod table;
mod templates;
mod waited;
mod yaml;

pub use access::{access_json, access_text};
pub use begun::{begun_json, begun_text};
pub use destroy::{destroy_json, destroy_page};
pub use documents::Documents;
pub use explanation::explanation;
pub use findings::{findings_json, findings_text};
pub use gate::{Talk, Ui};
pub use handover::{Script, handover_json, talconfig};
pub use json::{cluster_json, pretty};
pub use log::{LogFormat, start_log};
pub use outcomes::{destroyed_page, provisioned_page};
pub use page::Page;
pub use plan::{plan_json, plan_page};
pub use problems::draw_problem;
pub use progress::Progress;
pub use schematics::{schematic_json, schematics_json};
pub use status::{status_json, status_page};
pub use table::cluster_table;
pub use templates::{ensured_json, ensured_table, listed_json, listed_table, listed_text};
pub use waited::{NodeReport, waited_json, waited_text};
pub use yaml::to_yaml;
