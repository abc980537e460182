//! The state of colors: cells and sections, several colors at once, and waits that cannot end.

mod cells;
mod deadlock;
mod when;
