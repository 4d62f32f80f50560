//! What the tests of this room talk to: a server on loopback with real TLS, and a transport with a script.

pub(super) mod script;
pub(super) mod server;
