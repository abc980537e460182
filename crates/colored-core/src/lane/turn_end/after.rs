//! The work that a turn leaves: the code that ran the turn names it, `turn_end.rs` does it.

/// The work on a head that has had its turn, once it is out of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane) enum After {
    /// A task that waits.
    End,
    /// A task that is complete.
    Release,
    /// A task that goes on under another lane, which it knows already.
    Hop,
    /// A task that runs again behind the others. It stays in the chain.
    Rotate,
    /// A task that keeps the lane. It stays at the head.
    Keep,
    /// A callback that has run.
    Free,
    /// A callback that has run and owns no reference.
    FreeUncounted,
    /// The node of an inline call: it lives in the lane, which the caller keeps alive.
    Inline,
    /// As `Inline`, when the caller is gone and the node owns a reference.
    InlineCounted,
    /// A claim whose behavior has run.
    Claim,
}
