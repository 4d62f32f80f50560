//! Requests and answers as plain values: what is sent can be printed, compared, counted and replayed, and the
//! simulator takes the same values as the network transport.

/// The four methods that the Proxmox API knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// One API call. Parameters travel in the query for GET and DELETE, in a form body otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// The path below `/api2/json`, percent-encoded, beginning with a slash.
    pub path: String,
    pub params: Vec<(String, String)>,
}

/// What came back, whatever it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub reason: String,
    pub body: Vec<u8>,
}
