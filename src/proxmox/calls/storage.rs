use std::fmt;

use crate::model::{HostName, StorageId, VmId};
use crate::proxmox::types::VolumeId;
use crate::proxmox::{Request, form};

/// The volumes of a storage. Filtered, because Proxmox looks into every image that it lists.
pub fn volumes(host: &HostName, storage: &StorageId, content: Option<&str>, vmid: Option<VmId>) -> Request {
    Request::get(format!("/nodes/{host}/storage/{storage}/content"))
        .with_some("content", content)
        .with_some("vmid", vmid)
}

/// A task. Needs `Datastore.Allocate` on the storage; deleting what is not there is no error.
pub fn delete_volume(host: &HostName, volume: &VolumeId) -> Request {
    let storage = volume.storage();
    Request::delete(format!("/nodes/{host}/storage/{storage}/content/{}", form::escape(&volume.to_string())))
}

/// Lets a host look at what is behind a URL without fetching it.
pub fn url_metadata(host: &HostName, url: &str) -> Request {
    Request::get(format!("/nodes/{host}/query-url-metadata")).with("url", url)
}

/// An image that the host shall fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download<'a> {
    pub host: &'a HostName,
    pub storage: &'a StorageId,
    pub url: &'a str,
    pub file_name: &'a str,
    pub checksum: Option<Checksum<'a>>,
}

/// Without one, a file that is there already makes the task fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum<'a> {
    pub algorithm: ChecksumAlgorithm,
    pub digest: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumAlgorithm {
    Sha256,
    Sha512,
}

impl fmt::Display for ChecksumAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        })
    }
}

/// A task: downloads a disk image that VMs can be made from.
pub fn download(download: &Download<'_>) -> Request {
    Request::post(format!("/nodes/{}/storage/{}/download-url", download.host, download.storage))
        .with("content", "import")
        .with("url", download.url)
        .with("filename", download.file_name)
        .with_some("checksum", download.checksum.map(|checksum| checksum.digest))
        .with_some("checksum-algorithm", download.checksum.map(|checksum| checksum.algorithm))
}

/// Replaces the list of what a storage takes, so it must be the whole new one.
pub fn set_storage_content<'a>(storage: &StorageId, content: impl IntoIterator<Item = &'a str>) -> Request {
    let content: Vec<_> = content.into_iter().collect();
    Request::put(format!("/storage/{storage}")).with("content", content.join(","))
}

/// The request that carries a disk image, as an [`Upload`](crate::proxmox::Upload).
pub fn upload(host: &HostName, storage: &StorageId, checksum: Option<Checksum<'_>>) -> Request {
    Request::post(format!("/nodes/{host}/storage/{storage}/upload"))
        .with("content", "import")
        .with_some("checksum-algorithm", checksum.map(|checksum| checksum.algorithm))
        .with_some("checksum", checksum.map(|checksum| checksum.digest))
}
