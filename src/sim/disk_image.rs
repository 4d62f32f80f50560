//! What an image file tells about the disk in it.

/// As much of a file as has to be seen.
pub(super) const HEADER: usize = 32;

/// Bytes of the disk whose qcow2 image begins like this (QEMU's docs/interop/qcow2.rst: a big-endian number at byte 24).
/// Of other images the file is as long as the disk.
pub(super) fn virtual_size(header: &[u8]) -> Option<u64> {
    let size = header.strip_prefix(b"QFI\xfb")?.get(20..28)?;
    size.try_into().ok().map(u64::from_be_bytes)
}

/// A qcow2 image of an empty disk: a header, a table of references, and a map that leads nowhere.
pub(super) fn empty_qcow2(virtual_size: u64) -> Vec<u8> {
    const CLUSTER_BITS: u32 = 16;
    const CLUSTER: u64 = 1 << CLUSTER_BITS;
    /// Header, table of reference counts, reference counts, map.
    const CLUSTERS: usize = 4;
    /// Bytes of the disk that one entry of the map stands for.
    const PER_ENTRY: u64 = CLUSTER * CLUSTER / 8;
    let entries = u32::try_from(virtual_size.div_ceil(PER_ENTRY)).unwrap_or(u32::MAX);
    let mut header = b"QFI\xfb".to_vec();
    header.extend(2_u32.to_be_bytes());
    // No backing file.
    header.extend([0; 12]);
    header.extend(CLUSTER_BITS.to_be_bytes());
    header.extend(virtual_size.to_be_bytes());
    // Not encrypted.
    header.extend(0_u32.to_be_bytes());
    header.extend(entries.to_be_bytes());
    header.extend((3 * CLUSTER).to_be_bytes());
    header.extend(CLUSTER.to_be_bytes());
    header.extend(1_u32.to_be_bytes());
    // No snapshots.
    header.extend([0; 12]);
    let cluster = 1_usize << CLUSTER_BITS;
    let mut image = vec![0; CLUSTERS * cluster];
    image[..header.len()].copy_from_slice(&header);
    image[cluster..cluster + 8].copy_from_slice(&(2 * CLUSTER).to_be_bytes());
    for index in 0..CLUSTERS {
        image[2 * cluster + 2 * index + 1] = 1;
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_image_is_small_and_tells_how_large_its_disk_is() {
        let image = empty_qcow2(4247 << 20);
        assert_eq!((image.len(), virtual_size(&image)), (256 << 10, Some(4247 << 20)));
    }

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
