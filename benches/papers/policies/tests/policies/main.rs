//! The papers' schedulers, and the guarantees, with what is built on colors, under their policies.

mod combinations;
mod flat;
mod lab_features;
mod queues;
