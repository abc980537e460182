//! [`Contact`]: where a node is.

use crate::id::Id;
use rpc::nfs3_types::xdr_codec::{self, Pack, Unpack};
use std::fmt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

/// A node: the address of its process, its number there, and its place on the ring, which follows from the two.
///
/// So nobody chooses the place of a node freely, and a contact has 8 bytes in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Contact {
    process: SocketAddrV4,
    number: u16,
    id: Id,
}

impl Contact {
    /// The node of this number, at the process with this address.
    #[must_use]
    pub fn new(process: SocketAddrV4, number: u16) -> Self {
        let (ip, port) = (process.ip().octets(), process.port().to_be_bytes());
        Self { process, number, id: Id::hash(&[&ip, &port, &number.to_be_bytes()]) }
    }

    /// The address of the process.
    #[must_use]
    pub fn process(&self) -> SocketAddrV4 {
        self.process
    }

    /// The number of the node at its process.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The place of the node on the ring.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }
}

impl fmt::Debug for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} at {:?}", self.process, self.number, self.id)
    }
}

impl Pack for Contact {
    fn packed_size(&self) -> usize {
        8
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        let place = u32::from(self.process.port()) << 16 | u32::from(self.number);
        Ok(u32::from(*self.process.ip()).pack(out)? + place.pack(out)?)
    }
}

impl Unpack for Contact {
    fn unpack(input: &mut impl Read) -> xdr_codec::Result<(Self, usize)> {
        let ((ip, a), (place, b)) = (u32::unpack(input)?, u32::unpack(input)?);
        let port = u16::try_from(place >> 16).expect("16 bits are left");
        let number = u16::try_from(place & 0xffff).expect("16 bits are left");
        Ok((Self::new(SocketAddrV4::new(Ipv4Addr::from(ip), port), number), a + b))
    }
}
