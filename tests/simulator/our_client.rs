//! Our own client over HTTPS, against the server that it was made for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pvetalos::model::{ApiToken, Endpoint};
use pvetalos::proxmox::calls::upload;
use pvetalos::proxmox::task::{Pace, TaskWatcher};
use pvetalos::proxmox::{Client, HttpsTransport, Method, Request, Timing, Transport, TransportError, Trust, Upload};
use pvetalos::sim::Fault;

use crate::harness::Served;

fn transport(served: &Served, trust: Trust) -> HttpsTransport {
    let endpoint: Endpoint = format!("https://{}", served.address).parse().expect("an endpoint");
    let token: ApiToken = served.authorization.parse().expect("a token");
    HttpsTransport::new(&endpoint, &token, trust, Timing::default()).expect("a transport")
}

fn version() -> Request {
    Request { method: Method::Get, path: "/version".to_owned(), params: Vec::new() }
}

#[tokio::test]
async fn the_printed_fingerprint_is_all_that_has_to_be_trusted() {
    let served = Served::start().await;
    let client = transport(&served, Trust::Pinned(vec![served.fingerprint]));
    assert_eq!(client.send(&version()).await.expect("an answer").status, 200);

    let stranger = transport(&served, Trust::System);
    let refused = stranger.send(&version()).await;
    assert!(matches!(refused, Err(TransportError::Untrusted(_))), "{refused:?}");
}

#[tokio::test]
async fn lost_answers_and_resets_are_told_apart_from_answers() {
    let served = Served::start().await;
    let client = transport(&served, Trust::Pinned(vec![served.fingerprint]));
    for fault in [Fault::lose_answer(), Fault::never_arrives(), Fault::reset()] {
        served.simulator.inject(fault);
        let lost = client.send(&version()).await;
        assert!(matches!(lost, Err(TransportError::Lost(_))), "{lost:?}");
    }
    served.simulator.inject(Fault::answer(595, "No route to host"));
    let answer = client.send(&version()).await.expect("an answer");
    assert_eq!((answer.status, answer.reason.as_str()), (595, "No route to host"));
    assert_eq!(client.send(&version()).await.expect("an answer").status, 200);
    assert_eq!(served.simulator.log().total(), 5, "nothing was sent twice");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced_without_a_word() {
    let served = Served::start().await;
    let client = transport(&served, Trust::Pinned(vec![served.fingerprint]));
    for _ in 0..250 {
        assert_eq!(client.send(&version()).await.expect("an answer").status, 200);
    }
    let unknown = Request { path: "/nope".to_owned(), ..version() };
    assert_eq!(client.send(&unknown).await.expect("an answer").status, 501);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(client.send(&version()).await.expect("an answer").status, 200);
}

/// Everything that a form may spoil arrives as it was sent.
#[tokio::test]
async fn parameters_arrive_as_they_were_sent() {
    let served = Served::start().await;
    let client = transport(&served, Trust::Pinned(vec![served.fingerprint]));
    for method in [Method::Get, Method::Post, Method::Put, Method::Delete] {
        let params = [("boot", "order=scsi0;ide2"), ("description", "a+b & c%20d\nü=\"'<>"), ("tags", "")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let path = "/nodes/pve1/tasks/UPID:pve1:0001:0002:0003:qmclone:9000:root@pam!x:/nope".to_owned();
        let request = Request { method, path, params: params.into() };
        client.send(&request).await.expect("an answer");
        assert_eq!(served.simulator.log().requests().last().map(|logged| &logged.request), Some(&request));
    }
}

#[tokio::test]
async fn a_file_is_uploaded() {
    let served = Served::start().await;
    let endpoint: Endpoint = format!("https://{}", served.address).parse().expect("an endpoint");
    let token = "root@pam!admin=22222222-2222-4222-8222-222222222222".parse().expect("a token");
    let trust = Trust::Pinned(vec![served.fingerprint]);
    let transport = HttpsTransport::new(&endpoint, &token, trust, Timing::default()).expect("a transport");
    let client = Client::new(Arc::new(transport));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let (host, storage) = ("pve1".parse().expect("a host"), "local".parse().expect("a storage"));
    let upload = Upload::of(upload(&host, &storage, None), "talos.raw", &file).expect("a file");
    let upid = client.upload(&upload).await.expect("a task");
    let tasks = TaskWatcher::new(client.clone(), Pace { fastest: Duration::from_millis(20), ..Pace::default() });
    tasks.finish(&upid).await.expect("the file is put into its place");
    let found = client.volumes(&host, &storage, Some("import"), None).await.expect("a list");
    assert_eq!((found[0].id.to_string().as_str(), found[0].size), ("local:import/talos.raw", Some(upload.length())));
}
