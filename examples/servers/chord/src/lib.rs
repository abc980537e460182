//! Chord and a replicated block store.
