//! The network transport against a server with real TLS: whom it trusts, what it sends, and what it bears.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use super::testing::server::{Authority, Certified, PATIENT, Reply, SECRET, Server, token, transport};
use super::{
    Client, Distrust, Effect, HttpsTransport, ProxmoxError, Request, Retry, Timing, Transport, TransportError, Trust,
    Upload,
};
use crate::model::Fingerprint;

const VERSION: &str = r#"{"data":{"version":"9.2.11"}}"#;

async fn server(certified: &Certified) -> Server {
    Server::start(certified, |_| Reply::json(VERSION)).await
}

/// A server that does this with every request, and a client that trusts it.
async fn server_that(reply: impl Fn() -> Reply + Send + Sync + 'static) -> (Server, Client<HttpsTransport>) {
    let certified = Authority::new().certify(true, -1..1);
    let server = Server::start(&certified, move |_| reply()).await;
    let pins = vec![certified.fingerprint()];
    let client = Client::with_retry(server.transport(Trust::Pinned(pins)), Retry::NEVER);
    (server, client)
}

#[track_caller]
fn distrust(error: ProxmoxError) -> (Distrust, String, String) {
    assert_eq!(error.effect(), Effect::NeverSent);
    let hint = error.hint();
    match error {
        ProxmoxError::Untrusted { source, .. } => (source.distrust.clone(), source.to_string(), hint),
        other => panic!("{other:?}"),
    }
}

async fn refused(server: &Server, trust: Trust) -> (Distrust, String, String) {
    let client = Client::new(server.transport(trust));
    let refused = distrust(client.version().await.unwrap_err());
    assert_eq!((server.received().len(), server.connections()), (0, 0), "nothing may be sent");
    refused
}

#[tokio::test]
async fn the_right_authority_is_enough() {
    let authority = Authority::new();
    let (_folder, file) = authority.file();
    let server = server(&authority.certify(true, -1..1)).await;
    let client = Client::new(server.transport(Trust::CaFile(file)));
    assert_eq!(client.version().await.unwrap().version, "9.2.11");
}

#[tokio::test]
async fn another_authority_is_not() {
    let (_folder, file) = Authority::new().file();
    let certified = Authority::new().certify(true, -1..1);
    let server = server(&certified).await;
    let (why, text, hint) = refused(&server, Trust::CaFile(file.clone())).await;
    assert_eq!(why, Distrust::UnknownIssuer { ca_file: Some(file) });
    let fingerprint = certified.fingerprint().to_string();
    for part in ["CN=pve1.example.com", "127.0.0.1", "CN=Proxmox Virtual Environment", "valid from 20", &fingerprint] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    let pin = format!("add `fingerprints: [\"{fingerprint}\"]` under `proxmox:` in nodes.yaml or pvetalos.yaml");
    assert!(hint.contains(&pin), "{hint}");
    assert!(hint.contains("`pvenode cert info`"), "{hint}");
}

#[tokio::test]
async fn the_systems_authorities_do_not_know_ours() {
    let server = server(&Authority::new().certify(true, -1..1)).await;
    let (why, ..) = refused(&server, Trust::System).await;
    // A machine without any authorities, such as a bare container, says so.
    assert!(matches!(why, Distrust::UnknownIssuer { ca_file: None } | Distrust::Other(_)), "{why:?}");
}

#[tokio::test]
async fn a_pinned_certificate_needs_no_authority_no_name_and_no_date() {
    for certified in [
        Authority::new().certify(true, -1..1),
        Authority::new().certify(false, -1..1),
        Authority::new().certify(true, -2..-1),
    ] {
        let server = server(&certified).await;
        let pins = vec![Fingerprint::new([7; 32]), certified.fingerprint()];
        let client = Client::new(server.transport(Trust::Pinned(pins)));
        assert!(client.version().await.is_ok());
    }
}

#[tokio::test]
async fn a_pin_refuses_every_other_certificate_whoever_vouches_for_it() {
    let authority = Authority::new();
    let server = server(&authority.certify(true, -1..1)).await;
    let pin = Fingerprint::new([7; 32]);
    let (why, text, hint) = refused(&server, Trust::Pinned(vec![pin])).await;
    assert_eq!(why, Distrust::OtherFingerprint { expected: vec![pin] });
    assert!(text.starts_with(&format!("its fingerprint is not the expected {pin}; presented was `CN=")), "{text}");
    assert!(hint.starts_with("somebody may be in between"), "{hint}");
}

#[tokio::test]
async fn dates_and_names_count_with_an_authority() {
    let authority = Authority::new();
    let (_folder, file) = authority.file();
    let expired = server(&authority.certify(true, -2..-1)).await;
    let (why, _, hint) = refused(&expired, Trust::CaFile(file.clone())).await;
    assert_eq!(why, Distrust::Expired);
    assert!(hint.contains("pvecm updatecerts"), "{hint}");

    let early = server(&authority.certify(true, 1..2)).await;
    assert_eq!(refused(&early, Trust::CaFile(file.clone())).await.0, Distrust::NotYetValid);

    let elsewhere = server(&authority.certify(false, -1..1)).await;
    let (why, _, hint) = refused(&elsewhere, Trust::CaFile(file)).await;
    assert_eq!(why, Distrust::WrongName { asked: "127.0.0.1".to_owned() });
    assert!(hint.contains("use `pve1.example.com` instead of `127.0.0.1`"), "{hint}");
}

#[tokio::test]
async fn an_authority_that_serves_its_own_certificate_must_be_pinned() {
    let authority = Authority::new();
    let (_folder, file) = authority.file();
    let server = server(&authority.own()).await;
    let (why, text, hint) = refused(&server, Trust::CaFile(file)).await;
    assert!(matches!(why, Distrust::Other(_)), "{text}");
    assert!(hint.contains("fingerprints"), "{hint}");
    let client = Client::new(server.transport(Trust::Pinned(vec![authority.own().fingerprint()])));
    assert!(client.version().await.is_ok());
}

#[tokio::test]
async fn insecure_takes_anybody() {
    let server = server(&Authority::new().certify(false, -2..-1)).await;
    assert!(Client::new(server.transport(Trust::Insecure)).version().await.is_ok());
}

#[tokio::test]
async fn an_untrusted_server_is_not_asked_again() {
    let server = server(&Authority::new().certify(true, -1..1)).await;
    // A second attempt would come after an hour.
    let retry =
        Retry { first_pause: Duration::from_hours(1), longest_pause: Duration::from_hours(1), ..Retry::default() };
    let client = Client::with_retry(server.transport(Trust::Pinned(vec![Fingerprint::new([7; 32])])), retry);
    let error = tokio::time::timeout(Duration::from_secs(20), client.version()).await.unwrap().unwrap_err();
    assert!(matches!(error, ProxmoxError::Untrusted { .. }), "{error:?}");
}

#[test]
fn a_ca_file_without_an_authority_is_refused_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let case = |name: &str, text: Option<&str>, expected: &str| {
        let file = folder.path().join(name);
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let endpoint = "127.0.0.1:1".parse().unwrap();
        let error = HttpsTransport::new(&endpoint, &token(), Trust::CaFile(file), Timing::default()).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(error.hint().contains("pve-root-ca.pem"));
    };
    case("missing.pem", None, "cannot be read");
    case("empty.pem", Some(""), "holds no certificate of an authority");
    case("text.pem", Some("hello"), "holds no certificate of an authority");
    let wrong = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    case("wrong.pem", Some(wrong), "holds no certificate of an authority");
    case("broken.pem", Some("-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n"), "cannot be read");
}

#[tokio::test]
async fn parameters_travel_where_proxmox_looks_for_them() {
    let (server, client) = server_that(|| Reply::json(r#"{"data":null}"#)).await;
    let value = "order=scsi0;a&b+c d";
    for request in [Request::get("/x"), Request::delete("/x"), Request::put("/x"), Request::post("/x")] {
        client.send(&request.with("boot", value)).await.unwrap();
    }
    client.send(&Request::post("/nodes/pve1/qemu/100/status/start")).await.unwrap();
    let escaped = "boot=order%3Dscsi0%3Ba%26b%2Bc%20d";
    let received = server.received();
    let lines: Vec<_> = received.iter().map(|received| (received.line.as_str(), received.body.as_str())).collect();
    assert_eq!(
        lines,
        [
            (format!("GET /api2/json/x?{escaped} HTTP/1.1").as_str(), ""),
            (format!("DELETE /api2/json/x?{escaped} HTTP/1.1").as_str(), ""),
            ("PUT /api2/json/x HTTP/1.1", escaped),
            ("POST /api2/json/x HTTP/1.1", escaped),
            ("POST /api2/json/nodes/pve1/qemu/100/status/start HTTP/1.1", ""),
        ]
    );
    let header = |index: usize, name: &str| {
        let wanted = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        received[index].headers.lines().find(wanted).map(str::to_owned)
    };
    let authorization = format!("authorization: PVEAPIToken=pvetalos@pve!ci={SECRET}");
    for index in 0..5 {
        assert_eq!(header(index, "authorization").as_ref(), Some(&authorization));
        assert_eq!(header(index, "transfer-encoding"), None);
        assert_eq!(header(index, "accept-encoding"), None);
    }
    assert_eq!(header(1, "content-length"), None);
    assert_eq!(header(4, "content-length").as_deref(), Some("content-length: 0"));
    assert_eq!(server.connections(), 1, "a connection is used again");
}

#[tokio::test]
async fn the_reason_phrase_is_read() {
    let (_server, client) = server_that(|| Reply::status("500 VM is locked (clone)", r#"{"data":null}"#)).await;
    let error = client.version().await.unwrap_err();
    assert_eq!(error.refusal().unwrap().message, "VM is locked (clone)");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/steal\r\nContent-Length: 0\r\n\r\n";
    let (server, client) = server_that(|| Reply::Send(elsewhere.into())).await;
    let error = client.version().await.unwrap_err();
    assert!(error.hint().contains("redirects are not followed"), "{}", error.hint());
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn no_more_than_four_requests_are_in_flight() {
    let certified = Authority::new().certify(true, -1..1);
    let server = Server::start(&certified, |_| Reply::Silence).await;
    let transport = Arc::new(server.transport(Trust::Insecure));
    let mut sending = tokio::task::JoinSet::new();
    for _ in 0..9 {
        let transport = Arc::clone(&transport);
        sending.spawn(async move { transport.send(&Request::get("/version")).await });
    }
    while server.received().len() < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.received().len(), 4);
}

/// Every answer that is none: no hang, no panic, no flood; and what it may have done is said.
#[tokio::test]
async fn hostile_answers_are_errors_of_their_own_kind() {
    let case = async |name: &str, reply: Reply, expected: fn(&ProxmoxError) -> bool| {
        let (_server, client) = server_that(move || reply.clone()).await;
        let error = client.start(&"pve1".parse().unwrap(), "100".parse().unwrap()).await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        assert_eq!(error.effect(), Effect::MaybeDone, "{name}");
        let error = client.version().await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
    };
    let unreadable = |error: &ProxmoxError| matches!(error, ProxmoxError::Unreadable { .. });
    let lost = |error: &ProxmoxError| matches!(error, ProxmoxError::Unanswered { source: TransportError::Lost(_), .. });
    let too_large = |error: &ProxmoxError| {
        matches!(error, ProxmoxError::Unanswered { source: TransportError::TooLarge { .. }, .. })
    };
    case("truncated JSON", Reply::json(r#"{"data":{"version":"9."#), unreadable).await;
    case("wrong types", Reply::json(r#"{"data":[[[]]]}"#), unreadable).await;
    case("no data", Reply::json("{}"), unreadable).await;
    case("HTML", Reply::json("<html><body>Welcome to nginx!</body></html>"), unreadable).await;
    case("nothing", Reply::json(""), unreadable).await;
    case("deep", Reply::json(&"[".repeat(100_000)), unreadable).await;
    let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
    case("wrong content type", Reply::Send(text.into()), unreadable).await;
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"data\":";
    case("a body that ends early", Reply::SendAndClose(cut.into()), lost).await;
    case("no answer at all", Reply::SendAndClose(Vec::new()), lost).await;
    case("no HTTP", Reply::SendAndClose(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()), lost).await;
    let huge = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    case("a huge body", Reply::Send(huge.into()), too_large).await;
}

#[tokio::test]
async fn silence_is_not_waited_out() {
    let certified = Authority::new().certify(true, -1..1);
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"data\":".to_vec();
    for reply in [Reply::Silence, Reply::Send(half)] {
        let server = Server::start(&certified, move |_| reply.clone()).await;
        let client = Client::new(server.impatient_transport(Trust::Insecure));
        let error = client.start(&"pve1".parse().unwrap(), "100".parse().unwrap()).await.unwrap_err();
        assert!(matches!(error, ProxmoxError::Unanswered { source: TransportError::TimedOut(_), .. }), "{error:?}");
        assert_eq!(error.effect(), Effect::MaybeDone);
        let error = client.version().await.unwrap_err();
        assert!(matches!(error, ProxmoxError::Unanswered { source: TransportError::TimedOut(_), .. }), "{error:?}");
        assert_eq!(server.received().len(), 2, "neither is sent again");
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    let (_server, client) = server_that(|| Reply::Endless(head.into())).await;
    let error = client.version().await.unwrap_err();
    assert!(matches!(error, ProxmoxError::Unanswered { source: TransportError::TooLarge { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn nobody_at_the_address_means_never_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = listener.local_addr().unwrap().to_string().parse().unwrap();
    drop(listener);
    let client = Client::with_retry(transport(&endpoint, Trust::Insecure, PATIENT), Retry::NEVER);
    let error = client.start(&"pve1".parse().unwrap(), "100".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NeverSent);
    assert_eq!(error.to_string(), format!("cannot reach Proxmox at {endpoint}"));
    let cause = error.source().unwrap();
    assert_eq!(cause.to_string(), "no connection");
    assert!(cause.source().unwrap().to_string().starts_with("Connection refused"));
}

#[tokio::test]
async fn a_server_without_tls_is_no_proxmox() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = listener.local_addr().unwrap().to_string().parse().unwrap();
    let answering = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 301 Moved\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    };
    let client = Client::with_retry(transport(&endpoint, Trust::Insecure, PATIENT), Retry::NEVER);
    let error = tokio::select! {
        error = client.version() => error.unwrap_err(),
        () = answering => unreachable!("it never ends"),
    };
    assert_eq!(error.effect(), Effect::NeverSent, "{error:?}");
}

/// Answers everything but the second request, at which it closes the connection without a word.
async fn forgetful_server() -> (Server, Client<HttpsTransport>) {
    let certified = Authority::new().certify(true, -1..1);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(&certified, move |_| match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        1 => Reply::SendAndClose(Vec::new()),
        _ => Reply::json(VERSION),
    })
    .await;
    let retry = Retry { first_pause: Duration::from_millis(1), ..Retry::default() };
    let client = Client::with_retry(server.transport(Trust::Insecure), retry);
    client.version().await.unwrap();
    (server, client)
}

#[tokio::test]
async fn a_post_whose_answer_was_lost_goes_out_once_even_on_a_used_connection() {
    let (server, client) = forgetful_server().await;
    let error = client.start(&"pve1".parse().unwrap(), "100".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.effect(), Effect::MaybeDone);
    let lines: Vec<_> = server.received().into_iter().map(|received| received.line).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("POST")).count(), 1, "{lines:?}");
    assert_eq!(server.connections(), 1, "it went out on the used connection");
}

#[tokio::test]
async fn a_get_whose_answer_was_lost_is_sent_again() {
    let (server, client) = forgetful_server().await;
    assert!(client.version().await.is_ok());
    assert_eq!((server.received().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_connection_that_died_while_idle_costs_nothing() {
    let certified = Authority::new().certify(true, -1..1);
    let Reply::Send(bytes) = Reply::json(r#"{"data":"UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmstart:100:a@pve!b:"}"#)
    else {
        unreachable!("it is sent")
    };
    // As pveproxy does after 5 s: closed without having said so.
    let server = Server::start(&certified, move |_| Reply::SendAndClose(bytes.clone())).await;
    let client = Client::with_retry(server.transport(Trust::Insecure), Retry::NEVER);
    for _ in 0..3 {
        client.start(&"pve1".parse().unwrap(), "100".parse().unwrap()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!((server.received().len(), server.connections()), (3, 3));
}

/// A file of this many bytes, and the folder that holds it.
fn file(length: usize) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image.raw");
    std::fs::write(&path, "x".repeat(length)).unwrap();
    (folder, path)
}

#[tokio::test]
async fn a_file_is_sent_after_its_fields_and_with_its_length() {
    let upid = r#"{"data":"UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:imgcopy::a@pve!b:"}"#;
    let (server, client) = server_that(|| Reply::json(upid)).await;
    let (_folder, path) = file(300_000);
    let request = super::calls::upload(&"pve1".parse().unwrap(), &"local".parse().unwrap(), None);
    let upload = Upload::of(request, "talos \"1\".raw", &path).unwrap();
    assert_eq!(client.upload(&upload).await.unwrap().kind(), "imgcopy");
    // The same may be sent again from the beginning.
    assert!(client.upload(&upload).await.is_ok());

    for received in server.received() {
        assert_eq!(received.line, "POST /api2/json/nodes/pve1/storage/local/upload HTTP/1.1");
        let boundary = received.headers.split("boundary=").nth(1).unwrap().lines().next().unwrap();
        let (before, rest) = received.body.split_once("xx").unwrap();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\nimport\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"talos__1_.raw\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        assert_eq!(before, expected);
        let (file, after) = rest.split_once("\r\n").unwrap();
        assert_eq!((file.len() + 2, after), (300_000, format!("--{boundary}--\r\n").as_str()));
        assert!(received.headers.contains(&format!("content-length: {}", received.body.len())), "{}", received.headers);
    }
}

#[tokio::test]
async fn an_upload_whose_answer_was_lost_is_not_sent_again() {
    let certified = Authority::new().certify(true, -1..1);
    let server = Server::start(&certified, |_| Reply::SendAndClose(Vec::new())).await;
    let client = Client::new(server.transport(Trust::Insecure));
    let (_folder, path) = file(1000);
    let request = super::calls::upload(&"pve1".parse().unwrap(), &"local".parse().unwrap(), None);
    let error = client.upload(&Upload::of(request, "talos.raw", &path).unwrap()).await.unwrap_err();
    assert_eq!((error.effect(), server.received().len()), (Effect::MaybeDone, 1));
}

#[tokio::test]
async fn a_file_that_shrinks_while_it_is_sent_is_an_error() {
    let (server, client) = server_that(|| Reply::json(VERSION)).await;
    let (_folder, path) = file(300_000);
    let request = super::calls::upload(&"pve1".parse().unwrap(), &"local".parse().unwrap(), None);
    let upload = Upload::of(request, "talos.raw", &path).unwrap();
    std::fs::write(&path, "x").unwrap();
    let error = client.upload(&upload).await.unwrap_err();
    assert!(error.with_causes().ends_with("the file became shorter meanwhile"), "{}", error.with_causes());
    assert_eq!(server.received().len(), 0);
}
