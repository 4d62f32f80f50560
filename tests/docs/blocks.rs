//! Blocks of commands, run top to bottom in one shell for each page.
//!
//! `sh` has to succeed. Lines of `console` that begin with `$ ` are typed, the others have to be printed: `…` stands for
//! any text in a line, and alone on a line for any lines. What is marked as `real` needs more than is here.

use regex::Regex;

use crate::ground::{copy_folder, skipped};
use crate::markdown::{Block, Document, documents, root};
use crate::shell::{Ran, has, run};

/// A piece of shell, and what it should print, if that is said.
struct Piece {
    line: usize,
    command: String,
    expected: Option<String>,
}

fn pieces(block: &Block) -> Vec<Piece> {
    match block.language.as_str() {
        "sh" => vec![Piece { line: block.line, command: format!("set -e\n{}set +e", block.text), expected: None }],
        "console" => {
            let mut pieces: Vec<Piece> = Vec::new();
            for (index, line) in block.text.lines().enumerate() {
                match (line.strip_prefix("$ "), pieces.last_mut()) {
                    (None, Some(Piece { command, .. })) if command.ends_with('\\') => {
                        command.push('\n');
                        command.push_str(line);
                    }
                    (Some(command), _) => {
                        let (line, command) = (block.line + index, command.to_owned());
                        pieces.push(Piece { line, command, expected: Some(String::new()) });
                    }
                    (None, Some(Piece { expected: Some(expected), .. })) => {
                        expected.push_str(line);
                        expected.push('\n');
                    }
                    (None, _) => panic!("line {}: output without a command", block.line + index),
                }
            }
            pieces
        }
        _ => Vec::new(),
    }
}

/// Whether a text is as expected.
fn fits(expected: &str, printed: &str) -> bool {
    let line = |line: &str| {
        let parts: Vec<String> = line.trim_end().split('…').map(regex::escape).collect();
        format!("{}[ ]*\n", parts.join(".*"))
    };
    let lines = expected.trim_end().lines();
    let pattern: String =
        lines.map(|text| if text.trim() == "…" { "(?:.*\n)*?".to_owned() } else { line(text) }).collect();
    let printed = if printed.trim().is_empty() { String::new() } else { format!("{}\n", printed.trim_end()) };
    Regex::new(&format!("^{pattern}$")).expect("it was escaped").is_match(&printed)
}

#[test]
fn an_ellipsis_stands_for_any_text_or_any_lines() {
    assert!(fits("a … c\n…\nend\n", "a b c\n1\n2\nend\n"));
    assert!(fits("a\n  …\nend", "a\nend\n"));
    assert!(!fits("a\nend\n", "a\nb\nend\n"));
    assert!(!fits("a.c\n", "abc\n"));
    assert!(fits("", "\n") && !fits("", "a\n"));
}

/// Programs that not every machine has; blocks with them are left out where they are not.
const OTHER_PROGRAMS: [&str; 4] = ["jq", "yq", "sops", "age-keygen"];

fn can_run(block: &Block, document: &Document) -> bool {
    if block.info == "real" || !["sh", "console"].contains(&block.language.as_str()) {
        return false;
    }
    let missing = OTHER_PROGRAMS.iter().find(|program| {
        let mut words = block.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words.any(|word| word == **program) && !has(program)
    });
    if let Some(program) = missing {
        skipped(&format!("{}:{}, because there is no {program} here", document.name, block.line));
    }
    missing.is_none()
}

fn what_it_shows_happens(document: &Document) {
    let pieces: Vec<Piece> = document.blocks.iter().filter(|block| can_run(block, document)).flat_map(pieces).collect();
    if pieces.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    copy_folder(&root().join("examples"), &folder.path().join("examples"));
    std::fs::copy(root().join("nodes.sample.yaml"), folder.path().join("nodes.sample.yaml")).expect("it can be copied");
    let commands: Vec<String> = pieces.iter().map(|piece| piece.command.clone()).collect();
    let ran = run(folder.path(), &commands);
    let mut wrong = Vec::new();
    for (index, Piece { line, command, expected }) in pieces.iter().enumerate() {
        let at = format!("{}:{line}: {command}", document.name);
        match (ran.get(index), expected) {
            (None, _) => wrong.push(format!("{at}\n--- it ended the shell")),
            (Some(Ran { printed, exit }), None) if *exit != 0 => {
                wrong.push(format!("{at}\n--- exit {exit}\n{printed}"));
            }
            (Some(Ran { printed, .. }), Some(expected)) if !fits(expected, printed) => {
                wrong.push(format!("{at}\n--- expected\n{expected}--- printed\n{printed}"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_the_pages_show_happens() {
    if !has("bash") {
        skipped("the commands of the pages, because there is no bash here");
        return;
    }
    let documents = documents();
    let failed: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = documents
            .iter()
            .map(|document| (&document.name, scope.spawn(|| what_it_shows_happens(document))))
            .collect();
        runs.into_iter().filter_map(|(name, run)| run.join().is_err().then(|| name.clone())).collect()
    });
    assert!(failed.is_empty(), "pages that show what does not happen: {failed:?}");
}

/// Blocks of YAML are what they say they are.
#[test]
fn every_file_that_is_shown_is_right() {
    use pvetalos::config::{Explain, Inputs, load, parse_document};
    use pvetalos::sim::World;
    for document in documents() {
        for block in document.blocks.iter().filter(|block| block.language == "yaml") {
            let at = format!("{}:{}", document.name, block.line);
            let parsed: Result<serde_json::Value, _> = parse_document(&at, &block.text);
            let parsed = parsed.unwrap_or_else(|problems| panic!("{at}: {problems:?}"));
            match block.info.as_str() {
                "nodes" => {
                    let loaded = load(Inputs::from_texts(&block.text, None, None), Explain::No);
                    assert!(!loaded.has_errors(), "{at}: {:?}", loaded.problems);
                }
                "world" => drop(World::from_json(&parsed).unwrap_or_else(|error| panic!("{at}: {error}"))),
                // Made for other programs, or a part of something.
                "taskfile" | "part" => {}
                other => panic!("{at}: say which file it is instead of `{other}`: nodes, world, taskfile or part"),
            }
        }
    }
}
