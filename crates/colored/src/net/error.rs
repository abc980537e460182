//! Errors that name the address.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;

use crate::error_context::with_context;

/// The error of an operation named `what` on `target` that failed at every one of its addresses.
/// It has the kind and the number of the last attempt's error.
pub(super) fn all_failed(
    what: &str,
    target: &str,
    mut attempts: Vec<(SocketAddr, impl Display + Into<io::Error>)>,
) -> io::Error {
    let one = attempts.len() == 1;
    let tried = attempts.iter().map(|(addr, error)| match one {
        true if addr.to_string() == target => error.to_string(),
        _ => format!("{addr}: {error}"),
    });
    let tried = tried.collect::<Vec<_>>().join("; ");
    let Some((_, source)) = attempts.pop() else {
        let text = format!("cannot {what} {target}: it has no address; at least one is needed");
        return io::Error::new(io::ErrorKind::InvalidInput, text);
    };
    with_context(format!("cannot {what} {target}: {tried}"), source.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> io::Error {
        io::ErrorKind::ConnectionRefused.into()
    }

    #[test]
    fn one_literal_address_is_named_once() {
        let addr = "127.0.0.1:9".parse().unwrap();
        let error = all_failed("connect to", "127.0.0.1:9", vec![(addr, refused())]);
        assert_eq!(error.to_string(), "cannot connect to 127.0.0.1:9: connection refused");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn every_attempt_is_named() {
        let v4 = "127.0.0.1:9".parse().unwrap();
        let v6 = "[::1]:9".parse().unwrap();
        let timed_out = io::ErrorKind::TimedOut.into();
        let error = all_failed("connect to", "host:9", vec![(v4, timed_out), (v6, refused())]);
        let text = "cannot connect to host:9: 127.0.0.1:9: timed out; [::1]:9: connection refused";
        assert_eq!(error.to_string(), text);
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
