use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use crate::config::{self, Schema};
use crate::ui::{Ui, pretty, to_yaml};

/// Print the JSON Schema of a file, for editors
///
/// Point your editor at it with a first line such as
/// `# yaml-language-server: $schema=./nodes.schema.json`.
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// The file that the schema is for
    #[arg(value_enum)]
    file: Schema,
}

pub(super) fn schema(args: &SchemaArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let schema = config::schema(args.file);
    match global.output {
        OutputFormat::Yaml => ui.print(&to_yaml(&schema))?,
        OutputFormat::Table | OutputFormat::Json => ui.print(&pretty(&schema))?,
    }
    Ok(Exit::Done)
}
