struct Server;

impl Server {
    #[colored::main]
    pub async fn serve(&self) {}
}

fn main() {
    let _ = Server.serve();
}
