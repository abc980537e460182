//! What a runtime tells of itself.

mod observe;
mod usage;
