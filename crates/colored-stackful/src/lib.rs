//! Blocking-looking code as tasks of the `colored` runtime, on stacks of their own.
//!
//! ```
//! use colored_stackful as stackful;
//! use colored::time::Duration;
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let task = stackful::spawn(7, || {
//!     stackful::sleep(Duration::from_millis(1));
//!     stackful::wait(async { 6 * 7 })
//! });
//! assert_eq!(task.await.unwrap(), 42);
//! # }
//! ```

mod fiber;
pub mod io;
mod link;
pub mod net;
#[cfg(not(miri))]
mod overflow;
mod shapes;
mod size;
mod spawn;
#[cfg(not(miri))]
mod stack;
mod switch;
mod wait;

pub use self::fiber::Fiber;
pub use self::shapes::{exclusive, future, join, sleep, yield_now};
pub use self::spawn::{Builder, spawn, spawn_migrating, spawn_unique};
#[cfg(not(miri))]
pub use self::stack::release_idle_stacks;
pub use self::wait::{CannotWait, checked_wait, is_ending, wait};
#[doc(no_inline)]
pub use colored::task::{JoinError, JoinHandle};
