//! The simulator over HTTPS, with the manners of `pveproxy`.
//!
//! ```text
//!  TCP ─► server ─► connection ─┬─ first byte is TLS ─► incoming ─► Simulator ─► outgoing
//!                               └─ plain HTTP ────────────────────────────────► 301, 308
//! ```
//! Only what a client can notice is copied: when connections close, which requests are refused before the cluster
//! sees them and in which words, how parameters are read. Compression, tickets and cookies are deliberately absent.
//!
//! Two differences stay, because hyper decides them: an answer without a body has a `Content-Length: 0`, and
//! headers above the limits are refused with 431 instead of silence.

mod certificate;
mod connection;
mod factory_server;
mod form;
mod incoming;
mod manners;
mod multipart;
mod outgoing;
mod server;
mod wire;

pub use certificate::{Certificate, CertificateError};
pub use factory_server::{FactoryServer, ReadSchematic};
pub use manners::Manners;
pub use server::{BindError, Server};
