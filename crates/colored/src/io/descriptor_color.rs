//! The color of a descriptor.

use std::os::fd::{AsFd, AsRawFd};

use crate::Color;

/// The color of an open descriptor: [`Color::of`] its number, under a key that no number of yours has. Tasks that name it
/// for one socket are serial, whoever has spawned them; those of two sockets run in parallel.
///
/// The color is that of the number, which the system gives to another file once this one is closed. Work that is still
/// scheduled for a closed file then shares a color with the work for the new one: both run, one after another. A task
/// that owns its connection needs no number: [`spawn_unique`](crate::spawn_unique). A clone of a descriptor has
/// a number, and so a color, of its own.
///
/// ```
/// use colored::io::descriptor_color;
/// use colored::spawn_colored;
/// # #[colored::main(workers = 2)]
/// # async fn main() -> std::io::Result<()> {
/// let socket = std::sync::Arc::new(colored::net::UdpSocket::bind("127.0.0.1:0").await?);
/// let color = descriptor_color(&*socket);
/// let shared = socket.clone();
/// let address = spawn_colored(color, async move { shared.local_addr() });
/// assert_eq!(address.await.expect("no task panics")?, socket.local_addr()?);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn descriptor_color(descriptor: &impl AsFd) -> Color {
    Color::of(("descriptor", descriptor.as_fd().as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::descriptor_color;
    use crate::Color;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_number_has_a_color_that_is_not_the_numbers_own() {
        let (one, other) = UnixStream::pair().unwrap();
        let color = descriptor_color(&one);
        assert_eq!(color, descriptor_color(&one.as_fd()));
        assert_ne!(color, descriptor_color(&other));
        assert_ne!(color, descriptor_color(&one.try_clone().unwrap()));
        assert_ne!(color, Color::from(one.as_raw_fd()));
        assert!(!color.is_unique() && !color.is_default());
    }

    #[test]
    fn a_number_that_is_used_again_has_the_same_color() {
        let (one, other) = UnixStream::pair().unwrap();
        let (color, _) = (descriptor_color(&one), descriptor_color(&other));
        // Puts the other end in the place of the first one, as the system may after a close.
        let mut place = std::os::fd::OwnedFd::from(one);
        rustix::io::dup2(&other, &mut place).unwrap();
        assert_eq!(descriptor_color(&place), color);
    }
}
