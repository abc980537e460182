//! Without the feature `record`, a node has no tag.

/// Nothing.
#[derive(Debug)]
pub(crate) struct Tag;

impl Tag {
    pub(crate) const fn new() -> Self {
        Self
    }
}
