//! [`Unconnected`]: a socket for streams that is neither connected nor listens.

use super::error::{error, wrong_family};
use super::{Listener, Stream};
use crate::world::Host;
use colored_machine::{self as machine, BindOptions, Socket};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A simulated socket.
#[derive(Debug)]
pub(crate) struct Unconnected {
    host: Host,
    is_v6: bool,
    bound: Mutex<Option<Listener>>,
}

impl Unconnected {
    pub(crate) fn new(host: &Host, is_v6: bool) -> Unconnected {
        Unconnected { host: host.clone(), is_v6, bound: Mutex::default() }
    }

    fn bound(&self) -> MutexGuard<'_, Option<Listener>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The errors of Linux, to which an address of IPv4 is too short for IPv6.
    fn check_family(&self, addr: SocketAddr) -> io::Result<()> {
        match self.is_v6 {
            of if of == addr.is_ipv6() => Ok(()),
            true => Err(error(ErrorKind::InvalidInput)),
            false => Err(wrong_family()),
        }
    }
}

impl machine::Unconnected for Unconnected {
    fn bind(&self, to: SocketAddr, options: BindOptions) -> io::Result<()> {
        let mut bound = self.bound();
        if bound.is_some() {
            return Err(error(ErrorKind::InvalidInput));
        }
        self.check_family(to)?;
        *bound = Some(Listener::bind(&self.host, to, options)?);
        Ok(())
    }

    fn local_addr(&self) -> Option<io::Result<SocketAddr>> {
        self.bound().as_ref().map(Listener::local_addr)
    }

    fn connect(self: Box<Self>, to: SocketAddr) -> io::Result<Box<dyn machine::Stream>> {
        self.check_family(to)?;
        let bound = self.bound().take();
        Ok(Box::new(Stream::connect(&self.host, bound, to)?))
    }

    fn listen(
        self: Box<Self>,
        backlog: usize,
        options: BindOptions,
    ) -> io::Result<Box<dyn machine::Listener>> {
        let any: IpAddr = match self.is_v6 {
            true => Ipv6Addr::UNSPECIFIED.into(),
            false => Ipv4Addr::UNSPECIFIED.into(),
        };
        let bound = self.bound().take();
        let listener = match bound {
            Some(bound) => bound,
            None => Listener::bind(&self.host, SocketAddr::new(any, 0), options)?,
        };
        listener.listen(backlog)?;
        Ok(Box::new(listener))
    }
}
