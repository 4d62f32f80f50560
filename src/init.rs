//! How a repository begins with pvetalos: which files are to be written, decided from what is there. Reads its
//! arguments and nothing else.
//!
//! A repository that already describes its cluster keeps its files as they are and gets only what they have no place
//! for. Nothing that is there is ever written over.

use std::collections::BTreeMap;

use crate::config::SAMPLE;
use crate::model::ClusterName;

/// What is looked at before anything is decided.
pub fn looked_at() -> impl Iterator<Item = &'static str> {
    let files = [
        NODES,
        "nodes.sample.yaml",
        CLUSTER,
        "cluster.sample.yaml",
        SETTINGS,
        INCLUDE,
        OTHER_INCLUDE,
        ".taskfiles/template/Taskfile.yaml",
        GITIGNORE,
        TALCONFIG,
    ];
    files.into_iter().chain(TASKFILES)
}

const NODES: &str = "nodes.yaml";
const CLUSTER: &str = "cluster.yaml";
const SETTINGS: &str = "pvetalos.yaml";
/// What stands in for nodes.yaml in a repository that has moved it away.
const TALCONFIG: &str = "talos/talconfig.yaml";
const GITIGNORE: &str = ".gitignore";
/// Every name under which go-task looks for a Taskfile.
const TASKFILES: [&str; 8] = [
    "Taskfile.yaml",
    "Taskfile.yml",
    "taskfile.yaml",
    "taskfile.yml",
    "Taskfile.dist.yaml",
    "Taskfile.dist.yml",
    "taskfile.dist.yaml",
    "taskfile.dist.yml",
];
const INCLUDE: &str = ".taskfiles/infrastructure/Taskfile.yaml";
/// Where the include goes when somebody else's is in the usual place.
const OTHER_INCLUDE: &str = ".taskfiles/pvetalos/Taskfile.yaml";

/// The go-task include.
pub const INCLUDE_TEXT: &str = include_str!("../taskfiles/infrastructure/Taskfile.yaml");

/// By these words an include is recognised as ours, whatever its version.
const INCLUDE_BEGINS: &str = "# pvetalos for go-task";

/// A folder, as far as it matters here.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// Its own name.
    pub name: String,
    /// The texts of those files of [`LOOKED_AT`] that are there.
    pub files: BTreeMap<&'static str, String>,
}

/// What a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Nothing that describes a cluster.
    Nothing,
    /// A nodes.yaml alone.
    Nodes,
    /// A cluster repository that knows nothing of Proxmox.
    ClusterRepository,
    /// A cluster repository whose cluster.yaml has keys for Proxmox.
    ProxmoxRepository,
}

impl Found {
    pub fn told(self) -> &'static str {
        match self {
            Self::Nothing => "there is no cluster here yet",
            Self::Nodes => "there is a nodes.yaml here",
            Self::ClusterRepository => "this is a cluster repository that knows nothing of Proxmox",
            Self::ProxmoxRepository => "this is a cluster repository whose cluster.yaml describes Proxmox",
        }
    }
}

/// What is to be done with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is not there and gets this text.
    Write(String),
    /// This is added to its end.
    Append(String),
    /// It is there, or not ours, and stays as it is.
    Keep,
}

/// A file and what is done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStep {
    pub file: &'static str,
    pub step: Step,
    /// What it is for, or why it stays.
    pub about: String,
}

/// Everything that is to be done, and what is left to the user.
#[derive(Clone, Debug)]
pub struct Beginning {
    pub found: Found,
    pub files: Vec<FileStep>,
    /// What to do next, a sentence or a command each.
    pub next: Vec<String>,
}

const VALIDATE: &str = "pvetalos validate              # what the files mean";
const ACCESS: &str = "pvetalos access                # the commands that make a token for it";

/// Decides how a folder begins; not at all when the cluster needs a name and the folder's own makes none. `middle` are two
/// bytes of the new nodes' MAC addresses, so that two clusters in one network do not have the same ones.
pub fn begin(folder: &Folder, given: Option<&ClusterName>, middle: [u8; 2]) -> Option<Beginning> {
    let found = folder.found();
    let own = matches!(found, Found::Nothing | Found::Nodes);
    let described = if own { NODES } else { SETTINGS };
    let mut next = Vec::new();
    let mut files = Vec::new();
    if folder.has(described) {
        files.push(FileStep::kept(described));
    } else {
        let name = if folder.is_named() { None } else { Some(given.cloned().or_else(|| folder.cluster_name())?) };
        let (text, about) = match found {
            Found::Nothing | Found::Nodes => (nodes(name.as_ref(), middle), "three control planes and two workers"),
            Found::ClusterRepository => (beside_cluster(name.as_ref()), "what your files have no key for"),
            Found::ProxmoxRepository => (beside_proxmox(name.as_ref()), "what your files have no key for"),
        };
        let cluster = name.map_or(String::new(), |name| format!("cluster {name}: "));
        let about = format!("{cluster}{about}; change what is yours");
        files.push(FileStep { file: described, step: Step::Write(text), about });
    }
    if given.is_some() && (folder.has(described) || folder.is_named()) {
        next.push("the name of the cluster stays as it is in your files; change it there".to_owned());
    }
    if !own && !folder.has(NODES) && !folder.has(TALCONFIG) {
        next.push("there is no nodes.yaml yet: make it the way this repository does".to_owned());
    }
    let include = folder.include();
    let (path, line) = (include.file, include_line(include.file));
    files.push(include);
    match folder.taskfile() {
        Some((_, text)) if includes(text, folder_of(path)) => {}
        Some((file, _)) => next.push(format!("add to `includes:` of {file}:\n  {line}")),
        None if own => {
            let about = "includes them";
            files.push(FileStep {
                file: TASKFILES[0],
                step: Step::Write(root_taskfile(&line)),
                about: about.to_owned(),
            });
        }
        None => next.push(format!("include them in a Taskfile.yaml:\n  includes:\n    {line}")),
    }
    if own {
        files.push(folder.ignored());
    }
    if folder.files.get(path).is_some_and(|text| text != INCLUDE_TEXT) {
        next.push(format!(
            "{path} is of another version of pvetalos: delete it and run `pvetalos init` again to renew it"
        ));
    }
    let commands: &[&str] = if found == Found::Nothing {
        &[VALIDATE, "pvetalos provision --simulate  # a try without any Proxmox", ACCESS]
    } else {
        &[VALIDATE, ACCESS, "pvetalos doctor                # whether Proxmox is ready for it"]
    };
    next.extend(commands.iter().map(|command| (*command).to_owned()));
    Some(Beginning { found, files, next })
}

impl FileStep {
    fn kept(file: &'static str) -> Self {
        Self { file, step: Step::Keep, about: "it is there already".to_owned() }
    }
}

/// The line of `includes:`. Beside somebody else's tasks ours have a name that is not taken.
fn include_line(path: &str) -> String {
    let name = if path == OTHER_INCLUDE { "pvetalos" } else { "infrastructure" };
    format!("{name}: {}", folder_of(path))
}

/// Whether a Taskfile names the folder, other than in a comment.
fn includes(taskfile: &str, folder: &str) -> bool {
    taskfile.lines().filter(|line| !line.trim_start().starts_with('#')).any(|line| line.contains(folder))
}

fn folder_of(path: &str) -> &str {
    path.trim_end_matches("/Taskfile.yaml")
}

impl Folder {
    fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    fn found(&self) -> Found {
        let cluster = [CLUSTER, "cluster.sample.yaml"].iter().filter_map(|file| self.files.get(*file));
        let cluster: Vec<&String> = cluster.collect();
        let is_repository = self.has(".taskfiles/template/Taskfile.yaml") || self.has(TALCONFIG);
        if cluster.is_empty() && !is_repository {
            return if self.has(NODES) { Found::Nodes } else { Found::Nothing };
        }
        // In a sample the keys stand behind a `#`.
        let has_proxmox =
            |text: &&String| text.lines().any(|line| line.trim_start_matches(['#', ' ']).starts_with("proxmox_"));
        if cluster.iter().any(has_proxmox) { Found::ProxmoxRepository } else { Found::ClusterRepository }
    }

    /// A name for the cluster that can be read off the folder; the user sees it in the file and may change it.
    fn cluster_name(&self) -> Option<ClusterName> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let text: String = self.name.chars().map(plain).collect();
        let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
        words.join("-").parse().ok()
    }

    /// Whether cluster.yaml gives the cluster a name.
    fn is_named(&self) -> bool {
        self.files.get(CLUSTER).is_some_and(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("cluster_name:"));
            value.is_some_and(|value| !value.trim().trim_matches(['"', '\'']).is_empty())
        })
    }

    /// The include, in the usual place or beside somebody else's.
    fn include(&self) -> FileStep {
        let about = "the tasks: provision, plan, status, destroy and others";
        let is_ours = |file: &str| self.files.get(file).is_some_and(|text| text.contains(INCLUDE_BEGINS));
        let file = if self.has(INCLUDE) && !is_ours(INCLUDE) { OTHER_INCLUDE } else { INCLUDE };
        if self.has(file) {
            return FileStep::kept(file);
        }
        FileStep { file, step: Step::Write(INCLUDE_TEXT.to_owned()), about: about.to_owned() }
    }

    fn taskfile(&self) -> Option<(&'static str, &String)> {
        TASKFILES.iter().find_map(|file| self.files.get(file).map(|text| (*file, text)))
    }

    /// Simulated worlds are nobody's business.
    fn ignored(&self) -> FileStep {
        const LINE: &str = "/.pvetalos/\n";
        let about = || "simulated worlds stay out of the repository".to_owned();
        let Some(text) = self.files.get(GITIGNORE) else {
            return FileStep { file: GITIGNORE, step: Step::Write(LINE.to_owned()), about: about() };
        };
        if text.lines().any(|line| line.trim().trim_matches('/') == ".pvetalos") {
            return FileStep { file: GITIGNORE, step: Step::Keep, about: "the line is there already".to_owned() };
        }
        let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        FileStep { file: GITIGNORE, step: Step::Append(format!("{line_end}{LINE}")), about: about() }
    }
}

const NAME_COMMENT: &str = "# The name of the cluster. Its VMs are recognised by it, so choose it once.";

const SETTINGS_BEGIN: &str = "\
# What pvetalos wants to know and the repository's own files have no key for; they stay as they are.
# `pvetalos validate --explain` shows where every value comes from, `pvetalos schema settings` what else there is.
";

const BESIDE_PROXMOX: &str = "
{name}

# proxmox:
#   # Trust the certificate of the Proxmox host: `pvenode cert info` shows its fingerprint there.
#   fingerprints: [\"AA:BB:…\"]
#   pool: talos

# Settings of single nodes stand above nodes.yaml, whose schema is closed.
# nodes:
#   worker-1:
#     proxmox_node: pve2
#     data_disks: [{size: 500}]
";

const BESIDE_CLUSTER: &str = "
{name}

proxmox:
  # Where the Proxmox API listens. PROXMOX_ENDPOINT in the environment stands above it.
  # The token comes from PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET, or from infrastructure/secrets.sops.yaml.
  endpoint: https://pve.example.com:8006
  # Trust its certificate: `pvenode cert info` shows the fingerprint there.
  # fingerprints: [\"AA:BB:…\"]
  # The host that the VMs are made on. Without it they are spread over the hosts by free memory.
  node: pve
  storage: local-lvm
  vm_id_base: 4000

defaults:
  # nodes.yaml gives every node its schematic; this is the release that goes with it.
  talos_version: {version}
  controller:
    cores: 4
    memory: 8192               # MiB
    disk_size: 64              # GiB
  worker:
    cores: 8
    memory: 16384
    disk_size: 256

# Settings of single nodes stand above nodes.yaml, whose schema is closed.
# nodes:
#   worker-1:
#     memory: 32768
#     proxmox_node: pve2
";

/// The line that names the cluster, unless cluster.yaml does.
fn name_line(name: Option<&ClusterName>) -> String {
    match name {
        Some(name) => format!("{NAME_COMMENT}\nname: {name}"),
        None => "# The cluster has the name that cluster.yaml gives it, `cluster_name`.".to_owned(),
    }
}

/// The settings of a repository whose own files describe Proxmox: all but the name may be left out.
fn beside_proxmox(name: Option<&ClusterName>) -> String {
    format!("{SETTINGS_BEGIN}{}", BESIDE_PROXMOX.replace("{name}", &name_line(name)))
}

/// The settings of a repository that knows nothing of Proxmox.
fn beside_cluster(name: Option<&ClusterName>) -> String {
    let version = SAMPLE.lines().find_map(|line| line.trim().strip_prefix("talos_version: ")).unwrap_or_default();
    let text = BESIDE_CLUSTER.replace("{name}", &name_line(name)).replace("{version}", version);
    format!("{SETTINGS_BEGIN}{text}")
}

/// The sample under another name and with MAC addresses of its own, in the words of a file that is in use.
fn nodes(name: Option<&ClusterName>, [first, second]: [u8; 2]) -> String {
    let body = SAMPLE.split_once("\n\n").map_or(SAMPLE, |(_, body)| body);
    let name = name.map_or("sample", ClusterName::as_str);
    let body = body.replacen("name: sample\n", &format!("name: {name}\n"), 1);
    let body = body.replace("bc:24:11:20:00:", &format!("bc:24:11:{first:02x}:{second:02x}:"));
    format!(
        "# The Talos nodes of this cluster; `pvetalos validate --explain` shows what every line comes to.\n\
         # Behind a `#` stands what you get without the line, or after `e.g.` what could stand there. For completion in\n\
         # editors: `pvetalos schema nodes > nodes.schema.json`, and as the first line here\n\
         # `yaml-language-server: $schema=./nodes.schema.json`, also behind a `#`.\n\n\
         {body}"
    )
}

fn root_taskfile(include: &str) -> String {
    format!(
        "---\nversion: \"3\"\n\nincludes:\n  {include}\n\ntasks:\n  default:\n    desc: List the tasks\n    \
         silent: true\n    cmd: task --list\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Explain, Inputs, load};

    const CLUSTER_TEMPLATE: [&str; 2] = [
        include_str!("../examples/cluster-template/nodes.yaml"),
        include_str!("../examples/cluster-template/cluster.yaml"),
    ];
    const TALOS_CLUSTER: [&str; 2] =
        [include_str!("../examples/talos-cluster/nodes.yaml"), include_str!("../examples/talos-cluster/cluster.yaml")];

    fn folder(files: &[(&'static str, &str)]) -> Folder {
        let files = files.iter().map(|(file, text)| (*file, (*text).to_owned())).collect();
        Folder { name: "Home Lab_2".to_owned(), files }
    }

    #[track_caller]
    fn begun(folder: &Folder, middle: [u8; 2]) -> Beginning {
        begin(folder, None, middle).expect("the folder's name makes a cluster's")
    }

    fn steps(beginning: &Beginning) -> Vec<(&'static str, &'static str)> {
        let word = |step: &Step| match step {
            Step::Write(_) => "write",
            Step::Append(_) => "append",
            Step::Keep => "keep",
        };
        beginning.files.iter().map(|step| (step.file, word(&step.step))).collect()
    }

    fn written<'b>(beginning: &'b Beginning, file: &str) -> &'b str {
        match beginning.files.iter().find(|step| step.file == file).map(|step| &step.step) {
            Some(Step::Write(text)) => text,
            other => panic!("{file} is not written: {other:?}"),
        }
    }

    #[test]
    fn an_empty_folder_gets_a_cluster_that_is_right_and_nobody_elses() {
        let beginning = begun(&folder(&[]), [0xab, 0x01]);
        assert_eq!(beginning.found, Found::Nothing);
        let all = [(NODES, "write"), (INCLUDE, "write"), ("Taskfile.yaml", "write"), (GITIGNORE, "write")];
        assert_eq!(steps(&beginning), all);
        let loaded = load(Inputs::from_texts(written(&beginning, NODES), None, None), Explain::No);
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        let cluster = loaded.cluster.expect("it is right");
        assert_eq!(cluster.name.value.as_str(), "home-lab-2");
        let macs: Vec<String> = cluster.nodes.iter().map(|node| node.mac_address.value.to_string()).collect();
        assert!(macs.iter().all(|mac| mac.starts_with("BC:24:11:AB:01:")), "{macs:?}");
    }

    #[test]
    fn the_name_is_given_or_read_off_the_folder() {
        #[track_caller]
        fn case(folder_name: &str, given: Option<&str>, expected: &str) {
            let folder = Folder { name: folder_name.to_owned(), ..Folder::default() };
            let given = given.map(|name| name.parse().expect("it is a name"));
            let beginning = begin(&folder, given.as_ref(), [0, 0]).expect("there is a name");
            assert!(written(&beginning, NODES).contains(&format!("\nname: {expected}\n")), "{folder_name}");
            assert!(beginning.files[0].about.starts_with(&format!("cluster {expected}: ")), "it is told");
        }
        case("home-ops", None, "home-ops");
        case("__Ünï__", None, "n");
        case("home-ops", Some("rack"), "rack");
        case("日本", Some("rack"), "rack");
        for nameless in ["日本", "…", &"x".repeat(80)] {
            let folder = Folder { name: nameless.to_owned(), ..Folder::default() };
            assert!(begin(&folder, None, [0, 0]).is_none(), "nobody's name is guessed: {nameless}");
        }
    }

    #[test]
    fn a_cluster_repository_keeps_its_files_and_gets_settings_that_fit_them() {
        #[track_caller]
        fn case([nodes, cluster]: [&str; 2], found: Found, name: &str) {
            let folder = folder(&[(NODES, nodes), (CLUSTER, cluster), ("Taskfile.yaml", "version: '3'\n")]);
            let beginning = begun(&folder, [0, 0]);
            assert_eq!(beginning.found, found);
            assert_eq!(steps(&beginning), [(SETTINGS, "write"), (INCLUDE, "write")]);
            let settings = written(&beginning, SETTINGS);
            let loaded = load(Inputs::from_texts(nodes, Some(cluster), Some(settings)), Explain::No);
            assert!(loaded.problems.is_empty(), "{:?}\n{settings}", loaded.problems);
            assert_eq!(loaded.cluster.expect("it is right").name.value.as_str(), name);
            let add = "add to `includes:` of Taskfile.yaml:\n  infrastructure: .taskfiles/infrastructure";
            assert!(beginning.next.contains(&add.to_owned()), "{:?}", beginning.next);
        }
        case(CLUSTER_TEMPLATE, Found::ClusterRepository, "home-lab-2");
        case(TALOS_CLUSTER, Found::ProxmoxRepository, "homelab");
        let [nodes, cluster] = TALOS_CLUSTER;
        case([nodes, &cluster.replace("cluster_name: homelab\n", "")], Found::ProxmoxRepository, "home-lab-2");
    }

    #[test]
    fn a_repository_is_known_before_its_files_are_filled_in_and_after_they_are_gone() {
        let found = |files: &[(&'static str, &str)]| begun(&folder(files), [0, 0]).found;
        assert_eq!(found(&[("cluster.sample.yaml", "# node_cidr: \"\"\n")]), Found::ClusterRepository);
        assert_eq!(found(&[("cluster.sample.yaml", "# proxmox_api_url: \"\"\n")]), Found::ProxmoxRepository);
        assert_eq!(found(&[("talos/talconfig.yaml", "clusterName: x\n")]), Found::ClusterRepository);
        assert_eq!(found(&[(NODES, "nodes: []\n")]), Found::Nodes);
        assert_eq!(found(&[("Taskfile.yaml", "version: '3'\n")]), Found::Nothing);
    }

    #[test]
    fn somebody_elses_include_stays_and_ours_goes_beside_it() {
        let [nodes, cluster] = TALOS_CLUSTER;
        let taken = [(NODES, nodes), (CLUSTER, cluster), (INCLUDE, "version: '3'\ntasks: {apply: tofu apply}\n")];
        let beginning = begun(&folder(&taken), [0, 0]);
        assert_eq!(steps(&beginning), [(SETTINGS, "write"), (OTHER_INCLUDE, "write")]);
        assert!(beginning.next[0].contains("    pvetalos: .taskfiles/pvetalos"), "{:?}", beginning.next);
        let alone = begun(&folder(&[(INCLUDE, "version: '3'\n")]), [0, 0]);
        assert!(written(&alone, "Taskfile.yaml").contains("  pvetalos: .taskfiles/pvetalos\n"), "not somebody else's");
    }

    #[test]
    fn a_taskfile_of_any_name_is_not_put_into_the_shade() {
        for file in TASKFILES {
            let beginning = begun(&folder(&[(file, "version: '3'\n")]), [0, 0]);
            assert_eq!(steps(&beginning), [(NODES, "write"), (INCLUDE, "write"), (GITIGNORE, "write")]);
            assert!(beginning.next[0].starts_with(&format!("add to `includes:` of {file}:")), "{:?}", beginning.next);
        }
    }

    #[test]
    fn the_second_time_there_is_nothing_to_write() {
        let mut folder = folder(&[(GITIGNORE, "target")]);
        for _ in 0..2 {
            for FileStep { file, step, .. } in begun(&folder, [0, 0]).files {
                match step {
                    Step::Write(text) => drop(folder.files.insert(file, text)),
                    Step::Append(text) => folder.files.get_mut(file).expect("it is there").push_str(&text),
                    Step::Keep => {}
                }
            }
        }
        assert_eq!(folder.files[GITIGNORE], "target\n/.pvetalos/\n");
        let again = begun(&folder, [0, 0]);
        assert!(again.files.iter().all(|step| step.step == Step::Keep), "{again:?}");
        assert_eq!(again.next[0], VALIDATE);
        let include = folder.files.get_mut(INCLUDE).expect("it was written");
        *include = include.replace("Show how every node is", "Show the nodes");
        let next = begun(&folder, [0, 0]).next;
        assert!(next[0].contains("is of another version of pvetalos"), "{next:?}");
    }
}
