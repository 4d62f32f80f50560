use std::io::{self, BufRead, IsTerminal};

use super::Ui;

impl Ui {
    /// Asks a person to type a word, and says whether it was typed. Where nobody can be asked, the answer is no.
    pub fn is_answered(&mut self, question: &str, word: &str) -> io::Result<bool> {
        let input = io::stdin();
        if !input.is_terminal() {
            self.warn("nobody can be asked here, so that nothing is done; `--yes` does it without asking");
            return Ok(false);
        }
        self.prompt(&format!("{question}: "));
        let mut line = String::new();
        input.lock().read_line(&mut line)?;
        let answered = line.trim() == word;
        if !answered {
            self.say("nothing was done");
        }
        Ok(answered)
    }
}
