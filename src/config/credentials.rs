use super::environment;
use super::gather::Inputs;
use super::keys::ClusterLayer;
use super::layer::Field;
use super::problem::{Problem, Problems};
use crate::model::{ApiToken, Setting, TokenId, TokenSecret};

/// What one place says about the token.
struct Said {
    id: Field<TokenId>,
    secret: Field<TokenSecret>,
}

/// The token that environment and flags name, for where there are no files; or what is wrong with what they say.
pub fn token_from_outside(inputs: Inputs) -> Result<Option<TokenId>, Vec<Problem>> {
    let Inputs { outside, mut problems, .. } = inputs;
    let (id, _) = take(&mut [environment::layer(&outside, &mut problems)], &mut problems);
    if problems.has_errors() {
        return Err(problems.into_sorted());
    }
    Ok(id.get().map(|id| id.value.clone()))
}

/// Takes the token out of places, the highest first: each half from the highest that gives it.
///
/// A secret that came with the id of another token is reported: such a pair would only be refused, and slowly.
pub(super) fn take(places: &mut [ClusterLayer], problems: &mut Problems) -> (Field<TokenId>, Field<TokenSecret>) {
    let said: Vec<Said> = places.iter_mut().flat_map(said).collect();
    let id = said.iter().map(|said| &said.id).find(|id| !id.is_absent()).cloned().unwrap_or_default();
    let with_secret = said.iter().find(|said| !said.secret.is_absent());
    let secret = with_secret.map(|said| said.secret.clone()).unwrap_or_default();
    if let (Some(id), Some(secret), Some(of)) = (id.get(), secret.get(), with_secret.and_then(|said| said.id.get()))
        && id.value != of.value
    {
        let problem = Problem::error(format!("the secret belongs to the token {}, not to {}", of.value, id.value))
            .at(problems.place(&id.origin, "this token is asked for"))
            .at(problems.place(&secret.origin, "the secret of another one"));
        problems.report(problem.hint("give both halves of one token in the same place"));
    }
    (id, secret)
}

/// Halves that are given one by one stand above a whole token in the same place.
fn said(place: &mut ClusterLayer) -> [Said; 2] {
    let halves = Said { id: std::mem::take(&mut place.token_id), secret: std::mem::take(&mut place.token_secret) };
    let whole = match std::mem::take(&mut place.token) {
        Field::Absent => Said { id: Field::Absent, secret: Field::Absent },
        Field::Wrong => Said { id: Field::Wrong, secret: Field::Wrong },
        Field::Sealed(origin) => Said { id: Field::Sealed(origin.clone()), secret: Field::Sealed(origin) },
        Field::Given(Setting { value: ApiToken { id, secret }, origin }) => Said {
            id: Field::Given(Setting::new(id, origin.clone())),
            secret: Field::Given(Setting::new(secret, origin)),
        },
    };
    [halves, whole]
}
