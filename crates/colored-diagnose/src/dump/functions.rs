//! [`FunctionOf`]: the function that a stack counts for.

use super::Frame;

/// Functions of these crates count for their callers: the standard library, and the layers over the system's calls.
const THIN: [&str; 10] = [
    "alloc",
    "compiler_builtins",
    "core",
    "hashbrown",
    "libc",
    "linux_raw_sys",
    "mio",
    "rustix",
    "socket2",
    "std",
];

/// What calls tasks.
const RUNTIME: [&str; 2] = ["colored", "colored_core"];

/// The function that a stack counts for, as [`FunctionUsage`](crate::usage::FunctionUsage) says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FunctionOf {
    pub(super) crate_name: String,
    pub(super) function: String,
    pub(super) caller: Option<String>,
}

impl FunctionOf {
    /// Of a stack whose innermost frame comes first. Reads no more frames than it needs.
    pub(super) fn stack<'f>(frames: impl Iterator<Item = &'f Frame>) -> Self {
        let mut named = frames.filter_map(|frame| {
            let function = frame.function.as_deref()?;
            let of = crate_of(function).filter(|of| !THIN.contains(of))?;
            Some((of, function, frame))
        });
        let Some((of, function, _)) = named.next() else { return Self::default() };
        let caller = named.find(|(caller, ..)| *caller != of);
        let caller = caller.filter(|(caller, ..)| !RUNTIME.contains(caller));
        Self {
            crate_name: of.to_owned(),
            function: short(function),
            caller: caller.map(|(_, function, frame)| called(function, frame)),
        }
    }
}

/// The crate of a function as its name says it: of `<a::B as c::D>::e` it is `a`, and of `<T as c::D>::e` it is `c`. None for a
/// function that is not Rust's.
fn crate_of(function: &str) -> Option<&str> {
    let (own, of_trait) = self_and_trait(function);
    crate_of_path(own).or_else(|| crate_of_path(of_trait?))
}

/// The first name of a path, behind the signs of references and the like; none if no path follows.
fn crate_of_path(path: &str) -> Option<&str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_sign = |letter| !is_of_name(letter);
    let mut path = path.trim_start_matches(is_sign);
    for word in ["mut ", "const ", "dyn "] {
        path = path.trim_start_matches(word).trim_start_matches(is_sign);
    }
    let (first, _) = path.split_once("::")?;
    first.chars().all(is_of_name).then_some(first)
}

/// `a::B` and `c::D` of `<a::B as c::D>::e`; the whole name if it has no trait.
fn self_and_trait(function: &str) -> (&str, Option<&str>) {
    let mut depth = 0;
    for (place, letter) in function.char_indices().take_while(|_| function.starts_with('<')) {
        match letter {
            '<' => depth += 1,
            '>' if !function[..place].ends_with('-') => depth -= 1,
            ' ' if depth == 1 && function[place..].starts_with(" as ") => {
                return (&function[1..place], Some(&function[place + 4..]));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    (function, None)
}

/// The name without closures, which are parts of a function, and without the trait: `a::B::e` for `<a::B as c::D>::e`.
fn short(function: &str) -> String {
    let mut name = function;
    while let Some((outer, last)) = name.rsplit_once("::") {
        if !last.starts_with("{closure") && !last.starts_with("{{closure") {
            break;
        }
        name = outer;
    }
    match (self_and_trait(name), name.rsplit_once(">::")) {
        ((own, Some(_)), Some((_, method))) if crate_of(own).is_some() && !own.contains(' ') => {
            format!("{}::{method}", own.trim_start_matches('<'))
        }
        _ => name.to_owned(),
    }
}

/// The caller and, as far as is known, where it calls: the file from the directory of its package on.
fn called(function: &str, frame: &Frame) -> String {
    let Some((file, line)) = &frame.place else { return short(function) };
    let package = file.rfind("/src/").and_then(|end| file[..end].rfind('/'));
    let file = package.map_or(file.as_str(), |begin| &file[begin + 1..]);
    format!("{} ({file}:{line})", short(function))
}

#[cfg(test)]
mod tests {
    use super::{Frame, FunctionOf, crate_of, short};

    fn frame(function: &str, place: Option<(&str, u32)>) -> Frame {
        let place = place.map(|(file, line)| (file.to_owned(), line));
        Frame { address: 1, function: Some(function.to_owned()), place }
    }

    fn of(functions: &[&str]) -> FunctionOf {
        let frames: Vec<_> = functions.iter().map(|function| frame(function, None)).collect();
        FunctionOf::stack(frames.iter())
    }

    fn function(crate_name: &str, function: &str, caller: Option<&str>) -> FunctionOf {
        let caller = caller.map(str::to_owned);
        FunctionOf { crate_name: crate_name.into(), function: function.into(), caller }
    }

    #[test]
    fn a_name_tells_its_crate() {
        for (name, expected) in [
            ("orion::hazardous::stream::chacha20::round", Some("orion")),
            ("<orion::mac::Poly1305 as core::ops::Drop>::drop", Some("orion")),
            ("<&mut orion::mac::Poly1305 as core::fmt::Debug>::fmt", Some("orion")),
            ("<&mut [shop::Item] as core::fmt::Debug>::fmt", Some("shop")),
            ("<T as core::convert::Into<U>>::into", Some("core")),
            ("<F as rpc::table::Handler<A>>::call", Some("rpc")),
            ("<<shop::A as shop::B>::C as core::future::Future>::poll", Some("shop")),
            ("<shop::Map<core::iter::A as core::iter::B> as core::fmt::Debug>::fmt", Some("shop")),
            ("<dyn shop::Price as core::fmt::Debug>::fmt", Some("shop")),
            ("core::ptr::drop_in_place<shop::Item>", Some("core")),
            ("memcpy", None),
            ("ring_core_0_17_14__chacha20_poly1305_seal", None),
            ("", None),
        ] {
            assert_eq!(crate_of(name), expected, "{name}");
        }
    }

    #[test]
    fn a_short_name_has_neither_closures_nor_traits() {
        for (name, expected) in [
            ("shop::price", "shop::price"),
            ("shop::price::{{closure}}::{{closure}}", "shop::price"),
            ("shop::price::{closure#0}", "shop::price"),
            ("<shop::Item as shop::Sum<u8>>::sum", "shop::Item::sum"),
            ("<shop::Item as shop::Sum>::sum::{{closure}}", "shop::Item::sum"),
            ("<T as shop::Sum>::sum", "<T as shop::Sum>::sum"),
            ("<shop::Item>::sum", "<shop::Item>::sum"),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }

    #[test]
    fn a_copy_counts_for_the_function_that_copies() {
        let stack = [
            "memcpy",
            "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
            "orion::chacha20::round",
            "orion::aead::seal",
            "core::ops::function::FnOnce::call_once",
            "<sfs_bench::Cipher as rustls::MessageEncrypter>::encrypt",
            "rustls::conn::send",
        ];
        let caller = Some("sfs_bench::Cipher::encrypt");
        assert_eq!(of(&stack), function("orion", "orion::chacha20::round", caller));
    }

    #[test]
    fn what_the_runtime_calls_has_no_caller() {
        let stack =
            ["shop::price", "shop::main::{{closure}}", "colored_core::task::poll", "std::rt::x"];
        assert_eq!(of(&stack), function("shop", "shop::price", None));
        assert_eq!(of(&stack[..1]), function("shop", "shop::price", None));
        // A call of the runtime's own counts for it.
        let stack = ["send", "rustix::net::send", "colored::net::write", "shop::main::{{closure}}"];
        assert_eq!(of(&stack), function("colored", "colored::net::write", Some("shop::main")));
    }

    #[test]
    fn a_stack_without_names_counts_for_nothing() {
        assert_eq!(of(&["memcpy", "std::rt::lang_start"]), FunctionOf::default());
        let unknown = Frame { address: 7, function: None, place: None };
        assert_eq!(FunctionOf::stack([&unknown, &unknown].into_iter()), FunctionOf::default());
    }

    #[test]
    fn a_caller_has_the_place_of_the_call() {
        let file = "/home/user/orders/shop/src/cart/sum.rs";
        let frames = [frame("tax::rate", None), frame("shop::sum::{{closure}}", Some((file, 12)))];
        let caller = FunctionOf::stack(frames.iter()).caller;
        assert_eq!(caller.as_deref(), Some("shop::sum (shop/src/cart/sum.rs:12)"));
        let frames = [frame("tax::rate", None), frame("shop::main", Some(("main.rs", 3)))];
        let caller = FunctionOf::stack(frames.iter()).caller;
        assert_eq!(caller.as_deref(), Some("shop::main (main.rs:3)"));
    }
}
