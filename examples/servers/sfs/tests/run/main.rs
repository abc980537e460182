//! The server under clients, in one process, in several, and in simulations.

mod altered;
mod full_disk;
mod history;
mod killed;
mod many;
mod processes;
mod register;
mod simulated;
mod threads;
