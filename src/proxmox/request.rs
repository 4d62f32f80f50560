//! Requests and answers as plain values: what is sent can be printed, compared, counted and replayed, and the
//! simulator takes the same values as the network transport.

use std::fmt;

/// The four methods that the Proxmox API knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    /// Whether a request with this method only looks.
    pub fn is_safe(self) -> bool {
        self == Self::Get
    }

    /// Whether parameters travel in the query; Proxmox refuses a body there with 501.
    pub fn has_query(self) -> bool {
        matches!(self, Self::Get | Self::Delete)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        })
    }
}

/// One API call. Parameters travel in the query for GET and DELETE, in a form body otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// The path below `/api2/json`, percent-encoded, beginning with a slash.
    pub path: String,
    pub params: Vec<(String, String)>,
}

impl Request {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), params: Vec::new() }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::Get, path)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::Post, path)
    }

    pub fn put(path: impl Into<String>) -> Self {
        Self::new(Method::Put, path)
    }

    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::Delete, path)
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds a parameter if there is a value for it.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a boolean, which outside of property strings may only be `1` or `0`.
    #[must_use]
    pub fn with_flag(self, name: &str, value: bool) -> Self {
        self.with(name, u8::from(value))
    }

    /// The value of a parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// What came back, whatever it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub reason: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
