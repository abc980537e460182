#!/usr/bin/env bash
# musl's `mprotect` takes a place inside a page, and changes the whole page.
#
# Versions: musl 1.2.5, which Rust 1.95.0 has for x86_64-unknown-linux-musl, beside glibc 2.36; the crate libc 0.2.177.
# One would guess EINVAL on both: POSIX lets it fail for a place that is no multiple of the page size, Linux does, and glibc hands
# the call on as it is. musl rounds the place down and the end up first, so the kernel never sees the mistake: a guard page that
# is computed wrongly by a few bytes is refused under glibc, and under musl protects a page that nobody named.
#
# Seen:
#   gnu: mprotect(page + 16, 16) -> EINVAL, the page stays writable
#   musl: mprotect(page + 16, 16) -> 0, the first byte of the page is read-only
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'T'
[package]
name = "rounds"
version = "0.1.0"
edition = "2021"

[dependencies]
libc = "=0.2.177"
T
cat >src/main.rs <<'R'
use std::io::{Read, pipe};
use std::{fs::File, os::fd::{AsRawFd, FromRawFd, IntoRawFd}};

fn main() {
    // SAFETY: a fresh mapping of one page, which nothing else uses.
    unsafe {
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        let answer = libc::mprotect(page.byte_add(16), 16, libc::PROT_READ);
        let error = std::io::Error::last_os_error();
        // The kernel writes into the page, or says EFAULT: no signal comes.
        let (reader, writer) = pipe().unwrap();
        let mut writer = File::from_raw_fd(writer.into_raw_fd());
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        let written = libc::read(reader.as_raw_fd(), page, 1);
        let _ = { let mut none = [0; 0]; (&reader).read(&mut none) };
        println!("{} {}", if answer == 0 { "0".into() } else { format!("{:?}", error.raw_os_error()) },
            if written == 1 { "writable" } else { "read-only" });
    }
}
R
rustup toolchain install 1.95.0 --profile minimal --target x86_64-unknown-linux-musl >/dev/null 2>&1
cargo +1.95.0 build -q --target x86_64-unknown-linux-gnu --target x86_64-unknown-linux-musl
gnu=$(target/x86_64-unknown-linux-gnu/debug/rounds)
musl=$(target/x86_64-unknown-linux-musl/debug/rounds)
echo "gnu: $gnu"
echo "musl: $musl"
[ "$gnu" = "Some(22) writable" ] || { echo "glibc has changed"; exit 1; }
[ "$musl" = "0 read-only" ] || { echo "musl has changed"; exit 1; }
