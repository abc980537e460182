//! Sockets that block their task, and not its thread: the methods of the standard library, over the sockets of
//! [`colored::net`].
//!
//! ```
//! use std::io::{Read, Write};
//!
//! use colored_stackful as stackful;
//! use stackful::net::{TcpListener, TcpStream};
//!
//! # #[colored::main]
//! # async fn main() {
//! let talk = stackful::spawn_unique(|| -> std::io::Result<String> {
//!     let listener = TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     stackful::spawn_unique(move || {
//!         let (mut stream, _) = listener.accept()?;
//!         stream.write_all(b"hello")
//!     });
//!     let mut text = String::new();
//!     TcpStream::connect(address)?.read_to_string(&mut text)?;
//!     Ok(text)
//! });
//! assert_eq!(talk.await.unwrap().unwrap(), "hello");
//! # }
//! ```
//!
//! [`io`](crate::io) tells what an operation costs, and what it does in a destructor. A socket may be used by every stackful
//! task, under any color; several may use one at once, by `&TcpStream` or a clone. For datagrams
//! [wait](crate::wait()) for the methods of [`UdpSocket`](colored::net::UdpSocket).
//!
//! # From and to async sockets
//!
//! `From` takes a socket of [`colored::net`]: a server may accept in a future, and serve in stackful tasks. `get_ref`
//! lends it, for its other methods, and `into_inner` gives it back. `TryFrom` takes a socket of the standard library.
//!
//! # Errors
//!
//! Beside the system's, methods that may wait return an error outside a stackful task.

#[cfg(unix)]
pub use self::listener::UnixListener;
pub use self::listener::{Incoming, TcpListener};
pub use self::tcp::TcpStream;
#[cfg(unix)]
pub use self::unix::UnixStream;

mod listener;
mod stream;
mod tcp;
#[cfg(unix)]
mod unix;
