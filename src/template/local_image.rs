use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

use crate::model::{Invalid, hexadecimal};
use crate::schematic::{Image, ImageFormat, ImageUrl};

/// A disk image on this machine, looked into: a wrong file is better found here than after it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalImage {
    pub path: PathBuf,
    pub format: ImageFormat,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the disk in it.
    pub disk_bytes: u64,
    pub sha256: String,
}

const WHAT: &str = "a Talos disk image that Proxmox can import";

impl LocalImage {
    /// Reads the whole file once. The inner error is about what it is, the outer one about reading it.
    pub fn read(path: &Path, image: &Image) -> io::Result<Result<Self, Invalid>> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let format = match ImageUrl::format_of(&name, image) {
            Ok(format) => format,
            Err(invalid) => return Ok(Err(invalid)),
        };
        let mut file = File::open(path)?;
        let mut digest = Context::new(&SHA256);
        let (mut beginning, mut bytes) = (Vec::new(), 0_u64);
        let mut piece = vec![0; 1 << 20];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                break;
            }
            if beginning.len() < BEGINNING {
                beginning.extend_from_slice(&piece[..read.min(BEGINNING)]);
            }
            digest.update(&piece[..read]);
            bytes += read as u64;
        }
        let disk_bytes = match disk_bytes(&beginning, bytes, format) {
            Ok(disk_bytes) => disk_bytes,
            Err(why) => {
                let hint = "take nocloud-amd64.qcow2 as the Image Factory serves it, uncompressed";
                return Ok(Err(Invalid::new(&name, WHAT).because(why).hint(hint)));
            }
        };
        let sha256 = hexadecimal(digest.finish().as_ref());
        Ok(Ok(Self { path: path.to_owned(), format, bytes, disk_bytes, sha256 }))
    }
}

/// As much of a file as tells what it is: an ISO names itself after 32 KiB.
const BEGINNING: usize = 33 << 10;

/// Bytes of the disk in a file, or why there is none.
fn disk_bytes(beginning: &[u8], bytes: u64, format: ImageFormat) -> Result<u64, &'static str> {
    let at = |offset: usize, mark: &[u8]| beginning.get(offset..offset + mark.len()) == Some(mark);
    if at(0, b"\xfd7zXZ\0") || at(0, b"\x28\xb5\x2f\xfd") || at(0, b"\x1f\x8b") {
        return Err("it is compressed, whatever its name says");
    }
    if at(0x8001, b"CD001") && !at(512, b"EFI PART") {
        return Err("it is an ISO, whatever its name says");
    }
    let is_qcow2 = at(0, b"QFI\xfb");
    let disk = match format {
        ImageFormat::Qcow2 if !is_qcow2 => return Err("it does not begin as a qcow2 image does"),
        ImageFormat::Raw if is_qcow2 => return Err("it is a qcow2 image, whatever its name says"),
        // QEMU's docs/interop/qcow2.rst: a big-endian number at byte 24.
        ImageFormat::Qcow2 => {
            let size = beginning.get(24..32).and_then(|size| size.try_into().ok());
            u64::from_be_bytes(size.ok_or("it is too short")?)
        }
        ImageFormat::Raw if !at(510, b"\x55\xaa") => return Err("it has no partition table"),
        ImageFormat::Raw => bytes,
    };
    if disk < Image::SMALLEST_DISK { Err("its disk is smaller than any that Talos fits on") } else { Ok(disk) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8]) -> Result<LocalImage, Invalid> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let image = Image {
            talos_version: "1.12.0".parse().unwrap(),
            schematic_id: "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515".parse().unwrap(),
            secureboot: false,
        };
        LocalImage::read(&path, &image).unwrap()
    }

    fn qcow2(disk: u64) -> Vec<u8> {
        let mut content = b"QFI\xfb\0\0\0\x03".to_vec();
        content.extend_from_slice(&[0; 16]);
        content.extend_from_slice(&disk.to_be_bytes());
        content.resize(1000, 0);
        content
    }

    #[test]
    fn a_file_is_what_it_holds_and_not_what_it_is_called() {
        let right = read("nocloud-amd64.qcow2", &qcow2(4247 << 20)).unwrap();
        assert_eq!((right.bytes, right.disk_bytes, right.format), (1000, 4247 << 20, ImageFormat::Qcow2));
        assert_eq!(right.sha256.len(), 64);
        let wrong = |name: &str, content: &[u8], why: &str| {
            let refused = read(name, content).unwrap_err();
            assert!(refused.why().unwrap_or_default().contains(why), "{refused:?}");
        };
        wrong("nocloud-amd64.qcow2", b"\xfd7zXZ\0 and so on", "compressed");
        wrong("nocloud-amd64.qcow2", b"hello", "does not begin as a qcow2");
        wrong("nocloud-amd64.raw", &qcow2(4247 << 20), "it is a qcow2 image");
        wrong("nocloud-amd64.raw", &[0; 1000], "no partition table");
        wrong("nocloud-amd64.qcow2", &qcow2(1 << 20), "smaller than any");
        wrong("metal-amd64.qcow2", &qcow2(4247 << 20), "a metal image");
        let mut iso = vec![0; 40_000];
        iso[0x8001..0x8006].copy_from_slice(b"CD001");
        wrong("nocloud-amd64.raw", &iso, "an ISO");
    }
}
