//! Every function that returns a future says what happens if that future is dropped.

use std::collections::BTreeSet;

/// A handle of a task that goes on without it, and a half of a channel: their types document that.
const DOCUMENTED: [&str; 2] = ["JoinHandle", "Receiver"];

/// The types of a file that are futures.
pub(crate) fn futures(text: &str) -> BTreeSet<&str> {
    let names = text.split(" Future for ").skip(1).filter_map(|rest| rest.split(is_no_name).next());
    names.filter(|name| !DOCUMENTED.contains(name)).collect()
}

/// The public functions of a file that return a future, and do not say "cancel" in their documentation.
/// Then how many return one.
pub(crate) fn faults(file: &str, text: &str, futures: &BTreeSet<&str>) -> (Vec<String>, usize) {
    let (mut silent, mut count) = (Vec::new(), 0);
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        let is_public = ["pub fn ", "pub async fn "].iter().any(|start| line.starts_with(start));
        // The documentation of a function of a macro stands where the macro is used.
        let is_of_macro = line.contains(" fn $");
        if !is_public || is_of_macro || !returns_future(&lines[at..], futures) {
            continue;
        }
        count += 1;
        let above = lines[..at].iter().rev();
        let mut docs = above.take_while(|line| line.starts_with("///") || line.starts_with('#'));
        if !docs.any(|line| line.to_lowercase().contains("cancel")) {
            silent.push(format!("{file}:{}: cancel safe or not? `{line}`", at + 1));
        }
    }
    (silent, count)
}

/// Whether the function that begins with the first line is async, or returns one of these types or some future.
fn returns_future(lines: &[&str], futures: &BTreeSet<&str>) -> bool {
    let end = lines
        .iter()
        .position(|line| line.ends_with(['{', '}', ';']))
        .map_or(lines.len(), |end| end + 1);
    let signature = lines[..end].join(" ");
    let bounds = signature.find(" where ").unwrap_or(signature.len());
    // The last arrow that stands outside of the arguments.
    let output = signature[..bounds].rsplit_once(") -> ").map_or("", |(_, output)| output);
    let name = output.split('<').next().unwrap_or(output).trim_end_matches([' ', '{', '}']);
    let name = name.rsplit("::").next().unwrap_or(name);
    signature.starts_with("pub async ")
        || output.starts_with("impl Future")
        || futures.contains(name)
}

fn is_no_name(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

#[test]
fn a_future_without_a_word_on_its_end_is_a_fault() {
    let text = "
        /// Waits. Cancel safe.
        #[must_use]
        pub async fn a() {}
        pub async fn b(f: impl Fn() -> u8) -> u8 {}
        /// Waits.
        pub fn c<F>(
            f: F,
        ) -> impl Future<Output = u8>
        where F: Fn() -> u8 {
        pub fn d(f: impl Fn() -> Wait) -> u8 {}
        pub fn e() -> crate::Wait<u8> {
        pub fn f() -> JoinHandle<u8> {
        pub(crate) async fn g() {}
        impl<T> Future for Wait<T> {}
        impl Future for JoinHandle {}";
    let (faults, count) = faults("x.rs", text, &futures(text));
    assert_eq!(count, 4);
    let lines: Vec<_> = faults.iter().filter_map(|fault| fault.split(':').nth(1)).collect();
    assert_eq!(lines, ["5", "7", "12"], "{faults:?}");
}
