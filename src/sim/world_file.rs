//! A world in a file: the short form that people write, or the complete one that is kept between runs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::http::{Certificate, CertificateError};
use super::random::Random;
use super::{Fault, InvalidWorld, World};

/// A world, with what belongs to the shell around it.
///
/// Beside the keys of the world a file may have `faults`, what will go wrong with requests, and `certificate`, the
/// server's certificate with its key, so that clients that pinned it know it again.
#[derive(Debug)]
pub struct WorldFile {
    pub world: World,
    pub faults: Vec<Fault>,
    pub certificate: Option<Certificate>,
}

#[derive(Debug, thiserror::Error)]
pub enum WorldFileError {
    #[error("a world is a mapping of keys to values")]
    NoMapping,
    #[error("the world makes no sense")]
    World(#[from] InvalidWorld),
    #[error("`{key}` makes no sense")]
    Key { key: &'static str, source: serde_json::Error },
    #[error("`certificate` makes no sense")]
    Certificate(#[from] CertificateError),
    #[error("cannot keep the world in {}", .path.display())]
    Keep { path: PathBuf, source: io::Error },
}

/// What a run wants to have otherwise than the file says.
#[derive(Clone, Debug, Default)]
pub struct Adjustments {
    /// The version of Proxmox VE, as in `8.4.21`.
    pub version: Option<String>,
    /// How long a full clone of the largest template takes.
    pub clone_time: Option<Duration>,
    /// Makes the same MACs and ids from here on.
    pub seed: Option<u64>,
}

impl WorldFile {
    pub fn adjust(&mut self, adjustments: &Adjustments) {
        let Self { world, .. } = self;
        if let Some(version) = &adjustments.version {
            world.release.version.clone_from(version);
        }
        if let Some(time) = adjustments.clone_time {
            world.timing.copy_rate = copy_rate(largest_template(world), time);
        }
        // A world that goes on would make the MACs and ids again that it has already.
        if let Some(seed) = adjustments.seed.filter(|_| world.now().is_zero()) {
            world.random = Random::new(seed);
        }
    }

    /// Reads what the text of a file came to.
    pub fn from_json(mut value: Value) -> Result<Self, WorldFileError> {
        let object = value.as_object_mut().ok_or(WorldFileError::NoMapping)?;
        let faults = take(object, "faults")?.unwrap_or_default();
        let certificate: Option<String> = take(object, "certificate")?;
        let certificate = certificate.map(|pem| Certificate::from_pem(&pem)).transpose()?;
        Ok(Self { world: World::from_json(&value)?, faults, certificate })
    }

    /// Keeps a world, with everything that goes on in it. The next run is its continuation.
    ///
    /// It is written beside its place first, so that a crash leaves the old one or the new one, never half of one. Nobody
    /// else may read it, because the certificate's key is in it.
    pub fn keep(world: &World, certificate: &Certificate, path: &Path) -> Result<(), WorldFileError> {
        let failed = |source: io::Error| WorldFileError::Keep { path: path.to_owned(), source };
        let mut value = world.to_json();
        value["certificate"] = json!(certificate.pem());
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        write_private(Path::new(&beside), &value.to_string()).map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }
}

/// Writes a new file that only its owner may read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // What a crash left behind may be open to others.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Bytes of what a full clone of the largest template copies.
fn largest_template(world: &World) -> u64 {
    let templates = world.vms.iter().filter(|(_, vm)| vm.is_template()).map(|(id, _)| *id);
    let size_of = |template: u32| -> u64 {
        let volumes = world.storages.values().flat_map(|storage| storage.volumes.values().flatten());
        volumes.filter(|(_, volume)| volume.owner == Some(template)).map(|(_, volume)| volume.size).max().unwrap_or(0)
    };
    templates.map(size_of).max().unwrap_or(0)
}

/// MiB per second; as fast as can be said when nothing may take any time.
fn copy_rate(bytes: u64, time: Duration) -> u64 {
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    (bytes.saturating_mul(1000) >> 20).checked_div(milliseconds).map_or(u64::from(u32::MAX), |rate| rate.max(1))
}

fn take<T: DeserializeOwned>(
    object: &mut serde_json::Map<String, Value>,
    key: &'static str,
) -> Result<Option<T>, WorldFileError> {
    let value = object.remove(key).filter(|value| !value.is_null());
    value.map(serde_json::from_value).transpose().map_err(|source| WorldFileError::Key { key, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<WorldFile, WorldFileError> {
        WorldFile::from_json(value)
    }

    #[test]
    fn faults_and_certificate_stand_beside_the_world() {
        let certificate = Certificate::generate().expect("a certificate can be made");
        let file = read(json!({
            "hosts": {"pve1": {}},
            "faults": [{"do": "lose_answer", "at": 3}],
            "certificate": certificate.pem(),
        }))
        .expect("the file is valid");
        assert_eq!(file.faults, [Fault::lose_answer().at(3)]);
        assert_eq!(file.certificate.map(|kept| kept.fingerprint()), Some(certificate.fingerprint()));
    }

    #[test]
    fn a_kept_world_goes_on_where_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("world.json");
        let mut world = World::from_json(&json!({"vms": {"100": {}}})).expect("a world");
        world.advance(Duration::from_secs(90));
        let certificate = Certificate::generate().expect("a certificate can be made");
        std::fs::write(folder.path().join("world.json.new"), "half of").expect("the folder can be written");
        WorldFile::keep(&world, &certificate, &path).expect("the folder can be written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).expect("the file is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "there is a private key in it");
        }

        let text = std::fs::read_to_string(&path).expect("the file is there");
        let kept = read(serde_json::from_str(&text).expect("it is JSON")).expect("it is a world");
        assert_eq!(kept.world.to_json(), world.to_json());
        assert_eq!(kept.world.now(), Duration::from_secs(90));
        assert_eq!(kept.certificate.map(|kept| kept.fingerprint()), Some(certificate.fingerprint()));
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing else is left");
    }

    #[test]
    fn mistakes_are_named() {
        #[track_caller]
        fn case(value: Value, expected: &str) {
            assert_eq!(read(value).expect_err("the file is wrong").to_string(), expected);
        }
        case(json!([]), "a world is a mapping of keys to values");
        case(json!({"faults": [{"do": "nonsense"}]}), "`faults` makes no sense");
        case(json!({"certificate": "nonsense"}), "`certificate` makes no sense");
        case(json!({"hots": {}}), "the world makes no sense");
    }

    #[test]
    fn a_clone_takes_as_long_as_it_should() {
        #[track_caller]
        fn case(time: Duration, expected: u64) {
            let mut file = read(json!({"templates": {"9000": {"disks": {"scsi0": "10G"}}}})).expect("a world");
            file.adjust(&Adjustments { clone_time: Some(time), ..Adjustments::default() });
            assert_eq!(file.world.timing.copy_rate, expected);
        }
        case(Duration::from_secs(10), 1024);
        case(Duration::from_secs(1_000_000), 1);
        case(Duration::ZERO, u64::from(u32::MAX));
    }
}
