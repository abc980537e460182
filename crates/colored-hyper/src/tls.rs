//! TLS for servers and clients, by rustls, with HTTP/2 or HTTP/1.1 by ALPN. Needs the feature `tls`.
//!
//! A server wraps its listener in a [`Listener`]:
//!
//! ```no_run
//! use colored::net::TcpListener;
//! use colored_hyper::{serve, tls, tower};
//!
//! # async fn example(router: axum::Router) -> std::io::Result<()> {
//! let listener = TcpListener::bind("0.0.0.0:443").await?;
//! let config = tls::server_config("certificates.pem", "key.pem")?;
//! serve(tls::Listener::new(listener, config), tower(router)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`client`] speaks `https` and `http`:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use http_body_util::{BodyExt, Empty};
//!
//! let client = colored_hyper::tls::client::<Empty<&[u8]>>()?;
//! let answer = client.get("https://example.org/".parse()?).await?;
//! println!("{:?}", answer.into_body().collect().await?.to_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! [`ServerConfig`] and [`ClientConfig`] are rustls's own: a program that needs more than the functions here, such as
//! certificates of clients or a certificate that changes while the server runs, makes one itself. The functions here
//! take the cryptography from `ring`, and TLS 1.2 and 1.3.

mod config;
mod connector;
mod handshake;
mod listener;
mod stream;

pub use self::config::{
    client_config, client_config_trusting, server_config, server_config_from_pem,
};
pub use self::connector::{ClientStream, Connector, client};
pub use self::listener::Listener;
pub use self::stream::Stream;
pub use tokio_rustls::rustls::{ClientConfig, ServerConfig};

/// The names of HTTP/2 and HTTP/1.1 in ALPN, in the order of preference.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
