//! How many runs of a search are made at once.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::thread::available_parallelism;

/// The most.
const MOST: usize = 1024;

/// The number of runs that are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Jobs(pub(super) NonZeroUsize);

impl Jobs {
    /// One for each core that this process may use.
    pub(super) fn of_cores() -> Self {
        Self(available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

/// A text that is no number of jobs.
#[derive(Debug)]
pub(super) struct JobsError;

impl fmt::Display for JobsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "allowed are 1 to {MOST} runs at once; without, there is one for each core")
    }
}

impl FromStr for Jobs {
    type Err = JobsError;

    fn from_str(text: &str) -> Result<Self, JobsError> {
        let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST);
        jobs.map(Self).ok_or(JobsError)
    }
}

#[cfg(test)]
mod tests {
    use super::Jobs;

    #[test]
    fn a_number_of_jobs_is_checked() {
        assert_eq!("4".parse::<Jobs>().unwrap().0.get(), 4);
        for text in ["", "0", "-1", "1025", "two", "1.5"] {
            let error = text.parse::<Jobs>().unwrap_err().to_string();
            assert!(error.starts_with("allowed are 1 to 1024"), "{text}: {error}");
        }
    }
}
