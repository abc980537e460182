//! What Linux alone has.

use socket2::SockRef;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

/// The counts of bytes are behind the 120th byte.
pub(crate) fn a_connection_tells_its_counts() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("a client");
    let mut info = [0_u64; 17];
    let mut len = size_of_val(&info) as libc::socklen_t;
    let (socket, place) = (client.as_raw_fd(), (&raw mut info).cast());
    // SAFETY: the system writes at most `len` bytes, and `info` has as many.
    let told =
        unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut len) };
    assert_eq!((told, len as usize), (0, size_of_val(&info)));
}

pub(crate) fn a_group_has_an_interface() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    SockRef::from(&socket).set_multicast_if_v4(&Ipv4Addr::LOCALHOST).expect("it is an interface");
}

/// A mapping that allows no access tells what is in memory, too.
pub(crate) fn a_mapping_tells_what_is_in_memory() {
    let path = std::env::temp_dir().join(format!("control-memory-{}", std::process::id()));
    std::fs::write(&path, [7; 100]).expect("temporary files can be made");
    let file = std::fs::File::open(&path).expect("it is there");
    std::fs::remove_file(&path).expect("it is there");
    let (descriptor, flags) = (file.as_raw_fd(), libc::MAP_SHARED);
    // SAFETY: a new mapping, where the system chooses, touches nothing that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), 4096, libc::PROT_NONE, flags, descriptor, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    let mut page = [0_u8];
    // SAFETY: the mapping has one page, and `page` has room for the answer of one.
    let told = unsafe { libc::mincore(start, 4096, page.as_mut_ptr()) };
    assert_eq!((told, page[0] & 1), (0, 1), "{}", std::io::Error::last_os_error());
}
