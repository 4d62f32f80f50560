//! What a SOPS file shows without being decrypted: its keys, and for whom it is encrypted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;

use super::decrypted::{Decrypted, Value};
use super::keys::ClusterLayer;
use super::layer::Field;
use super::problem::{Place, Problem, Problems};
use super::reader::Reader;
use super::source::{Source, Span};
use super::suggest::did_you_mean;
use super::yaml::{self, Content, Entry, Yaml};
use crate::model::{Invalid, Origin, Quoted, Setting};

const TOKEN_ID: &str = "proxmox_api_token_id";
const TOKEN_SECRET: &str = "proxmox_api_token_secret";
const TOKEN: &str = "proxmox_api_token";

/// The keys that are taken out of such a file.
const WANTED: [&str; 3] = [TOKEN_ID, TOKEN_SECRET, TOKEN];

/// Where the repositories keep it, beside nodes.yaml.
pub(super) const USUAL_PLACES: [&str; 2] = ["infrastructure/secrets.sops.yaml", "secrets.sops.yaml"];

/// What each encrypted value begins with.
const ENCRYPTED: &str = "ENC[";

/// A file that may be one of SOPS, as it was found.
#[derive(Clone)]
pub(super) struct FoundSecrets {
    pub(super) source: Arc<Source>,
    pub(super) path: PathBuf,
    /// Somebody asked for this very file.
    pub(super) named: bool,
    /// What came out of it, once it was decrypted.
    pub(super) decrypted: Option<Decrypted>,
}

/// A file that is encrypted by SOPS.
#[derive(Clone, Debug)]
pub struct SecretsFile {
    source: Arc<Source>,
    pub(super) path: PathBuf,
    pub(super) named: bool,
    keys: Vec<Key>,
    /// Whose keys can open it, as they are written there.
    pub(super) recipients: Vec<String>,
    /// Values that stand there unencrypted. `sops` repeats some of them in its messages.
    pub(super) in_clear: Vec<SecretString>,
}

#[derive(Clone, Debug)]
struct Key {
    name: String,
    span: Span,
    /// Nothing stands behind it. SOPS does not encrypt nothing.
    empty: bool,
    /// A single value stands behind it, as everybody can read it.
    in_clear: bool,
    /// The keys one level below.
    below: Vec<String>,
}

impl SecretsFile {
    /// Looks at the file, or reports why it is none. Nothing of its values gets into a message.
    ///
    /// A mapping without a token that nobody encrypted or named is somebody else's, and an empty file nobody's.
    pub(super) fn read(found: &FoundSecrets, problems: &mut Problems) -> Option<Self> {
        let FoundSecrets { source, path, named, .. } = found;
        let tree = yaml::parse(source, problems)?;
        let refused = |message: &str| {
            let problem = Problem::error(message).at(Place::Named(source.name().to_string()));
            problem.hint(format!(
                "`sops --encrypt --in-place {}` encrypts it, once .sops.yaml says for whom; a token that is not \
                 encrypted can be given by PROXMOX_TOKEN_SECRET_FILE or --token-file",
                source.name()
            ))
        };
        let Content::Map(entries) = &tree.content else {
            if *named || tree.content != Content::Null {
                problems.report(refused("the file is not encrypted by SOPS: it is not a mapping of keys to values"));
            }
            return None;
        };
        let (metadata, own): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.key == "sops");
        let Some(Content::Map(metadata)) = metadata.first().map(|entry| &entry.value.content) else {
            if *named || own.iter().any(|entry| WANTED.contains(&entry.key.as_str())) {
                problems.report(refused("the file is not encrypted by SOPS: it has no `sops` section"));
            }
            return None;
        };
        let mut in_clear = Vec::new();
        for entry in &own {
            collect_in_clear(&entry.value, &mut in_clear);
        }
        let file = Self {
            source: Arc::clone(source),
            path: path.clone(),
            named: *named,
            keys: own.into_iter().map(Key::of).collect(),
            recipients: recipients(metadata),
            in_clear,
        };
        file.warn_of_secrets_in_clear(problems);
        Some(file)
    }

    pub(super) fn name(&self) -> &Arc<str> {
        self.source.name()
    }

    /// A rule of .sops.yaml may leave out values, and an editor may have been used instead of `sops`.
    fn warn_of_secrets_in_clear(&self, problems: &mut Problems) {
        let secrets = [TOKEN_SECRET, TOKEN].iter().filter_map(|name| self.key(name));
        for key in secrets.filter(|key| key.in_clear) {
            let problem = Problem::warning(format!("`{}` is not encrypted in a file that is", key.name))
                .at(Place::part(&self.source, key.span.clone(), "everybody can read it"));
            problems.report(problem.hint(
                "look at `encrypted_regex` and its like in .sops.yaml, encrypt the file anew, and give the token a new \
                 secret if others have seen this one",
            ));
        }
    }

    /// The key of this name, unless nothing stands behind it.
    fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name && !key.empty)
    }

    /// What the file gives, without knowing it.
    pub(super) fn sealed(&self) -> ClusterLayer {
        fn field<T>(origin: Option<Origin>) -> Field<T> {
            origin.map_or(Field::Absent, Field::Sealed)
        }
        ClusterLayer {
            token_id: field(self.origin(TOKEN_ID)),
            token_secret: field(self.origin(TOKEN_SECRET)),
            token: field(self.origin(TOKEN)),
            ..ClusterLayer::default()
        }
    }

    /// What the file gives, now that it is decrypted.
    pub(super) fn opened(&self, decrypted: &Decrypted, problems: &mut Problems) -> ClusterLayer {
        ClusterLayer {
            token_id: self.value(TOKEN_ID, &decrypted.token_id, problems),
            token_secret: self.value(TOKEN_SECRET, &decrypted.token_secret, problems),
            token: self.value(TOKEN, &decrypted.token, problems),
            ..ClusterLayer::default()
        }
    }

    fn value<T>(&self, name: &str, value: &Value, problems: &mut Problems) -> Field<T>
    where
        T: std::str::FromStr<Err = Invalid>,
    {
        let Some(origin) = self.origin(name) else {
            return Field::Absent;
        };
        let place = |label: String| problems.place(&origin, label);
        let problem = match value.parse::<T>() {
            Ok(Some(value)) => return Field::Given(Setting::new(value, origin)),
            Ok(None) => Problem::error(format!("`{name}` is not a text"))
                .at(place("a number, a list or nothing".to_owned()))
                .hint("put it in quotes"),
            Err(invalid) => Problem::invalid(&invalid, place),
        };
        let edit = format!("`sops {}` opens it in an editor", self.name());
        let hint = problem.hint.as_deref().map_or(edit.clone(), |hint| format!("{hint}; {edit}"));
        problems.report(problem.hint(hint));
        Field::Wrong
    }

    fn origin(&self, name: &str) -> Option<Origin> {
        let key = self.key(name)?;
        // Only its place is asked for, so that nobody's problems are needed.
        let reader = Reader { source: &self.source, problems: &mut Problems::default() };
        Some(reader.origin(&key.span, &Arc::from(name)))
    }

    /// Says that halves of the token are missing, and what of the file may have been meant for them.
    pub(super) fn missing(&self, id: bool, secret: bool) -> Problem {
        let (message, needed) = match (id, secret) {
            (true, false) => (format!("the file has no `{TOKEN_ID}`"), format!("it needs `{TOKEN_ID}`")),
            (false, true) => (format!("the file has no `{TOKEN_SECRET}`"), format!("it needs `{TOKEN_SECRET}`")),
            _ => (
                "the file holds no API token".to_owned(),
                format!("it needs `{TOKEN_ID}` and `{TOKEN_SECRET}`, or `{TOKEN}` with `user@realm!name=secret`"),
            ),
        };
        let mut problem = Problem::error(message).at(Place::Named(self.name().to_string()));
        let likely = self.keys.iter().filter_map(|key| Some((key, key.likely()?)));
        for (key, label) in likely.take(MOST_LIKELY) {
            problem = problem.at(Place::part(&self.source, key.span.clone(), label));
        }
        problem.hint(format!(
            "{needed}, at the top level (`sops {}` opens it in an editor); or set PROXMOX_TOKEN_ID and \
             PROXMOX_TOKEN_SECRET",
            self.name()
        ))
    }

    /// Whether sops has to be told that it is JSON. What the name does not say it would take for a binary file.
    pub(super) fn format(path: &Path) -> &'static str {
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if is_json { "json" } else { "yaml" }
    }
}

/// How many keys are shown that may have been meant.
const MOST_LIKELY: usize = 3;

impl Key {
    fn of(entry: &Entry) -> Self {
        let (empty, in_clear) = match &entry.value.content {
            Content::Null => (true, false),
            Content::Scalar { text, .. } => (text.is_empty(), !text.is_empty() && !text.starts_with(ENCRYPTED)),
            Content::List(_) | Content::Map(_) => (false, false),
        };
        let below = match &entry.value.content {
            Content::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
            _ => Vec::new(),
        };
        Self { name: entry.key.clone(), span: entry.key_span.clone(), empty, in_clear, below }
    }

    /// What to say about it when a half of the token is missing; nothing if it has nothing to do with that.
    fn likely(&self) -> Option<String> {
        let name = self.name.as_str();
        if let Some(wanted) = WANTED.iter().find(|wanted| self.below.iter().any(|key| key == *wanted)) {
            return Some(format!("`{wanted}` stands below this key"));
        }
        if WANTED.contains(&name) {
            return self.empty.then(|| "nothing stands here".to_owned());
        }
        if name.starts_with("proxmox_csi_") || name.starts_with("proxmox_ccm_") {
            return name.contains("token").then(|| "belongs to another program, and is never used".to_owned());
        }
        let bare = name.trim_start_matches("proxmox_").trim_start_matches("pve_").trim_start_matches("api_");
        let elsewhere = match bare {
            "token_id" => Some(TOKEN_ID),
            "token_secret" => Some(TOKEN_SECRET),
            "token" => Some(TOKEN),
            _ => None,
        };
        let meant = elsewhere.or_else(|| did_you_mean(name, WANTED))?;
        Some(format!("did you mean `{meant}`?"))
    }
}

/// Every value that is not encrypted. Short ones are no secrets, and masking them would mask everything.
fn collect_in_clear(yaml: &Yaml, found: &mut Vec<SecretString>) {
    match &yaml.content {
        Content::Null => {}
        Content::Scalar { text, .. } => {
            if text.len() >= 4 && !text.starts_with(ENCRYPTED) {
                found.push(SecretString::from(text.as_str()));
            }
        }
        Content::List(items) => items.iter().for_each(|item| collect_in_clear(item, found)),
        Content::Map(entries) => entries.iter().for_each(|entry| collect_in_clear(&entry.value, found)),
    }
}

/// The kinds of keys that SOPS knows, the name of each one's public half, and what to call it.
const KINDS: [(&str, &str, &str); 7] = [
    ("age", "recipient", ""),
    ("pgp", "fp", "PGP key "),
    ("kms", "arn", "AWS KMS key "),
    ("gcp_kms", "resource_id", "GCP KMS key "),
    ("azure_kv", "vault_url", "Azure Key Vault "),
    ("hc_vault", "vault_address", "HashiCorp Vault "),
    ("hckms", "key_id", "Huawei Cloud KMS key "),
];

/// For whom the file is encrypted, by itself or in groups of keys.
fn recipients(metadata: &[Entry]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in metadata {
        let Content::List(items) = &entry.value.content else {
            continue;
        };
        let kind = KINDS.iter().find(|(kind, ..)| *kind == entry.key);
        for item in items {
            let Content::Map(fields) = &item.content else {
                continue;
            };
            match kind {
                Some((_, public, called)) => found.extend(fields.iter().find_map(|field| match &field.value.content {
                    Content::Scalar { text, .. } if field.key == *public => {
                        Some(format!("{called}{}", Quoted::new(text)))
                    }
                    _ => None,
                })),
                None if entry.key == "key_groups" => found.extend(recipients(fields)),
                None => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layer::Layer as _;

    const REAL: &str = include_str!("../../tests/fixtures/sops/secrets.sops.yaml");

    fn read_as(text: &str, named: bool) -> (Option<SecretsFile>, Vec<Problem>) {
        let source = Arc::new(Source::new("secrets.sops.yaml", text.to_owned()).showing_no_values());
        let found = FoundSecrets { source, path: "secrets.sops.yaml".into(), named, decrypted: None };
        let mut problems = Problems::default();
        let file = SecretsFile::read(&found, &mut problems);
        (file, problems.into_sorted())
    }

    #[track_caller]
    fn read(text: &str) -> SecretsFile {
        let (file, problems) = read_as(text, true);
        file.unwrap_or_else(|| panic!("{problems:?}"))
    }

    #[test]
    fn a_file_of_sops_shows_its_keys_and_recipients() {
        let file = read(REAL);
        let given: Vec<String> =
            file.sealed().explain().into_iter().map(|(setting, value, at)| format!("{setting} {value} {at}")).collect();
        assert_eq!(
            given,
            [
                "token_id (not decrypted) secrets.sops.yaml:2 proxmox_api_token_id",
                "token_secret (not decrypted) secrets.sops.yaml:3 proxmox_api_token_secret",
            ]
        );
        assert_eq!(file.recipients, ["`age10w9fn83qm4prjugj3zc0y0aklgkp94awn8n447pr5yc7c6qp59cqdayz0h`"]);
        assert!(file.in_clear.is_empty());
    }

    #[test]
    fn recipients_of_every_kind_are_named() {
        #[track_caller]
        fn case(metadata: &str, expected: &[&str]) {
            assert_eq!(read(&format!("a: ENC[x]\nsops: {metadata}\n")).recipients, expected);
        }
        case("{}", &[]);
        case("{age: [{recipient: age1x, enc: y}, {recipient: age1z}]}", &["`age1x`", "`age1z`"]);
        case("{pgp: [{fp: ABC}], kms: [{arn: 'arn:aws:1'}]}", &["PGP key `ABC`", "AWS KMS key `arn:aws:1`"]);
        case("{key_groups: [{age: [{recipient: age1x}]}, {pgp: [{fp: ABC}]}]}", &["`age1x`", "PGP key `ABC`"]);
        case("{age: [age1x, {recipient: [age1y]}], hc_vault: no}", &[]);
    }

    #[test]
    fn what_is_not_encrypted_is_refused_unless_it_is_nobodys_business() {
        #[track_caller]
        fn case(text: &str, named: bool, expected: &[&str]) {
            let (file, problems) = read_as(text, named);
            assert!(file.is_none());
            let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            assert_eq!(messages, expected, "{text}");
            assert!(!format!("{problems:?}").contains("hunter2"), "{problems:?}");
        }
        let no_section = "the file is not encrypted by SOPS: it has no `sops` section";
        let no_mapping = "the file is not encrypted by SOPS: it is not a mapping of keys to values";
        case("proxmox_api_token_secret: hunter2\n", false, &[no_section]);
        case("proxmox_api_token: hunter2\nsops: hunter2\n", false, &[no_section]);
        case("other: hunter2\n", true, &[no_section]);
        case("other: hunter2\n", false, &[]);
        case("nested: {sops: {age: []}}\n", true, &[no_section]);
        case("hunter2\n", true, &[no_mapping]);
        case("- hunter2\n", false, &[no_mapping]);
        case("", true, &[no_mapping]);
        case("", false, &[]);
    }

    #[test]
    fn a_secret_in_clear_is_warned_of_and_kept_out_of_messages() {
        let text =
            "proxmox_api_token_secret: hunter2\nproxmox_api_token_id: root@pam!ci\nx: [ab, {y: other}]\nsops: {}\n";
        let (file, problems) = read_as(text, false);
        assert_eq!(problems[0].message, "`proxmox_api_token_secret` is not encrypted in a file that is");
        assert_eq!(problems.len(), 1, "{problems:?}");
        let file = file.expect("it is one of SOPS");
        assert_eq!(file.in_clear.len(), 3);
        assert!(!format!("{file:?} {problems:?}").contains("hunter2"));
    }

    #[test]
    fn a_key_that_could_be_meant_is_pointed_at() {
        #[track_caller]
        fn case(line: &str, expected: &[&str]) {
            let problem = read(&format!("{line}\nsops: {{}}\n")).missing(false, true);
            assert_eq!(problem.message, "the file has no `proxmox_api_token_secret`");
            let label = |place: &Place| match place {
                Place::Part { label, .. } => Some(label.clone()),
                Place::Named(_) => None,
            };
            let labels: Vec<String> = problem.places.iter().filter_map(label).collect();
            assert_eq!(labels, expected, "{line}");
        }
        case("proxmox_api_token_secert: ENC[x]", &["did you mean `proxmox_api_token_secret`?"]);
        case("proxmox_token_secret: ENC[x]", &["did you mean `proxmox_api_token_secret`?"]);
        case("token_secret: ENC[x]", &["did you mean `proxmox_api_token_secret`?"]);
        case("proxmox_api_token_secret: \"\"", &["nothing stands here"]);
        case("proxmox_api_token_secret:", &["nothing stands here"]);
        case("proxmox_csi_token_secret: ENC[x]", &["belongs to another program, and is never used"]);
        case("proxmox_csi_storage: ENC[x]", &[]);
        case("stringData:\n  proxmox_api_token_secret: ENC[x]", &["`proxmox_api_token_secret` stands below this key"]);
        case("cf_account_id: ENC[x]\ntfstate_password: ENC[x]", &[]);
    }
}
