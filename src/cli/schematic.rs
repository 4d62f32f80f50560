use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use crate::config::{NearMiss, Place, Problem, Severity, read_schematic};
use crate::factory::push;
use crate::model::{Invalid, SchematicId, TalosVersion};
use crate::schematic::{FactoryUrl, Image, ImageFormat, Schematic};
use crate::ui::{Ui, pretty, schematic_json, schematics_json, to_yaml};

/// Tell what an Image Factory calls a schematic and its images
#[derive(Debug, Args)]
pub(super) struct SchematicArgs {
    #[command(subcommand)]
    command: SchematicCommand,
}

#[derive(Debug, Subcommand)]
enum SchematicCommand {
    Id(IdArgs),
    Url(UrlArgs),
    Push(PushArgs),
}

/// Print the id of a schematic, computed here
///
/// Nothing is asked of anybody: the id is the SHA-256 of the schematic's canonical text.
#[derive(Debug, Args)]
struct IdArgs {
    #[command(flatten)]
    files: SchematicFiles,
}

/// Print where an image is, and the installer that belongs to it
#[derive(Debug, Args)]
struct UrlArgs {
    #[command(flatten)]
    source: SchematicSource,
    #[command(flatten)]
    extensions: ExtensionArgs,
    /// The Talos release, as in 1.12.0
    #[arg(long, value_name = "VERSION", value_parser = parsed::<TalosVersion>)]
    talos_version: TalosVersion,
    /// The image that is signed for secure boot
    #[arg(long)]
    secureboot: bool,
    /// The form of the disk image: qcow2 or raw
    #[arg(long, value_name = "FORMAT", default_value = "qcow2", value_parser = parsed::<ImageFormat>)]
    format: ImageFormat,
    #[command(flatten)]
    factory: FactoryArgs,
}

/// Register a schematic with an Image Factory, which can then build images of it
///
/// What the factory calls it is compared with the id computed here. Doing it again changes nothing.
#[derive(Debug, Args)]
struct PushArgs {
    #[command(flatten)]
    files: SchematicFiles,
    #[command(flatten)]
    factory: FactoryArgs,
}

#[derive(Debug, Args)]
struct SchematicFiles {
    /// Schematic files, as the Image Factory takes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    extensions: ExtensionArgs,
}

/// What to make of extensions that are not known here.
#[derive(Debug, Args)]
pub(super) struct ExtensionArgs {
    /// Take extensions as they are, also when their names look misspelt
    #[arg(long)]
    any_extension: bool,
}

impl ExtensionArgs {
    pub(super) fn near_miss(&self) -> NearMiss {
        if self.any_extension { NearMiss::Allow } else { NearMiss::Refuse }
    }
}

/// A schematic by its file or by its id.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct SchematicSource {
    /// A schematic file, as the Image Factory takes it
    #[arg(long = "schematic", value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// The id of a schematic
    #[arg(long = "schematic-id", value_name = "ID", value_parser = parsed::<SchematicId>)]
    pub(super) id: Option<SchematicId>,
}

/// Which Image Factory to use.
#[derive(Debug, Args)]
pub(super) struct FactoryArgs {
    /// The Image Factory
    #[arg(long, value_name = "URL", default_value = "https://factory.talos.dev", value_parser = parsed::<FactoryUrl>)]
    pub(super) factory: FactoryUrl,
}

/// Reads a value of a flag, and says all that is known about a wrong one.
pub(super) fn parsed<T: std::str::FromStr<Err = Invalid>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|invalid: Invalid| said(&invalid))
}

/// What is wrong, why, and what to do, in one line.
pub(super) fn said(invalid: &Invalid) -> String {
    let part = |before: &str, text: Option<&str>| text.map_or(String::new(), |text| format!("{before}{text}"));
    format!("{invalid}{}{}", part(": ", invalid.why()), part("; ", invalid.suggestion()))
}

pub(super) async fn schematic(args: &SchematicArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    match &args.command {
        SchematicCommand::Id(args) => id(args, global, ui),
        SchematicCommand::Url(args) => url(args, global, ui),
        SchematicCommand::Push(args) => register(args, global, ui).await,
    }
}

fn id(args: &IdArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let Some(schematics) = args.files.read(ui) else {
        return Ok(Exit::WrongInput);
    };
    show_ids(&schematics, global, ui)?;
    Ok(Exit::Done)
}

fn show_ids(schematics: &[(&Path, Schematic)], global: &GlobalArgs, ui: &mut Ui) -> io::Result<()> {
    let document = || schematics_json(schematics);
    match (global.output, schematics) {
        (OutputFormat::Json, _) => ui.print(&pretty(&document())),
        (OutputFormat::Yaml, _) => ui.print(&to_yaml(&document())),
        (OutputFormat::Table, [(_, one)]) => ui.show(one.id().as_str()),
        (OutputFormat::Table, several) => {
            let lines = several.iter().map(|(file, schematic)| format!("{}  {}\n", schematic.id(), file.display()));
            ui.show(&lines.collect::<String>())
        }
    }
}

fn url(args: &UrlArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let schematic_id = args.source.id(ui, args.extensions.near_miss());
    let image = image(&args.talos_version, schematic_id, args.secureboot, ui);
    let Some(image) = image else {
        return Ok(Exit::WrongInput);
    };
    let (url, installer) = (image.url(&args.factory.factory, args.format), image.installer(&args.factory.factory));
    let document: Value = schematic_json(&image, json!({ "url": url, "installer": installer }));
    match global.output {
        OutputFormat::Json => ui.print(&pretty(&document))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&document))?,
        OutputFormat::Table => ui.show(&format!("image      {url}\ninstaller  {installer}\n"))?,
    }
    Ok(Exit::Done)
}

async fn register(args: &PushArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    // A real factory would keep what was only meant to be tried out.
    if global.simulate.is_some() {
        let hint = "`pvetalos simulate --factory 127.0.0.1:0` serves a factory: name it by `--factory \
                    http://127.0.0.1:PORT`, without --simulate";
        let place = Place::Named("--simulate".to_owned());
        let message = "no schematic is pushed to a factory in a simulation".to_owned();
        ui.show_problems(&[problem(message, Some(hint.to_owned()), Some(place))]);
        return Ok(Exit::WrongInput);
    }
    let Some(schematics) = args.files.read(ui) else {
        return Ok(Exit::WrongInput);
    };
    let mut failed = 0;
    for (file, schematic) in &schematics {
        if let Err(error) = push(&args.factory.factory, schematic).await {
            failed += 1;
            let place = Place::Named(file.display().to_string());
            ui.show_problems(&[problem(error.with_causes(), Some(error.hint()), Some(place))]);
        }
    }
    if failed == 0 {
        show_ids(&schematics, global, ui)?;
    }
    Ok(match failed {
        0 => Exit::Done,
        failed if failed == schematics.len() => Exit::Failed,
        _ => Exit::Partial,
    })
}

pub(super) fn problem(message: String, hint: Option<String>, place: Option<Place>) -> Problem {
    Problem { severity: Severity::Error, message, places: place.into_iter().collect(), hint }
}

impl SchematicFiles {
    /// All of them, or none when one is wrong; the mistakes of all are shown.
    fn read(&self, ui: &mut Ui) -> Option<Vec<(&Path, Schematic)>> {
        let near_miss = self.extensions.near_miss();
        let read: Vec<_> = self.files.iter().map(|file| (file.as_path(), read_shown(file, near_miss, ui))).collect();
        read.into_iter().map(|(file, schematic)| Some((file, schematic?))).collect()
    }
}

/// Reads a schematic and shows what is wrong or doubtful about it.
pub(super) fn read_shown(file: &Path, near_miss: NearMiss, ui: &mut Ui) -> Option<Schematic> {
    let (schematic, problems) = read_schematic(file, near_miss);
    ui.show_problems(&problems);
    schematic
}

impl SchematicSource {
    /// The id, unless the file is wrong, which is then shown.
    fn id(&self, ui: &mut Ui, near_miss: NearMiss) -> Option<SchematicId> {
        match &self.file {
            Some(file) => read_shown(file, near_miss, ui).map(|schematic| schematic.id()),
            None => self.id.clone(),
        }
    }
}

/// The image, unless there cannot be such a one, which is then shown.
pub(super) fn image(
    talos_version: &TalosVersion,
    schematic_id: Option<SchematicId>,
    secureboot: bool,
    ui: &mut Ui,
) -> Option<Image> {
    if let Err(invalid) = Image::check_version(talos_version) {
        let message = invalid.why().map_or_else(|| invalid.to_string(), |why| format!("{invalid}: {why}"));
        let hint = invalid.suggestion().map(str::to_owned);
        ui.show_problems(&[problem(message, hint, Some(Place::Named("--talos-version".to_owned())))]);
        return None;
    }
    Some(Image { talos_version: talos_version.clone(), schematic_id: schematic_id?, secureboot })
}
