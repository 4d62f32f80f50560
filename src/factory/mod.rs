//! The way to an Image Factory, for the one thing that is asked of it from here: to register a schematic.
//!
//! Images are fetched by the Proxmox hosts themselves. Nothing secret goes this way, and nothing that comes back is
//! believed without being compared with what was computed here.

mod error;
mod push;

pub use error::FactoryError;
pub use push::push;
