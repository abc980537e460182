//! The promises of the ring and its blocks on sockets, and that each test notices a mistake.

mod blocks;
mod records;
mod resolve;
mod sockets;
mod trees;
mod world;
