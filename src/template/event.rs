use std::fmt;

use super::Place;
use crate::model::{HostName, StorageId, VmId};

/// What happens while a template is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Begun(Step),
    Percent(Step, u8),
    Done(Step),
    /// Something worth knowing that stops nothing.
    Note(String),
}

/// Tells somebody what happens, and about which template.
pub(super) type Tell<'a> = &'a (dyn Fn(&Place, &Event) + Sync);

/// One change on the way to a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The whole list is what the storage takes from then on.
    EnableImport {
        storage: StorageId,
        content: String,
    },
    Download {
        url: String,
        storage: StorageId,
        host: HostName,
    },
    Upload {
        file: String,
        storage: StorageId,
        host: HostName,
    },
    Create {
        vmid: VmId,
        host: HostName,
    },
    Convert {
        vmid: VmId,
        host: HostName,
    },
    /// A twin that another run made at the same time is kept, and this one goes.
    RemoveTwin {
        vmid: VmId,
        host: HostName,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EnableImport { storage, content } => {
                write!(f, "let storage {storage} take disk images to import (content {content})")
            }
            Self::Download { url, storage, host } => write!(f, "download {url} to {storage} on {host}"),
            Self::Upload { file, storage, host } => write!(f, "upload {file} to {storage} on {host}"),
            Self::Create { vmid, host } => write!(f, "make VM {vmid} on {host} from the image"),
            Self::Convert { vmid, host } => write!(f, "make VM {vmid} on {host} a template"),
            Self::RemoveTwin { vmid, host } => write!(f, "remove VM {vmid} on {host}, which another run made as well"),
        }
    }
}
