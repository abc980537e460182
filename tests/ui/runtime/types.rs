//! What a color or a task cannot be.

mod a_call_that_awaits {
    use colored::ColorCell;

    async fn next() -> u32 {
        1
    }

    async fn add(list: ColorCell<Vec<u32>>) {
        list.call(async |list| list.push(next().await)).await;
    }
}

mod a_name_as_color {
    fn main() {
        let name = String::from("ann");
        let _task = colored::spawn_colored(&name, async {});
    }
}

mod a_task_with_an_rc {
    use std::cell::RefCell;
    use std::rc::Rc;

    fn main() {
        let list = Rc::new(RefCell::new(Vec::new()));
        let _task = colored::spawn(async move { list.borrow_mut().push(1) });
    }
}

fn main() {}
