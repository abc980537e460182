//! Names of threads.

/// How long a thread's name may be on Linux, in bytes; more is cut off.
const LONGEST: usize = 15;

/// The name of the thread with this number: `colored-blk-3`. The prefix is cut so
/// that the name is whole wherever it is shown.
pub(super) fn thread_name(prefix: &str, class: &str, number: usize) -> String {
    let tail = format!("-{class}-{number}");
    let mut end = prefix.len().min(LONGEST.saturating_sub(tail.len()));
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    // The system takes no name with a zero byte in it.
    let prefix = prefix[..end].replace('\0', "");
    prefix + &tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit() {
        assert_eq!(thread_name("colored", "blk", 0), "colored-blk-0");
        assert_eq!(thread_name("colored", "blk", 511), "colored-blk-511");
        assert_eq!(thread_name("colored", "blk", 1000), "colore-blk-1000");
        assert_eq!(thread_name("größer", "dns", 1000), "größ-dns-1000");
        assert_eq!(thread_name("ab\0c", "fil", 1), "abc-fil-1");
        assert_eq!(thread_name("", "fil", 1), "-fil-1");
    }
}
