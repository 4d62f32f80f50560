//! The Talos API, seen from a client: is somebody there, who is it, and is it as it was asked for?
//!
//! ```text
//!  Dial ─► TCP ─► TLS ─► HTTP/2 ─► stage ─► questions ─► Said ─┐
//!           │      │       │         │                         ├─► check ─► Sighting ─► Watch ─► Waited
//!           └──────┴───────┴─────────┴── evidence ─────────────┘   pure                   └─► History ─► diagnose
//! ```
//!
//! Every look uses a connection of its own and trusts the peer with nothing: whatever it sends is bounded in time and
//! size, and only public questions are asked. Nothing here knows Proxmox, decides what should be done, or prints.

mod answer;
mod any_dial;
mod api;
mod check;
mod diagnosis;
mod dial;
pub(crate) mod generated;
mod handshake;
mod history;
mod leaf;
mod pace;
mod port;
mod probe;
mod said;
mod sighting;
mod socks5;
mod state;
mod tap;
mod target;
mod text;
mod watch;

pub use answer::Answer;
pub use any_dial::{AnyDial, AnyStream};
pub use check::{Aspect, Check, Verdict, check, check_certificate};
pub use diagnosis::{Cause, Certainty, VmFacts, diagnose};
pub use dial::{Dial, Direct, NoWay};
pub use history::{History, Phase};
pub use leaf::Leaf;
pub use pace::Pace;
pub use port::PORT;
pub use probe::{Patience, probe};
pub use said::{Disk, Extension, Platform, Said};
pub use sighting::{Identity, Sighting};
pub use socks5::{InvalidProxy, Socks5};
pub use state::NodeState;
pub use target::{Expected, Target};
use text::{root_cause, shown};
pub use watch::{AT_ONCE, End, Goal, Waited, Watch};
