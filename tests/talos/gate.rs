//! The way into the guests' network over real sockets: a SOCKS5 proxy on loopback.

use std::time::Duration;

use pvetalos::sim::{Gate, GuestNetwork, Profile, Simulator};
use pvetalos::talos::{AnyDial, Goal, Identity, NodeState, Socks5, Watch};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::{config, target, world};

/// A gate that is open until the test ends.
struct Open {
    address: std::net::SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A world whose guest has booted before anybody looks.
fn network(profile: Profile) -> GuestNetwork {
    let mut world = world(&json!({ "profile": profile, "version": "1.13.9" }), &config());
    world.advance(Duration::from_mins(1));
    let clock = pvetalos::sim::Clock::starting_at(Duration::from_mins(1));
    Simulator::with(world, clock, pvetalos::sim::Waits::default()).guest_network()
}

async fn open(profile: Profile) -> Open {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let gate = Gate::bind(listen, network(profile)).await.expect("a free port");
    Open { address: gate.address(), task: tokio::spawn(gate.run_until(std::future::pending())) }
}

#[tokio::test]
async fn nodes_are_the_same_through_the_gate() {
    for (profile, state) in [
        (Profile::Maintenance, NodeState::Maintenance),
        (Profile::Configured, NodeState::Configured),
        (Profile::WaitingWorker, NodeState::Closed),
        (Profile::Metal, NodeState::Unreachable),
        (Profile::SshBanner, NodeState::NotTalos),
        (Profile::PlainHttp, NodeState::NotTalos),
        (Profile::NoHttp2, NodeState::NotTalos),
        (Profile::Reset, NodeState::NotTalos),
        (Profile::NoCertificate, NodeState::Starting),
        (Profile::FrameFlood, NodeState::NotTalos),
        (Profile::EndlessList, NodeState::NotTalos),
        (Profile::HugeAnswer, NodeState::NotTalos),
    ] {
        let gate = open(profile).await;
        let watch = Watch::new(AnyDial::new(Socks5::new(gate.address)));
        let sighting = watch.look(&target()).await;
        assert_eq!(sighting.state, state, "{profile}: {}", sighting.evidence);
    }
}

#[tokio::test]
async fn one_way_serves_many_nodes_at_once() {
    let gate = open(Profile::Maintenance).await;
    let watch = Watch::new(Socks5::new(gate.address));
    let targets = vec![target(); 50];
    let waited = watch.wait_for_all(&targets, Goal::Maintenance, Duration::from_mins(1), |_, _| {}).await;
    assert!(waited.iter().all(|waited| waited.sighting.identity() == Identity::Verified));
}

/// What a client says, and what the gate answers before it hangs up.
async fn exchange(gate: &Open, says: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(gate.address).await.expect("the gate listens");
    stream.write_all(says).await.expect("it takes a few bytes");
    stream.shutdown().await.expect("it takes an end");
    let mut answer = Vec::new();
    // A gate that closes with something unread resets the connection; what it said before counts.
    drop(timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.expect("it hangs up in time"));
    answer
}

#[tokio::test]
async fn whoever_does_not_speak_its_language_is_shown_out() {
    let gate = open(Profile::Maintenance).await;
    assert_eq!(exchange(&gate, b"").await, b"");
    assert_eq!(exchange(&gate, b"GET / HTTP/1.1\r\n\r\n").await, b"");
    assert_eq!(exchange(&gate, &[5, 1, 2]).await, [5, 255], "only clients without a password are known");
    assert_eq!(exchange(&gate, &[5, 255, 0]).await, b"", "the methods that it promised do not come");
    let refused = |code: u8| [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0];
    assert_eq!(exchange(&gate, &[5, 1, 0, 5, 2, 0, 1, 192, 168, 1, 11, 0xC3, 0x50]).await, refused(7), "BIND");
    assert_eq!(exchange(&gate, &[5, 1, 0, 5, 1, 0, 3, 1, b'x', 0, 1]).await, refused(8), "a name");
    assert_eq!(exchange(&gate, &[5, 1, 0, 5, 1, 0, 1, 192, 168, 1, 11, 0, 22]).await, refused(5), "another port");
    assert_eq!(exchange(&gate, &[5, 1, 0, 5, 1, 0, 1, 10, 9, 9, 9, 0xC3, 0x50]).await, refused(4), "nobody");
    let sighting = Watch::new(Socks5::new(gate.address)).look(&target()).await;
    assert_eq!(sighting.state, NodeState::Maintenance, "the gate still works");
}

#[tokio::test]
async fn it_opens_on_this_machine_only() {
    let listen = "192.0.2.1:0".parse().expect("an address");
    assert!(Gate::bind(listen, network(Profile::Maintenance)).await.is_err());
}
