//! ONC RPC (RFC 5531) over TCP and UDP that survives loss.
//!
//! | | |
//! |---|---|
//! | [`service!`], [`Services`] | from (program, version, procedure) to an async function under a color of the program's choice |
//! | [`Connection`], [`Client`] | calls in both directions on one stream: TCP, TLS, a Unix socket |
//! | [`Server`] | connections over TCP |
//! | [`Udp`] | an endpoint that calls and serves over datagrams, and repeats what is lost |
//! | [`relay`] | loses, doubles and reorders datagrams by a seed |
//!
//! Arguments and results are XDR (RFC 4506), by the traits and the derive macro of [`nfs3_types::xdr_codec`]. The macro needs
//! the name `nfs3_types` in its place: `use rpc::nfs3_types;`.
//!
//! ```
//! use colored::Color;
//! use rpc::nfs3_types::xdr_codec::Void;
//! use rpc::{Caller, Procedure, Refusal, Retry, Services, Udp, service};
//!
//! const DOUBLE: Procedure = Procedure::new(0x2000_0001, 1, 1);
//!
//! async fn double(_state: (), _caller: Caller, number: u32) -> Result<u32, Refusal> {
//!     number.checked_mul(2).ok_or(Refusal::GarbageArguments)
//! }
//!
//! #[colored::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Udp::bind("127.0.0.1:0").await?;
//!     server.serve(Services::new().with(service! {
//!         program DOUBLE.program, version DOUBLE.version, state ();
//!         DOUBLE.number => double, under |caller, _| Color::of(caller.peer());
//!     }));
//!     let client = Udp::bind("127.0.0.1:0").await?;
//!     let doubled: u32 = client.call(server.local_addr()?, DOUBLE, &21_u32).await?;
//!     assert_eq!(doubled, 42);
//!     Ok(())
//! }
//! ```

mod answer;
mod auth;
pub mod bank;
mod caller;
mod connection;
mod error;
mod message;
mod mistake;
mod record;
pub mod relay;
mod server;
mod table;
mod udp;
mod xdr;

pub use self::auth::{Auth, UnixAuth};
pub use self::caller::Caller;
pub use self::connection::{Client, Connection, Limits};
pub use self::error::{Refusal, RpcError};
pub use self::message::Procedure;
pub use self::mistake::Mistake;
pub use self::server::Server;
pub use self::table::{Program, Services};
pub use self::udp::{Retry, Udp, UdpCounts, UdpOptions};
pub use self::xdr::{decode, encode};
pub use nfs3_types;
