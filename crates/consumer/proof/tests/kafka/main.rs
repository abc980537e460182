//! Kafka as the engine of a consumer, with a real broker.

mod altered;
mod conformance;
mod faults;
mod fetched;
mod group;
mod logs;
mod offsets;
mod support;

colored_engines_proof::suite!(support::Topic);
