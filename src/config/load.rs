use super::check::{Absences, check};
use super::gather::Inputs;
use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::Layer;
use super::merge::{Draft, Files, merge};
use super::problem::{Problem, Severity};
use super::secrets_file::SecretsFile;
use super::sops::Sealed;
use super::{build, environment, read};
use crate::model::{Cluster, Origin};

/// Whether to write down where each value came from, which takes as long as all the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explain {
    Yes,
    No,
}

/// What came of the inputs.
#[derive(Debug)]
pub struct Loaded {
    /// The cluster, unless there is an error among the problems.
    pub cluster: Option<Cluster>,
    /// Every value of it, and where it came from; empty unless asked for.
    pub explained: Vec<Explained>,
    pub problems: Vec<Problem>,
    /// What the SOPS file shows of itself, if there is one.
    pub secrets: Option<SecretsFile>,
    /// The way to decrypt that file, if the token depends on it.
    pub sealed: Option<Sealed>,
}

/// One resolved value.
#[derive(Debug, serde::Serialize)]
pub struct Explained {
    /// `cluster`, or the name of a node.
    pub about: String,
    pub setting: &'static str,
    pub value: String,
    #[serde(serialize_with = "as_text")]
    pub origin: Origin,
}

fn as_text<S: serde::Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

impl Loaded {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Makes a cluster of what was gathered. Reads its arguments and nothing else.
pub fn load(inputs: Inputs, explaining: Explain) -> Loaded {
    let Inputs { nodes, talenv, cluster, settings, secrets, folder, incomplete, outside, mut problems, .. } = inputs;
    let secrets_source = secrets.as_ref().map(|secrets| &secrets.source);
    for source in [nodes.as_ref(), cluster.as_ref(), settings.as_ref(), secrets_source].into_iter().flatten() {
        problems.add_source(source.clone());
    }
    let cluster_file = cluster.as_ref().and_then(|source| read::cluster_file(source, &mut problems));
    let settings_file = settings.as_ref().and_then(|source| read::settings_file(source, &mut problems));
    let nodes_file = nodes.as_ref().and_then(|source| read::nodes_file(source, talenv.as_ref(), &mut problems));
    let unreadable =
        incomplete || (cluster.is_some() && cluster_file.is_none()) || (settings.is_some() && settings_file.is_none());
    let outside = environment::layer(&outside, &mut problems);
    let secrets_file = secrets.as_ref().and_then(|found| SecretsFile::read(found, &mut problems));
    let decrypted = secrets.and_then(|found| found.decrypted);
    let secrets = match (&secrets_file, decrypted) {
        (Some(file), Some(decrypted)) => file.opened(&decrypted, &mut problems),
        (Some(file), None) => file.sealed(),
        (None, _) => ClusterLayer::default(),
    };

    let mut explained = Vec::new();
    let (mut built, mut sealed) = (None, None);
    if let (Some(nodes_file), Some(nodes_source)) = (nodes_file, nodes) {
        let files = Files {
            nodes: nodes_file,
            nodes_name: nodes_source.name().clone(),
            cluster: cluster_file.unwrap_or_default(),
            secrets,
            settings: settings_file.unwrap_or_default(),
            settings_source: settings,
        };
        let mut draft = merge(files, outside, &mut problems);
        // With a file missing from the picture, its settings would be missed in the others.
        let absences = if unreadable { Absences::Unknown } else { Absences::Known };
        check(&draft, &nodes_source, absences, &mut problems);
        let (id, secret) = (&draft.cluster.token_id, &draft.cluster.token_secret);
        if let Some(file) = &secrets_file {
            // Whoever names the file means the token in it.
            if file.named && (id.is_absent() || secret.is_absent()) {
                problems.report(file.missing(id.is_absent(), secret.is_absent()));
            }
            let (id, secret) = (id.sealed().is_some(), secret.sealed().is_some());
            sealed = (id || secret).then(|| Sealed { file: file.clone(), folder, id, secret });
        }
        draft.settle(&mut problems);
        if !problems.has_errors() {
            if explaining == Explain::Yes {
                explained = explain(&draft);
            }
            built = Some(build::build(draft).expect("a draft without problems is complete"));
        }
    }
    Loaded { cluster: built, explained, problems: problems.into_sorted(), secrets: secrets_file, sealed }
}

fn explain(draft: &Draft) -> Vec<Explained> {
    let row = |about: &str, (setting, value, origin)| Explained { about: about.to_owned(), setting, value, origin };
    let cluster = ClusterLayer::explain(&draft.cluster).into_iter().map(|setting| row("cluster", setting));
    let nodes = draft.nodes.iter().flat_map(|node| {
        let name = node.node.name.get().map_or(String::new(), |name| name.value.to_string());
        let settings = NodeLayer::explain(&node.node).into_iter().chain(VmLayer::explain(&node.vm));
        settings.filter(|(setting, ..)| *setting != "name").map(|setting| row(&name, setting)).collect::<Vec<_>>()
    });
    cluster.chain(nodes).collect()
}
