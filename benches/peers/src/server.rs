//! The HTTP servers, each a process: what answers, and how many threads serve.

mod nginx;

use crate::foreign::Tool;
use crate::setup::workers;
use actix_web::{App, HttpServer, web};
use colored_benches::http::child::Server;
use colored_benches::http::server::{Kind, answer};
use colored_benches::http::{numbered, raise_open_files};
use http_body_util::Full;
use hyper::service::service_fn;
use may_minihttp::{HttpService, HttpServiceFactory, Request, Response};
use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::{env, io, thread};

pub(crate) use nginx::{Nginx, version as nginx_version};

const HELLO: &str = "Hello, World!";

/// Longer than the other servers are measured before this one's turn comes again.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

/// A server with the pipe of [`colored_benches::http::server`].
pub(crate) fn start(name: &str) -> io::Result<Server> {
    let mut command = match name {
        "Go" => {
            let program = Tool::Go.program().ok_or(io::ErrorKind::NotFound)?;
            Command::new(program)
        }
        _ => Command::new(env::current_exe()?),
    };
    match name {
        "Go" => command.arg("http"),
        _ => command.arg(format!("--serve={name}")),
    };
    Server::spawn(command, None)
}

/// The child: serves until its standard input ends.
pub(crate) fn main(name: &str) -> io::Result<()> {
    raise_open_files()?;
    match name {
        "actix-web" => actix(),
        "may_minihttp" => may(),
        "colored_serve" => serve(),
        "numbered:may" => numbered_may(),
        _ => {
            let kind: Kind = name.parse().map_err(io::Error::other)?;
            colored_benches::http::server::main(kind, workers(), None)
        }
    }
}

/// `colored` serves as users call it: HTTP/1 and HTTP/2, time-outs, an end in order.
fn serve() -> io::Result<()> {
    let (send, port) = channel();
    thread::spawn(move || {
        let runtime = colored::Runtime::builder().workers(workers()).build().expect("it starts");
        runtime.block_on(async move {
            let listener = colored::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
            let listener = listener.expect("a port is free");
            send.send(listener.local_addr().expect("it listens").port()).expect("main waits");
            let hello = service_fn(async |_| {
                Ok::<_, Infallible>(hyper::Response::new(Full::new(HELLO.as_bytes())))
            });
            colored_hyper::serve(listener, hello).await.expect("it serves until the process ends");
        });
    });
    answer(port.recv().expect("the server listens"))
}

fn actix() -> io::Result<()> {
    let (send, port) = channel();
    thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = || App::new().route("/", web::get().to(async || HELLO));
            let server = HttpServer::new(app).workers(workers()).keep_alive(KEEP_ALIVE);
            let server = server.bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
            send.send(server.addrs()[0].port()).expect("main waits");
            server.run().await.expect("it serves until the process ends");
        });
    });
    answer(port.recv().expect("the server listens"))
}

#[derive(Clone)]
struct Hello;

impl HttpService for Hello {
    fn call(&mut self, _: Request, response: &mut Response) -> io::Result<()> {
        response.body(HELLO);
        Ok(())
    }
}

impl HttpServiceFactory for Hello {
    type Service = Self;

    fn new_service(&self, _: usize) -> Self {
        Self
    }
}

fn may() -> io::Result<()> {
    // Its threads may change cores, unlike by default: the client uses one of the cores too.
    may::config().set_workers(workers()).set_worker_pin(false);
    let port = free_port()?;
    let server = Hello.start((Ipv4Addr::LOCALHOST, port))?;
    answer(port)?;
    drop(server);
    Ok(())
}

/// The handler of the experiment `connections`, in a coroutine for each connection.
fn numbered_may() -> io::Result<()> {
    // The parent has chosen the cores.
    may::config().set_workers(thread::available_parallelism()?.get()).set_worker_pin(false);
    let listener = may::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let accepts = may::go!(move || {
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nodelay(true).expect("it is a TCP socket");
                    drop(may::go!(move || numbered::answer_blocking(stream)));
                }
                Err(_) => may::coroutine::sleep(numbered::PAUSE),
            }
        }
    });
    answer(port)?;
    drop(accepts);
    Ok(())
}

/// A port that was free just now, for servers that do not tell which one they got.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
