//! What `pvetalos access` prints is enough for everything, and nothing of it is too much.
//!
//! Nobody here reads the values behind it: the very lines that are printed are carried out by a small `pveum`, on
//! Proxmox VE 8 and 9, and then the token that they made has to do its work.

mod enough;
mod granted;
mod least;
mod pveum;
