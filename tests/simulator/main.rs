//! The simulator from outside: over real sockets on loopback, and in process under paused time.

mod both_ways;
mod drawn;
mod faults;
mod harness;
mod hostile;
mod in_process;
mod manners;
mod our_client;
mod recordings;
mod typed_client;
mod uploads;
mod worlds;
