//! [`Noting`]: a service whose HTTP/2 connection knows which requests run, and what their responses wait for.

use super::activity::{Activity, Running};
use crate::executor::unread::{note_client, note_server};
use bytes::Buf;
use colored::time::Duration;
use hyper::body::{Body, Frame, SizeHint};
use hyper::service::Service;
use hyper::{Method, Request, Response};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub(super) struct Noting<S> {
    service: S,
    activity: Activity,
    write_timeout: Option<Duration>,
}

impl<S> Noting<S> {
    /// `write_timeout` limits how long a client takes nothing of one response.
    pub(super) fn new(service: S, activity: Activity, write_timeout: Option<Duration>) -> Self {
        Noting { service, activity, write_timeout }
    }
}

impl<S, B, C> Service<Request<B>> for Noting<S>
where
    S: Service<Request<B>, Response = Response<C>>,
{
    type Response = Response<Noted<C>>;
    type Error = S::Error;
    type Future = Answering<S::Future>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let running = Some(self.activity.begin_request());
        let is_tunnel = request.method() == Method::CONNECT;
        let future = self.service.call(request);
        Answering { future, running, is_tunnel, write_timeout: self.write_timeout }
    }
}

pin_project! {
    /// A request until its response begins.
    pub(super) struct Answering<F> {
        #[pin]
        future: F,
        running: Option<Running>,
        is_tunnel: bool,
        write_timeout: Option<Duration>,
    }
}

impl<F, B, E> Future for Answering<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<Noted<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.future.poll(cx))?;
        let running = this.running.take();
        let is_open = *this.is_tunnel && response.status().is_success();
        if let Some(running) = running.as_ref().filter(|_| is_open) {
            running.activity().note_tunnel();
        }
        let write_timeout = *this.write_timeout;
        Poll::Ready(Ok(response.map(|body| Noted { body, running, write_timeout })))
    }
}

pin_project! {
    /// The body of a response.
    pub(super) struct Noted<B> {
        #[pin]
        body: B,
        // Dropped with the body.
        running: Option<Running>,
        write_timeout: Option<Duration>,
    }
}

impl<B: Body> Body for Noted<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let polled = this.body.poll_frame(cx);
        if let (Poll::Ready(Some(Ok(frame))), Some(limit), Some(running)) =
            (&polled, *this.write_timeout, &this.running)
        {
            let activity = running.activity();
            if let (Some(flow), Some(data)) = (activity.flow(), frame.data_ref()) {
                flow.note_handed(data.remaining());
            }
            // hyper asks for more when the client has room for this.
            note_client(limit, activity.connection());
        } else {
            note_server();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
