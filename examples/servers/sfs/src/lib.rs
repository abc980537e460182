//! An encrypting file server: NFS version 3 over TLS 1.3, with names that certify themselves and with leases, and a client
//! with a cache. Its page is `README.md`.

mod attributes;
mod cipher;
pub mod client;
pub mod coloring;
pub mod demo;
pub mod door;
mod files;
pub mod keys;
pub mod lease_protocol;
mod leases;
mod mount;
mod name;
mod nfs;
pub mod nodes;
mod open_files;
mod palette;
mod recall;
pub mod refused;
mod replies;
pub mod root;
mod serial;
pub mod serve;
mod services;
pub mod settings;
pub mod tls;
mod tree;
pub mod users;
mod visit;
