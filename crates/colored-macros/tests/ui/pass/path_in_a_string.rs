use ::colored as rt;

#[rt::main(crate = "rt", local = false)]
async fn main() {}
