//! What is no service.

mod a_make_service {
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
}

mod a_router_without_tower {
    use axum::Router;
    use colored::net::TcpListener;

    #[colored::main]
    async fn main() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let router: Router = Router::new();
        let _server = colored_hyper::serve(listener, router);
    }
}

fn main() {}
