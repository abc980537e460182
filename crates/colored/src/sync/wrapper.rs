//! What all wrappers have in common: the methods of tokio's type, and the way from one to the other.

/// The methods of tokio's type that do not wait are the wrapper's too.
macro_rules! deref {
    ([$($parameters:tt)*] $ours:ty => $theirs:ty) => {
        impl<$($parameters)*> std::ops::Deref for $ours {
            type Target = $theirs;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$($parameters)*> std::ops::DerefMut for $ours {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    };
}

/// Code that has or wants tokio's type converts.
macro_rules! convert {
    ([$($parameters:tt)*] $ours:ty => $theirs:ty) => {
        impl<$($parameters)*> From<$theirs> for $ours {
            fn from(theirs: $theirs) -> Self {
                Self(theirs)
            }
        }

        impl<$($parameters)*> From<$ours> for $theirs {
            fn from(ours: $ours) -> Self {
                ours.0
            }
        }
    };
}

pub(super) use {convert, deref};
