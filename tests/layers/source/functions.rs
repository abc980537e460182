//! The functions of a file: those that take numbers or times, those that return nothing, and how long each is.

use super::Source;

/// Numbers and times. A `u8` is a byte of some text.
const TYPES: [&str; 13] = [
    "Duration", "Instant", "usize", "isize", "u16", "u32", "u64", "u128", "i8", "i16", "i32",
    "i64", "f64",
];

impl Source {
    /// The names of the functions with `pub` that take a number or a time, and their lines. What a closure takes does not
    /// count: the program does not choose it.
    pub(crate) fn functions_of_numbers(&self) -> Vec<(String, usize)> {
        let is_before = |at: usize| ["const", "async", "unsafe"].contains(&self.text(at));
        let mut found = Vec::new();
        for at in (1..self.0.len()).filter(|at| self.text(*at) == "fn") {
            let Some(first) = (0..at).rev().find(|before| !is_before(*before)) else { continue };
            if self.text(first) != "pub" {
                continue;
            }
            let generics = self.text(at + 2) == "<";
            let open = if generics { self.close_generics(at + 2) + 1 } else { at + 2 };
            if self.takes_a_number(open + 1, self.close(open)) {
                found.push((self.text(at + 1).to_owned(), self.0[at].line));
            }
        }
        found
    }

    /// The names of the functions that return nothing, and their lines. Tests do not count: nobody calls them.
    pub(crate) fn functions_without_result(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        // A type such as `fn()` has no name.
        let is_named = |at: &usize| self.text(*at) == "fn" && self.text(at + 1) != "(";
        for at in (0..self.0.len()).filter(is_named) {
            let generics = self.text(at + 2) == "<";
            let open = if generics { self.close_generics(at + 2) + 1 } else { at + 2 };
            let end = self.close(open) + 1;
            let returns = self.text(end) == "-" && self.text(end + 1) == ">";
            if !returns && !self.is_a_test(at) {
                found.push((self.text(at + 1).to_owned(), self.0[at].line));
            }
        }
        found
    }

    /// The functions with a body, and how many lines each has, from its `fn` on.
    pub(crate) fn lengths(&self) -> Vec<(String, usize)> {
        let is_named = |at: &usize| self.text(*at) == "fn" && self.text(at + 1) != "(";
        let length = |at: usize| {
            let mut end = at;
            while !["{", ";", ""].contains(&self.text(end)) {
                end = if ["(", "["].contains(&self.text(end)) {
                    self.close(end) + 1
                } else {
                    end + 1
                };
            }
            let has_body = self.text(end) == "{";
            let lines = |end: usize| self.0[end].line - self.0[at].line + 1;
            has_body.then(|| (self.text(at + 1).to_owned(), lines(self.close(end))))
        };
        (0..self.0.len()).filter(is_named).filter_map(length).collect()
    }

    /// Whether an attribute of the function at this `fn` ends with `test`.
    fn is_a_test(&self, at: usize) -> bool {
        let is_before = |at: &usize| !["{", "}", ";"].contains(&self.text(*at));
        let attributes = (0..at).rev().take_while(is_before);
        attributes
            .into_iter()
            .any(|at| self.text(at) == "test" && ["]", "("].contains(&self.text(at + 1)))
    }

    fn takes_a_number(&self, mut at: usize, end: usize) -> bool {
        while at < end {
            let is_closure = ["Fn", "FnMut", "FnOnce"].contains(&self.text(at));
            if is_closure && self.text(at + 1) == "(" {
                at = self.close(at + 1);
            } else if TYPES.contains(&self.text(at)) {
                return true;
            }
            at += 1;
        }
        false
    }
}

#[test]
fn the_public_functions_of_numbers_are_found() {
    let text = "impl T { pub fn a(self, n: usize) {} pub const fn b<T: Fn(u64) -> u8>(x: &[u8]) {}
        pub async fn c<T>(at: impl Into<Instant>) {} fn d(n: u64) {} pub(crate) fn e(n: u64) {}
        pub fn f(g: impl Fn(usize) + Send) {} pub fn h(x: &mut Range<u64>) {} /* pub fn i(n: u64) */ }";
    let found = Source::parse(text).functions_of_numbers();
    let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["a", "c", "h"]);
}
