//! `--simulate`: a Proxmox that exists only in a file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::world::{load_world, not_kept, problem};
use crate::config::{Place, Problem, Severity};
use crate::model::ApiToken;
use crate::sim::{Adjustments, Certificate, Clock, InProcess, Simulator, Waits, WorldFile, WorldFileError};

/// How many seconds the world lives in one of ours. Talos takes twenty to boot and a clone a dozen: real enough to be
/// watched, and over after a few seconds.
const SPEED: u32 = 10;

/// How long a clone takes in the built-in world: long enough for a percent to be seen at that speed.
const CLONE_TIME: Duration = Duration::from_secs(12);

/// Where worlds are kept that began with a file that somebody wrote.
const FOLDER: &str = ".pvetalos";

/// A simulated cluster, and the file that keeps it.
#[derive(Debug)]
pub(super) struct Pretended {
    simulator: Simulator,
    certificate: Certificate,
    pub(super) token: ApiToken,
    /// Where it is kept.
    pub(super) file: PathBuf,
    /// Whether it goes on from an earlier run.
    pub(super) goes_on: bool,
}

impl Pretended {
    /// Goes on with the world in the file, or begins the built-in one.
    pub(super) fn open(named: &Path) -> Result<Self, Vec<Problem>> {
        if is_written(named) && !named.exists() {
            return Err(vec![absent(named)]);
        }
        let file = kept_at(named);
        let goes_on = file.exists();
        let begins_with = if goes_on { Some(file.as_path()) } else { Some(named).filter(|named| named.exists()) };
        let mut loaded = load_world(begins_with)?;
        if begins_with.is_none() {
            loaded.adjust(&Adjustments { clone_time: Some(CLONE_TIME), ..Adjustments::default() });
        }
        let WorldFile { world, faults, certificate } = loaded;
        let certificate = match certificate {
            Some(certificate) => certificate,
            None => Certificate::generate().map_err(|error| vec![problem(&error, BUG.to_owned())])?,
        };
        let token = world.authorization().and_then(|header| header.parse().ok()).ok_or_else(|| {
            let error = io::Error::other(format!("the world in {} has no token", named.display()));
            vec![problem(&error, "add one under `tokens`, as the worlds in examples/worlds do".to_owned())]
        })?;
        let clock = Clock::starting_at(world.now()).times(SPEED);
        let simulator = Simulator::with(world, clock, Waits::default());
        for fault in faults {
            simulator.inject(fault);
        }
        let pretended = Self { simulator, certificate, token, file, goes_on };
        // A file that cannot be written is found out now and not when all is done.
        pretended.keep().map_err(|problem| vec![problem])?;
        Ok(pretended)
    }

    pub(super) fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    pub(super) fn transport(&self) -> InProcess {
        let ApiToken { id, secret } = &self.token;
        InProcess::new(self.simulator.clone(), format!("PVEAPIToken={id}={}", secret.expose()))
    }

    /// Keeps the world as it is now, with all that goes on in it.
    pub(super) fn keep(&self) -> Result<(), Problem> {
        let failed = |source: io::Error| WorldFileError::Keep { path: self.file.clone(), source };
        let kept = make_folder(&self.file)
            .map_err(failed)
            .and_then(|()| self.simulator.world(|world| WorldFile::keep(world, &self.certificate, &self.file)));
        kept.map_err(|error| not_kept(&self.file, &error))
    }
}

const BUG: &str = "report this as a bug of pvetalos";

/// Whether the file is one that people write, and not one that a run keeps.
fn is_written(named: &Path) -> bool {
    named.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Whoever names a world that he wrote does not want another one.
fn absent(named: &Path) -> Problem {
    Problem {
        severity: Severity::Error,
        message: "there is no such file".to_owned(),
        places: vec![Place::Named(format!("--simulate={}", named.display()))],
        hint: Some("examples/worlds has worlds to begin with; a name that ends in .json begins a new one".to_owned()),
    }
}

/// A world that somebody wrote as YAML is only a beginning: it is not written over.
fn kept_at(named: &Path) -> PathBuf {
    match named.file_stem() {
        Some(stem) if is_written(named) => {
            let mut name = stem.to_owned();
            name.push(".json");
            Path::new(FOLDER).join(name)
        }
        _ => named.to_owned(),
    }
}

/// Makes the folder of a file, if there is none; nobody wants to commit what is in it.
fn make_folder(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(".gitignore"), "*\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_world_begins_built_in_and_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/world.json");
        let first = Pretended::open(&file).expect("there is a built-in world");
        assert!(!first.goes_on && file.exists());
        assert_eq!(std::fs::read_to_string(folder.path().join("new/.gitignore")).expect("it is there"), "*\n");
        first.simulator().world(|world| world.advance(Duration::from_secs(500)));
        first.keep().expect("the folder can be written");
        let second = Pretended::open(&file).expect("it was kept");
        assert!(second.goes_on);
        assert!(second.simulator().clock().now() >= Duration::from_secs(500));
    }

    #[test]
    fn a_world_that_somebody_wrote_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = folder.path().join("rack.yaml");
        std::fs::write(&written, "hosts: {pve1: {}}\n").expect("the folder can be written");
        assert_eq!(kept_at(&written), Path::new(".pvetalos/rack.json"));
        assert_eq!(kept_at(Path::new("world.json")), Path::new("world.json"));
    }
}
