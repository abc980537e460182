//! [`Mistake`]: what is wrong with a server on purpose.

use crate::error::Refusal;
use nfs3_types::xdr_codec::Void;

/// A mistake that tests plant in a server: each must make a test fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A connection allocates a whole fragment when its header has come.
    BelievesHeaders,
    /// A connection stays open, and reads no more, when its stream has an error or bytes that are no message.
    KeepsBrokenConnections,
    /// An endpoint for datagrams closes when one comes that is no message.
    ClosesOnGarbage,
    /// A call of an unknown program has the reply to an unknown procedure.
    ConfusesPrograms,
    /// A call of an unknown version has the reply to an unknown program.
    ForgetsVersions,
    /// Each unknown procedure is there, and does nothing.
    AnswersEachProcedure,
    /// A call with wrong arguments has the reply of a server that has failed.
    FailsOnWrongArguments,
}

impl Mistake {
    /// The reply of such a server to a call that is to be refused.
    pub(crate) fn reply(self, refusal: Refusal) -> Result<Void, Refusal> {
        match (self, refusal) {
            (Self::ConfusesPrograms, Refusal::ProgramUnavailable) => {
                Err(Refusal::ProcedureUnavailable)
            }
            (Self::ForgetsVersions, Refusal::ProgramMismatch { .. }) => {
                Err(Refusal::ProgramUnavailable)
            }
            (Self::AnswersEachProcedure, Refusal::ProcedureUnavailable) => Ok(Void),
            (Self::FailsOnWrongArguments, Refusal::GarbageArguments) => Err(Refusal::SystemError),
            _ => Err(refusal),
        }
    }
}
