use std::io;
use std::path::{Path, PathBuf};

use super::Request;

/// A file to be sent with a request, which gives the fields that come before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub(super) request: Request,
    pub(super) file_name: String,
    pub(super) file: PathBuf,
    pub(super) length: u64,
}

impl Upload {
    /// Looks at the file, which is opened again whenever it is sent. Its name on the storage keeps only what Proxmox would keep: it turns everything else into `_`.
    pub fn of(request: Request, file_name: &str, file: &Path) -> io::Result<Self> {
        let length = std::fs::File::open(file)?.metadata()?.len();
        let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        Ok(Self { request, file_name: file_name.chars().map(kept).collect(), file: file.to_owned(), length })
    }

    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Its name on the storage.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }
}
