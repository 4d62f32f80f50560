//! Talos as the simulator plays it, seen by the client that is used on real machines.

mod gate;
mod harness;
mod hostile;
mod intent;
mod profiles;
mod waiting;
