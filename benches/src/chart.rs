//! Plots as SVG, drawn here: axes, lines and bars, and nothing else.
//!
//! The drawings have no background, and colors that can be read on a light page and on a dark one.
//! Series differ by the shape of their marks too.

mod axis;
mod bars;
mod lines;
mod svg;

pub use axis::{Axis, Scale, number};
pub use bars::Bars;
pub use lines::{Chart, Series};
