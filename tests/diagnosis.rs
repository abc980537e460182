//! What a runtime tells of itself.

mod usage;
