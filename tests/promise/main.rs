//! The promises of the program, kept in a simulated cluster on paused time.

mod killed;
mod lab;
mod story;
mod two_operators;
