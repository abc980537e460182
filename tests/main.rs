//! The tests of the runtime as a whole: one file for each guarantee of `docs/guarantees.md`, and one
//! for each part of the face that spans several.
//!
//! They assert counts and traces. Where a bound is a time, the test runs alone, and the bound must be
//! met by one of a few attempts, whose median may not be far off: a neighbour on the machine can spoil an
//! attempt, a fault of the runtime spoils them all. What counts for the whole process runs in a process of its own.

mod support;

mod g01_exclusion;
mod g02_order;
mod g03_serial;
mod g04_no_leak;
mod g05_exact_colors;
mod g06_work_conservation;
mod g07_bounded_turns;
mod g07_from_outside;
mod g08_destructors;
mod g09_panics;
mod g10_hostage;
mod g11_color_per_poll;

mod admission;
mod admission_answers;
mod bad_input;
mod blocking;
mod bounds;
mod budget;
mod cells;
mod color_local;
mod color_local_end;
mod crossings;
mod deadlock;
mod deadlock_free;
mod dropped;
mod enter_guards;
mod entry;
mod exclusive;
mod exclusive_cells;
mod exclusive_limits;
mod idle;
mod kept;
mod lab;
mod lab_features;
mod local;
mod million;
mod nested;
mod older;
mod outlived;
mod pinned;
mod priorities;
mod read;
mod read_end;
mod room;
mod rows;
mod runtimes;
mod several;
mod several_alone;
mod several_end;
mod shutdown;
mod sleeps;
mod sockets;
mod spawn_pinned;
mod stage;
mod stage_close;
mod stage_end;
mod task_local;
mod tasks;
mod threads;
mod waits_as_errors;
