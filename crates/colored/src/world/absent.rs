//! Without the feature `sim` there are no hosts.

use crate::driver::clock::Clock;
use crate::driver::shards::Shards;
use crate::wall::SystemTime;

/// There is none.
#[derive(Debug)]
pub(crate) enum Host {}

impl Host {
    pub(crate) fn clock(&self) -> Clock {
        match *self {}
    }

    pub(crate) fn system_time(&self) -> SystemTime {
        match *self {}
    }

    pub(crate) fn shards(&self) -> Shards {
        match *self {}
    }
}
