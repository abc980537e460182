//! Functions with arguments and generic parameters.

use std::rc::Rc;

#[colored::main]
async fn owned(name: String) -> std::io::Result<usize> {
    Ok(name.len())
}

#[colored::main(workers = 2)]
async fn borrowed<'a>(name: &'a str, (first, _): (usize, Rc<u8>), mut more: u8) -> &'a str {
    more += 1;
    std::future::ready(()).await;
    &name[first + usize::from(more)..]
}

#[colored::main]
async fn generic<T: Default + PartialEq, const N: usize>(values: [T; N]) -> bool
where
    T: Clone,
{
    values.iter().all(|value| *value == T::default())
}

#[colored::main]
async fn hidden(value: impl Into<u64>, other: &impl ToString) -> String {
    format!("{} {}", value.into(), other.to_string())
}

#[colored::main(local = false)]
async fn on_a_worker(name: String) -> usize {
    name.len()
}

#[test]
fn arguments_are_handed_on() {
    assert_eq!(owned("x".into()).unwrap(), 1);
    assert_eq!(borrowed("abcd", (1, Rc::new(0)), 1), "d");
    assert!(generic([0, 0]) && !generic([1]));
    assert_eq!(hidden(4_u32, &"x"), "4 x");
    assert_eq!(on_a_worker("x".into()), 1);
}
