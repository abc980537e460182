use axum::Router;
use colored::net::TcpListener;
use colored_hyper::{serve, tower};
use std::net::SocketAddr;

#[colored::main]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let router: Router = Router::new();
    let make = router.into_make_service_with_connect_info::<SocketAddr>();
    let _server = serve(listener, tower(make));
}
