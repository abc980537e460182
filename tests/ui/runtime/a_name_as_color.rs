fn main() {
    let name = String::from("ann");
    let _task = colored::spawn_colored(&name, async {});
}
