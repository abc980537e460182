//! Servers and clients of hyper, on the hosts of a simulation.

use crate::support::by_length;
use axum::Router;
use axum::routing::post as on_post;
use bytes::Bytes;
use colored::net::TcpListener;
use colored::sim::{self, Builder, Fault, Faults, sometimes};
use colored::spawn_colored;
use colored::time::{Duration, sleep, timeout};
use colored_hyper::{ColoredExecutor, Connector, client_builder, serve, tower};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::client::legacy::Client;
use std::convert::Infallible;

type Pool<C> = Client<C, Full<Bytes>>;

/// Gives the body back.
async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        // The client is gone.
        Err(_) => Bytes::new(),
    };
    Ok(Response::new(Full::from(body)))
}

async fn echo_server() {
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    serve(listener, service_fn(echo)).await.unwrap();
}

fn body(len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8).collect()
}

/// Posts a body of so many bytes, and compares the answer.
async fn post<C>(pool: &Pool<C>, uri: &str, len: usize) -> Result<Version, String>
where
    C: hyper_util::client::legacy::connect::Connect + Clone + Send + Sync + 'static,
{
    let request = Request::post(uri).body(Full::from(body(len))).unwrap();
    let response = pool.request(request).await.map_err(|error| format!("{error:?}"))?;
    let version = response.version();
    let bytes = response.into_body().collect().await.map_err(|error| format!("{error:?}"))?;
    let bytes = bytes.to_bytes();
    assert_eq!(bytes.len(), len);
    assert!(bytes == body(len), "the echo differs");
    Ok(version)
}

/// Three clients with a pool of connections, which post bodies of some lengths.
async fn three_clients(is_http2: bool) {
    let mut builder = client_builder(ColoredExecutor::unique());
    let pool: Pool<Connector> = builder.http2_only(is_http2).build(Connector::new());
    let clients: Vec<_> = (0..3_u64)
        .map(|client| {
            let pool = pool.clone();
            spawn_colored(client, async move {
                for len in [0, 10, 70_000] {
                    let version = post(&pool, "http://a/", len).await.unwrap();
                    assert_eq!(version == Version::HTTP_2, is_http2);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

#[test]
fn http1_between_two_hosts() {
    let builder = Builder::new().seeds(0..by_length(20, 150)).host("a", echo_server);
    builder.run(|| three_clients(false)).assert_passed();
}

#[test]
fn http2_between_two_hosts() {
    let builder = Builder::new().seeds(0..by_length(20, 150)).host("a", echo_server);
    builder.run(|| three_clients(true)).assert_passed();
}

#[test]
fn http_with_short_reads_and_late_packets() {
    let faults = Faults::none().with(Fault::Pieces).with(Fault::Delay);
    let builder = Builder::new().seeds(0..by_length(20, 100)).faults(faults).host("a", echo_server);
    let report = builder.run(|| async {
        let client = timeout(Duration::from_secs(7200), three_clients(sim::random() & 1 == 0));
        // A connect has a limit of ten seconds; the packets of this one may take longer.
        client.await.unwrap();
    });
    report.assert_passed();
}

#[test]
fn a_router_of_axum_between_two_hosts() {
    let program = || async {
        let router = Router::new().route("/", on_post(async |body: Bytes| body));
        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
        serve(listener, tower(router)).await.unwrap();
    };
    let builder = Builder::new().seeds(0..by_length(20, 100)).host("a", program);
    builder.run(|| three_clients(false)).assert_passed();
}

#[test]
fn a_client_that_tries_again_outlives_crashes_of_the_server() {
    try_again(&Builder::new().seeds(0..150).host("a", echo_server));
}

/// Posts again and again to a server that crashes.
fn try_again(builder: &Builder) {
    let report = builder.clone().faults(Faults::swarm()).run(|| async {
        let pool: Pool<Connector> =
            client_builder(ColoredExecutor::unique()).build(Connector::new());
        for len in [0, 10, 5000, 10, 0, 100] {
            let mut attempts = 0;
            loop {
                let answer = timeout(Duration::from_secs(5), post(&pool, "http://a/", len)).await;
                if let Ok(Ok(_)) = answer {
                    break;
                }
                attempts += 1;
                sleep(Duration::from_secs(1)).await;
            }
            sometimes!(attempts == 0, "at once");
            sometimes!(attempts > 1, "after some attempts");
        }
    });
    report.assert_passed();
    assert!(report.never_seen().is_empty(), "{report}");
}

/// `axum::serve` as it is, whose connections are tasks of tokio.
#[cfg(feature = "axum")]
mod served_by_axum {
    use super::*;
    use axum::routing::get;
    use colored::ColorCell;
    use colored_hyper::AxumListener;

    async fn serve(router: Router) {
        let listener = AxumListener::new(TcpListener::bind("0.0.0.0:80").await.unwrap());
        axum::serve(listener, router).await.unwrap();
    }

    fn echo() -> Builder {
        let router = || Router::new().route("/", on_post(async |body: Bytes| body));
        Builder::new().tokio().host("a", move || serve(router()))
    }

    #[test]
    fn clients_of_both_versions_are_answered_in_runs_that_repeat() {
        for is_http2 in [false, true] {
            let run = || {
                let builder = echo().seeds(0..by_length(20, 100));
                let report = builder.run(|| three_clients(is_http2));
                report.assert_passed();
                report.digest()
            };
            assert_eq!(run(), run());
        }
    }

    #[test]
    fn it_outlives_crashes() {
        try_again(&echo().seeds(0..by_length(300, 1000)));
    }

    /// Each request adds 1 to a cell; a handler that first reads it, and then writes it, loses some.
    fn count(is_safe: bool) -> sim::Report {
        let server = move || async move {
            let count = ColorCell::new(1, 0);
            let add = async move || {
                if is_safe {
                    count.call(|count| *count += 1).await;
                } else {
                    let seen = count.call(|count| *count).await;
                    sleep(Duration::from_millis(1)).await;
                    count.call(move |count| *count = seen + 1).await;
                }
                count.call(|count| *count).await.to_string()
            };
            serve(Router::new().route("/", get(add))).await;
        };
        let builder = Builder::new().tokio().seeds(0..by_length(100, 1000)).host("a", server);
        builder.run(|| async {
            let pool: Pool<Connector> =
                client_builder(ColoredExecutor::unique()).build(Connector::new());
            let clients = [0, 1_u64].map(|client| {
                let pool = pool.clone();
                spawn_colored(client, async move {
                    sleep(Duration::from_millis(sim::random() % 8)).await;
                    let answer = pool.get("http://a/".parse().unwrap()).await.unwrap();
                    answer.into_body().collect().await.unwrap().to_bytes()
                })
            });
            let mut most = Bytes::new();
            for client in clients {
                most = most.max(client.await.unwrap());
            }
            sim::always!(most == "2", "each request counts");
        })
    }

    /// axum drops the handle of a connection's task, and tokio catches what panics there.
    #[test]
    fn a_panic_of_a_handler_fails_the_run() {
        let router =
            || Router::new().route("/", get(async || -> String { panic!("in a handler") }));
        let builder = Builder::new().tokio().seeds(0..10).host("a", move || serve(router()));
        let report = builder.run(|| async {
            let pool: Pool<Connector> =
                client_builder(ColoredExecutor::unique()).build(Connector::new());
            pool.get("http://a/".parse().unwrap()).await.unwrap_err();
        });
        let failure = report.failure().unwrap_or_else(|| panic!("not found: {report}"));
        assert!(failure.message().starts_with("in a handler"), "{failure}");
    }

    #[test]
    fn a_lost_update_between_handlers_is_found() {
        let report = count(false);
        let failure = report.failure().unwrap_or_else(|| panic!("not found: {report}"));
        assert_eq!(failure.differs(), None, "{failure}");
        assert!(failure.choices() <= 3, "{failure}");
        count(true).assert_passed();
    }
}

#[cfg(feature = "tls")]
#[test]
fn tls_between_two_hosts() {
    use colored_hyper::tls;
    // Its signatures have one length; signatures of other kinds differ from run to run.
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let names = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap();
    let certificate = names.self_signed(&key).unwrap().pem();
    let config = tls::server_config_from_pem(&certificate, key.serialize_pem()).unwrap();
    let folder = std::env::temp_dir().join(format!("colored-simulated-{}", std::process::id()));
    std::fs::write(&folder, &certificate).unwrap();
    let client = tls::client_config_trusting(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let program = move || {
        let config = config.clone();
        async move {
            let listener = TcpListener::bind("0.0.0.0:443").await.unwrap();
            serve(tls::Listener::new(listener, config), service_fn(echo)).await.unwrap();
        }
    };
    let report = Builder::new().seeds(0..by_length(20, 100)).host("a", program).run(|| {
        let client = client.clone();
        async move {
            let pool: Pool<tls::Connector> =
                client_builder(ColoredExecutor::unique()).build(tls::Connector::new(client));
            for len in [0, 10, 70_000] {
                post(&pool, "https://a/", len).await.unwrap();
            }
        }
    });
    report.assert_passed();
}
