use std::io;

/// The port of Talos' API.
pub const PORT: u16 = 50_000;

/// Whether the error came from the machine at the address, and not from the way there.
pub(super) fn is_answer(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)
}
