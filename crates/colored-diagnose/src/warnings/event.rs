//! A warning is an event of `tracing`.

use crate::report::Finding;

pub(super) fn tell(finding: &Finding) {
    let Finding { fault, sentence, remedy, evidence, site, .. } = finding;
    let (fault, site) = (fault.name(), site.map(tracing::field::display));
    tracing::warn!(target: "colored", fault, site, remedy, ?evidence, "{fault}: {sentence}");
}
