//! Plots as SVG, drawn by this module: only axes, lines and bars.
//!
//! The drawings have no background, and colors that are legible on light and on dark pages. Series
//! differ by the shape of their marks too.

mod axis;
mod bars;
mod lines;
mod svg;

pub use axis::{Axis, Scale, number};
pub use bars::Bars;
pub use lines::{Chart, Series};
