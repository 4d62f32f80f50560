use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::world::{Millis, World};

/// A task of a host: what `GET …/tasks` knows about it, and its log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) host: String,
    pub(crate) pid: u32,
    pub(crate) pstart: u64,
    /// Unix seconds.
    pub(crate) started: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<u64>,
    pub(crate) kind: String,
    /// What the task is about: a VMID, a file name, a storage.
    pub(crate) about: String,
    /// `user@realm` or `user@realm!token`.
    pub(crate) user: String,
    pub(crate) log: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<Copy>,
    #[serde(default)]
    pub(crate) warnings: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) exit: Option<String>,
    #[serde(default)]
    pub(crate) worker: u64,
}

/// A copy in progress: its lines appear in the log as time goes by, without a step of the worker for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Copy {
    pub(crate) from: Millis,
    pub(crate) until: Millis,
    pub(crate) bytes: u64,
    pub(crate) style: Style,
}

/// Who tells of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// The server: a line per percent.
    Percent,
    /// `wget --progress=dot:giga`: a line per 32 MiB.
    Dots,
}

impl Copy {
    /// The progress lines up to `now`.
    pub(crate) fn lines(&self, now: Millis) -> Vec<String> {
        let done = if now >= self.until {
            10_000
        } else {
            let (passed, all) = (now.saturating_sub(self.from), self.until.saturating_sub(self.from).max(1));
            u64::try_from(u128::from(passed) * 10_000 / u128::from(all)).unwrap_or(10_000)
        };
        match self.style {
            Style::Percent => self.percents(done),
            Style::Dots => self.dots(done),
        }
    }

    fn dots(&self, done: u64) -> Vec<String> {
        const LINE: u64 = 32 << 20;
        let seconds = self.until.saturating_sub(self.from).max(1000) / 1000;
        let rate = (self.bytes >> 20) / seconds;
        let reached = u64::try_from(u128::from(self.bytes) * u128::from(done) / 10_000).unwrap_or(0);
        // A file that no disk holds would fill the memory with lines.
        (0..(reached / LINE).min(100_000))
            .map(|line| {
                let percent = u128::from(line + 1) * u128::from(LINE) * 100 / u128::from(self.bytes.max(1));
                let left = u128::from(seconds) * (100 - percent.min(100)) / 100;
                format!(
                    "{:>6}K ........ ........ ........ ........ {percent:>2}% {rate:>4}M {left}s",
                    line * LINE / 1024
                )
            })
            .collect()
    }

    /// A line comes whenever the copy is at least one percent further, so the hundredths
    /// drift; the last line comes twice, once from the copy and once from its end.
    fn percents(&self, done: u64) -> Vec<String> {
        let line = |hundredths: u64| {
            let bytes = u64::try_from(u128::from(self.bytes) * u128::from(hundredths) / 10_000).unwrap_or(0);
            format!(
                "transferred {} of {} ({}.{:02}%)",
                print_bytes(bytes),
                print_bytes(self.bytes),
                hundredths / 100,
                hundredths % 100
            )
        };
        // Small images are copied in one piece.
        let steps = if self.bytes < 2 << 20 { 0 } else { 98 };
        let mut lines = vec![line(0)];
        lines.extend((0..steps).map(|step| 124 + step * 10_162 / 100).take_while(|at| *at <= done).map(line));
        if done == 10_000 {
            lines.extend([line(10_000), line(10_000)]);
        }
        lines
    }
}

/// `12.7 MiB`, as the server prints progress.
fn print_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut unit = 0;
    while unit + 1 < UNITS.len() && bytes >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    let half = (1_u128 << (10 * unit)) / 2;
    let tenths = u64::try_from((u128::from(bytes) * 10 + half) >> (10 * unit)).unwrap_or(0);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

impl Task {
    pub(crate) fn upid(&self) -> String {
        self.to_string()
    }

    /// The log as it is now.
    pub(crate) fn lines(&self, now: Millis) -> Vec<String> {
        let mut lines = self.log.clone();
        if let Some(copy) = &self.copy {
            lines.extend(copy.lines(now));
        }
        lines
    }

    /// The user without the token's name, and that name.
    pub(crate) fn owner(&self) -> (&str, Option<&str>) {
        match self.user.split_once('!') {
            Some((user, token)) => (user, Some(token)),
            None => (&self.user, None),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, pid, pstart, started, kind, about, user, .. } = self;
        write!(f, "UPID:{host}:{pid:08X}:{pstart:08X}:{started:08X}:{kind}:{about}:{user}:")
    }
}

/// All tasks by their number, which grows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tasks {
    pub(crate) next: u64,
    pub(crate) all: BTreeMap<u64, Task>,
    /// Tells the number of a UPID; made again after loading.
    #[serde(skip)]
    by_upid: BTreeMap<String, u64>,
}

/// How many finished tasks a host remembers; the real one keeps some hundred too.
const REMEMBERED: usize = 4000;

impl Tasks {
    pub(crate) fn find(&self, upid: &str) -> Option<(u64, &Task)> {
        let number = self.by_upid.get(upid)?;
        self.all.get(number).map(|task| (*number, task))
    }

    pub(crate) fn index_again(&mut self) {
        self.by_upid = self.all.iter().map(|(number, task)| (task.upid(), *number)).collect();
    }

    fn forget_old(&mut self) {
        while self.all.len() > REMEMBERED {
            let Some(oldest) = self.all.iter().find(|(_, task)| task.exit.is_some()).map(|(number, _)| *number) else {
                return;
            };
            if let Some(task) = self.all.remove(&oldest) {
                self.by_upid.remove(&task.upid());
            }
        }
    }
}

impl World {
    /// Registers a task; its worker is made by [`World::spawn`].
    pub(crate) fn new_task(&mut self, host: &str, kind: &str, about: &str, user: &str) -> u64 {
        let pid = self.fork_pid(host);
        let uptime = self.hosts.get(host).map_or(0, |host| host.uptime);
        let task = Task {
            host: host.to_owned(),
            pid,
            pstart: uptime.saturating_mul(100).saturating_add(self.now / 10),
            started: self.unix_time(),
            ended: None,
            kind: kind.to_owned(),
            about: about.to_owned(),
            user: user.to_owned(),
            log: Vec::new(),
            copy: None,
            warnings: 0,
            exit: None,
            worker: 0,
        };
        let number = self.tasks.next;
        self.tasks.next += 1;
        self.tasks.by_upid.insert(task.upid(), number);
        self.tasks.all.insert(number, task);
        self.tasks.forget_old();
        number
    }

    /// Adds a line to the log of a task; a call without a task has none.
    pub(crate) fn log(&mut self, task: Option<u64>, line: impl Into<String>) {
        if let Some(task) = task.and_then(|task| self.tasks.all.get_mut(&task)) {
            task.log.push(line.into());
        }
    }

    /// Adds a warning, which also counts for the exit status.
    pub(crate) fn warn(&mut self, task: Option<u64>, text: &str) {
        if let Some(task) = task.and_then(|task| self.tasks.all.get_mut(&task)) {
            task.log.push(format!("WARN: {text}"));
            task.warnings += 1;
        }
    }

    /// Ends a task with its last line and its exit status.
    pub(crate) fn end_task(&mut self, number: u64, result: &Result<(), String>) {
        let (now, unix_time) = (self.now, self.unix_time());
        let Some(task) = self.tasks.all.get_mut(&number) else {
            return;
        };
        if let Some(copy) = task.copy.take() {
            task.log.extend(copy.lines(now));
        }
        let (line, exit) = match result {
            Ok(()) if task.warnings > 0 => {
                (format!("TASK WARNINGS: {}", task.warnings), format!("WARNINGS: {}", task.warnings))
            }
            Ok(()) => ("TASK OK".to_owned(), "OK".to_owned()),
            // The exit status is one line.
            Err(text) => (format!("TASK ERROR: {text}"), text.trim_end().replace('\n', " ")),
        };
        task.log.push(line);
        task.exit = Some(exit);
        task.ended = Some(unix_time);
    }

    /// Ends a task whose worker was killed: the log stops where it was.
    pub(crate) fn lose_task(&mut self, number: u64) {
        let (now, unix_time) = (self.now, self.unix_time());
        if let Some(task) = self.tasks.all.get_mut(&number) {
            if let Some(copy) = task.copy.take() {
                task.log.extend(copy.lines(now));
            }
            task.exit = Some("unexpected status".to_owned());
            task.ended = Some(unix_time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_tells_of_every_percent() {
        let copy = Copy { from: 0, until: 10_000, bytes: 1 << 30, style: Style::Percent };
        assert_eq!(copy.lines(0), ["transferred 0.0 B of 1.0 GiB (0.00%)"]);
        assert_eq!(copy.lines(400).last().unwrap(), "transferred 33.5 MiB of 1.0 GiB (3.27%)");
        let all = copy.lines(10_000);
        assert_eq!((all.len(), all.last().unwrap().as_str()), (101, "transferred 1.0 GiB of 1.0 GiB (100.00%)"));
        let small = Copy { from: 0, until: 0, bytes: 540_672, style: Style::Percent };
        assert_eq!(small.lines(0).len(), 3);
    }

    #[test]
    fn a_download_tells_of_every_32_mib() {
        let copy = Copy { from: 0, until: 10_000, bytes: 160 << 20, style: Style::Dots };
        assert_eq!(copy.lines(3000), ["     0K ........ ........ ........ ........ 20%   16M 8s"]);
        assert_eq!(copy.lines(10_000).len(), 5);
    }
}
