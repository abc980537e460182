//! Tests of the generator, the format, the files, the player, and the two programs.

mod files;
mod generate;
mod play;
mod programs;
mod round_trip;
mod specweb;
mod support;
