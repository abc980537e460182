//! Points at which a simulation sees, and may interrupt, what a thread does to the lanes of other colors.
//!
//! A thread acts on another color by pushing a node on its lane, or by taking the lane at once. With the feature `sim`, a
//! thread may have a function that is called before and after each such act ([`on_points`]). The
//! function may block the thread while other threads go on, as the system may do at any time: no lock of the core is held
//! there. Without the feature there is nothing, and the compiler leaves the calls out.

#[cfg(not(feature = "sim"))]
#[path = "points/absent.rs"]
mod kind;
#[cfg(feature = "sim")]
#[path = "points/present.rs"]
mod kind;

pub(crate) use self::kind::at_site;
#[cfg(feature = "sim")]
pub(crate) use self::kind::exchange_site;
pub(crate) use self::kind::{Act, Acts};
#[cfg(feature = "sim")]
pub use self::kind::{Moment, Point, on_points};
