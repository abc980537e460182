//! The arguments and results of the calls, in XDR.
//!
//! Each call and each reply fits a datagram of 1,200 bytes, which networks of today carry in one piece. A block of 8 KiB,
//! as CFS has it, would be six fragments on an Ethernet: of 5 % of lost packets would come 26 % of lost blocks.

use crate::contact::Contact;
use crate::id::Id;
use rpc::nfs3_types;
use rpc::nfs3_types::xdr_codec::{self, Pack, Unpack, XdrCodec};
use std::io::{Read, Write};

/// The bytes of a value, at most.
pub const MAX_VALUE: usize = 1024;

/// How many successors a node knows. If a fifth of all nodes die at once, the chance that a given node loses all of
/// its successors is 0.2^16.
pub(crate) const SUCCESSORS: usize = 16;

/// How many values one offer names.
pub(crate) const OFFERED: usize = 24;

/// A list whose length the receiver checks before it allocates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row<T, const MAX: usize>(pub(crate) Vec<T>);

/// A value that may be missing. On the wire, a list of at most one.
pub(crate) type Maybe<T> = Row<T, 1>;

impl<T> Maybe<T> {
    pub(crate) fn from_option(value: Option<T>) -> Self {
        Self(value.into_iter().collect())
    }

    pub(crate) fn into_option(mut self) -> Option<T> {
        self.0.pop()
    }
}

impl<T: Pack, const MAX: usize> Pack for Row<T, MAX> {
    fn packed_size(&self) -> usize {
        4 + self.0.iter().map(Pack::packed_size).sum::<usize>()
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        let mut size = length(self.0.len(), MAX)?.pack(out)?;
        for item in &self.0 {
            size += item.pack(out)?;
        }
        Ok(size)
    }
}

impl<T: Unpack, const MAX: usize> Unpack for Row<T, MAX> {
    fn unpack(input: &mut impl Read) -> xdr_codec::Result<(Self, usize)> {
        let (count, mut size) = unpack_length(input, MAX)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let (item, item_size) = T::unpack(input)?;
            items.push(item);
            size += item_size;
        }
        Ok((Self(items), size))
    }
}

/// The bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data(pub(crate) Vec<u8>);

impl Pack for Data {
    fn packed_size(&self) -> usize {
        4 + self.0.len().next_multiple_of(4)
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        let mut size = length(self.0.len(), MAX_VALUE)?.pack(out)?;
        let padding = self.0.len().next_multiple_of(4) - self.0.len();
        out.write_all(&self.0).map_err(xdr_codec::Error::Io)?;
        out.write_all(&[0; 3][..padding]).map_err(xdr_codec::Error::Io)?;
        size += self.0.len() + padding;
        Ok(size)
    }
}

impl Unpack for Data {
    fn unpack(input: &mut impl Read) -> xdr_codec::Result<(Self, usize)> {
        let (length, size) = unpack_length(input, MAX_VALUE)?;
        let mut bytes = vec![0; length.next_multiple_of(4)];
        input.read_exact(&mut bytes).map_err(xdr_codec::Error::Io)?;
        let total = size + bytes.len();
        bytes.truncate(length);
        Ok((Self(bytes), total))
    }
}

fn length(length: usize, max: usize) -> xdr_codec::Result<u32> {
    let is_allowed = length <= max;
    let length = u32::try_from(length).ok().filter(|_| is_allowed);
    length.ok_or(xdr_codec::Error::ObjectTooLarge(max))
}

fn unpack_length(input: &mut impl Read, max: usize) -> xdr_codec::Result<(usize, usize)> {
    let (length, size) = u32::unpack(input)?;
    match usize::try_from(length) {
        Ok(length) if length <= max => Ok((length, size)),
        _ => Err(xdr_codec::Error::ObjectTooLarge(max)),
    }
}

/// A key, to a node of the called process.
#[derive(Clone, Debug, XdrCodec)]
pub(crate) struct KeyCall {
    pub(crate) node: u32,
    pub(crate) key: Id,
}

/// A step of a look-up.
#[derive(Clone, Debug, PartialEq, Eq, XdrCodec)]
pub(crate) struct Step {
    /// The asked node is the predecessor of the key: the contacts are its successors, and the first one owns the key.
    /// Otherwise they are nodes between it and the key, the closest first.
    pub(crate) is_last: bool,
    pub(crate) contacts: Row<Contact, { SUCCESSORS + 1 }>,
}

/// Who are the neighbours of the node? The caller, if there is one, may be its predecessor.
#[derive(Clone, Debug, XdrCodec)]
pub(crate) struct NeighboursCall {
    pub(crate) node: u32,
    pub(crate) caller: Maybe<Contact>,
}

/// The neighbours of a node.
#[derive(Clone, Debug, PartialEq, Eq, XdrCodec)]
pub(crate) struct Neighbours {
    pub(crate) predecessor: Maybe<Contact>,
    pub(crate) successors: Row<Contact, SUCCESSORS>,
}

/// A value, to a node of the called process.
#[derive(Clone, Debug, XdrCodec)]
pub(crate) struct StoreCall {
    pub(crate) node: u32,
    pub(crate) key: Id,
    pub(crate) data: Data,
}

/// A value that the caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, XdrCodec)]
pub(crate) struct Offered {
    pub(crate) key: Id,
    /// The sequence number of a record, and 0 for a block.
    pub(crate) sequence: u64,
}

/// Which of these values does the node lack?
#[derive(Clone, Debug, XdrCodec)]
pub(crate) struct OfferCall {
    pub(crate) node: u32,
    pub(crate) offered: Row<Offered, OFFERED>,
}

/// What a node did with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// The node has the value.
    Kept,
    /// The node has no room.
    Full,
    /// The key is not that of the value.
    Refused,
    /// The node has another record with this sequence number, or with a higher one.
    OutOfDate,
}

impl Pack for Stored {
    fn packed_size(&self) -> usize {
        4
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        (*self as u32).pack(out)
    }
}

impl Unpack for Stored {
    fn unpack(input: &mut impl Read) -> xdr_codec::Result<(Self, usize)> {
        let (number, size) = u32::unpack(input)?;
        let stored = match number {
            0 => Self::Kept,
            1 => Self::Full,
            2 => Self::Refused,
            3 => Self::OutOfDate,
            _ => return Err(xdr_codec::Error::InvalidEnumValue(number)),
        };
        Ok((stored, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddrV4};

    /// Bytes of a call in front of the arguments: xid, kind, version of RPC, program, version, procedure, no credentials.
    const CALL: usize = 6 * 4 + 2 * 8;

    fn pack(value: &impl Pack) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.pack(&mut bytes).unwrap();
        assert_eq!(bytes.len(), value.packed_size());
        bytes
    }

    #[test]
    fn the_largest_messages_fit_a_datagram() {
        let contact = Contact::new(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7000), 3);
        let key = contact.id();
        let store = StoreCall { node: 1, key, data: Data(vec![7; MAX_VALUE]) };
        let offered = Row(vec![Offered { key, sequence: 1 }; OFFERED]);
        let offer = OfferCall { node: 1, offered };
        let step = Step { is_last: true, contacts: Row(vec![contact; SUCCESSORS + 1]) };
        for bytes in [pack(&store), pack(&offer), pack(&step)] {
            assert!(CALL + bytes.len() <= 1200, "{} bytes", CALL + bytes.len());
        }
        assert_eq!(Step::unpack(&mut &pack(&step)[..]).unwrap().0, step);
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_its_items() {
        let mut input: &[u8] = &u32::MAX.to_be_bytes();
        assert!(Data::unpack(&mut input).is_err());
        let mut input: &[u8] = &(OFFERED as u32 + 1).to_be_bytes();
        assert!(Row::<Offered, OFFERED>::unpack(&mut input).is_err());
        assert!(Data(vec![0; MAX_VALUE + 1]).pack(&mut Vec::new()).is_err());
    }
}
