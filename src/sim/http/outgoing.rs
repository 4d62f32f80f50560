//! Answers as `pveproxy` writes them.

use std::time::SystemTime;

use bytes::Bytes;
use http_body_util::Full;
use hyper::ext::ReasonPhrase;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, DATE, EXPIRES, HeaderValue, LOCATION, PRAGMA, SERVER};
use hyper::{Response, StatusCode};

use crate::proxmox::request::Answer;

pub(super) type HttpResponse = Response<Full<Bytes>>;

/// `close` hangs up after this answer.
pub(super) fn response(answer: Answer, close: bool) -> HttpResponse {
    let content_type = content_type(&answer.body);
    let mut response = Response::new(Full::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.extensions_mut().insert(reason_phrase(&answer.reason));
    let date = HeaderValue::try_from(httpdate::fmt_http_date(SystemTime::now()))
        .unwrap_or(HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"));
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=0"));
    headers.insert(CONNECTION, HeaderValue::from_static(if close { "close" } else { "Keep-Alive" }));
    headers.insert(DATE, date.clone());
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    headers.insert(SERVER, HeaderValue::from_static("pve-api-daemon/3.0"));
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    headers.insert(EXPIRES, date);
    response
}

/// The answer to plain HTTP on the TLS port.
pub(super) fn redirect(permanent: StatusCode, location: &str) -> HttpResponse {
    let reason = permanent.canonical_reason().unwrap_or_default().to_owned();
    let body = reason.clone().into_bytes();
    let mut response = response(Answer { status: permanent.as_u16(), reason, body }, false);
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The texts that the server writes itself, instead of the API behind it, come without a type.
fn content_type(body: &[u8]) -> Option<&'static str> {
    match body.first() {
        Some(b'{') => Some("application/json;charset=UTF-8"),
        Some(b'<') => Some("text/html"),
        _ => None,
    }
}

/// A reason is one line. What a status line cannot hold becomes a space.
fn reason_phrase(reason: &str) -> ReasonPhrase {
    let line: Vec<u8> = reason
        .lines()
        .next()
        .unwrap_or_default()
        .bytes()
        .map(|byte| if byte.is_ascii_control() { b' ' } else { byte })
        .collect();
    ReasonPhrase::try_from(line).unwrap_or(ReasonPhrase::from_static(b"error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_first_line_of_the_message() {
        let phrase = |reason: &str| String::from_utf8_lossy(reason_phrase(reason).as_bytes()).into_owned();
        assert_eq!(phrase("VM is locked (clone)\nmore"), "VM is locked (clone)");
        assert_eq!(phrase("a\tb\u{7f}ü"), "a b ü");
        assert_eq!(phrase(""), "");
    }

    #[test]
    fn only_json_says_that_it_is_json() {
        let typed = |body: &str| {
            let answer = Answer { status: 500, reason: String::new(), body: body.into() };
            let content_type = response(answer, true).headers().get(CONTENT_TYPE).cloned();
            content_type.map(|value| value.to_str().map(str::to_owned).unwrap_or_default())
        };
        assert_eq!(typed(r#"{"data":null}"#).as_deref(), Some("application/json;charset=UTF-8"));
        assert_eq!(typed("for data too large"), None);
        assert_eq!(typed(""), None);
    }
}
