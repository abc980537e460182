//! [`RpcError`] and [`Refusal`].

use colored::time::Duration;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Why a call has no result.
#[derive(Clone, Debug)]
pub enum RpcError {
    /// The connection has failed. The call may have been executed.
    Io(Arc<io::Error>),
    /// The connection or the endpoint is closed, by either side, or the runtime shuts down. The call may have been
    /// executed.
    Closed,
    /// No reply has come in time. The call may have been executed.
    TimedOut(Duration),
    /// The encoded call has more bytes than its transport takes. It was not sent.
    TooLong {
        /// The bytes of the call.
        length: usize,
        /// The bytes that the transport takes.
        limit: usize,
    },
    /// The arguments cannot be encoded. The call was not sent.
    NotEncoded,
    /// The reply is not of the expected type. The call has been executed.
    BadReply,
    /// The server has answered that it did not execute the call, or that it failed to.
    Refused(Refusal),
}

/// What a server answers in place of a result, in the words of RFC 5531.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `PROG_UNAVAIL`: the server does not have the program.
    ProgramUnavailable,
    /// `PROG_MISMATCH`: the server has the program in these versions only.
    ProgramMismatch {
        /// The lowest version.
        low: u32,
        /// The highest version.
        high: u32,
    },
    /// `PROC_UNAVAIL`: the program does not have the procedure.
    ProcedureUnavailable,
    /// `GARBAGE_ARGS`: the server cannot decode the arguments.
    GarbageArguments,
    /// `SYSTEM_ERR`: the server failed, for example because its handler panicked, or it is overloaded.
    SystemError,
    /// `RPC_MISMATCH`: the server speaks these versions of RPC only.
    RpcMismatch {
        /// The lowest version.
        low: u32,
        /// The highest version.
        high: u32,
    },
    /// `AUTH_ERROR`, with the `auth_stat` of the RFC: 1 for bad credentials, 5 for too weak ones.
    Auth(u32),
}

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the connection has failed: {error}"),
            Self::Closed => write!(f, "the connection is closed"),
            Self::TimedOut(after) => write!(f, "no reply within {after:?}"),
            Self::TooLong { length, limit } => {
                write!(f, "the call has {length} bytes: the limit is {limit}")
            }
            Self::NotEncoded => write!(f, "the arguments cannot be encoded"),
            Self::BadReply => write!(f, "the reply cannot be decoded"),
            Self::Refused(refusal) => write!(f, "the server has refused the call: {refusal}"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProgramUnavailable => write!(f, "it does not have the program"),
            Self::ProgramMismatch { low, high } => {
                write!(f, "it has versions {low} to {high} of the program")
            }
            Self::ProcedureUnavailable => write!(f, "the program does not have the procedure"),
            Self::GarbageArguments => write!(f, "it cannot decode the arguments"),
            Self::SystemError => write!(f, "it has failed"),
            Self::RpcMismatch { low, high } => write!(f, "it speaks RPC {low} to {high}"),
            Self::Auth(status) => {
                write!(f, "it does not accept the credentials, auth_stat {status}")
            }
        }
    }
}

impl std::error::Error for RpcError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
