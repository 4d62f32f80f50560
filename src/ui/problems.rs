use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use crate::config::{Place, Problem, Severity};

/// A problem as text: heading, places with their lines and carets, hint.
///
/// Colours are always in it; the gate takes them out where they do not belong.
pub fn draw_problem(problem: &Problem) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let places = problem.places.iter().enumerate().map(|(index, place)| draw_place(place, index == 0));
    let hint = problem.hint.iter().map(|hint| Level::HELP.with_name("hint").message(hint.as_str()).into());
    let group = level.primary_title(problem.message.as_str()).elements(places.chain(hint));
    Renderer::styled().render(&[group])
}

fn draw_place(place: &Place, primary: bool) -> Element<'_> {
    match place {
        Place::Named(name) => Origin::path(name.as_str()).into(),
        Place::Part { source, span, label } => {
            let excerpt = source.excerpt(span);
            let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(excerpt.marked).label((!label.is_empty()).then_some(label.as_str()));
            let snippet = Snippet::source(excerpt.text).path(source.name().to_string()).line_start(excerpt.line);
            snippet.annotation(annotation).into()
        }
    }
}
