//! The values of a color, as its lane keeps them.

use std::any::Any;

/// The values of one color, in the order in which they were made.
pub(in crate::lane) struct Locals(pub(in crate::lane) Vec<Entry>);

pub(in crate::lane) struct Entry {
    pub(in crate::lane) key: *const (),
    /// `None` once it is dropped, up to the end of the turn in which all are dropped.
    pub(in crate::lane) value: Option<Value>,
}

/// Boxed, so that it keeps its place while others are made.
pub(in crate::lane) type Value = Box<dyn Any + Send>;
