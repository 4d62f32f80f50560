use super::exit::{Ended, Exit};
use super::interrupt::Interrupts;
use crate::ui::Ui;

/// Asks whether to go on, and takes only `expected` for a yes. Without anybody to ask, nothing is done.
pub(super) async fn consent(ui: &mut Ui, question: &str, expected: &[&str]) -> Result<(), Ended> {
    if !ui.can_ask() {
        ui.show_failure("this has to be confirmed, and nobody is there to be asked", "add --yes if it is meant");
        return Err(Ended::With(Exit::Failed));
    }
    match Interrupts::new()?.or(ui.ask(question)).await {
        Some(answer) if expected.iter().any(|yes| answer.eq_ignore_ascii_case(yes)) => Ok(()),
        Some(_) => {
            ui.say("declined; nothing was done");
            Err(Ended::With(Exit::Failed))
        }
        None => {
            ui.say("\ninterrupted; nothing was done");
            Err(Ended::With(Exit::Interrupted))
        }
    }
}
