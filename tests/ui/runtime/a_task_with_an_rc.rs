use std::cell::RefCell;
use std::rc::Rc;

fn main() {
    let list = Rc::new(RefCell::new(Vec::new()));
    let _task = colored::spawn(async move { list.borrow_mut().push(1) });
}
