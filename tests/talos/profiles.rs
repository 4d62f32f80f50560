use std::fmt::Write as _;

use pvetalos::sim::Profile;
use pvetalos::talos::{Identity, NodeState, Verdict};
use serde_json::json;

use crate::harness::{SCHEMATIC, config, look};

const VERSIONS: [&str; 9] =
    ["1.6.8", "1.7.7", "1.8.4", "1.9.6", "1.10.9", "1.11.6", "1.12.11", "1.13.9", "1.14.0-rc.1"];

/// What each profile is, on every version.
fn expected(profile: Profile) -> NodeState {
    match profile {
        Profile::Maintenance | Profile::Used => NodeState::Maintenance,
        Profile::Configured => NodeState::Configured,
        Profile::WaitingWorker => NodeState::Closed,
        Profile::Metal => NodeState::Unreachable,
        Profile::AnotherMachine => NodeState::WrongHost,
        Profile::NoCertificate | Profile::Booting | Profile::SilentInside => NodeState::Starting,
        Profile::Silent
        | Profile::SshBanner
        | Profile::PlainHttp
        | Profile::NoHttp2
        | Profile::Reset
        | Profile::Garbage
        | Profile::OddCertificate
        | Profile::SlowDrip
        | Profile::Impostor
        | Profile::HugeAnswer
        | Profile::EndlessList
        | Profile::GarbageInside
        | Profile::FrameFlood => NodeState::NotTalos,
    }
}

#[tokio::test(start_paused = true)]
async fn every_profile_has_its_state_on_every_version() {
    let mut table = String::new();
    for profile in Profile::ALL {
        let mut evidence = String::new();
        for version in VERSIONS {
            let sighting = look(&json!({ "profile": profile, "version": version }), &config()).await;
            assert_eq!(sighting.state, expected(profile), "{profile} on {version}: {}", sighting.evidence);
            evidence = sighting.evidence;
        }
        let (state, profile) = (expected(profile), profile.to_string());
        writeln!(table, "{profile:<16} {state:<12} {evidence}").expect("writing to a string never fails");
    }
    insta::assert_snapshot!(table);
}

#[tokio::test(start_paused = true)]
async fn what_a_version_tells_is_told_and_the_rest_is_unknown() {
    let mut table = String::new();
    for version in VERSIONS {
        let sighting = look(&json!({ "version": version, "schematic": SCHEMATIC }), &config()).await;
        assert_eq!((sighting.state, sighting.identity()), (NodeState::Maintenance, Identity::Verified), "{version}");
        let (mut same, mut unknown) = (0, Vec::new());
        for check in &sighting.checks {
            match &check.verdict {
                Verdict::Same => same += 1,
                Verdict::Unknown(_) => unknown.push(check.aspect.to_string()),
                Verdict::Differs { .. } => panic!("{version}: {check}"),
            }
        }
        let told = sighting.version().unwrap_or("not told");
        writeln!(table, "{version:<12} {told:<12} {same} right, unknown: {}", unknown.join(", "))
            .expect("writing to a string never fails");
    }
    insta::assert_snapshot!(table);
}
