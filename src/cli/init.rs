use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::schematic::{problem, said};
use crate::config::Place;
use crate::init::{FileStep, Folder, Step, begin, looked_at};
use crate::model::ClusterName;
use crate::ui::{Ui, begun_json, begun_text, pretty, to_yaml};

/// Write the files that a repository begins with
///
/// In an empty folder a commented nodes.yaml, the go-task include and a line of .gitignore. A cluster repository keeps its
/// files and gets a pvetalos.yaml and the include. Nothing that is there is written over. `--cluster-name` gives the name;
/// without it that of the folder is taken, and told.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {}

pub(super) fn init(_: &InitArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let name = match global.cluster_name.as_deref().map(str::parse::<ClusterName>).transpose() {
        Ok(name) => name,
        Err(invalid) => {
            let place = Place::Named("--cluster-name".to_owned());
            ui.show_problems(&[problem(said(&invalid), None, Some(place))]);
            return Ok(Exit::WrongInput);
        }
    };
    if let Some(flag) = global.named_file() {
        ui.show_failure(
            &format!("`init` writes into this folder, and takes no {flag}"),
            "go to the folder, and leave it out",
        );
        return Ok(Exit::WrongInput);
    }
    let here = std::env::current_dir()?;
    let folder = look(&here);
    let Some(beginning) = begin(&folder, name.as_ref(), [fastrand::u8(..), fastrand::u8(..)]) else {
        let hint = "give one with --cluster-name; the cluster's VMs are recognised by it, so choose it once";
        ui.show_failure(&format!("the name of this folder, {}, makes no name for a cluster", folder.name), hint);
        return Ok(Exit::WrongInput);
    };
    for step in &beginning.files {
        if let Err(error) = carry_out(&here, step) {
            let hint = "check who may write there; run it again, and what is there already is kept";
            ui.show_failure(&format!("{} cannot be written: {error}", step.file), hint);
            return Ok(Exit::Failed);
        }
    }
    match global.output {
        OutputFormat::Table => ui.show(&begun_text(&beginning))?,
        OutputFormat::Json => ui.print(&pretty(&begun_json(&beginning)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&begun_json(&beginning)))?,
    }
    Ok(Exit::Done)
}

/// What is there. A file that cannot be read is there all the same.
fn look(here: &Path) -> Folder {
    let name = here.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut files = BTreeMap::new();
    for file in looked_at() {
        match std::fs::read(here.join(file)) {
            Ok(bytes) => drop(files.insert(file, String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => drop(files.insert(file, String::new())),
        }
    }
    Folder { name, files }
}

/// Writes a file that is not there, or adds to one that is. What appeared in between is not written over.
fn carry_out(here: &Path, FileStep { file, step, .. }: &FileStep) -> io::Result<()> {
    let path = here.join(file);
    let mut options = OpenOptions::new();
    let text = match step {
        Step::Write(text) => {
            options.write(true).create_new(true);
            text
        }
        Step::Append(text) => {
            options.append(true);
            text
        }
        Step::Keep => return Ok(()),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    options.open(path)?.write_all(text.as_bytes())
}
