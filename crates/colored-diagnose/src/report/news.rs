//! [`News`]: which findings are worth a warning, from one observation to the next.

use super::{Fault, Finding, Report};
use std::collections::BTreeMap;
use std::time::Duration;

/// Two warnings of one kind are at least so far apart.
const PAUSE: Duration = Duration::from_secs(60);

/// A fault that comes and goes is not told each time: it is over when so many observations in a row have not found it.
const OVER: u32 = 2;

/// What has been told.
#[derive(Debug, Default)]
pub(crate) struct News {
    told: BTreeMap<Fault, Told>,
}

#[derive(Debug)]
struct Told {
    at: Duration,
    /// Whether the fault is not over.
    is_on: bool,
    /// The number of observations in a row that have not found it.
    missed: u32,
}

impl News {
    /// The findings that are new at this time, which only grows.
    pub(crate) fn of<'a>(&mut self, report: &'a Report, now: Duration) -> Vec<&'a Finding> {
        for (fault, told) in &mut self.told {
            let is_found = report.findings.iter().any(|finding| finding.fault == *fault);
            told.missed = if is_found { 0 } else { told.missed + 1 };
            told.is_on &= told.missed < OVER;
        }
        report.findings.iter().filter(|finding| self.note(finding.fault, now)).collect()
    }

    fn note(&mut self, fault: Fault, now: Duration) -> bool {
        if self.told.get(&fault).is_some_and(|told| told.is_on || now - told.at < PAUSE) {
            return false;
        }
        self.told.insert(fault, Told { at: now, is_on: true, missed: 0 });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fault, Finding, Report};
    use super::News;
    use std::time::Duration;

    fn told(news: &mut News, seconds: u64, faults: &[Fault]) -> Vec<Fault> {
        let mut report = Report::of(&[]);
        let finding = |fault: &Fault| Finding::new(*fault, 1.0, String::new());
        report.findings = faults.iter().map(finding).collect();
        news.of(&report, Duration::from_secs(seconds)).iter().map(|finding| finding.fault).collect()
    }

    #[test]
    fn a_fault_is_told_when_it_comes_and_again_after_it_was_over() {
        let mut news = News::default();
        let (hot, long) = (Fault::HotColor, Fault::LongPoll);
        assert_eq!(told(&mut news, 0, &[hot]), [hot]);
        assert_eq!(told(&mut news, 100, &[hot, long]), [long]);
        assert_eq!(told(&mut news, 200, &[]), []);
        assert_eq!(told(&mut news, 300, &[hot]), [], "it was missed once");
        assert_eq!(told(&mut news, 400, &[]), []);
        assert_eq!(told(&mut news, 500, &[long]), [long], "it was over");
        assert_eq!(told(&mut news, 600, &[hot, long]), [hot], "it was over");
    }

    #[test]
    fn one_kind_is_told_once_a_minute_at_most() {
        let mut news = News::default();
        let hot = Fault::HotColor;
        assert_eq!(told(&mut news, 0, &[hot]), [hot]);
        told(&mut news, 10, &[]);
        told(&mut news, 20, &[]);
        assert_eq!(told(&mut news, 30, &[hot]), []);
        assert_eq!(told(&mut news, 59, &[hot]), []);
        assert_eq!(told(&mut news, 60, &[hot]), [hot]);
    }
}
