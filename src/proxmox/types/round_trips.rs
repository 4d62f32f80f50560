//! For every typed value: what it prints, it reads; and no text makes a parser panic.

use std::fmt;
use std::str::FromStr;

use proptest::prelude::*;

use super::*;

/// Pieces of property strings, so that many of the texts are nearly right.
fn nearly_right() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("virtio"),
        Just("=BC:24:11:5A:00:01"),
        Just("=bc:24:11:5a:00:0a"),
        Just("model=e1000"),
        Just("macaddr=bc:24:11:5a:00:01"),
        Just("bridge=vmbr0"),
        Just("tag=20"),
        Just("tag=5000"),
        Just("mtu=1400"),
        Just("queues=0"),
        Just("firewall=on"),
        Just("link_down=0"),
        Just("rate=10.5"),
        Just("trunks=1;2-5"),
        Just("local-lvm:vm-105-disk-0"),
        Just("local:105/vm-105-cloudinit.qcow2"),
        Just("local-lvm:1.5"),
        Just("local-lvm:0"),
        Just("file=none"),
        Just("media=cdrom"),
        Just("size=32G"),
        Just("size=0"),
        Just("size=1536M"),
        Just("discard=on"),
        Just("discard=ignore"),
        Just("ssd=yes"),
        Just("backup=1"),
        Just("serial=os"),
        Just("efitype=4m"),
        Just("pre-enrolled-keys=1"),
        Just("ms-cert=2023k"),
        Just("version=v2.0"),
        Just("ip=10.0.0.5/24"),
        Just("ip=dhcp"),
        Just("ip=10.0.0.5"),
        Just("gw=10.0.0.1"),
        Just("ip6=FD00::5/64"),
        Just("gw6=fd00::1"),
        Just("1"),
        Just("enabled=true"),
        Just("order=scsi0;net0"),
        Just("order=1"),
        Just("up=30"),
        Just("uuid=2CCD5E40-ADF6-4429-B2AF-A9237ACFC8F6"),
        Just("cputype=host"),
        Just("flags=+aes;-pcid"),
        Just("pc-q35-9.2"),
        Just("current=2048"),
        Just("some-day=x=y"),
        Just("é"),
    ];
    let separator = prop_oneof![9 => Just(","), 1 => Just(""), 1 => Just("="), 1 => Just(";")];
    proptest::collection::vec((piece, separator), 0..7)
        .prop_map(|parts| parts.into_iter().flat_map(|(piece, separator)| [piece, separator]).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![4 => nearly_right(), 1 => any::<String>()]
}

/// What is printed reads back as an equal value, and prints the same again.
fn check<T: FromStr + fmt::Display + fmt::Debug + PartialEq>(text: &str) -> Result<(), TestCaseError> {
    let Ok(value) = text.parse::<T>() else {
        return Ok(());
    };
    let printed = value.to_string();
    let again = printed.parse::<T>().ok();
    prop_assert_eq!(again.as_ref(), Some(&value), "printed as {}", printed);
    prop_assert_eq!(again.map(|again| again.to_string()), Some(printed));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_as_the_same_value(text in any_text()) {
        check::<NetworkCard>(&text)?;
        check::<Drive>(&text)?;
        check::<EfiDisk>(&text)?;
        check::<TpmState>(&text)?;
        check::<IpConfig>(&text)?;
        check::<Agent>(&text)?;
        check::<BootOrder>(&text)?;
        check::<Cpu>(&text)?;
        check::<MachineType>(&text)?;
        check::<Startup>(&text)?;
        check::<Smbios>(&text)?;
        check::<Tags>(&text)?;
        check::<Memory>(&text)?;
        check::<VolumeId>(&text)?;
        check::<DriveSlot>(&text)?;
        check::<DiskSlot>(&text)?;
        check::<DriveSource>(&text)?;
    }

    #[test]
    fn no_part_of_a_property_string_is_lost(text in any_text()) {
        if let Ok(properties) = Properties::parse(&text, Some("file")) {
            let again = Properties::parse(&properties.to_string(), None);
            prop_assert_eq!(again, Ok(properties));
        }
    }

    #[test]
    fn a_reading_keeps_every_text(text in any::<String>()) {
        if let Reading::Text(kept) = Reading::<NetworkCard>::of(&text) {
            prop_assert_eq!(kept, text);
        }
    }

    #[test]
    fn every_size_can_be_asked_for(bytes in 1_u64..=u64::MAX >> 1) {
        let source = DriveSource::Allocate {
            storage: "tank".parse().unwrap(),
            size: bytes.to_string().parse().unwrap(),
        };
        prop_assert_eq!(source.to_string().parse(), Ok(source));
    }
}

/// Options of a card or a drive as somebody may send them, and as Proxmox stores them.
fn options(kinds: &'static [(&'static str, &'static str, &'static str)]) -> impl Strategy<Value = (String, String)> {
    proptest::sample::subsequence(kinds, 0..=kinds.len()).prop_shuffle().prop_map(|chosen| {
        let sent: String = chosen.iter().map(|(key, sent, _)| format!(",{key}={sent}")).collect::<Vec<_>>().concat();
        let mut stored: Vec<String> = chosen.iter().map(|(key, _, stored)| format!(",{key}={stored}")).collect();
        stored.sort();
        (sent, stored.concat())
    })
}

const CARD_OPTIONS: &[(&str, &str, &str)] = &[
    ("bridge", "vmbr0", "vmbr0"),
    ("firewall", "on", "1"),
    ("link_down", "FALSE", "0"),
    ("mtu", "1400", "1400"),
    ("queues", "4", "4"),
    ("rate", "12.5", "12.5"),
    ("tag", "20", "20"),
    ("trunks", "1;2-5", "1;2-5"),
];

const DRIVE_OPTIONS: &[(&str, &str, &str)] = &[
    ("aio", "io_uring", "io_uring"),
    ("backup", "no", "0"),
    ("cache", "none", "none"),
    ("discard", "on", "on"),
    ("iothread", "yes", "1"),
    ("media", "disk", "disk"),
    ("replicate", "1", "1"),
    ("serial", "os", "os"),
    ("size", "1024M", "1G"),
    ("ssd", "true", "1"),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_form_in_which_proxmox_stores_a_card_equals_what_was_sent(
        (sent, stored) in options(CARD_OPTIONS),
        head in prop_oneof![Just("virtio=bc:24:11:00:00:0A"), Just("model=virtio,macaddr=bc:24:11:00:00:0A")],
    ) {
        let (sent, stored) = (format!("{head}{sent}"), format!("virtio=bc:24:11:00:00:0A{stored}"));
        let card: NetworkCard = sent.parse().unwrap();
        prop_assert_eq!(&card, &stored.parse().unwrap());
        prop_assert_eq!(card.to_string(), stored);
    }

    #[test]
    fn the_form_in_which_proxmox_stores_a_drive_equals_what_was_sent(
        (sent, stored) in options(DRIVE_OPTIONS),
        head in prop_oneof![Just(""), Just("file="), Just("volume=")],
    ) {
        let (sent, stored) = (format!("{head}local:vm-100-disk-0{sent}"), format!("local:vm-100-disk-0{stored}"));
        let drive: Drive = sent.parse().unwrap();
        prop_assert_eq!(&drive, &stored.parse().unwrap());
        prop_assert_eq!(drive.to_string(), stored);
    }
}
