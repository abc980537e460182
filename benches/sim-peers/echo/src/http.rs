//! What both hosts do, on any simulator.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response};
use std::convert::Infallible;

pub(crate) const REQUESTS: usize = 1000;

/// Gives the body back.
pub(crate) async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.expect("the client stays").to_bytes();
    Ok(Response::new(Full::from(body)))
}

/// Makes the requests.
pub(crate) async fn ask(mut sender: SendRequest<Full<Bytes>>) {
    for _ in 0..REQUESTS {
        let body = Full::from(Bytes::from_static(b"sixteen bytes, so"));
        let request = Request::post("/").header("host", "server").body(body);
        sender.ready().await.expect("the connection stays");
        let response = sender.send_request(request.expect("it is right")).await;
        let body = response.expect("an answer").into_body().collect().await.expect("its body");
        assert_eq!(body.to_bytes(), "sixteen bytes, so");
    }
}
