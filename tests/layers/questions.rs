//! A function whose name asks, `is_`, `has_`, `was_` or `can_`, has an answer: one that changes something has an
//! imperative name.

use super::source::Source;
use super::{assert_none, sources};

const QUESTIONS: [&str; 4] = ["is_", "has_", "was_", "can_"];

fn faults(file: &str, source: &Source) -> Vec<String> {
    let asks = |name: &String| QUESTIONS.iter().any(|start| name.starts_with(start));
    let functions = source.functions_without_result().into_iter();
    let silent = functions.filter(|(name, _)| asks(name));
    silent
        .map(|(name, line)| format!("{file}:{line}: `{name}` asks, and returns nothing"))
        .collect()
}

#[test]
fn a_function_that_asks_returns_an_answer() {
    let files = sources("crates");
    assert_none(files.iter().flat_map(|(file, source)| faults(file, source)).collect());
}

#[test]
fn a_question_without_an_answer_is_found() {
    let text = "trait T { fn is_a(&self); fn has_b(&self) -> bool; fn record_c(&mut self); }
        fn is_d<F: Fn(u64) -> u8>(f: F) where F: Send {} fn can_e() -> bool where u8: Copy { true }
        const fn was_f(g: fn() -> u8) {} #[test]\nfn is_g() {} #[tokio::test]\nasync fn is_h() {}
        #[test]\n#[ignore]\nfn has_i() {}";
    let found = faults("a.rs", &Source::parse(text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(["is_a", "is_d", "was_f"].iter().zip(&found).all(|(name, fault)| fault.contains(name)));
}
