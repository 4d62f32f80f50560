//! What tests stand on: folders, and programs that may not be there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Tells what is left out. Not by a macro, whose words nobody sees when the test passes.
pub(crate) fn skipped(why: &str) {
    drop(writeln!(std::io::stderr(), "skipped: {why}"));
}

/// Every file on the PATH that has the name of this program.
pub(crate) fn on_path(program: &str) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(program)).collect();
    files.into_iter().filter(|file| file.is_file())
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its kind is known").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}
