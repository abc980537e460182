//! The classes of jobs, by their kind of waiting.

/// A class of jobs. Each has threads of its own, so that no class can keep
/// another one waiting: a slow disk does not delay name lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Closures of `spawn_blocking`.
    Work,
    /// Files whose data is not cached.
    File,
    /// Name lookups.
    Lookup,
    /// Files that are no regular files: pipes, terminals. A read waits for a peer, perhaps for ever.
    Stream,
}

impl Class {
    /// Every class, at the index `class as usize`.
    pub(crate) const ALL: [Class; 4] = [Class::Work, Class::File, Class::Lookup, Class::Stream];

    /// The class in the name of its threads: three letters, for thread names are
    /// short.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Work => "blk",
            Class::File => "fil",
            Class::Lookup => "dns",
            Class::Stream => "str",
        }
    }

    /// The class in a text.
    pub(super) fn title(self) -> &'static str {
        match self {
            Class::Work => "spawn_blocking",
            Class::File => "fs",
            Class::Lookup => "name look-ups",
            Class::Stream => "pipes and terminals",
        }
    }

    /// Whether the end of a runtime waits for a job that runs. A job of a user may have something to finish; a look-up has only its
    /// answer, and the resolver may take half a minute for that. A read of a terminal may never end.
    pub(crate) fn is_waited_for(self) -> bool {
        !matches!(self, Class::Lookup | Class::Stream)
    }

    /// How many threads there are at most, when `work` is the limit that the user
    /// knows: the one for [`Class::Work`]. The others are values out of thin air:
    /// more requests at a time make no disk and no resolver faster.
    pub(crate) fn max_threads(self, work: usize) -> usize {
        match self {
            Class::Work => work,
            Class::File | Class::Stream => work.min(64),
            Class::Lookup => work.min(16),
        }
    }
}
