//! [`OnSignal`]: a dump when a signal comes.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use self::absent::OnSignal;
#[cfg(unix)]
pub use self::unix::OnSignal;
