//! [`Version`]: the versions of HTTP that a server speaks.

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

impl Version {
    /// The names in ALPN, in the order of preference, of the one version or of both.
    pub(super) fn offers(only: Option<Version>) -> &'static [&'static [u8]] {
        match only {
            None => &[b"h2", b"http/1.1"],
            Some(Version::Http1) => &[b"http/1.1"],
            Some(Version::Http2) => &[b"h2"],
        }
    }
}
