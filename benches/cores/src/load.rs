//! The loads.

mod outside;
mod pairs;
mod requests;
mod storm;
mod zipf;

pub(crate) use self::outside::Outside;
pub(crate) use self::pairs::Pairs;
pub(crate) use self::requests::Requests;
pub(crate) use self::storm::Storm;
pub(crate) use self::zipf::Zipf;

/// A slot of its own line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Apart<T>(T);
