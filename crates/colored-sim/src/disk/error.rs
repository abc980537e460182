//! [`Error`]: why an operation on a simulated disk fails.

use std::io;

/// Why an operation on a simulated disk fails. As an [`io::Error`] it has the code of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A directory has one name.
    NotPermitted,
    /// Nothing is at the path.
    NotFound,
    /// The device has failed.
    Io,
    /// A socket is at the path, which cannot be opened.
    NoDevice,
    /// The path has a zero byte.
    ZeroByte,
    /// The file is not open for that, or not open any more.
    BadHandle,
    /// The mode does not allow it.
    Denied,
    /// The root, and `..`, keep their names.
    Busy,
    /// Something is at the path.
    Exists,
    /// Something else than a directory is at the path.
    NotDirectory,
    /// A directory is at the path.
    IsDirectory,
    /// The arguments make no sense.
    Invalid,
    /// A file would be longer than 2 GiB.
    TooLarge,
    /// The disk is full.
    Full,
    /// A name is longer than 255 bytes.
    NameTooLong,
    /// The directory is not empty.
    NotEmpty,
    /// The symbolic links lead in a circle.
    Loop,
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            // Of the standard library, which asks no system then.
            Error::ZeroByte => io::Error::new(
                io::ErrorKind::InvalidInput,
                "file name contained an unexpected NUL byte",
            ),
            _ => of_system(error),
        }
    }
}

#[cfg(unix)]
fn of_system(error: Error) -> io::Error {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const OTHERS: [i32; 3] = [36, 39, 40];
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const OTHERS: [i32; 3] = [63, 66, 62];
    io::Error::from_raw_os_error(match error {
        Error::NotPermitted => 1,
        Error::NotFound => 2,
        Error::Io => 5,
        Error::NoDevice => 6,
        Error::BadHandle => 9,
        Error::Denied => 13,
        Error::Busy => 16,
        Error::Exists => 17,
        Error::NotDirectory => 20,
        Error::IsDirectory => 21,
        Error::Invalid | Error::ZeroByte => 22,
        Error::TooLarge => 27,
        Error::Full => 28,
        Error::NameTooLong => OTHERS[0],
        Error::NotEmpty => OTHERS[1],
        Error::Loop => OTHERS[2],
    })
}

#[cfg(not(unix))]
fn of_system(error: Error) -> io::Error {
    use std::io::ErrorKind;
    io::Error::from(match error {
        Error::NotPermitted | Error::Denied => ErrorKind::PermissionDenied,
        Error::NotFound => ErrorKind::NotFound,
        Error::Busy => ErrorKind::ResourceBusy,
        Error::Exists => ErrorKind::AlreadyExists,
        Error::NotDirectory => ErrorKind::NotADirectory,
        Error::IsDirectory => ErrorKind::IsADirectory,
        Error::Invalid | Error::ZeroByte => ErrorKind::InvalidInput,
        Error::TooLarge => ErrorKind::FileTooLarge,
        Error::Full => ErrorKind::StorageFull,
        Error::NameTooLong => ErrorKind::InvalidFilename,
        Error::NotEmpty => ErrorKind::DirectoryNotEmpty,
        Error::Io | Error::NoDevice | Error::BadHandle | Error::Loop => ErrorKind::Other,
    })
}
