//! The promises of the ring and its blocks, and that each test notices a mistake.

mod blocks;
mod patience;
mod resolve;
mod simulated;
mod trees;
mod world;
