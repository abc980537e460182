//! Names of servers and files that certify themselves.

use crate::keys::KeyHash;
use std::fmt;
use std::str::FromStr;

/// A file of a server: `HOST:PORT:HASH/PATH`, where `HASH` is of the server's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host and port.
    pub address: String,
    /// The key of the server; none for a server without TLS, whose name is `HOST:PORT/PATH`.
    pub key: Option<KeyHash>,
    /// The path from the served directory on, with `/` first.
    pub path: String,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (server, path) = text.split_at(text.find('/').unwrap_or(text.len()));
        let parts: Vec<&str> = server.split(':').collect();
        let (host, port, key) = match parts[..] {
            [host, port] => (host, port, None),
            [host, port, key] => (host, port, Some(key.parse()?)),
            _ => return Err(format!("{text:?} is not HOST:PORT:HASH/PATH")),
        };
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(format!("{text:?} is not HOST:PORT:HASH/PATH"));
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Target { address: format!("{host}:{port}"), key, path: path.to_owned() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)?;
        if let Some(key) = self.key {
            write!(f, ":{key}")?;
        }
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_host_port_hash_and_path() {
        let hash = "0123456789abcdef".repeat(4);
        let text = format!("127.0.0.1:2050:{hash}/a/b");
        let target: Target = text.parse().unwrap();
        assert_eq!((target.address.as_str(), target.path.as_str()), ("127.0.0.1:2050", "/a/b"));
        assert_eq!(target.key.unwrap().to_string(), hash);
        assert_eq!(target.to_string(), text);
        assert_eq!("localhost:1".parse::<Target>().unwrap().path, "/");
        for text in ["", "localhost", "localhost:x/a", ":1/", "localhost:1:ab/a", "a:1:2:3/"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
