//! `colored-top` against runtimes in this process.
#![cfg(unix)]

mod content;
mod load;
mod printed;
mod tmux;
