use std::io;

use clap_complete::Shell;

use super::args::command;
use super::exit::Exit;
use crate::ui::Ui;

/// Print the completion script of a shell
///
/// For example `pvetalos completions bash > ~/.local/share/bash-completion/completions/pvetalos`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn completions(args: &CompletionsArgs, ui: &mut Ui) -> io::Result<Exit> {
    ui.print(&completion_script(args.shell))?;
    Ok(Exit::Done)
}

/// What makes a shell complete the commands, flags and values of the program.
pub fn completion_script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "pvetalos", &mut script);
    String::from_utf8(script).expect("our words are UTF-8")
}
