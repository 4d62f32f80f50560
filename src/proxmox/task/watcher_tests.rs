//! Waiting for tasks on paused time: how often is asked, and what every end looks like.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::{Pace, TaskError, TaskWatcher, Upid};
use crate::proxmox::refusal::RefusalKind;
use crate::proxmox::testing::script::{Script, answer, data, no_connection, refusal};
use crate::proxmox::{Answer, Client, Request, Retry, TransportError};

/// The tasks of a host, each with the moment of its end and its exit status.
#[derive(Default)]
struct Tasks {
    ends: Mutex<BTreeMap<String, (Instant, String)>>,
    /// Tasks that the list leaves out.
    unlisted: Mutex<Vec<String>>,
    /// Until when nobody answers.
    silent_until: Mutex<Option<Instant>>,
}

fn upid(number: u32) -> Upid {
    format!("UPID:pve1:{number:08X}:01C2D3E4:68A5F0C1:qmclone:9000:pvetalos@pve!ci:").parse().unwrap()
}

impl Tasks {
    fn add(&self, upid: &Upid, lasts: Duration, exit: &str) {
        self.ends.lock().unwrap().insert(upid.to_string(), (Instant::now() + lasts, exit.to_owned()));
    }

    fn reply(&self, request: &Request) -> Result<Answer, TransportError> {
        if self.silent_until.lock().unwrap().is_some_and(|until| Instant::now() < until) {
            return Err(no_connection());
        }
        let ends = self.ends.lock().unwrap();
        let status = |end: &(Instant, String)| if Instant::now() < end.0 { None } else { Some(end.1.clone()) };
        let asked = request.path.replace("%3A", ":").replace("%40", "@").replace("%21", "!");
        let named = ends.iter().find(|(upid, _)| asked.contains(upid.as_str()));
        Ok(match (asked.rsplit('/').next(), named) {
            (Some("tasks"), _) => {
                let unlisted = self.unlisted.lock().unwrap();
                let rows = ends.iter().filter(|(upid, _)| !unlisted.contains(upid)).map(|(upid, end)| {
                    let status = status(end).unwrap_or_else(|| "RUNNING".to_owned());
                    format!(r#"{{"upid":"{upid}","status":"{status}"}}"#)
                });
                data(&format!("[{}]", rows.collect::<Vec<_>>().join(",")))
            }
            (Some("status"), Some((_, end))) => match status(end) {
                None => data(r#"{"status":"running"}"#),
                Some(exit) => data(&format!(r#"{{"status":"stopped","exitstatus":"{exit}"}}"#)),
            },
            (Some("status"), None) => {
                answer(400, "Parameter verification failed.", r#"{"data":null,"errors":{"upid":"no such task"}}"#)
            }
            _ => answer(200, "OK", r#"{"data":[],"total":0}"#),
        })
    }
}

fn watcher(tasks: &Arc<Tasks>, pace: Pace) -> (Arc<Script>, TaskWatcher<Arc<Script>>) {
    let tasks = Arc::clone(tasks);
    let script = Script::new(move |request| tasks.reply(request));
    (Arc::clone(&script), TaskWatcher::new(Client::with_retry(script, Retry::NEVER), pace))
}

fn asked(script: &Script, end: &str) -> usize {
    script.sent().iter().filter(|request| request.path.ends_with(end)).count()
}

#[tokio::test(start_paused = true)]
async fn one_look_serves_all_tasks_of_a_host() {
    let tasks = Arc::new(Tasks::default());
    let (script, watcher) = watcher(&tasks, Pace::default());
    let upids: Vec<Upid> = (1..=50).map(upid).collect();
    for (upid, seconds) in upids.iter().zip(1..) {
        tasks.add(upid, Duration::from_secs(seconds), "OK");
    }
    let started = Instant::now();
    let waiting: Vec<_> = upids.iter().map(|upid| watcher.finish(upid)).collect();
    let ended = join_all(waiting).await;
    assert!(ended.iter().all(Result::is_ok));
    assert!(started.elapsed() < Duration::from_secs(53), "{:?}", started.elapsed());
    let looks = asked(&script, "/tasks");
    assert!((20..45).contains(&looks), "{looks} looks in 50 s");
    assert_eq!(asked(&script, "/status"), 0);
    let query = &script.sent()[0];
    let started = upid(1).started().to_string();
    assert_eq!(
        (query.param("source"), query.param("limit"), query.param("since")),
        (Some("all"), Some("500"), Some(started.as_str()))
    );
}

/// Runs futures at once, without another crate for it.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn a_short_task_is_noticed_soon_even_while_a_long_one_is_waited_for() {
    let tasks = Arc::new(Tasks::default());
    let (_script, watcher) = watcher(
        &tasks,
        Pace { slowest: Duration::from_mins(1), stalled_after: Duration::from_hours(1), ..Pace::default() },
    );
    let (long, short) = (upid(1), upid(2));
    tasks.add(&long, Duration::from_mins(20), "OK");
    let short_one = async {
        tokio::time::sleep(Duration::from_mins(10)).await;
        tasks.add(&short, Duration::from_millis(400), "OK");
        let begun = Instant::now();
        watcher.finish(&short).await.unwrap();
        begun.elapsed()
    };
    let (ended, took) = tokio::join!(watcher.finish(&long), short_one);
    assert!(ended.is_ok());
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_new_tasks_does_not_put_off_the_look_for_ever() {
    let tasks = Arc::new(Tasks::default());
    let (script, watcher) = watcher(&tasks, Pace::default());
    let upids: Vec<Upid> = (1..=100).map(upid).collect();
    let waits = upids.iter().zip(0..).map(|(upid, number)| {
        let (tasks, watcher) = (&tasks, &watcher);
        async move {
            tokio::time::sleep(Duration::from_millis(100 * number)).await;
            tasks.add(upid, Duration::from_secs(1), "OK");
            let begun = Instant::now();
            watcher.finish(upid).await.unwrap();
            begun.elapsed()
        }
    });
    let took = join_all(waits.collect()).await;
    assert!(took.iter().all(|took| *took < Duration::from_millis(1600)), "{took:?}");
    assert!(asked(&script, "/tasks") < 30, "{} looks in 11 s", asked(&script, "/tasks"));
}

#[tokio::test(start_paused = true)]
async fn every_end_is_told_apart() {
    let tasks = Arc::new(Tasks::default());
    let (_script, watcher) = watcher(&tasks, Pace::default());
    let second = Duration::from_secs(1);
    tasks.add(&upid(1), second, "OK");
    tasks.add(&upid(2), second, "WARNINGS: 2");
    tasks.add(
        &upid(3),
        second,
        "clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout",
    );
    tasks.add(&upid(4), second, "unexpected status");
    assert_eq!(watcher.finish(&upid(1)).await.unwrap().warnings, 0);
    assert_eq!(watcher.finish(&upid(2)).await.unwrap().warnings, 2);
    let failed = watcher.finish(&upid(3)).await.unwrap_err();
    assert_eq!((failed.kind(), failed.may_be_done()), (Some(RefusalKind::Busy), false));
    assert!(failed.to_string().contains("pve-storage-local"), "{failed}");
    let killed = watcher.finish(&upid(4)).await.unwrap_err();
    assert!(matches!(killed, TaskError::Killed(_)) && killed.may_be_done(), "{killed:?}");
    assert!(killed.hint().contains("qm unlock"), "{}", killed.hint());
    let unknown = watcher.finish(&upid(5)).await.unwrap_err();
    assert!(matches!(unknown, TaskError::Unknown(_)), "{unknown:?}");
    assert_eq!(unknown.to_string(), format!("pve1 does not know task {}", upid(5)));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_the_list_leaves_out_is_asked_for_by_name() {
    let tasks = Arc::new(Tasks::default());
    let (script, watcher) = watcher(&tasks, Pace::default());
    tasks.add(&upid(1), Duration::from_secs(5), "OK");
    tasks.unlisted.lock().unwrap().push(upid(1).to_string());
    assert!(watcher.finish(&upid(1)).await.is_ok());
    assert!(asked(&script, "/status") > 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_waiting_leaves_the_others_their_watch() {
    let tasks = Arc::new(Tasks::default());
    let (_script, watcher) = watcher(&tasks, Pace::default());
    tasks.add(&upid(1), Duration::from_secs(30), "OK");
    tasks.add(&upid(2), Duration::from_secs(30), "OK");
    let (one, another) = (upid(1), upid(2));
    let first = tokio::time::timeout(Duration::from_secs(5), watcher.finish(&one));
    let (first, second, same) = tokio::join!(first, watcher.finish(&another), watcher.finish(&one));
    assert!(first.is_err(), "it was given up");
    assert!(second.is_ok() && same.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_silent_for_a_while_is_waited_for() {
    let tasks = Arc::new(Tasks::default());
    let (_script, watcher) = watcher(&tasks, Pace::default());
    tasks.add(&upid(1), Duration::from_secs(10), "OK");
    *tasks.silent_until.lock().unwrap() = Some(Instant::now() + Duration::from_mins(1));
    let begun = Instant::now();
    assert!(watcher.finish(&upid(1)).await.is_ok());
    assert!(begun.elapsed() < Duration::from_secs(64), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_stays_silent_is_given_up_for_all_its_tasks() {
    let tasks = Arc::new(Tasks::default());
    let (_script, watcher) = watcher(&tasks, Pace::default());
    *tasks.silent_until.lock().unwrap() = Some(Instant::now() + Duration::from_hours(10));
    let (one, another) = (upid(1), upid(2));
    let begun = Instant::now();
    let (first, second) = tokio::join!(watcher.finish(&one), watcher.finish(&another));
    for lost in [first.unwrap_err(), second.unwrap_err()] {
        assert!(matches!(lost, TaskError::Lost { .. }) && lost.may_be_done(), "{lost:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(125), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_refused_ends_the_wait_at_once() {
    let script = Script::new(|_| Ok(refusal(401, "Authentication failed!")));
    let watcher = TaskWatcher::new(Client::new(script), Pace::default());
    let begun = Instant::now();
    let lost = watcher.finish(&upid(1)).await.unwrap_err();
    assert!(lost.hint().contains("token"), "{}", lost.hint());
    assert!(begun.elapsed() < Duration::from_secs(2));
}

/// A clone that copies a percent a second, for as long as it is told.
fn copying(lines: impl Fn(Duration) -> u64 + Send + Sync + 'static) -> Arc<Script> {
    let begun = Instant::now();
    Script::new(move |request| {
        if request.path.ends_with("/tasks") {
            return Ok(data(&format!(r#"[{{"upid":"{}","status":"RUNNING"}}]"#, upid(1))));
        }
        let start: u64 = request.param("start").unwrap().parse().unwrap();
        let count = lines(begun.elapsed());
        let rows: Vec<_> =
            (start..count).map(|n| format!(r#"{{"n":{},"t":"transferred 0 B of 1 GiB ({n}.00%)"}}"#, n + 1)).collect();
        Ok(answer(200, "OK", &format!(r#"{{"data":[{}],"total":{count}}}"#, rows.join(","))))
    })
}

#[tokio::test(start_paused = true)]
async fn a_slow_task_is_waited_for_and_a_stalled_one_is_not() {
    let pace = Pace { stalled_after: Duration::from_mins(1), ..Pace::default() };
    let script = copying(|elapsed| elapsed.as_secs().min(90));
    let watcher = TaskWatcher::new(Client::new(script), pace);
    let mut percents = Vec::new();
    let begun = Instant::now();
    let one = upid(1);
    let stalled = watcher.follow(&one, |progress| percents.push(progress.percent(1).unwrap())).await.unwrap_err();
    assert!(matches!(stalled, TaskError::Stalled { .. }) && stalled.may_be_done(), "{stalled:?}");
    let waited = begun.elapsed().as_secs();
    assert!((150..172).contains(&waited), "it stood still after 90 s and was given up after {waited} s");
    assert!(percents.is_sorted() && percents.last() == Some(&89), "{percents:?}");
    assert!(percents.len() > 8, "{percents:?}");
}

#[tokio::test(start_paused = true)]
async fn without_an_audience_the_log_is_hardly_read() {
    let tasks = Arc::new(Tasks::default());
    let (script, watcher) = watcher(&tasks, Pace::default());
    tasks.add(&upid(1), Duration::from_secs(100), "OK");
    assert!(watcher.finish(&upid(1)).await.is_ok());
    assert_eq!(asked(&script, "/log"), 0);
}

#[tokio::test]
async fn running_tasks_of_others_are_found_to_be_joined() {
    let rows = format!(
        r#"[{{"upid":"{}","status":"RUNNING","saved":"0","user":"a@pve!b"}},{{"upid":"{}","status":"OK"}}]"#,
        upid(1),
        upid(2)
    );
    let script = Script::of([Ok(data(&rows))]);
    let client = Client::new(Arc::clone(&script));
    assert_eq!(client.running_tasks(upid(1).host(), "qmclone").await.unwrap(), [upid(1)]);
    assert_eq!(script.sent()[0].param("source"), Some("active"));
}
