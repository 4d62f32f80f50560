//! Whatever comes in, the server stays.

use std::time::Duration;

use pvetalos::sim::{Manners, Waits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::Served;

#[tokio::test]
async fn garbage_instead_of_tls_or_http_is_survived() {
    let served = Served::start().await;
    let tls_record = b"\x16\x03\x01\xff\xff\x01\x00\x00\x00".as_slice();
    for garbage in [b"\x16".as_slice(), tls_record, b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"\xff\xfe HTTP/9.9\r\n\r\n"] {
        let mut stream = TcpStream::connect(served.address).await.expect("the server listens");
        stream.write_all(garbage).await.expect("the server reads");
        drop(stream.shutdown().await);
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
    }
    served.assert_alive().await;
}

#[tokio::test]
async fn requests_that_break_the_rules_are_survived() {
    let served = Served::start().await;
    let many_headers = "X: y\r\n".repeat(200);
    let long_header = format!("X: {}\r\n", "y".repeat(1_000_000));
    for request in [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "GET / HTTP/3.0\r\n\r\n".to_owned(),
        "GET /api2/json/version HTTP/1.0\r\n\r\n".to_owned(),
        "GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET * HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "CONNECT localhost:1 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET /api2/json/%00%ff%zz%2e%2e/%2f HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET /api2/json/version?%00=%ff&&;;=== HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "PUT /api2/json/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "PUT /api2/json/x HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n".to_owned(),
        "PUT /api2/json/x HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef".to_owned(),
        "PUT /api2/json/x HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc".to_owned(),
        "GET /api2/json/version HTTP/1.1\r\nAuthorization: \u{fffd}\u{1}\r\n\r\n".to_owned(),
        "GET /api2/json/version HTTP/1.1\r\nAuthorization: PVEAPIToken=%%%;=!!@@\r\n\r\n".to_owned(),
        format!("GET /api2/json/version HTTP/1.1\r\n{many_headers}\r\n"),
        format!("GET /api2/json/version HTTP/1.1\r\n{long_header}\r\n"),
        format!("GET /api2/json/{} HTTP/1.1\r\n\r\n", "a/".repeat(100_000)),
    ] {
        let mut connection = served.connect().await;
        connection.send(&request).await;
        drop(connection.stream.shutdown().await);
        // An answer or a closed connection, both are fine.
        drop(connection.try_answer().await);
    }
    served.assert_alive().await;
}

#[tokio::test]
async fn strange_parameters_are_survived_by_every_method() {
    let served = Served::start().await;
    let deep_json = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let many = "a=1&".repeat(20_000);
    for body in
        ["=", "&;&;", "%", "a=%f0%9f&a", "\u{0}\u{1}=\u{7f}", "{}", "[]", "null", "{\"a\":1e999}", &deep_json, &many]
    {
        for method in ["POST", "PUT"] {
            for content_type in ["application/json", "application/x-www-form-urlencoded", ""] {
                let mut connection = served.connect().await;
                let headers = format!("Content-Type: {content_type}\r\nContent-Length: {}\r\n", body.len());
                for path in ["/nodes/pve1/qemu/100/config", "/nodes/pve1/qemu", "/pools"] {
                    connection.send(&connection.head(method, path, &headers)).await;
                    connection.send(body).await;
                    if connection.try_answer().await.is_err() {
                        break;
                    }
                }
            }
        }
    }
    served.assert_alive().await;
}

#[tokio::test]
async fn silent_connections_do_not_lock_others_out_for_long() {
    let manners = Manners { idle: Duration::from_millis(100), connections: 8, ..Manners::default() };
    let served = Served::with(manners, Waits::default()).await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(served.address).await.expect("the server listens"));
    }
    served.assert_alive().await;
}

#[tokio::test]
async fn a_client_that_leaves_early_harms_nobody() {
    let served = Served::start().await;
    for _ in 0..20 {
        let mut connection = served.connect().await;
        connection.send(&connection.head("GET", "/version", "")).await;
    }
    served.assert_alive().await;
}
