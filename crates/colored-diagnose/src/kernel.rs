//! What the kernel says of the thread of a worker.

#[cfg(target_os = "linux")]
#[path = "kernel/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "kernel/absent.rs"]
mod system;

pub(crate) use self::system::{state, this_thread};
