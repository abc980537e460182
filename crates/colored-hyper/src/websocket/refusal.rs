//! Whether a request asks for a WebSocket, and the answer if it does not.

use hyper::header::{ALLOW, HeaderName, HeaderValue, SEC_WEBSOCKET_VERSION, UPGRADE};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode, Version};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

/// The answer that switches to WebSocket, or another that says what is missing.
pub(super) fn answer<B>(request: &Request<B>) -> Response<String> {
    if request.version() == Version::HTTP_2 {
        let text = "a WebSocket begins with HTTP/1.1, and this request came over HTTP/2";
        return refusal(StatusCode::BAD_REQUEST, text, None);
    }
    match create_response_with_body(request, String::new) {
        Err(error) => of(&error),
        Ok(_) if request.extensions().get::<OnUpgrade>().is_none() => {
            refusal(StatusCode::BAD_REQUEST, "this connection cannot be upgraded", None)
        }
        Ok(answer) => answer,
    }
}

fn of(error: &Error) -> Response<String> {
    use ProtocolError as P;
    let upgrade = Some((UPGRADE, "websocket"));
    let (status, header) = match error {
        Error::Protocol(P::WrongHttpMethod) => {
            (StatusCode::METHOD_NOT_ALLOWED, Some((ALLOW, "GET")))
        }
        Error::Protocol(P::WrongHttpVersion | P::MissingConnectionUpgradeHeader)
        | Error::Protocol(P::MissingUpgradeWebSocketHeader) => {
            (StatusCode::UPGRADE_REQUIRED, upgrade)
        }
        Error::Protocol(P::MissingSecWebSocketVersionHeader) => {
            (StatusCode::UPGRADE_REQUIRED, Some((SEC_WEBSOCKET_VERSION, "13")))
        }
        _ => (StatusCode::BAD_REQUEST, None),
    };
    let why = match error {
        // Without tungstenite's "WebSocket protocol error: ".
        Error::Protocol(error) => error.to_string(),
        error => error.to_string(),
    };
    refusal(
        status,
        &format!("this is a WebSocket, and the request does not ask for one: {why}"),
        header,
    )
}

fn refusal(
    status: StatusCode,
    text: &str,
    header: Option<(HeaderName, &'static str)>,
) -> Response<String> {
    let mut answer = Response::new(format!("{text}\n"));
    *answer.status_mut() = status;
    if let Some((name, value)) = header {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}
