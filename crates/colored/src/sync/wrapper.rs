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

/// What tokio's type prints and clones, whatever the values are: a derive would ask the same of them.
macro_rules! debug {
    ([$($parameters:tt)*] $ours:ty) => {
        impl<$($parameters)*> std::fmt::Debug for $ours {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// See [`debug`].
macro_rules! clone {
    ([$($parameters:tt)*] $ours:ident<T>) => {
        impl<$($parameters)*> Clone for $ours<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }
    };
}

pub(super) use {clone, convert, debug, deref};
