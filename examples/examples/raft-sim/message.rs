//! What hosts and clients say to each other.

/// A host or a client.
pub(crate) type Address = u64;

/// A number that rises with each election.
pub(crate) type Term = u64;

/// What the log does to the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A new leader commits the entries of earlier terms with one of its own.
    Begin,
    Write(u64),
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) term: Term,
    pub(crate) command: Command,
    /// The client that waits for the answer, and the number of its request.
    pub(crate) request: Option<(Address, u64)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Message {
    RequestVote {
        term: Term,
        length: usize,
        last_term: Term,
    },
    Vote {
        term: Term,
        is_granted: bool,
    },
    /// The entries behind the first `before`, of which the last one has the term `before_term`.
    Append {
        term: Term,
        before: usize,
        before_term: Term,
        entries: Vec<Entry>,
        committed: usize,
    },
    /// The sender's log is the leader's up to this length, or is not known to be beyond.
    Appended {
        term: Term,
        is_same: bool,
        length: usize,
    },
    Request {
        number: u64,
        command: Command,
    },
    Answer {
        number: u64,
        answer: Answer,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Written,
    Value(u64),
    /// This host is not the leader: the command will not be executed.
    Refused,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    pub(crate) from: Address,
    pub(crate) message: Message,
}
