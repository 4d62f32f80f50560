//! Faults over HTTPS: what the client is told, and what was done all the same.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use pvetalos::proxmox::request::Method;
use pvetalos::sim::{Fault, Malformed};

use crate::harness::Served;

const CONFIG: &str = "/nodes/pve1/qemu/9000/config";

/// Tries to set the number of cores once, and tells how the connection ended if not with an answer.
async fn set_cores(served: &Served, cores: u32) -> Result<u16, ErrorKind> {
    let mut connection = served.connect().await;
    let body = format!("cores={cores}");
    let head = connection.head("PUT", CONFIG, &format!("Content-Length: {}\r\n", body.len()));
    connection.send(&format!("{head}{body}")).await;
    connection.try_answer().await.map(|answer| answer.status).map_err(|error| error.kind())
}

async fn cores(served: &Served) -> u64 {
    served.ask("GET", CONFIG, "").await.json()["data"]["cores"].as_u64().expect("a number of cores")
}

/// Injects a fault and sets another number of cores: what did the client hear, and was it done?
async fn struck_by(fault: Fault) -> (Result<u16, ErrorKind>, bool) {
    let served = Served::start().await;
    let wanted = cores(&served).await + 1;
    served.simulator.inject(fault.of(Method::Put, "/nodes/*/qemu/*/config"));
    let heard = set_cores(&served, u32::try_from(wanted).expect("few cores")).await;
    (heard, cores(&served).await == wanted)
}

#[tokio::test]
async fn a_lost_answer_is_all_that_is_lost() {
    assert_eq!(struck_by(Fault::lose_answer()).await, (Err(ErrorKind::UnexpectedEof), true));
}

#[tokio::test]
async fn a_request_that_never_arrives_does_nothing() {
    assert_eq!(struck_by(Fault::never_arrives()).await, (Err(ErrorKind::UnexpectedEof), false));
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    assert_eq!(struck_by(Fault::reset()).await, (Err(ErrorKind::ConnectionReset), false));
    assert_eq!(struck_by(Fault::reset().carried_out()).await, (Err(ErrorKind::ConnectionReset), true));
}

#[tokio::test]
async fn a_proxy_error_may_hide_finished_work() {
    assert_eq!(struck_by(Fault::answer(595, "Connection refused")).await, (Ok(595), false));
    assert_eq!(struck_by(Fault::answer(596, "Connection timed out").carried_out()).await, (Ok(596), true));
    assert_eq!(struck_by(Fault::answer(500, "got no worker upid")).await, (Ok(500), false));
}

#[tokio::test]
async fn a_fault_is_over_when_it_is_over() {
    let served = Served::start().await;
    served.simulator.inject(Fault::answer(599, "Too many redirections").of(Method::Get, "/version").times(2));
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(served.ask("GET", "/version", "").await.status);
    }
    assert_eq!(heard, [599, 599, 200]);
}

#[tokio::test]
async fn the_answer_of_a_proxy_has_a_reason_and_no_body() {
    let served = Served::start().await;
    served.simulator.inject(Fault::answer(596, "Connection timed out"));
    let answer = served.ask("GET", "/version", "").await;
    assert_eq!((answer.reason.as_str(), answer.body.as_str()), ("Connection timed out", ""));
    assert_eq!(answer.header("Connection"), Some("close"));
}

#[tokio::test]
async fn malformed_answers_are_well_formed_http() {
    let served = Served::start().await;
    for how in [Malformed::Truncated, Malformed::Html, Malformed::WrongType] {
        served.simulator.inject(Fault::malformed(how));
        let answer = served.ask("GET", "/version", "").await;
        assert_eq!(answer.status, 200);
        let data = serde_json::from_str(&answer.body).map(|mut body: serde_json::Value| body["data"].take());
        assert!(!data.is_ok_and(|data| data.is_object()), "{how:?}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_delayed_answer_comes_late_and_in_full() {
    let served = Served::start().await;
    let delay = Duration::from_millis(80);
    served.simulator.inject(Fault::delay(delay));
    let asked = Instant::now();
    assert_eq!(served.ask("GET", "/version", "").await.status, 200);
    assert!(asked.elapsed() >= delay);
}

#[tokio::test]
async fn work_is_done_even_if_the_client_does_not_wait_for_the_answer() {
    let served = Served::start().await;
    let wanted = cores(&served).await + 1;
    served.simulator.inject(Fault::delay(Duration::from_mins(10)).of(Method::Put, CONFIG));
    let mut connection = served.connect().await;
    let body = format!("cores={wanted}");
    let head = connection.head("PUT", CONFIG, &format!("Content-Length: {}\r\n", body.len()));
    connection.send(&format!("{head}{body}")).await;
    while served.simulator.log().count(Method::Put, CONFIG) == 0 {
        tokio::task::yield_now().await;
    }
    drop(connection);
    assert_eq!(cores(&served).await, wanted);
}

#[tokio::test]
async fn a_killed_client_is_noticed_and_hears_nothing() {
    let served = Served::start().await;
    served.simulator.inject(Fault::kill_client().at(2));
    let mut connection = served.connect().await;
    assert_eq!(connection.ask("GET", "/version", "").await.status, 200);
    let head = connection.head("GET", "/version", "");
    connection.send(&head).await;
    tokio::select! {
        () = served.simulator.client_killed() => {}
        answer = connection.try_answer() => panic!("the dead hear: {answer:?}"),
    }
    served.simulator.revive_client();
    served.assert_alive().await;
}
