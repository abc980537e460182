//! Every combination of the laboratory's options.

mod combinations;
mod lab_features;
