//! What the text of an error says where the system gives no stack: which limit it was, and what can be done.

use std::io;

/// For a guard that the system refuses.
pub(super) fn of_mapping(error: io::Error) -> io::Error {
    explain(error, || {
        "the process has as many mappings as the system allows (on Linux `vm.max_map_count`), and each stack takes two \
         here. Raise the limit, or let fewer tasks begin at a time; from Linux 6.13 on, many stacks share one mapping"
            .to_owned()
    })
}

/// For `bytes` of addresses that the system refuses.
pub(super) fn of_addresses(error: io::Error, bytes: usize) -> io::Error {
    explain(error, || {
        format!(
            "the system refuses the process {bytes} bytes of addresses. They are limited by `ulimit -v`, on Linux also by \
             `vm.max_map_count` and `vm.overcommit_memory`. Raise the limit, or choose smaller stacks \
             (`stackful::Builder::stack_size`), or let fewer tasks begin at a time"
        )
    })
}

/// Only `ENOMEM` has to do with a limit.
fn explain(error: io::Error, text: impl FnOnce() -> String) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOMEM) => io::Error::new(io::ErrorKind::OutOfMemory, text()),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::of_mapping;
    use std::io;

    #[test]
    fn only_a_limit_is_explained() {
        let limit = of_mapping(io::Error::from_raw_os_error(libc::ENOMEM));
        assert!(limit.to_string().contains("vm.max_map_count"), "{limit}");
        let other = of_mapping(io::Error::from_raw_os_error(libc::EINVAL));
        assert_eq!(other.raw_os_error(), Some(libc::EINVAL));
    }
}
