//! Without the feature `diagnose` its methods are not there: the compiler's message names the feature.

use super::{Builder, Handle};
use std::future::Ready;

/// What has the feature `diagnose`. Nothing has it: the bound is not met where a method of the feature is called.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this method needs the feature `diagnose` of `colored-rt`",
    label = "the feature `diagnose` is off",
    note = "in Cargo.toml: `colored = {{ package = \"colored-rt\", .., features = [\"diagnose\"] }}`"
)]
pub trait HasDiagnose {}

macro_rules! needs_the_feature {
    ($($type:ty: $($name:ident($($argument:ident)?) -> $output:ty;)*)*) => {$(
        // The lifetime keeps the compiler from looking at the bound here.
        impl $type {$(
            #[doc(hidden)]
            pub fn $name<'a>(&'a self $(, $argument: impl Sized)?) -> $output
            where
                &'a Self: HasDiagnose,
            {
                $(drop($argument);)?
                unreachable!("nothing has the feature")
            }
        )*}
    )*};
}

needs_the_feature! {
    Handle:
        observe(length) -> Ready<String>;
        observe_blocking(length) -> String;
        usage() -> String;
        trace_level() -> String;
        set_trace_level(level) -> String;
        trace() -> String;
        freeze() -> bool;
        frozen() -> Option<String>;
        dump() -> String;
    Builder:
        diagnose(options) -> Builder;
}
