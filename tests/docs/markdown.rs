//! Just enough Markdown: fenced blocks, code in sentences, links and headings.

use std::path::{Path, PathBuf};

pub(crate) struct Document {
    /// As seen from the top of the repository.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) blocks: Vec<Block>,
    /// Lines outside of blocks, with their numbers.
    pub(crate) prose: Vec<(usize, String)>,
}

pub(crate) struct Block {
    /// The number of its first line.
    pub(crate) line: usize,
    pub(crate) language: String,
    /// What stands behind the language, which no reader sees.
    pub(crate) info: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md and every page in docs, without the decisions of old.
pub(crate) fn documents() -> Vec<Document> {
    let pages = std::fs::read_dir(root().join("docs")).expect("docs can be read");
    let pages = pages.map(|entry| entry.expect("docs can be read").path());
    let mut pages: Vec<PathBuf> =
        pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages.into_iter().map(Document::read).collect()
}

impl Document {
    pub(crate) fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).expect("a page can be read");
        let name = path.strip_prefix(root()).expect("it is in the repository").display().to_string();
        let (mut blocks, mut prose) = (Vec::new(), Vec::new());
        let mut open: Option<Block> = None;
        for (index, line) in text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(info)) => {
                    let (language, info) = info.split_once(' ').unwrap_or((info, ""));
                    let (language, info) = (language.to_owned(), info.to_owned());
                    open = Some(Block { line: index + 2, language, info, text: String::new() });
                }
                (None, None) => prose.push((index + 1, line.to_owned())),
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
        }
        assert!(open.is_none(), "{name}: a block does not end");
        Self { name, path, blocks, prose }
    }

    /// Pieces of code in sentences, with their lines.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose.iter().flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(|code| (*line, code)))
    }

    /// Where links lead, with their lines.
    pub(crate) fn links(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose.iter().flat_map(|(line, text)| {
            text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(|link| (*line, link))
        })
    }

    /// The names under which its headings can be linked to.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let headings = self.prose.iter().filter(|(_, line)| line.starts_with('#'));
        let anchor = |(_, line): &(usize, String)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        };
        headings.map(anchor).collect()
    }
}
