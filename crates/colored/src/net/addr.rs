//! Addresses and host names.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::ToSocketAddrs as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

pub(super) use self::sealed::Named;
use crate::blocking;
use crate::error_context::with_context;
use crate::pool::Class;
use crate::services::current;

/// A target to connect to or to listen on. The trait is sealed; these types implement it:
///
/// * an address: [`SocketAddr`], `(IpAddr, u16)` and their v4 and v6 kinds;
/// * several, tried in order: `[SocketAddr]`, `[SocketAddr; N]`, `Vec<SocketAddr>`;
/// * text: `"host:port"` as `str` or `String`, or `("host", port)`. In `"host:port"` an IPv6 address
///   needs brackets, `"[::1]:80"`; in `("host", port)` brackets are optional. A URL is no host;
/// * a reference to any of these.
///
/// The resolver of the system looks a host name up, on the blocking pool. An address, also as text,
/// needs no look-up and no other thread.
pub trait ToSocketAddrs: Named {}

mod sealed {
    /// Something that names a target.
    #[expect(unnameable_types, reason = "this is what seals `ToSocketAddrs`")]
    pub trait Named {
        /// The target, not looked up yet.
        #[doc(hidden)]
        fn target(&self) -> std::io::Result<super::Target>;
    }
}

/// A target by its addresses or its name.
#[derive(Debug)]
#[expect(unnameable_types, reason = "it is public for the sealed trait only")]
pub struct Target(Form);

#[derive(Debug)]
enum Form {
    /// No allocation: a datagram may have an address of its own.
    Addr(SocketAddr),
    Addrs(Vec<SocketAddr>),
    Name {
        host: String,
        port: u16,
    },
}

impl Target {
    fn new(host: &str, port: u16) -> Target {
        match host.parse::<IpAddr>() {
            Ok(ip) => Target(Form::Addr((ip, port).into())),
            Err(_) => Target(Form::Name { host: host.to_owned(), port }),
        }
    }

    /// The addresses of the target, in the order in which to try them.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved; the error names it.
    pub(super) async fn resolve(&self) -> io::Result<Cow<'_, [SocketAddr]>> {
        match &self.0 {
            Form::Addr(addr) => Ok(std::slice::from_ref(addr).into()),
            Form::Addrs(addrs) => Ok(addrs.into()),
            Form::Name { host, port } => {
                if let Some(machine) = current::machine() {
                    return machine.look_up(host, *port).map(Cow::Owned);
                }
                let (owned, port) = (host.clone(), *port);
                match blocking::defer(Class::Lookup, move || look_up(&owned, port)) {
                    Ok(look_up) => match look_up.await {
                        Some(addresses) => addresses.map(Cow::Owned),
                        None => Err(unresolved(host, "", blocking::shut_down())),
                    },
                    Err(error) => Err(unresolved(host, "", error)),
                }
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Name { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Form::Name { host, port } => write!(f, "{host}:{port}"),
            Form::Addr(addr) => write!(f, "{addr}"),
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
            let expected =
                "; expected an IP address or a name that the resolver of this system knows";
            Err(unresolved(host, expected, error))
        }
    }
}

fn unresolved(host: &str, expected: &str, error: io::Error) -> io::Error {
    with_context(format!("cannot resolve host {host:?}: {error}{expected}"), error)
}

/// Looks a host name up on the blocking pool.
///
/// An address needs no look-up and no thread of the pool. Cancel safe: dropping the future discards the answer; the
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
            fn target(&$self) -> io::Result<Target> {
                $target
            }
        }
    )*};
}

targets! {
    [] SocketAddr, self => addr(*self);
    [] SocketAddrV4, self => addr(*self);
    [] SocketAddrV6, self => addr(*self);
    [] (IpAddr, u16), self => addr(*self);
    [] (Ipv4Addr, u16), self => addr(*self);
    [] (Ipv6Addr, u16), self => addr(*self);
    [] [SocketAddr], self => addrs(self);
    [] Vec<SocketAddr>, self => addrs(&self[..]);
    [const N: usize] [SocketAddr; N], self => addrs(&self[..]);
    [] (&str, u16), self => host(self.0, self.1);
    [] (String, u16), self => host(&self.0, self.1);
    [] str, self => parse(self);
    [] String, self => parse(self);
    [T: ToSocketAddrs + ?Sized] &T, self => (**self).target();
}

fn addr(addr: impl Into<SocketAddr>) -> io::Result<Target> {
    Ok(Target(Form::Addr(addr.into())))
}

fn addrs(addrs: impl Into<Vec<SocketAddr>>) -> io::Result<Target> {
    Ok(Target(Form::Addrs(addrs.into())))
}

/// A host that stands by itself, beside its port.
fn host(text: &str, port: u16) -> io::Result<Target> {
    let bad = |what: &str| {
        let text = format!(
            "invalid host {text:?}: {what}; expected a name or an address such as example.org, \
             127.0.0.1 or ::1"
        );
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    if let Some(what) = wrong_with(text) {
        return Err(bad(what));
    }
    let (name, in_brackets) = bare(text);
    if name.is_empty() {
        return Err(bad("there is no host"));
    }
    if (in_brackets || name.contains(':')) && !is_v6(name) {
        return Err(bad("this is no IPv6 address, and a name has neither colon nor brackets"));
    }
    Ok(Target::new(name, port))
}

fn parse(text: &str) -> io::Result<Target> {
    if let Ok(addr) = text.parse::<SocketAddr>() {
        return self::addr(addr);
    }
    let bad = |what: &str| {
        let text = format!(
            "invalid address {text:?}: {what}; \
             expected HOST:PORT such as example.org:80, 127.0.0.1:80 or [::1]:80"
        );
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    if let Some(what) = wrong_with(text) {
        return Err(bad(what));
    }
    let parts = text.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    let (name, port) = parts.ok_or_else(|| bad("there is no port"))?;
    let (name, in_brackets) = bare(name);
    if !in_brackets && name.contains(':') {
        return Err(bad("an IPv6 address needs brackets"));
    }
    if name.is_empty() {
        return Err(bad("there is no host"));
    }
    if in_brackets && !is_v6(name) {
        return Err(bad("what is in brackets is no IPv6 address"));
    }
    match port.parse() {
        Ok(number) if !port.starts_with('+') => Ok(Target::new(name, number)),
        _ => Err(bad("the port is not a number from 0 to 65535")),
    }
}

/// The host without the brackets of an IPv6 address, and whether it had them.
fn bare(host: &str) -> (&str, bool) {
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    (inside.unwrap_or(host), inside.is_some())
}

/// The fault of a text that should be an address or a host, if it is obvious.
fn wrong_with(text: &str) -> Option<&'static str> {
    if text.contains('/') {
        return Some("this is a URL; give host and port only");
    }
    text.contains(char::is_whitespace).then_some("there is a blank")
}

/// Whether this is an IPv6 address, also one with a network interface, `fe80::1%eth0`: only the
/// resolver knows the number of that.
fn is_v6(name: &str) -> bool {
    let addr = name.split_once('%').map_or(name, |(addr, _)| addr);
    addr.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(addr: impl ToSocketAddrs) -> String {
        match addr.target() {
            Ok(Target(Form::Addr(addr))) => format!("[{addr}]"),
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
        assert_eq!(named(("[::1]", 80)), "[[::1]:80]");
        assert_eq!(named((Ipv4Addr::LOCALHOST, 80)), "[127.0.0.1:80]");
        assert_eq!(named(&[][..]), "[]");
    }

    /// A reference to an address names the address, since a generic caller that keeps its address has only a reference.
    #[test]
    fn references_name_what_they_refer_to() {
        fn by_reference<A: ToSocketAddrs>(addr: A) -> String {
            named(&addr)
        }
        let (v4, v6) = ((Ipv4Addr::LOCALHOST, 80), (Ipv6Addr::LOCALHOST, 80));
        let addr = SocketAddr::from(v4);
        for text in [
            by_reference(addr),
            by_reference(SocketAddrV4::new(v4.0, 80)),
            by_reference(v4),
            by_reference((IpAddr::from(v4.0), 80)),
            by_reference([addr]),
            by_reference(&[addr][..]),
            by_reference(vec![addr]),
            by_reference("127.0.0.1:80"),
            by_reference("127.0.0.1:80".to_owned()),
            by_reference(("127.0.0.1", 80)),
            by_reference(("127.0.0.1".to_owned(), 80)),
        ] {
            assert_eq!(text, "[127.0.0.1:80]");
        }
        for text in [by_reference(v6), by_reference(SocketAddrV6::new(v6.0, 80, 0, 0))] {
            assert_eq!(text, "[[::1]:80]");
        }
    }

    #[test]
    fn names_are_kept() {
        assert_eq!(named("localhost:80"), "localhost:80");
        assert_eq!(named(("localhost", 80)), "localhost:80");
        // The resolver knows the number of the interface.
        assert_eq!(named("[fe80::1%eth0]:80"), "[fe80::1%eth0]:80");
        assert_eq!(named(("[fe80::1%eth0]", 80)), "[fe80::1%eth0]:80");
        assert_eq!(named(("fe80::1%eth0", 80)), "[fe80::1%eth0]:80");
    }

    #[test]
    fn bad_text_says_what_and_what_is_allowed() {
        for (text, what) in [
            ("localhost", "there is no port"),
            ("localhost:http", "the port is not a number from 0 to 65535"),
            ("localhost:+80", "the port is not a number from 0 to 65535"),
            ("localhost:65536", "the port is not a number from 0 to 65535"),
            (":80", "there is no host"),
            ("::1:80", "an IPv6 address needs brackets"),
            ("[::1]", "there is no port"),
            ("[]:80", "there is no host"),
            ("[127.0.0.1]:80", "what is in brackets is no IPv6 address"),
            ("[eth0%::1]:80", "what is in brackets is no IPv6 address"),
            ("[::1]:65536", "the port is not a number from 0 to 65535"),
            ("http://127.0.0.1:80", "this is a URL; give host and port only"),
            ("https://[::1]:80/index", "this is a URL; give host and port only"),
            ("127.0.0.1:80/", "this is a URL; give host and port only"),
            (" 127.0.0.1:80", "there is a blank"),
            ("127.0.0.1:80 ", "there is a blank"),
            ("127.0.0.1: 80", "there is a blank"),
            ("127.0.0.1:80\n", "there is a blank"),
        ] {
            let expected = "expected HOST:PORT such as example.org:80, 127.0.0.1:80 or [::1]:80";
            assert_eq!(named(text), format!("invalid address {text:?}: {what}; {expected}"));
        }
    }

    #[test]
    fn a_bad_host_says_what_and_what_is_allowed() {
        let no_v6 = "this is no IPv6 address, and a name has neither colon nor brackets";
        for (host, what) in [
            ("", "there is no host"),
            ("[]", "there is no host"),
            ("[127.0.0.1]", no_v6),
            ("[localhost]", no_v6),
            ("localhost:80", no_v6),
            ("http://localhost", "this is a URL; give host and port only"),
            ("localhost ", "there is a blank"),
        ] {
            let expected = "expected a name or an address such as example.org, 127.0.0.1 or ::1";
            assert_eq!(named((host, 80)), format!("invalid host {host:?}: {what}; {expected}"));
            assert_eq!(named((host.to_owned(), 80)), named((host, 80)));
        }
    }
}
