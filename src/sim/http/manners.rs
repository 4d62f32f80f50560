use std::time::Duration;

/// How the server treats its connections. The defaults are those of `pveproxy`; tests shorten the waits.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// How long a connection may be silent: between requests, inside one, and before the TLS handshake.
    pub idle: Duration,
    /// After so many requests the server closes the connection.
    pub requests_per_connection: u32,
    /// The largest body, in bytes. A world of a release before 8.4 takes no more than 64 KiB.
    pub body_limit: usize,
    /// The largest number of open connections; more wait to be accepted.
    pub connections: usize,
}

impl Default for Manners {
    fn default() -> Self {
        Self { idle: Duration::from_secs(5), requests_per_connection: 100, body_limit: 512 * 1024, connections: 500 }
    }
}
