//! [`Builder::diagnose`].

use super::options::Options;
use crate::runtime::Builder;

/// # Diagnosis
impl Builder {
    /// How the runtime observes itself, and what it tells; with the feature `diagnose`. A second call replaces the first.
    /// Default: [`Options::new`].
    pub fn diagnose(mut self, options: Options) -> Self {
        self.diagnose = options;
        self
    }
}
