//! The promises of the ring and its blocks in simulated time, and that each test notices a mistake. Cargo runs this program after
//! the one with sockets, which has the machine for itself meanwhile.

mod faults;
mod in_time;
mod patience;
mod world;
