//! An async runtime whose tasks are serialized by color.

mod blocking;
mod budget;
mod driver;
pub mod io;
pub mod net;
mod time;
