use axum::Router;
use colored::net::TcpListener;

#[colored::main]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let router: Router = Router::new();
    let _server = colored_hyper::serve(listener, router);
}
