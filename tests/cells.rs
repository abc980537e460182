//! One color's state: cells, sections, readers, values of a color, pinned cells.

mod access;
mod color_local;
mod color_local_end;
mod exclusive;
mod exclusive_cells;
mod exclusive_limits;
mod pinned;
mod read;
mod read_end;
