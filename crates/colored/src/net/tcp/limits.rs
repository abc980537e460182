//! The ranges of socket options: values that all systems accept, so that a program which works on one
//! works on the others.

use std::fmt::Display;
use std::io;
use std::time::Duration;

/// The longest time of an option in seconds, on Linux for keep-alive and on Windows for linger.
const MAX_SECONDS: u64 = 32_767;

/// The most probes that Linux sends.
const MAX_PROBES: u32 = 127;

/// The most hops: the header has 8 bits for them.
const MAX_HOPS: u32 = 255;

/// The time in whole seconds, rounded up; none if it is longer than every system takes.
fn whole_seconds(time: Duration) -> Option<Duration> {
    let seconds = time.as_secs().checked_add(u64::from(time.subsec_nanos() > 0))?;
    (seconds <= MAX_SECONDS).then(|| Duration::from_secs(seconds))
}

/// `given` is the call: the method and its argument.
fn refused(given: impl Display, allowed: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{given}: allowed are {allowed}"))
}

/// The time of `set_linger`, as the system wants it.
pub(super) fn linger(time: Option<Duration>) -> io::Result<Option<Duration>> {
    let Some(given) = time else { return Ok(None) };
    let whole = whole_seconds(given).ok_or_else(|| {
        refused(
            format_args!("set_linger({given:?})"),
            format_args!("None, 0 (reset) and up to {MAX_SECONDS} s"),
        )
    });
    whole.map(Some)
}

/// A time of `KeepAlive`, by the name of its method, as the system wants it.
pub(super) fn keep_alive(name: &str, given: Duration) -> io::Result<Duration> {
    whole_seconds(given).filter(|whole| !whole.is_zero()).ok_or_else(|| {
        refused(
            format_args!("set_keep_alive({name} {given:?})"),
            format_args!("whole seconds, 1 to {MAX_SECONDS}"),
        )
    })
}

/// The probes of `KeepAlive`.
pub(super) fn probes(given: u32) -> io::Result<u32> {
    match given {
        1..=MAX_PROBES => Ok(given),
        _ => Err(refused(
            format_args!("set_keep_alive(probes {given})"),
            format_args!("1 to {MAX_PROBES} probes"),
        )),
    }
}

/// A time to live that was given to the method `name`.
pub(super) fn hops(name: &str, given: u32) -> io::Result<u32> {
    match given {
        1..=MAX_HOPS => Ok(given),
        _ => Err(refused(format_args!("{name}({given})"), format_args!("1 to {MAX_HOPS} hops"))),
    }
}

/// The size of a buffer that was given to the method `name`.
pub(super) fn buffer(name: &str, given: usize) -> io::Result<usize> {
    match i32::try_from(given) {
        Ok(1..) => Ok(given),
        _ => Err(refused(format_args!("{name}({given})"), format_args!("1 to {} bytes", i32::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_to_whole_seconds_and_no_further() {
        let seconds = Duration::from_secs;
        for (given, whole) in [
            (Duration::ZERO, Some(seconds(0))),
            (Duration::from_nanos(1), Some(seconds(1))),
            (Duration::from_millis(500), Some(seconds(1))),
            (seconds(1), Some(seconds(1))),
            (Duration::from_millis(1001), Some(seconds(2))),
            (seconds(32_767), Some(seconds(32_767))),
            (seconds(32_767) + Duration::from_nanos(1), None),
            (seconds(1 << 33), None),
            (Duration::MAX, None),
        ] {
            assert_eq!(whole_seconds(given), whole, "{given:?}");
        }
    }
}
