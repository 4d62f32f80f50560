//! Templates, made in the simulator on paused time: no sockets, no waiting.

mod create;
mod faults;
mod killed;
mod lab;
mod list_and_delete;
