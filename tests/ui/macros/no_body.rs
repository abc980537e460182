trait Start {
    #[colored::main]
    async fn start();
}

fn main() {}
