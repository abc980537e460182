//! What the compiler refuses behind the attributes.

mod error_without_debug {
    struct Opaque;

    #[colored::main]
    async fn main() -> Result<(), Opaque> {
        Err(Opaque)
    }
}

mod last_line_missing {
    #[colored::main]
    async fn main() -> Result<(), String> {
        std::future::ready(()).await;
    }
}

mod last_line_of_another_type {
    #[colored::main]
    async fn main() -> std::io::Result<()> {
        let answer = 42;
        std::future::ready(()).await;
        answer
    }
}

mod local_main_ends_with_a_number {
    #[colored::main(local)]
    async fn main() -> u32 {
        42
    }
}

mod main_ends_with_a_number {
    #[colored::main]
    async fn main() -> u32 {
        42
    }
}

mod not_send {
    use std::rc::Rc;

    #[colored::main]
    async fn main() {
        let shared = Rc::new(4);
        std::future::ready(()).await;
        assert_eq!(*shared, 4);
    }
}

mod not_send_with_result {
    use std::rc::Rc;

    #[colored::main]
    async fn main() -> std::io::Result<()> {
        let shared = Rc::new(4);
        std::future::ready(()).await;
        assert_eq!(*shared, 4);
        Ok(())
    }
}

mod nothing_returned {
    #[colored::main]
    async fn main() {
        std::future::ready(()).await;
        Some(42)
    }
}

mod option_tokio_without_its_feature {
    #[colored::main(tokio)]
    async fn main() {}
}

mod output_not_send {
    use std::rc::Rc;

    #[colored::main]
    async fn answer() -> Rc<u32> {
        Rc::new(42)
    }

    fn main() {
        answer();
    }
}

mod pin_of_another_type {
    #[colored::main(pin = u8::MAX)]
    async fn main() {}
}

mod question_mark_without_result {
    #[colored::main]
    async fn main() {
        let answer: u32 = "42".parse()?;
        assert_eq!(answer, 42);
    }
}

mod workers_of_another_type {
    #[colored::main(workers = "four".trim())]
    async fn main() {}
}

fn main() {}
