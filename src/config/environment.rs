use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::keys::ClusterLayer;
use super::layer::Field;
use super::problem::{Place, Problem, Problems};
use crate::model::{Invalid, Origin, Setting};

/// A value from outside the files.
#[derive(Clone)]
pub(super) enum Given {
    Text {
        value: String,
        origin: Origin,
    },
    /// It is there, but cannot be read. That is reported; falling back to something else would be a surprise.
    Unusable,
}

/// Values from outside the files: flags, environment variables and the files that those name.
#[derive(Clone, Default)]
pub(super) struct Outside {
    pub(super) cluster_name: Option<Given>,
    pub(super) endpoint: Option<Given>,
    pub(super) token_id: Option<Given>,
    pub(super) token_secret: Option<Given>,
    pub(super) token: Option<Given>,
}

impl Outside {
    /// Whether both halves of a token are given, so that no other place counts.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some() || (self.token_id.is_some() && self.token_secret.is_some())
    }
}

/// What flags and environment say; they stand above every file.
pub(super) fn layer(outside: &Outside, problems: &mut Problems) -> ClusterLayer {
    ClusterLayer {
        name: parse(outside.cluster_name.as_ref(), problems),
        endpoint: parse(outside.endpoint.as_ref(), problems),
        token_id: parse(outside.token_id.as_ref(), problems),
        token_secret: parse(outside.token_secret.as_ref(), problems),
        token: parse(outside.token.as_ref(), problems),
        ..ClusterLayer::default()
    }
}

fn parse<T: std::str::FromStr<Err = Invalid>>(given: Option<&Given>, problems: &mut Problems) -> Field<T> {
    match given {
        None => Field::Absent,
        Some(Given::Unusable) => Field::Wrong,
        Some(Given::Text { value, origin }) => match value.parse() {
            Ok(value) => Field::Given(Setting::new(value, origin.clone())),
            Err(invalid) => {
                problems.report(Problem::invalid(&invalid, |_| Place::Named(origin.to_string())));
                Field::Wrong
            }
        },
    }
}

/// The environment. An empty variable counts as one that is not set.
pub(super) struct Variables<'a> {
    pub(super) get: &'a dyn Fn(&str) -> Option<OsString>,
    pub(super) read_file: &'a dyn Fn(&Path) -> Result<String, String>,
}

impl Variables<'_> {
    /// The variable as it is, for names of files.
    pub(super) fn raw(&self, name: &str) -> Option<OsString> {
        (self.get)(name).filter(|value| !value.is_empty())
    }

    /// The variable itself.
    pub(super) fn plain(&self, name: &str, problems: &mut Problems) -> Option<Given> {
        let value = self.raw(name)?;
        let Ok(value) = value.into_string() else {
            let problem = Problem::error("the variable is not UTF-8 text");
            problems.report(problem.at(Place::Named(format!("environment {name}"))));
            return Some(Given::Unusable);
        };
        Some(Given::Text { value, origin: Origin::Environment(Arc::from(name)) })
    }

    /// The first of these variables that is set, itself or by the file that its `_FILE` twin names.
    pub(super) fn first(&self, names: &[&str], problems: &mut Problems) -> Option<Given> {
        names.iter().find_map(|name| self.itself_or_file(name, problems))
    }

    fn itself_or_file(&self, name: &str, problems: &mut Problems) -> Option<Given> {
        let twin = format!("{name}_FILE");
        let Some(file) = self.raw(&twin) else {
            return self.plain(name, problems);
        };
        let mut unusable = |message: String, hint: Option<&str>| {
            let problem = Problem::error(message).at(Place::Named(format!("environment {twin}")));
            problems.report(Problem { hint: hint.map(str::to_owned), ..problem });
            Some(Given::Unusable)
        };
        if self.raw(name).is_some() {
            return unusable(format!("{name} and {twin} are both set"), Some("unset one of the two"));
        }
        match (self.read_file)(Path::new(&file)) {
            Ok(text) if text.trim().is_empty() => unusable(format!("the file that {twin} names is empty"), None),
            Ok(text) => {
                let origin = Origin::Environment(Arc::from(twin.as_str()));
                Some(Given::Text { value: text.trim().to_owned(), origin })
            }
            Err(why) => unusable(format!("the file that {twin} names cannot be read: {why}"), None),
        }
    }
}
