//! The JSON text of a dump.

use crate::dump::make;
use crate::json::object;
use crate::subject::Subject;

/// The most tasks of a dump: some 5 MB of text.
const MOST: usize = 20_000;

/// A dump, or an error if it would be too large.
pub(super) fn text(subject: &dyn Subject) -> String {
    let dump = make(subject);
    let tasks = dump.tasks().len();
    if tasks > MOST {
        let error = format!(
            "there are {tasks} tasks, and a dump has {MOST} at most here: use `Handle::dump`"
        );
        return object(|all| all.field("error", &error));
    }
    dump.to_json()
}
