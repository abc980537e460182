//! Observation: what lanes, tasks and workers did and do, for programs that ask.

pub(crate) mod account;
pub(crate) mod charge;
pub(crate) mod figures;
pub(crate) mod guest_slice;
pub(crate) mod inline_call;
pub(crate) mod lane;
pub(crate) mod long_poll;
pub(crate) mod profile;
pub(crate) mod slice;
pub(crate) mod times;
