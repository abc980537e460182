//! The names in a file, without comments and literals, and the paths they form. `proc_macro2` reads the file.

mod functions;
mod methods;

pub(crate) use self::methods::Method;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::fmt;

/// A file, as words and punctuation.
pub(crate) struct Source(Vec<Token>);

struct Token {
    text: String,
    line: usize,
}

/// A path of at least two segments, such as `super::lane::Slice`, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsePath {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// The modules of this file around it.
    pub(crate) inside: Vec<String>,
    /// Whether a `use` names it.
    pub(crate) is_import: bool,
    /// Whether that `use` is visible elsewhere.
    pub(crate) is_reexport: bool,
    /// The name that the `use` gives it.
    pub(crate) alias: Option<String>,
}

impl UsePath {
    /// Whether the path begins with this one.
    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        let mut segments = self.segments.iter();
        prefix.split("::").all(|part| segments.next().is_some_and(|segment| segment == part))
    }
}

impl fmt::Display for UsePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("::"))
    }
}

impl Source {
    pub(crate) fn parse(text: &str) -> Self {
        let tokens = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        let mut source = Self(Vec::new());
        source.add(tokens);
        source
    }

    /// Adds what is no literal; `::` is one word. A comment for the documentation becomes an attribute, its text a literal.
    fn add(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Literal(_) => {}
                TokenTree::Ident(name) => self.push(&name, name.span()),
                TokenTree::Punct(sign) if sign.as_char() == ':' && is_colon(tokens.peek()) => {
                    tokens.next();
                    self.push(&"::", sign.span());
                }
                TokenTree::Punct(sign) => self.push(&sign, sign.span()),
                TokenTree::Group(group) => {
                    let [open, close] = match group.delimiter() {
                        Delimiter::Parenthesis => ["(", ")"],
                        Delimiter::Brace => ["{", "}"],
                        Delimiter::Bracket => ["[", "]"],
                        Delimiter::None => unreachable!("only macros make these"),
                    };
                    self.push(&open, group.span_open());
                    self.add(group.stream());
                    self.push(&close, group.span_close());
                }
            }
        }
    }

    fn push(&mut self, text: &impl ToString, span: Span) {
        self.0.push(Token { text: text.to_string(), line: span.start().line });
    }

    /// The line where a word stands first.
    pub(crate) fn first(&self, word: &str) -> Option<usize> {
        self.0.iter().find(|token| token.text == word).map(|token| token.line)
    }

    /// How many blocks are `unsafe`.
    pub(crate) fn unsafe_blocks(&self) -> usize {
        self.0.windows(2).filter(|pair| pair[0].text == "unsafe" && pair[1].text == "{").count()
    }

    /// Every path, with `use` trees expanded.
    pub(crate) fn paths(&self) -> Vec<UsePath> {
        let (mut paths, mut at) = (Vec::new(), 0);
        // Modules of this file that are open, with the depth of braces outside them.
        let (mut open, mut depth) = (Vec::<(String, usize)>::new(), 0);
        while at < self.0.len() {
            let begin = at;
            match self.text(at) {
                "mod" if self.text(at + 2) == "{" => {
                    open.push((self.text(at + 1).to_owned(), depth))
                }
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    open.pop_if(|(_, outside)| *outside == depth);
                }
                _ => {}
            }
            at += 1;
            if self.is_name(begin) && self.text(begin + 1) == "::" {
                let inside: Vec<_> = open.iter().map(|(name, _)| name.clone()).collect();
                let is_import = begin > 0 && self.text(begin - 1) == "use";
                // As in `pub use` and `pub(crate) use`.
                let before = begin.checked_sub(2).map_or("", |at| self.text(at));
                let is_reexport = is_import && ["pub", ")"].contains(&before);
                at = self.tree(begin, &mut Vec::new(), &mut |segments, line, alias| {
                    let (segments, inside) = (segments.to_vec(), inside.clone());
                    let alias = alias.map(str::to_owned);
                    paths.push(UsePath { segments, line, inside, is_import, is_reexport, alias });
                });
            }
        }
        paths
    }

    /// Follows one tree from a name on; gives what comes after it.
    fn tree(
        &self,
        mut at: usize,
        before: &mut Vec<String>,
        found: &mut impl FnMut(&[String], usize, Option<&str>),
    ) -> usize {
        let (known, line) = (before.len(), self.0[at].line);
        loop {
            before.push(self.text(at).to_owned());
            at += 1;
            if self.text(at) != "::" {
                break;
            }
            match self.text(at + 1) {
                "{" => {
                    at += 2;
                    while at < self.0.len() && self.text(at) != "}" {
                        let is_tree = self.is_name(at) || self.text(at) == "*";
                        at = if is_tree { self.tree(at, before, found) } else { at + 1 };
                    }
                    before.truncate(known);
                    return at + 1;
                }
                _ if self.is_name(at + 1) || self.text(at + 1) == "*" => at += 1,
                // Such as the generics of a call.
                _ => break,
            }
        }
        let alias = (self.text(at) == "as").then(|| self.text(at + 1));
        if before.len() > 1 {
            found(before, line, alias);
        }
        before.truncate(known);
        if alias.is_some() { at + 2 } else { at }
    }

    /// Where the bracket closes that opens here.
    fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.0.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.0.len()
    }

    fn close_generics(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.0.len() {
            match self.text(at) {
                "<" => depth += 1,
                // No arrow of a function.
                ">" if self.text(at - 1) != "-" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.0.len()
    }

    fn text(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |token| &token.text)
    }

    fn is_name(&self, at: usize) -> bool {
        self.text(at).starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(sign)) if sign.as_char() == ':')
}

#[test]
fn paths_are_found_and_comments_and_strings_are_not() {
    let source = Source::parse(
        r##"
        //! [`crate::above`]
        use std::{fmt, io::{self, Read as _}};
        pub(crate) use self::a::*;
        /* use crate::no::A; */
        fn f<'a>(x: &'a str) -> crate::b::C { let _ = ('"', '\'', "crate::no::B \" ", r#"crate::no::"C"#); super::d::<u8>() }
        mod tests { use super::e::F; fn g() { std::mem::drop(1) } }
        use crate::h::I;
        "##,
    );
    let seen: Vec<_> = source
        .paths()
        .into_iter()
        .map(|path| format!("{}{path}:{}", path.inside.concat(), path.line))
        .collect();
    let expected = [
        "std::fmt:3",
        "std::io::self:3",
        "std::io::Read:3",
        "self::a::*:4",
        "crate::b::C:6",
        "super::d:6",
        "testssuper::e::F:7",
        "testsstd::mem::drop:7",
        "crate::h::I:8",
    ];
    assert_eq!(seen, expected);
    assert_eq!(source.first("mod"), Some(7));
    assert_eq!(source.first("no"), None);
}
