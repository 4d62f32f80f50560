//! The promises of the program, kept in a simulated cluster on paused time.

#![expect(clippy::print_stdout, reason = "the counts are what these tests are read for")]

mod access;
mod converges;
mod disruption;
mod drawn;
mod killed;
mod lab;
mod lost;
mod never;
mod requests;
mod story;
mod two_operators;
