//! README and docs, held against the program: what they name exists, what exists is named, and what they show happens.

mod blocks;
#[path = "../cli/ground.rs"]
mod ground;
mod markdown;
mod mentions;
mod shell;
