//! Who may be at the other end of the connection, and how to say so when it is somebody else.

mod presented;
mod problem;
mod trust;
mod verifier;

pub use presented::Presented;
pub use problem::{CertificateProblem, Distrust};
pub use trust::Trust;
pub(crate) use trust::client_config;
