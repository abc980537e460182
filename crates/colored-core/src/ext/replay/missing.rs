//! What a replay names when nothing goes on: what the record has next, and nothing brings.

use super::book::Book;
use super::early::Next;

/// So much is named of what is missing.
const MOST_NAMED: usize = 8;

impl Book {
    /// Stops the replay if nothing runs and something is missing; returns what it waits for if blocking calls may bring that.
    pub(super) fn report_missing(&self, is_alone: bool) -> Option<String> {
        let replay = self.replay()?;
        if !self.is_open() || !self.is_quiet() {
            return None;
        }
        let calls: Vec<_> = replay.calls.lock().values().copied().collect();
        let calls = calls.iter().take(MOST_NAMED);
        let mut waits: Vec<_> =
            calls.map(|site| format!("a blocking call made at {site} has not returned")).collect();
        let has_calls = !waits.is_empty();
        waits.extend(self.find_missing(is_alone)?);
        if has_calls {
            return Some(waits.join("; "));
        }
        if waits.is_empty() && is_alone {
            waits.push("the recorded run has ended here, and this one waits".to_owned());
        }
        if !waits.is_empty() {
            let text = waits.join("; ");
            self.stop(&format!("this is not the recorded run. Nothing goes on: {text}"));
        }
        None
    }

    /// Names what the record has next and nothing brings; `None` if a thread outside may bring it.
    fn find_missing(&self, is_alone: bool) -> Option<Vec<String>> {
        let mut missing = Vec::new();
        for color in self.all() {
            let next = color.next();
            if let Next::Missing { is_outside: true, .. } = next
                && !is_alone
            {
                return None;
            }
            if let Next::Missing { text, .. } | Next::Over { text } | Next::Blocked { text } = next
            {
                missing.push(text);
            }
        }
        missing.sort();
        missing.truncate(MOST_NAMED);
        Some(missing)
    }
}
