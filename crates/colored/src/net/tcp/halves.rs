//! The two directions of a TCP connection.

crate::net::halves::halves!(super::TcpStream, std::net::SocketAddr);
