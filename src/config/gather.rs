use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::{Given, Outside, Variables};
use super::problem::{Place, Problem, Problems};
use super::read::shown_cluster_keys;
use super::source::Source;
use crate::model::Origin;

/// The text of nodes.sample.yaml.
pub const SAMPLE: &str = include_str!("../../nodes.sample.yaml");

/// Hundreds of times what a large cluster needs.
const LARGEST_FILE: u64 = 16 << 20;

/// Where to look; `None` stands for the usual place.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    pub nodes: Option<PathBuf>,
    pub cluster: Option<PathBuf>,
    pub settings: Option<PathBuf>,
    pub token_file: Option<PathBuf>,
    pub cluster_name: Option<String>,
}

/// Everything that was read, before anything was understood.
pub struct Inputs {
    pub(super) nodes: Option<Arc<Source>>,
    pub(super) cluster: Option<Arc<Source>>,
    pub(super) settings: Option<Arc<Source>>,
    pub(super) outside: Outside,
    pub(super) problems: Problems,
}

impl fmt::Debug for Inputs {
    /// The names only: the texts may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> =
            [&self.nodes, &self.cluster, &self.settings].into_iter().flatten().map(|s| s.name()).collect();
        f.debug_struct("Inputs").field("files", &names).finish_non_exhaustive()
    }
}

impl Inputs {
    /// Reads the files and the environment. What cannot be read is a problem like any other.
    ///
    /// cluster.yaml and pvetalos.yaml are looked for beside nodes.yaml, so that files of two clusters never mix.
    pub fn gather(locations: &Locations, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut problems = Problems::default();
        let nodes_path = locations.nodes.clone().unwrap_or_else(|| PathBuf::from("nodes.yaml"));
        let nodes = match read_file(&nodes_path) {
            Ok(text) => Some(source(&nodes_path, text)),
            Err(failure) => {
                let hint = (failure.absent && locations.nodes.is_none())
                    .then(|| "copy nodes.sample.yaml to nodes.yaml, or name your file with --nodes".to_owned());
                problems.report(Problem { hint, ..failure.problem(&nodes_path) });
                None
            }
        };
        let mut beside = |given: &Option<PathBuf>, usual: &str| {
            let path = given.clone().unwrap_or_else(|| nodes_path.with_file_name(usual));
            match read_file(&path) {
                Ok(text) => Some((path, text)),
                Err(failure) if failure.absent && given.is_none() => {
                    tracing::debug!(file = %path.display(), "not there");
                    None
                }
                Err(failure) => {
                    problems.report(failure.problem(&path));
                    None
                }
            }
        };
        let cluster = beside(&locations.cluster, "cluster.yaml");
        let settings = beside(&locations.settings, "pvetalos.yaml");
        let outside = outside(locations, variable, &mut problems);
        Self {
            nodes: nodes.map(Arc::new),
            cluster: cluster.map(|(path, text)| Arc::new(source(&path, text).showing_only(shown_cluster_keys()))),
            settings: settings.map(|(path, text)| Arc::new(source(&path, text))),
            outside,
            problems,
        }
    }

    /// The same with the environment of this process.
    pub fn from_environment(locations: &Locations) -> Self {
        Self::gather(locations, &|name| std::env::var(name).ok())
    }

    /// Inputs that come from no file: for tests, benchmarks and the built-in sample.
    pub fn from_texts(nodes: &str, cluster: Option<&str>, settings: Option<&str>) -> Self {
        let source = |name: &str, text: &str| Source::new(name, without_bom(text).to_owned());
        Self {
            nodes: Some(Arc::new(source("nodes.yaml", nodes))),
            cluster: cluster.map(|text| Arc::new(source("cluster.yaml", text).showing_only(shown_cluster_keys()))),
            settings: settings.map(|text| Arc::new(source("pvetalos.yaml", text))),
            outside: Outside::default(),
            problems: Problems::default(),
        }
    }
}

pub(super) fn source(path: &Path, text: String) -> Source {
    tracing::info!(file = %path.display(), bytes = text.len(), "read");
    Source::new(&path.display().to_string(), text)
}

fn outside(locations: &Locations, variable: &dyn Fn(&str) -> Option<String>, problems: &mut Problems) -> Outside {
    let read = |file: &str| read_file(Path::new(file)).map_err(|failure| failure.why);
    let variables = Variables { get: variable, read_file: &read };
    let flag = locations.cluster_name.clone().map(|value| Given { value, origin: Origin::Flag("--cluster-name") });
    let mut outside = Outside {
        cluster_name: flag.or_else(|| variables.first(&["PVETALOS_CLUSTER"], problems)),
        endpoint: variables.first(&["PROXMOX_ENDPOINT", "PROXMOX_HOST", "PROXMOX_VE_ENDPOINT"], problems),
        ..Outside::default()
    };
    if let Some(path) = &locations.token_file {
        match read_file(path) {
            Ok(text) => {
                outside.token = Some(Given { value: text.trim().to_owned(), origin: Origin::Flag("--token-file") });
            }
            Err(failure) => problems.report(failure.problem(path)),
        }
    } else {
        outside.token_id = variables.first(&["PROXMOX_TOKEN_ID"], problems);
        outside.token_secret = variables.first(&["PROXMOX_TOKEN_SECRET"], problems);
        outside.token = variables.first(&["PROXMOX_VE_API_TOKEN"], problems);
    }
    outside
}

/// Why a file could not be read.
pub(super) struct Failure {
    why: String,
    absent: bool,
}

impl Failure {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), absent: false }
    }

    pub(super) fn problem(&self, path: &Path) -> Problem {
        let name = path.display().to_string();
        let message = if self.absent {
            "there is no such file".to_owned()
        } else {
            format!("the file cannot be read: {}", self.why)
        };
        Problem::error(message).at(Place::Named(name))
    }
}

pub(super) fn read_file(path: &Path) -> Result<String, Failure> {
    let file = std::fs::File::open(path).map_err(|error| Failure {
        absent: error.kind() == std::io::ErrorKind::NotFound,
        ..Failure::new(plain_words(&error))
    })?;
    let metadata = file.metadata().map_err(|error| Failure::new(plain_words(&error)))?;
    if metadata.is_dir() {
        return Err(Failure::new("it is a directory"));
    }
    // Pipes have no size, so that the limit is kept while reading.
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| Failure::new(plain_words(&error)))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Failure::new(format!("it is larger than {} MiB", LARGEST_FILE >> 20)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(without_bom(&text).to_owned()),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let line = bytes[..at].split(|byte| *byte == b'\n').count();
            let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            let guess = if utf16 { " (it looks like UTF-16; save it as UTF-8)" } else { "" };
            Err(Failure::new(format!("it is not UTF-8 text: wrong byte in line {line}{guess}")))
        }
    }
}

/// The system's reason without the number that it ends in.
fn plain_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
