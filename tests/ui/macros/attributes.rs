//! What the attributes refuse.

mod arguments {
    #[colored::main]
    async fn main(first: u8, second: u8) {}
}

mod a_const {
    #[colored::main]
    const fn main() {}
}

mod const_with_arguments {
    #[colored::main]
    const async fn run(name: String) -> usize {
        name.len()
    }

    // No second error here.
    fn main() {
        let length: usize = run("x".into());
        assert_eq!(length, 1);
    }
}

mod crate_number {
    #[colored::main(crate = 4)]
    async fn main() {}
}

mod crate_string {
    #[colored::main(crate = "no path")]
    async fn main() {}
}

mod crate_without_value {
    #[colored::main(crate)]
    async fn main() {}
}

mod an_extern {
    #[colored::main]
    async extern "C" fn main() {}
}

mod generics {
    #[colored::main]
    async fn main<T: Default>() {}
}

mod local_value {
    #[colored::main(local = some_flag())]
    async fn main() {}
}

mod many_at_once {
    #[colored::main(worker = 4, workers = "x", pin = 1, pin = true)]
    fn main(a: u8) {}
}

mod method {
    struct Server;

    impl Server {
        #[colored::main]
        pub async fn serve(&self) {}
    }

    fn main() {
        let _ = Server.serve();
    }
}

mod no_body {
    trait Start {
        #[colored::main]
        async fn start();
    }
}

mod not_a_function {
    #[colored::main]
    struct Main;

    fn main() {
        let _ = Main;
    }
}

mod not_async {
    #[colored::main]
    fn main() {}
}

mod option_by_two_names {
    #[colored::main(workers = 4, worker_threads = 4)]
    async fn main() {}
}

mod option_flavor_unknown {
    #[colored::test(flavor = "threaded", start_paused = true)]
    async fn sleeps() {}
}

mod option_is_not_a_name {
    #[colored::main(4)]
    async fn main() {}
}

mod option_misspelled {
    #[colored::main(wrokers = 4)]
    async fn main() {}
}

mod option_of_another_runtime {
    #[colored::main(unhandled_panic = "shutdown_runtime")]
    async fn main() {}
}

mod option_twice {
    #[colored::main(workers = 1, pin = true, workers = 2)]
    async fn main() {}
}

mod option_unknown {
    #[colored::main(colour = 4)]
    async fn main() {}
}

mod option_without_comma {
    #[colored::main(workers = 1 pin = true)]
    async fn main() {}
}

mod paused_twice {
    #[colored::main(paused, paused)]
    async fn main() {}
}

mod paused_value {
    #[colored::main(paused = some_flag())]
    async fn main() {}
}

mod pin_number {
    #[colored::main(pin = 1)]
    async fn main() {}
}

mod pin_without_value {
    #[colored::main(pin)]
    async fn main() {}
}

mod sim_options_that_are_wrong {
    #[colored::test(sim, seeds = 0, strategy = 3, budget = "soon", until = 7, workers = 65, pin = true)]
    async fn a_test() {}

    #[colored::test(seeds = 10)]
    async fn not_a_simulation() {}

    #[colored::main(sim)]
    async fn main() {}
}

mod test_arguments {
    #[colored::test]
    async fn adds(case: u8) {}
}

mod test_as_main {
    #[colored::main]
    #[test]
    async fn adds() {}
}

mod test_of_another_runtime {
    #[colored::test]
    #[tokio::test]
    async fn adds() {}
}

mod test_of_this_runtime_twice {
    #[colored::test]
    #[colored::test]
    async fn adds() {}
}

mod test_twice {
    #[colored::test]
    #[test]
    async fn adds() {}
}

mod test_twice_by_path {
    #[colored::test]
    #[core::prelude::v1::test]
    async fn adds() {}
}

mod an_unsafe {
    #[colored::main]
    async unsafe fn main() {}
}

mod where_clause {
    #[colored::main]
    async fn main()
    where
        u8: Copy,
    {
    }
}

mod workers_2000 {
    #[colored::main(workers = 2000)]
    async fn main() {}
}

mod workers_in_parentheses {
    #[colored::main(workers(4))]
    async fn main() {}
}

mod workers_negative {
    #[colored::main(workers = -1)]
    async fn main() {}
}

mod workers_not_an_expression {
    #[colored::main(workers = *)]
    async fn main() {}
}

mod workers_string {
    #[colored::main(workers = "4")]
    async fn main() {}
}

mod workers_suffix {
    #[colored::main(workers = 4u8)]
    async fn main() {}
}

mod workers_too_large {
    #[colored::main(workers = 99999999999999999999)]
    async fn main() {}
}

mod workers_without_value {
    #[colored::main(workers)]
    async fn main() {}
}

mod workers_zero {
    #[colored::main(workers = 0)]
    async fn main() {}
}

fn main() {}
