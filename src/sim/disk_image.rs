//! What an image file tells about the disk in it.

/// As much of a file as has to be seen.
pub(super) const HEADER: usize = 32;

/// Bytes of the disk whose qcow2 image begins like this (QEMU's docs/interop/qcow2.rst: a big-endian number at byte 24).
/// Of other images the file is as long as the disk.
pub(super) fn virtual_size(header: &[u8]) -> Option<u64> {
    let size = header.strip_prefix(b"QFI\xfb")?.get(20..28)?;
    size.try_into().ok().map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_qcow2_image_tells_the_size_of_its_disk() {
        let mut header = b"QFI\xfb\0\0\0\x03".to_vec();
        header.extend_from_slice(&[0; 16]);
        header.extend_from_slice(&(1_u64 << 30).to_be_bytes());
        assert_eq!(header.len(), HEADER);
        assert_eq!(virtual_size(&header), Some(1 << 30));
        assert_eq!(virtual_size(&header[..20]), None);
        assert_eq!(virtual_size(&[0; HEADER]), None);
        assert_eq!(virtual_size(b""), None);
    }
}
