//! The functions that copy: tokio's, with our budget.

use super::{AsyncBufRead, AsyncRead, AsyncWrite, Metered};
use std::io;

/// Copies everything from `reader` to `writer`, flushes the writer, and returns the number of bytes, by a buffer of 8 KiB:
/// [`tokio::io::copy`]. Not cancel safe: bytes that were read and not written are lost.
///
/// # Errors
///
/// Those of the reader and the writer; [`WriteZero`](io::ErrorKind::WriteZero) if the writer takes nothing.
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    tokio::io::copy(&mut Metered::new(reader), writer).await
}

/// As [`copy`], by the buffer of the reader: [`tokio::io::copy_buf`]. Cancel safe: the reader keeps what is not written.
///
/// # Errors
///
/// As `copy`.
pub async fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    tokio::io::copy_buf(&mut Metered::new(reader), writer).await
}

/// Copies in both directions until both have ended, and shuts each writer down at the end of its reader. Returns the numbers of
/// bytes from `a` to `b` and from `b` to `a`: [`tokio::io::copy_bidirectional`]. Not cancel safe, as [`copy`].
///
/// # Errors
///
/// As `copy`; the other direction is given up.
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    tokio::io::copy_bidirectional(&mut Metered::new(a), &mut Metered::new(b)).await
}

/// As [`copy_bidirectional`], with buffers of these sizes in bytes. Not cancel safe, as [`copy`].
///
/// # Errors
///
/// As `copy_bidirectional`.
///
/// # Panics
///
/// If a size is 0.
pub async fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b: usize,
    b_to_a: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let (mut a, mut b) = (Metered::new(a), Metered::new(b));
    tokio::io::copy_bidirectional_with_sizes(&mut a, &mut b, a_to_b, b_to_a).await
}
