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

#[cfg(not(feature = "diagnose"))]
mod diagnose {
    use super::WithDiagnose;
    use crate::runtime::{Builder, Handle};
    use std::convert::Infallible;
    use std::future::Ready;

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
        pub fn observe<T>(&self, _length: T) -> Ready<Infallible>
        where
            for<'a> Self: WithDiagnose,
        {
            unreachable!("nobody can call it")
        }

        pub fn observe_blocking<T>(&self, _length: T) -> Infallible
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
