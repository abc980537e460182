//! JetStream as the engine of a consumer, with a real server.

mod altered;
mod asked;
mod bucket;
mod conformance;
mod faults;
mod group;
mod slow;
mod support;

colored_engines_proof::suite!(support::Topic);
