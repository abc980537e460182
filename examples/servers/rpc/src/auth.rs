//! [`Auth`]: who calls.

use crate::xdr::{Words, append_opaque, append_word};

/// The most bytes of credentials, by the RFC.
const MOST_BYTES: usize = 400;

/// The most bytes of the name of a machine, and the most groups, by the RFC.
const MOST_NAME: usize = 255;
const MOST_GROUPS: usize = 16;

/// The credentials of a call. A server must not trust them: whoever calls writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Auth {
    /// `AUTH_NONE`.
    #[default]
    None,
    /// `AUTH_SYS`, also called `AUTH_UNIX`.
    Unix(UnixAuth),
    /// Another flavor, with its bytes, at most 400.
    Other {
        /// The number of the flavor.
        flavor: u32,
        /// Its bytes.
        body: Vec<u8>,
    },
}

/// The user that a call is made for, as the caller says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UnixAuth {
    /// Any number.
    pub stamp: u32,
    /// The name of the caller's machine, at most 255 bytes.
    pub machine: Vec<u8>,
    /// The user.
    pub uid: u32,
    /// The user's group.
    pub gid: u32,
    /// Further groups, at most 16.
    pub gids: Vec<u32>,
}

impl Auth {
    /// Appends the credentials and the verifier of a call.
    ///
    /// # Panics
    ///
    /// If a part is longer than the RFC permits.
    pub(crate) fn append(&self, bytes: &mut Vec<u8>) {
        let (flavor, body) = match self {
            Self::None => (0, Vec::new()),
            Self::Unix(unix) => (1, unix.encode()),
            Self::Other { flavor, body } => (*flavor, body.clone()),
        };
        assert!(
            body.len() <= MOST_BYTES,
            "{} bytes of credentials: at most {MOST_BYTES}",
            body.len()
        );
        append_word(bytes, flavor);
        append_opaque(bytes, &body);
        append_null(bytes);
    }

    /// The credentials in front of `words`; `Err` with the `auth_stat`, if they are wrong; `None` if there are none.
    pub(crate) fn parse(words: &mut Words<'_>) -> Option<Result<Self, u32>> {
        let flavor = words.word()?;
        let body = words.opaque()?;
        let _verifier = (words.word()?, words.opaque()?);
        const BAD_CREDENTIALS: u32 = 1;
        if body.len() > MOST_BYTES {
            return Some(Err(BAD_CREDENTIALS));
        }
        Some(match flavor {
            0 => Ok(Self::None),
            1 => UnixAuth::parse(body).map(Self::Unix).ok_or(BAD_CREDENTIALS),
            _ => Ok(Self::Other { flavor, body: body.to_vec() }),
        })
    }
}

impl UnixAuth {
    fn encode(&self) -> Vec<u8> {
        let (name, groups) = (self.machine.len(), self.gids.len());
        assert!(name <= MOST_NAME, "the name of the machine has {name} bytes: at most {MOST_NAME}");
        assert!(groups <= MOST_GROUPS, "{groups} groups: at most {MOST_GROUPS}");
        let mut bytes = Vec::with_capacity(MOST_BYTES);
        append_word(&mut bytes, self.stamp);
        append_opaque(&mut bytes, &self.machine);
        append_word(&mut bytes, self.uid);
        append_word(&mut bytes, self.gid);
        append_word(&mut bytes, groups as u32);
        self.gids.iter().for_each(|group| append_word(&mut bytes, *group));
        bytes
    }

    fn parse(body: &[u8]) -> Option<Self> {
        let mut words = Words(body);
        let stamp = words.word()?;
        let machine = words.opaque()?.to_vec();
        let (uid, gid) = (words.word()?, words.word()?);
        let groups = words.word()? as usize;
        if machine.len() > MOST_NAME || groups > MOST_GROUPS {
            return None;
        }
        let gids = (0..groups).map(|_| words.word()).collect::<Option<_>>()?;
        Some(Self { stamp, machine, uid, gid, gids })
    }
}

/// Appends the verifier of flavor `AUTH_NONE`.
pub(crate) fn append_null(bytes: &mut Vec<u8>) {
    append_word(bytes, 0);
    append_word(bytes, 0);
}
