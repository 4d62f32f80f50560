use std::sync::Arc;

use super::keys::ClusterLayer;
use super::layer::Field;
use super::problem::{Place, Problem, Problems};
use crate::model::{ApiToken, Invalid, Origin, Setting};

/// A value from outside the files.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) value: String,
    pub(super) origin: Origin,
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

/// What flags and environment say; they stand above every file.
pub(super) fn layer(outside: &Outside, problems: &mut Problems) -> ClusterLayer {
    ClusterLayer {
        name: parse(outside.cluster_name.as_ref(), problems),
        endpoint: parse(outside.endpoint.as_ref(), problems),
        token_id: parse(outside.token_id.as_ref(), problems),
        token_secret: parse(outside.token_secret.as_ref(), problems),
        token: parse::<ApiToken>(outside.token.as_ref(), problems),
        ..ClusterLayer::default()
    }
}

fn parse<T: std::str::FromStr<Err = Invalid>>(given: Option<&Given>, problems: &mut Problems) -> Field<T> {
    let Some(Given { value, origin }) = given else {
        return Field::Absent;
    };
    match value.parse() {
        Ok(value) => Field::Given(Setting::new(value, origin.clone())),
        Err(invalid) => {
            problems.report(Problem::invalid(&invalid, |_| Place::Named(origin.to_string())));
            Field::Wrong
        }
    }
}

/// The environment as the rules of `PROXMOX_…` variables see it.
pub(super) struct Variables<'a> {
    pub(super) get: &'a dyn Fn(&str) -> Option<String>,
    pub(super) read_file: &'a dyn Fn(&str) -> Result<String, String>,
}

impl Variables<'_> {
    /// The first of these variables that is set, itself or by the file that its `_FILE` twin names.
    pub(super) fn first(&self, names: &[&str], problems: &mut Problems) -> Option<Given> {
        names.iter().find_map(|name| self.one(name, problems))
    }

    fn one(&self, name: &str, problems: &mut Problems) -> Option<Given> {
        let twin = format!("{name}_FILE");
        let set = |name: &str| (self.get)(name).filter(|value| !value.is_empty());
        match (set(name), set(&twin)) {
            (Some(_), Some(_)) => {
                let problem = Problem::error(format!("{name} and {twin} are both set"));
                problems.report(problem.at(Place::Named(format!("environment {twin}"))).hint("unset one of the two"));
                None
            }
            (Some(value), None) => Some(Given { value, origin: Origin::Environment(Arc::from(name)) }),
            (None, Some(file)) => match (self.read_file)(&file) {
                Ok(text) => Some(Given { value: text.trim().to_owned(), origin: Origin::Environment(Arc::from(twin)) }),
                Err(why) => {
                    let problem = Problem::error(format!("the file that {twin} names cannot be read: {why}"));
                    problems.report(problem.at(Place::Named(format!("environment {twin}"))));
                    None
                }
            },
            (None, None) => None,
        }
    }
}
