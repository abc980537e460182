struct Opaque;

#[colored::main]
async fn main() -> Result<(), Opaque> {
    Err(Opaque)
}
