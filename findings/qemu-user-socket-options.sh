#!/usr/bin/env bash
# qemu-user answers `getsockopt(TCP_INFO)` with success and four bytes of a structure of more than two hundred.
#
# Versions: qemu-user 7.2 of Debian 12 (1:7.2+dfsg-7+deb12u18+b3), beside the same program on the machine itself; Rust 1.95.0, the
# crate libc 0.2.177.
# One would guess the kernel's answer: the structure has the same layout on both processors, so there is nothing to translate. Or an
# error, as for other options that it does not know (`IP_MULTICAST_IF` is ENOPROTOOPT). It treats every option of TCP as one number,
# says that the call has succeeded, and sets the length to 4. A program that does not look at the length reads zeros: no bytes
# received, no round trip time, a state of the connection and nothing else, while its tests are green on every other machine.
#
# Seen:
#   machine: 0, 136 bytes of 136, received 5
#   qemu: 0, 4 bytes of 136, received 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download qemu-user=1:7.2+dfsg-7+deb12u18+b3 >/dev/null
dpkg -x qemu-user_*.deb qemu
mkdir src
cat >Cargo.toml <<'T'
[package]
name = "options"
version = "0.1.0"
edition = "2021"

[dependencies]
libc = "=0.2.177"
T
cat >src/main.rs <<'R'
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"hello").unwrap();
    server.read_exact(&mut [0; 5]).unwrap();
    // `tcpi_bytes_received` is at 128.
    let mut info = [0_u64; 17];
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the system writes at most `len` bytes, and `info` has as many.
    let answer = unsafe {
        let place = (&raw mut info).cast();
        libc::getsockopt(server.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &mut len)
    };
    println!("{answer}, {len} bytes of {}, received {}", size_of_val(&info), info[16]);
}
R
rustup toolchain install 1.95.0 --profile minimal --target aarch64-unknown-linux-musl >/dev/null 2>&1
cargo +1.95.0 build -q
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld cargo +1.95.0 build -q --target aarch64-unknown-linux-musl
machine=$(target/debug/options)
qemu=$(qemu/usr/bin/qemu-aarch64 target/aarch64-unknown-linux-musl/debug/options)
echo "machine: $machine"
echo "qemu: $qemu"
[ "$machine" = "0, 136 bytes of 136, received 5" ] || { echo "the kernel has changed"; exit 1; }
[ "$qemu" = "0, 4 bytes of 136, received 0" ] || { echo "qemu-user has changed"; exit 1; }
