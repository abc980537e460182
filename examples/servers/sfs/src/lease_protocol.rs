//! The program by which clients get leases, and the one by which the server calls them back, beside NFS on the same
//! connection. A client that does not know them has no cache that the server knows of, and its own rules.

use nfs3_types::nfs3::{Nfs3Result, fattr3, nfs_fh3};
use nfs3_types::xdr_codec::{Void, XdrCodec};

/// The server's program: numbers from 0x20000000 on are for private use.
pub const PROGRAM: u32 = 0x2053_4653;
/// The client's program, which the server calls.
pub const CALL_BACK_PROGRAM: u32 = 0x2053_4654;
/// The version of both.
pub const VERSION: u32 = 1;

/// Says who the client is. The connection is from now on the way back to it.
pub const HELLO: u32 = 1;
/// Takes a lease of a file.
pub const TAKE: u32 = 2;
/// Gives all leases of the client back.
pub const GIVE_ALL_BACK: u32 = 3;
/// Of the client's program: forget a file.
pub const RECALL: u32 = 1;

/// Arguments of [`HELLO`].
#[derive(Debug, XdrCodec)]
pub struct HelloArgs {
    /// A number that the client has chosen, and keeps when it connects again.
    pub client: [u8; 16],
}

/// The answer of [`HELLO`].
#[derive(Debug, XdrCodec)]
pub struct HelloAnswer {
    /// How long a lease is, in milliseconds, from when the server gives it.
    pub lease_ms: u32,
}

/// Arguments of [`TAKE`] and [`RECALL`].
#[derive(Debug, XdrCodec)]
pub struct FileArgs {
    /// The file.
    pub file: nfs_fh3,
}

/// The answer of [`TAKE`], if there is such a file.
#[derive(Debug, XdrCodec)]
pub struct Taken {
    /// Whether the client has a lease now. While the file changes nobody gets one.
    pub is_leased: bool,
    /// The attributes, as they are under the lease.
    pub attributes: fattr3,
}

/// The answer of [`TAKE`].
pub type TakeAnswer = Nfs3Result<Taken, Void>;
