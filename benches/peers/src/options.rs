//! The command line.

use colored_benches::measure::Mode;

/// What this process shall do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Measure all rows that match, each in a child process.
    All,
    /// Measure nothing, and write the page.
    Page,
    /// Measure this row here.
    Row(String),
    /// Serve HTTP in this way.
    Serve(String),
    /// Fill memory in this way, and print how much.
    Memory(String),
}

/// The options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) task: Task,
    filters: Vec<String>,
}

impl Options {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { mode: Mode::Full, task: Task::All, filters: Vec::new() };
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument.as_str(), ""));
            match name {
                "--quick" => options.mode = Mode::Quick,
                "--smoke" => options.mode = Mode::Smoke,
                "--full" => options.mode = Mode::Full,
                "--page" => options.task = Task::Page,
                "--row" => options.task = Task::Row(value.to_owned()),
                "--serve" => options.task = Task::Serve(value.to_owned()),
                "--memory" => options.task = Task::Memory(value.to_owned()),
                name if name.starts_with('-') => {
                    return Err(format!("{name:?} is neither --quick, --full, --smoke nor --page"));
                }
                filter => options.filters.push(filter.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether the row called `name` shall run.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str()))
    }
}

/// The flag that sets this mode.
pub(crate) const fn flag(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "--full",
        Mode::Quick => "--quick",
        Mode::Smoke => "--smoke",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(arguments.iter().copied().map(String::from))
    }

    #[test]
    fn a_row_runs_if_its_name_contains_any_filter() {
        let given = options(&["--quick", "http", "post"]).expect("well-formed");
        assert_eq!((given.mode, &given.task), (Mode::Quick, &Task::All));
        assert!(given.matches("http_64") && given.matches("post_memory"));
        assert!(!given.matches("call"));
        assert!(options(&[]).expect("well-formed").matches("call"));
    }

    #[test]
    fn an_unknown_option_names_itself() {
        assert!(options(&["--quik"]).unwrap_err().contains("--quik"));
    }
}
