//! Whatever comes in, the server stays.

use std::time::Duration;

use pvetalos::proxmox::{Method, Request, Transport};
use pvetalos::sim::{InProcess, Manners, Simulator, Waits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{Served, world};

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
    let many_headers: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
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

/// Requests that nobody would send, to every path there is, with every parameter there is: drawn by a seed, so that what
/// breaks can be broken again.
#[tokio::test(start_paused = true)]
async fn no_request_finds_a_bug_of_the_world() {
    const PATHS: &[&str] = &[
        "/version",
        "/access/permissions",
        "/access/roles",
        "/cluster/resources",
        "/cluster/nextid",
        "/cluster/status",
        "/cluster/tasks",
        "/nodes",
        "/nodes/pve1/status",
        "/nodes/pve1/qemu",
        "/nodes/pve1/qemu/9000/config",
        "/nodes/pve1/qemu/9000/clone",
        "/nodes/pve1/qemu/100/config",
        "/nodes/pve1/qemu/100/resize",
        "/nodes/pve1/qemu/100/pending",
        "/nodes/pve1/qemu/100/status/current",
        "/nodes/pve1/qemu/100/status/start",
        "/nodes/pve1/qemu/100/status/stop",
        "/nodes/pve1/qemu/100/status/shutdown",
        "/nodes/pve1/qemu/100",
        "/nodes/pve1/qemu/100/template",
        "/nodes/pve1/qemu/100/cloudinit/dump",
        "/nodes/pve1/qemu/100/move_disk",
        "/nodes/pve1/storage",
        "/nodes/pve1/storage/local/content",
        "/nodes/pve1/storage/local/download-url",
        "/nodes/pve1/storage/local/upload",
        "/nodes/pve1/tasks",
        "/nodes/pve1/tasks/UPID:x/log",
        "/pools",
        "/pools/talos",
        "/access/acl",
        "/access/users",
        "/storage/local",
        "/nodes/pve2/qemu/4001",
        "/nodes/%2e%2e",
        "/nodes/pve1/qemu/99999999999999999999/config",
        "/nodes/pve1/qemu/-1/config",
        "",
    ];
    const KEYS: &[&str] = &[
        "vmid",
        "newid",
        "cores",
        "memory",
        "balloon",
        "net0",
        "scsi0",
        "scsi1",
        "efidisk0",
        "tpmstate0",
        "ide2",
        "boot",
        "tags",
        "description",
        "name",
        "delete",
        "revert",
        "digest",
        "disk",
        "size",
        "storage",
        "full",
        "target",
        "pool",
        "path",
        "roles",
        "users",
        "tokens",
        "privs",
        "limit",
        "start",
        "since",
        "content",
        "url",
        "filename",
        "type",
        "ipconfig0",
        "sshkeys",
        "agent",
        "smbios1",
        "unused0",
        "force",
        "timeout",
        "format",
        "cpu",
        "startup",
        "template",
    ];
    const VALUES: &[&str] = &[
        "",
        "0",
        "1",
        "-1",
        "100",
        "9000",
        "131",
        "99999999999999999999",
        "1e9",
        "+10G",
        "10G",
        "0",
        "\u{0}",
        "ü",
        ",,,",
        "=",
        "local-lvm:1",
        "local-lvm:999999999",
        "local:0,import-from=local:import/x.raw",
        "virtio,bridge=vmbr0",
        "none,media=cdrom",
        "order=scsi0;;",
        "a;b,c d",
        "/",
        "..",
        "scsi0",
        "unused0",
        "local-lvm:cloudinit",
        "shared",
        "scsi0,net0",
        "1G",
        "uuid=x",
        "%",
        "https://factory.talos.dev/x.raw",
        "x.raw",
        "import",
        "18446744073709551615",
        "version=v2.0",
    ];
    let admin = "PVEAPIToken=root@pam!admin=22222222-2222-4222-8222-222222222222".to_owned();
    for seed in 0..40 {
        let simulator = Simulator::new(world());
        let client = InProcess::new(simulator.clone(), admin.clone());
        let mut draw = Draw(seed);
        for _ in 0..150 {
            let method = *draw.one_of(&[Method::Get, Method::Post, Method::Put, Method::Delete]);
            let path = (*draw.one_of(PATHS)).to_owned();
            let params = (0..draw.below(5))
                .map(|_| ((*draw.one_of(KEYS)).to_owned(), (*draw.one_of(VALUES)).to_owned()))
                .collect();
            let request = Request { method, path, params };
            drop(client.send(&request).await);
            tokio::time::advance(Duration::from_millis(draw.below(3000) as u64)).await;
        }
        assert!(!simulator.is_damaged(), "seed {seed}");
    }
}

/// A linear congruential generator (Knuth's MMIX): all that drawing from a list takes.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
