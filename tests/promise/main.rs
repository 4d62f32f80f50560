//! The promises of the program, kept in a simulated cluster on paused time.

mod lab;
mod story;
