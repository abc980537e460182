//! The runtime has another name in this program, and `colored` is another crate.

use colored as rt;

mod other {}

#[rt::main(crate = crate::other, workers = 2)]
async fn main() -> std::io::Result<()> {
    Ok(())
}
