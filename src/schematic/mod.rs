//! What a Talos image is made of: the schematic, its identity, and what the Image Factory calls the results.
//!
//! ```text
//! schematic.yaml ──► config ──► Schematic ──► canonical YAML ──► SHA-256 = schematic id
//!                                                                     │
//!                       TalosVersion, secure boot ──► Image ◄─────────┘ ──► URL, file name, installer, disk size
//! ```
//!
//! Nothing here reads a file or asks anybody: an id computed here is the id that the factory will say.

mod canonical;
mod extensions;
mod factory_url;
mod image;
mod image_format;
mod image_url;
mod resolve;
mod scalar;
#[expect(clippy::module_inception, reason = "the room is named after what it is about, and so is the file")]
mod schematic;

pub use extensions::{Extension, extension};
pub use factory_url::FactoryUrl;
pub use image::Image;
pub use image_format::ImageFormat;
pub use image_url::ImageUrl;
pub use resolve::{PlainKind, plain_kind};
pub use schematic::{Bootloader, EnrollKeys, MetaValue, OptionValue, Overlay, Schematic};
