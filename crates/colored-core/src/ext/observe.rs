//! Observation: what lanes, tasks and workers did and do, for programs that ask.

pub(crate) mod inline_call;
pub(crate) mod lane;
