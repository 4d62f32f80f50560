//! Which requests are meant: a method and a path with gaps.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::proxmox::request::{Method, Request};

/// `POST /nodes/*/qemu/*/clone`: `*` stands for one path segment, a last `**` for all that follow, and a pattern
/// without a method is about every method.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern {
    method: Option<Method>,
    segments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a request pattern like `POST /nodes/*/qemu/*/clone`")]
pub struct InvalidPattern(String);

impl Pattern {
    pub fn new(method: impl Into<Option<Method>>, path: &str) -> Self {
        Self { method: method.into(), segments: segments(path).map(str::to_owned).collect() }
    }

    pub fn matches(&self, request: &Request) -> bool {
        self.method.is_none_or(|method| method == request.method) && self.matches_path(&request.path)
    }

    fn matches_path(&self, path: &str) -> bool {
        let mut actual = segments(path);
        for expected in &self.segments {
            if expected == "**" {
                return true;
            }
            match actual.next() {
                Some(segment) if expected == "*" || expected == segment => {}
                _ => return false,
            }
        }
        actual.next().is_none()
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidPattern(text.to_owned());
        let (method, path) = match text.split_once(' ') {
            Some((method, path)) => (Some(parse_method(method).ok_or_else(invalid)?), path.trim_start()),
            None => (None, text),
        };
        if !path.starts_with('/') || path.contains(char::is_whitespace) {
            return Err(invalid());
        }
        Ok(Self::new(method, path))
    }
}

impl TryFrom<String> for Pattern {
    type Error = InvalidPattern;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(method) = self.method {
            write!(f, "{method} ")?;
        }
        write!(f, "/{}", self.segments.join("/"))
    }
}

/// The method of this name, in capitals as HTTP has them.
pub(in crate::sim) fn parse_method(name: &str) -> Option<Method> {
    match name {
        "GET" => Some(Method::Get),
        "POST" => Some(Method::Post),
        "PUT" => Some(Method::Put),
        "DELETE" => Some(Method::Delete),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn case(pattern: &str, method: Method, path: &str, expected: bool) {
        let request = Request { method, path: path.to_owned(), params: Vec::new() };
        let pattern: Pattern = pattern.parse().expect("the pattern of a case is valid");
        assert_eq!(pattern.matches(&request), expected, "{pattern} and {method:?} {path}");
    }

    #[test]
    fn a_star_stands_for_exactly_one_segment() {
        case("POST /nodes/*/qemu/*/clone", Method::Post, "/nodes/pve1/qemu/9000/clone", true);
        case("POST /nodes/*/qemu/*/clone", Method::Get, "/nodes/pve1/qemu/9000/clone", false);
        case("POST /nodes/*/qemu/*/clone", Method::Post, "/nodes/pve1/qemu/clone", false);
        case("/nodes/*", Method::Delete, "/nodes/pve1/qemu", false);
    }

    #[test]
    fn two_stars_stand_for_the_rest() {
        case("/**", Method::Get, "/version", true);
        case("GET /nodes/pve1/**", Method::Get, "/nodes/pve1/tasks/UPID:x:/status", true);
        case("GET /nodes/pve1/**", Method::Get, "/nodes/pve2/tasks", false);
    }

    #[test]
    fn slashes_are_counted_once() {
        case("GET /version", Method::Get, "//version/", true);
    }

    #[test]
    fn a_pattern_names_a_known_method_and_an_absolute_path() {
        for text in ["", "version", "PATCH /version", "get /version", "GET version", "GET /a b"] {
            assert_eq!(text.parse::<Pattern>(), Err(InvalidPattern(text.to_owned())));
        }
    }

    #[test]
    fn a_pattern_reads_back_as_written() {
        for text in ["POST /nodes/*/qemu/*/clone", "/nodes/**"] {
            assert_eq!(text.parse::<Pattern>().map(|pattern| pattern.to_string()), Ok(text.to_owned()));
        }
    }
}
