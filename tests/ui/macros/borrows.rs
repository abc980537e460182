//! What is borrowed for too short.

mod argument_borrowed_by_a_worker {
    #[colored::main(local = false)]
    async fn run(name: &str) -> usize {
        name.len()
    }

    fn main() {
        run("x");
    }
}

fn main() {}
