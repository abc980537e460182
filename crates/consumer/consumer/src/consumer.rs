//! [`Consumer`], and the [`Builder`] that starts one.

mod builder;
mod calls;
mod caught_up;
mod claimed;
mod clock;
mod commits;
mod contain;
mod context;
#[cfg(feature = "diagnose")]
mod diagnosed;
#[cfg(not(feature = "diagnose"))]
#[path = "consumer/undiagnosed.rs"]
mod diagnosed;
mod driver;
mod exposition;
mod failure;
mod figures;
mod kept;
mod key_hash;
mod lane;
mod line;
mod options;
mod pauses;
mod permits;
mod place;
mod rate;
mod rebalance;
mod reports;
mod run;
mod seek;
mod shared;
mod shares;
mod starts;
mod state;
mod survey;
mod table;
mod trouble;
mod waiting;
mod work;

pub use self::builder::{Builder, Consumer};
pub use self::context::{Context, color_of};
pub use self::failure::{Cause, ConsumerError, Failure};
pub use self::figures::{FirstUnfinished, Metrics, PartitionMetrics};
pub use self::options::{Broken, DeadLetter, Order, Reset};
pub use self::seek::Place;
pub use self::survey::{KeySurvey, PartitionSurvey, Survey};
