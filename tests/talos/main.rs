//! Talos as the simulator plays it, seen by the client that is used on real machines.

mod harness;
mod profiles;
