//! Tests of the generator, the format, and the files.

mod files;
mod generate;
mod round_trip;
mod support;
