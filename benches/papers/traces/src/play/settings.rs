//! What a user may choose about a run: [`Settings`].

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The largest number of clients, each of which has a thread.
pub const MAX_CLIENTS: usize = 1_024;

/// The highest rate of the open loop, in sequences per second.
const MAX_RATE: f64 = 1e6;

/// The longest time limit and the longest time-out: a day.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// When sequences start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// The closed loop: a sequence starts when a client is free.
    Closed,
    /// The open loop: sequence `n` arrives `n / rate` seconds after the start, and starts when it has arrived and a
    /// client is free.
    Open {
        /// Sequences per second: above 0, at most 10⁶.
        rate: f64,
    },
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of the server, which must be a loopback address.
    pub address: SocketAddr,
    /// Closed or open loop.
    pub arrivals: Arrivals,
    /// The number of clients, 1 to [`MAX_CLIENTS`]: the largest number of sequences at a time.
    pub clients: usize,
    /// Whether all requests of a sequence use one connection. Otherwise each has its own.
    pub keep_alive: bool,
    /// Whether the bodies are compared with the [`content`](crate::content) of their files. This takes CPU time.
    pub check_content: bool,
    /// How long a client waits for the server to accept, to read or to write; above 0, at most a day.
    pub timeout: Duration,
    /// The largest number of sequences that are started, if there is one.
    pub max_sequences: Option<u64>,
    /// The time after which no request is sent; above 0, at most a day.
    pub max_time: Duration,
    /// The number of faults after which no sequence is started; at least 1.
    pub max_faults: u64,
}

impl Settings {
    /// A closed loop until the trace ends, at most an hour, with a time-out of 10 s and at most 1,000 faults.
    #[must_use]
    pub const fn closed(address: SocketAddr, clients: usize) -> Self {
        Self {
            address,
            arrivals: Arrivals::Closed,
            clients,
            keep_alive: true,
            check_content: false,
            timeout: Duration::from_secs(10),
            max_sequences: None,
            max_time: Duration::from_secs(60 * 60),
            max_faults: 1_000,
        }
    }

    /// An open loop with `rate` sequences per second, which ends after `max_time`, or when the trace ends.
    #[must_use]
    pub const fn open(address: SocketAddr, clients: usize, rate: f64, max_time: Duration) -> Self {
        Self { arrivals: Arrivals::Open { rate }, max_time, ..Self::closed(address, clients) }
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let is_time = |time: Duration| !time.is_zero() && time <= MAX_TIME;
        if !self.address.ip().is_loopback() {
            return Err(address_error(&self.address.to_string()));
        }
        if !(1..=MAX_CLIENTS).contains(&self.clients) {
            return Err(wrong("clients", self.clients, format!("1 to {MAX_CLIENTS}")));
        }
        if let Arrivals::Open { rate } = self.arrivals
            && !(rate > 0.0 && rate <= MAX_RATE)
        {
            return Err(wrong("rate", rate, format!("above 0, at most {MAX_RATE} per second")));
        }
        for (name, time) in [("timeout", self.timeout), ("max_time", self.max_time)] {
            if !is_time(time) {
                return Err(wrong(name, format!("{time:?}"), "above 0, at most a day".to_owned()));
            }
        }
        if self.max_faults == 0 {
            return Err(wrong("max_faults", 0, "at least 1".to_owned()));
        }
        Ok(())
    }
}

/// A setting that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    name: &'static str,
    value: String,
    allowed: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; allowed is {}", self.name, self.value, self.allowed)
    }
}

impl Error for SettingsError {}

fn wrong(name: &'static str, value: impl ToString, allowed: String) -> SettingsError {
    SettingsError { name, value: value.to_string(), allowed }
}

fn address_error(value: &str) -> SettingsError {
    let allowed = "a loopback address with a port, such as 127.0.0.1:8080 or [::1]:8080";
    wrong("address", value, allowed.to_owned())
}

/// Parses the address of a server. Names of hosts are not allowed, so that nothing is looked up.
///
/// # Errors
///
/// If the text is not a loopback address with a port.
pub fn loopback(text: &str) -> Result<SocketAddr, SettingsError> {
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        _ => Err(address_error(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_allowed() {
        for right in ["127.0.0.1:80", "127.1.2.3:8080", "[::1]:80"] {
            assert!(loopback(right).is_ok(), "{right}");
        }
        for wrong in
            ["", "127.0.0.1", "localhost:80", "10.0.0.1:80", "0.0.0.0:80", "[2001:db8::1]:80"]
        {
            let error = loopback(wrong).expect_err("it is not a loopback address").to_string();
            assert!(error.starts_with(&format!("address is {wrong}; allowed is a loopback")));
        }
    }

    #[test]
    fn wrong_settings_name_the_value_and_the_allowed_ones() {
        let local = SocketAddr::from(([127, 0, 0, 1], 80));
        let right = Settings::open(local, 1, 1.0, Duration::from_secs(1));
        assert_eq!(right.check(), Ok(()));
        let remote = SocketAddr::from(([192, 0, 2, 1], 80));
        for (settings, text) in [
            (
                Settings { address: remote, ..right.clone() },
                "address is 192.0.2.1:80; allowed is a loopback address with a port, \
                 such as 127.0.0.1:8080 or [::1]:8080",
            ),
            (Settings { clients: 0, ..right.clone() }, "clients is 0; allowed is 1 to 1024"),
            (Settings { clients: 1_025, ..right.clone() }, "clients is 1025; allowed is 1 to 1024"),
            (
                Settings { arrivals: Arrivals::Open { rate: f64::NAN }, ..right.clone() },
                "rate is NaN; allowed is above 0, at most 1000000 per second",
            ),
            (
                Settings { timeout: Duration::ZERO, ..right.clone() },
                "timeout is 0ns; allowed is above 0, at most a day",
            ),
            (
                Settings { max_time: MAX_TIME * 2, ..right.clone() },
                "max_time is 172800s; allowed is above 0, at most a day",
            ),
            (Settings { max_faults: 0, ..right.clone() }, "max_faults is 0; allowed is at least 1"),
        ] {
            assert_eq!(settings.check().expect_err("it is wrong").to_string(), text);
        }
    }
}
