//! The values of a color, as its lane keeps them.

use std::any::Any;

/// The values of one color, in the order in which they were made.
pub(crate) struct Locals(pub(crate) Vec<Entry>);

pub(crate) struct Entry {
    pub(crate) key: *const (),
    /// `None` once it is dropped, up to the end of the turn in which all are dropped.
    pub(crate) value: Option<Value>,
}

/// Boxed, so that it keeps its place while others are made.
pub(crate) type Value = Box<dyn Any + Send>;
