//! The two directions of a Unix connection.

crate::net::halves::halves!(super::stream::UnixStream, std::os::unix::net::SocketAddr);
