//! A host as the machine of a runtime: its clock, its names and its sockets.

use super::Host;
#[cfg(unix)]
use super::network::Listener;
use super::network::{Datagrams, Stream, Unconnected, address};
use colored_machine::{self as machine, Files, Machine};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
#[cfg(unix)]
use std::os::unix::net::SocketAddr as UnixAddr;
use std::time::{Instant, SystemTime};

impl Machine for Host {
    fn name(&self) -> &str {
        &self.world.names[self.number]
    }

    fn origin(&self) -> Instant {
        self.world.origin
    }

    fn now(&self) -> u64 {
        self.world.now()
    }

    fn system_time(&self) -> SystemTime {
        self.time_of_day()
    }

    fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if name.contains('\0') {
            let text = format!("cannot resolve host {name:?}: a name has no zero byte");
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let ip = match (name, self.world.number_of(name)) {
            (_, Some(host)) => address::v4(host),
            ("localhost", None) => Ipv4Addr::LOCALHOST.into(),
            _ => {
                let hosts = self.world.names().join(", ");
                let text = format!(
                    "cannot resolve host {name:?}: the hosts of this simulation are {hosts}"
                );
                return Err(io::Error::new(ErrorKind::NotFound, text));
            }
        };
        Ok(vec![SocketAddr::new(ip, port)])
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn machine::Stream>> {
        Ok(Box::new(Stream::connect(self, None, to)?))
    }

    fn socket(&self, is_v6: bool) -> Box<dyn machine::Unconnected> {
        Box::new(Unconnected::new(self, is_v6))
    }

    fn bind_datagrams(&self, to: SocketAddr) -> io::Result<Box<dyn machine::Datagrams>> {
        Ok(Box::new(Datagrams::bind(self, to)?))
    }

    #[cfg(unix)]
    fn connect_unix(&self, to: &UnixAddr) -> io::Result<Box<dyn machine::Stream>> {
        Ok(Box::new(Stream::connect_unix(self, to)?))
    }

    #[cfg(unix)]
    fn bind_unix(&self, to: &UnixAddr) -> io::Result<Box<dyn machine::Listener>> {
        Ok(Box::new(Listener::bind_unix(self, to)?))
    }

    #[cfg(unix)]
    fn unix_pair(&self) -> [Box<dyn machine::Stream>; 2] {
        let (one, other) = Stream::unix_pair(self);
        [Box::new(one), Box::new(other)]
    }

    fn files(&self) -> &dyn Files {
        self
    }
}
