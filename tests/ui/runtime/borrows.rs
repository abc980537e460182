//! What is borrowed for too short.

mod a_borrowed_name_as_color {
    fn main() {
        let name = String::from("ann");
        let _task = colored::spawn_colored(name.as_str(), async {});
    }
}

fn main() {}
