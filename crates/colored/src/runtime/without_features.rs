//! The methods of features that are not enabled: the compiler refuses a call, and its message names the feature.
//!
//! No type has the traits of the bounds. Without `for<'a>` the compiler would refuse the methods in place of the calls.

/// Nothing has this trait.
#[cfg(not(feature = "tokio-context"))]
#[diagnostic::on_unimplemented(
    message = "tokio's runtime needs the feature `tokio-context` of the package `colored-rt`",
    label = "the feature `tokio-context` is not enabled",
    note = "in `Cargo.toml`: `colored = {{ package = \"colored-rt\", features = [\"tokio-context\"] }}`"
)]
pub trait WithTokio {}

/// Nothing has this trait.
#[cfg(not(feature = "diagnose"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `diagnose` of the package `colored-rt`",
    label = "the feature `diagnose` is not enabled",
    note = "in `Cargo.toml`: `colored = {{ package = \"colored-rt\", features = [\"diagnose\"] }}`"
)]
pub trait WithDiagnose {}

/// Nothing has this trait.
#[cfg(not(feature = "record"))]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `record` of the package `colored-rt`",
    label = "the feature `record` is not enabled",
    note = "in `Cargo.toml`: `colored = {{ package = \"colored-rt\", features = [\"record\"] }}`"
)]
pub trait WithRecord {}

#[cfg(not(feature = "diagnose"))]
mod diagnose {
    use super::WithDiagnose;
    use crate::runtime::{Builder, Handle};
    use std::convert::Infallible;
    use std::future::Ready;
    use std::time::Duration;

    #[doc(hidden)]
    impl Builder {
        pub fn diagnose<T>(self, _options: T) -> Self
        where
            for<'a> Self: WithDiagnose,
        {
            self
        }
    }

    #[doc(hidden)]
    impl Handle {
        pub fn observe(&self, _length: Duration) -> Ready<Infallible>
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }

        pub fn observe_blocking(&self, _length: Duration) -> Infallible
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }

        pub fn usage(&self) -> Infallible
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }

        pub fn dump(&self) -> Infallible
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }

        pub fn trace(&self) -> Infallible
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }
    }
}

#[cfg(not(feature = "record"))]
mod record {
    use super::WithRecord;
    use crate::runtime::Builder;

    #[doc(hidden)]
    impl Builder {
        pub fn record<T>(self, _path: T) -> Self
        where
            for<'a> Self: WithRecord,
        {
            self
        }

        pub fn replay<T>(self, _path: T) -> Self
        where
            for<'a> Self: WithRecord,
        {
            self
        }
    }
}

#[cfg(not(feature = "tokio-context"))]
mod tokio {
    use super::WithTokio;
    use crate::runtime::Builder;

    #[doc(hidden)]
    impl Builder {
        pub fn tokio_context(self, _enters: bool) -> Self
        where
            for<'a> Self: WithTokio,
        {
            self
        }

        pub fn tokio_handle<T>(self, _handle: T) -> Self
        where
            for<'a> Self: WithTokio,
        {
            self
        }
    }
}
