//! What the programs that measure have in common: plots, and where and when figures were taken.

pub mod chart;
pub mod machine;
