//! The demonstration of the library.

fn main() {}
