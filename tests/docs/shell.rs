//! A shell that runs the commands of a page, one after the other, and tells what each of them printed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::ground::on_path;

/// What a command printed, on both streams, and how it ended.
pub(crate) struct Ran {
    pub(crate) printed: String,
    pub(crate) exit: i32,
}

/// However long a page is, it is run faster than that.
const LIMIT: Duration = Duration::from_mins(5);

pub(crate) fn has(program: &str) -> bool {
    on_path(program).next().is_some()
}

/// Runs pieces of shell in one bash, in a folder of its own, so that what one does is there for the next.
pub(crate) fn run(folder: &Path, pieces: &[String]) -> Vec<Ran> {
    const MARK: &str = "@@@ end of piece";
    let pieces: Vec<String> =
        pieces.iter().map(|piece| format!("{piece}\nprintf '\\n{MARK} %s\\n' \"$?\"\n")).collect();
    let script = pieces.concat();
    std::fs::write(folder.join(".script"), script).expect("a file can be written");
    let printed = std::fs::File::create(folder.join(".printed")).expect("a file can be made");
    let program = Path::new(env!("CARGO_BIN_EXE_pvetalos")).parent().expect("it is in a folder").to_owned();
    let path = std::env::join_paths([program, "/usr/local/bin".into(), "/usr/bin".into(), "/bin".into()]);
    let mut bash = Command::new("bash")
        .arg(".script")
        .current_dir(folder)
        .env_clear()
        .env("PATH", path.expect("no folder has a colon in its name"))
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("a file can be shared"))
        .stderr(printed)
        .spawn()
        .expect("bash can be started");
    let begun = Instant::now();
    while bash.try_wait().expect("it can be asked").is_none() {
        if begun.elapsed() > LIMIT {
            drop(bash.kill());
            panic!("the commands of the page take too long");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let printed = std::fs::read_to_string(folder.join(".printed")).expect("what was printed is UTF-8");
    let mut ran = Vec::new();
    let mut rest = printed.as_str();
    while let Some((before, after)) = rest.split_once(&format!("\n{MARK} ")) {
        let (exit, after) = after.split_once('\n').unwrap_or((after, ""));
        ran.push(Ran { printed: before.to_owned(), exit: exit.parse().expect("it is a number") });
        rest = after;
    }
    ran
}
