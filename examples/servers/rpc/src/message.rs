//! The messages of RFC 5531: calls and replies.

use crate::auth::{Auth, append_null};
use crate::error::{Refusal, RpcError};
use crate::xdr::{Words, append, append_word};
use nfs3_types::xdr_codec::Pack;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;

/// What a call names: a procedure of a version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Procedure {
    /// The number of the program. Those from 0x20000000 to 0x3fffffff are for everybody's use.
    pub program: u32,
    /// The version of the program.
    pub version: u32,
    /// The number of the procedure. Number 0 takes and returns nothing.
    pub number: u32,
}

impl Procedure {
    /// The procedure with these numbers.
    #[must_use]
    pub const fn new(program: u32, version: u32, number: u32) -> Self {
        Self { program, version, number }
    }
}

/// A message that has come.
pub(crate) enum Message<'a> {
    Call { xid: u32, call: Result<Call<'a>, Refusal> },
    Reply { xid: u32, result: Result<&'a [u8], RpcError> },
}

/// A call that has come.
pub(crate) struct Call<'a> {
    pub(crate) procedure: Procedure,
    pub(crate) auth: Auth,
    pub(crate) args: &'a [u8],
}

impl<'a> Message<'a> {
    /// The message of these bytes; `None` if they are none, so that nobody can be answered.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut words = Words(bytes);
        let xid = words.word()?;
        match words.word()? {
            CALL => Some(Self::Call { xid, call: parse_call(words)? }),
            REPLY => Some(Self::Reply { xid, result: parse_reply(words)? }),
            _ => None,
        }
    }
}

fn parse_call(mut words: Words<'_>) -> Option<Result<Call<'_>, Refusal>> {
    if words.word()? != RPC_VERSION {
        return Some(Err(Refusal::RpcMismatch { low: RPC_VERSION, high: RPC_VERSION }));
    }
    let procedure = Procedure::new(words.word()?, words.word()?, words.word()?);
    Some(match Auth::parse(&mut words)? {
        Ok(auth) => Ok(Call { procedure, auth, args: words.0 }),
        Err(status) => Err(Refusal::Auth(status)),
    })
}

fn parse_reply(mut words: Words<'_>) -> Option<Result<&[u8], RpcError>> {
    let is_denied = match words.word()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    if !is_denied {
        let _verifier = (words.word()?, words.opaque()?);
    }
    let refusal = match (is_denied, words.word()?) {
        (false, 0) => return Some(Ok(words.0)),
        (false, 1) => Refusal::ProgramUnavailable,
        (false, 2) => Refusal::ProgramMismatch { low: words.word()?, high: words.word()? },
        (false, 3) => Refusal::ProcedureUnavailable,
        (false, 4) => Refusal::GarbageArguments,
        (false, 5) => Refusal::SystemError,
        (true, 0) => Refusal::RpcMismatch { low: words.word()?, high: words.word()? },
        (true, 1) => Refusal::Auth(words.word()?),
        _ => return None,
    };
    Some(Err(refusal.into()))
}

/// Appends a call.
pub(crate) fn append_call<A: Pack>(
    bytes: &mut Vec<u8>,
    procedure: Procedure,
    auth: &Auth,
    args: &A,
) -> Result<(), RpcError> {
    // `set_xid` writes the first word.
    for word in [0, CALL, RPC_VERSION, procedure.program, procedure.version, procedure.number] {
        append_word(bytes, word);
    }
    auth.append(bytes);
    append(bytes, args)
}

/// Writes the number of a call whose message begins at `start`.
pub(crate) fn set_xid(bytes: &mut [u8], start: usize, xid: u32) {
    bytes[start..start + 4].copy_from_slice(&xid.to_be_bytes());
}

/// Appends the reply to a call that has this result.
pub(crate) fn append_result<R: Pack>(
    bytes: &mut Vec<u8>,
    xid: u32,
    result: Result<R, Refusal>,
) -> Result<(), RpcError> {
    match result {
        Ok(result) => {
            append_accepted(bytes, xid, 0);
            append(bytes, &result)
        }
        Err(refusal) => {
            append_refusal(bytes, xid, refusal);
            Ok(())
        }
    }
}

/// Appends the reply to a call that is refused.
pub(crate) fn append_refusal(bytes: &mut Vec<u8>, xid: u32, refusal: Refusal) {
    match refusal {
        Refusal::ProgramUnavailable => append_accepted(bytes, xid, 1),
        Refusal::ProgramMismatch { low, high } => {
            append_accepted(bytes, xid, 2);
            append_word(bytes, low);
            append_word(bytes, high);
        }
        Refusal::ProcedureUnavailable => append_accepted(bytes, xid, 3),
        Refusal::GarbageArguments => append_accepted(bytes, xid, 4),
        Refusal::SystemError => append_accepted(bytes, xid, 5),
        Refusal::RpcMismatch { low, high } => append_denied(bytes, xid, &[0, low, high]),
        Refusal::Auth(status) => append_denied(bytes, xid, &[1, status]),
    }
}

fn append_accepted(bytes: &mut Vec<u8>, xid: u32, status: u32) {
    for word in [xid, REPLY, 0] {
        append_word(bytes, word);
    }
    append_null(bytes);
    append_word(bytes, status);
}

fn append_denied(bytes: &mut Vec<u8>, xid: u32, words: &[u32]) {
    for word in [xid, REPLY, 1].iter().chain(words) {
        append_word(bytes, *word);
    }
}
