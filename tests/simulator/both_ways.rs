//! What is told in process holds over a socket.

use pvetalos::model::{ApiToken, Endpoint};
use pvetalos::proxmox::{HttpsTransport, Method, Request, Timing, Transport, Trust};
use pvetalos::sim::{InProcess, Simulator};

use crate::harness::{Served, world};

/// Requests of every kind whose answers do not depend on the time.
fn story() -> Vec<Request> {
    let vm = "/nodes/pve1/qemu/9000";
    [
        (Method::Get, "/version", vec![]),
        (Method::Get, "/access/permissions", vec![("path", "/vms/9000")]),
        (Method::Get, &format!("{vm}/config"), vec![]),
        (Method::Get, &format!("{vm}/pending"), vec![("nonsense", "1")]),
        (Method::Put, &format!("{vm}/config"), vec![("cores", "many"), ("net0", "virtio,bridge=ö;&=+ %")]),
        (Method::Put, &format!("{vm}/config"), vec![("description", "first\nsecond; with = & + %20 ü"), ("tags", "b;a")]),
        (Method::Get, &format!("{vm}/config"), vec![]),
        (Method::Put, &format!("{vm}/config"), vec![("tags", ""), ("delete", "description,nonsense")]),
        (Method::Get, "/cluster/nextid", vec![("vmid", "9000")]),
        (Method::Get, "/nodes/pve9/qemu", vec![]),
        (Method::Get, "/nodes/pve1/status", vec![]),
        (Method::Post, "/version", vec![]),
        (Method::Delete, "/nodes/pve2/qemu/4001", vec![("purge", "1")]),
        (Method::Get, "/nodes/pve1/tasks/UPID%3Apve1%3A00000001%3A00000002%3A00000003%3Aqmclone%3A9000%3Aroot%40pam%21x%3A/status", vec![]),
        (Method::Post, &format!("{vm}/clone"), vec![("newid", "100")]),
        (Method::Get, "/nope//nope/", vec![]),
    ]
    .into_iter()
    .map(|(method, path, params)| {
        let params = params.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Request { method, path: path.to_owned(), params }
    })
    .collect()
}

#[tokio::test]
async fn both_ways_give_the_same_answers() {
    let served = Served::start().await;
    let endpoint: Endpoint = format!("https://{}", served.address).parse().expect("an endpoint");
    let token: ApiToken = served.authorization.parse().expect("a token");
    let trust = Trust::Pinned(vec![served.fingerprint]);
    let over_tls = HttpsTransport::new(&endpoint, &token, trust, Timing::default()).expect("a transport");
    let in_process = InProcess::new(Simulator::new(world()), served.authorization.clone());
    for request in story() {
        let one = over_tls.send(&request).await.expect("an answer over TLS");
        let other = in_process.send(&request).await.expect("an answer in process");
        assert_eq!(one, other, "{} {}", request.method, request.path);
    }
}
