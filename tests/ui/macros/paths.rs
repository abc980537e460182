//! Paths that lead to no runtime.

mod no_such_crate {
    #[colored::main(crate = ::rt)]
    async fn main() {}
}

/// The runtime has another name in this program, and `colored` is another crate.
mod runtime_renamed {
    use colored as rt;

    mod other {}

    #[rt::main(crate = crate::runtime_renamed::other, workers = 2)]
    async fn main() -> std::io::Result<()> {
        Ok(())
    }
}

fn main() {}
