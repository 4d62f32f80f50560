use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use crate::config::{Place, Problem, Severity};
use crate::model::made_printable;

/// A problem as text: heading, places with their lines and carets, hint.
///
/// Colours are always in it; the gate takes them out where they do not belong. What comes from the input cannot bring
/// any of its own.
pub fn draw_problem(problem: &Problem) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let places = problem.places.iter().enumerate().flat_map(|(index, place)| draw_place(place, index == 0));
    let hint = problem.hint.iter().map(|hint| Level::HELP.with_name("hint").message(made_printable(hint)).into());
    let group = level.primary_title(made_printable(&problem.message)).elements(places.chain(hint));
    Renderer::styled().render(&[group])
}

fn draw_place(place: &Place, primary: bool) -> Vec<Element<'_>> {
    match place {
        Place::Named(name) => vec![Origin::path(made_printable(name)).into()],
        Place::Part { source, span, label } => {
            let excerpt = source.excerpt(span);
            let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(excerpt.marked).label((!label.is_empty()).then(|| made_printable(label)));
            let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).annotation(annotation);
            if excerpt.cut {
                // The column cannot be read off a line that is shown only in part.
                let origin = Origin::path(made_printable(source.name())).line(excerpt.line).char_column(excerpt.column);
                return vec![origin.into(), snippet.into()];
            }
            vec![snippet.path(made_printable(source.name())).into()]
        }
    }
}
