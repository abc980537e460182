//! Addresses and host names.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::ToSocketAddrs as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

pub(super) use self::sealed::Named;
use super::error::explained;
use crate::blocking::unblock;

/// What can be connected to or listened on. It is sealed: the implementations below are all.
///
/// * an address: [`SocketAddr`], `(IpAddr, u16)` and their v4 and v6 kinds;
/// * several, tried in order: `&[SocketAddr]`, `[SocketAddr; N]`, `Vec<SocketAddr>`;
/// * text: `"host:port"` as `&str` or `String`, or `("host", port)`.
///
/// A host name is looked up on the blocking pool by the resolver of the system; an address, also
/// in text, is taken as it is without a hop to another thread.
pub trait ToSocketAddrs: Named {}

mod sealed {
    /// Something that names a target.
    #[expect(unnameable_types, reason = "this is what seals `ToSocketAddrs`")]
    pub trait Named {
        /// The target, not looked up yet.
        #[doc(hidden)]
        fn target(self) -> std::io::Result<super::Target>;
    }
}

/// A target by its addresses or its name.
#[derive(Debug)]
#[expect(unnameable_types, reason = "it is public for the sealed trait only")]
pub struct Target(Form);

#[derive(Debug)]
enum Form {
    Addrs(Vec<SocketAddr>),
    Name { host: String, port: u16 },
}

impl Target {
    /// The addresses of the target, in the order in which to try them.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved; the error names it.
    pub(super) async fn resolve(&self) -> io::Result<Cow<'_, [SocketAddr]>> {
        match &self.0 {
            Form::Addrs(addrs) => Ok(addrs.into()),
            Form::Name { host, port } => {
                let (host, port) = (host.clone(), *port);
                unblock(move || look_up(&host, port)).await.map(Cow::Owned)
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Name { host, port } => write!(f, "{host}:{port}"),
            Form::Addrs(addrs) => match &addrs[..] {
                [] => f.write_str("an empty list"),
                [addr] => write!(f, "{addr}"),
                addrs => write!(f, "a list of {} addresses", addrs.len()),
            },
        }
    }
}

fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match (host, port).to_socket_addrs() {
        Ok(addrs) => Ok(addrs.collect()),
        Err(error) => {
            let text = format!(
                "cannot resolve host {host:?}: {error}; \
                 expected an IP address or a name that the resolver of this system knows"
            );
            Err(explained(text, error))
        }
    }
}

/// Looks a host name up on the blocking pool.
///
/// An address gives itself, without a hop to the pool. Dropping the future forgets the answer; the
/// thread of the pool stays busy until the resolver is done.
///
/// # Errors
///
/// When the text is no `host:port`, or the name cannot be resolved. The error names it.
///
/// # Panics
///
/// Outside a runtime, if there is a name to look up; and if the runtime shuts down meanwhile.
pub async fn lookup_host(
    host: impl ToSocketAddrs,
) -> io::Result<impl Iterator<Item = SocketAddr> + Send + 'static> {
    let target = host.target()?;
    let addrs = target.resolve().await?.into_owned();
    Ok(addrs.into_iter())
}

/// Implements the trait by an expression for the target.
macro_rules! targets {
    ($([$($generics:tt)*] $type:ty, $self:ident => $target:expr;)*) => {$(
        impl<$($generics)*> ToSocketAddrs for $type {}
        impl<$($generics)*> Named for $type {
            fn target($self) -> io::Result<Target> {
                $target
            }
        }
    )*};
}

targets! {
    [] SocketAddr, self => addrs([self]);
    [] SocketAddrV4, self => addrs([self.into()]);
    [] SocketAddrV6, self => addrs([self.into()]);
    [] (IpAddr, u16), self => addrs([self.into()]);
    [] (Ipv4Addr, u16), self => addrs([self.into()]);
    [] (Ipv6Addr, u16), self => addrs([self.into()]);
    [] &[SocketAddr], self => addrs(self);
    [] Vec<SocketAddr>, self => addrs(self);
    [const N: usize] [SocketAddr; N], self => addrs(self);
    [] (&str, u16), self => Ok(host(self.0, self.1));
    [] (String, u16), self => Ok(host(&self.0, self.1));
    [] &str, self => parse(self);
    [] &String, self => parse(self);
    [] String, self => parse(&self);
}

fn addrs(addrs: impl Into<Vec<SocketAddr>>) -> io::Result<Target> {
    Ok(Target(Form::Addrs(addrs.into())))
}

fn host(host: &str, port: u16) -> Target {
    match host.parse::<IpAddr>() {
        Ok(ip) => Target(Form::Addrs(vec![(ip, port).into()])),
        Err(_) => Target(Form::Name { host: host.to_owned(), port }),
    }
}

fn parse(text: &str) -> io::Result<Target> {
    if let Ok(addr) = text.parse() {
        return addrs([addr]);
    }
    let bad = |what: &str| {
        let text = format!(
            "invalid address {text:?}: {what}; \
             expected HOST:PORT such as example.org:80, 127.0.0.1:80 or [::1]:80"
        );
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    let (name, port) = text.rsplit_once(':').ok_or_else(|| bad("there is no port"))?;
    let port = port.parse().map_err(|_| bad("the port is not a number from 0 to 65535"))?;
    match name {
        "" => Err(bad("there is no host")),
        name if name.contains(':') => Err(bad("an IPv6 address needs brackets")),
        name => Ok(host(name, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(addr: impl ToSocketAddrs) -> String {
        match addr.target() {
            Ok(Target(Form::Addrs(addrs))) => format!("{addrs:?}"),
            Ok(name) => name.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn literal_addresses_need_no_lookup() {
        assert_eq!(named("127.0.0.1:80"), "[127.0.0.1:80]");
        assert_eq!(named("[::1]:80".to_owned()), "[[::1]:80]");
        assert_eq!(named(("::1", 80)), "[[::1]:80]");
        assert_eq!(named((Ipv4Addr::LOCALHOST, 80)), "[127.0.0.1:80]");
        assert_eq!(named(&[][..]), "[]");
    }

    #[test]
    fn names_are_kept() {
        assert_eq!(named("localhost:80"), "localhost:80");
        assert_eq!(named(("localhost", 80)), "localhost:80");
    }

    #[test]
    fn bad_text_says_what_and_what_is_allowed() {
        for (text, what) in [
            ("localhost", "there is no port"),
            ("localhost:http", "the port is not a number from 0 to 65535"),
            ("localhost:65536", "the port is not a number from 0 to 65535"),
            (":80", "there is no host"),
            ("::1:80", "an IPv6 address needs brackets"),
        ] {
            let expected = "expected HOST:PORT such as example.org:80, 127.0.0.1:80 or [::1]:80";
            assert_eq!(named(text), format!("invalid address {text:?}: {what}; {expected}"));
        }
    }
}
