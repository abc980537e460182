//! An async runtime whose tasks are serialized by color.

mod blocking;
mod budget;
mod driver;
pub mod io;
pub mod net;
mod pool;
pub mod runtime;
pub mod sync;
pub mod task;
pub mod time;

pub use colored_core::{AccessError, Call, Color, ColorCell};

pub use self::runtime::{Builder, Handle, Runtime};
pub use self::task::{
    AbortHandle, JoinError, JoinHandle, hop, spawn, spawn_blocking, spawn_colored, spawn_here,
    spawn_local, spawn_unique, yield_now,
};

#[cfg(feature = "macros")]
pub use colored_macros::{main, test};

#[doc(hidden)]
pub mod __private;
// The macros use this name, for the sake of who renamed the runtime and has another crate called
// `colored`: it is what the compiler then does not find there, and so the message.
#[doc(hidden)]
pub use __private as __private_of_colored_rt_a_renamed_runtime_needs_the_crate_option;
