//! Tests of the guarantees of connections of every family, on two ends of one.

use crate::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(super) async fn echo<S: AsyncRead + AsyncWrite + Unpin>(mut client: S, mut server: S) {
    for size in [1, 100, 10_000] {
        let sent = vec![7; size];
        client.write_all(&sent).await.unwrap();
        let mut got = vec![0; size];
        server.read_exact(&mut got).await.unwrap();
        server.write_all(&got).await.unwrap();
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(got, sent);
    }
}

pub(super) async fn half_closed_answers<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: S,
    mut server: S,
) {
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut question = String::new();
    server.read_to_string(&mut question).await.unwrap();
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!((question.as_str(), answer.as_str()), ("question", "answer"));
}
