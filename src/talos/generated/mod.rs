//! Messages and services made from `proto/`; `tests/generated.rs` keeps them current.

#![expect(
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    unreachable_pub,
    unused_qualifications,
    reason = "nobody wrote this code"
)]

#[rustfmt::skip]
pub(crate) mod definitions;
#[rustfmt::skip]
pub(crate) mod machine;
#[rustfmt::skip]
pub(crate) mod resource;
#[rustfmt::skip]
pub(crate) mod storage;
