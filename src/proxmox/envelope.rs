//! The shell around every answer: `{"data": …}`.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Answer;
use super::text::clean;

/// A successful answer that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableAnswer {
    #[error("it is not JSON but begins with `{0}`")]
    NotJson(String),
    #[error("it is JSON, but not of the expected shape: {0}")]
    WrongShape(String),
}

/// What a successful answer holds; some lists have a total beside the data.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<T> {
    pub(super) data: T,
    #[serde(default, deserialize_with = "super::lenient::some_number")]
    pub(super) total: Option<u64>,
}

/// Reads the data of a successful answer.
///
/// A missing `data` is an error even for lists: an empty list would mean that there is nothing, which is a claim.
pub(super) fn open<T: DeserializeOwned>(answer: &Answer) -> Result<Envelope<T>, UnreadableAnswer> {
    serde_json::from_slice(&answer.body).map_err(|error| {
        if error.is_data() {
            UnreadableAnswer::WrongShape(clean(&error.to_string()))
        } else {
            let beginning = String::from_utf8_lossy(&answer.body[..answer.body.len().min(60)]);
            UnreadableAnswer::NotJson(clean(&beginning))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        Answer { status: 200, reason: "OK".to_owned(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn every_wrong_answer_has_its_reason() {
        #[track_caller]
        fn case(body: &str, expected: &str) {
            let error = open::<Vec<u32>>(&answer(body)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        case("<html>\n<body>", "it is not JSON but begins with `<html> <body>`");
        case("", "it is not JSON but begins with ``");
        case(r#"{"data":[1,"#, r#"it is not JSON but begins with `{"data":[1,`"#);
        case("{}", "it is JSON, but not of the expected shape: missing field `data` at line 1 column 2");
        case(
            r#"{"data":null}"#,
            "it is JSON, but not of the expected shape: invalid type: null, expected a sequence at line 1 column 12",
        );
    }

    #[test]
    fn extra_keys_are_no_mistake() {
        let envelope: Envelope<Vec<u32>> = open(&answer(r#"{"total":"7","data":[1],"changes":"x"}"#)).unwrap();
        assert_eq!((envelope.data, envelope.total), (vec![1], Some(7)));
    }
}
