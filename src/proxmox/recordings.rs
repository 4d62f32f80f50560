//! The client's readers, held against what a real server answered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answers::*;
use super::refusal::RefusalKind;
use super::task::{ListedTask, LogPage, StatusOfTask, TaskProgress, TaskState, Upid};
use super::types::{DiskSlot, Drive, DriveSlot, EfiDisk, IpConfig, NetworkCard, Reading, Smbios, TpmState};
use super::{Answer, Refusal, envelope};

struct Recording {
    name: String,
    method: String,
    /// Without the query.
    path: String,
    answer: Answer,
}

#[derive(Deserialize)]
struct Line {
    name: String,
    method: String,
    path: String,
    status: u16,
    reason: String,
    body: Value,
}

#[derive(Deserialize)]
struct File {
    request: FileRequest,
    response: FileResponse,
}

#[derive(Deserialize)]
struct FileRequest {
    method: String,
    path: String,
}

#[derive(Deserialize)]
struct FileResponse {
    status: u16,
    reason: String,
    body: Value,
}

impl Recording {
    fn of(line: Line) -> Self {
        let body = match line.body {
            Value::Null => Vec::new(),
            Value::String(text) => text.into_bytes(),
            json => json.to_string().into_bytes(),
        };
        let path = line.path.trim_start_matches("/api2/json").split('?').next().unwrap_or_default().to_owned();
        let answer = Answer { status: line.status, reason: line.reason, body };
        Self { name: line.name, method: line.method, path, answer }
    }
}

/// The recordings of the repository.
fn own_recordings() -> Vec<Recording> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pve/recordings.ndjson");
    let text = std::fs::read_to_string(file).expect("the recordings are part of the repository");
    text.lines().map(|line| Recording::of(serde_json::from_str(line).unwrap())).collect()
}

/// Those of the repository, and all others that there are.
fn recordings() -> Vec<Recording> {
    let mut all = own_recordings();
    match std::env::var_os("PVETALOS_RECORDINGS") {
        Some(folder) => all.extend(further(Path::new(&folder))),
        None => skipped("PVETALOS_RECORDINGS names no folder: only the recordings of the repository are read"),
    }
    all
}

fn further(folder: &Path) -> Vec<Recording> {
    let files = std::fs::read_dir(folder).expect("the folder can be read").map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| {
        // What is not an exchange, such as a table of measurements, does not have this shape.
        let file: File = serde_json::from_slice(&std::fs::read(&path).unwrap()).ok()?;
        Some(Recording::of(Line {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            method: file.request.method,
            path: file.request.path,
            status: file.response.status,
            reason: file.response.reason,
            body: file.response.body,
        }))
    };
    let read: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "json")).filter_map(read).collect();
    assert!(read.len() > 500, "the folder holds only {} recordings", read.len());
    read
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests shall know what was left out")]
pub(super) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

fn read<T: DeserializeOwned>(recording: &Recording) -> T {
    match envelope::open(&recording.answer) {
        Ok(envelope) => envelope.data,
        Err(error) => panic!("{}: {error}", recording.name),
    }
}

/// What the path asks for, with names and numbers left out.
fn shape(path: &str) -> String {
    let word = |part: &str| {
        if part.starts_with("UPID") {
            "{upid}".to_owned()
        } else if part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty() {
            "{vmid}".to_owned()
        } else {
            part.to_owned()
        }
    };
    let path = path.replace("/nodes/pve/", "/nodes/{host}/").replace("/storage/local/", "/storage/{storage}/");
    path.trim_end_matches('/').split('/').map(word).collect::<Vec<_>>().join("/")
}

#[test]
fn every_recorded_answer_to_our_calls_is_read() {
    let mut counts = BTreeMap::new();
    for recording in recordings().iter().filter(|recording| recording.answer.is_success()) {
        let shape = format!("{} {}", recording.method, shape(&recording.path));
        match shape.as_str() {
            "GET /version" => assert!(read::<Version>(recording).is_at_least(9, 2)),
            "GET /access/permissions" => drop(read::<Permissions>(recording)),
            "GET /cluster/resources" => read_resources(recording),
            "GET /cluster/status" => assert!(read::<ClusterStatus>(recording).quorate),
            "GET /nodes" => assert_eq!(read::<Vec<Host>>(recording)[0].name.as_str(), "pve"),
            "GET /nodes/{host}/status" => assert!(read::<HostStatus>(recording).cpu.cpus.is_some()),
            "GET /nodes/{host}/qemu" => drop(read::<Vec<VmListed>>(recording)),
            "GET /nodes/{host}/qemu/{vmid}/config" => assert!(read::<VmConfig>(recording).digest().is_some()),
            "GET /nodes/{host}/qemu/{vmid}/pending" => {
                assert!(read::<VmPending>(recording).wanted().digest().is_some());
            }
            "GET /nodes/{host}/qemu/{vmid}/status/current" => {
                assert!(!matches!(read::<VmStatus>(recording).power, Power::Other(_)));
            }
            "GET /nodes/{host}/storage" => {
                assert!(read::<Vec<Storage>>(recording).iter().all(|storage| storage.active));
            }
            "GET /nodes/{host}/storage/{storage}/content" => {
                assert!(read::<Vec<Volume>>(recording).iter().all(|volume| volume.id.known().is_some()));
            }
            "GET /nodes/{host}/network" => drop(read::<Vec<Bridge>>(recording)),
            "GET /pools" => drop(read::<Vec<Pool>>(recording)),
            "GET /nodes/{host}/tasks" => {
                assert!(read::<Vec<ListedTask>>(recording).into_iter().all(|task| task.row().is_some()));
            }
            "GET /nodes/{host}/tasks/{upid}/status" => {
                assert_ne!(read::<StatusOfTask>(recording).state(), TaskState::Unknown, "{}", recording.name);
            }
            "GET /nodes/{host}/tasks/{upid}/log" => drop(LogPage::of(&read(recording), None)),
            "GET /nodes/{host}/qemu/{vmid}/cloudinit/dump" => drop(read::<String>(recording)),
            "POST /nodes/{host}/qemu/{vmid}/clone"
            | "POST /nodes/{host}/qemu/{vmid}/config"
            | "PUT /nodes/{host}/qemu/{vmid}/resize"
            | "POST /nodes/{host}/qemu/{vmid}/status/start"
            | "POST /nodes/{host}/qemu/{vmid}/status/stop"
            | "POST /nodes/{host}/qemu/{vmid}/template"
            | "DELETE /nodes/{host}/qemu/{vmid}"
            | "POST /nodes/{host}/storage/{storage}/download-url" => {
                let upid: Upid = read::<String>(recording).parse().unwrap();
                assert_eq!(upid.host().as_str(), "pve");
            }
            _ => continue,
        }
        *counts.entry(shape).or_insert(0) += 1;
    }
    assert!(counts.len() >= 24, "{counts:#?}");
}

fn read_resources(recording: &Recording) {
    let rows: Vec<Value> = read(recording);
    for row in rows.into_iter().filter(|row| row["type"] == "qemu") {
        let guest: Guest = serde_json::from_value(row).unwrap();
        assert_eq!((guest.kind, guest.host.as_str()), (GuestKind::Vm, "pve"));
    }
}

/// Gives the answer to every reader there is; none may panic, whatever it says.
fn read_as_everything(answer: &Answer) {
    drop(envelope::open::<Version>(answer));
    drop(envelope::open::<Permissions>(answer));
    drop(envelope::open::<Vec<Guest>>(answer));
    drop(envelope::open::<ClusterStatus>(answer));
    drop(envelope::open::<Vec<Host>>(answer));
    drop(envelope::open::<HostStatus>(answer));
    drop(envelope::open::<Vec<VmListed>>(answer));
    drop(envelope::open::<VmStatus>(answer));
    drop(envelope::open::<Vec<Storage>>(answer));
    drop(envelope::open::<Vec<Volume>>(answer));
    drop(envelope::open::<Vec<Bridge>>(answer));
    drop(envelope::open::<Vec<Pool>>(answer));
    drop(envelope::open::<Vec<AccessRole>>(answer));
    drop(envelope::open::<FeatureAnswer>(answer));
    drop(envelope::open::<AgentResult>(answer).map(|envelope| envelope.data.interfaces()));
    drop(envelope::open::<Vec<ListedTask>>(answer).map(|tasks| tasks.data.into_iter().map(ListedTask::row).count()));
    drop(envelope::open::<StatusOfTask>(answer).map(|status| status.data.state()));
    drop(envelope::open::<Value>(answer).map(|envelope| {
        let page = LogPage::of(&envelope.data, envelope.total);
        let mut progress = TaskProgress::default();
        progress.read(&page.lines);
        progress.percent(2)
    }));
    let config = envelope::open::<VmConfig>(answer).map(|envelope| envelope.data);
    let pending = envelope::open::<VmPending>(answer).map(|envelope| envelope.data.wanted());
    for config in [config, pending].into_iter().flatten() {
        std::hint::black_box((config.cards().count(), config.ip_configs().count()));
        std::hint::black_box((config.drives().count(), config.volumes().count()));
        drop((config.memory(), config.cpu(), config.machine(), config.agent(), config.startup(), config.smbios()));
        drop((config.boot(), config.tags(), config.cloud_init_slot(), config.efi_disk(), config.tpm_state()));
    }
    let refusal = Refusal::of(answer);
    drop((refusal.to_string(), refusal.may_be_done(), refusal.is_passing()));
}

/// Puts something else in the place of the `nth` value.
fn disturb(value: &mut Value, nth: &mut usize, with: &Value) {
    if *nth == 0 {
        *value = with.clone();
    }
    *nth = nth.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| disturb(item, nth, with)),
        Value::Object(items) => items.values_mut().for_each(|item| disturb(item, nth, with)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_makes_a_reader_panic(
        recording in 0_usize..10_000,
        nth in 0_usize..60,
        with in prop_oneof![
            Just(Value::Null),
            Just(Value::Bool(true)),
            Just(Value::from(-1)),
            Just(Value::from(u64::MAX)),
            Just(Value::from(1e300)),
            Just(Value::Array(Vec::new())),
            Just(serde_json::json!([{}, [], "x", 7, null])),
            Just(serde_json::json!({"": {}})),
            any::<String>().prop_map(Value::String),
            Just(Value::String("virtio=,,==,\u{0}".to_owned())),
        ],
        cut in 0_usize..4000,
    ) {
        static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(own_recordings);
        let recording = &RECORDINGS[recording % RECORDINGS.len()];
        let mut answer = recording.answer.clone();
        if let Ok(mut body) = serde_json::from_slice::<Value>(&answer.body) {
            disturb(&mut body, &mut nth.clone(), &with);
            answer.body = body.to_string().into_bytes();
        }
        read_as_everything(&answer);
        answer.body.truncate(cut);
        read_as_everything(&answer);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(status in 0_u16..700, reason in any::<String>(), body in any::<Vec<u8>>()) {
        read_as_everything(&Answer { status, reason, body });
    }
}

#[test]
fn what_a_real_server_stores_is_read_and_printed_as_it_stores_it() {
    let mut values = 0;
    for recording in recordings().iter().filter(|recording| recording.answer.is_success()) {
        if recording.method != "GET" || shape(&recording.path) != "/nodes/{host}/qemu/{vmid}/config" {
            continue;
        }
        let config: VmConfig = read(recording);
        for (key, text) in config.iter() {
            values += 1;
            match key.parse::<DriveSlot>() {
                Ok(DriveSlot::EFI) => printed::<EfiDisk>(text),
                Ok(DriveSlot::TPM) => printed::<TpmState>(text),
                Ok(slot) if DiskSlot::try_from(slot).is_ok() => printed::<Drive>(text),
                _ if key.starts_with("net") => printed::<NetworkCard>(text),
                _ if key.starts_with("ipconfig") => assert!(text.parse::<IpConfig>().is_ok()),
                _ if key == "smbios1" => printed::<Smbios>(text),
                _ => {}
            }
        }
        let understood = [
            config.memory().known().is_some(),
            config.cpu().known().is_some(),
            config.machine().known().is_some(),
            config.agent().known().is_some(),
            config.startup().known().is_some(),
        ];
        assert_eq!(understood, [true; 5], "{}", recording.name);
    }
    assert!(values > 50);
}

#[track_caller]
fn printed<T: std::str::FromStr + std::fmt::Display>(text: &str) {
    match Reading::<T>::of(text) {
        Reading::Known(value) => assert_eq!(value.to_string(), text),
        Reading::Text(text) => panic!("{text} is not understood"),
    }
}

#[test]
fn every_kind_of_refusal_is_recognised() {
    let kinds = kinds_of_refusal(&own_recordings());
    let table: Vec<String> = kinds.iter().map(|(text, kind)| format!("{text}\n    {kind}")).collect();
    insta::assert_snapshot!(table.join("\n"));
    for (text, kind) in kinds_of_refusal(&recordings()) {
        assert_eq!(kinds.get(&text).unwrap_or(&kind), &kind, "{text}");
        assert!(kinds.contains_key(&text) || !kind.starts_with("Other"), "{text}: {kind}");
    }
}

/// What each text is taken for, numbers left out; lists of wrong parameters are too many and say what they are.
fn kinds_of_refusal(recordings: &[Recording]) -> BTreeMap<String, String> {
    let without_numbers = |text: String| text.replace(|c: char| c.is_ascii_digit(), "");
    let refusals = recordings.iter().filter(|recording| !recording.answer.is_success()).map(|recording| {
        let refusal = Refusal::of(&recording.answer);
        assert!(!refusal.message.is_empty(), "{}", recording.name);
        refusal
    });
    let others = refusals.filter(|refusal| refusal.kind != RefusalKind::Parameters || refusal.errors.is_empty());
    let row = |refusal: Refusal| {
        let done = if refusal.may_be_done() { ", may be done" } else { "" };
        let errors = if refusal.errors.is_empty() { String::new() } else { format!(" {:?}", refusal.errors) };
        let text = without_numbers(format!("{}{errors}", refusal.message));
        (format!("{} {text}", refusal.status), without_numbers(format!("{:?}{done}", refusal.kind)))
    };
    others.map(row).collect()
}

/// Before PVE 8.3 there was no message in the body.
#[test]
fn a_refusal_is_recognised_by_its_reason_phrase_alone() {
    for recording in recordings().iter().filter(|recording| !recording.answer.is_success()) {
        let new = Refusal::of(&recording.answer);
        let mut answer = recording.answer.clone();
        if let Ok(Value::Object(mut body)) = serde_json::from_slice(&answer.body) {
            body.remove("message");
            answer.body = Value::Object(body).to_string().into_bytes();
        }
        let old = Refusal::of(&answer);
        assert_eq!((&old.kind, &old.errors), (&new.kind, &new.errors), "{}", recording.name);
    }
}

#[test]
fn the_percent_of_a_recorded_clone_never_falls() {
    let mut clones = 0;
    for recording in
        recordings().iter().filter(|recording| recording.path.contains("qmclone") && recording.path.ends_with("/log"))
    {
        let page = LogPage::of(&read(recording), None);
        let (mut progress, mut older) = (TaskProgress::default(), TaskProgress::default());
        older.read(page.lines.get(1..).unwrap_or_default());
        let mut last = 0;
        for line in &page.lines {
            progress.read(std::slice::from_ref(line));
            let percent = progress.percent(1).unwrap_or(0);
            assert!(percent >= last, "{}: {percent} after {last}", recording.name);
            last = percent;
        }
        if page.lines.last().is_some_and(|line| line.text == "TASK OK") && last == 100 {
            clones += 1;
            assert!(progress.target.is_some() && progress.target == older.target, "{}", recording.name);
        }
    }
    assert!(clones > 0);
}
