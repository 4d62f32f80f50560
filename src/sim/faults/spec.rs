//! What can go wrong with a request, as data: written in a world file, built in a test or drawn by a seed.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::malformed::Malformed;
use super::request_pattern::Pattern;
use crate::proxmox::request::Method;
use crate::sim::{WorldFault, duration_text};

/// One thing that goes wrong, and for which requests.
///
/// ```
/// use pvetalos::{proxmox::request::Method, sim::Fault};
///
/// // The clone is made, but its answer never comes back.
/// Fault::lose_answer().of(Method::Post, "/nodes/pve1/qemu/9000/clone").once();
/// // The third request is answered by the cluster's proxy.
/// Fault::answer(595, "No route to host").at(3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What happens.
    #[serde(rename = "do")]
    pub(super) effect: Effect,
    /// Only requests like this one; all when absent.
    #[serde(default)]
    pub(super) of: Option<Pattern>,
    /// Only the request with this number, counted from 1 over all requests.
    #[serde(default)]
    pub(super) at: Option<u64>,
    /// So many matching requests pass unharmed first.
    #[serde(default)]
    pub(super) after: u64,
    #[serde(default)]
    pub(super) times: Times,
}

/// What happens to a request.
///
/// Each effect says whether the request was carried out, because that is what a client cannot know.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Carried out at once, answered only after this time.
    #[serde(deserialize_with = "duration_text::deserialize")]
    Delay(Duration),
    /// Never carried out; the connection closes without an answer.
    NeverArrives,
    /// Carried out; the connection closes without an answer.
    LoseAnswer,
    /// The connection is reset.
    Reset {
        #[serde(default)]
        carried_out: bool,
    },
    /// Another answer than the world's.
    Answer {
        status: u16,
        text: String,
        #[serde(default)]
        carried_out: bool,
    },
    /// Carried out; the answer cannot be read.
    Malformed(Malformed),
    /// Something goes wrong in the cluster just before it carries the request out. The answer is the cluster's own.
    InWorld(WorldFault),
    /// The client dies over this request: it never hears of it again, whatever became of it.
    KillClient {
        #[serde(default)]
        carried_out: bool,
    },
}

impl Effect {
    /// Whether the world gets to see the request.
    pub(in crate::sim) fn lets_it_through(&self) -> bool {
        match self {
            Self::Delay(_) | Self::LoseAnswer | Self::Malformed(_) | Self::InWorld(_) => true,
            Self::NeverArrives => false,
            Self::Reset { carried_out } | Self::Answer { carried_out, .. } | Self::KillClient { carried_out } => {
                *carried_out
            }
        }
    }
}

/// How often a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Limited(u64),
    Always,
}

impl Default for Times {
    fn default() -> Self {
        Self::Limited(1)
    }
}

/// A number, or the word `always`.
impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrWord;

        impl de::Visitor<'_> for NumberOrWord {
            type Value = Times;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number or `always`")
            }

            fn visit_u64<E: de::Error>(self, times: u64) -> Result<Times, E> {
                Ok(Times::Limited(times))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Times, E> {
                match word {
                    "always" => Ok(Times::Always),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }

        deserializer.deserialize_any(NumberOrWord)
    }
}

impl Fault {
    /// `effect` for the first request that comes, until narrowed by [`of`](Self::of) and its like.
    pub fn new(effect: Effect) -> Self {
        Self { effect, of: None, at: None, after: 0, times: Times::default() }
    }

    pub fn delay(pause: Duration) -> Self {
        Self::new(Effect::Delay(pause))
    }

    /// The request is lost on its way there.
    pub fn never_arrives() -> Self {
        Self::new(Effect::NeverArrives)
    }

    /// The answer is lost on its way back.
    pub fn lose_answer() -> Self {
        Self::new(Effect::LoseAnswer)
    }

    /// The connection is reset before anything was done; see [`carried_out`](Self::carried_out).
    pub fn reset() -> Self {
        Self::new(Effect::Reset { carried_out: false })
    }

    /// This answer instead of the world's, nothing done; see [`carried_out`](Self::carried_out).
    pub fn answer(status: u16, text: &str) -> Self {
        Self::new(Effect::Answer { status, text: text.to_owned(), carried_out: false })
    }

    /// An answer that is no answer.
    pub fn malformed(how: Malformed) -> Self {
        Self::new(Effect::Malformed(how))
    }

    /// Something goes wrong in the cluster just before it carries the request out.
    pub fn in_world(fault: WorldFault) -> Self {
        Self::new(Effect::InWorld(fault))
    }

    /// The client dies before its request arrives; see [`carried_out`](Self::carried_out).
    pub fn kill_client() -> Self {
        Self::new(Effect::KillClient { carried_out: false })
    }

    /// The work is done all the same, whatever the client is told.
    #[must_use]
    pub fn carried_out(mut self) -> Self {
        match &mut self.effect {
            Effect::Reset { carried_out } | Effect::Answer { carried_out, .. } | Effect::KillClient { carried_out } => {
                *carried_out = true;
            }
            Effect::NeverArrives => self.effect = Effect::LoseAnswer,
            Effect::Delay(_) | Effect::LoseAnswer | Effect::Malformed(_) | Effect::InWorld(_) => {}
        }
        self
    }

    /// Only requests with this method and a path like this one; `*` stands for a segment, a last `**` for the rest.
    #[must_use]
    pub fn of(self, method: Method, path: &str) -> Self {
        Self { of: Some(Pattern::new(method, path)), ..self }
    }

    /// Only the request with this number, counted from 1.
    #[must_use]
    pub fn at(self, number: u64) -> Self {
        Self { at: Some(number), ..self }
    }

    /// Lets `passed` matching requests through first.
    #[must_use]
    pub fn after(self, passed: u64) -> Self {
        Self { after: passed, ..self }
    }

    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Times::Limited(times), ..self }
    }

    #[must_use]
    pub fn always(self) -> Self {
        Self { times: Times::Always, ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn case(written: serde_json::Value, expected: &Fault) {
        assert_eq!(serde_json::from_value::<Fault>(written).expect("the fault of a case is valid"), *expected);
    }

    #[test]
    fn a_fault_reads_the_same_written_and_built() {
        case(
            json!({"do": "lose_answer", "of": "POST /nodes/*/qemu/*/clone"}),
            &Fault::lose_answer().of(Method::Post, "/nodes/*/qemu/*/clone").once(),
        );
        case(json!({"do": "never_arrives", "at": 7}), &Fault::never_arrives().at(7));
        case(json!({"do": {"delay": "3s"}, "times": "always"}), &Fault::delay(Duration::from_secs(3)).always());
        case(
            json!({"do": {"answer": {"status": 596, "text": "Connection timed out", "carried_out": true}}, "times": 2}),
            &Fault::answer(596, "Connection timed out").carried_out().times(2),
        );
        case(json!({"do": {"malformed": "html"}, "after": 1}), &Fault::malformed(Malformed::Html).after(1));
        case(json!({"do": {"reset": {}}}), &Fault::reset());
        case(
            json!({"do": {"in_world": {"host_offline": {"host": "pve2"}}}, "at": 3}),
            &Fault::in_world(WorldFault::HostOffline { host: "pve2".to_owned() }).at(3),
        );
        case(json!({"do": {"kill_client": {"carried_out": true}}}), &Fault::kill_client().carried_out());
    }

    #[test]
    fn a_misspelt_fault_is_refused() {
        for written in [
            json!({"do": "loose_answer"}),
            json!({"do": "lose_answer", "off": "GET /version"}),
            json!({"do": "lose_answer", "times": "often"}),
            json!({"do": {"delay": "soon"}}),
            json!({"of": "GET /version"}),
        ] {
            assert!(serde_json::from_value::<Fault>(written.clone()).is_err(), "{written}");
        }
    }

    #[test]
    fn a_request_that_never_arrives_and_is_carried_out_is_a_lost_answer() {
        assert_eq!(Fault::never_arrives().carried_out(), Fault::lose_answer());
    }
}
