//! An encrypting file server with leases.
