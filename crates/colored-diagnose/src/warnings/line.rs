//! A warning is a line on the standard error.

use crate::report::Finding;
use std::io::{self, Write};

pub(super) fn tell(finding: &Finding) {
    let Finding { fault, sentence, evidence, remedy, .. } = finding;
    let evidence = evidence.join("; ");
    // A program without a standard error goes on all the same.
    let _ =
        writeln!(io::stderr(), "colored: {fault}: {sentence} ({evidence}). To mend it: {remedy}");
}
