//! Files of any size, sent as a form.

use pvetalos::proxmox::{HttpsTransport, Timing, Transport, Trust, Upload, calls};
use pvetalos::sim::{InProcess, Simulator};

use crate::harness::{Answer, Served, world};

const ADMIN: &str = "PVEAPIToken=root@pam!admin=22222222-2222-4222-8222-222222222222";

/// Uploads a file of this size and name, in pieces.
async fn upload(served: &Served, authorization: &str, content: &str, name: &str, size: usize) -> Answer {
    let start = format!(
        "--x\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\n{content}\r\n\
         --x\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"{name}\"\r\n\r\n"
    );
    let end = "\r\n--x--\r\n";
    let mut connection = served.connect().await;
    authorization.clone_into(&mut connection.authorization);
    let length = start.len() + size + end.len();
    let headers = format!("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {length}\r\n");
    connection.send(&connection.head("POST", "/nodes/pve1/storage/local/upload", &headers)).await;
    connection.send(&start).await;
    for piece in "0".repeat(size).as_bytes().chunks(64 * 1024) {
        connection.send(std::str::from_utf8(piece).expect("zeroes")).await;
    }
    connection.send(end).await;
    connection.answer().await
}

/// Recording 530.
#[tokio::test]
async fn a_file_may_be_larger_than_any_other_body() {
    let served = Served::start().await;
    let size = 3 * 1024 * 1024;
    let answer = upload(&served, ADMIN, "import", "talos.raw", size).await;
    assert_eq!(answer.status, 200, "{}", answer.reason);
    let upid = answer.json()["data"].as_str().expect("a UPID").to_owned();
    assert!(upid.contains(":imgcopy::root@pam!admin:"), "{upid}");
    let found = loop {
        let mut connection = served.connect().await;
        ADMIN.clone_into(&mut connection.authorization);
        let listed = connection.ask("GET", "/nodes/pve1/storage/local/content?content=import", "").await.json();
        match listed["data"].as_array().and_then(|files| files.first().cloned()) {
            Some(file) => break file,
            None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    assert_eq!((found["volid"].as_str(), found["size"].as_u64()), (Some("local:import/talos.raw"), Some(size as u64)));
}

/// Recordings 532 and 533.
#[tokio::test]
async fn what_may_not_be_uploaded_is_refused_by_the_cluster() {
    let served = Served::start().await;
    for (content, name, wrong) in [("snippets", "user.yaml", "content"), ("iso", "tiny.txt", "filename")] {
        let answer = upload(&served, ADMIN, content, name, 1000).await;
        assert_eq!(answer.status, 400);
        assert!(answer.json()["errors"][wrong].is_string(), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_stranger_uploads_nothing() {
    let served = Served::start().await;
    let answer = upload(&served, "PVEAPIToken=root@pam!admin=wrong", "import", "talos.raw", 1000).await;
    assert_eq!((answer.status, answer.reason.as_str()), (401, "Authentication failed!"));
    assert_eq!(served.simulator.log().total(), 0);
}

#[tokio::test]
async fn half_a_form_is_refused() {
    let served = Served::start().await;
    let mut connection = served.connect().await;
    let body = "--x\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\nimport\r\n--x--\r\n";
    let headers = format!("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {}\r\n", body.len());
    connection.send(&connection.head("POST", "/nodes/pve1/storage/local/upload", &headers)).await;
    connection.send(body).await;
    assert_eq!(connection.answer().await.status, 501);
    served.assert_alive().await;
}

/// The two ways of our own client: as a form over TLS, and by a call.
#[tokio::test]
async fn our_client_uploads_an_image_both_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("talos.qcow2");
    let mut bytes = b"QFI\xfb\0\0\0\x03".to_vec();
    bytes.extend_from_slice(&[0; 16]);
    bytes.extend_from_slice(&(1_u64 << 30).to_be_bytes());
    bytes.resize(200_000, 0);
    std::fs::write(&image, bytes).expect("a file");

    let served = Served::start().await;
    let (host, storage) = ("pve1".parse().expect("a host"), "local".parse().expect("a storage"));
    let upload = Upload::of(calls::upload(&host, &storage, None), "talos.qcow2", &image).expect("the file is there");
    let endpoint = format!("https://{}", served.address).parse().expect("an endpoint");
    let trust = Trust::Pinned(vec![served.fingerprint]);
    let https = HttpsTransport::new(&endpoint, &ADMIN.parse().expect("a token"), trust, Timing::default());
    let in_process = InProcess::new(Simulator::new(world()), ADMIN.to_owned());
    for answer in [https.expect("a transport").upload(&upload).await, in_process.upload(&upload).await] {
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.reason);
        assert!(String::from_utf8_lossy(&answer.body).contains(":imgcopy::root@pam!admin:"));
    }
}
