//! The only room that prints: results to standard output, talk to standard error.

mod explanation;
mod gate;
mod json;
mod log;
mod problems;
mod table;
mod yaml;

pub use explanation::explanation;
pub use gate::{Talk, Ui};
pub use json::{cluster_json, problem_json};
pub use log::{LogFormat, start_log};
pub use problems::draw_problem;
pub use table::cluster_table;
pub use yaml::to_yaml;
