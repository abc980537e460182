//! The classes of jobs, by their kind of waiting.

/// A class of jobs. Each has threads of its own, so that no class can keep
/// another one waiting: a slow disk does not delay name lookups, and what may wait
/// for ever delays only its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Closures of `spawn_blocking`.
    Work,
    /// Files whose data is not cached, and everything else that a disk answers.
    File,
    /// Name lookups.
    Lookup,
    /// Reads of files that a process serves (FUSE), which may have nothing for a long time.
    Served,
    /// Devices, and files that the system makes, of which the system says that they are ready.
    Ready,
    /// Files that are no regular files and that the reactor does not watch: some pipes, terminals, devices. An operation
    /// waits for a peer, perhaps for ever.
    Stream,
    /// Openings of named pipes for reading, which wait for a writer.
    OpenReader,
    /// Openings of named pipes for writing, which wait for a reader: that may be an opening of this program.
    OpenWriter,
    /// Reads of the standard input.
    Input,
    /// Writes to the standard output.
    Output,
    /// Writes to the standard error.
    Errors,
}

impl Class {
    /// Every class, at the index `class as usize`.
    pub(crate) const ALL: [Class; 11] = [
        Class::Work,
        Class::File,
        Class::Lookup,
        Class::Served,
        Class::Ready,
        Class::Stream,
        Class::OpenReader,
        Class::OpenWriter,
        Class::Input,
        Class::Output,
        Class::Errors,
    ];

    /// The class in the name of its threads: three letters, for thread names are
    /// short.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Work => "blk",
            Class::File => "fil",
            Class::Lookup => "dns",
            Class::Served => "fus",
            Class::Ready => "dev",
            Class::Stream => "str",
            Class::OpenReader => "opr",
            Class::OpenWriter => "opw",
            Class::Input => "in",
            Class::Output => "out",
            Class::Errors => "err",
        }
    }

    /// The class in a text.
    pub(super) fn title(self) -> &'static str {
        match self {
            Class::Work => "spawn_blocking",
            Class::File => "fs",
            Class::Lookup => "name look-ups",
            Class::Served => "files of FUSE",
            Class::Ready => "devices",
            Class::Stream => "pipes and terminals",
            Class::OpenReader | Class::OpenWriter => "openings of pipes",
            Class::Input => "standard input",
            Class::Output => "standard output",
            Class::Errors => "standard error",
        }
    }

    /// Whether the end of a runtime waits for a job that runs. A job of a user may have something to finish; a look-up has only its
    /// answer, and the resolver may take half a minute for that. A read of a terminal may never end.
    pub(crate) fn is_waited_for(self) -> bool {
        matches!(self, Class::Work | Class::File)
    }

    /// Whether a job may wait for somebody who acts when it likes, perhaps never.
    pub(super) fn waits_for_a_peer(self) -> bool {
        match self {
            Class::Work | Class::File | Class::Lookup | Class::Served | Class::Ready => false,
            Class::Stream | Class::OpenReader | Class::OpenWriter => true,
            Class::Input | Class::Output | Class::Errors => true,
        }
    }

    /// How many threads there are at most, when `work` is the limit that the user
    /// knows: the one for [`Class::Work`]. The others are values out of thin air:
    /// more requests at a time make no disk and no resolver faster. Of a standard
    /// stream one operation runs at a time, whatever the number.
    pub(crate) fn max_threads(self, work: usize) -> usize {
        match self {
            Class::Work => work,
            Class::File | Class::Served | Class::Ready => work.min(64),
            Class::Stream | Class::OpenReader | Class::OpenWriter => work.min(64),
            Class::Lookup => work.min(16),
            Class::Input | Class::Output | Class::Errors => work.min(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_at_its_index() {
        for (index, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, index);
            assert!(class.max_threads(1) == 1, "{class:?}");
        }
    }
}
