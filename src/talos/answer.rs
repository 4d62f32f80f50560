use serde::Serialize;

/// What a node answered to one question about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    Said(T),
    /// The question is known, and there is nothing to say.
    Nothing,
    /// This version of Talos does not know the question.
    NotOnThisVersion,
    /// No answer that could be used, and why.
    Failed(String),
}

impl<T> Answer<T> {
    pub fn said(&self) -> Option<&T> {
        match self {
            Self::Said(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Said(value) => Answer::Said(change(value)),
            Self::Nothing => Answer::Nothing,
            Self::NotOnThisVersion => Answer::NotOnThisVersion,
            Self::Failed(why) => Answer::Failed(why),
        }
    }

    /// Why nothing is known, in words.
    pub(super) fn silence(&self) -> String {
        match self {
            Self::Said(_) | Self::Nothing => "Talos says nothing about it".to_owned(),
            Self::NotOnThisVersion => "this version of Talos does not tell".to_owned(),
            Self::Failed(why) => format!("Talos did not answer: {why}"),
        }
    }
}
