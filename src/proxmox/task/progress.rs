use super::LogLine;
use crate::model::VmId;

/// How far a task is, by its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskProgress {
    /// How many lines of the log were read.
    pub lines: u64,
    pub last_line: String,
    /// The VM that a clone makes, once the log shows it. The task's own name has only the template's number.
    pub target: Option<VmId>,
    /// The drives whose copying began, in that order; the last one is under way.
    pub drives: Vec<DriveCopy>,
    /// Of a download.
    pub download_percent: Option<u8>,
}

/// The copying of one drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveCopy {
    /// Like `scsi0`.
    pub drive: String,
    /// Absent until the first line about it; small drives never have one.
    pub percent: Option<u8>,
}

impl TaskProgress {
    /// Takes in the next lines of the log.
    pub fn read(&mut self, lines: &[LogLine]) {
        for line in lines {
            self.lines = line.number;
            self.read_line(&line.text);
        }
        if let Some(line) = lines.last() {
            self.last_line.clone_from(&line.text);
        }
    }

    fn read_line(&mut self, line: &str) {
        if let Some(new) = line.strip_prefix("creating a clone of VM ").and_then(|rest| rest.split_once(" with ID ")) {
            self.target = new.1.trim().parse().ok();
        } else if let Some(drive) = drive_that_begins(line) {
            self.drives.push(DriveCopy { drive: drive.to_owned(), percent: None });
        } else if let Some(percent) = transferred_percent(line) {
            match self.drives.last_mut() {
                Some(copy) => copy.percent = Some(percent),
                None => self.drives.push(DriveCopy { drive: String::new(), percent: Some(percent) }),
            }
        } else if let Some(percent) = wget_percent(line) {
            self.download_percent = Some(percent);
        } else if self.target.is_none() {
            // Before PVE 9.1 only the names of the new volumes tell.
            self.target = owner_of_new_volume(line);
        }
    }

    /// How far the whole is, when this many disks are to be copied.
    ///
    /// Only drives that have ever shown a percentage count: the firmware's and cloud-init's are copied in no time and
    /// show none. A drive after which another one began is complete.
    pub fn percent(&self, disks: usize) -> Option<u8> {
        if let Some(percent) = self.download_percent {
            return Some(percent);
        }
        let (last, left_behind) = self.drives.split_last()?;
        let complete = left_behind.iter().filter(|copy| copy.percent.is_some()).count();
        let counted = complete + usize::from(last.percent.is_some());
        let percent = (100 * complete + usize::from(last.percent.unwrap_or(0))) / disks.max(counted).max(1);
        u8::try_from(percent).ok()
    }
}

/// `create full clone of drive scsi0 (local:9000/base-9000-disk-1.qcow2)`, or a linked one.
fn drive_that_begins(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("create full clone of drive ")
        .or_else(|| line.strip_prefix("create linked clone of drive "))?;
    rest.split_whitespace().next()
}

/// The number in `vm-105-disk-0` or `vm-105-cloudinit`. Lines that name the source's volumes begin a drive.
fn owner_of_new_volume(line: &str) -> Option<VmId> {
    let numbers = line.split("vm-").skip(1).map(|rest| rest.split_once('-'));
    let of_volume = numbers.flatten().find(|(_, rest)| rest.starts_with("disk-") || rest.starts_with("cloudinit"));
    of_volume.and_then(|(number, _)| number.parse().ok())
}

/// `transferred 634.6 MiB of 1.2 GiB (50.93%)`, perhaps with `drive-scsi0: ` before it and a time after it.
fn transferred_percent(line: &str) -> Option<u8> {
    let rest = match line.split_once("transferred ") {
        Some(("", rest)) => rest,
        Some((before, rest)) if before.ends_with(": ") => rest,
        _ => return None,
    };
    let (_, rest) = rest.split_once(" (")?;
    let (number, _) = rest.split_once("%)")?;
    whole_percent(number)
}

/// `  32768K ........ ........ ........ ........ 21%  110M 3s`, as wget prints it.
fn wget_percent(line: &str) -> Option<u8> {
    let (before, _) = line.split_once('%')?;
    let (dots, number) = before.rsplit_once(' ')?;
    let is_dots = dots.contains("..") && dots.trim_start().starts_with(|c: char| c.is_ascii_digit());
    is_dots.then(|| whole_percent(number)).flatten()
}

fn whole_percent(number: &str) -> Option<u8> {
    let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
    let digits = !whole.is_empty() && whole.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| whole.parse().ok()).flatten().filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> TaskProgress {
        let mut progress = TaskProgress::default();
        let numbered = lines.iter().zip(1..).map(|(text, number)| LogLine { number, text: (*text).to_owned() });
        progress.read(&numbered.collect::<Vec<_>>());
        progress
    }

    #[test]
    fn the_percent_of_several_disks_never_falls() {
        let log = [
            "creating a clone of VM 9000 with ID 105",
            "create full clone of drive efidisk0 (local:9000/base-9000-disk-0.qcow2)",
            "create full clone of drive scsi0 (local:9000/base-9000-disk-1.qcow2)",
            "transferred 0.0 B of 1.2 GiB (0.00%)",
            "transferred 634.6 MiB of 1.2 GiB (50.93%)",
            "transferred 1.2 GiB of 1.2 GiB (100.00%)",
            "create full clone of drive scsi1 (local:9000/base-9000-disk-2.qcow2)",
            "drive-scsi1: transferred 1.0 GiB of 8.0 GiB (12.50%) in 5s",
        ];
        let percents: Vec<_> = (0..=log.len()).map(|count| read(&log[..count]).percent(2)).collect();
        let expected = [None, None, Some(0), Some(0), Some(0), Some(25), Some(50), Some(50), Some(56)];
        assert_eq!(percents, expected);
        assert_eq!(read(&log).target, VmId::new(105));
        assert_eq!(read(&log).lines, 8);
    }

    #[test]
    fn an_older_log_tells_the_new_number_by_its_volumes() {
        let log = [
            "create full clone of drive ide2 (local-lvm:vm-9000-cloudinit)",
            "  Rounding up size to full physical extent 4.00 MiB",
            "  Logical volume \"vm-105-cloudinit\" created.",
        ];
        assert_eq!(read(&log[..2]).target, None);
        assert_eq!(read(&log).target, VmId::new(105));
    }

    #[test]
    fn a_download_has_its_own_lines() {
        let line = "  32768K ........ ........ ........ ........ 21%  110M 3s";
        assert_eq!(read(&["downloading https://x/100%25.raw", line]).percent(1), Some(21));
    }

    #[test]
    fn other_lines_say_nothing() {
        for line in
            ["", "transferred", "transferred x (y%)", "not transferred 1 B of 2 B (50%)", "100% sure", "1 .. 999% "]
        {
            assert_eq!(read(&[line]).percent(1), None, "{line}");
        }
    }
}
