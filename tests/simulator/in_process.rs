//! The simulator without sockets, on paused time.

use std::time::Duration;

use pvetalos::proxmox::{Method, Request, Transport, TransportError};
use pvetalos::sim::{Clock, Fault, InProcess, Simulator, Waits};
use serde_json::Value;
use tokio::time::Instant;

use crate::harness::{authorization, world};

fn start() -> (Simulator, InProcess) {
    let world = world();
    let authorization = authorization(&world);
    let simulator = Simulator::with(world, Clock::default(), Waits::default());
    (simulator.clone(), InProcess::new(simulator, authorization))
}

fn request(method: Method, path: &str, params: &[(&str, &str)]) -> Request {
    let params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Request { method, path: path.to_owned(), params }
}

async fn send(client: &InProcess, request: Request) -> Value {
    let answer = client.send(&request).await.expect("an answer");
    assert_eq!(answer.status, 200, "{} {}", answer.reason, request.path);
    let mut body: Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    body["data"].take()
}

/// Follows a task to its end and gives its exit status.
async fn finish(client: &InProcess, upid: &str) -> String {
    loop {
        let status = send(client, request(Method::Get, &format!("/nodes/pve1/tasks/{upid}/status"), &[])).await;
        if let Some(exit) = status["exitstatus"].as_str() {
            return exit.to_owned();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn clone(client: &InProcess, newid: &str) -> Value {
    let params = [("newid", newid), ("name", "cp-1"), ("full", "1")];
    send(client, request(Method::Post, "/nodes/pve1/qemu/9000/clone", &params)).await
}

#[tokio::test(start_paused = true)]
async fn a_clone_takes_its_time_and_no_time_at_all() {
    let (simulator, client) = start();
    let asked = Instant::now();
    let upid = clone(&client, "120").await;
    assert_eq!(finish(&client, upid.as_str().expect("a UPID")).await, "OK");
    assert!(asked.elapsed() >= Duration::from_secs(1));
    let config = send(&client, request(Method::Get, "/nodes/pve1/qemu/120/config", &[])).await;
    assert_eq!(config["name"], "cp-1");
    assert_eq!(simulator.log().count(Method::Post, "/nodes/*/qemu/*/clone"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_waits_three_seconds() {
    let (simulator, _) = start();
    let stranger = InProcess::new(simulator, None);
    let asked = Instant::now();
    let answer = stranger.send(&request(Method::Get, "/version", &[])).await.expect("an answer");
    assert_eq!((answer.status, asked.elapsed()), (401, Duration::from_secs(3)));
}

#[tokio::test(start_paused = true)]
async fn latency_is_exact() {
    let world = world();
    let authorization = authorization(&world);
    let waits = Waits { latency: Duration::from_millis(5), ..Waits::default() };
    let client = InProcess::new(Simulator::with(world, Clock::default(), waits), authorization);
    let asked = Instant::now();
    for _ in 0..100 {
        send(&client, request(Method::Get, "/version", &[])).await;
    }
    assert_eq!(asked.elapsed(), Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_too_long_is_a_time_out_and_the_work_is_done() {
    let (simulator, client) = start();
    simulator.inject(Fault::delay(Duration::from_mins(1)).of(Method::Post, "/nodes/*/qemu/*/clone"));
    let asked = Instant::now();
    let params = [("newid", "120"), ("full", "1")];
    let lost = client.send(&request(Method::Post, "/nodes/pve1/qemu/9000/clone", &params)).await;
    assert!(matches!(lost, Err(TransportError::TimedOut(_))), "{lost:?}");
    assert_eq!(asked.elapsed(), Duration::from_secs(40));
    let config = send(&client, request(Method::Get, "/nodes/pve1/qemu/120/config", &[])).await;
    assert!(config["name"].is_string());
}

#[tokio::test(start_paused = true)]
async fn faults_strike_in_process_as_they_do_over_a_socket() {
    let (simulator, client) = start();
    let version = || request(Method::Get, "/version", &[]);
    for fault in [Fault::lose_answer(), Fault::never_arrives(), Fault::reset(), Fault::reset().carried_out()] {
        simulator.inject(fault);
        let lost = client.send(&version()).await;
        assert!(matches!(lost, Err(TransportError::Lost(_))), "{lost:?}");
    }
    simulator.inject(Fault::answer(595, "Connection refused"));
    assert_eq!(client.send(&version()).await.expect("an answer").status, 595);
    assert_eq!(client.send(&version()).await.expect("an answer").status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_client_killed_at_any_request_can_be_run_again() {
    for carried_out in [false, true] {
        for number in 1..=4 {
            let (simulator, client) = start();
            let killed = Fault::kill_client().at(number);
            simulator.inject(if carried_out { killed.carried_out() } else { killed });
            let run = async || {
                let upid = clone(&client, "120").await;
                finish(&client, upid.as_str().expect("a UPID")).await
            };
            tokio::select! {
                () = simulator.client_killed() => simulator.revive_client(),
                status = run() => panic!("not killed, but {status}"),
            }
            // What was begun goes on without its client.
            tokio::time::sleep(Duration::from_mins(1)).await;
            let exists = client.send(&request(Method::Get, "/nodes/pve1/qemu/120/config", &[])).await;
            let cloned = exists.expect("an answer").status == 200;
            assert_eq!(cloned, carried_out || number > 1, "killed at {number}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_schedules_run_in_a_moment() {
    let mut failed = 0;
    for seed in 0..1000 {
        let (simulator, client) = start();
        for fault in Fault::schedule(seed, 20, 3) {
            simulator.inject(fault);
        }
        for _ in 0..20 {
            let answer = client.send(&request(Method::Get, "/version", &[])).await;
            failed += usize::from(!answer.is_ok_and(|answer| answer.status == 200));
        }
        assert_eq!(simulator.log().total(), 20);
    }
    assert!((1000..4000).contains(&failed), "{failed} requests were struck");
}

#[tokio::test(start_paused = true)]
async fn waits_may_be_as_long_as_can_be_said() {
    let world = world();
    let authorization = authorization(&world);
    let waits = Waits { latency: Duration::MAX, refused_login: Duration::MAX };
    let simulator = Simulator::with(world, Clock::default(), waits);
    simulator.inject(Fault::delay(Duration::MAX).always());
    for token in [authorization, "PVEAPIToken=nobody@pve!x=y".to_owned()] {
        let client = InProcess::new(simulator.clone(), token);
        assert!(client.send(&request(Method::Get, "/version", &[])).await.is_err(), "nobody waits that long");
    }
    assert!(!simulator.is_damaged());
}
