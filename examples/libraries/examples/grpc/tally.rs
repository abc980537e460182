//! The service `Tally`. This file is what `tonic-prost-build` would make of it, had it `protoc`:
//!
//! ```proto
//! message Add { string key = 1; sint64 amount = 2; }
//! message Prefix { string prefix = 1; }
//! message Total { string key = 1; sint64 total = 2; }
//! service Tally {
//!   rpc Add(Add) returns (Total);
//!   rpc List(Prefix) returns (stream Total);
//! }
//! ```

use colored::{Color, ColorCell};
use futures_util::stream;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::task::{Context, Poll};
use tonic::body::Body;
use tonic::client;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, Service, StdError, http};
use tonic::server::{self, NamedService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Add {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(sint64, tag = "2")]
    pub(crate) amount: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Prefix {
    #[prost(string, tag = "1")]
    pub(crate) prefix: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Total {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(sint64, tag = "2")]
    pub(crate) total: i64,
}

const ADD: &str = "/colored.Tally/Add";
const LIST: &str = "/colored.Tally/List";

/// The totals, in shards that are cells.
#[derive(Clone)]
pub(crate) struct Tally(Arc<[ColorCell<BTreeMap<String, i64>>]>);

impl Tally {
    pub(crate) fn new() -> Tally {
        Tally((0..8).map(|_| ColorCell::new(Color::unique(), BTreeMap::new())).collect())
    }

    async fn add(self, Add { key, amount }: Add) -> Result<Response<Total>, Status> {
        if key.is_empty() {
            return Err(Status::invalid_argument("the key is empty; expected a text"));
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let shard = hasher.finish() as usize % self.0.len();
        let add = move |totals: &mut BTreeMap<String, i64>| {
            let total = totals.entry(key.clone()).or_insert(0);
            *total += amount;
            Total { key, total: *total }
        };
        Ok(Response::new(self.0[shard].call(add).await))
    }

    async fn list(self, Prefix { prefix }: Prefix) -> Vec<Total> {
        let mut all = Vec::new();
        for shard in &*self.0 {
            let prefix = prefix.clone();
            let some = move |totals: &mut BTreeMap<String, i64>| -> Vec<Total> {
                let found = totals.iter().filter(|(key, _)| key.starts_with(&prefix));
                found.map(|(key, total)| Total { key: key.clone(), total: *total }).collect()
            };
            all.extend(shard.call(some).await);
        }
        all.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        all
    }
}

impl NamedService for Tally {
    const NAME: &'static str = "colored.Tally";
}

impl Service<http::Request<Body>> for Tally {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let tally = self.clone();
        Box::pin(async move {
            Ok(match request.uri().path() {
                ADD => {
                    let add = service_fn(|add: Request<Add>| tally.clone().add(add.into_inner()));
                    server::Grpc::new(ProstCodec::default()).unary(add, request).await
                }
                LIST => {
                    let list = service_fn(|prefix: Request<Prefix>| {
                        let totals = tally.clone().list(prefix.into_inner());
                        async { Ok(Response::new(stream::iter(totals.await.into_iter().map(Ok)))) }
                    });
                    server::Grpc::new(ProstCodec::default()).server_streaming(list, request).await
                }
                _ => Status::unimplemented("the methods are Add and List").into_http(),
            })
        })
    }
}

pub(crate) struct TallyClient(client::Grpc<Channel>);

impl TallyClient {
    pub(crate) fn new(channel: Channel) -> TallyClient {
        TallyClient(client::Grpc::new(channel))
    }

    async fn ready(&mut self) -> Result<(), Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::unavailable(StdError::from(error).to_string()))
    }

    pub(crate) async fn add(&mut self, add: Add) -> Result<Total, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static(ADD);
        let answer = self.0.unary(Request::new(add), path, ProstCodec::default()).await?;
        Ok(answer.into_inner())
    }

    pub(crate) async fn list(&mut self, prefix: Prefix) -> Result<Streaming<Total>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static(LIST);
        let request = Request::new(prefix);
        let answer = self.0.server_streaming(request, path, ProstCodec::default()).await?;
        Ok(answer.into_inner())
    }
}
