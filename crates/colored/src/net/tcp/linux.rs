//! Options that only Linux has.

use std::io;

use socket2::SockRef;

use super::TcpStream;

impl TcpStream {
    /// `TCP_QUICKACK`: whether the system acknowledges received data at once. On Linux and Android only.
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(self.socket()).tcp_quickack()
    }

    /// Sets [`quickack`](TcpStream::quickack). The system goes back to its own choice when it sees fit, so a program that
    /// needs the option sets it again after each read.
    pub fn set_quickack(&self, at_once: bool) -> io::Result<()> {
        SockRef::from(self.socket()).set_tcp_quickack(at_once)
    }
}

#[cfg(test)]
mod tests {
    use crate::net::testing::{pair, run};

    #[test]
    fn acknowledgments_come_at_once_or_when_the_system_wants() {
        run(async {
            let (client, _server) = pair().await;
            for at_once in [false, true, false] {
                client.set_quickack(at_once).unwrap();
                assert_eq!(client.quickack().unwrap(), at_once);
            }
        });
    }
}
