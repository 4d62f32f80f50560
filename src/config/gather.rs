use std::ffi::OsString;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::decrypted::Decrypted;
use super::environment::{Given, Outside, Variables};
use super::problem::{Place, Problem, Problems};
use super::read::shown_cluster_keys;
use super::secrets_file::{FoundSecrets, USUAL_PLACES};
use super::source::Source;
use super::talconfig;
use crate::model::{Origin, made_printable, secret_in};

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
    /// A file that is encrypted by SOPS.
    pub secrets: Option<PathBuf>,
    /// Whether the token comes from elsewhere, so that no SOPS file is looked at, not even one that is named.
    pub without_secrets: bool,
    pub cluster_name: Option<String>,
    /// Whether the built-in sample stands in for a nodes.yaml that is not there and that nobody named, when there is no
    /// talos/talconfig.yaml either.
    pub or_sample: bool,
    /// Whether there may be no nodes.yaml, as long as nobody named any file.
    pub or_nothing: bool,
}

/// Where the nodes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodesFrom {
    /// nodes.yaml, or the file that somebody named.
    File,
    /// talos/talconfig.yaml, because there is no nodes.yaml.
    Talconfig,
    /// The built-in sample.
    Sample,
    /// There is none, there need not be one, and nobody named any file.
    Nowhere,
}

const NODES_NAME: &str = "nodes.yaml";
const SETTINGS_NAME: &str = "pvetalos.yaml";

/// Where cluster repositories move their templates and what those were filled with.
const TIDIED: &str = ".private";

/// The name of the built-in sample in messages.
const SAMPLE_NAME: &str = "nodes.sample.yaml";

/// Everything that was read, before anything was understood.
#[derive(Clone)]
pub struct Inputs {
    pub(super) nodes: Option<Arc<Source>>,
    /// The variables of a talconfig.yaml.
    pub(super) talenv: Option<Arc<Source>>,
    pub(super) cluster: Option<Arc<Source>>,
    pub(super) settings: Option<Arc<Source>>,
    pub(super) secrets: Option<FoundSecrets>,
    /// The folder of nodes.yaml, where an age key may be.
    pub(super) folder: PathBuf,
    /// A file is there or was named, and could not be read: what is absent may stand in it.
    pub(super) incomplete: bool,
    nodes_from: NodesFrom,
    pub(super) outside: Outside,
    pub(super) problems: Problems,
}

impl fmt::Debug for Inputs {
    /// The names only: the texts may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.secrets.as_ref().map(|secrets| &secrets.source);
        let sources = [self.nodes.as_ref(), self.cluster.as_ref(), self.settings.as_ref(), secrets];
        let names: Vec<_> = sources.into_iter().flatten().map(|source| source.name()).collect();
        f.debug_struct("Inputs").field("files", &names).finish_non_exhaustive()
    }
}

impl Inputs {
    /// Reads the files and the environment. What cannot be read is a problem like any other.
    ///
    /// cluster.yaml and pvetalos.yaml are looked for beside nodes.yaml, so that files of two clusters never mix. Where
    /// talos/talconfig.yaml stands in for it, that is where nodes.yaml would be.
    pub fn gather(locations: &Locations, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let mut problems = Problems::default();
        let read = |file: &Path| read_file(file).map_err(|failure| failure.why);
        let variables = Variables { get: variable, read_file: &read };
        let named = |flag: &Option<PathBuf>, variable: &str| {
            flag.clone().or_else(|| variables.raw(variable).map(PathBuf::from))
        };

        let nodes_named = named(&locations.nodes, "PVETALOS_NODES_FILE");
        let cluster_named = named(&locations.cluster, "PVETALOS_CLUSTER_FILE");
        let settings_named = named(&locations.settings, "PVETALOS_SETTINGS_FILE");
        let may_be_nothing = locations.or_nothing && [&nodes_named, &cluster_named, &settings_named] == [&None; 3];
        let nodes_path = nodes_named.clone().unwrap_or_else(|| PathBuf::from(NODES_NAME));
        // The place that the other files are looked for beside.
        let here = beside_talconfig(&nodes_path).unwrap_or_else(|| nodes_path.clone());
        let stand_in = Path::new(talconfig::FOLDER).join(talconfig::NAME);
        let mut nodes_from = NodesFrom::File;
        let mut unreadable = |path: &Path, failure: &Failure, hint: Option<String>| {
            problems.report(Problem { hint, ..failure.problem(path) });
            None
        };
        let nodes = match read_file(&nodes_path) {
            Ok(text) => Some(source(&nodes_path, text)),
            Err(failure) if failure.absent && nodes_named.is_none() => match read_regular_file(&stand_in) {
                Ok(text) => {
                    nodes_from = NodesFrom::Talconfig;
                    Some(source(&stand_in, text))
                }
                Err(other) if !other.absent => unreadable(&stand_in, &other, None),
                Err(_) if locations.or_sample => {
                    nodes_from = NodesFrom::Sample;
                    Some(Source::new(SAMPLE_NAME, SAMPLE.to_owned()))
                }
                Err(_) if may_be_nothing => {
                    nodes_from = NodesFrom::Nowhere;
                    None
                }
                Err(_) => unreadable(&nodes_path, &failure, Some(where_nodes_may_be())),
            },
            Err(failure) => unreadable(&nodes_path, &failure, None),
        };
        let talconfig = if nodes_from == NodesFrom::Talconfig { &stand_in } else { &nodes_path };
        let talenv = talconfig.ends_with(talconfig::NAME).then(|| talconfig.with_file_name(talconfig::VARIABLES_NAME));
        // Whoever needs a variable of it says that it is missing.
        let talenv = talenv.and_then(|path| Some(source(&path, read_regular_file(&path).ok()?)));
        let mut incomplete = nodes.is_none();
        // Without nodes of one's own there is no beside.
        let is_alone = nodes.is_none() || nodes_from == NodesFrom::Sample;
        let mut beside = |given: Option<PathBuf>, usual: &str| {
            let path = match &given {
                Some(path) => path.clone(),
                None if is_alone => return None,
                None => here.with_file_name(usual),
            };
            match if given.is_some() { read_file(&path) } else { read_regular_file(&path) } {
                Ok(text) => Some(source(&path, text)),
                Err(failure) if failure.absent && given.is_none() => {
                    tracing::debug!(file = %shown(&path), "not there");
                    None
                }
                Err(failure) => {
                    problems.report(failure.problem(&path));
                    incomplete = true;
                    None
                }
            }
        };
        let cluster = beside(cluster_named, "cluster.yaml");
        let settings = beside(settings_named, SETTINGS_NAME);
        let outside = outside(locations, &variables, &mut problems);
        let secrets_named = named(&locations.secrets, "PVETALOS_SECRETS_FILE");
        let secrets = if locations.without_secrets {
            None
        } else if let Some(path) = secrets_named {
            found_secrets(&path, true, &mut problems)
        } else if is_alone || outside.has_token() {
            // Nothing in it could count, so that it is not even looked for.
            None
        } else {
            let mut usual = USUAL_PLACES.iter().map(|usual| here.with_file_name(usual));
            usual.find_map(|path| found_secrets(&path, false, &mut problems))
        };
        Self {
            nodes: nodes.map(Arc::new),
            talenv: talenv.map(|source| Arc::new(source.showing_no_values())),
            cluster: cluster.map(|source| Arc::new(source.showing_only(shown_cluster_keys()))),
            settings: settings.map(Arc::new),
            secrets,
            folder: here.parent().map(Path::to_owned).unwrap_or_default(),
            incomplete,
            nodes_from,
            outside,
            problems,
        }
    }

    /// The same with the environment of this process.
    pub fn from_environment(locations: &Locations) -> Self {
        Self::gather(locations, &|name| std::env::var_os(name))
    }

    /// What stands in for a nodes.yaml that is not there, as a sentence for the user; none when nothing has to.
    pub fn stand_in(&self) -> Option<&'static str> {
        match self.nodes_from {
            NodesFrom::Talconfig => Some("there is no nodes.yaml here: the nodes are read from talos/talconfig.yaml"),
            NodesFrom::Sample => Some("there is no nodes.yaml here: the built-in nodes.sample.yaml is used"),
            NodesFrom::File | NodesFrom::Nowhere => None,
        }
    }

    /// Whether there is no nodes.yaml, which is no mistake here.
    pub fn is_nothing(&self) -> bool {
        self.nodes_from == NodesFrom::Nowhere
    }

    /// The same, now that the SOPS file is decrypted.
    #[must_use]
    pub fn with_decrypted(mut self, decrypted: Decrypted) -> Self {
        if let Some(secrets) = &mut self.secrets {
            secrets.decrypted = Some(decrypted);
        }
        self
    }

    /// Inputs that come from no file: for tests, benchmarks and the built-in sample.
    pub fn from_texts(nodes: &str, cluster: Option<&str>, settings: Option<&str>) -> Self {
        let source = |name: &str, text: &str| Source::new(name, without_bom(text).to_owned());
        Self {
            nodes: Some(Arc::new(source("nodes.yaml", nodes))),
            talenv: None,
            cluster: cluster.map(|text| Arc::new(source("cluster.yaml", text).showing_only(shown_cluster_keys()))),
            settings: settings.map(|text| Arc::new(source("pvetalos.yaml", text))),
            secrets: None,
            folder: PathBuf::new(),
            incomplete: false,
            nodes_from: NodesFrom::File,
            outside: Outside::default(),
            problems: Problems::default(),
        }
    }
}

/// Where nodes.yaml would be, if this is a talconfig.yaml in the folder that cluster repositories keep it in.
fn beside_talconfig(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let is_usual = path.ends_with(talconfig::NAME) && folder.ends_with(talconfig::FOLDER);
    is_usual.then(|| folder.with_file_name(NODES_NAME))
}

/// What to do when there is no nodes.yaml. Cluster repositories move it away when they are done with it.
fn where_nodes_may_be() -> String {
    let moved = std::fs::read_dir(TIDIED).into_iter().flatten().flatten().map(|folder| folder.path());
    let moved = moved.filter(|folder| folder.join(NODES_NAME).is_file());
    // The folders are named by the second in which they were made.
    let second =
        |folder: &PathBuf| folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    match moved.max_by_key(|folder| second(folder).unwrap_or(0_u64)) {
        Some(folder) => {
            let nodes = shown(&folder.join(NODES_NAME));
            let settings = if Path::new(SETTINGS_NAME).is_file() { " --settings pvetalos.yaml" } else { "" };
            format!("`task template:tidy` has moved it: add `--nodes {nodes}{settings}`")
        }
        None => "`pvetalos init` writes one; or name your file with --nodes".to_owned(),
    }
}

/// Reads a SOPS file as it is; what is in it stays encrypted. None where nobody named one and there is none.
fn found_secrets(path: &Path, named: bool, problems: &mut Problems) -> Option<FoundSecrets> {
    // Never a pipe: `sops` reads it once more.
    match read_regular_file(path) {
        Ok(text) => {
            let source = Arc::new(source(path, text).showing_no_values());
            Some(FoundSecrets { source, path: path.to_owned(), named, decrypted: None })
        }
        Err(failure) if failure.absent && !named => {
            tracing::debug!(file = %shown(path), "not there");
            None
        }
        Err(failure) => {
            problems.report(failure.problem(path));
            None
        }
    }
}

pub(super) fn source(path: &Path, text: String) -> Source {
    tracing::info!(file = %shown(path), bytes = text.len(), "read");
    Source::new(&path.display().to_string(), text)
}

/// The name of a file in messages. Somebody may have typed a secret where a file belongs.
pub(super) fn shown(path: &Path) -> String {
    let name = path.display().to_string();
    if secret_in(&name).is_some() {
        return "a file whose name is not shown".to_owned();
    }
    made_printable(&name).replace('\n', "\\n")
}

fn outside(locations: &Locations, variables: &Variables<'_>, problems: &mut Problems) -> Outside {
    let flag = |value: &String| Given::Text { value: value.clone(), origin: Origin::Flag("--cluster-name".into()) };
    let name = locations.cluster_name.as_ref().map(flag);
    let mut outside = Outside {
        // Not with its file twin: PVETALOS_CLUSTER_FILE names cluster.yaml.
        cluster_name: name.or_else(|| variables.plain("PVETALOS_CLUSTER", problems)),
        endpoint: variables.first(&["PROXMOX_ENDPOINT", "PROXMOX_HOST", "PROXMOX_VE_ENDPOINT"], problems),
        ..Outside::default()
    };
    if let Some(path) = &locations.token_file {
        outside.token = Some(match read_file(path) {
            Ok(text) if text.trim().is_empty() => {
                let problem =
                    Problem::error("the file is empty").at(Place::Named(format!("--token-file {}", shown(path))));
                problems.report(problem.hint("write the token into it, as `user@realm!name=secret`"));
                Given::Unusable
            }
            Ok(text) => {
                let origin = Origin::Flag(format!("--token-file {}", shown(path)).into());
                Given::Text { value: text.trim().to_owned(), origin }
            }
            Err(failure) => {
                problems.report(failure.problem(path));
                Given::Unusable
            }
        });
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
        let name = shown(path);
        let message = if self.absent {
            "there is no such file".to_owned()
        } else {
            format!("the file cannot be read: {}", self.why)
        };
        Problem::error(message).at(Place::Named(name))
    }
}

/// Reads a file, but no pipe, which may never end or never begin and can be read only once.
fn read_regular_file(path: &Path) -> Result<String, Failure> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Err(Failure::new("it is not a regular file")),
        _ => read_file(path),
    }
}

pub(super) fn read_file(path: &Path) -> Result<String, Failure> {
    let file = std::fs::File::open(path).map_err(|error| Failure {
        absent: matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
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
pub fn plain_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
