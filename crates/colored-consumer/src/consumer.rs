//! [`Consumer`], and the [`Builder`] that starts one.

mod builder;
mod claimed;
mod commits;
mod context;
#[cfg(feature = "diagnose")]
mod diagnosed;
#[cfg(not(feature = "diagnose"))]
#[path = "consumer/undiagnosed.rs"]
mod diagnosed;
mod driver;
mod failure;
mod figures;
mod lane;
mod options;
mod pauses;
mod rebalance;
mod run;
mod shares;
mod state;
mod work;

pub use self::builder::{Builder, Consumer};
pub use self::context::{Context, color_of};
pub use self::failure::{Cause, ConsumerError, Failure};
pub use self::figures::{FirstUnfinished, Metrics, PartitionMetrics};
pub use self::options::{Broken, DeadLetter, Order, Reset};
