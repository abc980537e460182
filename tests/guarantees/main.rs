//! One file for each guarantee of `docs/guarantees.md`.

mod g01_exclusion;
mod g02_order;
mod g03_serial;
mod g04_no_leak;
mod g05_exact_colors;
mod g06_work_conservation;
mod g07_bounded_turns;
mod g07_from_outside;
mod g07_taken_again;
mod g08_destructors;
mod g09_panics;
mod g10_hostage;
mod g11_color_per_poll;
