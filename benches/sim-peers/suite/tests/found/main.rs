//! Whether the simulation finds the bugs of the suite, and is silent about their twins.

mod suite;
