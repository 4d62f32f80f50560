//! The Proxmox VE API, seen from a client.
//!
//! ```text
//! calls ──► Request ──► Client ──► Transport ──► Answer ──► answers
//!                         │            ├── HttpsTransport   TLS, token, time-outs
//!                         │            └── the simulator, called in process
//!                         └── ProxmoxError: never sent · refused · maybe done
//! ```
//!
//! Requests and answers are plain values, so what is sent can be compared, counted and replayed. Nothing here decides
//! what should be done, keeps anything between two calls, or prints.

pub mod answers;
pub mod calls;
mod client;
#[cfg(test)]
mod client_tests;
mod envelope;
mod error;
mod form;
mod https;
#[cfg(test)]
mod https_tests;
mod lenient;
mod multipart;
#[cfg(test)]
mod recordings;
mod refusal;
pub mod request;
mod retry;
pub mod task;
#[cfg(test)]
mod testing;
mod text;
mod tls;
mod transport;
pub mod types;
mod upload;

pub use client::Client;
pub use envelope::UnreadableAnswer;
pub use error::{Call, Effect, ProxmoxError};
pub use https::{HttpsTransport, SetupError, Timing};
pub use refusal::{Refusal, RefusalKind};
pub use request::{Answer, Method, Request};
pub use retry::Retry;
pub(crate) use text::with_causes;
pub(crate) use tls::client_config;
pub use tls::{CertificateProblem, Distrust, Presented, Trust};
pub use transport::{Transport, TransportError};
pub use upload::Upload;
