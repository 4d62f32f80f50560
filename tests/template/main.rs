//! Templates, made in the simulator on paused time: no sockets, no waiting.

#![expect(clippy::print_stdout, reason = "the figures are for whoever asks with --nocapture")]

mod create;
mod faults;
mod killed;
mod lab;
mod list_and_delete;
