//! The hint for a program whose runtime has no tokio runtime beside it.

use std::any::Any;
use std::sync::Once;

/// What tokio panics with where its runtime is missing.
const TOKIOS: &str = "there is no reactor running";

const HINT: &str = "colored: a library looks for tokio's runtime, and there is none beside this one: enable the feature \
                    `tokio-context` of `colored-rt`, and leave out the option `tokio = false` and \
                    `Builder::tokio_context(false)`";

/// Prints how to get tokio's runtime, once in a process, if the payload of a panic says that it is missing.
pub(crate) fn explain(payload: &(dyn Any + Send)) {
    static SAID: Once = Once::new();
    if is_meant(payload) {
        SAID.call_once(|| eprintln!("{HINT}"));
    }
}

fn is_meant(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.is_some_and(|text| text.contains(TOKIOS))
}

#[cfg(test)]
mod tests {
    use super::{TOKIOS, is_meant};

    #[test]
    fn only_tokios_text_is_meant() {
        assert!(is_meant(&TOKIOS));
        assert!(is_meant(&format!(
            "{TOKIOS}, must be called from the context of a Tokio 1.x runtime"
        )));
        assert!(!is_meant(&"there is no room"));
        assert!(!is_meant(&7));
    }
}
