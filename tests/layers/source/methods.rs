//! The types that a file declares, the methods that it adds to types, and the methods that it calls.

use super::Source;

/// A function of an `impl` without a trait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Method {
    /// The type, without the path to it.
    pub(crate) of: String,
    pub(crate) name: String,
    /// From where it can be called, as it is written, without spaces; empty if it is private.
    pub(crate) visible: String,
    pub(crate) line: usize,
}

impl Source {
    /// The names of the types that the file declares.
    pub(crate) fn types(&self) -> Vec<&str> {
        self.names_behind(&["struct", "enum", "union"])
    }

    /// The names of all its functions.
    pub(crate) fn functions(&self) -> Vec<&str> {
        self.names_behind(&["fn"])
    }

    fn names_behind(&self, words: &[&str]) -> Vec<&str> {
        let behind = |at: &usize| words.contains(&self.text(*at)) && self.is_name(at + 1);
        (0..self.0.len()).filter(behind).map(|at| self.text(at + 1)).collect()
    }

    /// The methods that it adds to types.
    pub(crate) fn methods(&self) -> Vec<Method> {
        let mut found = Vec::new();
        // As an item, and not as in `-> impl Fn()`.
        let is_item = |at: usize| at == 0 || ["}", ";", "]", "{"].contains(&self.text(at - 1));
        for at in (0..self.0.len()).filter(|at| self.text(*at) == "impl" && is_item(*at)) {
            let generics = self.text(at + 1) == "<";
            let begin = if generics { self.close_generics(at + 1) + 1 } else { at + 1 };
            let Some(open) = (begin..self.0.len()).find(|at| self.text(*at) == "{") else { break };
            // A `for` that no generics follow is that of a trait.
            if (begin..open).any(|at| self.text(at) == "for" && self.text(at + 1) != "<") {
                continue;
            }
            let mut of = begin;
            while self.text(of + 1) == "::" {
                of += 2;
            }
            found.extend(self.methods_between(open, self.close(open), self.text(of)));
        }
        found
    }

    fn methods_between(&self, open: usize, close: usize, of: &str) -> Vec<Method> {
        let (mut found, mut at) = (Vec::new(), open + 1);
        while at < close {
            match self.text(at) {
                "{" => at = self.close(at),
                "fn" => {
                    let (name, visible) = (self.text(at + 1).to_owned(), self.visibility(at));
                    let line = self.0[at].line;
                    found.push(Method { of: of.to_owned(), name, visible, line });
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// What stands before this `fn`: `pub`, `pub(crate)`, or nothing.
    fn visibility(&self, at: usize) -> String {
        let is_before = |at: &usize| ["const", "async", "unsafe"].contains(&self.text(*at));
        let end = (0..at).rev().find(|at| !is_before(at)).unwrap_or(0);
        let begin = match self.text(end) {
            "pub" => end,
            ")" => (0..end).rev().find(|at| self.text(*at) == "pub").unwrap_or(end),
            _ => return String::new(),
        };
        (begin..=end).map(|at| self.text(at)).collect()
    }

    /// The names of the methods that it calls, with the lines, and those that end paths which may be handed on. Loads of atomics,
    /// whose argument is an `Ordering`, are none.
    pub(crate) fn calls(&self) -> Vec<(&str, usize)> {
        let is_call = |at: &usize| {
            let has_types = self.text(at + 2) == "::" && self.text(at + 3) == "<";
            let is_called = self.text(at + 2) == "(" && self.text(at + 3) != "Ordering";
            let is_handed_on = [")", ","].contains(&self.text(at + 2));
            match self.text(*at) {
                "." => self.is_name(at + 1) && (is_called || has_types),
                "::" => self.is_name(at + 1) && (is_called || has_types || is_handed_on),
                _ => false,
            }
        };
        let named = |at: usize| (self.text(at + 1), self.0[at].line);
        (0..self.0.len()).filter(is_call).map(named).collect()
    }
}

#[test]
fn methods_and_calls_are_found() {
    let text = "impl<T: Fn() -> u8> a::Stone<T> where T: for<'a> F<'a> {\n pub(crate) unsafe fn roll(&self) { fn inside() {} }
        pub const fn weigh(&self) {} }
        impl Stone { fn lie(self) -> impl Sized { self.rest(); x.load(Ordering::Relaxed); Self::fall(); x.map(Self::hop).find::<u8>() } pub(in crate::a) fn b() {} }
        impl Drop for Stone { fn drop(&mut self) {} } struct Sand(u8); enum Clay {}";
    let source = Source::parse(text);
    let methods = source.methods();
    let shown: Vec<_> = methods
        .iter()
        .map(|Method { of, name, visible, line }| format!("{of}::{name} {visible} {line}"))
        .collect();
    let expected = [
        "Stone::roll pub(crate) 2",
        "Stone::weigh pub 3",
        "Stone::lie  4",
        "Stone::b pub(incrate::a) 4",
    ];
    assert_eq!(shown, expected);
    let calls: Vec<_> = source.calls().into_iter().map(|(name, _)| name).collect();
    assert_eq!(calls, ["rest", "Relaxed", "fall", "map", "hop", "find", "a"]);
    assert_eq!(source.types(), ["Sand", "Clay"]);
    assert_eq!(source.functions(), ["roll", "inside", "weigh", "lie", "b", "drop"]);
}
