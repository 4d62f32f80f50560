use std::io;
use std::path::PathBuf;

use clap::Command;
use clap_mangen::Man;

use super::args::built_command;
use super::exit::Exit;
use crate::ui::Ui;

/// Print the manual page of the program, or write those of all commands into a folder
///
/// For example `pvetalos man --folder ~/.local/share/man/man1`, and then `man pvetalos-provision`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Write a page for the program and for every command into this folder, over those of an earlier version
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(super) fn man(args: &ManArgs, ui: &mut Ui) -> io::Result<Exit> {
    let pages = manual_pages();
    let Some(folder) = &args.folder else {
        ui.print(&pages[0].1)?;
        return Ok(Exit::Done);
    };
    let write = || {
        std::fs::create_dir_all(folder)?;
        pages.iter().try_for_each(|(name, page)| std::fs::write(folder.join(name), page))
    };
    if let Err(error) = write() {
        let hint = "check the name of the folder and who may write there";
        ui.show_failure(&format!("the manual pages cannot be written to {}: {error}", folder.display()), hint);
        return Ok(Exit::Failed);
    }
    ui.say(&format!("{} pages written to {}", pages.len(), folder.display()));
    Ok(Exit::Done)
}

/// The manual pages with their file names, that of the program first.
pub fn manual_pages() -> Vec<(String, String)> {
    let program = built_command();
    let mut pages = Vec::new();
    collect(&program, &mut pages);
    pages
}

fn collect(command: &Command, pages: &mut Vec<(String, String)>) {
    // Building gave every command a name of its own, as in `pvetalos-template-create`.
    let name = command.get_display_name().unwrap_or("pvetalos");
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).expect("writing to memory never fails");
    // What stands below the help of the program are its exit codes, for which manuals have a name.
    let page = String::from_utf8(page).expect("our words are UTF-8").replace(".SH EXTRA\n", ".SH \"EXIT STATUS\"\n");
    pages.push((format!("{name}.1"), page));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, pages);
    }
}
