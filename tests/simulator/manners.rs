//! What a client notices of `pveproxy` itself. The numbers in the names of recordings are those of real exchanges.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use pvetalos::sim::{Manners, Simulator, Waits, World};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{Served, quick_manners};

/// Recording 001.
#[tokio::test]
async fn an_answer_has_the_headers_of_the_real_server() {
    let served = Served::start().await;
    let answer = served.ask("GET", "/version", "").await;
    assert_eq!((answer.status, answer.reason.as_str()), (200, "OK"));
    for (name, value) in [
        ("Cache-Control", "max-age=0"),
        ("Connection", "Keep-Alive"),
        ("Pragma", "no-cache"),
        ("Server", "pve-api-daemon/3.0"),
        ("Content-Type", "application/json;charset=UTF-8"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    assert_eq!(answer.header("Date"), answer.header("Expires"));
    assert!(answer.header("Date").is_some_and(|date| date.ends_with(" GMT")));
    assert!(answer.json()["data"]["version"].is_string());
}

/// Recordings 466 and 467.
#[tokio::test]
async fn repeated_and_trailing_slashes_are_tolerated() {
    let served = Served::start().await;
    let mut connection = served.connect().await;
    for path in ["/version/", "//version", "/%76ersion"] {
        assert_eq!(connection.ask("GET", path, "").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_connection_serves_many_requests_and_closes_after_an_error() {
    let served = Served::start().await;
    let mut connection = served.connect().await;
    for _ in 0..3 {
        assert_eq!(connection.ask("GET", "/version", "").await.header("Connection"), Some("Keep-Alive"));
    }
    let answer = connection.ask("GET", "/nope", "").await;
    assert_eq!((answer.status, answer.reason.as_str()), (501, "Method 'GET /nope' not implemented"));
    assert_eq!(answer.header("Connection"), Some("close"));
    assert_eq!(connection.ending().await, ErrorKind::UnexpectedEof);
}

#[tokio::test]
async fn a_connection_closes_after_its_last_request() {
    let manners = Manners { requests_per_connection: 3, ..quick_manners() };
    let served = Served::with(manners, Waits::default()).await;
    let mut connection = served.connect().await;
    for expected in ["Keep-Alive", "Keep-Alive", "close"] {
        assert_eq!(connection.ask("GET", "/version", "").await.header("Connection"), Some(expected));
    }
    assert_eq!(connection.ending().await, ErrorKind::UnexpectedEof);
}

#[test]
fn the_real_limits_are_the_default() {
    let Manners { idle, requests_per_connection, body_limit, .. } = Manners::default();
    assert_eq!((idle, requests_per_connection, body_limit), (Duration::from_secs(5), 100, 524_288));
    assert_eq!(Waits::default().refused_login, Duration::from_secs(3));
}

#[tokio::test]
async fn bodies_were_smaller_before_8_4() {
    for (version, status) in [("8.2.4", 501), ("8.4.21", 400)] {
        let world = World::from_json(&json!({"version": version, "vms": {"100": {}}})).expect("a world");
        let authorization = world.authorization().expect("a token");
        let served = Served::of(Simulator::new(world), &authorization, quick_manners()).await;
        let body = format!("description={}", "x".repeat(70_000));
        assert_eq!(served.ask("PUT", "/nodes/pve1/qemu/100/config", &body).await.status, status, "{version}");
    }
}

#[tokio::test]
async fn a_silent_connection_is_closed_without_a_word() {
    let manners = Manners { idle: Duration::from_millis(60), ..Manners::default() };
    let served = Served::with(manners, Waits::default()).await;

    let mut between_requests = served.connect().await;
    assert_eq!(between_requests.ask("GET", "/version", "").await.status, 200);
    assert_eq!(between_requests.ending().await, ErrorKind::UnexpectedEof);

    let mut inside_the_head = served.connect().await;
    inside_the_head.send("GET /api2/json/version HTTP/1.1\r\nHost: local").await;
    assert_eq!(inside_the_head.ending().await, ErrorKind::UnexpectedEof);

    let mut inside_the_body = served.connect().await;
    let head = inside_the_body.head("PUT", "/nodes/pve1/qemu/100/config", "Content-Length: 100\r\n");
    inside_the_body.send(&format!("{head}cores=")).await;
    assert_eq!(inside_the_body.ending().await, ErrorKind::UnexpectedEof);

    let mut before_the_handshake = TcpStream::connect(served.address).await.expect("the server listens");
    assert_eq!(before_the_handshake.read(&mut [0; 16]).await.expect("a polite close"), 0);
    served.assert_alive().await;
}

/// Recordings 470 and 477.
#[tokio::test]
async fn a_stranger_waits_for_an_empty_401() {
    let refused_login = Duration::from_millis(120);
    let served = Served::with(quick_manners(), Waits { refused_login, ..Waits::default() }).await;
    for path in ["/version", "/nope"] {
        let mut connection = served.connect().await;
        let asked = Instant::now();
        connection.send(&format!("GET /api2/json{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
        let answer = connection.answer().await;
        assert!(asked.elapsed() >= refused_login);
        assert_eq!((answer.status, answer.reason.as_str(), answer.body.as_str()), (401, "No ticket", ""));
        assert_eq!((answer.header("Connection"), answer.header("Content-Type")), (Some("close"), None));
        assert_eq!(connection.ending().await, ErrorKind::UnexpectedEof);
    }
}

/// Recordings 460, 463 and 464.
#[tokio::test]
async fn other_methods_are_not_available() {
    let served = Served::start().await;
    for method in ["PATCH", "HEAD", "OPTIONS", "FROBNICATE"] {
        let answer = served.ask(method, "/version", "").await;
        assert_eq!((answer.status, answer.reason.as_str()), (501, format!("method '{method}' not available").as_str()));
        assert_eq!((answer.body.as_str(), answer.header("Content-Type")), ("", None));
    }
}

/// Asks with these headers and this body, and expects a refusal in plain text.
async fn refused(served: &Served, method: &str, headers: &str, body: &str) -> (u16, String) {
    let mut connection = served.connect().await;
    connection.send(&connection.head(method, "/nodes/pve1/qemu/100/config", headers)).await;
    connection.send(body).await;
    let answer = connection.answer().await;
    assert_eq!(answer.body.trim_end_matches('\n'), answer.reason, "a plain text body repeats the reason");
    assert_eq!((answer.header("Connection"), answer.header("Content-Type")), (Some("close"), None));
    assert_eq!(connection.ending().await, ErrorKind::UnexpectedEof);
    (answer.status, answer.reason)
}

#[tokio::test]
async fn bodies_that_the_server_does_not_take_are_refused_in_plain_text() {
    let served = Served::start().await;
    let case = async |method, headers, body, status, reason: &str| {
        assert_eq!(refused(&served, method, headers, body).await, (status, reason.to_owned()));
    };
    case("PUT", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", 501, "chunked transfer encoding not supported").await;
    // Recording 425.
    case("DELETE", "Content-Length: 7\r\n", "purge=1", 501, "Unexpected content for method 'DELETE'").await;
    case("GET", "Content-Length: 7\r\n", "purge=1", 501, "Unexpected content for method 'GET'").await;
    // Recording 303.
    let text = "Content-Type: text/plain\r\nContent-Length: 7\r\n";
    case("PUT", text, "cores=3", 506, "upload 'Content-Type 'text/plain' not implemented").await;
    // Recording 672.
    let body = format!("description={}", "x".repeat(600_000));
    let length = format!("Content-Length: {}\r\n", body.len());
    case("PUT", &length, &body, 501, "for data too large").await;
    // Recording 300.
    let json = "Content-Type: application/json\r\nContent-Length: 9\r\n";
    let (status, reason) = refused(&served, "PUT", json, "{\"cores\":").await;
    assert!(status == 500 && reason.starts_with("malformed JSON string, neither tag"), "{reason}");
    assert_eq!(served.simulator.log().total(), 0, "the cluster has seen none of them");
}

#[tokio::test]
async fn long_heads_are_refused_and_long_answers_are_not() {
    let served = Served::start().await;
    let answer = served.ask("GET", &format!("/version?{}", "x".repeat(9000)), "").await;
    assert!((414..=431).contains(&answer.status), "{}", answer.status);
    let description = "x".repeat(8000);
    let mut connection = served.connect().await;
    connection.ask("PUT", "/nodes/pve1/qemu/9000/config", &format!("description={description}")).await;
    let config = connection.ask("GET", "/nodes/pve1/qemu/9000/config", "").await.json();
    assert_eq!(config["data"]["description"], description);
}

#[tokio::test]
async fn a_stranger_hears_401_before_his_body_is_looked_at() {
    let served = Served::start().await;
    let mut connection = served.connect().await;
    connection
        .send("DELETE /api2/json/nodes/pve1/qemu/100 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\npurge=1")
        .await;
    let answer = connection.answer().await;
    assert_eq!((answer.status, answer.reason.as_str()), (401, "No ticket"));
}

/// Recording 690.
#[tokio::test]
async fn plain_http_is_sent_to_https() {
    let served = Served::start().await;
    for (method, status) in [("GET", "301 Moved Permanently"), ("POST", "308 Permanent Redirect")] {
        let mut stream = TcpStream::connect(served.address).await.expect("the server listens");
        let host = served.address;
        let request = format!("{method} /api2/json/version?a=b HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the server answers");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(answer.contains(&format!("\r\nLocation: https://{host}/api2/json/version?a=b\r\n")), "{answer}");
    }
}

#[tokio::test]
async fn no_other_protocol_is_negotiated() {
    let served = Served::start().await;
    let mut connection = served.connect_offering(&["h2", "http/1.1"]).await;
    assert_eq!(connection.stream.get_ref().1.alpn_protocol(), None);
    assert_eq!(connection.ask("GET", "/version", "").await.status, 200);
}

#[tokio::test]
async fn requests_may_be_sent_before_the_last_answer_came() {
    let served = Served::start().await;
    let mut connection = served.connect().await;
    let head = connection.head("GET", "/version", "");
    connection.send(&head.repeat(3)).await;
    for _ in 0..3 {
        assert_eq!(connection.answer().await.status, 200);
    }
}

#[tokio::test]
async fn latency_is_added_to_every_answer() {
    let latency = Duration::from_millis(40);
    let served = Served::with(quick_manners(), Waits { latency, ..Waits::default() }).await;
    let mut connection = served.connect().await;
    let asked = Instant::now();
    for _ in 0..3 {
        connection.ask("GET", "/version", "").await;
    }
    assert!(asked.elapsed() >= 3 * latency);
}
