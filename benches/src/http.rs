//! HTTP servers as child processes, and the load that drives them.
//!
//! The figure is the CPU time of the server's process per request. Requests per second would also
//! measure the load generator, which shares the cores.
//!
//! Servers and connections of every rival stay open for some samples; one is loaded at a time.

pub mod child;
pub mod file;
mod floor;
pub mod idle;
pub mod load;
pub mod low_rate;
pub mod numbered;
pub mod paced;
pub mod rows;
pub mod server;
pub mod stability;
pub mod wire;
pub mod wrk;

use std::io;

/// The answer of every server at `/`, which every client checks.
pub const BODY: &[u8] = b"Hello, World!";

/// The file of the servers with a runtime, at `/file`: a kibibyte.
pub const FILE: &[u8] = &[b'f'; 1_024];

/// Lets this process open as many files as the system allows: thousands of connections.
///
/// # Errors
///
/// If the system refuses to raise the soft limit to the hard one.
pub fn raise_open_files() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
