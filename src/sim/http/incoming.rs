//! From an HTTP request to an API call, or to the words with which `pveproxy` refuses it.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::form::{self, Param};
use super::manners::Manners;
use super::multipart;
use crate::proxmox::request::{Answer, Method, Request};
use crate::sim::call::{percent_decode, takes_list, takes_text};
use crate::sim::faults::parse_method;

/// What to do with a request.
pub(super) enum Verdict {
    /// It goes to the cluster.
    Call(Request),
    /// The same, once the cluster has taken the file that came with it.
    Upload { request: Request, size: u64, virtual_size: Option<u64> },
    /// The server itself answers.
    Refuse(Answer),
    /// The same, but a stranger hears 401 first: these checks come after the login.
    RefuseOnceLoggedIn(Answer),
    /// The client stopped sending. Nobody waits for an answer.
    HangUp,
}

/// A refused body that is not larger is read to its end, so that the client gets to read the answer instead of a
/// broken pipe.
const READ_ANYWAY: u64 = 8 * 1024 * 1024;

/// Reads a request to its end and judges it.
pub(super) async fn judge(head: &Parts, mut body: Incoming, manners: &Manners) -> Verdict {
    let verdict = match judge_head(head, manners) {
        Ok(Head { method, path, kind: BodyKind::Upload(reader) }) => {
            receive(&mut body, method, path, reader, manners).await
        }
        Ok(Head { method, path, kind }) => match read_body(&mut body, &kind, manners).await {
            Some(bytes) => combine(method, path, head.uri.query().unwrap_or_default(), &kind, &bytes),
            None => Verdict::HangUp,
        },
        Err(verdict) => verdict,
    };
    if !body.is_end_stream() && body.size_hint().lower() <= READ_ANYWAY {
        skip(&mut body, manners.idle).await;
    }
    verdict
}

pub(super) fn authorization(headers: &HeaderMap) -> Option<&str> {
    text(headers, &AUTHORIZATION)
}

struct Head {
    method: Method,
    path: String,
    kind: BodyKind,
}

enum BodyKind {
    Absent,
    Form,
    Json,
    Upload(multipart::Reader),
}

fn judge_head(head: &Parts, manners: &Manners) -> Result<Head, Verdict> {
    let name = head.method.as_str();
    let Some(method) = parse_method(name) else {
        let reason = format!("method '{name}' not available");
        return Err(Verdict::Refuse(Answer { status: 501, reason, body: Vec::new() }));
    };
    match text(&head.headers, &TRANSFER_ENCODING) {
        None => {}
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => {
            return Err(Verdict::Refuse(plain(501, "chunked transfer encoding not supported")));
        }
        Some(coding) => return Err(Verdict::Refuse(plain(501, &format!("Unknown transfer encoding '{coding}'")))),
    }
    let path = api_path(head.uri.path()).map_err(|text| Verdict::Refuse(plain(501, &text)))?;
    let kind = body_kind(method, &path, &head.headers, manners).map_err(Verdict::RefuseOnceLoggedIn)?;
    Ok(Head { method, path, kind })
}

/// The path below `/api2/json`, or why there is none. It is decoded once before it is split, so an encoded slash
/// splits too, and empty segments do not count.
fn api_path(path: &str) -> Result<String, String> {
    let decoded = percent_decode(path);
    let mut segments = decoded.split('/').filter(|segment| !segment.is_empty());
    match (segments.next(), segments.next()) {
        (Some("api2"), Some("json")) => {}
        (Some("api2"), Some(format)) => {
            let rest: String = segments.flat_map(|segment| ["/", segment]).collect();
            return Err(format!("no formatter for uri {rest}, {format}"));
        }
        (Some("api2"), None) => return Err("no such uri".to_owned()),
        _ => return Err(format!("no such file '{decoded}'")),
    }
    let segments: Vec<String> = segments.map(form::percent_encode).collect();
    Ok(format!("/{}", segments.join("/")))
}

fn body_kind(method: Method, path: &str, headers: &HeaderMap, manners: &Manners) -> Result<BodyKind, Answer> {
    // hyper has refused a length that is not a number.
    let length: usize = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok()).unwrap_or(0);
    if length == 0 {
        return Ok(BodyKind::Absent);
    }
    if method.has_query() {
        return Err(plain(501, &format!("Unexpected content for method '{method}'")));
    }
    let content_type = text(headers, &CONTENT_TYPE).unwrap_or_default();
    if method == Method::Post
        && path.ends_with("/upload")
        && let Some(reader) = multipart::Reader::of(content_type)
    {
        return Ok(BodyKind::Upload(reader));
    }
    if length > manners.body_limit {
        return Err(plain(501, "for data too large"));
    }
    match content_type.split(';').next().unwrap_or_default().trim() {
        "" | "application/x-www-form-urlencoded" => Ok(BodyKind::Form),
        "application/json" => Ok(BodyKind::Json),
        // The quotes are unbalanced there too.
        _ => Err(plain(506, &format!("upload 'Content-Type '{content_type}' not implemented"))),
    }
}

/// The whole body; `None` when the client goes away or falls silent.
async fn read_body(body: &mut Incoming, kind: &BodyKind, manners: &Manners) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if let BodyKind::Absent = kind {
        return Some(bytes);
    }
    while !body.is_end_stream() {
        bytes.extend_from_slice(&next_piece(body, manners.idle).await?);
    }
    Some(bytes)
}

async fn skip(body: &mut Incoming, idle: Duration) {
    while !body.is_end_stream() && next_piece(body, idle).await.is_some() {}
}

async fn next_piece(body: &mut Incoming, idle: Duration) -> Option<Bytes> {
    let frame = tokio::time::timeout(idle, body.frame()).await.ok()??.ok()?;
    Some(frame.into_data().unwrap_or_default())
}

/// Takes a file of any size, piece by piece.
async fn receive(
    body: &mut Incoming,
    method: Method,
    path: String,
    mut reader: multipart::Reader,
    manners: &Manners,
) -> Verdict {
    let no_form = || Verdict::RefuseOnceLoggedIn(plain(501, "the upload is not a form with a file"));
    while !body.is_end_stream() {
        let Some(piece) = next_piece(body, manners.idle).await else {
            return Verdict::HangUp;
        };
        if reader.push(&piece).is_err() {
            return no_form();
        }
    }
    match reader.finish() {
        Ok(multipart::Upload { params, size, virtual_size }) => {
            Verdict::Upload { request: Request { method, path, params }, size, virtual_size }
        }
        Err(multipart::NoForm) => no_form(),
    }
}

fn combine(method: Method, path: String, query: &str, kind: &BodyKind, body: &[u8]) -> Verdict {
    let from_body = match kind {
        BodyKind::Absent | BodyKind::Upload(_) => Vec::new(),
        BodyKind::Form => form::parse(&String::from_utf8_lossy(body)),
        BodyKind::Json => match parse_json(method, &path, body) {
            Ok(params) => params,
            Err(answer) => return Verdict::RefuseOnceLoggedIn(answer),
        },
    };
    let mut params = form::parse(query);
    params.retain(|(key, _)| key != "_dc");
    let of_query: HashSet<String> = params.iter().map(|(key, _)| key.clone()).collect();
    params.extend(from_body.into_iter().filter(|(key, _)| !of_query.contains(key)));
    define(method, path, params)
}

/// An undefined value passes every check as if it were absent, and only then trips the code that writes a
/// configuration.
fn define(method: Method, path: String, params: Vec<Param>) -> Verdict {
    let writes_config = method != Method::Get && path.ends_with("/config");
    let mut defined = Vec::with_capacity(params.len());
    for (key, value) in params {
        match value {
            Some(value) => defined.push((key, value)),
            None if writes_config => {
                let message = format!("unable to parse value of '{key}' - got undefined value");
                let body = json!({"data": null, "message": format!("{message}\n")}).to_string().into_bytes();
                return Verdict::RefuseOnceLoggedIn(Answer { status: 500, reason: message, body });
            }
            None => {}
        }
    }
    Verdict::Call(Request { method, path, params: defined })
}

/// An object; a list in it stands for repeated keys, as in a form.
fn parse_json(method: Method, path: &str, body: &[u8]) -> Result<Vec<Param>, Answer> {
    const WHERE: &str = "at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.";
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let text = String::from_utf8_lossy(body);
        let offset = offset_of(&text, error.line(), error.column());
        let rest: String = text.chars().skip(offset).take(20).collect();
        let rest = if rest.is_empty() { "(end of string)" } else { &rest };
        plain_line(&format!(
            "malformed JSON string, neither tag, array, object, number, string or atom, \
             at character offset {offset} (before \"{rest}\") {WHERE}"
        ))
    })?;
    let Value::Object(object) = value else {
        return Err(plain_line(&format!("Not a HASH reference {WHERE}")));
    };
    let mut params = Vec::with_capacity(object.len());
    for (key, value) in object {
        match value {
            Value::Array(values) => {
                let mut values: Vec<_> =
                    values.into_iter().map(|value| scalar(&key, value)).collect::<Result<_, _>>()?;
                // A list is a list even with a single value in it, and is refused where it does not belong.
                if values.len() < 2 && !takes_list(method, path, &key) {
                    let only = values.pop().unwrap_or_else(|| Some(String::new()));
                    values = vec![only.clone(), only];
                }
                params.extend(values.into_iter().map(|value| (key.clone(), value)));
            }
            // A number passes for a text, but a boolean is an object to Perl.
            Value::Bool(_) if takes_text(method, path, &key) => return Err(mistyped(&key, "JSON::PP::Boolean")),
            value => {
                let value = scalar(&key, value)?;
                params.push((key, value));
            }
        }
    }
    Ok(params)
}

fn scalar(key: &str, value: Value) -> Result<Option<String>, Answer> {
    let got = match value {
        Value::Null => return Ok(None),
        Value::Bool(value) => return Ok(Some(u8::from(value).to_string())),
        Value::Number(value) => return Ok(Some(value.to_string())),
        Value::String(value) => return Ok(Some(value)),
        Value::Array(_) => "ARRAY",
        Value::Object(_) => "HASH",
    };
    Err(mistyped(key, got))
}

fn mistyped(key: &str, got: &str) -> Answer {
    let errors = json!({ key: format!("type check ('string') failed - got {got}") });
    let body = json!({"data": null, "message": "Parameter verification failed.\n", "errors": errors});
    let reason = "Parameter verification failed.".to_owned();
    Answer { status: 400, reason, body: body.to_string().into_bytes() }
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(|line| line.chars().count()).sum();
    before + column
}

/// A refusal in the server's own words.
fn plain(status: u16, text: &str) -> Answer {
    Answer { status, reason: text.to_owned(), body: text.as_bytes().to_vec() }
}

/// The same for an uncaught Perl error, which ends in a line feed.
fn plain_line(text: &str) -> Answer {
    Answer { status: 500, reason: text.to_owned(), body: format!("{text}\n").into_bytes() }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_empty_segments_do_not_count() {
        #[track_caller]
        fn case(path: &str, expected: &str) {
            assert_eq!(api_path(path).as_deref(), Ok(expected));
        }
        case("/api2/json/version", "/version");
        case("/api2/json//version/", "/version");
        case("/api2/json", "/");
        case("/api2/json/nodes/pve%2Fqemu", "/nodes/pve/qemu");
        case("/api2/json/tasks/UPID%3Apve%3Aroot%40pam%21x%3A", "/tasks/UPID:pve:root@pam!x:");
        case("/api2/json/content/a%2520b", "/content/a%2520b");
    }

    #[test]
    fn only_the_json_format_is_served() {
        assert_eq!(api_path("/api2/extjs/nodes/pve"), Err("no formatter for uri /nodes/pve, extjs".to_owned()));
        assert_eq!(api_path("/api2"), Err("no such uri".to_owned()));
        assert_eq!(api_path("/pve2/index.html"), Err("no such file '/pve2/index.html'".to_owned()));
        assert_eq!(api_path("/"), Err("no such file '/'".to_owned()));
    }

    #[track_caller]
    fn params(method: Method, path: &str, query: &str, kind: &BodyKind, body: &str) -> Vec<(String, String)> {
        match combine(method, path.to_owned(), query, kind, body.as_bytes()) {
            Verdict::Call(request) => request.params,
            _ => panic!("refused: {body}"),
        }
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn the_query_overrides_the_body() {
        let params = params(Method::Put, "/x", "a=query&_dc=1", &BodyKind::Form, "a=body&b=2&a=again");
        assert_eq!(params, [pair("a", "query"), pair("b", "2")]);
    }

    #[test]
    fn repeated_keys_stay_repeated() {
        assert_eq!(params(Method::Put, "/x", "", &BodyKind::Form, "a=1&a=2"), [pair("a", "1"), pair("a", "2")]);
        assert_eq!(
            params(Method::Put, "/x", "", &BodyKind::Json, r#"{"a":[1,"2"]}"#),
            [pair("a", "1"), pair("a", "2")]
        );
    }

    /// Recordings 298 and 299.
    #[test]
    fn json_numbers_are_taken_for_texts_and_booleans_for_booleans() {
        let config = "/nodes/pve/qemu/100/config";
        let body = r#"{"cores":4,"onboot":true,"agent":1,"protection":false,"x":1.5}"#;
        let params = params(Method::Put, config, "", &BodyKind::Json, body);
        let expected =
            [pair("cores", "4"), pair("onboot", "1"), pair("agent", "1"), pair("protection", "0"), pair("x", "1.5")];
        assert_eq!(params, expected);
    }

    #[test]
    fn json_booleans_are_no_texts() {
        let (status, _, body) = refusal("/nodes/pve/qemu/100/config", &BodyKind::Json, r#"{"agent":true}"#);
        assert_eq!(status, 400);
        assert!(body.contains(r#""agent":"type check ('string') failed - got JSON::PP::Boolean""#), "{body}");
    }

    #[test]
    fn an_undefined_value_counts_as_absent_where_no_config_is_written() {
        assert_eq!(params(Method::Get, "/x", "full&a=1", &BodyKind::Absent, ""), [pair("a", "1")]);
        assert_eq!(params(Method::Post, "/x/clone", "", &BodyKind::Json, r#"{"pool":null}"#), []);
    }

    #[track_caller]
    fn refusal(path: &str, kind: &BodyKind, body: &str) -> (u16, String, String) {
        match combine(Method::Put, path.to_owned(), "", kind, body.as_bytes()) {
            Verdict::RefuseOnceLoggedIn(answer) => {
                (answer.status, answer.reason, String::from_utf8_lossy(&answer.body).into_owned())
            }
            _ => panic!("not refused: {body}"),
        }
    }

    /// Recording 302.
    #[test]
    fn an_undefined_value_fails_where_a_config_is_written() {
        let (status, reason, body) = refusal("/nodes/pve/qemu/100/config", &BodyKind::Json, r#"{"cores":null}"#);
        assert_eq!((status, reason.as_str()), (500, "unable to parse value of 'cores' - got undefined value"));
        assert!(body.starts_with(r#"{"data":null"#));
    }

    /// Recording 300.
    #[test]
    fn broken_json_is_refused_in_the_words_of_perl() {
        let expected = "malformed JSON string, neither tag, array, object, number, string or atom, at character offset 9 \
                        (before \"(end of string)\") at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 934.";
        let (status, reason, body) = refusal("/x", &BodyKind::Json, r#"{"cores":"#);
        assert_eq!((status, reason.as_str(), body), (500, expected, format!("{expected}\n")));
    }

    #[test]
    fn json_that_is_no_flat_object_is_refused() {
        assert_eq!(refusal("/x", &BodyKind::Json, "[1]").0, 500);
        assert_eq!(refusal("/x", &BodyKind::Json, r#"{"a":{"b":1}}"#).0, 400);
        assert_eq!(refusal("/x", &BodyKind::Json, "é\n\"").0, 500);
    }
}
