//! A warning is an event of `tracing`.

use crate::report::Finding;

pub(super) fn tell(finding: &Finding) {
    let Finding { fault, sentence, remedy, evidence, .. } = finding;
    let fault = fault.name();
    tracing::warn!(target: "colored", fault, remedy, ?evidence, "{fault}: {sentence}");
}
