//! Cells of numbers, for tests of waits.

use colored::{Color, ColorCell};

/// A cell for each color.
pub fn cells<const N: usize>(colors: [impl Into<Color>; N]) -> [ColorCell<i32>; N] {
    colors.map(|color| ColorCell::new(color, 0))
}

/// The closure of a `when` over two of them: one call suffices to see that it has run.
pub fn add(one: &mut i32, other: &mut i32) {
    (*one, *other) = (*one + 1, *other + 1);
}
