//! The server under clients, in one process, in several, and in simulations.

mod altered;
mod history;
mod many;
mod processes;
mod register;
mod simulated;
mod threads;
