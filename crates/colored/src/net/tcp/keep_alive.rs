//! How to probe an idle connection.

use std::io;
use std::time::Duration;

use socket2::TcpKeepalive;

use super::limits;

/// How to probe an idle connection; see
/// [`TcpStream::set_keep_alive`](super::TcpStream::set_keep_alive), which reports wrong values. The
/// system chooses values that are not set.
///
/// ```
/// use std::time::Duration;
///
/// use colored::net::KeepAlive;
///
/// let a_minute = KeepAlive::new()
///     .idle(Duration::from_secs(30))
///     .interval(Duration::from_secs(10))
///     .probes(3);
/// # let _ = a_minute;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "does nothing until it is given to a connection"]
pub struct KeepAlive {
    idle: Option<Duration>,
    interval: Option<Duration>,
    probes: Option<u32>,
}

impl KeepAlive {
    /// The values of the system, which on Linux take more than two hours to notice a dead peer.
    pub const fn new() -> KeepAlive {
        KeepAlive { idle: None, interval: None, probes: None }
    }

    /// How long the connection must be idle before the first probe: 1 to 32,767 seconds. The system
    /// counts in whole seconds, to which the time is rounded up.
    pub const fn idle(mut self, time: Duration) -> KeepAlive {
        self.idle = Some(time);
        self
    }

    /// The time between two probes: 1 to 32,767 seconds, also rounded up. Without effect on OpenBSD.
    pub const fn interval(mut self, time: Duration) -> KeepAlive {
        self.interval = Some(time);
        self
    }

    /// After how many probes without an answer the connection counts as broken: 1 to 127. Without
    /// effect on OpenBSD and on Windows.
    pub const fn probes(mut self, probes: u32) -> KeepAlive {
        self.probes = Some(probes);
        self
    }

    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub(super) fn params(&self) -> io::Result<TcpKeepalive> {
        let mut params = TcpKeepalive::new();
        if let Some(time) = self.idle {
            params = params.with_time(limits::keep_alive("idle", time)?);
        }
        if let Some(time) = self.interval {
            params = with_interval(params, limits::keep_alive("interval", time)?);
        }
        if let Some(probes) = self.probes {
            params = with_probes(params, limits::probes(probes)?);
        }
        Ok(params)
    }
}

#[cfg(not(target_os = "openbsd"))]
fn with_interval(params: TcpKeepalive, time: Duration) -> TcpKeepalive {
    params.with_interval(time)
}

#[cfg(target_os = "openbsd")]
fn with_interval(params: TcpKeepalive, _: Duration) -> TcpKeepalive {
    params
}

#[cfg(not(any(target_os = "openbsd", windows)))]
fn with_probes(params: TcpKeepalive, probes: u32) -> TcpKeepalive {
    params.with_retries(probes)
}

#[cfg(any(target_os = "openbsd", windows))]
fn with_probes(params: TcpKeepalive, _: u32) -> TcpKeepalive {
    params
}
