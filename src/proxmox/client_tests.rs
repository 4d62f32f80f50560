//! The client over a transport with a script: what it sends again, what it makes of refusals, and what it never says.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;

use super::answers::{Permissions, Power};
use super::calls::{CloneTarget, CloneVm};
use super::testing::script::{Script, answer, data, lost, no_connection, refusal};
use super::testing::server::{Authority, PATIENT, Reply, SECRET, Server, transport};
use super::{Client, Effect, ProxmoxError, RefusalKind, Request, Retry, TransportError, Trust};
use crate::model::{HostName, StorageId, VmId};

fn host() -> HostName {
    "pve1".parse().unwrap()
}

fn vmid(number: u32) -> VmId {
    VmId::new(number).unwrap()
}

const UPID: &str = r#""UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmstart:100:pvetalos@pve!ci:""#;

#[tokio::test(start_paused = true)]
async fn only_what_cannot_do_its_work_twice_is_sent_again() {
    type Failure = fn() -> Result<super::Answer, TransportError>;
    #[track_caller]
    fn case(name: &str, failure: Failure, gets: usize, posts: usize) -> impl Future<Output = ()> {
        let name = name.to_owned();
        async move {
            let script = Script::new(move |_| failure());
            let client = Client::new(Arc::clone(&script));
            assert!(client.version().await.is_err());
            assert_eq!(script.sent().len(), gets, "GET, {name}");
            assert!(client.start(&host(), vmid(100)).await.is_err());
            assert_eq!(script.sent().len() - gets, posts, "POST, {name}");
        }
    }
    let locked: Failure = || Ok(refusal(500, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"));
    let task_list: Failure = || Ok(refusal(500, "can't lock file '/var/log/pve/tasks/.active.lock' - got timeout"));
    case("nobody there", || Err(no_connection()), 4, 4).await;
    case("nobody in time", || Err(TransportError::ConnectTimedOut(std::time::Duration::from_secs(10))), 1, 1).await;
    case("the answer was lost", || Err(lost()), 4, 1).await;
    case("no answer in time", || Err(TransportError::TimedOut(std::time::Duration::from_secs(40))), 1, 1).await;
    case("too much of an answer", || Err(TransportError::TooLarge { limit: 1 << 20 }), 1, 1).await;
    case("the backend is down", || Ok(refusal(595, "Connection refused")), 4, 4).await;
    case("the host is down", || Ok(refusal(595, "No route to host")), 1, 1).await;
    case("the backend is silent", || Ok(refusal(596, "Connection timed out")), 1, 1).await;
    let storage: Failure = || Ok(refusal(500, "can't lock file '/var/lock/pve-manager/pve-storage-a' - got timeout"));
    case("the VM is busy", locked, 4, 4).await;
    case("the storage is busy", storage, 4, 1).await;
    case("the task list is busy", task_list, 1, 1).await;
    case("no such VM", || Ok(refusal(500, "Configuration file 'nodes/pve1/qemu-server/1.conf' does not exist")), 1, 1)
        .await;
    case("an unknown failure", || Ok(refusal(500, "the moon is in the wrong phase")), 1, 1).await;
    case("a missing privilege", || Ok(refusal(403, "Permission check failed")), 1, 1).await;
    case("a wrong token", || Ok(answer(401, "Authentication failed!", "")), 1, 1).await;
    case("an unreadable answer", || Ok(answer(200, "OK", "<html>")), 1, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_try_that_succeeds_is_a_success() {
    let script = Script::of([Err(lost()), Ok(data(r#"{"version":"9.2.11"}"#))]);
    assert_eq!(Client::new(Arc::clone(&script)).version().await.unwrap().version, "9.2.11");
    assert_eq!(script.sent().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_met_a_vanishing_vm_is_asked_for_once_more() {
    let vanished = || Ok(refusal(500, "Configuration file 'nodes/pve1/qemu-server/777.conf' does not exist"));
    let listed = data(r#"[{"vmid":"100","status":"stopped","name":"cp-1","template":1}]"#);
    let client = Client::new(Script::of([vanished(), Ok(listed)]));
    let vms = client.vms(&host()).await.unwrap();
    assert_eq!((vms[0].vmid, &vms[0].power, vms[0].template), (vmid(100), &Power::Stopped, true));
    let client = Client::new(Script::of([vanished(), vanished()]));
    assert_eq!(client.vms(&host()).await.unwrap_err().kind(), Some(&RefusalKind::NotFound));
}

/// What each failure means, what it may have done, and that it says what to do next.
#[tokio::test]
async fn every_class_of_failure_has_its_effect_and_its_hint() {
    use Effect::{MaybeDone, NeverSent, Refused};
    let case = async |status: u16, reason: &str, kind: RefusalKind, effect: Effect, hint: &str| {
        let client = Client::with_retry(Script::of([Ok(refusal(status, reason))]), Retry::NEVER);
        let error = client.configure(&host(), vmid(105), &super::calls::ConfigChange::default()).await.unwrap_err();
        assert_eq!((error.kind(), error.effect()), (Some(&kind), effect), "{reason}");
        assert!(error.hint().contains(hint), "{}", error.hint());
        assert_eq!(error.to_string(), "PUT /nodes/pve1/qemu/105/config at https://pve1:8006 was refused");
        assert_eq!(error.source().unwrap().to_string(), format!("Proxmox says {status}: {reason}"));
    };
    let forbidden = |path: &str, privileges: &[&str]| RefusalKind::Forbidden {
        path: Some(path.to_owned()),
        privileges: privileges.iter().map(|privilege| (*privilege).to_owned()).collect(),
    };
    let missing = "Configuration file 'nodes/pve1/qemu-server/105.conf' does not exist";
    case(500, missing, RefusalKind::NotFound, Refused, "moved or deleted").await;
    case(500, "VM is locked (backup)", RefusalKind::Locked("backup".into()), Refused, "`qm unlock 105`").await;
    let busy = "can't lock file '/var/lock/qemu-server/lock-105.conf' - got timeout";
    case(500, busy, RefusalKind::Busy, Refused, "try again").await;
    let in_the_middle = "cfs-lock 'file-user_cfg' error: got lock request timeout";
    case(500, in_the_middle, RefusalKind::Busy, MaybeDone, "try again").await;
    let unclear = "can't lock file '/var/log/pve/tasks/.active.lock' - got timeout";
    case(500, unclear, RefusalKind::Ambiguous, MaybeDone, "finds out what did happen").await;
    let changed = "checksum mismatch (file change by other user?)";
    case(500, changed, RefusalKind::Changed, Refused, "somebody else changed").await;
    let protected = "can't remove VM 105 - protection mode enabled";
    case(500, protected, RefusalKind::Protected, MaybeDone, "--protection 0").await;
    case(500, "VM 105 is running - destroy failed", RefusalKind::Running, MaybeDone, "stop the VM").await;
    let in_use = "base volume 'local:9000/base-9000-disk-0.qcow2' is still in use by linked cloned";
    case(500, in_use, RefusalKind::InUse, MaybeDone, "linked clones").await;
    case(500, "cluster not ready - no quorum?", RefusalKind::NoQuorum, Refused, "pvecm status").await;
    let clone = "Permission check failed (/vms/9000, VM.Clone)";
    case(403, clone, forbidden("/vms/9000", &["VM.Clone"]), Refused, "pveum acl modify /vms/9000").await;
    let tag = "Permission check failed (/, Sys.Modify for modifying tag 'x')";
    case(403, tag, forbidden("/", &["Sys.Modify"]), MaybeDone, "Sys.Modify on /").await;
    let any = "Permission check failed (/storage/a, Datastore.Audit|Datastore.AllocateSpace)";
    let hint = "Datastore.Audit or Datastore.AllocateSpace on /storage/a";
    case(403, any, forbidden("/storage/a", &["Datastore.Audit", "Datastore.AllocateSpace"]), MaybeDone, hint).await;
    let bare = RefusalKind::Forbidden { path: None, privileges: Vec::new() };
    case(403, "Permission check failed", bare, Refused, "pvetalos doctor").await;
    case(403, "Permission check failed (user != root@pam)", RefusalKind::RootOnly, Refused, "as root").await;
    case(500, "only root can set 'lock' config", RefusalKind::RootOnly, Refused, "as root").await;
    case(401, "Authentication failed!", RefusalKind::Unauthenticated, Refused, "pveum user token list").await;
    case(501, "Method 'GET /x' not implemented", RefusalKind::NotImplemented, Refused, "version").await;
    case(595, "Connection refused", RefusalKind::BackendUnreachable, NeverSent, "pvedaemon").await;
    case(596, "Connection timed out", RefusalKind::BackendSilent, MaybeDone, "may go on").await;
    case(599, "Too many redirections", RefusalKind::BackendSilent, MaybeDone, "may go on").await;
    case(502, "Bad Gateway", RefusalKind::BackendSilent, MaybeDone, "may go on").await;
    case(500, "the moon is in the wrong phase", RefusalKind::Other, MaybeDone, "journalctl").await;
    case(301, "Moved Permanently", RefusalKind::Redirected, Refused, "redirects are not followed").await;
}

#[tokio::test]
async fn a_number_is_free_taken_or_unknown() {
    let taken =
        r#"{"data":null,"errors":{"vmid":"VM 9000 already exists"},"message":"Parameter verification failed.\n"}"#;
    let script = Script::of([
        Ok(data(r#""105""#)),
        Ok(answer(400, "Parameter verification failed.", taken)),
        Ok(data("105")),
        Ok(refusal(403, "Permission check failed")),
    ]);
    let client = Client::new(Arc::clone(&script));
    assert!(client.is_free(vmid(105)).await.unwrap());
    assert!(!client.is_free(vmid(9000)).await.unwrap());
    assert_eq!(client.next_id().await.unwrap(), vmid(105));
    assert!(client.is_free(vmid(105)).await.is_err());
    assert_eq!(script.sent()[0], Request::get("/cluster/nextid").with("vmid", 105));
}

#[tokio::test]
async fn a_pool_that_is_not_there_is_none() {
    let members = r#"[{"poolid":"talos","members":[{"id":"qemu/105","vmid":105},{"id":"storage/pve1/local"}]}]"#;
    let script = Script::of([Ok(data(members)), Ok(refusal(500, "pool 'talos' does not exist"))]);
    let (client, pool) = (Client::new(script), "talos".parse().unwrap());
    let found = client.pool(&pool).await.unwrap().unwrap();
    assert_eq!(found.guests().collect::<Vec<_>>(), [vmid(105)]);
    assert_eq!(client.pool(&pool).await.unwrap(), None);
}

#[tokio::test]
async fn a_clone_says_everything_that_must_not_be_left_to_chance() {
    let script = Script::of([Ok(data(UPID)), Ok(data(UPID))]);
    let client = Client::new(Arc::clone(&script));
    let storage: StorageId = "local-lvm".parse().unwrap();
    let host = host();
    let mut clone = CloneVm {
        host: &host,
        template: vmid(9000),
        new_id: vmid(105),
        name: "cp-1",
        description: "pvetalos: cluster=home node=cp-1 vmid=105",
        pool: None,
        target: CloneTarget::Full { storage: &storage },
        on_host: None,
    };
    client.clone_vm(&clone).await.unwrap();
    clone.target = CloneTarget::Linked;
    client.clone_vm(&clone).await.unwrap();
    let shown: Vec<String> = script
        .sent()
        .iter()
        .map(|request| format!("{} {} {}", request.method, request.path, super::form::encode(&request.params)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    POST /nodes/pve1/qemu/9000/clone newid=105&name=cp-1&description=pvetalos%3A%20cluster%3Dhome%20node%3Dcp-1%20vmid%3D105&full=1&storage=local-lvm
    POST /nodes/pve1/qemu/9000/clone newid=105&name=cp-1&description=pvetalos%3A%20cluster%3Dhome%20node%3Dcp-1%20vmid%3D105&full=0
    ");
}

#[tokio::test]
async fn a_post_whose_answer_names_no_task_may_be_done() {
    for body in ["null", r#""""#, r#""UPID:x""#, "{}"] {
        let client = Client::new(Script::of([Ok(data(body))]));
        let error = client.start(&host(), vmid(100)).await.unwrap_err();
        assert!(matches!(error, ProxmoxError::Unreadable { .. }), "{error:?}");
        assert_eq!(error.effect(), Effect::MaybeDone);
    }
}

#[tokio::test]
async fn permissions_say_what_holds_where_and_below() {
    let rows = r#"{"/vms":{"VM.Audit":1,"VM.Clone":0},"/storage":{}}"#;
    let permissions: Permissions = Client::new(Script::of([Ok(data(rows))])).permissions(None).await.unwrap();
    assert!(permissions.has("/vms", "VM.Clone") && !permissions.has_below("/vms", "VM.Clone"));
    assert!(permissions.has_below("/vms", "VM.Audit") && !permissions.has("/storage", "VM.Audit"));
    let nothing = Client::new(Script::of([Ok(data("{}"))])).permissions(None).await.unwrap();
    assert!(nothing.is_empty());
}

#[tokio::test]
async fn a_log_is_read_page_by_page_and_not_for_ever() {
    let page = |from: u64, to: u64, total: u64| {
        let lines: Vec<_> = (from..=to).map(|n| format!(r#"{{"n":{n},"t":"line {n}"}}"#)).collect();
        Ok(answer(200, "OK", &format!(r#"{{"data":[{}],"total":{total}}}"#, lines.join(","))))
    };
    let upid = UPID.trim_matches('"').parse().unwrap();
    let script = Script::of([page(1, 500, 700), page(501, 700, 700)]);
    let log = Client::new(Arc::clone(&script)).whole_task_log(&upid).await.unwrap();
    assert_eq!((log.lines.len(), log.total, script.sent().len()), (700, 700, 2));
    assert_eq!(script.sent()[1].param("start"), Some("500"));
    // A server that always sends the same page, and one that never stops.
    let same = Script::new(move |_| page(1, 500, 700));
    assert_eq!(Client::new(same).whole_task_log(&upid).await.unwrap().lines.len(), 500);
    let endless = Script::new(move |request| {
        let start: u64 = request.param("start").unwrap().parse().unwrap();
        page(start + 1, start + 500, start + 501)
    });
    assert_eq!(Client::new(endless).whole_task_log(&upid).await.unwrap().lines.len(), 10_000);
}

/// Collects what would be logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Everything that a user or a log could ever see of a failure.
fn everything_about(error: &ProxmoxError) -> String {
    let mut text = format!("{error} {error:?} {error:#?} {}", error.hint());
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(text, " {error} {error:?}").unwrap();
        cause = error.source();
    }
    text
}

/// The text as a careful writer of JSON might put it.
fn escaped(text: &str) -> String {
    let codes: Vec<String> = text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    codes.concat()
}

#[tokio::test]
async fn the_secret_is_in_no_error_no_hint_and_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let authority = Authority::new();
    let certified = authority.certify(true, -1..1);
    let (_folder, other_file) = Authority::new().file();
    let echo = format!("Authorization: PVEAPIToken=pvetalos@pve!ci={SECRET} and again {SECRET}");
    let replies = [
        Reply::json(&echo),
        Reply::json(&format!(r#"{{"data":"{SECRET}"}}"#)),
        Reply::status(&format!("500 {echo}"), ""),
        Reply::status(&format!("401 {SECRET}"), &echo),
        Reply::status(
            "400 Parameter verification failed.",
            &format!(r#"{{"errors":{{"x":"{SECRET}"}},"message":"{SECRET}"}}"#),
        ),
        Reply::status("403 Permission check failed", &echo),
        Reply::status("500 x", &format!(r#"{{"message":"{}"}}"#, escaped(SECRET))),
        Reply::status("400 x", &format!(r#"{{"errors":{{"{}":"y"}}}}"#, escaped(SECRET))),
        Reply::json(&format!(r#"{{"data":"{}"}}"#, escaped(SECRET))),
        Reply::status("595 Connection refused", &echo),
        Reply::SendAndClose(Vec::new()),
        Reply::SendAndClose(echo.clone().into_bytes()),
        Reply::Silence,
    ];
    let mut texts = String::new();
    for reply in replies {
        let server = Server::start(&certified, move |_| reply.clone()).await;
        for trust in [Trust::Insecure, Trust::CaFile(other_file.clone()), Trust::Pinned(Vec::new())] {
            let client = Client::with_retry(server.impatient_transport(trust), Retry::NEVER);
            write!(texts, "{client:?}").unwrap();
            texts += &everything_about(&client.version().await.unwrap_err());
            texts += &everything_about(&client.start(&host(), vmid(100)).await.unwrap_err());
        }
    }
    let nobody = Client::with_retry(transport(&"127.0.0.1:1".parse().unwrap(), Trust::System, PATIENT), Retry::NEVER);
    texts += &everything_about(&nobody.version().await.unwrap_err());

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(texts.contains("<secret>"), "the echo was met");
    assert!(log.contains("sending") && log.contains("/version"), "the log was written");
    assert!(!texts.contains(SECRET), "{texts}");
    assert!(!log.contains(SECRET), "{log}");
}

#[test]
fn a_clients_futures_can_be_sent_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let client = Client::new(Script::of([]));
    is_send(&client.version());
    is_send(&client.vms(&host()));
}
