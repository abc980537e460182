//! ONC RPC over TCP and UDP that survives loss.
