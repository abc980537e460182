//! Several colors at once.

mod rows;
mod several;
mod several_alone;
mod several_end;
