//! Just enough of Rust: the names in a file, without comments and strings, and the paths they form.

mod functions;

use std::collections::BTreeSet;
use std::fmt;

/// A file, as words and punctuation.
pub(crate) struct Source(Vec<Token>);

#[derive(Clone)]
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
    /// For a path of a `use`: the name that it gives to the item.
    pub(crate) import: Option<Import>,
}

/// What a `use` gives a name to; `*` is all that the path has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) name: String,
    /// Whether other modules may use the name too: `pub use`, `pub(crate) use`.
    pub(crate) is_reexport: bool,
}

/// A name or a path in this file, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// The modules of this file around it.
    pub(crate) inside: Vec<String>,
}

/// The keywords before the name of an item.
const DEFINE: [&str; 9] =
    ["const", "enum", "fn", "macro_rules", "static", "struct", "trait", "type", "union"];

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
        let chars: Vec<char> = text.chars().collect();
        let mut tokens = Vec::new();
        let (mut at, mut line) = (0, 1);
        while at < chars.len() {
            let begin = at;
            at = skip(&chars, at);
            if at == begin {
                let word = chars[at..].iter().take_while(|c| is_word(**c)).count();
                let colons = chars[at..].starts_with(&[':', ':']);
                at += if colons { 2 } else { word.max(1) };
                let text: String = chars[begin..at].iter().collect();
                tokens.push(Token { text, line });
            }
            line += chars[begin..at].iter().filter(|c| **c == '\n').count();
        }
        tokens.retain(|token| !token.text.trim().is_empty());
        Self(tokens)
    }

    /// The line where a word stands first.
    pub(crate) fn first(&self, word: &str) -> Option<usize> {
        self.0.iter().find(|token| token.text == word).map(|token| token.line)
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
                let is_use = begin > 0 && self.text(begin - 1) == "use";
                // The `)` is that of `pub(crate)`.
                let is_reexport =
                    is_use && begin > 1 && ["pub", ")"].contains(&self.text(begin - 2));
                at = self.tree(begin, &mut Vec::new(), &mut |segments, line, name| {
                    let import = Import { name: name.to_owned(), is_reexport };
                    paths.push(UsePath {
                        segments: segments.to_vec(),
                        line,
                        inside: inside.clone(),
                        import: is_use.then_some(import),
                    });
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
        found: &mut impl FnMut(&[String], usize, &str),
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
        let is_renamed = self.text(at) == "as";
        if before.len() > 1 {
            let last = &before[before.len() - 1 - usize::from(before.ends_with(&["self".into()]))];
            found(before, line, if is_renamed { self.text(at + 1) } else { last });
        }
        before.truncate(known);
        if is_renamed { at + 2 } else { at }
    }

    /// The file without the parts that only tests have: what stands behind `#[cfg(test)]` or
    /// `#[cfg(all(test, ..))]`.
    pub(crate) fn without_tests(&self) -> Self {
        let (mut kept, mut at) = (Vec::new(), 0);
        while at < self.0.len() {
            let starts = |words: &[&str]| {
                words.iter().enumerate().all(|(i, word)| self.text(at + i) == *word)
            };
            if starts(&["#", "[", "cfg", "(", "test", ")"])
                || starts(&["#", "[", "cfg", "(", "all", "(", "test", ","])
            {
                at = self.end_of_part(at);
            } else {
                kept.push(self.0[at].clone());
                at += 1;
            }
        }
        Self(kept)
    }

    /// Behind the part of an item, a statement, a field or a list that has these attributes.
    fn end_of_part(&self, mut at: usize) -> usize {
        while self.text(at) == "#" {
            at = self.close(at + 1) + 1;
        }
        if self.text(at) == "pub" {
            at = if self.text(at + 1) == "(" { self.close(at + 1) + 1 } else { at + 1 };
        }
        let is_item = ["unsafe", "async", "extern", "impl", "mod", "use", "let"]
            .iter()
            .chain(&DEFINE)
            .any(|word| self.text(at) == *word);
        let has_value = self.has_value(at);
        while at < self.0.len() {
            match self.text(at) {
                ";" => return at + 1,
                "," if !is_item => return at + 1,
                ")" | "]" | "}" => return at,
                "{" if !has_value => return self.close(at) + 1,
                "(" | "[" | "{" => at = self.close(at),
                _ => {}
            }
            at += 1;
        }
        at
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

    /// The names in the file outside of its `use`s, those behind a dot or a `::` left out.
    pub(crate) fn own_names(&self) -> BTreeSet<&str> {
        let (mut names, mut at) = (BTreeSet::new(), 0);
        while at < self.0.len() {
            if self.text(at) == "use" {
                at = self.end_of_item(at);
            } else if self.is_name(at) && (at == 0 || ![".", "::"].contains(&self.text(at - 1))) {
                names.insert(self.text(at));
            }
            at += 1;
        }
        names
    }

    /// Whether the file has a module of this name in a file of its own.
    pub(crate) fn declares(&self, module: &str) -> bool {
        self.0
            .windows(3)
            .any(|part| part[0].text == "mod" && part[1].text == module && part[2].text == ";")
    }

    /// The modules that stand in this file, the names of the items that are defined in it outside of
    /// functions, and the macros.
    pub(crate) fn definitions(&self) -> Vec<Item> {
        let mut definitions = Vec::new();
        self.items(0, self.0.len(), &mut Vec::new(), &mut |at, inside| {
            // The name stands behind `macro_rules!`, behind `static mut`.
            let name = at + 1 + usize::from(["!", "mut"].contains(&self.text(at + 1)));
            if self.text(at) != "impl" {
                definitions.push(Item {
                    path: vec![self.text(name).to_owned()],
                    line: self.0[name].line,
                    inside: inside.to_vec(),
                });
            }
        });
        definitions
    }

    /// The types of the inherent `impl`s.
    pub(crate) fn inherent_impls(&self) -> Vec<Item> {
        let mut impls = Vec::new();
        self.items(0, self.0.len(), &mut Vec::new(), &mut |at, inside| {
            if self.text(at) != "impl" {
                return;
            }
            let mut begin =
                if self.text(at + 1) == "<" { self.close_generics(at + 1) + 1 } else { at + 1 };
            let mut end = begin;
            while !["", "{", "where", "for"].contains(&self.text(end)) {
                end = if self.text(end) == "<" { self.close_generics(end) + 1 } else { end + 1 };
            }
            while !self.is_name(begin) || self.text(begin) == "dyn" {
                begin += 1;
            }
            // The type of an `impl` in a macro can be the macro's argument.
            if self.text(end) != "for" && self.text(begin - 1) != "$" {
                let mut path = vec![self.text(begin).to_owned()];
                while self.text(begin + 1) == "::" && self.is_name(begin + 2) {
                    begin += 2;
                    path.push(self.text(begin).to_owned());
                }
                impls.push(Item { path, line: self.0[at].line, inside: inside.to_vec() });
            }
        });
        impls
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

    /// Tells where each item outside of functions has its keyword, and the modules around it.
    fn items(
        &self,
        mut at: usize,
        end: usize,
        inside: &mut Vec<String>,
        found: &mut impl FnMut(usize, &[String]),
    ) {
        while at < end {
            let keyword = self.text(at);
            let next = self.text(at + 1);
            if keyword == "#" {
                at = self.close(if next == "!" { at + 2 } else { at + 1 });
            } else if keyword == "mod" && self.text(at + 2) == "{" {
                let close = self.close(at + 2);
                inside.push(next.to_owned());
                self.items(at + 3, close, inside, found);
                inside.pop();
                at = close;
            } else if DEFINE.contains(&keyword) && (self.is_name(at + 1) || next == "!") {
                // The `const` of a `const fn` defines nothing.
                if keyword != "const" || self.has_value(at) {
                    found(at, inside);
                    at = self.end_of_item(at);
                }
            } else if keyword == "impl" {
                found(at, inside);
                at = self.end_of_item(at);
            } else if keyword == "use" {
                at = self.end_of_item(at);
            } else if self.is_name(at) && next == "!" {
                // A macro may hold items, as `thread_local!` does.
                let close = self.close(at + 2);
                self.items(at + 3, close, inside, found);
                at = close;
            }
            at += 1;
        }
    }

    /// Whether an item with this keyword ends with a semicolon, whatever braces it has.
    fn has_value(&self, keyword: usize) -> bool {
        let is_function = ["fn", "unsafe", "async", "extern"].contains(&self.text(keyword + 1));
        match self.text(keyword) {
            "const" => !is_function,
            keyword => ["let", "static", "type", "use"].contains(&keyword),
        }
    }

    /// The last token of the item with this keyword.
    fn end_of_item(&self, begin: usize) -> usize {
        let has_value = self.has_value(begin);
        let mut at = begin;
        while at < self.0.len() && self.text(at) != ";" {
            let is_body = self.text(at) == "{";
            if is_body || ["(", "["].contains(&self.text(at)) {
                at = self.close(at);
                if is_body && !has_value {
                    break;
                }
            }
            at += 1;
        }
        at
    }

    fn text(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |token| &token.text)
    }

    fn is_name(&self, at: usize) -> bool {
        self.text(at).starts_with(|c: char| is_word(c) && !c.is_ascii_digit())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Behind the comment, the string or the character that begins here, if one does.
fn skip(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let starts = |text: &str| text.chars().zip(rest).filter(|(a, b)| a == *b).count() == text.len();
    let quoted = |quote: char, from: usize| {
        let mut end = from;
        while end < rest.len() && rest[end] != quote {
            end += if rest[end] == '\\' { 2 } else { 1 };
        }
        at + (end + 1).min(rest.len())
    };
    if starts("//") {
        return at + rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
    }
    if starts("/*") {
        let close = rest.windows(2).position(|pair| pair == ['*', '/']);
        return at + close.map_or(rest.len(), |close| close + 2);
    }
    if starts("\"") {
        return quoted('"', 1);
    }
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    let after_word = at > 0 && is_word(chars[at - 1]);
    if starts("r") && !after_word && rest.get(1 + hashes) == Some(&'"') {
        let end: Vec<_> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
        let body = 2 + hashes;
        let close = rest[body..].windows(end.len()).position(|part| part == end);
        return at + close.map_or(rest.len(), |close| body + close + end.len());
    }
    // A lifetime has no second quote behind its first letter.
    if starts("'") && (rest.get(1) == Some(&'\\') || rest.get(2) == Some(&'\'')) {
        return quoted('\'', 1);
    }
    at
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

#[test]
fn definitions_and_methods_are_found_and_those_of_tests_are_not() {
    let source = Source::parse(
        r##"
        #![allow(dead_code)] #[derive(Clone)] pub struct A<const N: usize>(fn(u8) -> u8);
        pub(crate) const unsafe fn b() { struct No; } const C: [u8; 2] = { fn no() {} [1, 2] }; static mut D: u8 = 0;
        impl<T: Fn() -> u8, const N: usize> super::a::A<T> where T: for<'a> No<'a> { fn no() {} }
        unsafe impl<T> Send for A<T> {} impl<'a> dyn e::Object + 'a {} impl fmt::Debug for no::No {}
        thread_local! { static F: u8 = 0; } macro_rules! g { ($t:ty) => { impl $t {} struct No; } }
        mod inner { pub trait H: Sized { const NO: u8; } impl I { const fn no() {} } type J = K; }
        #[cfg(test)] pub(crate) const fn no<A, B>() -> u8 { 0 } enum L { #[cfg(test)] No(Vec<u8>), M }
        #[cfg(test)] #[rustfmt::skip] mod tests; #[cfg(all(test, unix))] use no::{No, no}; mod outside;
        "##,
    );
    assert!(source.declares("tests") && source.declares("outside"));
    let source = source.without_tests();
    assert!(!source.declares("tests") && source.declares("outside"));
    assert_eq!(source.first("Vec"), None);
    assert_eq!(source.first("M"), Some(8));
    let texts = |items: Vec<Item>| {
        let text =
            |item: Item| format!("{}{}:{}", item.inside.concat(), item.path.join("::"), item.line);
        items.into_iter().map(text).collect::<Vec<_>>().join(" ")
    };
    let defined = "A:2 b:3 C:3 D:3 F:6 g:6 innerH:7 innerJ:7 L:8";
    assert_eq!(texts(source.definitions()), defined);
    assert_eq!(texts(source.inherent_impls()), "super::a::A:4 e::Object:5 innerI:7");
}

#[test]
fn imports_have_their_names() {
    let source = Source::parse(
        "pub(crate) use a::{b as c, d::{self, self as e}, f::*}; use g::H as _; fn i() { j::k() }",
    );
    let text = |path: UsePath| {
        let import = path.import?;
        Some(format!("{}{}", import.name, if import.is_reexport { "!" } else { "" }))
    };
    let texts: Vec<_> = source.paths().into_iter().filter_map(text).collect();
    assert_eq!(texts, ["c!", "d!", "e!", "*!", "_"]);
    assert_eq!(source.own_names(), BTreeSet::from(["crate", "fn", "i", "j", "pub"]));
}
